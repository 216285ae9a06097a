//! A script in a file: a list of answers as JSON, for tests that start the server as a process.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use longrein_runtime::ports::ReplyBlock;
use serde::Deserialize;
use serde_json::Value;

use super::manner::Manner;
use super::refusal::Refusal;
use super::{Answer, Content, answer};
use crate::reply::reply_of;
use crate::request::SeenRequest;

/// The answers of a file, tried from the front: the first one that fits and is not used up.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub struct Script(pub Vec<Entry>);

/// One answer of a file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Entry {
    /// Which requests it fits; all of them where it says nothing.
    pub when: Option<When>,
    /// How often it is given: once, or, with `when`, without end.
    pub times: Option<u32>,
    /// Reasoning.
    pub thinking: Option<String>,
    /// Words.
    pub text: Option<String>,
    /// Calls.
    pub calls: Vec<Call>,
    /// A refusal instead of a reply, as the format's provider would say it.
    pub refusal: Option<Refusal>,
    /// An error status instead of a reply.
    pub status: Option<u16>,
    /// More headers of the error.
    pub headers: BTreeMap<String, String>,
    /// The error's body.
    pub body: Option<Value>,
    /// How it is sent; the server's own manner where it says nothing.
    pub manner: Option<Manner>,
}

/// Which requests an answer fits.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct When {
    /// Characters that the body holds, as they are written in JSON.
    pub contains: Option<String>,
    /// How many replies of the model the request already holds.
    pub replies: Option<u32>,
}

/// A call.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The tool's name on the wire.
    pub tool: String,
    /// An object, or a text that is sent as it is, so that it may be wrong.
    pub arguments: Value,
}

/// A script that can't be used.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// The file can't be read.
    #[error("{path} can't be read: {source}", path = .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not a script.
    #[error("{path} is not a script: {source}", path = .path.display())]
    NotAScript {
        /// The file.
        path: PathBuf,
        /// Where and why.
        source: serde_json::Error,
    },
}

impl Script {
    /// Reads a file.
    pub fn load(path: &Path) -> Result<Self, ScriptError> {
        let text = std::fs::read(path).map_err(|source| ScriptError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        serde_json::from_slice(&text).map_err(|source| ScriptError::NotAScript {
            path: path.to_owned(),
            source,
        })
    }

    /// A rule that gives the answers and counts how often it gave each.
    pub fn into_rule(self) -> impl Fn(&SeenRequest) -> Answer + Send + Sync + 'static {
        let used = Mutex::new(vec![0_u32; self.0.len()]);
        move |request| {
            let mut used = used.lock().unwrap_or_else(PoisonError::into_inner);
            let free =
                |(entry, used): &(&Entry, &mut u32)| **used < entry.limit() && entry.fits(request);
            match self.0.iter().zip(used.iter_mut()).find(free) {
                Some((entry, used)) => {
                    *used += 1;
                    entry.answer(request)
                }
                None => answer::no_more(request),
            }
        }
    }
}

impl Entry {
    fn limit(&self) -> u32 {
        self.times
            .unwrap_or(if self.when.is_some() { u32::MAX } else { 1 })
    }

    fn fits(&self, request: &SeenRequest) -> bool {
        self.when.as_ref().is_none_or(|when| {
            when.contains
                .as_ref()
                .is_none_or(|characters| request.contains(characters))
                && when
                    .replies
                    .is_none_or(|replies| request.replies() == replies)
        })
    }

    fn answer(&self, request: &SeenRequest) -> Answer {
        let content = match (&self.refusal, self.status) {
            (Some(refusal), _) => Content::Refusal(refusal.clone()),
            (None, Some(status)) => Content::Status {
                status,
                headers: self.headers.clone().into_iter().collect(),
                body: self.body.as_ref().map(Value::to_string).unwrap_or_default(),
            },
            (None, None) => Content::Reply(reply_of(self.blocks(), request)),
        };
        Answer {
            content,
            manner: self.manner.clone(),
        }
    }

    fn blocks(&self) -> Vec<ReplyBlock> {
        let thinking = self
            .thinking
            .clone()
            .map(|text| ReplyBlock::Thinking { text, raw: None });
        let text = self
            .text
            .clone()
            .map(|text| ReplyBlock::Text { text, raw: None });
        let calls = self.calls.iter().map(|call| ReplyBlock::ToolUse {
            id: String::new(),
            name: call.tool.clone(),
            arguments: call
                .arguments
                .as_str()
                .map_or_else(|| call.arguments.to_string(), str::to_owned),
            raw: None,
        });
        thinking.into_iter().chain(text).chain(calls).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn content(rule: &impl Fn(&SeenRequest) -> Answer, body: &str) -> String {
        let request = SeenRequest {
            number: 1,
            body: body.as_bytes().into(),
        };
        match rule(&request).content {
            Content::Reply(reply) => format!("{:?}", reply.blocks),
            Content::Status { status, .. } => status.to_string(),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn the_first_entry_that_fits_and_is_not_used_up_answers() {
        let script: Script = serde_json::from_value(json!([
            {"when": {"contains": "\"stop\""}, "status": 429, "headers": {"retry-after": "1"}},
            {"when": {"replies": 1}, "text": "second", "times": 1},
            {"text": "first"},
        ]))
        .unwrap();
        let rule = script.into_rule();
        let second = r#"{"messages":[{"role":"assistant","content":""}]}"#;
        assert!(content(&rule, "{}").contains("first"));
        assert!(content(&rule, second).contains("second"));
        assert_eq!(content(&rule, "{\"stop\":1}"), "429");
        assert_eq!(content(&rule, "{\"stop\":1}"), "429");
        assert_eq!(
            content(&rule, second),
            "400",
            "everything that fits is used up"
        );
    }

    #[test]
    fn a_wrong_key_in_a_script_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("script.json");
        std::fs::write(&path, r#"[{"txet": "a"}]"#).unwrap();
        let error = Script::load(&path).unwrap_err().to_string();
        assert!(
            error.contains("txet") && error.contains("script.json"),
            "{error}"
        );
        assert!(matches!(
            Script::load(folder.path()),
            Err(ScriptError::Unreadable { .. })
        ));
    }
}

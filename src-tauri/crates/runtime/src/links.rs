//! The addresses that a run has met: in the person's words, in pages and search results. An
//! address that it has not met may have been made up from what it has read.

use std::collections::HashSet;

use longrein_core::policy::FILE_TOOLS;
use longrein_core::run::Action;
use longrein_protocol::event::Payload;
use longrein_protocol::{BlobHash, Body, Effect, Event, ToolSpec};
use serde_json::Value;

use crate::driver::{DriveError, Driver};
use crate::history;
use crate::outcome::Facts;
use crate::wire;

/// The most addresses that are remembered; one that comes later counts as not met.
const LINKS: usize = 200_000;
/// The longest address that is remembered.
const LINK_BYTES: usize = 4_096;
/// An argument of at least so many letters that stands in an address was put there by the model.
const ECHO_LETTERS: usize = 12;

/// The addresses that a run has met, by hash.
#[derive(Default)]
pub(crate) struct Links(HashSet<BlobHash>);

impl Links {
    fn meet(&mut self, url: &str) {
        if self.0.len() < LINKS {
            self.0.insert(BlobHash::of(url.as_bytes()));
        }
    }

    fn has_met(&self, url: &str) -> bool {
        self.0.contains(&BlobHash::of(url.as_bytes()))
    }
}

impl Driver {
    /// Whether the run has met an address word for word.
    pub(crate) async fn has_met(&mut self, url: &str) -> Result<bool, DriveError> {
        if self.links.is_none() {
            let links = self.links_of_log().await?;
            self.links = Some(links);
        }
        Ok(self.links.as_ref().is_some_and(|links| links.has_met(url)))
    }

    /// Takes in the addresses of a result, when they are kept.
    pub(crate) fn meet_links(&mut self, spec: &ToolSpec, action: &Action, facts: &Facts) {
        let Some(mut links) = self.links.take() else {
            return;
        };
        if brings_links(spec) {
            let arguments = self.text_at_hand(&action.arguments, facts);
            for payload in &facts.payloads {
                if let Payload::ActionFinished(finished) = payload {
                    let result = self.text_at_hand(&finished.result, facts);
                    meet_result(&mut links, spec, &arguments, &result);
                }
            }
        }
        self.links = Some(links);
    }

    fn text_at_hand(&self, body: &Body, facts: &Facts) -> String {
        let kept = facts.blobs.iter().find(|blob| blob.hash == body.hash());
        match (kept, self.body_at_hand(body)) {
            (Some(kept), _) => String::from_utf8_lossy(&kept.bytes).into_owned(),
            (None, Body::Text(text)) => text,
            (None, Body::Blob { .. }) => String::new(),
        }
    }

    /// Reads them from the log, once for each driver that needs them.
    async fn links_of_log(&self) -> Result<Links, DriveError> {
        let mut links = Links::default();
        let Some(run) = self.run.id else {
            return Ok(links);
        };
        let log = &*self.ports.log;
        let mut events: Vec<Event> = Vec::new();
        history::each_event(log, run, &mut |event| {
            if matches!(
                event.payload,
                Payload::TurnStarted(_)
                    | Payload::TurnSteered(_)
                    | Payload::QuestionAnswered(_)
                    | Payload::ActionProposed(_)
                    | Payload::ActionFinished(_)
            ) {
                events.push(event.clone());
            }
        })
        .await?;
        let mut proposed = std::collections::HashMap::new();
        for event in events {
            match event.payload {
                Payload::TurnStarted(turn) => self.meet_words(&mut links, &turn.input).await?,
                Payload::TurnSteered(said) => self.meet_words(&mut links, &said.input).await?,
                // What stands in a server's form may be the server's own words.
                Payload::QuestionAnswered(said) if said.number > 0 => {}
                Payload::QuestionAnswered(said) => {
                    self.meet_words(&mut links, &said.answer).await?;
                }
                Payload::ActionProposed(action) => {
                    proposed.insert(action.action.clone(), action);
                }
                Payload::ActionFinished(finished) => {
                    let action = proposed.remove(&finished.action);
                    let Some(action) = action else { continue };
                    let spec = self
                        .run
                        .tool(&action.tool)
                        .filter(|spec| brings_links(spec));
                    let Some(spec) = spec else { continue };
                    let arguments = self.body_at_hand(&action.arguments);
                    let arguments = wire::body_text(log, &arguments).await?;
                    let result = self.body_at_hand(&finished.result);
                    let result = wire::body_text(log, &result).await?;
                    meet_result(&mut links, spec, &arguments, &result);
                }
                _ => {}
            }
        }
        Ok(links)
    }

    async fn meet_words(&self, links: &mut Links, words: &Body) -> Result<(), DriveError> {
        let text = wire::body_text(&*self.ports.log, &self.body_at_hand(words)).await?;
        addresses(&text).for_each(|url| links.meet(url));
        Ok(())
    }

    /// Takes in the addresses of a person's words, when they are kept.
    pub(crate) fn meet_person(&mut self, text: &str) {
        if let Some(links) = &mut self.links {
            addresses(text).for_each(|url| links.meet(url));
        }
    }
}

/// Whether a tool's results are pages and lists of results that came from outside. Files are not:
/// the model writes them.
fn brings_links(spec: &ToolSpec) -> bool {
    spec.effect == Effect::Read
        && spec.untrusted
        && spec.reach.commands.is_empty()
        && !spec.reach.private
        && !FILE_TOOLS.contains(&spec.name.as_str())
}

/// Takes in the addresses of a result, save those that only repeat what the model said.
fn meet_result(links: &mut Links, spec: &ToolSpec, arguments: &str, result: &str) {
    let said: Vec<String> = match serde_json::from_str(arguments) {
        Ok(Value::Object(fields)) => fields
            .into_iter()
            .filter(|(name, _)| !spec.reach.urls.contains(name))
            .filter_map(|(_, value)| Some(value.as_str()?.to_owned()))
            .filter(|text| text.len() >= ECHO_LETTERS)
            .collect(),
        _ => Vec::new(),
    };
    for url in addresses(result) {
        let echo = arguments.contains(url) || said.iter().any(|text| url.contains(text.as_str()));
        if !echo {
            links.meet(url);
        }
    }
}

/// The addresses that stand in a text.
fn addresses(text: &str) -> impl Iterator<Item = &str> {
    let starts = text.match_indices("http").map(|(at, _)| &text[at..]);
    starts.filter_map(|rest| {
        if !rest.starts_with("http://") && !rest.starts_with("https://") {
            return None;
        }
        let ends = |letter: char| {
            letter.is_whitespace()
                || letter.is_control()
                || matches!(
                    letter,
                    '"' | '\'' | '<' | '>' | '`' | '|' | '^' | '{' | '}' | '\\'
                )
        };
        let url = rest.split(ends).next().unwrap_or(rest);
        let url = url.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '*', '_']);
        (url.len() <= LINK_BYTES).then_some(url)
    })
}

#[cfg(test)]
mod tests {
    use super::addresses;

    #[test]
    fn addresses_end_where_the_text_around_them_begins() {
        let text = "See <https://a.org/x?y=1>, (http://b.org/z). \"https://c.org/\" and httpx://d.";
        let found: Vec<&str> = addresses(text).collect();
        assert_eq!(
            found,
            ["https://a.org/x?y=1", "http://b.org/z", "https://c.org/"]
        );
    }
}

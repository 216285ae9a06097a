//! A request as the model saw it.

use std::sync::Arc;

use serde_json::Value;

/// What every message of the model begins with, in the formats that have messages. Inside a JSON
/// string the quotes would be escaped, so it is found nowhere else.
const ASSISTANT: [&str; 2] = [r#"{"role":"assistant""#, r#"{"role":"model""#];

/// The exact bytes of one request, with ways to look into them.
#[derive(Clone, Debug)]
pub struct SeenRequest {
    /// Counted from 1, by the stand-in that saw it.
    pub number: u32,
    /// The body.
    pub body: Arc<[u8]>,
}

impl SeenRequest {
    /// The body as text.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap_or("(not UTF-8)")
    }

    /// The body as JSON; null when it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The messages, in order.
    pub fn messages(&self) -> Vec<Value> {
        match self.json()["messages"].take() {
            Value::Array(messages) => messages,
            _ => Vec::new(),
        }
    }

    /// The names of the tools that the model is given.
    pub fn tools(&self) -> Vec<String> {
        let body = self.json();
        let tools = body["tools"].as_array().into_iter().flatten();
        let names = tools.filter_map(|tool| tool["function"]["name"].as_str());
        names.map(str::to_owned).collect()
    }

    /// How many replies of the model the request already holds, in whatever format it is.
    pub fn replies(&self) -> u32 {
        let text = self.text();
        let messages = ASSISTANT.iter().map(|start| text.matches(start).count());
        let count = match messages.sum() {
            0 if self.contains(r#""input":["#) => self.replies_of_items(),
            count => count,
        };
        count.try_into().unwrap_or(u32::MAX)
    }

    /// The same in OpenAI's Responses, where a reply is what the model says between two inputs.
    fn replies_of_items(&self) -> usize {
        let body = self.json();
        let items = body["input"].as_array().into_iter().flatten();
        let said = |item: &Value| {
            let spoken = matches!(item["type"].as_str(), Some("reasoning" | "function_call"));
            spoken || item["role"] == "assistant"
        };
        let mut before = false;
        let begins = items.filter(|item| {
            let says = said(item);
            let begins = says && !before;
            before = says;
            begins
        });
        begins.count()
    }

    /// The text of the last tool result.
    pub fn last_result(&self) -> Option<String> {
        let messages = self.messages();
        let result = messages
            .iter()
            .rev()
            .find(|message| message["role"] == "tool")?;
        result["content"].as_str().map(str::to_owned)
    }

    /// Whether the body has these characters anywhere, as they are written in JSON.
    pub fn contains(&self, characters: &str) -> bool {
        self.text().contains(characters)
    }
}

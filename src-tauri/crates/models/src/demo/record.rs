//! What the demonstration model writes when it is asked to sum up: the beginning of each passage
//! with its source, and the first line of what was said, word for word.

use longrein_core::evidence::sentences;
use longrein_core::passage::heading_source;
use longrein_core::summary::SYSTEM;
use serde_json::{Value, json};

/// The most lines of each field.
const LINES: usize = 12;
/// The most characters of a line.
const LINE_CHARS: usize = 240;
/// What stands before words of the model in the part that is summed up.
const SAID: &str = "== The model said:";

/// The record that a request asks for; `None` where it asks for none.
pub(super) fn asked_for(body: &[u8]) -> Option<String> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let messages = body["messages"].as_array()?;
    let content = |role: &str| {
        let mut of = messages.iter().filter(|message| message["role"] == role);
        of.next()?["content"].as_str()
    };
    if content("system")? != SYSTEM {
        return None;
    }
    Some(record(content("user")?).to_string())
}

fn record(part: &str) -> Value {
    let mut findings: Vec<Value> = Vec::new();
    let mut decisions: Vec<String> = Vec::new();
    let mut lines = part.lines().map(str::trim);
    while let Some(line) = lines.next() {
        if let Some(source) = heading_source(line) {
            let words = lines.by_ref().find(|line| !line.is_empty());
            let known = |finding: &Value| finding["sources"][0] == source.to_string();
            let is_new = !findings.iter().any(known);
            if let Some(words) = words.filter(|_| is_new && findings.len() < LINES) {
                findings.push(json!({"text": first(words), "sources": [source.to_string()]}));
            }
        } else if line == SAID
            && let Some(words) = lines.by_ref().find(|line| !line.is_empty())
            && decisions.len() < LINES
        {
            decisions.push(first(words));
        }
    }
    json!({"decisions": decisions, "findings": findings, "failed": [], "open": []})
}

/// The first sentence of a line, cut where it is long.
fn first(line: &str) -> String {
    let range = sentences(line).into_iter().next();
    let sentence = range.map_or(line, |range| &line[range]);
    match sentence.char_indices().nth(LINE_CHARS) {
        Some((end, _)) => format!("{}…", &sentence[..end]),
        None => sentence.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_has_the_beginning_of_each_passage_once_with_its_source() {
        let part = "== The model said:\nI search for herons. Then I read.\n\n== search returned:\n\
            [S1] Birds (birds.md, bytes 0-90)\nNine herons stood there. They left.\n\
            [S1] Birds (birds.md, bytes 90-99)\nMore.";
        let body = json!({"messages": [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": part},
        ]});
        let said = asked_for(body.to_string().as_bytes()).unwrap();
        let said: Value = serde_json::from_str(&said).unwrap();
        assert_eq!(said["decisions"], json!(["I search for herons."]));
        let finding = json!([{"text": "Nine herons stood there.", "sources": ["S1"]}]);
        assert_eq!(said["findings"], finding);
        let other = json!({"messages": [{"role": "system", "content": "Be brief."}]});
        assert_eq!(asked_for(other.to_string().as_bytes()), None);
    }
}

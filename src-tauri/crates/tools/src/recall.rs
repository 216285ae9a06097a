//! `recall`: looking for words in everything that the run has said, done and been given, whatever
//! of it has left the request.

use std::sync::Arc;

use async_trait::async_trait;
use longrein_core::passage::heading_source;
use longrein_protocol::ToolSpec;
use longrein_protocol::block::{Origin, Trust};
use longrein_runtime::past::RECALL;
use longrein_runtime::ports::{PastText, Tool, ToolCall, ToolError, ToolOutput};
use rusqlite::Connection;
use serde::Deserialize;
use serde_json::json;

use crate::library::expression;
use crate::tool::{arguments, blocking, spec};
use crate::{error, show};

/// The longest query, in characters.
const QUERY_CHARS: usize = 500;
/// About how long a passage is, in bytes.
const PASSAGE_BYTES: usize = 700;
/// How many passages are given when the call does not say.
const PASSAGES_DEFAULT: usize = 6;
/// The most passages of one call.
const PASSAGES_LIMIT: usize = 16;
/// The most sources that are named of one passage.
const SOURCES_LIMIT: usize = 8;

/// Looks through the log of the run.
pub(crate) struct Recall {
    spec: ToolSpec,
}

impl Recall {
    pub(crate) fn tool() -> Arc<dyn Tool> {
        let properties = json!({
            "query": {
                "type": "string", "minLength": 1, "maxLength": QUERY_CHARS,
                "description": "Words that stand in what you look for; \"words in marks\" stand together.",
            },
            "limit": {
                "type": "integer", "minimum": 1, "maximum": PASSAGES_LIMIT,
                "description": format!("How many passages. Default {PASSAGES_DEFAULT}."),
            },
        });
        let description = "Looks for words in everything of this run, from its beginning: what \
            the person and you said, what you called, and what came back, also where that was \
            taken out of your view or shortened. Gives the passages that fit best, each with the \
            event and the step that it is of.";
        let spec = ToolSpec {
            untrusted: true,
            ..spec(RECALL, description, properties, &["query"])
        };
        Arc::new(Self { spec })
    }
}

#[derive(Deserialize)]
struct Asked {
    query: String,
    limit: Option<usize>,
}

#[async_trait]
impl Tool for Recall {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(&self, call: ToolCall) -> Result<ToolOutput, ToolError> {
        let Asked { query, limit } = arguments(&call)?;
        let limit = limit.unwrap_or(PASSAGES_DEFAULT).clamp(1, PASSAGES_LIMIT);
        let Some(expression) = expression(&query) else {
            return Err(error::invalid("the query has no word to look for"));
        };
        let texts = call.context.past.texts().await?;
        let cancel = call.cancel.clone();
        let found = blocking(move || look(&texts, &expression, limit));
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(error::cancelled()),
            found = found => Ok(told(&query, &found?)),
        }
    }
}

/// What was found.
struct Found {
    /// Best first.
    passages: Vec<Passage>,
    /// How many match in all.
    matches: usize,
}

/// A part of a text.
struct Passage {
    /// Where it is from, in words.
    place: String,
    text: String,
    trust: Trust,
}

fn look(texts: &[PastText], expression: &str, limit: usize) -> Result<Found, ToolError> {
    ranked(texts, expression, limit)
        .map_err(|error| error::failed(format!("the log could not be looked through: {error}")))
}

fn ranked(texts: &[PastText], expression: &str, limit: usize) -> rusqlite::Result<Found> {
    let mut connection = Connection::open_in_memory()?;
    connection.execute_batch(
        "CREATE VIRTUAL TABLE past USING fts5(
             words, content='', tokenize=\"porter unicode61 remove_diacritics 2\"
         );",
    )?;
    // By row: the text that a passage is of, and its bytes.
    let mut parts = Vec::new();
    let transaction = connection.transaction()?;
    {
        let mut insert = transaction.prepare("INSERT INTO past(rowid, words) VALUES (?1, ?2)")?;
        for (number, text) in texts.iter().enumerate() {
            for (start, end) in passages(&text.text) {
                insert.execute((parts.len() as i64, &text.text[start..end]))?;
                parts.push((number, start, end));
            }
        }
    }
    transaction.commit()?;
    let count = "SELECT count(*) FROM past WHERE past MATCH ?1";
    let matches: i64 = connection.query_row(count, [expression], |row| row.get(0))?;
    // Of passages that fit as well, the newer one comes first.
    let mut best = connection.prepare(
        "SELECT rowid FROM past WHERE past MATCH ?1 ORDER BY bm25(past), rowid DESC LIMIT ?2",
    )?;
    let rows = best.query_map((expression, limit as i64), |row| row.get::<_, i64>(0))?;
    let mut passages = Vec::new();
    for row in rows {
        let row = usize::try_from(row?).unwrap_or(usize::MAX);
        if let Some((number, start, end)) = parts.get(row) {
            passages.push(passage(&texts[*number], *start, *end));
        }
    }
    Ok(Found {
        passages,
        matches: usize::try_from(matches).unwrap_or(0),
    })
}

/// The parts of a text, between lines or words where they can be.
fn passages(text: &str) -> Vec<(usize, usize)> {
    let mut parts = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let rest = &text[start..];
        let most = rest.floor_char_boundary(PASSAGE_BYTES);
        let end = match most == rest.len() {
            true => most,
            false => {
                let window = &rest[..most];
                let line = window.rfind('\n').filter(|at| *at >= most / 2);
                let word = || window.rfind(' ').filter(|at| *at >= most / 2);
                line.or_else(word).map_or(most, |at| at + 1)
            }
        };
        parts.push((start, start + end));
        start += end;
    }
    parts
}

fn passage(of: &PastText, start: usize, end: usize) -> Passage {
    let mut place = format!("event {}, step {}, {}", of.seq, of.step, of.from);
    if let Some(action) = &of.action {
        place.push_str(&format!(" ({action})"));
    }
    if end - start < of.text.len() {
        place.push_str(&format!(", bytes {start}-{end} of {}", of.text.len()));
    }
    let sources = sources(&of.text, start, end);
    if !sources.is_empty() {
        place.push_str(&format!(", sources {}", sources.join(", ")));
    }
    Passage {
        place,
        text: of.text[start..end].trim().to_owned(),
        trust: of.trust,
    }
}

/// The sources that a passage is of: the heading before it, and those that stand in it.
fn sources(text: &str, start: usize, end: usize) -> Vec<String> {
    let before = text[..start].lines().rev().find_map(heading_source);
    let within = text[start..end].lines().filter_map(heading_source);
    let mut sources: Vec<String> = Vec::new();
    for id in before.into_iter().chain(within) {
        let id = id.to_string();
        if !sources.contains(&id) && sources.len() < SOURCES_LIMIT {
            sources.push(id);
        }
    }
    sources
}

/// What was looked up is as trustworthy as what it is of.
fn from_log(trust: Trust) -> Option<(Origin, Trust)> {
    let origin = Origin::Tool {
        tool: RECALL.to_owned(),
        place: None,
    };
    Some((origin, trust))
}

fn told(query: &str, found: &Found) -> ToolOutput {
    if found.passages.is_empty() {
        let text = format!(
            "Nothing in the log of this run has a word of {query:?}. Other words may fit better."
        );
        return ToolOutput {
            origin: from_log(Trust::Trusted),
            ..ToolOutput::text(text, "nothing found")
        };
    }
    let shown = found.passages.len();
    let mut text = format!(
        "{shown} of {}, best first:",
        show::count(found.matches, "passage that matches", "passages that match")
    );
    for passage in &found.passages {
        text.push_str(&format!("\n\n== {}\n{}", passage.place, passage.text));
    }
    let untrusted = |passage: &Passage| passage.trust == Trust::Untrusted;
    let trust = match found.passages.iter().any(untrusted) {
        true => Trust::Untrusted,
        false => Trust::Trusted,
    };
    ToolOutput {
        origin: from_log(trust),
        ..ToolOutput::text(text, show::count(shown, "passage", "passages"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(seq: u32, from: &str, text: &str, trust: Trust) -> PastText {
        PastText {
            seq,
            step: seq / 2,
            from: from.to_owned(),
            action: None,
            text: text.to_owned(),
            trust,
        }
    }

    fn found(texts: &[PastText], query: &str) -> String {
        let found = look(texts, &expression(query).unwrap(), 3).unwrap();
        let output = told(query, &found);
        let trust = output.origin.clone().unwrap().1;
        let text: String = output
            .parts
            .into_iter()
            .map(|part| part.into_text())
            .collect();
        format!("{trust:?}\n{text}")
    }

    #[test]
    fn the_passage_with_the_words_is_found_with_its_place() {
        let page = format!(
            "{}\n[S4] Birds (birds.md, bytes 0-90)\nNine herons stood there.\n{}",
            "filler line\n".repeat(100),
            "other line\n".repeat(100)
        );
        let texts = [
            text(3, "the person", "Never forget the heron.", Trust::Trusted),
            text(8, "the result of read_file", &page, Trust::Untrusted),
            text(9, "the model", "Noted.", Trust::Untrusted),
        ];
        let all = found(&texts, "How many herons?");
        assert!(
            all.starts_with("Untrusted\n2 of 2 passages that match, best first:"),
            "{all}"
        );
        assert!(
            all.contains("== event 3, step 1, the person\nNever forget the heron."),
            "{all}"
        );
        assert!(all.contains("sources S4"), "{all}");
        assert!(found(&texts, "forget").starts_with("Trusted\n1 of 1 passage that matches"));
        assert!(found(&texts, "zebra").contains("Nothing in the log"));
    }

    #[test]
    fn a_text_is_cut_between_lines_or_words_and_never_within_a_letter() {
        let long = "é".repeat(2_000);
        let parts = passages(&long);
        assert!(parts.len() > 4);
        let whole: String = parts
            .iter()
            .map(|(start, end)| &long[*start..*end])
            .collect();
        assert_eq!(whole, long);
        let lines = "a line of words\n".repeat(200);
        for (start, _) in passages(&lines) {
            assert!(lines[start..].starts_with("a line"));
        }
    }
}

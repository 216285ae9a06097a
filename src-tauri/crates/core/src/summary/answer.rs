//! What is taken of the answer of a model that summarises.

use longrein_protocol::SourceId;
use longrein_protocol::block::{StopReason, Trust};
use longrein_protocol::event::{Summary, SummaryFinding};
use serde::Deserialize;

use super::limit_bytes;
use crate::evidence::{self, Found};
use crate::run::{Run, one_line};

/// The most lines of one field.
const LINES: usize = 40;
/// The most bytes of one line.
const LINE_BYTES: usize = 400;
/// The most sources of one finding.
const SOURCES: usize = 16;

/// Why an answer is no summary.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unusable {
    /// It has no words.
    #[error("the answer was empty")]
    Empty,
    /// It ends in the middle.
    #[error("the answer was cut off by the output limit")]
    Cut,
    /// The provider refuses.
    #[error("the provider refused to answer")]
    Refused,
    /// It is no object of the form.
    #[error("the answer was not in the form: {0}")]
    Form(String),
    /// Every field is empty.
    #[error("the answer said nothing")]
    SaysNothing,
    /// It is longer than what it is a summary of.
    #[error("the answer was longer than what it was to sum up")]
    Longer,
    /// The request would not be smaller by enough.
    #[error("with the answer the request would not have become smaller")]
    NoSmaller,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Answer {
    decisions: Vec<Line>,
    findings: Vec<Line>,
    failed: Vec<Line>,
    open: Vec<Line>,
}

/// Models write plain texts for objects, and objects for plain texts.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Text(String),
    Finding {
        text: String,
        #[serde(default)]
        sources: Vec<String>,
    },
}

/// Reads an answer. `of_bytes` is the size of what it is a summary of. Sources that the run does not have are struck, and what there is no room for is
/// left out, both counted.
///
/// # Errors
/// [`Unusable`], in words that the model can be told.
pub fn read(
    run: &Run,
    model: &str,
    answer: &str,
    stop: StopReason,
    of_bytes: usize,
) -> Result<Summary, Unusable> {
    match stop {
        StopReason::Refused => return Err(Unusable::Refused),
        StopReason::Length => return Err(Unusable::Cut),
        _ if answer.trim().is_empty() => return Err(Unusable::Empty),
        _ if answer.len() > of_bytes => return Err(Unusable::Longer),
        _ => {}
    }
    let object = object_in(answer).ok_or_else(|| Unusable::Form("it is no JSON".to_owned()))?;
    let said: Answer =
        serde_json::from_str(object).map_err(|error| Unusable::Form(error.to_string()))?;
    let mut reading = Reading {
        run,
        struck: 0,
        left_out: 0,
    };
    let mut summary = Summary {
        model: model.to_owned(),
        decisions: reading.texts(said.decisions),
        findings: reading.findings(said.findings),
        failed: reading.texts(said.failed),
        open: reading.texts(said.open),
        // Words of strangers may stand in whatever the run has said since it read them.
        trust: match run.tainted {
            true => Trust::Untrusted,
            false => Trust::Trusted,
        },
        left_out: 0,
        struck: 0,
    };
    reading.shorten(&mut summary);
    summary.left_out = reading.left_out;
    summary.struck = reading.struck;
    match lines(&summary) {
        0 => Err(Unusable::SaysNothing),
        _ => Ok(summary),
    }
}

/// The object in an answer, which may have words or marks of code around it.
fn object_in(answer: &str) -> Option<&str> {
    let (begin, end) = (answer.find('{')?, answer.rfind('}')?);
    answer.get(begin..=end)
}

fn lines(summary: &Summary) -> usize {
    summary.decisions.len() + summary.findings.len() + summary.failed.len() + summary.open.len()
}

struct Reading<'r> {
    run: &'r Run,
    struck: u32,
    left_out: u32,
}

impl Reading<'_> {
    fn texts(&mut self, said: Vec<Line>) -> Vec<String> {
        let findings = self.findings(said);
        let with_sources = |finding: SummaryFinding| {
            let ids = finding.sources.iter().map(|id| format!(" [{id}]"));
            finding.text + &ids.collect::<String>()
        };
        findings.into_iter().map(with_sources).collect()
    }

    fn findings(&mut self, said: Vec<Line>) -> Vec<SummaryFinding> {
        let mut findings = Vec::new();
        for line in said {
            let (text, ids) = match line {
                Line::Text(text) => (text, Vec::new()),
                Line::Finding { text, sources } => (text, sources),
            };
            let text = self.text(&text);
            if text.is_empty() {
                continue;
            }
            if findings.len() == LINES {
                self.left_out += 1;
                continue;
            }
            let sources = self.sources(&ids);
            findings.push(SummaryFinding { text, sources });
        }
        findings
    }

    /// A line without citations of what the run does not have, and without what breaks a line.
    fn text(&mut self, said: &str) -> String {
        let mut text = String::with_capacity(said.len());
        let mut from = 0;
        for found in evidence::tokens(said) {
            let Found::Token(token) = found else {
                continue;
            };
            let unknown = token.cited.iter().filter(|cited| !self.has(cited.source));
            let unknown = unknown.count() as u32;
            if unknown == 0 {
                continue;
            }
            self.struck += unknown;
            text.push_str(&said[from..token.range.start]);
            from = token.range.end;
            let known = token.cited.iter().filter(|cited| self.has(cited.source));
            for cited in known {
                text.push_str(&format!("[{}]", cited.source));
            }
        }
        text.push_str(&said[from..]);
        let mut text = one_line(&text);
        if text.len() > LINE_BYTES {
            text.truncate(text.floor_char_boundary(LINE_BYTES));
            text.push('…');
        }
        text
    }

    fn sources(&mut self, ids: &[String]) -> Vec<SourceId> {
        let mut sources: Vec<SourceId> = Vec::new();
        for id in ids {
            let id = id.trim().trim_matches(['[', ']']);
            let known = id.parse().ok().filter(|id| self.has(*id));
            match known {
                Some(id) if sources.contains(&id) => {}
                Some(id) if sources.len() < SOURCES => sources.push(id),
                _ => self.struck += 1,
            }
        }
        sources
    }

    fn has(&self, id: SourceId) -> bool {
        self.run.sources.iter().any(|source| source.id == id)
    }

    /// Leaves out lines of the longest field until there is room for the rest.
    fn shorten(&mut self, summary: &mut Summary) {
        let limit = limit_bytes(self.run);
        // Each round takes out a line, and there are not more than four fields of them.
        for _ in 0..4 * LINES {
            if super::lines(summary).len() <= limit {
                return;
            }
            let texts = |lines: &[String]| lines.iter().map(String::len).sum::<usize>();
            let findings: usize = summary.findings.iter().map(|line| line.text.len()).sum();
            let weights = [
                texts(&summary.decisions),
                findings,
                texts(&summary.failed),
                texts(&summary.open),
            ];
            let longest = (0..weights.len()).max_by_key(|field| weights[*field]);
            match longest {
                Some(0) => drop(summary.decisions.pop()),
                Some(1) => drop(summary.findings.pop()),
                Some(2) => drop(summary.failed.pop()),
                _ => drop(summary.open.pop()),
            }
            self.left_out += 1;
        }
    }
}

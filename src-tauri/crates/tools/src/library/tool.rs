//! `search_library`.

use std::sync::Arc;

use longrein_protocol::ToolSpec;
use longrein_runtime::ports::{Part, Tool, ToolCall, ToolError, ToolOutput};
use serde::Deserialize;
use serde_json::json;

use super::{Findings, Library, LibraryError};
use crate::tool::{Blocking, arguments, private, spec};
use crate::{error, show};

/// Passages shown when the call says no number.
const PASSAGES_DEFAULT: usize = 6;
/// The most passages.
const PASSAGES_LIMIT: usize = 20;
/// A first search may have to read many documents.
const TIMEOUT_MS: u32 = 180_000;
const RESULT_TOKENS: u32 = 8_000;

/// `library`: none when the agent has no library folders.
pub(crate) fn search_library(library: Option<Arc<Library>>) -> Arc<dyn Tool> {
    let properties = json!({
        "query": {
            "type": "string", "minLength": 1, "maxLength": 1_000,
            "description": "Words that the passage would use; any of them may match, more and rarer ones rank higher. \"Quoted words\" are looked for as a phrase.",
        },
        "limit": {
            "type": "integer", "minimum": 1, "maximum": PASSAGES_LIMIT,
            "description": format!("The most passages to show. Default {PASSAGES_DEFAULT}."),
        },
    });
    let description = "Searches the person's own documents (text, Markdown, HTML, PDF) and shows \
        the passages that fit best, each with its source id: cite one as [S1], or with words that \
        stand in it as [S1: \"exact words\"]. Search several times with different words; read on \
        in a source with read_source.";
    let spec = ToolSpec {
        timeout_ms: TIMEOUT_MS,
        result_tokens: RESULT_TOKENS,
        untrusted: true,
        reach: private(),
        ..spec("search_library", description, properties, &["query"])
    };
    Blocking::tool(spec, move |call| run(call, library.as_deref()))
}

#[derive(Deserialize)]
struct SearchLibrary {
    query: String,
    limit: Option<usize>,
}

fn run(call: &ToolCall, library: Option<&Library>) -> Result<ToolOutput, ToolError> {
    let SearchLibrary { query, limit } = arguments(call)?;
    let Some(library) = library else {
        return Err(error::not_found(
            "this agent has no library: the person can name folders under [library] in the agent's file",
        ));
    };
    if !query.contains(char::is_alphanumeric) {
        return Err(error::invalid("`query` has no words to look for"));
    }
    let limit = limit.unwrap_or(PASSAGES_DEFAULT).clamp(1, PASSAGES_LIMIT);
    let findings =
        library
            .search(&query, limit, &call.cancel)
            .map_err(|problem| match problem {
                LibraryError::Cancelled => error::cancelled(),
                LibraryError::Busy => error::temporary(problem.to_string()),
                problem => error::failed(problem.to_string()),
            })?;
    Ok(output(&query, findings))
}

fn output(query: &str, findings: Findings) -> ToolOutput {
    let mut names: Vec<&str> = findings
        .passages
        .iter()
        .filter_map(|passage| passage.meta.file.as_deref())
        .collect();
    names.sort_unstable();
    names.dedup();
    let found = format!(
        "{} of {}",
        show::count(findings.passages.len(), "passage", "passages"),
        show::count(names.len(), "document", "documents")
    );
    let library = show::count(findings.documents, "document", "documents");
    let query = show::brief(query, 200);
    let mut parts = Vec::with_capacity(findings.passages.len() + 2);
    if findings.passages.is_empty() {
        let mut text = format!("Nothing in the library ({library}) matches “{query}”.");
        if !findings.titles.is_empty() {
            text.push_str(" Documents that it holds:");
        }
        for (path, title) in &findings.titles {
            text.push_str(&format!("\n- {title} ({path})"));
        }
        parts.push(Part::Text(text));
    } else {
        parts.push(Part::Text(format!(
            "{found} for “{query}”, best first, from a library of {library}."
        )));
    }
    parts.extend(
        findings
            .passages
            .into_iter()
            .map(|passage| Part::Passage(Box::new(passage))),
    );
    let trouble = findings.notes.len();
    if trouble > 0 {
        parts.push(Part::Text(format!(
            "Not everything could be searched:\n- {}",
            findings.notes.join("\n- ")
        )));
    }
    let outcome = match trouble {
        0 => found,
        _ => format!("{found}, {}", show::count(trouble, "note", "notes")),
    };
    ToolOutput {
        parts,
        outcome,
        place: Some("the library".to_owned()),
        ..ToolOutput::default()
    }
}

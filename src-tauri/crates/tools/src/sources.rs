//! What the run captured: read on in it, or hold words against it.

use std::sync::Arc;

use async_trait::async_trait;
use longrein_core::evidence::page_at;
use longrein_protocol::source::{SourceRecord, TextRange};
use longrein_protocol::{Body, SourceId, ToolSpec};
use longrein_runtime::ports::{
    BlobRead, Captured, Part, RunContext, Tool, ToolCall, ToolError, ToolOutput,
};
use serde::Deserialize;
use serde_json::json;

use crate::page::{SourceText, Sources};
use crate::tool::{arguments, private, spec};
use crate::{error, show};

/// How much of a source one call shows when the call says no end.
const SHOWN_DEFAULT_BYTES: u32 = 6_000;
/// The most that one call shows.
const SHOWN_LIMIT_BYTES: u32 = 12_000;
/// The most sources that a message lists.
const LISTED_LIMIT: usize = 20;

/// Reads on in a captured source.
pub(crate) struct ReadSource {
    spec: ToolSpec,
}

impl ReadSource {
    pub(crate) fn tool() -> Arc<dyn Tool> {
        let properties = json!({
            "source": {
                "type": "string", "pattern": "^S[1-9][0-9]*$",
                "description": "The source's id, like S3.",
            },
            "start": {
                "type": "integer", "minimum": 0,
                "description": "The first byte of its text. Default: where the last part that you were shown ends.",
            },
            "end": {
                "type": "integer", "minimum": 1,
                "description": format!("One past the last byte; at most {SHOWN_LIMIT_BYTES} bytes are shown. Default: {SHOWN_DEFAULT_BYTES} bytes after the start."),
            },
        });
        let description = "Shows more of a source that this run has, from the library, a page or \
            another tool: what follows the passage that you were shown, or any range of its text. \
            Passages say their bytes in their headings. What it shows can be quoted.";
        let spec = ToolSpec {
            untrusted: true,
            reach: private(),
            ..spec("read_source", description, properties, &["source"])
        };
        Arc::new(Self { spec })
    }
}

#[derive(Deserialize)]
struct Asked {
    source: String,
    start: Option<u32>,
    end: Option<u32>,
}

#[async_trait]
impl Tool for ReadSource {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(&self, call: ToolCall) -> Result<ToolOutput, ToolError> {
        let asked: Asked = arguments(&call)?;
        let context = &call.context;
        let id: SourceId = asked
            .source
            .parse()
            .map_err(|problem| error::invalid(format!("{problem}")))?;
        let Some(record) = context.sources.iter().find(|record| record.id == id) else {
            return Err(error::not_found(unknown(id, &context.sources)));
        };
        let text = text_of(&record.text, &*context.blobs).await?;
        let range = range(&asked, record, &text)?;
        let bytes = match &record.bytes {
            Body::Text(text) => text.as_bytes().into(),
            Body::Blob { blob, .. } => context.blobs.read(*blob).await?,
        };
        let whole = text.len();
        let place = record.meta.file.clone().or_else(|| record.meta.url.clone());
        let mut parts = vec![Part::Passage(Box::new(Captured {
            meta: record.meta.clone(),
            bytes,
            text,
            range,
        }))];
        let end = range.end as usize;
        parts.push(Part::Text(if end < whole {
            format!("{id} has {whole} bytes of text; read on with start {end}.")
        } else {
            format!("That is the end of {id}.")
        }));
        let outcome = format!(
            "{id}, {}",
            show::count(end - range.start as usize, "byte", "bytes")
        );
        Ok(ToolOutput {
            parts,
            outcome,
            place,
            ..ToolOutput::default()
        })
    }
}

/// The range to show, on whole characters and within the limits.
fn range(asked: &Asked, record: &SourceRecord, text: &str) -> Result<TextRange, ToolError> {
    let last_shown = record.shown.last().map_or(0, |range| range.end);
    let start = asked.start.unwrap_or(last_shown);
    if start as usize >= text.len() {
        return Err(error::invalid(format!(
            "{} has {} bytes of text, so nothing begins at {start}; give a smaller `start`",
            record.id,
            text.len()
        )));
    }
    let end = asked
        .end
        .unwrap_or(start.saturating_add(SHOWN_DEFAULT_BYTES));
    if end <= start {
        return Err(error::invalid(format!(
            "`end` ({end}) must be larger than `start` ({start})"
        )));
    }
    let start = text.floor_char_boundary(start as usize);
    let end = (end as usize).min(start + SHOWN_LIMIT_BYTES as usize);
    let end = text.ceil_char_boundary(end.min(text.len()));
    let page = record.meta.pdf.is_some().then(|| page_at(text, start));
    let offset = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX);
    Ok(TextRange {
        start: offset(start),
        end: offset(end),
        page,
    })
}

fn unknown(id: SourceId, sources: &[SourceRecord]) -> String {
    if sources.is_empty() {
        return format!("there is no source {id}: this run has read none yet");
    }
    let listed: Vec<String> = sources
        .iter()
        .take(LISTED_LIMIT)
        .map(|record| format!("{} ({})", record.id, show::brief(&record.meta.title, 60)))
        .collect();
    let more = if sources.len() > LISTED_LIMIT {
        ", …"
    } else {
        ""
    };
    format!(
        "there is no source {id}; this run has {}{more}",
        listed.join(", ")
    )
}

async fn text_of(body: &Body, blobs: &dyn BlobRead) -> Result<Arc<str>, ToolError> {
    match body {
        Body::Text(text) => Ok(text.as_str().into()),
        // What was captured as text is text; a damaged blob would have failed its hash.
        Body::Blob { blob, .. } => Ok(String::from_utf8_lossy(&blobs.read(*blob).await?).into()),
    }
}

/// The sources that a page names, as the run captured them; what the run does not have is left out.
pub(crate) async fn cited_sources(
    context: &RunContext,
    cited: &[SourceId],
) -> Result<Sources, ToolError> {
    let mut sources = Sources::new();
    for record in &context.sources {
        if cited.contains(&record.id) {
            let text = text_of(&record.text, &*context.blobs).await?;
            sources.insert(
                record.id,
                SourceText {
                    meta: record.meta.clone(),
                    text,
                    shown: record.shown.clone(),
                },
            );
        }
    }
    Ok(sources)
}

//! How a captured passage is written for the model: one line that names it, then its words.

use longrein_protocol::SourceId;
use longrein_protocol::source::{SourceMeta, TextRange};

/// Writes the line that stands before a passage:
/// `[S3] The title (notes.md, page 4, bytes 120-560)`.
pub fn heading(source: SourceId, meta: &SourceMeta, range: TextRange) -> String {
    let title = meta.title.replace(['\n', '\r'], " ");
    let place = meta
        .file
        .as_deref()
        .or(meta.url.as_deref())
        .unwrap_or("no address");
    let page = range
        .page
        .map(|page| format!(", page {page}"))
        .unwrap_or_default();
    format!(
        "[{source}] {title} ({place}{page}, bytes {}-{})",
        range.start, range.end
    )
}

/// Reads the id from a line that [`heading`] wrote.
pub fn heading_source(line: &str) -> Option<SourceId> {
    let (id, _) = line.strip_prefix('[')?.split_once("] ")?;
    line.ends_with(')').then(|| id.parse().ok()).flatten()
}

//! Blocks as plain text: the text that quotes are checked against.

use super::block::{Block, BlockKind, Nest, plain, plain_cell};
use crate::page::Heading;

/// What stands between two cells of a row.
const CELL_MARK: &str = " | ";

/// A text that was written out.
pub(super) struct Written {
    pub text: String,
    pub headings: Vec<Heading>,
    /// How many blocks it holds.
    pub blocks: usize,
    /// Whether there were more.
    pub is_cut: bool,
}

/// Writes blocks with one blank line between them, and items of a list on lines of their own,
/// until the limit is reached.
pub(super) fn write(blocks: &[Block], limit_bytes: usize) -> Written {
    let mut written = Written {
        text: String::new(),
        headings: Vec::new(),
        blocks: 0,
        is_cut: false,
    };
    let mut previous: Option<&Block> = None;
    for block in blocks {
        let piece = words(&block.kind);
        let gap = match previous {
            Some(previous) if !piece.is_empty() => gap(previous, block),
            _ => "",
        };
        if !piece.is_empty() {
            previous = Some(block);
        }
        if written.text.len() + gap.len() + piece.len() > limit_bytes {
            written.is_cut = true;
            let left = limit_bytes - written.text.len();
            if left > gap.len() {
                let end = piece.floor_char_boundary(left - gap.len());
                written.text.push_str(gap);
                written.text.push_str(&piece[..end]);
                written.blocks += 1;
            }
            return written;
        }
        written.text.push_str(gap);
        if let BlockKind::Heading(level, _) = &block.kind {
            written.headings.push(Heading {
                level: *level,
                text: piece.split('\n').collect::<Vec<_>>().join(" "),
                start: written.text.len(),
            });
        }
        written.text.push_str(&piece);
        written.blocks += 1;
    }
    written
}

fn words(kind: &BlockKind) -> String {
    match kind {
        BlockKind::Paragraph(spans) | BlockKind::Heading(_, spans) => {
            plain(spans).trim().to_owned()
        }
        BlockKind::Code { text, .. } => text.trim_end().to_owned(),
        BlockKind::Table(table) => {
            let rows: Vec<String> = table
                .rows
                .iter()
                .map(|row| {
                    let cells: Vec<String> = row.iter().map(|cell| plain_cell(cell)).collect();
                    cells.join(CELL_MARK).trim_end().to_owned()
                })
                .collect();
            rows.join("\n")
        }
        BlockKind::Rule => String::new(),
    }
}

/// What stands between two blocks: items of a list follow each other line by line.
pub(super) fn gap(previous: &Block, next: &Block) -> &'static str {
    let begins_item = matches!(next.nest.last(), Some(Nest::Item { first: true, .. }));
    let follows_item = matches!(previous.nest.last(), Some(Nest::Item { .. }));
    if begins_item && follows_item {
        "\n"
    } else {
        "\n\n"
    }
}

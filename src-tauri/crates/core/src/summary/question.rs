//! What a model that summarises is asked: the part that is taken out, in words, cut to a size.

use longrein_protocol::Body;
use longrein_protocol::block::{Block, Trust};

use crate::compile::{Content, fence, fence_of};
use crate::run::{Item, Run};

/// What is left of a part at least, in bytes, however little room there is.
const LEAST_BYTES: usize = 160;

/// A part of what is summed up.
struct Part {
    opening: String,
    text: String,
    closing: String,
    /// Whether it is what an action returned: those are cut first.
    is_result: bool,
}

/// Bodies whose text [`question`] reads.
pub fn bodies(run: &Run, before: u32) -> Vec<&Body> {
    let items = run.conversation.numbered();
    let items = items.take_while(|(number, _)| *number < before);
    let mut bodies: Vec<&Body> = Vec::new();
    for (_, item) in items {
        match item {
            Item::Person(words) => bodies.push(&words.body),
            Item::Notice(body) => bodies.push(body),
            Item::Result { result, .. } => bodies.push(&result.body),
            Item::Assistant(blocks) => {
                bodies.extend(blocks.iter().filter_map(|block| match block {
                    Block::Text { text, .. } => Some(text),
                    Block::ToolUse { arguments, .. } => Some(arguments),
                    Block::Thinking { .. } => None,
                }))
            }
        }
    }
    bodies
}

/// The question about the items before `before`, in about `limit` bytes: the largest results are
/// cut first, then whatever is largest.
pub fn question(run: &Run, before: u32, text: &Content<'_>, limit: usize) -> String {
    let mut parts = Vec::new();
    let items = run.conversation.numbered();
    for (_, item) in items.take_while(|(number, _)| *number < before) {
        lay(item, text, &mut parts);
    }
    let opening = opening(run);
    let closing = closing(run);
    let fixed = opening.len() + closing.len();
    let envelopes: usize = parts
        .iter()
        .map(|part| part.opening.len() + part.closing.len())
        .sum();
    cut(&mut parts, limit.saturating_sub(fixed + envelopes));
    let mut said = opening;
    for part in &parts {
        said.push_str(&part.opening);
        said.push_str(&part.text);
        said.push_str(&part.closing);
    }
    said.push_str(&closing);
    said
}

/// Bytes of what is summed up, about.
pub fn weight(run: &Run, before: u32) -> usize {
    let items = run.conversation.numbered();
    let items = items.take_while(|(number, _)| *number < before);
    items.map(|(_, item)| item.bytes()).sum()
}

fn opening(run: &Run) -> String {
    let task = match run.title.trim() {
        "" => String::new(),
        title => format!("The work began with: {title}\n\n"),
    };
    let before = run.summary.as_ref().map(|summary| {
        let fence = fence_of(run);
        format!(
            "The record of what came before, which yours replaces. Take over what still \
             matters:\n<untrusted id=\"{fence}\" from=\"summary\">{}\n</untrusted id=\"{fence}\">\n\n",
            super::lines(summary)
        )
    });
    format!(
        "{task}{}The part that is taken out, oldest first:",
        before.unwrap_or_default()
    )
}

fn closing(run: &Run) -> String {
    let again = match run.summaries.why.as_str() {
        _ if !run.summaries.answered => String::new(),
        why => {
            format!(" Your last answer could not be used: {why}. Keep it short and in the form.")
        }
    };
    format!("\n\nThat is all of it. Now write the record.{again}")
}

fn lay(item: &Item, text: &Content<'_>, parts: &mut Vec<Part>) {
    let mut push = |opening: String, text: String, closing: String, is_result: bool| {
        parts.push(Part {
            opening,
            text,
            closing,
            is_result,
        });
    };
    match item {
        Item::Person(words) => {
            let opening = "\n\n== The person said:\n".to_owned();
            push(opening, text(&words.body), String::new(), false);
        }
        Item::Notice(body) => {
            let opening = "\n\n== The harness said:\n".to_owned();
            push(opening, text(body), String::new(), false);
        }
        Item::Assistant(blocks) => {
            for block in blocks {
                match block {
                    Block::Text { text: words, .. } => {
                        let opening = "\n\n== The model said:\n".to_owned();
                        push(opening, text(words), String::new(), false);
                    }
                    Block::ToolUse {
                        name, arguments, ..
                    } => {
                        let opening = format!("\n\n== The model called {name} with:\n");
                        push(opening, text(arguments), String::new(), false);
                    }
                    Block::Thinking { .. } => {}
                }
            }
        }
        Item::Result {
            action,
            tool,
            result,
            ..
        } => {
            let how = if result.error.is_some() {
                "failed with"
            } else {
                "returned"
            };
            let mut opening = format!("\n\n== {tool} {how}:\n");
            let mut closing = String::new();
            if result.trust == Trust::Untrusted {
                let fence = fence(action);
                opening.push_str(&format!("<untrusted id=\"{fence}\" from=\"{tool}\">\n"));
                closing = format!("\n</untrusted id=\"{fence}\">");
            }
            push(opening, text(&result.body), closing, true);
        }
    }
}

/// Cuts the largest results until all fit, then, where that is not enough, whatever is largest.
fn cut(parts: &mut [Part], limit: usize) {
    for results_only in [true, false] {
        let total: usize = parts.iter().map(|part| part.text.len()).sum();
        if total <= limit {
            return;
        }
        let cuttable = |part: &Part| part.is_result || !results_only;
        let fixed: usize = parts
            .iter()
            .filter(|part| !cuttable(part))
            .map(|part| part.text.len())
            .sum();
        let mut sizes: Vec<usize> = parts
            .iter()
            .filter(|part| cuttable(part))
            .map(|part| part.text.len())
            .collect();
        let most = largest_that_fits(&mut sizes, limit.saturating_sub(fixed)).max(LEAST_BYTES);
        for part in parts.iter_mut().filter(|part| cuttable(part)) {
            shorten(&mut part.text, most);
        }
    }
}

/// The size to which the larger ones have to be cut so that all fit.
fn largest_that_fits(sizes: &mut [usize], limit: usize) -> usize {
    sizes.sort_unstable();
    let mut left = limit;
    let mut count = sizes.len();
    for size in sizes.iter() {
        let share = left / count.max(1);
        if *size > share {
            return share;
        }
        left -= size;
        count -= 1;
    }
    usize::MAX
}

/// Leaves the head and the tail of a text.
fn shorten(text: &mut String, most: usize) {
    if text.len() <= most {
        return;
    }
    let head = text.floor_char_boundary(most * 2 / 3);
    let tail = text.ceil_char_boundary(text.len() - most / 3);
    let left_out = tail - head;
    *text = format!(
        "{}\n[… {left_out} bytes left out …]\n{}",
        &text[..head],
        &text[tail..]
    );
}

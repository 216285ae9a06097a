//! What a child reports, as its parent is told it.

use std::collections::HashMap;

use longrein_core::run::FINDING;
use longrein_protocol::SourceId;
use longrein_protocol::event::{ChildEnd, ChildFinished};
use serde_json::Value;

/// The longest finding that a parent is told.
pub(crate) const FINDING_BYTES: usize = 8_000;

/// What the arguments of a `finish` report: the summary, and behind it what was asked for in a form,
/// as JSON.
///
/// Where the child did not end well, the form may be another than what was asked for.
pub(crate) fn report(arguments: &str, ended_well: bool) -> String {
    let parsed: Option<Value> = serde_json::from_str(arguments).ok();
    let said = |name: &str| parsed.as_ref().and_then(|value| value.get(name));
    let summary = said("summary").and_then(Value::as_str).unwrap_or_default();
    match said(FINDING) {
        None | Some(Value::Null) => summary.to_owned(),
        Some(finding) if ended_well => format!("{summary}\nFinding: {finding}"),
        Some(finding) => {
            format!("{summary}\nUnchecked, not in the form that was asked for: {finding}")
        }
    }
}

/// A text cut to a length, with a word that says so.
pub(crate) fn cut(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(bytes);
    format!(
        "{}\n[… {} bytes left out; the child's own log has them]",
        &text[..end],
        text.len() - end
    )
}

/// A text in which the child's source ids are the parent's: `S3` in square brackets.
pub(crate) fn renamed(text: &str, names: &HashMap<SourceId, SourceId>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("[S") {
        let (before, from) = rest.split_at(at + 1);
        out.push_str(before);
        let digits = from[1..].bytes().take_while(u8::is_ascii_digit).count();
        let id = from[1..=digits].parse().ok().map(SourceId);
        match id.and_then(|id| names.get(&id)) {
            Some(own) => out.push_str(&own.to_string()),
            None => out.push_str(&from[..=digits]),
        }
        rest = &from[digits + 1..];
    }
    out.push_str(rest);
    out
}

/// One finding as a part of the delegation's result.
pub(crate) fn section(title: &str, end: &ChildFinished, finding: &str) -> String {
    let how = match end.end {
        ChildEnd::Accepted | ChildEnd::Unverified => "done",
        ChildEnd::Failed => "failed",
        ChildEnd::Cancelled => "cancelled by the person",
        ChildEnd::HandedOff => "stopped before it was done",
    };
    let title = title.replace(['\n', '\r'], " ");
    let mut text = format!("## {title}: {how}\n");
    if !end.reason.is_empty() {
        text.push_str(&format!("{}\n", end.reason));
    }
    if finding.is_empty() {
        text.push_str("It reported nothing.\n");
    } else {
        text.push_str(&format!("{}\n", finding.trim_end()));
    }
    if !end.artifacts.is_empty() {
        text.push_str(&format!("Files: {}\n", end.artifacts.join(", ")));
    }
    if !end.sources.is_empty() {
        let ids: Vec<String> = end.sources.iter().map(ToString::to_string).collect();
        text.push_str(&format!("Sources: {}\n", ids.join(", ")));
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use longrein_protocol::SourceId;

    use super::{cut, renamed, report};

    #[test]
    fn a_childs_source_ids_become_the_parents() {
        let names = HashMap::from([(SourceId(1), SourceId(12)), (SourceId(12), SourceId(3))]);
        let text = "A [S1], B [S12: \"quoted\"], C [S7], D S1 [S].";
        assert_eq!(
            renamed(text, &names),
            "A [S12], B [S3: \"quoted\"], C [S7], D S1 [S]."
        );
    }

    #[test]
    fn a_long_finding_is_cut_at_a_letter_and_says_so() {
        assert_eq!(cut("kurz", 10), "kurz");
        assert_eq!(
            cut("ääää", 3),
            "ä\n[… 6 bytes left out; the child's own log has them]"
        );
    }

    #[test]
    fn a_report_is_the_summary_of_a_finish_with_what_was_asked_for_in_a_form() {
        assert_eq!(report("{\"summary\": \"Found.\"}", true), "Found.");
        let form = "{\"summary\": \"Two.\", \"finding\": {\"names\": [\"a [S1]\"]}}";
        assert_eq!(
            report(form, true),
            "Two.\nFinding: {\"names\":[\"a [S1]\"]}"
        );
        assert!(
            report(form, false).contains("Unchecked"),
            "it ended otherwise"
        );
        assert_eq!(report("not json", true), "");
    }
}

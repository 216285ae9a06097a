//! The index: one line for each thing that a model is not shown before it asks.
//!
//! It stands in the system text, so that no format sees two messages of a person in a row. Words
//! of strangers are no part of it: of a server it has names, made of letters, digits and a few
//! marks, and of a skill the line that a person has approved.

use std::fmt::Write as _;

use longrein_protocol::tool::{IndexKind, IndexLine};

/// The most characters of one line.
pub const LINE_CHARS: usize = 320;
/// The most characters of all lines together; about 3,000 tokens.
pub const INDEX_CHARS: usize = 12_000;

/// The text of an index; empty where there are no lines. Lines over the bound are counted and not
/// shown.
pub fn text(lines: &[IndexLine]) -> String {
    let mut text = String::new();
    let mut left = INDEX_CHARS;
    for kind in [IndexKind::Off, IndexKind::Server, IndexKind::Skill] {
        let mut hidden = 0_usize;
        let mut listed = String::new();
        for line in lines.iter().filter(|line| line.kind == kind) {
            let line = one_line(line);
            match left.checked_sub(line.chars().count()) {
                Some(rest) if hidden == 0 => {
                    left = rest;
                    listed.push_str(&line);
                }
                _ => hidden += 1,
            }
        }
        if hidden > 0 {
            let _ = write!(
                listed,
                "\n- … and {hidden} more, for which there is no room."
            );
        }
        if !listed.is_empty() {
            let gap = if text.is_empty() { "" } else { "\n\n" };
            let _ = write!(text, "{gap}{}{listed}", heading(kind));
        }
    }
    text
}

fn heading(kind: IndexKind) -> &'static str {
    match kind {
        IndexKind::Off => "Tools that are off on this machine:",
        IndexKind::Server => "Servers with more tools than are listed as tools:",
        IndexKind::Skill => {
            "Skills: how such work is done here. load_skill gives the whole of one; load what the \
             task is about before you begin:"
        }
    }
}

/// A line as it is shown: what breaks lines is a space, and what is too long is cut.
fn one_line(line: &IndexLine) -> String {
    let words = format!("{}: {}", line.name, line.text);
    let mut words = words.split(|letter: char| letter.is_whitespace() || letter.is_control());
    let mut shown = String::from("\n-");
    let mut chars = shown.len();
    for word in words.by_ref().filter(|word| !word.is_empty()) {
        let more = word.chars().count() + 1;
        if chars + more > LINE_CHARS {
            shown.push_str(" …");
            break;
        }
        chars += more;
        shown.push(' ');
        shown.push_str(word);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(kind: IndexKind, name: &str, text: &str) -> IndexLine {
        IndexLine {
            kind,
            name: name.to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn without_lines_there_is_no_index() {
        assert_eq!(text(&[]), "");
    }

    #[test]
    fn what_is_off_stands_first_and_servers_before_skills_each_in_its_order_and_in_one_line() {
        let lines = [
            line(IndexKind::Skill, "research-page", "Builds\na page."),
            line(IndexKind::Server, "lab", "9 tools, such as weigh\r\n\tmix"),
            line(IndexKind::Server, "arm", "12 tools"),
            line(IndexKind::Off, "run_command", "no box"),
        ];
        let text = text(&lines);
        let listed: Vec<&str> = text.lines().filter(|line| line.starts_with("- ")).collect();
        assert_eq!(
            listed,
            [
                "- run_command: no box",
                "- lab: 9 tools, such as weigh mix",
                "- arm: 12 tools",
                "- research-page: Builds a page."
            ]
        );
    }

    #[test]
    fn a_long_line_is_cut_between_words_and_one_long_word_is_left_out() {
        let long = line(IndexKind::Skill, "words", &"wörd ".repeat(200));
        let shown = one_line(&long);
        assert!(shown.chars().count() <= LINE_CHARS + 2, "{shown}");
        assert!(shown.ends_with("wörd …"), "{shown}");
        let word = line(IndexKind::Skill, "word", &"x".repeat(1_000));
        assert_eq!(one_line(&word), "\n- word: …");
    }

    #[test]
    fn what_is_over_the_bound_is_counted() {
        let lines: Vec<IndexLine> = (0..200)
            .map(|number| {
                line(
                    IndexKind::Server,
                    &format!("s{number}"),
                    &"word ".repeat(40),
                )
            })
            .collect();
        let text = text(&lines);
        assert!(text.chars().count() < INDEX_CHARS + 400);
        let shown = text.lines().filter(|line| line.starts_with("- s")).count();
        let more = format!("- … and {} more, for which there is no room.", 200 - shown);
        assert!(text.ends_with(&more), "{text}");
    }
}

//! Characters that are not seen, or that make text look other than it is.

use serde::{Deserialize, Serialize};

/// What such a character does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum HiddenKind {
    /// It turns the reading direction: what is shown is not the order of what is read.
    Bidirectional,
    /// It has no width.
    ZeroWidth,
    /// A tag or a variation selector: whole texts can be written in them.
    Smuggling,
    /// It acts on a terminal.
    Control,
    /// It looks like nothing or like a space, and is neither.
    Blank,
}

/// What `letter` hides, or `None` for one that is seen.
pub(crate) fn kind_of(letter: char) -> Option<HiddenKind> {
    match letter {
        '\n' | '\t' => None,
        '\u{061c}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}' => Some(HiddenKind::Bidirectional),
        '\u{200b}'..='\u{200d}'
        | '\u{2060}'
        | '\u{feff}'
        | '\u{00ad}'
        | '\u{034f}'
        | '\u{180b}'..='\u{180f}'
        | '\u{2061}'..='\u{2065}'
        | '\u{206a}'..='\u{206f}' => Some(HiddenKind::ZeroWidth),
        '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e0fff}' => Some(HiddenKind::Smuggling),
        '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{2800}'
        | '\u{3164}'
        | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{2028}'
        | '\u{2029}' => Some(HiddenKind::Blank),
        _ if letter.is_control() => Some(HiddenKind::Control),
        _ => None,
    }
}

/// A character that is not seen, and where it stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Hidden {
    pub(crate) kind: HiddenKind,
    pub(crate) letter: char,
    /// From 1.
    pub(crate) line: usize,
    /// In characters, from 1.
    pub(crate) column: usize,
}

/// Every hidden character of `text`. Line ends of any system, and what joins or colours a
/// pictograph, are no hiding.
pub(crate) fn find(text: &str) -> impl Iterator<Item = Hidden> + '_ {
    text.split('\n').enumerate().flat_map(|(at, line)| {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let mut before = None;
        line.chars()
            .enumerate()
            .filter_map(move |(column, letter)| {
                let joins = matches!(letter, '\u{200d}' | '\u{fe0f}' | '\u{fe0e}')
                    && before.is_some_and(is_pictograph);
                before = Some(letter);
                let kind = kind_of(letter).filter(|_| !joins)?;
                Some(Hidden {
                    kind,
                    letter,
                    line: at + 1,
                    column: column + 1,
                })
            })
    })
}

/// Whether a joiner or a selector after this letter belongs to it.
fn is_pictograph(letter: char) -> bool {
    matches!(
        letter,
        '#' | '*' | '0'..='9' | '©' | '®' | '\u{203c}'..='\u{3299}' | '\u{1f000}'..='\u{1faff}' | '\u{fe0f}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(HiddenKind, usize, usize)> {
        find(text)
            .map(|hidden| (hidden.kind, hidden.line, hidden.column))
            .collect()
    }

    #[test]
    fn what_is_not_seen_is_found_with_its_place() {
        assert_eq!(
            kinds("seen\na\u{202e}b\u{200b}\n\u{e0041}\u{1b}[2J"),
            [
                (HiddenKind::Bidirectional, 2, 2),
                (HiddenKind::ZeroWidth, 2, 4),
                (HiddenKind::Smuggling, 3, 1),
                (HiddenKind::Control, 3, 2),
            ]
        );
    }

    #[test]
    fn line_ends_and_joined_pictographs_hide_nothing() {
        assert_eq!(
            kinds("one\r\ntwo\ttab\n✔\u{fe0f} 👩\u{200d}🔬 1\u{fe0f}\u{20e3}"),
            []
        );
        assert_eq!(kinds("a\u{fe0f}").len(), 1);
    }
}

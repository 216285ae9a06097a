//! Looks for secrets in one view of a text, as its bytes come.

use std::collections::VecDeque;
use std::ops::Range;

use aho_corasick::automaton::StateID;

use super::patterns::Patterns;
use super::view::{Decoder, Escape, Glyph};

/// How many line breaks in a row may stand inside a secret: a tool wraps what it prints.
pub(super) const LINE_BREAKS_MAX: usize = 8;

/// The places where secrets stand.
pub(super) type Places = Vec<Range<u64>>;

/// Looks for secrets where no escape is left.
struct Finder {
    state: StateID,
    /// Where each byte began that was read since no secret was open; the latest last, and no more
    /// than the longest secret has.
    from: VecDeque<u64>,
    line_breaks: usize,
}

impl Finder {
    fn new(patterns: &Patterns) -> Self {
        Self {
            state: patterns.start(),
            from: VecDeque::new(),
            line_breaks: 0,
        }
    }

    fn is_idle(&self) -> bool {
        self.from.is_empty()
    }

    fn rest(&mut self, patterns: &Patterns) {
        self.state = patterns.start();
        self.from.clear();
        self.line_breaks = 0;
    }

    fn push(&mut self, patterns: &Patterns, glyph: Glyph, places: &mut Places) {
        if super::is_line_break(glyph.byte) {
            self.line_breaks += 1;
            if self.line_breaks > LINE_BREAKS_MAX {
                self.rest(patterns);
            }
            return;
        }
        self.line_breaks = 0;
        self.state = patterns.next(self.state, glyph.byte);
        if self.state == patterns.start() {
            self.from.clear();
            return;
        }
        if self.from.len() == patterns.longest() {
            self.from.pop_front();
        }
        self.from.push_back(glyph.from);
        if let Some(length) = patterns.ends(self.state) {
            places.push(self.from[self.from.len() - length]..glyph.to);
        }
    }

    /// Where what may become a secret begins.
    fn open_from(&self, patterns: &Patterns) -> Option<u64> {
        let depth = patterns.depth(self.state);
        let first = self.from.len().checked_sub(depth)?;
        self.from.get(first).copied()
    }
}

/// One view of a text: its escapes are undone, level by level, and what is left is looked at.
pub(super) struct View {
    levels: Vec<Decoder>,
    finder: Finder,
}

/// What a view came by.
#[derive(Clone, Copy, Default)]
pub(super) struct Seen {
    /// An escape was undone.
    escape: bool,
    percent: bool,
    backslash: bool,
}

impl Seen {
    fn take(&mut self, glyph: Glyph) {
        self.escape |= glyph.was_escaped();
        self.percent |= glyph.byte == Escape::Percent.sign();
        self.backslash |= glyph.byte == Escape::Json.sign();
    }

    /// Whether undoing these escapes in what was seen can show anything new.
    pub(super) fn asks_for(self, escape: Escape) -> bool {
        self.escape
            && match escape {
                Escape::Percent => self.percent,
                Escape::Json => self.backslash,
            }
    }
}

impl View {
    /// A view behind these levels of escapes, the outermost first.
    pub(super) fn new(patterns: &Patterns, levels: &[Escape]) -> Self {
        Self {
            levels: levels.iter().copied().map(Decoder::new).collect(),
            finder: Finder::new(patterns),
        }
    }

    /// Looks at the next bytes of a text, the first of which stands at `place`.
    pub(super) fn look(
        &mut self,
        patterns: &Patterns,
        place: u64,
        bytes: &[u8],
        places: &mut Places,
    ) -> Seen {
        let mut seen = Seen::default();
        let mut at = 0;
        while at < bytes.len() {
            if self.is_idle() {
                let wakes = |byte: &u8| patterns.begins_with(*byte) || Escape::is_sign(*byte);
                match bytes[at..].iter().position(wakes) {
                    Some(skipped) => at += skipped,
                    None => break,
                }
            }
            let Self { levels, finder } = self;
            let glyph = Glyph::plain(bytes[at], place + at as u64);
            let mut take = |glyph| {
                seen.take(glyph);
                finder.push(patterns, glyph, places);
            };
            // Written out, since every byte goes this way.
            match levels.as_mut_slice() {
                [] => take(glyph),
                [outer] => outer.push(glyph, &mut take),
                [outer, inner, ..] => {
                    outer.push(glyph, &mut |glyph| inner.push(glyph, &mut take));
                }
            }
            at += 1;
        }
        seen
    }

    /// Nothing is open, so that most bytes change nothing.
    fn is_idle(&self) -> bool {
        self.finder.is_idle() && self.levels.iter().all(Decoder::is_idle)
    }

    pub(super) fn finish(&mut self, patterns: &Patterns, places: &mut Places) {
        let Self { levels, finder } = self;
        let mut take = |glyph| finder.push(patterns, glyph, places);
        match levels.as_mut_slice() {
            [] => {}
            [outer] => outer.finish(&mut take),
            [outer, inner, ..] => {
                outer.finish(&mut |glyph| inner.push(glyph, &mut take));
                inner.finish(&mut take);
            }
        }
    }

    /// Where what may become a secret begins.
    pub(super) fn open_from(&self, patterns: &Patterns) -> Option<u64> {
        let pending = self.levels.iter().filter_map(Decoder::open_from);
        pending.chain(self.finder.open_from(patterns)).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SecretText;

    #[test]
    fn no_more_is_remembered_than_the_longest_secret_has() {
        let patterns = Patterns::of(&[SecretText::new("aaaaaaab")]).unwrap();
        let mut view = View::new(&patterns, &[]);
        view.look(&patterns, 0, &[b'a'; 10_000], &mut Places::new());
        assert_eq!(view.finder.from.len(), patterns.longest());
        assert_eq!(view.open_from(&patterns), Some(10_000 - 7));
    }
}

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

    pub(super) fn push(&mut self, patterns: &Patterns, glyph: Glyph, places: &mut Places) {
        let Self { levels, finder } = self;
        through(levels, glyph, &mut |glyph| {
            finder.push(patterns, glyph, places);
        });
    }

    pub(super) fn finish(&mut self, patterns: &Patterns, places: &mut Places) {
        let Self { levels, finder } = self;
        finish(levels, &mut |glyph| finder.push(patterns, glyph, places));
    }

    /// Where what may become a secret begins.
    pub(super) fn open_from(&self, patterns: &Patterns) -> Option<u64> {
        let pending = self.levels.iter().filter_map(Decoder::open_from);
        pending.chain(self.finder.open_from(patterns)).min()
    }

    /// Looks at a whole text.
    pub(super) fn look(&mut self, patterns: &Patterns, bytes: &[u8], places: &mut Places) -> Seen {
        let mut seen = Seen::default();
        let Self { levels, finder } = self;
        let mut take = |glyph: Glyph| {
            seen.escape |= glyph.was_escaped();
            seen.percent |= glyph.byte == Escape::Percent.sign();
            seen.backslash |= glyph.byte == Escape::Json.sign();
            finder.push(patterns, glyph, places);
        };
        for (at, byte) in (0..).zip(bytes) {
            through(levels, Glyph::plain(*byte, at), &mut take);
        }
        finish(levels, &mut take);
        seen
    }
}

/// Looks at a whole text as it stands: the same as a view without levels, and faster.
pub(super) fn look_plainly(patterns: &Patterns, bytes: &[u8], places: &mut Places) {
    let mut finder = Finder::new(patterns);
    let mut at = 0;
    while at < bytes.len() {
        if finder.is_idle() {
            let begins = |byte: &u8| patterns.begins_with(*byte);
            match bytes[at..].iter().position(begins) {
                Some(skipped) => at += skipped,
                None => return,
            }
        }
        finder.push(patterns, Glyph::plain(bytes[at], at as u64), places);
        at += 1;
    }
}

fn through(levels: &mut [Decoder], glyph: Glyph, out: &mut dyn FnMut(Glyph)) {
    match levels {
        [] => out(glyph),
        [outer, inner @ ..] => outer.push(glyph, &mut |glyph| through(inner, glyph, out)),
    }
}

fn finish(levels: &mut [Decoder], out: &mut dyn FnMut(Glyph)) {
    if let [outer, inner @ ..] = levels {
        outer.finish(&mut |glyph| through(inner, glyph, out));
        finish(inner, out);
    }
}

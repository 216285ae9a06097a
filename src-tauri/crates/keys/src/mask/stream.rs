//! Masks what comes in pieces. Only what may become a secret is held back.

use super::finder::{LINE_BREAKS_MAX, Places, View};
use super::view::{ESCAPE_GROWTH_MAX, Escape};
use super::{Masker, fill, into_text};

/// Every view of a text: as it is, and behind one or two levels of escapes.
const VIEWS: [&[Escape]; 7] = [
    &[],
    &[Escape::Percent],
    &[Escape::Json],
    &[Escape::Percent, Escape::Percent],
    &[Escape::Percent, Escape::Json],
    &[Escape::Json, Escape::Percent],
    &[Escape::Json, Escape::Json],
];

/// Masks known secrets in what comes in pieces, wherever the pieces were cut. What can't become a
/// secret is given on at once; together it has as many bytes as came in.
pub struct MaskStream {
    masker: Masker,
    views: Vec<View>,
    /// What may become a secret, already masked where it was one.
    held: Vec<u8>,
    /// How many bytes came in.
    taken: u64,
}

impl MaskStream {
    pub(super) fn new(masker: Masker) -> Self {
        let views = masker.patterns().map_or_else(Vec::new, |patterns| {
            let views = VIEWS.iter().map(|levels| View::new(patterns, levels));
            views.collect()
        });
        Self {
            masker,
            views,
            held: Vec::new(),
            taken: 0,
        }
    }

    /// The most bytes that are ever held back: the longest secret, each of its bytes behind two
    /// levels of escapes, with as many line breaks between them as are overlooked.
    pub fn held_max_bytes(&self) -> usize {
        let longest = self.masker.patterns().map_or(0, |it| it.longest());
        (longest + 1) * ESCAPE_GROWTH_MAX * ESCAPE_GROWTH_MAX * (LINE_BREAKS_MAX + 1)
    }

    /// How many bytes are held back now.
    pub fn held_bytes(&self) -> usize {
        self.held.len()
    }

    /// Takes a piece, and gives what can't become a secret any more.
    pub fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        let Some(patterns) = self.masker.patterns() else {
            return piece.to_vec();
        };
        let mut places = Places::new();
        for view in &mut self.views {
            view.look(patterns, self.taken, piece, &mut places);
        }
        let open = self
            .views
            .iter()
            .filter_map(|view| view.open_from(patterns));
        let open = open.min();
        self.held.extend_from_slice(piece);
        self.taken += piece.len() as u64;
        self.mask(&places);
        self.give_until(open.unwrap_or(self.taken))
    }

    /// Takes a piece of text, and gives what can't become a secret any more.
    pub fn push_text(&mut self, piece: &str) -> String {
        into_text(self.push(piece.as_bytes()))
    }

    /// Nothing follows: gives the rest.
    pub fn finish(mut self) -> Vec<u8> {
        if let Some(patterns) = self.masker.patterns() {
            let mut places = Places::new();
            for view in &mut self.views {
                view.finish(patterns, &mut places);
            }
            self.mask(&places);
        }
        self.held
    }

    /// Nothing follows: gives the rest as text.
    pub fn finish_text(self) -> String {
        into_text(self.finish())
    }

    fn mask(&mut self, places: &Places) {
        // What was open is held, so a place never begins before it.
        let first = self.taken - self.held.len() as u64;
        for place in places {
            let place = place.start.saturating_sub(first)..place.end.saturating_sub(first);
            fill(&mut self.held, &[place]);
        }
    }

    fn give_until(&mut self, open: u64) -> Vec<u8> {
        let given = self.held.len() - (self.taken - open) as usize;
        let rest = self.held.split_off(given);
        std::mem::replace(&mut self.held, rest)
    }
}

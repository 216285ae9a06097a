//! Every secret in every spelling that is looked for byte by byte, as one automaton.

use std::collections::HashMap;

use aho_corasick::Anchored;
use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::nfa::contiguous::NFA;
use base64::Engine;
use base64::engine::general_purpose::{GeneralPurpose, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use zeroize::Zeroizing;

use super::SHORTEST_MASKED_BYTES;
use crate::SecretText;

type Spelling = Zeroizing<Vec<u8>>;

/// The automaton. It holds the secrets as long as it lives, and nothing clears it.
pub(super) struct Patterns {
    automaton: NFA,
    start: StateID,
    /// How many bytes of some spelling have been read in each state.
    depths: HashMap<StateID, usize>,
    /// The bytes with which some spelling begins.
    begins: [bool; 256],
    longest: usize,
}

impl Patterns {
    /// The automaton of these secrets; `None` when none is long enough to be looked for.
    pub(super) fn of(secrets: &[SecretText]) -> Option<Self> {
        let mut spellings: Vec<Spelling> = secrets.iter().flat_map(spellings).collect();
        spellings.sort_by(|one, other| one.as_slice().cmp(other.as_slice()));
        spellings.dedup();
        let longest = spellings.iter().map(|spelling| spelling.len()).max()?;
        // It fails only beyond two thousand million states, and a byte of a spelling makes one.
        let automaton = NFA::new(spellings.iter().map(|spelling| spelling.as_slice()))
            .expect("secrets are far shorter than what an automaton can hold");
        let start = automaton
            .start_state(Anchored::No)
            .expect("this kind of automaton always finds what stands anywhere");
        let mut depths = HashMap::new();
        let mut begins = [false; 256];
        for spelling in &spellings {
            begins[usize::from(spelling[0])] = true;
            let mut state = start;
            for (at, byte) in spelling.iter().enumerate() {
                state = automaton.next_state(Anchored::No, state, *byte);
                depths.insert(state, at + 1);
            }
        }
        Some(Self {
            automaton,
            start,
            depths,
            begins,
            longest,
        })
    }

    pub(super) fn start(&self) -> StateID {
        self.start
    }

    pub(super) fn next(&self, state: StateID, byte: u8) -> StateID {
        self.automaton.next_state(Anchored::No, state, byte)
    }

    /// How long the longest spelling is that ends in this state.
    pub(super) fn ends(&self, state: StateID) -> Option<usize> {
        if !self.automaton.is_match(state) {
            return None;
        }
        (0..self.automaton.match_len(state))
            .map(|at| {
                self.automaton
                    .pattern_len(self.automaton.match_pattern(state, at))
            })
            .max()
    }

    /// How much of a spelling has been read, that may go on.
    pub(super) fn depth(&self, state: StateID) -> usize {
        self.depths.get(&state).copied().unwrap_or_default()
    }

    pub(super) fn begins_with(&self, byte: u8) -> bool {
        self.begins[usize::from(byte)]
    }

    pub(super) fn longest(&self) -> usize {
        self.longest
    }
}

/// How a secret is spelt. Escapes need no spelling of their own: they are undone before looking.
fn spellings(secret: &SecretText) -> Vec<Spelling> {
    let text = secret.expose();
    // Line breaks are not seen where secrets are looked for.
    let plain: Spelling = Zeroizing::new(
        text.bytes()
            .filter(|byte| !super::is_line_break(*byte))
            .collect(),
    );
    if plain.len() < SHORTEST_MASKED_BYTES {
        return Vec::new();
    }
    let mut spellings: Vec<Spelling> = Vec::new();
    if plain.contains(&b' ') {
        // As a form spells a space.
        let plus = plain.iter().map(|byte| match byte {
            b' ' => b'+',
            byte => *byte,
        });
        spellings.push(Zeroizing::new(plus.collect()));
    }
    spellings.push(plain);
    for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
        spellings.extend((0..3).map(|before| in_base64(engine, text.as_bytes(), before)));
    }
    spellings
}

/// What base64 makes of a secret that stands behind `before` other bytes (modulo 3): those of its
/// characters that depend on the secret alone.
fn in_base64(engine: &GeneralPurpose, secret: &[u8], before: usize) -> Spelling {
    let mut bytes = Zeroizing::new(vec![0; before]);
    bytes.extend_from_slice(secret);
    let encoded = Zeroizing::new(engine.encode(&*bytes));
    let foreign_first = [0, 2, 3][before];
    let foreign_last = usize::from(!bytes.len().is_multiple_of(3));
    let own = foreign_first..encoded.len() - foreign_last;
    Zeroizing::new(encoded.as_bytes()[own].to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_has_one_spelling_for_each_place_in_base64() {
        let spelt = |text: &str| {
            let spellings = spellings(&SecretText::new(text));
            let texts = spellings
                .iter()
                .map(|spelling| String::from_utf8(spelling.to_vec()).unwrap());
            texts.collect::<Vec<_>>()
        };
        assert_eq!(
            spelt("ab?>cd~ ef"),
            [
                "ab?>cd~+ef",
                "ab?>cd~ ef",
                "YWI/PmNkfiBlZ",
                "FiPz5jZH4gZW",
                "hYj8+Y2R+IGVm",
                "YWI_PmNkfiBlZ",
                "FiPz5jZH4gZW",
                "hYj8-Y2R-IGVm",
            ]
        );
    }

    #[test]
    fn the_depth_of_a_state_is_how_much_of_a_spelling_was_read() {
        let patterns = Patterns::of(&[SecretText::new("abababac")]).unwrap();
        let depths: Vec<usize> = b"xabababababac"
            .iter()
            .scan(patterns.start(), |state, byte| {
                *state = patterns.next(*state, *byte);
                Some(patterns.depth(*state))
            })
            .collect();
        assert_eq!(depths, [0, 1, 2, 3, 4, 5, 6, 7, 6, 7, 6, 7, 8]);
    }

    #[test]
    fn nothing_is_looked_for_without_a_secret_of_some_length() {
        assert!(Patterns::of(&[]).is_none());
        assert!(Patterns::of(&[SecretText::new("1234567")]).is_none());
    }
}

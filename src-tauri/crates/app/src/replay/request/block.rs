//! One piece of a request, and what two requests have in common.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use longrein_core::run::{Run, fragment_weight};
use longrein_core::view::origin_words;
use longrein_protocol::event::{Fragment, Section};
use longrein_protocol::{BlobHash, Body};

use super::record::RequestBlock;
use crate::Longrein;
use crate::error::AppError;
use crate::replay::page::number;
use crate::replay::wire_words;

/// The most bytes of words that a piece carries which the request before had as well.
const KEPT_WORDS_BYTES: usize = 1 << 10;
/// The most bytes of words that a new piece carries.
const NEW_WORDS_BYTES: usize = 8 << 10;

/// Contents by their hashes.
pub(super) type Texts = HashMap<BlobHash, Arc<[u8]>>;

impl Longrein {
    /// The texts of a request's pieces, and of those that it no longer has.
    pub(super) async fn texts_of(
        &self,
        fragments: &[Fragment],
        before: &[Fragment],
        is_dropped: &[bool],
    ) -> Result<Texts, AppError> {
        let dropped = before
            .iter()
            .zip(is_dropped)
            .filter(|(_, dropped)| **dropped);
        let all = fragments
            .iter()
            .chain(dropped.map(|(fragment, _)| fragment));
        let hashes = all.filter_map(|fragment| match &fragment.body {
            Body::Blob { blob, .. } => Some(*blob),
            Body::Text(_) => None,
        });
        let mut hashes: Vec<BlobHash> = hashes.collect();
        hashes.sort_unstable();
        hashes.dedup();
        Ok(self.inner.store.blobs(hashes).await?)
    }
}

/// Which pieces of a request are new against the one before, and which of that one are gone. The
/// same piece may occur several times.
pub(super) fn compared(before: &[Fragment], after: &[Fragment]) -> (Vec<bool>, Vec<bool>) {
    let name = |fragment: &Fragment| (fragment.part, fragment.body.hash());
    let mut had: BTreeMap<(Section, BlobHash), Vec<usize>> = BTreeMap::new();
    for (place, fragment) in before.iter().enumerate().rev() {
        had.entry(name(fragment)).or_default().push(place);
    }
    let mut is_dropped = vec![true; before.len()];
    let is_new = after.iter().map(|fragment| {
        let place = had.get_mut(&name(fragment)).and_then(Vec::pop);
        if let Some(place) = place {
            is_dropped[place] = false;
        }
        place.is_none()
    });
    let is_new = is_new.collect();
    (is_new, is_dropped)
}

/// A piece as it is told.
pub(super) fn describe(
    state: &Run,
    (place, fragment): (usize, &Fragment),
    is_new: bool,
    texts: &Texts,
) -> RequestBlock {
    let limit = match is_new {
        true => NEW_WORDS_BYTES,
        false => KEPT_WORDS_BYTES,
    };
    let text = match bytes_of(&fragment.body, texts) {
        Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        None => "[its content is missing or damaged]".to_owned(),
    };
    let (words, hidden_bytes) = match shown_words(fragment, &text) {
        Some(words) => cut(&words, limit),
        None => cut(&text, limit),
    };
    RequestBlock {
        place: number(place),
        section: fragment.part.name().to_owned(),
        origin: fragment
            .origin
            .as_ref()
            .map(origin_words)
            .unwrap_or_default(),
        trust: fragment.trust,
        tokens: state.estimate(fragment_weight(fragment) as usize),
        bytes: number(fragment.body.len()),
        is_new,
        words,
        hidden_bytes,
    }
}

/// What a piece says; `None` where its bytes say more: definitions of tools, and marks.
pub(super) fn shown_words(fragment: &Fragment, text: &str) -> Option<String> {
    let is_words = !matches!(fragment.part, Section::Tools | Section::Closing);
    let words = is_words.then(|| wire_words::words(text));
    words.filter(|words| !words.is_empty())
}

fn bytes_of<'b>(body: &'b Body, texts: &'b Texts) -> Option<&'b [u8]> {
    match body {
        Body::Text(text) => Some(text.as_bytes()),
        Body::Blob { blob, .. } => texts.get(blob).map(|bytes| &**bytes),
    }
}

/// The bytes of a request; `None` when some are missing.
pub(super) fn whole(fragments: &[Fragment], texts: &Texts) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for fragment in fragments {
        bytes.extend_from_slice(bytes_of(&fragment.body, texts)?);
    }
    Some(bytes)
}

/// A text cut on a character boundary, with the number of bytes that were cut.
pub(in crate::replay) fn cut(text: &str, limit: usize) -> (String, u32) {
    let end = text.floor_char_boundary(limit);
    (text[..end].to_owned(), number(text.len() - end))
}

//! Media that a model refused: first a smaller copy of it is sent, then a note in its place. Each
//! item takes each of the two steps at most once, so that this ends.

use longrein_protocol::event::MediaReduced;
use longrein_protocol::media::{MEDIA_ITEMS_PER_REQUEST, MEDIA_REQUEST_BYTES};
use longrein_protocol::view::KnotShape;
use longrein_protocol::{Media, MediaKind};

use super::{Next, Request, Run};

impl Run {
    /// What is owed after the model refused media. What was new to it is suspected first; what it
    /// had accepted before only where nothing else is left.
    pub(super) fn next_of_refused_media(&self) -> Option<Next> {
        let shown: Vec<(u32, &Media)> = self.conversation.shown_media().collect();
        let (new, old): (Vec<_>, Vec<_>) = shown
            .into_iter()
            .partition(|(number, _)| *number >= self.accepted_items);
        [new, old].into_iter().find_map(|suspects| {
            let suspects: Vec<&Media> = suspects.into_iter().map(|(_, media)| media).collect();
            self.less_of(&suspects)
        })
    }

    fn less_of(&self, suspects: &[&Media]) -> Option<Next> {
        let mut whole: Vec<Media> = Vec::new();
        for media in suspects {
            let known = whole.iter().any(|seen| seen.hash() == media.hash());
            let is_whole = !self.reduced.contains_key(&media.hash());
            if media.kind == MediaKind::Image && is_whole && !known {
                whole.push((*media).clone());
            }
        }
        if !whole.is_empty() {
            return Some(Next::Reduce(whole));
        }
        let mut noted: Vec<longrein_protocol::Payload> = Vec::new();
        let mut seen = Vec::new();
        for media in suspects {
            let hash = media.hash();
            let is_note = self.reduced.get(&hash).is_some_and(Option::is_none);
            if is_note || seen.contains(&hash) {
                continue;
            }
            seen.push(hash);
            let noting = MediaReduced {
                media: hash,
                copy: None,
                why: "The model refused it.".to_owned(),
            };
            noted.push(noting.into());
        }
        (!noted.is_empty()).then_some(Next::Append(noted))
    }

    /// The request is put together anew; it belongs to the same step.
    pub(super) fn media_reduced(&mut self, reduced: &MediaReduced) {
        self.reduced.insert(reduced.media, reduced.copy.clone());
        self.front_changed = true;
        if matches!(self.request, Request::Failed { .. }) {
            self.used.steps -= u32::from(self.used.steps > 0);
            self.knot(KnotShape::Square);
        }
        self.request = Request::None;
        self.settle_step();
    }

    /// What a person gives is their own, and holds whatever its author wrote.
    pub(super) fn given(&mut self, attachments: &[Media]) {
        if !attachments.is_empty() {
            self.private_read = true;
            self.tainted = true;
        }
    }

    /// Whether the conversation shows more media than one request may hold.
    pub fn has_too_much_media(&self) -> bool {
        let (mut items, mut bytes) = (0, 0);
        for (_, media) in self.conversation.shown_media() {
            items += 1;
            bytes += media.body.len() as u64;
        }
        items > MEDIA_ITEMS_PER_REQUEST || bytes > MEDIA_REQUEST_BYTES
    }
}

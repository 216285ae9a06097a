//! A request to a model, piece by piece: what each is, whose words it has, what is new in it; the
//! exact bytes; and what came back.

mod answer;
mod block;
mod record;

use std::sync::Arc;

use longrein_core::run::fragment_weight;
use longrein_protocol::event::{Fragment, ModelRequested, Purpose, SideRequested};
use longrein_protocol::{Event, Payload, RunId};
use longrein_runtime::wire;
use longrein_store::Log as _;

use super::page::{TextPage, number};
use super::past::Then;
use crate::Longrein;
use crate::error::{AppError, AppErrorCode};

pub use answer::{AnswerBlock, AnswerRecord};
pub(super) use block::cut;
pub use record::{RequestBlock, RequestKind, RequestRecord, RequestSection};

/// The most pieces of a request that are described; the newest ones are.
const BLOCKS: usize = 2_000;

/// A request of the log, found.
struct Found {
    event: Event,
    then: Arc<Then>,
}

impl Longrein {
    /// The request that was the last one at an event; absent: the last of the run.
    ///
    /// # Errors
    /// When there is no such run or event, or no model was asked by then.
    pub async fn request_at(
        &self,
        run: RunId,
        seq: Option<u32>,
    ) -> Result<RequestRecord, AppError> {
        let found = self.announced(run, seq).await?;
        let answer = self.answer(run, found.event.seq).await?;
        let record = match &found.event.payload {
            Payload::ModelRequested(requested) => self.of_step(run, &found, requested).await?,
            Payload::SideRequested(requested) => self.of_side(&found, requested).await?,
            _ => return Err(not_asked(run, seq)),
        };
        Ok(RequestRecord { answer, ..record })
    }

    /// The exact bytes of that request, by pages.
    ///
    /// # Errors
    /// Those of [`Longrein::request_at`], and when a content is missing or damaged.
    pub async fn request_bytes(
        &self,
        run: RunId,
        seq: Option<u32>,
        offset: u32,
    ) -> Result<TextPage, AppError> {
        let found = self.announced(run, seq).await?;
        let bytes = match &found.event.payload {
            Payload::SideRequested(requested) => self.content(&requested.body).await?.into(),
            _ => {
                let fragments = &found.then.view.run().fragments;
                wire::rebuild(&self.inner.store, fragments).await?.bytes
            }
        };
        Ok(TextPage::of(&bytes, offset))
    }

    /// The whole words of one piece of that request, or its bytes, by pages.
    ///
    /// # Errors
    /// Those of [`Longrein::request_at`]; when it has no such piece, or its content is missing.
    pub async fn request_block(
        &self,
        run: RunId,
        seq: Option<u32>,
        place: u32,
        (exact, offset): (bool, u32),
    ) -> Result<TextPage, AppError> {
        let found = self.announced(run, seq).await?;
        let fragments = &found.then.view.run().fragments;
        let Some(fragment) = fragments.get(place as usize) else {
            return Err(AppError::new(
                AppErrorCode::NotFound,
                format!(
                    "The request has no piece {place}: it has {}.",
                    fragments.len()
                ),
                "Open the request anew.",
            ));
        };
        let bytes = self.content(&fragment.body).await?;
        let text = String::from_utf8_lossy(&bytes);
        let said = block::shown_words(fragment, &text).filter(|_| !exact);
        Ok(TextPage::of(
            said.as_deref().unwrap_or(&text).as_bytes(),
            offset,
        ))
    }

    /// The last announcement of a request at or before an event.
    async fn announced(&self, run: RunId, seq: Option<u32>) -> Result<Found, AppError> {
        let mut then = self.past(run, seq).await?;
        let mut latest = then.asked.latest;
        if let Some(at) = seq
            && self
                .inner
                .store
                .read(run, at, 2)
                .await?
                .events
                .as_slice()
                .windows(2)
                .any(|two| {
                    matches!(two[0].payload, Payload::ContextCompiled(_))
                        && matches!(two[1].payload, Payload::ModelRequested(_))
                })
        {
            // It was put together here, and is announced by the next event.
            latest = at + 1;
        }
        if latest == 0 {
            return Err(not_asked(run, seq));
        }
        if then.seq() != latest {
            then = self.past(run, Some(latest)).await?;
        }
        let mut found = self.inner.store.read(run, latest, 1).await?.events;
        let event = found.pop().ok_or_else(|| not_asked(run, seq))?;
        Ok(Found { event, then })
    }

    async fn of_step(
        &self,
        run: RunId,
        found: &Found,
        requested: &ModelRequested,
    ) -> Result<RequestRecord, AppError> {
        let (state, asked) = (found.then.view.run(), found.then.asked);
        let fragments = &state.fragments;
        let before = match asked.before {
            0 => Vec::new(),
            before => self
                .past(run, Some(before))
                .await?
                .view
                .run()
                .fragments
                .clone(),
        };
        let (is_new, is_dropped) = block::compared(&before, fragments);
        let texts = self.texts_of(fragments, &before, &is_dropped).await?;
        let left_out = fragments.len().saturating_sub(BLOCKS);
        let describe = |place: usize, fragment: &Fragment, is_new: bool| {
            block::describe(state, (place, fragment), is_new, &texts)
        };
        let mut sections: Vec<RequestSection> = Vec::new();
        for (place, fragment) in fragments.iter().enumerate() {
            let name = fragment.part.name();
            if sections.last().is_none_or(|last| last.section != name) {
                sections.push(RequestSection {
                    section: name.to_owned(),
                    tokens: 0,
                    bytes: 0,
                    blocks: Vec::new(),
                });
            }
            if let Some(section) = sections.last_mut() {
                let tokens = state.estimate(fragment_weight(fragment) as usize);
                section.tokens = section.tokens.saturating_add(tokens);
                section.bytes = section.bytes.saturating_add(number(fragment.body.len()));
                if place >= left_out {
                    section
                        .blocks
                        .push(describe(place, fragment, is_new[place]));
                }
            }
        }
        let weight = |place: &usize| fragment_weight(&fragments[*place]) as usize;
        let all = (0..fragments.len()).map(|place| weight(&place));
        let new = (0..fragments.len()).filter(|place| is_new[*place]);
        let dropped = before.iter().enumerate();
        let dropped = dropped.filter(|(place, _)| is_dropped[*place]);
        let bytes = block::whole(fragments, &texts);
        Ok(RequestRecord {
            number: asked.number,
            attempt: requested.attempt,
            exact: bytes.is_some_and(|bytes| wire::sha256(&bytes) == requested.body_sha256),
            tokens: state.estimate(all.sum()),
            new_tokens: state.estimate(new.map(|place| weight(&place)).sum()),
            sections,
            dropped: dropped
                .take(BLOCKS)
                .map(|(place, fragment)| describe(place, fragment, false))
                .collect(),
            left_out: number(left_out),
            before: (asked.before > 0).then_some(asked.before),
            ..blank(found, &requested.model, requested.reserved_out)
                .sent(&requested.body_sha256, requested.body_bytes)
        })
    }

    async fn of_side(
        &self,
        found: &Found,
        requested: &SideRequested,
    ) -> Result<RequestRecord, AppError> {
        let bytes = self.content(&requested.body).await;
        Ok(RequestRecord {
            kind: match requested.purpose {
                Purpose::Judge => RequestKind::Judge,
                Purpose::Summary => RequestKind::Summary,
            },
            number: 0,
            exact: bytes.is_ok_and(|bytes| wire::sha256(&bytes) == requested.body_sha256),
            tokens: found.then.view.run().estimate(requested.body.len()),
            ..blank(found, &requested.model, requested.reserved_out)
                .sent(&requested.body_sha256, number(requested.body.len()))
        })
    }
}

fn not_asked(run: RunId, seq: Option<u32>) -> AppError {
    let by = seq
        .map(|seq| format!(" by event {seq}"))
        .unwrap_or_default();
    AppError::new(
        AppErrorCode::NotFound,
        format!("Run {run} had asked no model{by}."),
        "Choose a later event.",
    )
}

/// A record of what every kind of request has.
fn blank(found: &Found, model: &str, limit_tokens: u32) -> RequestRecord {
    let (provider, model) = model.split_once('/').unwrap_or(("", model));
    RequestRecord {
        seq: found.event.seq,
        at: found.event.at,
        kind: RequestKind::Step,
        number: 0,
        attempt: 1,
        step: found.then.view.run().used.steps,
        provider: provider.to_owned(),
        model: model.to_owned(),
        sha256: String::new(),
        bytes: 0,
        exact: false,
        tokens: 0,
        new_tokens: 0,
        limit_tokens,
        sections: Vec::new(),
        dropped: Vec::new(),
        left_out: 0,
        before: None,
        answer: None,
    }
}

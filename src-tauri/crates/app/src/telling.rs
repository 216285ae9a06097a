//! A run as it is told outside of the app: as a page, or as Markdown.

use futures::future::BoxFuture;
use longrein_protocol::RunId;
use longrein_protocol::block::Trust;
use longrein_trace::{PieceStory, RequestStory, Story};

use crate::Longrein;
use crate::error::{AppError, AppErrorCode};
use crate::replay::{RequestBlock, RequestRecord};

/// The most rows of one run that are told; the newest are.
const ROWS: usize = 20_000;
/// The most requests that are told; the newest are.
const REQUESTS: usize = 1_000;
/// How deep children are told.
const DEPTH: u32 = 4;

/// In which form a run is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// One HTML file.
    Page,
    /// Markdown.
    Markdown,
}

/// A run in words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Told {
    /// The text.
    pub text: String,
    /// Whether a secret stood in it that is known now; it is masked.
    pub masked: bool,
}

impl Longrein {
    /// Tells a run as it stands, its children within it. What is known of secrets is masked.
    ///
    /// # Errors
    /// When there is no such run, or its log is damaged.
    pub async fn tell(&self, run: RunId, form: Form) -> Result<Told, AppError> {
        let mut story = self.story(run, (DEPTH, String::new())).await?;
        story.requests = self.requests_of(run, story.view.seq).await?;
        let (seq, head) = self.inner.store.head(run).await?;
        if seq == story.view.seq {
            story.head = longrein_protocol::BlobHash(head).to_string();
        }
        let mut text = match form {
            Form::Page => longrein_trace::page(&story),
            Form::Markdown => longrein_trace::markdown(&story),
        };
        let masked = self.keys().masker().text(&mut text);
        Ok(Told { text, masked })
    }

    fn story(
        &self,
        run: RunId,
        (depth, of_action): (u32, String),
    ) -> BoxFuture<'_, Result<Story, AppError>> {
        Box::pin(async move {
            let view = self.view(run).await?;
            let mut children = Vec::new();
            if let Some(below) = depth.checked_sub(1) {
                for child in &view.run().children {
                    let begun_by = child.action.0.clone();
                    children.push(self.story(child.run, (below, begun_by)).await?);
                }
            }
            Ok(Story {
                view: view.snapshot(ROWS),
                requests: Vec::new(),
                children,
                of_action,
                head: String::new(),
            })
        })
    }

    /// The requests of a run's steps up to an event, oldest first.
    async fn requests_of(&self, run: RunId, seq: u32) -> Result<Vec<RequestStory>, AppError> {
        let mut told = Vec::new();
        let mut next = seq;
        loop {
            let record = match self.request_at(run, Some(next)).await {
                Ok(record) => record,
                // No model was asked by then.
                Err(error) if error.code == AppErrorCode::NotFound => break,
                Err(error) => return Err(error),
            };
            let before = match record.sections.is_empty() {
                // Beside the steps: the one before it lies further up.
                true => record.seq.checked_sub(1).filter(|seq| *seq > 0),
                false => record.before,
            };
            if !record.sections.is_empty() {
                told.push(of_record(record));
            }
            match before {
                Some(before) if told.len() < REQUESTS => next = before,
                _ => break,
            }
        }
        told.reverse();
        Ok(told)
    }
}

fn of_record(record: RequestRecord) -> RequestStory {
    let sections = record.sections.iter();
    let new = sections.clone().flat_map(|section| &section.blocks);
    RequestStory {
        seq: record.seq,
        number: record.number,
        model: format!("{}/{}", record.provider, record.model),
        sha256: record.sha256,
        bytes: record.bytes,
        exact: record.exact,
        new: new.filter(|block| block.is_new).map(of_block).collect(),
        dropped: record.dropped.iter().map(of_block).collect(),
        sections: sections
            .map(|section| (section.section.clone(), section.tokens))
            .collect(),
    }
}

fn of_block(block: &RequestBlock) -> PieceStory {
    PieceStory {
        section: block.section.clone(),
        origin: block.origin.clone(),
        untrusted: block.trust == Some(Trust::Untrusted),
        tokens: block.tokens,
        words: block.words.clone(),
        hidden_bytes: block.hidden_bytes,
    }
}

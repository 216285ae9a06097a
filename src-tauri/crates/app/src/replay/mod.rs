//! Looking back: a run as it was at any of its events, and what stood behind it. Nothing here
//! acts, and nothing here is written: all of it follows from the log.

mod action;
mod compare;
mod files;
mod page;
mod past;
mod points;
mod request;
mod verify;
mod wire_words;

use longrein_protocol::RunId;
use longrein_protocol::view::{Row, RunView};

pub use action::{ActionRecord, DecisionRecord, LifeEvent, StartRecord};
pub use compare::{ComparedRow, ComparedRows, ComparedStep, Comparison, Divergence};
pub use files::{ChangedFile, FileAt, FileKind, FilesDifference, FilesThen, HowShown};
pub use page::TextPage;
pub use points::{Inspector, Mark, Points, RunPoint, Scrubber};
pub use request::{
    AnswerBlock, AnswerRecord, RequestBlock, RequestKind, RequestRecord, RequestSection,
};

pub use verify::{Underived, Verification, VerifyDifference};

pub(crate) use past::Pasts;

use crate::Longrein;
use crate::error::AppError;

/// The most rows that a run's view at a point carries; earlier ones are paged. Fewer than a live
/// view has, since a person drags from point to point.
pub const ROWS_AT_A_POINT: usize = 200;

impl Longrein {
    /// A run as it was after an event; absent: as it stands.
    ///
    /// # Errors
    /// When there is no such run or event, or the log is damaged before it.
    pub async fn view_at(&self, run: RunId, seq: Option<u32>) -> Result<RunView, AppError> {
        let then = self.past(run, seq).await?;
        Ok(then.view.snapshot(ROWS_AT_A_POINT))
    }

    /// The rows before the one that event `before` made, as they were after event `seq`, oldest
    /// first; empty at the start of the run.
    ///
    /// # Errors
    /// Those of [`Longrein::view_at`].
    pub async fn rows_at(
        &self,
        run: RunId,
        seq: Option<u32>,
        before: u32,
    ) -> Result<Vec<Row>, AppError> {
        let then = self.past(run, seq).await?;
        Ok(then.view.earlier_rows(before, ROWS_AT_A_POINT))
    }
}

#[cfg(test)]
mod tests;

//! What leaves an installation: a run as JSON Lines, which stand alone; as a page, or as Markdown, for
//! people.

pub mod jsonl;
mod markdown;
mod page;
mod story;
mod words;

pub use jsonl::{ExportError, Exported, export, line};
pub use markdown::markdown;
pub use page::page;
pub use story::{PieceStory, RequestStory, Story};

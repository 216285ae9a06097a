//! What a person is given of a run: its rows, its requests, its children.

use longrein_protocol::view::RunView;
use serde::Serialize;

/// A run as it is told outside of the app.
#[derive(Clone, Debug)]
pub struct Story {
    /// The panel and every row.
    pub view: RunView,
    /// The requests of its steps, in order.
    pub requests: Vec<RequestStory>,
    /// What it was given to, in the order in which they were begun.
    pub children: Vec<Story>,
    /// The action of the run above by which it was begun; empty for the first.
    pub of_action: String,
    /// The hash of the log's last row, in hexadecimal; empty for a child.
    pub head: String,
}

/// A request, as the inspector of an export shows it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RequestStory {
    /// The event that announced it.
    pub seq: u32,
    /// Its number among the requests of the run.
    pub number: u32,
    /// `provider/model`.
    pub model: String,
    /// SHA-256 of the bytes as they were sent.
    pub sha256: String,
    /// How many bytes those were.
    pub bytes: u32,
    /// Whether the log gives back exactly those bytes.
    pub exact: bool,
    /// Its parts with their estimated tokens, in order.
    pub sections: Vec<(String, u32)>,
    /// What the request before did not have.
    pub new: Vec<PieceStory>,
    /// What the request before had, and this one has not.
    pub dropped: Vec<PieceStory>,
}

/// A piece of a request.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PieceStory {
    /// The part that it belongs to.
    pub section: String,
    /// Whose words it has; may be empty.
    pub origin: String,
    /// Whether it is text from outside.
    pub untrusted: bool,
    /// Estimated tokens.
    pub tokens: u32,
    /// What it says; cut.
    pub words: String,
    /// How many bytes of that were cut.
    pub hidden_bytes: u32,
}

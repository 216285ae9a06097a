//! Sources, artifacts, evidence and the plan.

use serde::{Deserialize, Serialize};

use crate::body::Body;
use crate::ids::SourceId;

/// What is known of a document besides its words.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct SourceMeta {
    /// The title, or the file's name where the document has none.
    pub title: String,
    /// Authors, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub authors: Vec<String>,
    /// Date or year as the document gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// Address, for what was fetched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Name beneath its library folder, for a document of the person's own. Never a full path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// `text/markdown`, `application/pdf`, …
    pub media_type: String,
    /// Whether it is the person's own (library, attachment) and not public.
    #[serde(default)]
    pub private: bool,
    /// What reading a PDF gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pdf: Option<PdfReceipt>,
}

/// The receipt of reading a PDF: pages are counted from 1.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct PdfReceipt {
    /// How many pages the file has.
    pub pages: u32,
    /// Pages whose text was read.
    pub read: u32,
    /// Pages that could not be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<u32>,
    /// Pages without text, which would need OCR.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub empty: Vec<u32>,
    /// Pages that look like a bibliography and are not offered as evidence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bibliography: Vec<u32>,
    /// Whether pages after the limit were left out.
    #[serde(default)]
    pub cut: bool,
}

/// A range of a source's extracted text, in bytes on character boundaries.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct TextRange {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// Page, counted from 1, where the document has pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
}

/// One captured source: a version of a document, and the ranges of it that the run was shown.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SourceRecord {
    /// The id that the model cites.
    pub id: SourceId,
    /// What it is.
    pub meta: SourceMeta,
    /// The bytes as captured.
    pub bytes: Body,
    /// The text that was extracted from them.
    pub text: Body,
    /// The ranges shown to the model.
    pub shown: Vec<TextRange>,
}

/// The state of one cited claim.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum ClaimState {
    /// The quoted words occur in the source.
    Verbatim,
    /// Words much like them occur; `difference` shows them.
    Near,
    /// The words do not occur in the source.
    NotFound,
    /// The source is cited without words.
    Cited,
    /// The run never read this source.
    SourceNotRead,
    /// A statement without a citation.
    Uncited,
    /// A number of the sentence stands in the cited passage, with its unit.
    NumberFound,
    /// A number of the sentence does not stand in the cited passage, or with another unit.
    NumberNotFound,
}

/// One line of an evidence ledger.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct Claim {
    /// The sentence that carries the citation.
    pub sentence: String,
    /// The source as written, `S12`; empty for an uncited statement.
    pub source: String,
    /// The words that are said to stand in the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// Where they were found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<TextRange>,
    /// What the harness found.
    pub state: ClaimState,
    /// For `near`: the words that do occur.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<String>,
}

/// The state of a plan's item.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum PlanState {
    /// Not begun.
    Open,
    /// Being worked on.
    Doing,
    /// Finished.
    Done,
    /// Given up, with the reason as evidence.
    Dropped,
}

/// One item of the plan.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(deny_unknown_fields)]
pub struct PlanItem {
    /// What is to be done.
    pub text: String,
    /// How far it is.
    pub state: PlanState,
    /// What shows it: a file, a source id, a reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
}

/// A line that the model keeps in its view: a constraint or a fact that the work depends on.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct Note {
    /// Counted from 1 within the run, each number once.
    pub number: u32,
    /// One line.
    pub text: String,
}

/// The result of one criterion.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct CriterionResult {
    /// The criterion in words: `index.html exists, at least 1000 bytes`.
    pub criterion: String,
    /// Whether it holds.
    pub holds: bool,
    /// Whether a person still has to say so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waits: bool,
    /// What was seen: `12 of 12 quotes verbatim`.
    pub evidence: String,
    /// What the model is told when it does not hold: what is off, where, and what would mend it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub difference: Vec<String>,
}

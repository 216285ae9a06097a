//! Deriving a run again: what the core makes of its log has to be what is recorded.

use longrein_protocol::event::Payload;
use longrein_protocol::{HARNESS_VERSION, RunId};
use longrein_runtime::verify;
use longrein_store::Log as _;
use serde::{Deserialize, Serialize};

use crate::Longrein;
use crate::error::AppError;

/// What deriving a run again came to.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct Verification {
    /// The run.
    pub run: String,
    /// The version that the run began with.
    pub made_by: String,
    /// This version.
    pub derived_by: String,
    /// Events that the state before them allows.
    pub events: u32,
    /// Decisions of the gate, and what a person was asked, that are the same.
    pub decisions: u32,
    /// Requests that are put together the same.
    pub contexts: u32,
    /// Requests whose bytes have the same hash.
    pub requests: u32,
    /// Further facts that follow from the state, and are the same.
    pub facts: u32,
    /// Where the log says something else, in order.
    pub differences: Vec<VerifyDifference>,
    /// Differences beyond these.
    pub more: u32,
    /// What could not be derived.
    pub underived: Vec<Underived>,
    /// Where and why the log can't be read any further; empty where it can be read whole.
    pub damage: String,
}

/// A place where the log says something else than the core.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct VerifyDifference {
    /// The event.
    pub seq: u32,
    /// What of it: `state`, `decision`, `context`, `request` or `next`.
    pub of: String,
    /// What the log says.
    pub logged: String,
    /// What the core derives.
    pub derived: String,
}

/// Something that could not be derived.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct Underived {
    /// The first event that it is about.
    pub seq: u32,
    /// Why, in a sentence.
    pub why: String,
}

impl Verification {
    /// Whether the log can be read whole, and says what this version derives. Of a run of another
    /// version differences are to be expected, and are no fault.
    pub fn holds(&self) -> bool {
        let is_same = self.differences.is_empty() || self.made_by != self.derived_by;
        is_same && self.damage.is_empty()
    }
}

impl Longrein {
    /// Derives a run again: each state, decision and request.
    ///
    /// # Errors
    /// When there is no such run, or what reading gives.
    pub async fn verify(&self, run: RunId) -> Result<Verification, AppError> {
        let derived = verify::derive(&self.inner.store, &*self.inner.world, run).await?;
        let mut differences: Vec<VerifyDifference> = derived
            .differences
            .into_iter()
            .map(|difference| VerifyDifference {
                seq: difference.seq,
                of: difference.of.to_string(),
                logged: difference.logged,
                derived: difference.derived,
            })
            .collect();
        let listed = self.inner.store.run_line(run).await?;
        let line = derived.run.line();
        // One that went on meanwhile is another one by now.
        if derived.damage.is_none() && listed.seq == line.seq && listed != line {
            differences.push(VerifyDifference {
                seq: line.seq,
                of: verify::Of::State.to_string(),
                logged: serde_json::to_string(&listed).unwrap_or_default(),
                derived: serde_json::to_string(&line).unwrap_or_default(),
            });
        }
        let first = self.inner.store.read(run, 1, 1).await?.events;
        let made_by = match first.first().map(|event| &event.payload) {
            Some(Payload::RunCreated(created)) => created.harness.clone(),
            _ => String::new(),
        };
        Ok(Verification {
            run: run.to_string(),
            made_by,
            derived_by: HARNESS_VERSION.to_owned(),
            events: derived.events,
            decisions: derived.decisions,
            contexts: derived.contexts,
            requests: derived.requests,
            facts: derived.facts,
            differences,
            more: derived.more,
            underived: derived
                .underived
                .into_iter()
                .map(|(seq, why)| Underived { seq, why })
                .collect(),
            damage: derived
                .damage
                .map(|damage| format!("Event {} is damaged: {}.", damage.seq, damage.what))
                .unwrap_or_default(),
        })
    }
}

//! The points of a run: every event in a few words, by pages, and for a scrubber the knots of the
//! whole line.

use longrein_core::view::{event_action, event_words};
use longrein_protocol::view::{Knot, KnotShape, KnotTone};
use longrein_protocol::{Event, Payload, RunId};
use serde::{Deserialize, Serialize};

use super::past::Then;
use crate::Longrein;
use crate::error::AppError;

/// The most points of one page.
pub const POINTS_ON_A_PAGE: u32 = 1_000;
/// The most knots of a scrubber. Of a longer run those that stand out are kept, and of the others as
/// many as there is room for, evenly.
pub const MARKS_OF_A_SCRUBBER: usize = 1_000;

/// The whole line of a run, to be drawn at once.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct Scrubber {
    /// The last event.
    pub seq: u32,
    /// Steps.
    pub steps: u32,
    /// When the first event was (milliseconds since the epoch).
    #[cfg_attr(feature = "bindings", specta(type = i32))]
    pub begun_at: i64,
    /// When the last event was.
    #[cfg_attr(feature = "bindings", specta(type = i32))]
    pub last_at: i64,
    /// The knots, in order.
    pub marks: Vec<Mark>,
    /// How many further knots there was no room for.
    pub left_out: u32,
}

/// A knot of a scrubber.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct Mark {
    /// The event that made it.
    pub seq: u32,
    /// When that was (milliseconds since the epoch).
    #[cfg_attr(feature = "bindings", specta(type = i32))]
    pub at: i64,
    /// The step.
    pub step: u32,
    /// The key of its row.
    pub row: String,
    /// What it looks like at the end of the run.
    pub knot: Knot,
}

/// A page of a run's points.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct Points {
    /// In order, without gap.
    pub points: Vec<RunPoint>,
    /// The event that the next page begins with; `None` behind the last.
    pub next: Option<u32>,
}

/// One event of a run, as a point that can be looked at.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct RunPoint {
    /// The event.
    pub seq: u32,
    /// When it was (milliseconds since the epoch).
    #[cfg_attr(feature = "bindings", specta(type = i32))]
    pub at: i64,
    /// Its type: `action.started`.
    pub kind: String,
    /// The step that it belongs to; 0 before the first.
    pub step: u32,
    /// What happened, in a few words.
    pub words: String,
    /// What it was about, in a few words, as its row said then; may be empty.
    pub about: String,
    /// The key of the row that it made or changed; empty where it did neither.
    pub row: String,
    /// The knot of that row, as it was then.
    pub knot: Option<Knot>,
    /// What there is to look into here.
    pub opens: Inspector,
}

/// What there is to look into at a point.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Inspector {
    /// The run as it was, and nothing more.
    View,
    /// A request to a model, with its response.
    Request,
    /// An action: its decision, its receipt, its result.
    Action {
        /// The action.
        action: String,
    },
    /// The files that were recorded.
    Files,
}

impl Longrein {
    /// The whole line of a run.
    ///
    /// # Errors
    /// When there is no such run, or nothing of it can be read.
    pub async fn scrubber(&self, run: RunId) -> Result<Scrubber, AppError> {
        let now = self.past(run, None).await?;
        let rows = now.view.rows().iter();
        let marks = rows.filter_map(|row| {
            let knot = row.knot.clone()?;
            let (seq, at, step) = (row.seq, row.at, row.step);
            let row = row.key.clone();
            Some(Mark {
                seq,
                at,
                step,
                row,
                knot,
            })
        });
        let (marks, left_out) = thinned(marks.collect());
        let state = now.view.run();
        Ok(Scrubber {
            seq: state.seq,
            steps: state.used.steps,
            begun_at: state.created_at,
            last_at: state.last_at,
            marks,
            left_out,
        })
    }

    /// The points of a run from an event on, at most [`POINTS_ON_A_PAGE`].
    ///
    /// # Errors
    /// When there is no such run, or the log is damaged before that event.
    pub async fn points(&self, run: RunId, from: u32) -> Result<Points, AppError> {
        let mut then = match from {
            0 | 1 => Then::default(),
            from => Then::clone(&*self.past(run, Some(from - 1)).await?),
        };
        let mut points = Vec::new();
        let visit = |event: &Event, then: &Then, keys: &[String]| {
            points.push(point(event, then, keys));
        };
        let more = self.go_on(run, &mut then, POINTS_ON_A_PAGE, visit).await?;
        Ok(Points {
            points,
            next: more.then(|| then.seq() + 1),
        })
    }
}

fn point(event: &Event, then: &Then, keys: &[String]) -> RunPoint {
    // Of several rows the last is the one that the event is about; those before it were closed.
    let row = keys.last().and_then(|key| then.view.row(key));
    let knot = row.and_then(|row| row.knot.clone());
    let about = knot.as_ref().map(|knot| match knot.detail.as_str() {
        "" => knot.label.clone(),
        detail => format!("{} · {detail}", knot.label),
    });
    RunPoint {
        seq: event.seq,
        at: event.at,
        kind: event.payload.name().to_owned(),
        step: then.view.run().used.steps,
        words: event_words(&event.payload).to_owned(),
        about: about.unwrap_or_default(),
        row: row.map(|row| row.key.clone()).unwrap_or_default(),
        knot,
        opens: opens(&event.payload),
    }
}

fn opens(payload: &Payload) -> Inspector {
    match payload {
        Payload::ContextCompiled(_)
        | Payload::ModelRequested(_)
        | Payload::ModelResponded(_)
        | Payload::ModelFailed(_)
        | Payload::ModelAbandoned(_)
        | Payload::SideRequested(_)
        | Payload::SideResponded(_)
        | Payload::SideFailed(_) => Inspector::Request,
        Payload::SnapshotTaken(_) => Inspector::Files,
        payload => match event_action(payload) {
            Some(action) => Inspector::Action {
                action: action.0.clone(),
            },
            None => Inspector::View,
        },
    }
}

/// At most so many marks: first those that stand out, then the others evenly.
fn thinned(marks: Vec<Mark>) -> (Vec<Mark>, u32) {
    let Some(left_out) = marks.len().checked_sub(MARKS_OF_A_SCRUBBER) else {
        return (marks, 0);
    };
    let out = marks.iter().filter(|mark| stands_out(mark)).count();
    let some_plain = |room: usize, of: usize, number: usize| {
        // The number changes as often as there is room.
        of > 0 && number * room / of != (number + 1) * room / of
    };
    let plain = marks.len() - out;
    let (room_out, room_plain) = match MARKS_OF_A_SCRUBBER.checked_sub(out) {
        Some(room) => (out, room),
        None => (MARKS_OF_A_SCRUBBER, 0),
    };
    let (mut seen_out, mut seen_plain) = (0, 0);
    let kept = marks.into_iter().filter(|mark| {
        let (seen, room, of) = match stands_out(mark) {
            true => (&mut seen_out, room_out, out),
            false => (&mut seen_plain, room_plain, plain),
        };
        let number = std::mem::replace(seen, *seen + 1);
        some_plain(room, of, number)
    });
    (kept.collect(), left_out as u32)
}

fn stands_out(mark: &Mark) -> bool {
    let plain = matches!(mark.knot.shape, KnotShape::Ring);
    !plain || matches!(mark.knot.tone, KnotTone::Bad | KnotTone::Waiting)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(count: u32, every: u32) -> Vec<Mark> {
        let mark = |seq: u32| Mark {
            seq,
            at: 0,
            step: seq,
            row: format!("e{seq}"),
            knot: Knot {
                shape: match seq.is_multiple_of(every) {
                    true => KnotShape::Splice,
                    false => KnotShape::Ring,
                },
                tone: KnotTone::Plain,
                label: String::new(),
                detail: String::new(),
            },
        };
        (1..=count).map(mark).collect()
    }

    #[test]
    fn a_scrubber_keeps_what_stands_out_and_is_bounded() {
        let (kept, left_out) = thinned(marks(1_000, 7));
        assert_eq!((kept.len(), left_out), (1_000, 0));
        let (kept, left_out) = thinned(marks(20_000, 100));
        assert_eq!((kept.len(), left_out), (MARKS_OF_A_SCRUBBER, 19_000));
        let splices = kept
            .iter()
            .filter(|mark| mark.knot.shape == KnotShape::Splice);
        assert_eq!(splices.count(), 200);
        let widest = kept.windows(2).map(|two| two[1].seq - two[0].seq).max();
        assert!(widest.unwrap() <= 30, "{widest:?}");
        let (kept, _) = thinned(marks(20_000, 2));
        assert_eq!(kept.len(), MARKS_OF_A_SCRUBBER);
    }
}

//! What becomes of an action that was started and whose outcome is not known.

use longrein_protocol::Millis;
use longrein_protocol::event::ActionUncertain;
use longrein_protocol::tool::{Effect, Recovery, Repeat};

use super::next::{Next, WaitsFor};
use super::{Action, Pause, Run};

/// How often an action is started in all, when nobody knows what became of it.
pub const LOST_ATTEMPTS: u32 = 5;
/// How often it is looked for what an action left running. Looking begins nothing.
pub const REATTACH_ATTEMPTS: u32 = 100;
/// How often a program is begun anew that is gone each time.
pub const REPLAYS: u32 = 5;
/// How often a status tool is asked before a person is.
pub const QUERY_ATTEMPTS: u32 = 4;

/// What recovery does with an action whose outcome is not known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StartWay {
    /// It may be started again.
    Again,
    /// Its status tool is asked, after this wait.
    Ask(Option<Pause>),
    /// Nobody knows: the reason, for the person.
    Nobody(&'static str),
}

impl Run {
    /// What recovery does with an action whose outcome is not known.
    pub fn way(&self, action: &Action, now: Millis) -> StartWay {
        let repeatable = action.effect == Effect::Read || action.repeat == Repeat::Repeatable;
        let attempts = match action.repeat {
            Repeat::Reattach | Repeat::Replay => REATTACH_ATTEMPTS,
            _ => LOST_ATTEMPTS,
        };
        if action.attempt >= attempts {
            return StartWay::Nobody("It was started several times, and its end was never seen.");
        }
        match action.repeat {
            _ if repeatable => StartWay::Again,
            Repeat::Reattach => StartWay::Again,
            Repeat::Replay if !action.begins_anew() => StartWay::Again,
            Repeat::Replay if action.reached => StartWay::Nobody(
                "Its box is gone, and it had reached something over the network, which could be \
                 done twice.",
            ),
            Repeat::Replay if action.lives > REPLAYS => {
                StartWay::Nobody("It was begun anew several times, and its box was gone each time.")
            }
            Repeat::Replay => StartWay::Again,
            Repeat::Keyed if self.key_is_valid(action, now) => StartWay::Again,
            Repeat::Keyed => StartWay::Nobody(
                "Its key is no longer valid, so starting it again could do it twice.",
            ),
            Repeat::Queryable if action.queries >= QUERY_ATTEMPTS => {
                StartWay::Nobody("Its status tool can't say what became of it.")
            }
            Repeat::Queryable => StartWay::Ask(action.query_at),
            Repeat::Repeatable | Repeat::Once => {
                StartWay::Nobody("It was cut short, and it can't be repeated safely.")
            }
        }
    }

    fn key_is_valid(&self, action: &Action, now: Millis) -> bool {
        let Some(recovery) = self.tool(&action.tool).map(|tool| &tool.recovery) else {
            return false;
        };
        let seconds = recovery
            .key_valid_seconds
            .unwrap_or(Recovery::KEY_VALID_SECONDS);
        let age = now.saturating_sub(action.started_at);
        recovery.key_argument.is_some() && (0..=i64::from(seconds) * 1_000).contains(&age)
    }

    pub(super) fn next_of_lost(&self, action: &Action, now: Millis) -> Option<Next> {
        match self.way(action, now) {
            StartWay::Again => None,
            StartWay::Ask(Some(pause)) if !pause.is_over(now) => {
                Some(Next::Wait(WaitsFor::Retry(pause.until)))
            }
            StartWay::Ask(_) => Some(Next::Query(action.id.clone())),
            StartWay::Nobody(why) => {
                let uncertain = ActionUncertain {
                    action: action.id.clone(),
                    why: why.to_owned(),
                };
                Some(Next::Append(vec![uncertain.into()]))
            }
        }
    }
}

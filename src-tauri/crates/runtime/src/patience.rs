//! When a failed request is sent again: full jitter, bounded by count and by time, and the time
//! that the provider names before all else.

use longrein_core::calendar;
use longrein_core::run::{Patience, REQUEST_ATTEMPTS, UNREACHABLE_ATTEMPTS};
use longrein_protocol::Millis;
use longrein_protocol::block::ModelErrorClass;

use crate::ports::ModelError;

/// The first wait before a request is sent again; doubled each time.
const RETRY_BASE_MS: u64 = 500;
/// The longest wait that we choose ourselves.
const RETRY_LIMIT_MS: u64 = 60_000;
/// How often it is doubled at most, whatever the attempt.
const DOUBLINGS: u32 = 16;
/// The longest wait that a provider may ask for. What is longer, as the quota of a day or a week,
/// hands the run off with the date.
const ASKED_LIMIT_MS: u64 = 15 * 60_000;
/// The same where another model can take over.
const ASKED_BEFORE_SWITCH_MS: u64 = 60_000;
/// How often one request may be put off: the provider names a time, or it was never sent.
const PUT_OFF_LIMIT: u32 = 500;
/// How long one request may wait in all before the run is handed off.
const WAITED_LIMIT_MS: u64 = 2 * 3_600_000;
/// A wait from here on is told with its time.
const WORTH_TELLING_MS: u64 = 2_000;

/// What is to be done about a failed request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Retry {
    /// When it is sent again; `None` when it is not.
    pub at: Option<Millis>,
    /// Whether the provider named that time.
    pub asked: bool,
    /// When the provider takes requests again, where that is too far off.
    pub back_at: Option<Millis>,
}

/// Decides it. `has_other` says whether another model can take over; `random` is any number.
pub(crate) fn retry(
    error: &ModelError,
    patience: Patience,
    has_other: bool,
    now: Millis,
    random: u128,
) -> Retry {
    if !error.class.is_transient() {
        return Retry::default();
    }
    let up_to = |ceiling_ms: u64| (random % u128::from(ceiling_ms.max(1))) as u64;
    let asked_ms = error
        .retry_after
        .map(|after| u64::try_from(after.as_millis()).unwrap_or(u64::MAX));
    let longest = match has_other {
        true => ASKED_BEFORE_SWITCH_MS,
        false => ASKED_LIMIT_MS,
    };
    if let Some(asked) = asked_ms.filter(|asked| *asked > longest) {
        let back_at = now.saturating_add(Millis::try_from(asked).unwrap_or(Millis::MAX));
        return Retry {
            back_at: Some(back_at),
            ..Retry::default()
        };
    }
    // A provider that is left alone has failed often enough where another can take over.
    if error.unsent && error.class == ModelErrorClass::Overloaded && has_other {
        return Retry::default();
    }
    let named = error.class == ModelErrorClass::RateLimited && asked_ms.is_some();
    let is_put_off = error.unsent || named;
    let over = match is_put_off {
        true => patience.put_off + 1 >= PUT_OFF_LIMIT,
        false => patience.failures + 1 >= attempts(error),
    };
    let wait_ms = match is_put_off {
        // Not all who were told the same time come back at the same moment.
        true => asked_ms.unwrap_or_default() + up_to(RETRY_BASE_MS),
        false => {
            let ceiling = RETRY_BASE_MS << patience.failures.min(DOUBLINGS);
            up_to(ceiling.min(RETRY_LIMIT_MS)).max(asked_ms.unwrap_or_default())
        }
    };
    if over || patience.waited_ms.saturating_add(wait_ms) > WAITED_LIMIT_MS {
        return Retry::default();
    }
    Retry {
        at: Some(now + wait_ms as Millis),
        asked: named && !error.unsent,
        back_at: None,
    }
}

fn attempts(error: &ModelError) -> u32 {
    match error.unreachable {
        true => UNREACHABLE_ATTEMPTS,
        false => REQUEST_ATTEMPTS,
    }
}

/// Adds to the words of a failure when it goes on, where a person would want to know.
pub(crate) fn tell(error: &mut ModelError, retry: Retry, now: Millis) {
    if let Some(at) = retry.at {
        if at - now >= WORTH_TELLING_MS as Millis {
            let what = match error.unsent {
                true => "It is asked again at",
                false => "It is tried again at",
            };
            error.message += &format!(" {what} {}.", calendar::clock(at));
        }
        return;
    }
    let Some(at) = retry.back_at else { return };
    let (date, distance) = (calendar::date(at), calendar::distance(at - now));
    error.message += &format!(" It takes requests again on {date}, in {distance}.");
    error.remedy = format!(
        "Resume the run after {}, or with another model or key before.",
        calendar::utc(at)
    );
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const NOW: Millis = 1_795_988_780_000;

    fn error(class: ModelErrorClass, after_ms: Option<u64>) -> ModelError {
        ModelError {
            class,
            message: "It said no.".to_owned(),
            remedy: "Wait.".to_owned(),
            retry_after: after_ms.map(Duration::from_millis),
            unreachable: false,
            unsent: false,
        }
    }

    fn failures(failures: u32) -> Patience {
        Patience {
            failures,
            ..Patience::default()
        }
    }

    #[test]
    fn the_wait_is_anything_up_to_a_limit_that_doubles() {
        let overloaded = error(ModelErrorClass::Overloaded, None);
        let longest = |count| {
            let wait = |random| retry(&overloaded, failures(count), false, NOW, random).at;
            let waits = (0..200_000).step_by(499).filter_map(wait);
            waits.max().unwrap() - NOW
        };
        assert!((400..500).contains(&longest(0)), "{}", longest(0));
        assert!((800..1_000).contains(&longest(1)), "{}", longest(1));
        assert!((30_000..32_000).contains(&longest(6)), "{}", longest(6));
        assert_eq!(retry(&overloaded, failures(7), false, NOW, 1).at, None);
    }

    #[test]
    fn a_time_that_the_provider_names_is_kept_and_is_no_failed_attempt() {
        let limited = error(ModelErrorClass::RateLimited, Some(1_000));
        for count in [0, 6, 7, 100] {
            let again = retry(&limited, failures(count), false, NOW, 0);
            assert_eq!((again.at, again.asked), (Some(NOW + 1_000), true));
        }
        let unnamed = error(ModelErrorClass::RateLimited, None);
        assert_eq!(retry(&unnamed, failures(7), false, NOW, 0).at, None);
        // A name for a wait does not make an outage endless.
        let down = error(ModelErrorClass::Overloaded, Some(9_000));
        let again = retry(&down, failures(0), false, NOW, 0);
        assert_eq!((again.at, again.asked), (Some(NOW + 9_000), false));
        assert_eq!(retry(&down, failures(7), false, NOW, 0).at, None);
    }

    #[test]
    fn what_is_put_off_is_bounded_by_count_and_by_time() {
        let limited = error(ModelErrorClass::RateLimited, Some(60_000));
        let put_off = Patience {
            put_off: PUT_OFF_LIMIT - 1,
            ..Patience::default()
        };
        assert_eq!(retry(&limited, put_off, false, NOW, 0).at, None);
        let waited = Patience {
            waited_ms: WAITED_LIMIT_MS - 59_000,
            ..Patience::default()
        };
        assert_eq!(retry(&limited, waited, false, NOW, 0).at, None);
    }

    #[test]
    fn a_quota_of_a_week_is_told_with_its_date() {
        let week = 7 * 24 * 3_600_000;
        let mut limited = error(ModelErrorClass::RateLimited, Some(week));
        let told = retry(&limited, Patience::default(), false, NOW, 0);
        assert_eq!((told.at, told.back_at), (None, Some(NOW + week as Millis)));
        tell(&mut limited, told, NOW);
        assert_eq!(
            limited.message,
            "It said no. It takes requests again on Sunday, 6 December 2026, 21:46:20 UTC, in 7 days."
        );
        assert_eq!(
            limited.remedy,
            "Resume the run after 2026-12-06 21:46:20 UTC, or with another model or key before."
        );
    }

    #[test]
    fn another_model_is_not_kept_waiting_for() {
        let five_minutes = error(ModelErrorClass::RateLimited, Some(300_000));
        let again = |has_other| retry(&five_minutes, Patience::default(), has_other, NOW, 0).at;
        assert_eq!((again(false), again(true)), (Some(NOW + 300_000), None));
        let mut left_alone = error(ModelErrorClass::Overloaded, Some(20_000));
        left_alone.unsent = true;
        let again = |has_other| retry(&left_alone, failures(7), has_other, NOW, 0).at;
        assert_eq!((again(false), again(true)), (Some(NOW + 20_000), None));
    }
}

//! Points in time in words, in universal time: the core knows no place.

use longrein_protocol::Millis;

const SECOND_MS: Millis = 1_000;
const MINUTE_SECONDS: Millis = 60;
const HOUR_SECONDS: Millis = 60 * MINUTE_SECONDS;
const DAY_SECONDS: Millis = 24 * HOUR_SECONDS;

/// Weekdays from 1970-01-01 on.
const WEEKDAYS: [&str; 7] = [
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
];

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// A point in time, for people and for logs: `2026-11-29 21:46:20 UTC`.
pub fn utc(at: Millis) -> String {
    let (day, clock) = split(at);
    let (year, month, day) = civil(day);
    format!("{year:04}-{month:02}-{day:02} {clock} UTC")
}

/// The time of a day alone: `21:46:20 UTC`.
pub fn clock(at: Millis) -> String {
    format!("{} UTC", split(at).1)
}

/// A point in time with its day in words: `Sunday, 29 November 2026, 21:46:20 UTC`.
pub fn date(at: Millis) -> String {
    let (day, clock) = split(at);
    let weekday = WEEKDAYS[day.rem_euclid(7) as usize];
    let (year, month, day) = civil(day);
    let month = MONTHS[(month - 1) as usize];
    format!("{weekday}, {day} {month} {year}, {clock} UTC")
}

/// How long it is until then, in the largest unit that fits: `7 days`, `1 hour`.
pub fn distance(milliseconds: Millis) -> String {
    let seconds = (milliseconds.max(0) + SECOND_MS / 2) / SECOND_MS;
    let (count, unit) = match seconds {
        0..120 => (seconds, "second"),
        120..7_200 => ((seconds + MINUTE_SECONDS / 2) / MINUTE_SECONDS, "minute"),
        7_200..172_800 => ((seconds + HOUR_SECONDS / 2) / HOUR_SECONDS, "hour"),
        _ => ((seconds + DAY_SECONDS / 2) / DAY_SECONDS, "day"),
    };
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{s}")
}

/// The day, counted from 1970-01-01, and the time of the day.
fn split(at: Millis) -> (Millis, String) {
    let seconds = at.div_euclid(SECOND_MS);
    let second = seconds.rem_euclid(DAY_SECONDS);
    let (hour, minute) = (second / HOUR_SECONDS, second / MINUTE_SECONDS % 60);
    let clock = format!("{hour:02}:{minute:02}:{:02}", second % MINUTE_SECONDS);
    (seconds.div_euclid(DAY_SECONDS), clock)
}

/// Year, month and day of a day that is counted from 1970-01-01, in the calendar that is in use
/// now. Years begin in March here, so that the day that some years have more comes last.
fn civil(day: Millis) -> (Millis, Millis, Millis) {
    const DAYS_BEFORE_1970: Millis = 719_468;
    const DAYS_IN_400_YEARS: Millis = 146_097;
    let day = day + DAYS_BEFORE_1970;
    let era = day.div_euclid(DAYS_IN_400_YEARS);
    let in_era = day.rem_euclid(DAYS_IN_400_YEARS);
    let leap_days = in_era / 1_460 - in_era / 36_524 + in_era / 146_096;
    let year = (in_era - leap_days) / 365;
    let in_year = in_era - (365 * year + year / 4 - year / 100);
    let month = (5 * in_year + 2) / 153;
    let day = in_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + Millis::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_in_time_has_the_date_of_the_calendar() {
        let cases = [
            (0, "1970-01-01 00:00:00 UTC"),
            (-1, "1969-12-31 23:59:59 UTC"),
            (951_782_400_000, "2000-02-29 00:00:00 UTC"),
            (1_709_251_199_999, "2024-02-29 23:59:59 UTC"),
            (1_709_251_200_000, "2024-03-01 00:00:00 UTC"),
            (1_795_988_780_000, "2026-11-29 21:46:20 UTC"),
            (4_107_542_400_000, "2100-03-01 00:00:00 UTC"),
        ];
        for (at, words) in cases {
            assert_eq!(utc(at), words, "{at}");
        }
        assert_eq!(
            date(1_795_988_780_000),
            "Sunday, 29 November 2026, 21:46:20 UTC"
        );
        assert_eq!(date(-1), "Wednesday, 31 December 1969, 23:59:59 UTC");
        assert_eq!(clock(1_795_988_780_000), "21:46:20 UTC");
    }

    #[test]
    fn a_distance_is_told_in_the_largest_unit_that_says_it_well() {
        let cases = [
            (-5, "0 seconds"),
            (1_000, "1 second"),
            (90_000, "90 seconds"),
            (150_000, "3 minutes"),
            (3 * 3_600_000, "3 hours"),
            (7 * 86_400_000, "7 days"),
        ];
        for (milliseconds, words) in cases {
            assert_eq!(distance(milliseconds), words);
        }
    }
}

//! How long a provider asks to wait, in each of the ways in which providers say it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reqwest::header::HeaderMap;

const DAY: u64 = 24 * 60 * 60;

/// The hour at which Google's daily quotas come back: midnight at its place, in winter. In summer
/// it is an hour earlier, so that this waits an hour too long and never too short.
const DAILY_RESET: u64 = 8 * 60 * 60;

/// A number of seconds since 1970 is at least this; smaller ones are durations.
const EPOCH_SECONDS: f64 = 1e9;

/// A number of milliseconds since 1970 is at least this.
const EPOCH_MILLIS: f64 = 1e12;

/// What a rate limit counts, as the names of headers say it.
const COUNTED: [&str; 7] = [
    "requests",
    "tokens",
    "input-tokens",
    "output-tokens",
    "requests-day",
    "tokens-minute",
    "requests-minute",
];

/// How long the provider asks to wait: `retry-after-ms`, else `retry-after` in seconds or as a
/// date, which is taken against the provider's own clock.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    if let Some(milliseconds) = number(headers, "retry-after-ms") {
        return Duration::try_from_secs_f64(milliseconds / 1_000.0).ok();
    }
    if let Some(seconds) = number(headers, "retry-after") {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let at = httpdate::parse_http_date(text(headers, "retry-after")?).ok()?;
    Some(at.duration_since(now(headers)).unwrap_or_default())
}

/// How long until a rate limit has room again, by the headers that say what is left of it:
/// `anthropic-ratelimit-*` with times, `x-ratelimit-*` with durations, seconds or times.
pub(crate) fn until_reset(headers: &HeaderMap) -> Option<Duration> {
    let mut used_up: Option<Duration> = None;
    let mut next: Option<Duration> = None;
    let names = COUNTED.iter().flat_map(|what| {
        [
            (
                format!("anthropic-ratelimit-{what}-remaining"),
                format!("anthropic-ratelimit-{what}-reset"),
            ),
            (
                format!("x-ratelimit-remaining-{what}"),
                format!("x-ratelimit-reset-{what}"),
            ),
        ]
    });
    let whole = [
        ("x-ratelimit-remaining", "x-ratelimit-reset"),
        ("ratelimit-remaining", "ratelimit-reset"),
    ];
    let whole = whole.map(|(remaining, reset)| (remaining.to_owned(), reset.to_owned()));
    for (remaining, reset) in names.chain(whole) {
        let Some(wait) = text(headers, &reset).and_then(|value| moment(value, headers)) else {
            continue;
        };
        next = Some(next.map_or(wait, |known| known.min(wait)));
        if number(headers, &remaining) == Some(0.0) {
            used_up = Some(used_up.map_or(wait, |known| known.max(wait)));
        }
    }
    // Where nothing is said to be used up, the limit that comes back first may be the one.
    used_up.or(next)
}

/// How long until quotas that are counted by the day come back.
pub(crate) fn until_next_day(headers: &HeaderMap) -> Duration {
    let now = now(headers)
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs();
    let since = (now + DAY - DAILY_RESET) % DAY;
    Duration::from_secs(DAY - since)
}

/// A duration as Go writes it (`6m0s`, `20ms`, `1h2m3.5s`), or seconds alone.
pub(crate) fn duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let mut seconds = 0.0;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| letter.is_ascii_alphabetic())?;
        let number: f64 = rest[..digits].parse().ok()?;
        let unit = &rest[digits..];
        let end = unit
            .find(|letter: char| !letter.is_ascii_alphabetic())
            .unwrap_or(unit.len());
        seconds += number
            * match &unit[..end] {
                "d" => 86_400.0,
                "h" => 3_600.0,
                "m" => 60.0,
                "s" => 1.0,
                "ms" => 1e-3,
                "us" => 1e-6,
                "ns" => 1e-9,
                _ => return None,
            };
        rest = &unit[end..];
    }
    Duration::try_from_secs_f64(seconds).ok()
}

/// How long until a time, or a duration.
fn moment(value: &str, headers: &HeaderMap) -> Option<Duration> {
    let at = match value.parse::<f64>() {
        Ok(millis) if millis >= EPOCH_MILLIS => Duration::try_from_secs_f64(millis / 1e3).ok()?,
        Ok(seconds) if seconds >= EPOCH_SECONDS => Duration::try_from_secs_f64(seconds).ok()?,
        _ => match rfc3339(value) {
            Some(at) => at,
            None => return duration(value),
        },
    };
    let at = UNIX_EPOCH + at;
    Some(at.duration_since(now(headers)).unwrap_or_default())
}

/// A time like `2026-11-29T22:00:00Z`, as the time since 1970. Parts of a second are left out.
fn rfc3339(text: &str) -> Option<Duration> {
    let part = |from: usize, to: usize| text.get(from..to)?.parse::<u64>().ok();
    let (year, month, day) = (part(0, 4)?, part(5, 7)?, part(8, 10)?);
    let (hour, minute, second) = (part(11, 13)?, part(14, 16)?, part(17, 19)?);
    if text.len() < 20 || year < 1970 || !(1..=12).contains(&month) {
        return None;
    }
    // Days since 1970 by the civil calendar, counted in years that begin in March.
    let year = if month <= 2 { year - 1 } else { year };
    let month = (month + 9) % 12;
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 1;
    let days = days.checked_sub(719_468)?;
    let seconds = days * DAY + hour * 3_600 + minute * 60 + second;
    let zone =
        text[19..].trim_start_matches(|letter: char| letter == '.' || letter.is_ascii_digit());
    let offset = |zone: &str| {
        let hours: u64 = zone.get(1..3)?.parse().ok()?;
        let minutes: u64 = zone.get(4..6)?.parse().ok()?;
        Some(hours * 3_600 + minutes * 60)
    };
    let seconds = match zone.as_bytes().first()? {
        b'Z' | b'z' => seconds,
        b'+' => seconds.checked_sub(offset(zone)?)?,
        b'-' => seconds + offset(zone)?,
        _ => return None,
    };
    Some(Duration::from_secs(seconds))
}

/// The provider's own clock where it shows it.
fn now(headers: &HeaderMap) -> SystemTime {
    text(headers, "date")
        .and_then(|value| httpdate::parse_http_date(value).ok())
        .unwrap_or_else(SystemTime::now)
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let value = headers.get(name)?.to_str().ok()?;
    Some(value.trim())
}

fn number(headers: &HeaderMap, name: &str) -> Option<f64> {
    text(headers, name)?.parse().ok()
}

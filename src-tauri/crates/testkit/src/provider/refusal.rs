//! What a provider says instead of a reply, in whatever format it is asked.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use longrein_core::calendar;
use longrein_models::Format;
use serde::Deserialize;

/// A refusal. Status, headers and body are those that the format's provider would send.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refusal {
    /// What is the matter.
    pub kind: Trouble,
    /// How long it asks to wait.
    #[serde(default)]
    pub wait_ms: Option<u64>,
    /// How it says so.
    #[serde(default)]
    pub says: WaitSaid,
}

/// What is the matter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trouble {
    /// Too many requests at this moment.
    RateLimited,
    /// The requests of the day are used up.
    DailyQuota,
    /// It has too much to do: 529 at Anthropic, 503 elsewhere.
    Overloaded,
    /// An inner fault.
    Broken,
    /// The request is longer than the window, by code.
    TooLong,
    /// The same, said in words only.
    TooLongInWords,
    /// The key is wrong.
    WrongKey,
    /// The credit is used up.
    NoCredit,
    /// It does not understand the request.
    BadRequest,
    /// There is no such model.
    UnknownModel,
    /// It refuses the content.
    Content,
}

/// How a provider says how long to wait.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitSaid {
    /// `retry-after` in seconds, which are rounded up.
    #[default]
    RetryAfter,
    /// `retry-after` as a date.
    RetryAfterDate,
    /// `retry-after-ms`.
    RetryAfterMs,
    /// The headers that say when a limit has room again: `anthropic-ratelimit-*-reset` at
    /// Anthropic, `x-ratelimit-reset-*` elsewhere.
    Reset,
    /// `RetryInfo` in the body, which only Gemini has.
    RetryInfo,
}

impl Refusal {
    /// A refusal that names no time.
    pub fn of(kind: Trouble) -> Self {
        Self {
            kind,
            wait_ms: None,
            says: WaitSaid::default(),
        }
    }

    /// The same, with a time.
    #[must_use]
    pub fn asking(self, wait: Duration, says: WaitSaid) -> Self {
        let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        Self {
            wait_ms: Some(wait_ms),
            says,
            ..self
        }
    }

    /// The provider's words.
    pub fn words(&self) -> &'static str {
        match self.kind {
            Trouble::RateLimited => "Rate limit reached for requests.",
            Trouble::DailyQuota => "You exceeded your current quota of requests per day.",
            Trouble::Overloaded => "Overloaded",
            Trouble::Broken => "The server had an error while processing your request.",
            Trouble::TooLong => "The request is too long for the model.",
            Trouble::TooLongInWords => {
                "prompt is too long: this model's maximum context length is 8192 tokens"
            }
            Trouble::WrongKey => "Incorrect API key provided.",
            Trouble::NoCredit => "Your credit balance is too low.",
            Trouble::BadRequest => "The request is not understood.",
            Trouble::UnknownModel => "The model does not exist.",
            Trouble::Content => "The content is not allowed.",
        }
    }

    /// The wait as Gemini puts it into its body: `34.5s`.
    pub(super) fn retry_info(&self) -> Option<String> {
        let wait = self.wait_ms.filter(|_| self.says == WaitSaid::RetryInfo)?;
        Some(format!("{}s", wait as f64 / 1e3))
    }

    /// The headers that say how long to wait.
    pub(super) fn headers(&self, format: Format) -> Vec<(String, String)> {
        let Some(wait) = self.wait_ms else {
            return Vec::new();
        };
        let header = |name: &str, value: String| (name.to_owned(), value);
        let then = SystemTime::now() + Duration::from_millis(wait);
        match self.says {
            WaitSaid::RetryAfter => {
                vec![header("retry-after", wait.div_ceil(1_000).to_string())]
            }
            WaitSaid::RetryAfterMs => vec![header("retry-after-ms", wait.to_string())],
            WaitSaid::RetryAfterDate => vec![
                header("date", httpdate::fmt_http_date(SystemTime::now())),
                header("retry-after", httpdate::fmt_http_date(then)),
            ],
            WaitSaid::Reset if format == Format::Anthropic => vec![
                header("date", httpdate::fmt_http_date(SystemTime::now())),
                header("anthropic-ratelimit-requests-limit", "50".to_owned()),
                header("anthropic-ratelimit-requests-remaining", "0".to_owned()),
                header("anthropic-ratelimit-requests-reset", rfc3339(then)),
            ],
            WaitSaid::Reset => vec![
                header("x-ratelimit-limit-requests", "60".to_owned()),
                header("x-ratelimit-remaining-requests", "0".to_owned()),
                header("x-ratelimit-reset-requests", format!("{wait}ms")),
            ],
            WaitSaid::RetryInfo => Vec::new(),
        }
    }
}

/// A time like `2026-11-29T22:00:00Z`.
fn rfc3339(at: SystemTime) -> String {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    let millis = i64::try_from(since.as_millis()).unwrap_or(i64::MAX);
    calendar::utc(millis)
        .replacen(' ', "T", 1)
        .replace(" UTC", "Z")
}

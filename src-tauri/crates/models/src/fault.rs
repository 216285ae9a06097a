//! What went wrong with a provider, in a class that the driver acts on and in words that a
//! person acts on.

use std::time::{Duration, SystemTime};

use longrein_protocol::block::ModelErrorClass;
use longrein_runtime::ports::ModelError;
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::secret::Secret;

/// How much of a provider's own words is kept, in characters.
const SAID_LIMIT: usize = 400;

/// Who was asked, as error texts name it.
#[derive(Clone, Debug)]
pub(crate) struct Provider {
    /// The name in the configuration.
    pub name: String,
    /// The model asked for; empty where no model is meant.
    pub model: String,
    /// The base address with its secrets masked.
    pub shown_url: String,
    /// The key, so that it can be masked in what the provider says.
    pub key: Option<Secret>,
}

/// What a provider's error body says.
#[derive(Default, Debug)]
pub(crate) struct Said {
    /// The words.
    pub message: String,
    /// `code` and `type`, as far as they are given, and the status that some put into the body.
    codes: Vec<String>,
    status: Option<u16>,
}

impl Said {
    /// Reads an error object, in the forms that compatible servers use: `{"error": {…}}`,
    /// `{"error": "…"}`, `{"message": …}`, a list of one of these, or plain text.
    pub fn read(body: &[u8]) -> Self {
        match serde_json::from_slice::<Value>(body) {
            Ok(Value::Array(list)) => list.first().map(Self::of).unwrap_or_default(),
            Ok(value) => Self::of(&value),
            Err(_) => Self {
                message: without_markup(&String::from_utf8_lossy(body)),
                ..Self::default()
            },
        }
    }

    /// Reads the same from a value.
    pub fn of(value: &Value) -> Self {
        let error = value.get("error").unwrap_or(value);
        let text = |key: &str| error.get(key).and_then(Value::as_str);
        let message = error
            .as_str()
            .or_else(|| text("message"))
            .or_else(|| text("detail"));
        // OpenRouter wraps what the provider behind it said.
        let inner = error.pointer("/metadata/raw").and_then(Value::as_str);
        let message = [message, inner]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" ");
        let codes = ["code", "type", "status"]
            .iter()
            .filter_map(|key| text(key));
        Self {
            message,
            codes: codes.map(str::to_ascii_lowercase).collect(),
            status: error
                .get("code")
                .and_then(Value::as_u64)
                .and_then(|code| code.try_into().ok()),
        }
    }

    fn has_code(&self, wanted: &[&str]) -> bool {
        self.codes
            .iter()
            .any(|code| wanted.contains(&code.as_str()))
    }

    /// Whether the request is longer than the window. The words are looked at only for servers
    /// that give no code: llama.cpp, LM Studio and vLLM.
    fn context_too_long(&self) -> bool {
        const WORDS: [&str; 3] = [
            "exceeds the available context size",
            "greater than the context length",
            "maximum context length is",
        ];
        self.has_code(&["context_length_exceeded", "exceed_context_size_error"])
            || WORDS.iter().any(|words| self.message.contains(words))
    }

    fn class(&self, status: u16) -> ModelErrorClass {
        use ModelErrorClass as Class;
        if self.context_too_long() {
            return Class::ContextTooLong;
        }
        if self.has_code(&[
            "insufficient_quota",
            "billing_not_active",
            "invalid_api_key",
        ]) {
            // Waiting does not mend these, so they must not look like a rate limit.
            return Class::Auth;
        }
        if self.has_code(&["content_filter", "content_policy_violation"]) {
            return Class::ContentRefused;
        }
        if self.has_code(&["model_not_found", "model_not_available"]) {
            return Class::UnknownModel;
        }
        match status {
            401..=403 => Class::Auth,
            404 => Class::UnknownModel,
            408 => Class::Network,
            413 => Class::ContextTooLong,
            429 => Class::RateLimited,
            451 => Class::ContentRefused,
            500.. => Class::Overloaded,
            _ if self.has_code(&["rate_limit_exceeded", "rate_limit_error"]) => Class::RateLimited,
            _ if self.has_code(&["server_error", "overloaded_error", "unavailable"]) => {
                Class::Overloaded
            }
            _ => Class::BadRequest,
        }
    }
}

impl Provider {
    /// A fault that is put in our own words.
    pub fn fault(&self, class: ModelErrorClass, message: String, remedy: String) -> ModelError {
        ModelError {
            class,
            message,
            remedy,
            retry_after: None,
            unreachable: false,
        }
    }

    /// There was nobody to talk to.
    pub fn unreachable(&self, why: &str, remedy: String) -> ModelError {
        let message = format!("Nothing answers at {} ({why}).", self.shown_url);
        ModelError {
            unreachable: true,
            ..self.fault(ModelErrorClass::Network, message, remedy)
        }
    }

    /// The connection broke or fell silent.
    pub fn broken(&self, what: &str) -> ModelError {
        self.fault(
            ModelErrorClass::Network,
            format!("{} {what}.", self.shown_url),
            format!(
                "Try again; if it stays so, look at the connection to provider {}.",
                self.name
            ),
        )
    }

    /// The answer is not in the format.
    pub fn malformed(&self, what: &str) -> ModelError {
        self.fault(
            ModelErrorClass::Malformed,
            format!("{} {what}.", self.shown_url),
            format!(
                "Check that provider {} speaks the OpenAI Chat Completions format.",
                self.name
            ),
        )
    }

    /// The person ended the request.
    pub fn cancelled(&self) -> ModelError {
        self.fault(
            ModelErrorClass::Network,
            format!(
                "The request to {} was ended before its answer was complete.",
                self.shown_url
            ),
            "Resume the run to send it again.".to_owned(),
        )
    }

    /// The provider answered with an error status.
    pub fn refused(&self, status: StatusCode, headers: &HeaderMap, body: &[u8]) -> ModelError {
        let said = Said::read(body);
        let answered = format!("answered {}", status.as_u16());
        let mut error = self.explain(said.class(status.as_u16()), &answered, &said);
        error.retry_after = retry_after(headers);
        error
    }

    /// The provider put an error into a response that began well.
    pub fn refused_inside(&self, said: &Said) -> ModelError {
        let status = said.status.unwrap_or(0);
        let class = match said.class(status) {
            // What began well and says nothing of why it broke may work the next time.
            ModelErrorClass::BadRequest if status == 0 => ModelErrorClass::Overloaded,
            class => class,
        };
        self.explain(class, "broke its answer off with an error", said)
    }

    fn explain(&self, class: ModelErrorClass, answered: &str, said: &Said) -> ModelError {
        let words = self.clean(&said.message);
        let words = match words.chars().last() {
            None => ".".to_owned(),
            Some('.' | '!' | '?' | '…') => format!(": {words}"),
            Some(_) => format!(": {words}."),
        };
        let Self {
            name,
            model,
            shown_url,
            ..
        } = self;
        let message = format!("{shown_url} {answered}{words}");
        let remedy = match class {
            ModelErrorClass::Auth => format!(
                "Set LONGREIN_{}_API_KEY to a key of provider {name}, or check its credit and its right to this model.",
                name.to_ascii_uppercase().replace('-', "_")
            ),
            ModelErrorClass::RateLimited => {
                format!("Wait, or raise the rate limit of provider {name}.")
            }
            ModelErrorClass::Overloaded | ModelErrorClass::Network => {
                format!("Try again later, or look at the log of provider {name}.")
            }
            ModelErrorClass::ContextTooLong => {
                "Set window_tokens of the agent's model to the window that it really has."
                    .to_owned()
            }
            ModelErrorClass::ContentRefused => {
                "Put the task in other words, or use another model.".to_owned()
            }
            ModelErrorClass::UnknownModel if model.is_empty() => {
                format!("Check base_url of provider {name}; most end in /v1.")
            }
            ModelErrorClass::UnknownModel => format!(
                "Check that provider {name} has a model “{model}” (see longrein models {name}) \
                 and that its base_url is right; most end in /v1."
            ),
            ModelErrorClass::BadRequest | ModelErrorClass::Malformed => format!(
                "Provider {name} does not take this request; a newer server or another model may."
            ),
        };
        self.fault(class, message, remedy)
    }

    /// A provider's words as they may be shown: one line, capped, no control characters, no key.
    pub fn clean(&self, words: &str) -> String {
        let masked = match &self.key {
            Some(key) => key.mask_in(words),
            None => words.to_owned(),
        };
        let mut clean = String::new();
        for (count, word) in masked
            .split(|letter: char| letter.is_whitespace() || is_unsafe(letter))
            .filter(|word| !word.is_empty())
            .enumerate()
        {
            if count > 0 {
                clean.push(' ');
            }
            clean.push_str(word);
        }
        if let Some((end, _)) = clean.char_indices().nth(SAID_LIMIT) {
            clean.truncate(end);
            clean.push('…');
        }
        clean
    }
}

/// Control characters, and those that turn the direction of what follows.
fn is_unsafe(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The words of an HTML error page, which proxies like to send.
fn without_markup(page: &str) -> String {
    if !page.trim_start().starts_with('<') {
        return page.to_owned();
    }
    let mut words = String::new();
    for piece in page.split('<') {
        let tag = piece.split('>').next().unwrap_or_default();
        if !tag.starts_with("style") && !tag.starts_with("script") {
            words.push_str(piece.split_once('>').map_or("", |(_, text)| text));
            words.push(' ');
        }
    }
    words
}

/// How long the provider asks to wait: `retry-after-ms`, else `retry-after` in seconds or as a
/// date, which is taken against the provider's own clock.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| {
        headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .map(str::trim)
    };
    let number = |name: &str| text(name).and_then(|value| value.parse::<f64>().ok());
    if let Some(milliseconds) = number("retry-after-ms") {
        return Duration::try_from_secs_f64(milliseconds / 1_000.0).ok();
    }
    if let Some(seconds) = number("retry-after") {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let at = text("retry-after").and_then(|value| httpdate::parse_http_date(value).ok())?;
    let now = text("date").and_then(|value| httpdate::parse_http_date(value).ok());
    Some(
        at.duration_since(now.unwrap_or_else(SystemTime::now))
            .unwrap_or_default(),
    )
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use reqwest::header::HeaderValue;

    use super::*;

    fn provider() -> Provider {
        Provider {
            name: "local".into(),
            model: "any".into(),
            shown_url: "http://127.0.0.1:1/v1".into(),
            key: Some(Secret::new("sk-123")),
        }
    }

    fn check(status: u16, body: &str, class: ModelErrorClass, message: Expect) {
        let status = StatusCode::from_u16(status).unwrap();
        let error = provider().refused(status, &HeaderMap::new(), body.as_bytes());
        assert_eq!(error.class, class);
        message.assert_eq(&format!("{} {}", error.message, error.remedy));
    }

    #[test]
    fn every_status_has_its_class_and_its_remedy() {
        use ModelErrorClass as Class;
        check(
            401,
            r#"{"error":{"message":"Incorrect API key provided: sk-123","code":"invalid_api_key"}}"#,
            Class::Auth,
            expect![
                "http://127.0.0.1:1/v1 answered 401: Incorrect API key provided: •••. Set LONGREIN_LOCAL_API_KEY to a key of provider local, or check its credit and its right to this model."
            ],
        );
        check(
            403,
            "",
            Class::Auth,
            expect![
                "http://127.0.0.1:1/v1 answered 403. Set LONGREIN_LOCAL_API_KEY to a key of provider local, or check its credit and its right to this model."
            ],
        );
        check(
            404,
            r#"{"error":"model 'any' not found"}"#,
            Class::UnknownModel,
            expect![
                "http://127.0.0.1:1/v1 answered 404: model 'any' not found. Check that provider local has a model “any” (see longrein models local) and that its base_url is right; most end in /v1."
            ],
        );
        check(
            429,
            r#"{"error":{"message":"slow down"}}"#,
            Class::RateLimited,
            expect![
                "http://127.0.0.1:1/v1 answered 429: slow down. Wait, or raise the rate limit of provider local."
            ],
        );
        check(
            502,
            "<html><style>p{}</style><h1>Bad gateway</h1>\u{1b}[31m\n</html>",
            Class::Overloaded,
            expect![
                "http://127.0.0.1:1/v1 answered 502: Bad gateway [31m. Try again later, or look at the log of provider local."
            ],
        );
        check(
            422,
            r#"{"detail":"no field tools"}"#,
            Class::BadRequest,
            expect![
                "http://127.0.0.1:1/v1 answered 422: no field tools. Provider local does not take this request; a newer server or another model may."
            ],
        );
    }

    #[test]
    fn a_request_that_is_too_long_is_known_by_code_and_by_the_words_of_local_servers() {
        for body in [
            r#"{"error":{"message":"x","code":"context_length_exceeded"}}"#,
            r#"{"error":{"message":"request (9 tokens) exceeds the available context size (8)","code":400}}"#,
            r#"{"error":"the tokens to keep are greater than the context length"}"#,
            r#"{"object":"error","message":"This model's maximum context length is 8 tokens","code":400}"#,
        ] {
            let error =
                provider().refused(StatusCode::BAD_REQUEST, &HeaderMap::new(), body.as_bytes());
            assert_eq!(error.class, ModelErrorClass::ContextTooLong, "{body}");
        }
    }

    #[test]
    fn a_used_up_quota_is_not_a_rate_limit() {
        let body = br#"{"error":{"message":"quota","type":"insufficient_quota"}}"#;
        let error = provider().refused(StatusCode::TOO_MANY_REQUESTS, &HeaderMap::new(), body);
        assert_eq!(error.class, ModelErrorClass::Auth);
    }

    #[test]
    fn an_error_inside_a_response_has_the_class_of_its_code() {
        let class = |body: &str| {
            provider()
                .refused_inside(&Said::read(body.as_bytes()))
                .class
        };
        assert_eq!(
            class(r#"{"error":{"code":429,"message":"x"}}"#),
            ModelErrorClass::RateLimited
        );
        assert_eq!(
            class(r#"{"error":{"code":502,"message":"x"}}"#),
            ModelErrorClass::Overloaded
        );
        assert_eq!(
            class(r#"{"error":{"code":"content_filter"}}"#),
            ModelErrorClass::ContentRefused
        );
        assert_eq!(class(r#"{"error":"broken"}"#), ModelErrorClass::Overloaded);
    }

    #[test]
    fn the_wait_is_read_from_milliseconds_seconds_or_a_date() {
        let wait = |pairs: &[(&'static str, &'static str)]| {
            let headers = pairs.iter().map(|(name, value)| {
                (
                    reqwest::header::HeaderName::from_static(name),
                    HeaderValue::from_static(value),
                )
            });
            retry_after(&headers.collect())
        };
        assert_eq!(
            wait(&[("retry-after-ms", "250"), ("retry-after", "9")]),
            Some(Duration::from_millis(250))
        );
        assert_eq!(wait(&[("retry-after", "2")]), Some(Duration::from_secs(2)));
        assert_eq!(
            wait(&[
                ("retry-after", "Sun, 06 Nov 1994 08:49:40 GMT"),
                ("date", "Sun, 06 Nov 1994 08:49:37 GMT")
            ]),
            Some(Duration::from_secs(3))
        );
        assert_eq!(wait(&[("retry-after", "-3")]), None);
        assert_eq!(wait(&[("retry-after", "soon")]), None);
        assert_eq!(wait(&[]), None);
    }

    #[test]
    fn a_providers_words_are_capped() {
        let clean = provider().clean(&"ä".repeat(10_000));
        assert_eq!(clean.chars().count(), SAID_LIMIT + 1);
    }
}

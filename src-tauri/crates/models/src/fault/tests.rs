//! Every fault in its class, with its words and its wait.

use std::time::Duration;

use expect_test::{Expect, expect};
use reqwest::header::{HeaderName, HeaderValue};

use super::*;

fn provider() -> Provider {
    Provider {
        name: "local".into(),
        model: "any".into(),
        shown_url: "http://127.0.0.1:1/v1".into(),
        key: Some(Secret::new("sk-123")),
        format: "OpenAI Chat Completions",
        address_hint: "/v1",
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
            "http://127.0.0.1:1/v1 answered 401: Incorrect API key provided: •••. Set a key of provider local in the settings or with: longrein keys set local. Or set the variable LONGREIN_LOCAL_API_KEY, or check the key's credit and its right to this model."
        ],
    );
    check(
        403,
        "",
        Class::Auth,
        expect![
            "http://127.0.0.1:1/v1 answered 403. Set a key of provider local in the settings or with: longrein keys set local. Or set the variable LONGREIN_LOCAL_API_KEY, or check the key's credit and its right to this model."
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
        let error = provider().refused(StatusCode::BAD_REQUEST, &HeaderMap::new(), body.as_bytes());
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

fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
    let headers = pairs.iter().map(|(name, value)| {
        (
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        )
    });
    headers.collect()
}

/// How long a provider that answers 429 with these headers and this body asks to wait.
fn waits(pairs: &[(&'static str, &'static str)], body: &str) -> Option<Duration> {
    let status = StatusCode::TOO_MANY_REQUESTS;
    let error = provider().refused(status, &headers(pairs), body.as_bytes());
    assert_eq!(error.class, ModelErrorClass::RateLimited);
    error.retry_after
}

#[test]
fn the_wait_is_read_from_milliseconds_seconds_or_a_date() {
    let wait = |pairs: &[(&'static str, &'static str)]| waits(pairs, "");
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
fn a_quota_of_a_week_is_said_as_a_week() {
    let week = Duration::from_secs(7 * 24 * 60 * 60);
    assert_eq!(waits(&[("retry-after", "604800")], ""), Some(week));
}

#[test]
fn without_a_wait_the_limit_that_is_used_up_says_when_it_comes_back() {
    let anthropic = [
        ("date", "Sun, 29 Nov 2026 22:00:00 GMT"),
        ("anthropic-ratelimit-requests-remaining", "12"),
        ("anthropic-ratelimit-requests-reset", "2026-11-29T22:00:01Z"),
        ("anthropic-ratelimit-input-tokens-remaining", "0"),
        (
            "anthropic-ratelimit-input-tokens-reset",
            "2026-11-29T23:00:30+01:00",
        ),
    ];
    assert_eq!(waits(&anthropic, ""), Some(Duration::from_secs(30)));
    let openai = [
        ("x-ratelimit-remaining-requests", "0"),
        ("x-ratelimit-reset-requests", "6m0s"),
        ("x-ratelimit-remaining-tokens", "100"),
        ("x-ratelimit-reset-tokens", "20ms"),
    ];
    assert_eq!(waits(&openai, ""), Some(Duration::from_secs(360)));
    let openrouter = [
        ("date", "Sun, 29 Nov 2026 22:00:00 GMT"),
        ("x-ratelimit-remaining", "0"),
        ("x-ratelimit-reset", "1796083200000"),
    ];
    assert_eq!(waits(&openrouter, ""), Some(Duration::from_secs(93_600)));
    let seconds = [("x-ratelimit-reset-requests", "7.66s")];
    assert_eq!(waits(&seconds, ""), Some(Duration::from_millis(7_660)));
}

#[test]
fn googles_wait_stands_in_the_body() {
    let body = r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"x","details":[
        {"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel"}]},
        {"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}]}}"#;
    assert_eq!(waits(&[], body), Some(Duration::from_millis(34_500)));
}

#[test]
fn a_daily_quota_comes_back_with_the_day_whatever_the_answer_says_of_seconds() {
    let body = r#"[{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"x","details":[
        {"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},
        {"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"12s"}]}}]"#;
    let late = [("date", "Sun, 29 Nov 2026 22:00:00 GMT")];
    assert_eq!(waits(&late, body), Some(Duration::from_secs(10 * 3_600)));
    let early = [("date", "Sun, 29 Nov 2026 07:30:00 GMT")];
    assert_eq!(waits(&early, body), Some(Duration::from_secs(1_800)));
}

#[test]
fn every_provider_has_its_own_words_for_a_request_that_is_too_long() {
    for message in [
        "prompt is too long: 210000 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
        "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
        "`inputs` tokens + `max_new_tokens` must be <= 8193",
        "Your input exceeds the context window of this model.",
    ] {
        let body = serde_json::json!({ "error": { "message": message } }).to_string();
        let error = provider().refused(StatusCode::BAD_REQUEST, &HeaderMap::new(), body.as_bytes());
        assert_eq!(error.class, ModelErrorClass::ContextTooLong, "{message}");
    }
}

#[test]
fn missing_credit_is_the_persons_to_mend_though_the_status_says_bad_request() {
    let body = br#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}"#;
    let error = provider().refused(StatusCode::BAD_REQUEST, &HeaderMap::new(), body);
    assert_eq!(error.class, ModelErrorClass::Auth);
}

#[test]
fn an_error_inside_a_stream_is_known_by_its_type() {
    use ModelErrorClass as Class;
    for (kind, class) in [
        ("overloaded_error", Class::Overloaded),
        ("rate_limit_error", Class::RateLimited),
        ("authentication_error", Class::Auth),
        ("not_found_error", Class::UnknownModel),
        ("request_too_large", Class::ContextTooLong),
        ("invalid_request_error", Class::BadRequest),
        ("something_new", Class::Overloaded),
    ] {
        let body = format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"x"}}}}"#);
        let error = provider().refused_inside(&Said::read(body.as_bytes()));
        assert_eq!(error.class, class, "{kind}");
    }
}

#[test]
fn a_providers_words_are_capped() {
    let clean = provider().clean(&"ä".repeat(10_000));
    assert_eq!(clean.chars().count(), SAID_LIMIT + 1);
}

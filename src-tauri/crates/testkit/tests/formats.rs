//! Each format as its provider's reference has it, over a real socket.

use std::time::Duration;

use longrein_testkit::provider::{
    Answer, Content, Fault, Manner, MockProvider, Refusal, Setup, Trouble, WaitSaid,
};
use longrein_testkit::say;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const PATHS: [&str; 4] = [
    "/v1/chat/completions",
    "/v1/responses",
    "/v1/messages",
    "/v1beta/models/any:streamGenerateContent?alt=sse",
];

async fn ask(provider: &MockProvider, method: &str, path: &str, headers: &str) -> String {
    let address = provider.origin().replace("http://", "");
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("{method} {path} HTTP/1.1\r\ncontent-length: 2\r\n{headers}\r\n{{}}");
    stream.write_all(request.as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

async fn answering(answer: Answer) -> MockProvider {
    let setup = Setup::of(move |_| answer.clone());
    MockProvider::start(setup).await.unwrap()
}

#[tokio::test]
async fn one_server_speaks_every_format_by_its_path() {
    let setup = Setup::scripted((0..4).map(|_| say("Grüße")));
    let provider = MockProvider::start(setup).await.unwrap();
    let marks = [
        ["\"object\":\"chat.completion.chunk\"", "data: [DONE]"],
        ["event: response.created", "event: response.completed"],
        ["event: message_start", "event: message_stop"],
        ["\"candidates\"", "\"finishReason\":\"STOP\""],
    ];
    for (path, marks) in PATHS.into_iter().zip(marks) {
        let answer = ask(&provider, "POST", path, "").await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert!(answer.contains("Grüße"), "{answer}");
        for mark in marks {
            assert!(answer.contains(mark), "{path}: {mark}: {answer}");
        }
    }
}

#[tokio::test]
async fn each_provider_has_its_list_of_models() {
    let provider = answering(Content::Refusal(Refusal::of(Trouble::Broken)).into()).await;
    let chat = ask(&provider, "GET", "/v1/models", "").await;
    assert!(chat.contains(r#""object":"list""#), "{chat}");
    let named = "anthropic-version: 2023-06-01\r\n";
    let anthropic = ask(&provider, "GET", "/v1/models?limit=1000", named).await;
    assert!(anthropic.contains(r#""has_more":false"#), "{anthropic}");
    let gemini = ask(&provider, "GET", "/v1beta/models", "").await;
    assert!(gemini.contains(r#""name":"models/any""#), "{gemini}");
}

#[tokio::test]
async fn each_provider_refuses_in_its_own_way_and_says_how_long_to_wait() {
    let wait = Duration::from_millis(1_500);
    let refusing =
        |kind, says| answering(Content::Refusal(Refusal::of(kind).asking(wait, says)).into());
    let provider = refusing(Trouble::Overloaded, WaitSaid::RetryAfter).await;
    for (path, status) in PATHS.into_iter().zip([503, 503, 529, 503]) {
        let answer = ask(&provider, "POST", path, "").await;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{answer}"
        );
        assert!(answer.contains("retry-after: 2\r\n"), "{answer}");
    }
    let provider = refusing(Trouble::RateLimited, WaitSaid::Reset).await;
    let openai = ask(&provider, "POST", PATHS[1], "").await;
    assert!(
        openai.contains("x-ratelimit-reset-requests: 1500ms"),
        "{openai}"
    );
    let anthropic = ask(&provider, "POST", PATHS[2], "").await;
    assert!(
        anthropic.contains("anthropic-ratelimit-requests-reset: 20"),
        "{anthropic}"
    );
    assert!(
        anthropic.contains(r#""type":"rate_limit_error""#),
        "{anthropic}"
    );
    let provider = refusing(Trouble::DailyQuota, WaitSaid::RetryInfo).await;
    let gemini = ask(&provider, "POST", PATHS[3], "").await;
    assert!(gemini.contains(r#""retryDelay":"1.5s""#), "{gemini}");
    assert!(gemini.contains("PerDay"), "{gemini}");
}

#[tokio::test]
async fn a_stream_is_cut_at_the_byte_that_was_said() {
    for (path, bytes) in PATHS.into_iter().zip([1, 17, 60, 99]) {
        let setup = Setup::scripted([say("Grüße")]);
        let setup = setup.in_manner(Manner::default().with(Fault::EndAtByte(bytes)));
        let provider = MockProvider::start(setup).await.unwrap();
        let answer = ask(&provider, "POST", path, "").await;
        let body = answer.split_once("\r\n\r\n").unwrap().1;
        // One chunk of so many bytes, and the empty one that ends the body.
        let chunk = format!("{bytes:x}\r\n");
        assert!(body.starts_with(&chunk), "{body}");
        assert!(body.ends_with("\r\n0\r\n\r\n"), "{body}");
    }
}

#[tokio::test]
async fn a_reply_that_breaks_off_says_why_as_its_format_does() {
    let marks = [
        r#"data: {"error":{"#,
        "event: error\ndata: {\"code\":",
        "event: error\ndata: {\"error\":{",
        r#"data: {"error":{"code":503"#,
    ];
    for (path, mark) in PATHS.into_iter().zip(marks) {
        let setup = Setup::scripted([say("Grüße")]);
        let fault = Fault::BreakOffAfter(0, Trouble::Overloaded);
        let setup = setup.in_manner(Manner::default().with(fault));
        let provider = MockProvider::start(setup).await.unwrap();
        let answer = ask(&provider, "POST", path, "").await;
        assert!(answer.contains(mark), "{path}: {answer}");
    }
}

//! The exact bytes of requests, for each server.

use expect_test::{Expect, expect};
use longrein_protocol::{Effect, tool::Repeat};
use serde_json::{Value, json};

use super::*;

fn parameters(thinking: Option<Thinking>) -> Parameters<'static> {
    Parameters {
        max_output_tokens: 7,
        temperature: None,
        thinking,
        answer: None,
    }
}

fn check_message(message: Message, expected: Expect) {
    let bytes = ChatDialect::default().message(3, &message);
    expected.assert_eq(&bytes);
    let parsed: Result<Value, _> = serde_json::from_str(&bytes[1..]);
    assert!(parsed.is_ok(), "{bytes}");
}

fn call(arguments: &str) -> Said {
    Said::ToolUse {
        id: "c1".into(),
        name: "read_file".into(),
        arguments: arguments.into(),
        raw: None,
    }
}

#[test]
fn head_messages_and_closing_make_one_json_body() {
    let tools = [ToolSpec {
        name: "notes.find".into(),
        description: "Finds \"notes\"".into(),
        schema: json!({"type": "object"}),
        effect: Effect::Read,
        repeat: Repeat::Repeatable,
        timeout_ms: 1,
        result_tokens: 1,
        path_arguments: Vec::new(),
        reach: longrein_protocol::tool::Reach::default(),
        recovery: longrein_protocol::tool::Recovery::default(),
        untrusted: true,
    }];
    let dialect = ChatDialect::default();
    let head = dialect.head(Head {
        model: "any",
        system: "Be\nbrief",
        tools: &tools,
        index: "",
    });
    let parts: Vec<Section> = head.iter().map(|(part, _)| *part).collect();
    assert_eq!(parts, [Section::System, Section::Tools, Section::System]);
    let mut body: String = head.into_iter().map(|(_, bytes)| bytes).collect();
    body += &dialect.message(0, &Message::user("Hé"));
    body += &dialect.closing(Parameters {
        max_output_tokens: 64,
        temperature: Some(0.0),
        thinking: None,
        answer: None,
    });
    expect![[r#"{"model":"any","stream":true,"stream_options":{"include_usage":true},"tools":[{"type":"function","function":{"name":"notes__find","description":"Finds \"notes\"","parameters":{"type":"object"}}}],"messages":[{"role":"system","content":"Be\nbrief"},{"role":"user","content":"Hé"}],"max_tokens":64,"temperature":0.0}"#]].assert_eq(&body);
    serde_json::from_str::<Value>(&body).unwrap();
}

#[test]
fn without_tools_the_key_is_left_out() {
    let head = ChatDialect::default().head(Head {
        model: "m",
        system: "",
        tools: &[],
        index: "",
    });
    assert_eq!(head.len(), 2);
    assert!(head.iter().all(|(part, _)| *part == Section::System));
}

#[test]
fn the_limit_is_called_as_the_provider_wants_it() {
    let dialect = ChatDialect::new(quirks::OPENAI, "gpt-4.1");
    let closing = dialect.closing(parameters(None));
    assert_eq!(closing, r#"],"max_completion_tokens":7}"#);
}

#[test]
fn calls_without_words_have_null_content() {
    check_message(
        Message::Assistant {
            blocks: vec![call("{\"path\":\"a\"}")],
        },
        expect![[
            r#",{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"a\"}"}}]}"#
        ]],
    );
}

#[test]
fn an_empty_reply_is_an_empty_text() {
    check_message(
        Message::Assistant { blocks: Vec::new() },
        expect![[r#",{"role":"assistant","content":""}"#]],
    );
}

#[test]
fn arguments_that_are_no_object_are_sent_in_one() {
    check_message(
        Message::Assistant {
            blocks: vec![call("{\"path\":"), call("")],
        },
        expect![[
            r#",{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"read_file","arguments":"{\"unreadable_arguments\":\"{\\\"path\\\":\"}"}},{"id":"c1","type":"function","function":{"name":"read_file","arguments":"{}"}}]}"#
        ]],
    );
}

#[test]
fn reasoning_goes_back_only_where_the_provider_wants_it() {
    let thinking = |raw: Option<&str>| Said::Thinking {
        text: "hm".into(),
        raw: raw.map(str::to_owned),
    };
    check_message(
        Message::Assistant {
            blocks: vec![thinking(Some(REASONING_CONTENT)), call("{}")],
        },
        expect![[
            r#",{"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[{"id":"c1","type":"function","function":{"name":"read_file","arguments":"{}"}}]}"#
        ]],
    );
    check_message(
        Message::Assistant {
            blocks: vec![thinking(Some("[{\"id\":1}]")), call("{}")],
        },
        expect![[
            r#",{"role":"assistant","content":null,"reasoning_details":[{"id":1}],"tool_calls":[{"id":"c1","type":"function","function":{"name":"read_file","arguments":"{}"}}]}"#
        ]],
    );
    check_message(
        Message::Assistant {
            blocks: vec![
                thinking(None),
                Said::Text {
                    text: "Hello".into(),
                    raw: None,
                },
            ],
        },
        expect![[r#",{"role":"assistant","content":"Hello"}"#]],
    );
}

#[test]
fn a_failed_action_says_so_in_words() {
    let result = |text: &str, failed| Message::Result {
        call: "c1".into(),
        name: "read_file".into(),
        text: text.into(),
        media: Vec::new(),
        failed,
    };
    check_message(
        result("no such file", true),
        expect![[r#",{"role":"tool","tool_call_id":"c1","content":"Error: no such file"}"#]],
    );
    check_message(
        result("error: gone", true),
        expect![[r#",{"role":"tool","tool_call_id":"c1","content":"error: gone"}"#]],
    );
    check_message(
        result("fine", false),
        expect![[r#",{"role":"tool","tool_call_id":"c1","content":"fine"}"#]],
    );
}

/// What is sent for `off` and `medium`, without what is always there.
fn check_thinking(quirks: Quirks, model: &str, off: Expect, medium: Expect) {
    let dialect = ChatDialect::new(quirks, model);
    for (thinking, expected) in [(Thinking::Off, off), (Thinking::Medium, medium)] {
        let closing = dialect.closing(parameters(Some(thinking)));
        let body = format!(r#"{{"messages":[{closing}"#);
        let parsed: Result<Value, _> = serde_json::from_str(&body);
        assert!(parsed.is_ok(), "{body}");
        let from = closing.find(":7").unwrap() + 2;
        expected.assert_eq(&closing[from..closing.len() - 1]);
    }
    // Nothing is said where nothing was asked for.
    assert!(dialect.closing(parameters(None)).ends_with(":7}"));
}

#[test]
fn each_server_is_told_to_think_in_its_own_words() {
    check_thinking(
        quirks::OPENAI,
        "gpt-5.6",
        expect![[r#","reasoning_effort":"none""#]],
        expect![[r#","reasoning_effort":"medium""#]],
    );
    check_thinking(quirks::OPENAI, "gpt-4.1", expect![""], expect![""]);
    check_thinking(
        quirks::OPENROUTER,
        "anthropic/claude-opus-5.5",
        expect![[r#","reasoning":{"enabled":false}"#]],
        expect![[r#","reasoning":{"effort":"medium"}"#]],
    );
    check_thinking(
        quirks::DEEPSEEK,
        "deepseek-flash",
        expect![[r#","thinking":{"type":"disabled"}"#]],
        expect![[r#","thinking":{"type":"enabled"},"reasoning_effort":"medium""#]],
    );
    check_thinking(
        quirks::MISTRAL,
        "mistral-small-latest",
        expect![[r#","reasoning_effort":"none""#]],
        expect![[r#","reasoning_effort":"high""#]],
    );
    check_thinking(
        quirks::GROQ,
        "openai/gpt-oss-120b",
        expect![[r#","reasoning_effort":"low""#]],
        expect![[r#","reasoning_effort":"medium""#]],
    );
    check_thinking(
        quirks::GROQ,
        "qwen/qwen3.8-27b",
        expect![[r#","reasoning_effort":"none","reasoning_format":"parsed""#]],
        expect![[r#","reasoning_effort":"default","reasoning_format":"parsed""#]],
    );
    check_thinking(
        quirks::TOGETHER,
        "zai-org/GLM-5.3",
        expect![[r#","reasoning":{"enabled":false}"#]],
        expect![[r#","reasoning_effort":"medium""#]],
    );
    check_thinking(
        quirks::OLLAMA,
        "qwen3",
        expect![[r#","reasoning_effort":"none""#]],
        expect![[r#","reasoning_effort":"medium""#]],
    );
    check_thinking(
        quirks::LLAMA_CPP,
        "qwen3",
        expect![[r#","chat_template_kwargs":{"enable_thinking":false}"#]],
        expect![[
            r#","chat_template_kwargs":{"enable_thinking":true,"reasoning_effort":"medium"}"#
        ]],
    );
    check_thinking(quirks::LM_STUDIO, "qwen3", expect![""], expect![""]);
}

#[test]
fn a_temperature_is_not_sent_to_a_model_of_openai_that_refuses_it() {
    let warm = Parameters {
        temperature: Some(0.5),
        ..parameters(None)
    };
    let sent = |quirks, model| {
        let closing = ChatDialect::new(quirks, model).closing(warm);
        closing.contains("temperature")
    };
    assert!(sent(quirks::OPENAI, "gpt-4.1"));
    assert!(!sent(quirks::OPENAI, "gpt-5.6"));
    assert!(sent(quirks::GROQ, "openai/gpt-oss-120b"));
}

#[test]
fn mistral_gets_no_stream_options_and_ids_of_nine() {
    let dialect = ChatDialect::new(quirks::MISTRAL, "mistral-large-latest");
    expect![[r#"{"model":"mistral-large-latest","stream":true"#]]
        .assert_eq(&dialect.opening("mistral-large-latest"));
    let asked = dialect.message(
        0,
        &Message::Assistant {
            blocks: vec![call("{}")],
        },
    );
    let answered = dialect.message(1, &result("a"));
    let id = crate::ids::IdShape::Nine.of("c1");
    assert!(asked.contains(&format!(r#"{{"id":"{id}","#)), "{asked}");
    assert!(answered.contains(&format!(r#""tool_call_id":"{id}""#)));
}

fn result(text: &str) -> Message {
    Message::Result {
        call: "c1".into(),
        name: "read_file".into(),
        text: text.into(),
        media: Vec::new(),
        failed: false,
    }
}

#[test]
fn mistral_hears_the_model_answer_a_result_before_the_person_speaks() {
    let place = |after| Place {
        index: 3,
        after: Some(after),
        is_tail: true,
    };
    let user = Message::user("on");
    let bytes = |quirks, after| {
        let dialect = ChatDialect::new(quirks, "m");
        dialect.placed(place(after), &user)
    };
    expect![[r#",{"role":"assistant","content":"Understood."},{"role":"user","content":"on"}"#]]
        .assert_eq(&bytes(quirks::MISTRAL, Speaker::Tool));
    let plain = r#",{"role":"user","content":"on"}"#;
    assert_eq!(bytes(quirks::MISTRAL, Speaker::Model), plain);
    assert_eq!(bytes(quirks::OPENAI, Speaker::Tool), plain);
}

#[test]
fn each_server_gets_back_the_reasoning_that_it_wants() {
    let said = |raw: &str, calls: bool| {
        let thinking = Said::Thinking {
            text: "hm".into(),
            raw: Some(raw.into()),
        };
        let text = Said::Text {
            text: "a".into(),
            raw: None,
        };
        let mut blocks = vec![thinking, text];
        blocks.extend(calls.then(|| call("{}")));
        Message::Assistant { blocks }
    };
    let has = |quirks, message: Message, wanted: &str| {
        let bytes = ChatDialect::new(quirks, "m").message(0, &message);
        serde_json::from_str::<Value>(&bytes[1..]).unwrap();
        bytes.contains(wanted)
    };
    let content = r#""reasoning_content":"hm""#;
    let details = r#""reasoning_details":[{"a":1}]"#;
    assert!(has(
        quirks::DEEPSEEK,
        said(REASONING_CONTENT, false),
        content
    ));
    assert!(has(
        quirks::DEEPSEEK,
        said(r#"{"type":"thinking"}"#, true),
        r#""reasoning_content":"""#
    ));
    assert!(has(
        quirks::OPENROUTER,
        said(r#"[{"a":1}]"#, false),
        details
    ));
    assert!(has(quirks::VLLM, said(REASONING_CONTENT, true), content));
    assert!(!has(
        quirks::VLLM,
        said(REASONING_CONTENT, false),
        "reasoning"
    ));
    assert!(!has(
        quirks::MISTRAL,
        said(REASONING_CONTENT, true),
        "reasoning"
    ));
    assert!(!has(
        quirks::GROQ,
        said(REASONING_CONTENT, true),
        "reasoning"
    ));
}

#[test]
fn each_server_has_its_name_for_the_limit() {
    let limit = |quirks| {
        let closing = ChatDialect::new(quirks, "any").closing(parameters(None));
        closing.contains("max_completion_tokens")
    };
    for quirks in [quirks::OPENAI, quirks::GROQ, quirks::XAI] {
        assert!(limit(quirks), "{}", quirks.name);
    }
    for quirks in [
        quirks::PLAIN,
        quirks::OPENROUTER,
        quirks::DEEPSEEK,
        quirks::MISTRAL,
        quirks::TOGETHER,
        quirks::OLLAMA,
        quirks::LM_STUDIO,
        quirks::LLAMA_CPP,
        quirks::VLLM,
    ] {
        assert!(!limit(quirks), "{}", quirks.name);
    }
}

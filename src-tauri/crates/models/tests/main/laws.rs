//! What a provider demands of a history, format by format, as its documentation or its error
//! messages have it.

use serde_json::Value;

/// Holds a body against the laws of its format.
pub type Law = fn(&Value) -> Result<(), String>;

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn ensure(holds: bool, law: impl FnOnce() -> String) -> Result<(), String> {
    match holds {
        true => Ok(()),
        false => Err(law()),
    }
}

/// Every call has one result directly behind its message, no result stands elsewhere, and no
/// message is empty.
pub fn chat(body: &Value) -> Result<(), String> {
    let messages = list(&body["messages"]);
    let mut open: Vec<&str> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        if role == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            let expected = (!open.is_empty()).then(|| open.remove(0));
            ensure(expected == Some(id), || {
                format!("{index}: result {id}, not {expected:?}")
            })?;
            continue;
        }
        ensure(open.is_empty(), || {
            format!("{index}: {open:?} have no result")
        })?;
        open = list(&message["tool_calls"])
            .iter()
            .filter_map(|call| call["id"].as_str())
            .collect();
        let mut ids = open.clone();
        ids.sort_unstable();
        ids.dedup();
        ensure(ids.len() == open.len(), || {
            format!("{index}: one id twice: {open:?}")
        })?;
        let is_empty = match &message["content"] {
            Value::String(words) => words.is_empty() && role != "assistant",
            Value::Array(parts) => parts.is_empty(),
            _ => open.is_empty(),
        };
        ensure(!is_empty, || format!("{index}: an empty message"))?;
        for call in list(&message["tool_calls"]) {
            let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
            let parsed = serde_json::from_str::<Value>(arguments);
            ensure(parsed.is_ok_and(|parsed| parsed.is_object()), || {
                format!("{index}: arguments that are no object")
            })?;
        }
    }
    ensure(open.is_empty(), || {
        format!("{open:?} have no result at the end")
    })
}

/// As [`chat`]; and no message of the person stands directly behind a result.
pub fn strict_chat(body: &Value) -> Result<(), String> {
    chat(body)?;
    let messages = list(&body["messages"]);
    for pair in messages.windows(2) {
        let follows = pair[0]["role"] == "tool" && pair[1]["role"] == "user";
        ensure(!follows, || "a person's message behind a result".to_owned())?;
    }
    Ok(())
}

/// The person and the model speak in turn.
pub fn turns(body: &Value) -> Result<(), String> {
    let roles: Vec<&str> = list(&body["messages"])
        .iter()
        .filter_map(|message| message["role"].as_str())
        .collect();
    ensure(roles.get(1) == Some(&"user"), || format!("{roles:?}"))?;
    let twice = roles.windows(2).any(|pair| pair[0] == pair[1]);
    ensure(!twice, || format!("one speaks twice: {roles:?}"))
}

/// As [`chat`] for items; and reasoning is followed by what it led to.
pub fn responses(body: &Value) -> Result<(), String> {
    let items = list(&body["input"]);
    let mut open: Vec<&str> = Vec::new();
    let mut answering = false;
    let mut dangles = false;
    for (index, item) in items.iter().enumerate() {
        let kind = item["type"].as_str().unwrap_or_default();
        let id = item["call_id"].as_str().unwrap_or_default();
        let is_model =
            kind == "reasoning" || kind == "function_call" || item["role"] == "assistant";
        if kind == "function_call_output" {
            answering = true;
            let expected = (!open.is_empty()).then(|| open.remove(0));
            ensure(expected == Some(id), || {
                format!("{index}: result {id}, not {expected:?}")
            })?;
        } else {
            let waits = !open.is_empty() && (answering || !is_model);
            ensure(!waits, || format!("{index}: {open:?} have no result"))?;
            answering = false;
        }
        ensure(!dangles || is_model, || {
            format!("{index}: reasoning led to nothing")
        })?;
        dangles = kind == "reasoning";
        if kind == "function_call" {
            ensure(!open.contains(&id), || {
                format!("{index}: one id twice: {id}")
            })?;
            open.push(id);
        }
        let empty = item["content"] == "" || item["content"] == Value::Array(Vec::new());
        ensure(!empty, || format!("{index}: an empty message"))?;
    }
    ensure(open.is_empty() && !dangles, || {
        format!("{open:?} have no result at the end")
    })
}

/// Roles alternate; the results of all calls come first in the next message, each once; no block is
/// empty, and no reply ends in reasoning.
pub fn anthropic(body: &Value) -> Result<(), String> {
    let messages = list(&body["messages"]);
    let mut open: Vec<&str> = Vec::new();
    let ids = |message: &'_ Value, kind: &str, key: &str| -> Vec<String> {
        let blocks = list(&message["content"]).iter();
        let blocks = blocks.filter(|block| block["type"] == kind);
        blocks
            .filter_map(|block| block[key].as_str().map(str::to_owned))
            .collect()
    };
    for (index, message) in messages.iter().enumerate() {
        let role = if index % 2 == 0 { "user" } else { "assistant" };
        ensure(message["role"] == role, || format!("{index}: not {role}"))?;
        let blocks = list(&message["content"]);
        ensure(!blocks.is_empty(), || format!("{index}: an empty message"))?;
        for block in blocks {
            let words = block["text"].as_str();
            ensure(words.is_none_or(|words| !words.trim().is_empty()), || {
                format!("{index}: an empty block")
            })?;
        }
        let results = ids(message, "tool_result", "tool_use_id");
        ensure(results == open, || {
            format!("{index}: results {results:?} for {open:?}")
        })?;
        let first = blocks.iter().take(results.len());
        ensure(
            first.clone().all(|block| block["type"] == "tool_result"),
            || format!("{index}: results do not come first"),
        )?;
        open = list(&message["content"])
            .iter()
            .filter(|block| block["type"] == "tool_use")
            .filter_map(|block| block["id"].as_str())
            .collect();
        let mut once = open.clone();
        once.sort_unstable();
        once.dedup();
        ensure(once.len() == open.len(), || {
            format!("{index}: one id twice")
        })?;
        let last = blocks.last().and_then(|block| block["type"].as_str());
        let ends_in_thought = matches!(last, Some("thinking" | "redacted_thinking"));
        ensure(!ends_in_thought, || format!("{index}: ends in reasoning"))?;
    }
    ensure(open.is_empty(), || {
        format!("{open:?} have no result at the end")
    })
}

/// As many responses as calls, in their order, in the content behind them; the first call of a
/// step is signed; no content is empty.
pub fn gemini(body: &Value) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    for (index, content) in list(&body["contents"]).iter().enumerate() {
        let parts = list(&content["parts"]);
        ensure(!parts.is_empty(), || format!("{index}: an empty content"))?;
        ensure(parts.iter().all(|part| part["text"] != ""), || {
            format!("{index}: an empty text")
        })?;
        let answered: Vec<&str> = parts
            .iter()
            .filter_map(|part| part["functionResponse"]["name"].as_str())
            .collect();
        ensure(answered == open, || {
            format!("{index}: responses {answered:?} for {open:?}")
        })?;
        let calls: Vec<&Value> = parts
            .iter()
            .filter(|part| part["functionCall"].is_object())
            .collect();
        let signed = calls
            .first()
            .is_none_or(|call| call["thoughtSignature"].is_string());
        ensure(signed, || format!("{index}: the first call is not signed"))?;
        open = calls
            .iter()
            .filter_map(|call| call["functionCall"]["name"].as_str())
            .collect();
    }
    ensure(open.is_empty(), || {
        format!("{open:?} have no response at the end")
    })
}

//! JSON, laid out to be read. Every token stays as it was written: numbers keep their digits and
//! keys their order.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use super::{Body, Reading, seen};
use crate::page::{Hidden, Note};

/// One step to the right.
const STEP: usize = 2;
/// The deepest step: what stands deeper is not moved further.
const STEPS_LIMIT: usize = 32;

pub(super) fn read(text: &str, limit_bytes: usize) -> Reading {
    let mut hidden = Hidden::default();
    let text = seen(text, &mut hidden);
    let is_whole = serde_json::from_str::<IgnoredAny>(&text).is_ok();
    let laid_out = if is_whole {
        lay_out(&text, limit_bytes)
    } else {
        text
    };
    let mut notes = Vec::new();
    if !is_whole {
        notes.push(Note::NotWellFormed { format: "JSON" });
    }
    let fence = if is_whole { "json" } else { "" };
    Reading {
        body: Body::Plain {
            markdown: fenced(fence, &laid_out),
            text: laid_out,
            not_evidence: Vec::new(),
        },
        hidden,
        notes,
        ..Reading::default()
    }
}

fn fenced(language: &str, text: &str) -> String {
    // Backticks in JSON stand in strings, which hold no line break; three at a line's start can't
    // occur in what is well formed.
    format!("```{language}\n{}\n```", text.trim_end())
}

/// Writes well-formed JSON with one value a line, a little further than the limit at most.
fn lay_out(text: &str, limit_bytes: usize) -> String {
    let mut out = String::with_capacity(text.len().min(limit_bytes));
    let mut depth = 0usize;
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        if out.len() > limit_bytes {
            break;
        }
        let (token, after) = rest.split_at(token_length(rest, first));
        let after = after.trim_start();
        match first {
            '{' | '[' => {
                out.push(first);
                if after.starts_with(['}', ']']) {
                    out.push_str(&after[..1]);
                    rest = after[1..].trim_start();
                    continue;
                }
                depth += 1;
                new_line(&mut out, depth);
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push(first);
            }
            ',' => {
                out.push(',');
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ => out.push_str(&readable(token)),
        }
        rest = after;
    }
    out
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    for _ in 0..depth.min(STEPS_LIMIT) * STEP {
        out.push(' ');
    }
}

/// How many bytes the token has that begins here.
fn token_length(rest: &str, first: char) -> usize {
    match first {
        '"' => {
            let mut is_escaped = false;
            for (at, letter) in rest.char_indices().skip(1) {
                match letter {
                    _ if is_escaped => is_escaped = false,
                    '\\' => is_escaped = true,
                    '"' => return at + 1,
                    _ => {}
                }
            }
            rest.len()
        }
        '{' | '}' | '[' | ']' | ',' | ':' => 1,
        _ => rest
            .find(|letter: char| letter.is_ascii_whitespace() || "{}[],:".contains(letter))
            .unwrap_or(rest.len()),
    }
}

/// A string with its letters written out, so that its words can be quoted; a token that is no
/// string, or whose letters would act on a screen, as it is.
fn readable(token: &str) -> Cow<'_, str> {
    if !token.contains("\\u") {
        return Cow::Borrowed(token);
    }
    let Ok(words) = serde_json::from_str::<String>(token) else {
        return Cow::Borrowed(token);
    };
    if words.chars().any(|letter| !crate::words::is_seen(letter)) {
        return Cow::Borrowed(token);
    }
    serde_json::to_string(&words).map_or(Cow::Borrowed(token), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn tokens_stay_as_they_were_written() {
        let text = r#"{"b":1.10,"a":[1e400,12345678901234567890123,{}, [ ] ],"s":"a\"b, {c}","u":"caf\u00e9","hid":"\u202e"}"#;
        expect![[r#"
            {
              "b": 1.10,
              "a": [
                1e400,
                12345678901234567890123,
                {},
                []
              ],
              "s": "a\"b, {c}",
              "u": "café",
              "hid": "\u202e"
            }"#]]
        .assert_eq(&lay_out(text, 10_000));
    }

    #[test]
    fn a_deep_value_does_not_grow_without_end() {
        let deep = format!("{}{}", "[1,".repeat(50_000), "1]".repeat(50_000));
        let laid_out = lay_out(&deep, 1_000_000);
        assert!(laid_out.len() < 1_000_100, "{}", laid_out.len());
    }

    #[test]
    fn what_is_not_well_formed_is_shown_as_it_is() {
        let reading = read("{\"a\": 1,}", 1_000);
        assert_eq!(reading.notes, [Note::NotWellFormed { format: "JSON" }]);
        let Body::Plain { text, .. } = reading.body else {
            panic!("JSON has no blocks");
        };
        assert_eq!(text, "{\"a\": 1,}");
    }
}

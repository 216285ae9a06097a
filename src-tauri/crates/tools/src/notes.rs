//! `pin_note`: what the model keeps in its view, whatever is taken out of it.

use std::sync::Arc;

use longrein_core::run::NOTES_LIMIT;
use longrein_protocol::{Effect, ToolSpec};
use longrein_runtime::ports::{Fact, Tool, ToolCall, ToolError, ToolOutput};
use serde::Deserialize;
use serde_json::json;

use crate::error;
use crate::tool::{Blocking, arguments, spec};

/// The longest note, in characters.
const NOTE_CHARS: usize = 300;

pub(crate) fn pin_note() -> Arc<dyn Tool> {
    let properties = json!({
        "text": {
            "type": "string", "minLength": 1, "maxLength": NOTE_CHARS,
            "description": "The note, in one line.",
        },
        "unpin": {
            "type": "string", "pattern": "^N[1-9][0-9]*$",
            "description": "The id of a note that no longer holds, like N2; with `text` it is replaced.",
        },
    });
    let description = format!(
        "Keeps one line in your view however long the work takes: a constraint, a choice or a fact \
         that the rest depends on and that the plan does not say. At most {NOTES_LIMIT} at a time; \
         unpin what no longer holds. The person's words, the plan, what you wrote and sources stay \
         in view without it."
    );
    let spec = spec("pin_note", &description, properties, &[]);
    Blocking::tool(
        ToolSpec {
            effect: Effect::Workspace,
            ..spec
        },
        run,
    )
}

#[derive(Deserialize)]
struct PinNote {
    text: Option<String>,
    unpin: Option<String>,
}

fn run(call: &ToolCall) -> Result<ToolOutput, ToolError> {
    let PinNote { text, unpin } = arguments(call)?;
    let notes = &call.context.notes;
    let mut facts = Vec::new();
    let mut told = Vec::new();
    if let Some(id) = &unpin {
        let number = id.strip_prefix('N').and_then(|digits| digits.parse().ok());
        let note = notes.iter().find(|note| Some(note.number) == number);
        let Some(note) = note else {
            let ids: Vec<String> = notes
                .iter()
                .map(|note| format!("N{}", note.number))
                .collect();
            let known = match ids.is_empty() {
                true => "nothing is pinned".to_owned(),
                false => format!("pinned are {}", ids.join(", ")),
            };
            return Err(error::not_found(format!("there is no note {id}; {known}")));
        };
        facts.push(Fact::Unpin(note.number));
        told.push(format!("{id} is no longer pinned"));
    }
    if let Some(text) = &text {
        let words: Vec<&str> = text.split_whitespace().collect();
        if words.is_empty() {
            return Err(error::invalid("the note has no words"));
        }
        if notes.len() - facts.len() >= NOTES_LIMIT {
            return Err(error::invalid(format!(
                "{NOTES_LIMIT} notes are pinned, which is the most; unpin one that no longer holds"
            )));
        }
        facts.push(Fact::Pin(words.join(" ")));
        told.push("the note is pinned".to_owned());
    }
    if facts.is_empty() {
        return Err(error::invalid("give `text`, `unpin` or both"));
    }
    let outcome = told.join("; ");
    Ok(ToolOutput {
        facts,
        ..ToolOutput::text(format!("Done: {outcome}."), outcome)
    })
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use longrein_protocol::source::Note;

    use super::*;
    use crate::testing::{call, context, run, told};

    async fn pin(pinned: u32, arguments: serde_json::Value) -> Result<ToolOutput, ToolError> {
        let folder = tempfile::tempdir().unwrap();
        let note = |number| Note {
            number,
            text: "Metric units.".to_owned(),
        };
        let mut context = context(folder.path());
        context.notes = (1..=pinned).map(note).collect();
        run(&pin_note(), call(context, arguments)).await
    }

    #[tokio::test]
    async fn a_note_is_pinned_replaced_and_taken_away_within_a_limit() {
        let output = pin(1, json!({"text": "No \n water.", "unpin": "N1"}))
            .await
            .unwrap();
        assert!(
            matches!(&output.facts[..], [Fact::Unpin(1), Fact::Pin(text)] if text == "No water.")
        );
        let limit = NOTES_LIMIT as u32;
        assert!(
            pin(limit, json!({"text": "x", "unpin": "N2"}))
                .await
                .is_ok()
        );
        let told = [
            told(pin(0, json!({"text": "Metric units."})).await),
            told(pin(limit, json!({"text": "One more."})).await),
            told(pin(2, json!({"unpin": "N7"})).await),
            told(pin(0, json!({"unpin": "N1"})).await),
            told(pin(0, json!({"text": "  "})).await),
            told(pin(0, json!({})).await),
        ];
        expect![[r#"
            Done: the note is pinned.
            invalid_arguments: 20 notes are pinned, which is the most; unpin one that no longer holds
            not_found: there is no note N7; pinned are N1, N2
            not_found: there is no note N1; nothing is pinned
            invalid_arguments: the note has no words
            invalid_arguments: give `text`, `unpin` or both"#]].assert_eq(&told.join("\n"));
    }
}

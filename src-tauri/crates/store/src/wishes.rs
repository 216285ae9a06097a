//! What a person says is written before a driver sees it: a secret in it is masked here, at the
//! one place that every wish passes, as a driver masks what becomes an event.

use longrein_keys::{Known, Masker};
use longrein_protocol::agent::PolicyRule;
use longrein_protocol::question::Reply;
use longrein_protocol::wish::Wish;
use serde_json::Value;

/// The wish without any secret that this process knows. As many asterisks stand in the place of a
/// secret as it had bytes.
pub(crate) fn masked(mut wish: Wish) -> Wish {
    let masker = Known::of_process().masker();
    if !masker.is_empty() {
        mask(&masker, &mut wish);
    }
    wish
}

fn mask(masker: &Masker, wish: &mut Wish) {
    match wish {
        Wish::Say { text } | Wish::Answer { text, .. } => words(masker, text),
        Wish::Give { text, attachments } => {
            words(masker, text);
            for media in attachments {
                words(masker, &mut media.name);
            }
        }
        Wish::Approve { edit, always, .. } => {
            edit.iter_mut().for_each(|edit| words(masker, edit));
            // In a rule an asterisk stands for any text: masked, it would allow more than was said.
            // So no rule is made, and the approval holds for this action alone.
            always.take_if(|always| always.rules.iter().any(|rule| holds(masker, rule)));
        }
        Wish::Deny { reason, .. } => words(masker, reason),
        Wish::Settle { result, .. } => result.iter_mut().for_each(|text| words(masker, text)),
        Wish::Accept { note, .. } => words(masker, note),
        Wish::Reply { answer, .. } => {
            if let Reply::Given { values: given } = answer {
                given.values_mut().for_each(|value| values(masker, value));
            }
        }
        // Ids, numbers and limits.
        Wish::Cancel | Wish::Pause | Wish::Resume | Wish::Raise { .. } | Wish::Undo { .. } => {}
    }
}

/// Whether a secret stands in a rule.
fn holds(masker: &Masker, rule: &PolicyRule) -> bool {
    let named = [&rule.tool, &rule.path, &rule.host, &rule.command];
    let mut told = named
        .into_iter()
        .flatten()
        .chain(rule.args.keys())
        .chain(rule.args.values());
    told.any(|text| masker.finds(text.as_bytes()))
}

/// The texts of a value. Its names are those of the form.
fn values(masker: &Masker, value: &mut Value) {
    match value {
        Value::String(text) => words(masker, text),
        Value::Array(list) => list.iter_mut().for_each(|value| values(masker, value)),
        Value::Object(fields) => fields.values_mut().for_each(|value| values(masker, value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn words(masker: &Masker, text: &mut String) {
    masker.text(text);
}

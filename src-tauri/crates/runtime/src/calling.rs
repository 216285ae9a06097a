//! How a model's call becomes an action: of the tool that it names, or of the one that it calls
//! through `call_tool`. Whatever decides, counts, shows or records sees the tool itself.

use longrein_core::run::PendingCall;
use longrein_protocol::event::{ActionProposed, ActionRejected, ToolsFound};
use longrein_protocol::gate::Actor;
use longrein_protocol::tool::CALL_TOOL;
use longrein_protocol::{ActionId, Body, ToolSpec};
use serde_json::Value;

use crate::driver::{DriveError, Driver};
use crate::effects::parse_arguments;
use crate::wire;
use crate::world::{BadCall, ToolBox};

/// The most bytes of a schema that a model is told after a call that did not fit.
const SCHEMA_BYTES: usize = 2_000;

/// A call that can be an action.
pub(crate) struct Calling {
    pub(crate) spec: ToolSpec,
    /// The arguments, where they stand inside those of another call.
    inner: Option<String>,
}

impl Driver {
    pub(crate) async fn propose(&mut self, call: PendingCall) -> Result<(), DriveError> {
        let action = ActionId::from_random(self.ports.chance.random());
        let text = wire::body_text(&*self.ports.log, &self.body_at_hand(&call.arguments)).await?;
        let checked = self.checked_call(&call.name, &text);
        let Calling { spec, inner } = match checked {
            Ok(calling) => calling,
            Err(error) => {
                return self.record(ActionRejected {
                    action,
                    call: call.call,
                    tool: call.name,
                    arguments: call.arguments,
                    error: error.to_string(),
                    class: error.class(),
                    within: None,
                });
            }
        };
        self.meet(&spec)?;
        let arguments = match inner {
            Some(inner) => {
                let (body, blob) = Body::of(inner);
                self.keep(blob);
                body
            }
            // What the harness wrote is in no response that keeps it.
            None if call.by == Actor::Harness => {
                let (body, blob) = Body::of(text);
                self.keep(blob);
                body
            }
            None => call.arguments,
        };
        self.record(ActionProposed {
            action,
            call: call.call,
            tool: spec.name,
            arguments,
            effect: spec.effect,
            repeat: spec.repeat,
            by: call.by,
            undoes: None,
            within: None,
        })
    }

    /// What the gate decides by is on record before it decides: the definition of a tool that stands
    /// in no request.
    pub(crate) fn meet(&mut self, spec: &ToolSpec) -> Result<(), DriveError> {
        if self.run.tool(&spec.name) == Some(spec) {
            return Ok(());
        }
        let tools = vec![spec.clone()];
        self.record(ToolsFound { tools })
    }

    /// The tool that a call is of, by its name on the wire, or why the call can't be an action.
    pub(crate) fn checked_call(&self, called: &str, text: &str) -> Result<Calling, BadCall> {
        let nothing = ToolBox::default();
        let tools = self.tools.as_deref().unwrap_or(&nothing);
        let (name, arguments, inner) = match tools.by_wire_name(called) {
            Some(spec) if spec.name == CALL_TOOL => {
                let (name, arguments) = taken_out(&parse_arguments(text)?)?;
                let name = tools.wire_name_of(&name);
                let inner = arguments.to_string();
                (name, arguments, Some(inner))
            }
            Some(_) => (called.to_owned(), parse_arguments(text)?, None),
            None => return Err(tools.unknown(called)),
        };
        let spec = tools.by_wire_name(&name);
        let Some(spec) = spec.filter(|spec| spec.name != CALL_TOOL) else {
            return Err(tools.unknown(&name));
        };
        let fits = tools.check(&spec.name, &arguments);
        let spec = spec.clone();
        match fits {
            // The definition stands in no request, so what was forgotten of it is told again.
            Err(BadCall::Schema(wrong)) if inner.is_some() => {
                Err(BadCall::Schema(format!("{wrong}. {}", takes(&spec))))
            }
            Err(error) => Err(error),
            Ok(()) => Ok(Calling { spec, inner }),
        }
    }

    /// Records what found tools are from now on, where that is not what the log says.
    pub(crate) fn found_anew(&mut self) -> Result<(), DriveError> {
        let Some(now) = self.tools.clone() else {
            return Ok(());
        };
        let found = self.run.found.iter();
        let changed = found.filter_map(|known| {
            let spec = now.by_wire_name(&known.wire_name())?;
            (spec != known).then(|| spec.clone())
        });
        let tools: Vec<ToolSpec> = changed.collect();
        if tools.is_empty() {
            return Ok(());
        }
        self.record(ToolsFound { tools })
    }
}

/// What a tool takes, in one line.
fn takes(spec: &ToolSpec) -> String {
    let schema = spec.schema.to_string();
    let cut = schema.floor_char_boundary(SCHEMA_BYTES);
    let more = if cut < schema.len() { "…" } else { "" };
    format!("{} takes {}{more}", spec.wire_name(), &schema[..cut])
}

/// The name and the arguments of the call that `call_tool` was given. Models write the arguments as
/// an object or as its text, and the name with a dot or as on the wire.
fn taken_out(outer: &Value) -> Result<(String, Value), BadCall> {
    let name = outer.get("name").and_then(Value::as_str);
    let name = name
        .filter(|name| !name.is_empty())
        .ok_or(BadCall::NoName)?;
    let arguments = match outer.get("arguments") {
        None | Some(Value::Null) => Value::Object(serde_json::Map::new()),
        Some(Value::String(text)) => parse_arguments(text)?,
        Some(object @ Value::Object(_)) => object.clone(),
        Some(_) => return Err(BadCall::NotAnObject),
    };
    Ok((name.to_owned(), arguments))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_is_taken_out_however_a_model_writes_it() {
        let object = json!({"name": "lab__weigh", "arguments": {"grams": 3}});
        let text = json!({"name": "lab__weigh", "arguments": "{\"grams\": 3}"});
        for outer in [object, text] {
            let (name, arguments) = taken_out(&outer).unwrap();
            assert_eq!(
                (name.as_str(), arguments),
                ("lab__weigh", json!({"grams": 3}))
            );
        }
        let (_, nothing) = taken_out(&json!({"name": "lab.weigh"})).unwrap();
        assert_eq!(nothing, json!({}));
    }

    #[test]
    fn a_call_without_a_name_or_with_a_list_is_none() {
        assert!(matches!(taken_out(&json!({})), Err(BadCall::NoName)));
        let listed = json!({"name": "lab.weigh", "arguments": [3]});
        assert!(matches!(taken_out(&listed), Err(BadCall::NotAnObject)));
        let broken = json!({"name": "lab.weigh", "arguments": "{"});
        assert!(matches!(taken_out(&broken), Err(BadCall::NotJson(_))));
    }
}

//! Finding out what became of an action, and taking one back.

use std::sync::Arc;
use std::time::Duration;

use longrein_core::policy::Onward;
use longrein_core::run::QUERY_ATTEMPTS;
use longrein_protocol::agent::Decision;
use longrein_protocol::block::Trust;
use longrein_protocol::event::{
    ActionCompensated, ActionProposed, ActionQueried, ActionReconciled, Payload, StatusAnswer,
    Verdict,
};
use longrein_protocol::gate::{ActionFacts, Actor};
use longrein_protocol::{ActionId, Body, Millis};
use serde_json::{Map, Value, json};

use crate::driver::{DriveError, Driver, Message};
use crate::effects::{Limit, idempotency_key, within};
use crate::history;
use crate::ports::{Beside, CancellationToken, NobodyThere, Part, ToolCall, ToolError, ToolOutput};

/// The wait before a status tool that could not say is asked again; four times as long each time.
const QUERY_BASE: Duration = Duration::from_secs(1);

/// How the question to a status tool ended.
#[derive(Debug)]
pub(crate) struct QueryEnd {
    pub action: ActionId,
    result: Result<ToolOutput, ToolError>,
}

/// The name of that question among what is in flight.
pub(crate) fn query_name(action: &ActionId) -> String {
    format!("query {action}")
}

impl Driver {
    /// Whether the status tool is being asked about an action.
    pub(crate) fn is_asked(&self, action: &ActionId) -> bool {
        self.in_flight.contains_key(&query_name(action))
    }

    /// Asks the status tool of an action what became of it. That only reads, so it needs no event
    /// before it.
    pub(crate) async fn query(&mut self, id: &ActionId) -> Result<(), DriveError> {
        let Some(action) = self.run.action(id).cloned() else {
            return Ok(());
        };
        self.commit().await?;
        let arguments = self.arguments(&action.arguments).await?;
        let recovery = self.run.tool(&action.tool).map(|spec| &spec.recovery);
        let name = recovery.and_then(|recovery| recovery.status_tool.clone());
        let name = name.unwrap_or_default();
        let key = idempotency_key(self.run.id, id);
        let spec = self
            .run
            .tool(&name)
            .filter(|spec| spec.effect == longrein_protocol::Effect::Read);
        let tool = self
            .tools
            .as_ref()
            .and_then(|tools| tools.tool(&name))
            .cloned();
        let (Some(spec), Some(tool)) = (spec, tool) else {
            let gone = ToolError::uncertain(format!("There is no reading tool {name}."));
            return self.queried(QueryEnd {
                action: id.clone(),
                result: Err(gone),
            });
        };
        let timeout_ms = spec.timeout_ms;
        let arguments = status_arguments(&spec.schema, &arguments, &key);
        let onward = Arc::new(Onward::of(&self.run, &name, spec.effect, &arguments));
        let cancel = CancellationToken::new();
        self.in_flight.insert(query_name(id), cancel.clone());
        let call = ToolCall {
            run: self.fence.tree,
            action: id.clone(),
            key,
            attempt: action.queries + 1,
            onward,
            arguments,
            facts: ActionFacts::default(),
            context: self.run_context(),
            person: Arc::new(NobodyThere),
            cancel,
            beside: Beside::default(),
        };
        let (clock, sender, action) = (self.ports.clock.clone(), self.sender(), id.clone());
        tokio::spawn(async move {
            let result = within(&*clock, &name, Limit::of(timeout_ms), &*tool, call).await;
            // A driver that is gone asks again.
            let end = QueryEnd { action, result };
            let _ = sender.send(Message::Queried(Box::new(end))).await;
        });
        Ok(())
    }

    pub(crate) fn queried(&mut self, end: QueryEnd) -> Result<(), DriveError> {
        self.in_flight.remove(&query_name(&end.action));
        let Some(action) = self.run.action(&end.action).cloned() else {
            return Ok(());
        };
        if action.stage != longrein_core::run::ActionStage::Lost {
            return Ok(());
        }
        let spec = self.run.tool(&action.tool).cloned();
        let recovery = spec.map(|spec| spec.recovery).unwrap_or_default();
        let status = self.run.tool(&recovery.status_tool.unwrap_or_default());
        let untrusted = status.is_none_or(|status| status.untrusted);
        let (mut said, answer) = match end.result {
            Ok(output) => {
                let text = text_of(output);
                let answer = status_answer(&text, recovery.status_pointer.as_deref());
                (text, answer)
            }
            Err(error) => (error.message, StatusAnswer::Unknown),
        };
        self.ports.world.masker().text(&mut said);
        let attempt = action.queries + 1;
        let wait = QUERY_BASE * 4u32.pow(attempt.min(QUERY_ATTEMPTS) - 1);
        let again_at: Millis = self.ports.clock.now() + wait.as_millis() as Millis;
        let again = answer == StatusAnswer::Unknown && attempt < QUERY_ATTEMPTS;
        let trust = if untrusted {
            Trust::Untrusted
        } else {
            Trust::Trusted
        };
        let (said, blob) = Body::of(said);
        self.keep(blob);
        self.record(ActionQueried {
            action: end.action.clone(),
            attempt,
            answer,
            said: said.clone(),
            trust,
            again_at: again.then_some(again_at),
        })?;
        if answer != StatusAnswer::Done {
            return Ok(());
        }
        self.record(ActionReconciled {
            action: end.action.clone(),
            verdict: Verdict::Happened,
            result: Some(said),
            trust,
            by: None,
        })?;
        self.compensated(&action)
    }

    /// Proposes the action that takes another one back, when its tool names one for that, it left
    /// a receipt and was not taken back before.
    pub(crate) async fn undo(&mut self, id: ActionId) -> Result<(), DriveError> {
        let Some(run) = self.run.id else {
            return Ok(());
        };
        let (mut tool, mut receipt) = (None, None);
        // The action that takes it back, or has. One that is not on disk yet is among the open.
        let mut open = self.run.actions.iter();
        let mut undoing = open
            .find(|action| action.undoes.as_ref() == Some(&id))
            .map(|action| action.id.clone());
        let damage =
            history::each_event(&*self.ports.log, run, &mut |event| match &event.payload {
                Payload::ActionProposed(proposed) if proposed.action == id => {
                    tool = Some(proposed.tool.clone());
                }
                Payload::ActionProposed(proposed) if proposed.undoes.as_ref() == Some(&id) => {
                    undoing = Some(proposed.action.clone());
                }
                Payload::ActionFinished(finished) if finished.action == id => {
                    let well = finished.error.is_none();
                    receipt = finished.receipt.clone().filter(|_| well);
                }
                payload if undoing.as_ref().is_some_and(|by| did_nothing(payload, by)) => {
                    undoing = None;
                }
                _ => {}
            })
            .await?;
        let recovery = tool
            .and_then(|tool| self.run.tool(&tool))
            .map(|spec| spec.recovery.clone())
            .unwrap_or_default();
        let (Some(name), Some(argument)) = (recovery.undo_tool, recovery.undo_argument) else {
            return Ok(());
        };
        let (Some(spec), Some(receipt), None, None) =
            (self.run.tool(&name), receipt, damage, undoing)
        else {
            return Ok(());
        };
        let (effect, repeat) = (spec.effect, spec.repeat);
        let arguments = json!({ argument: receipt }).to_string();
        let (arguments, blob) = Body::of(arguments);
        self.keep(blob);
        self.record(ActionProposed {
            action: ActionId::from_random(self.ports.chance.random()),
            call: String::new(),
            tool: name,
            arguments,
            effect,
            repeat,
            by: Actor::Person,
            within: None,
            undoes: Some(id),
        })
    }

    /// Records that an action was taken back, when the one that ended was for that.
    pub(crate) fn compensated(
        &mut self,
        ended: &longrein_core::run::Action,
    ) -> Result<(), DriveError> {
        match ended.undoes.clone() {
            Some(action) => self.record(ActionCompensated {
                action,
                undone_by: ended.id.clone(),
            }),
            None => Ok(()),
        }
    }
}

/// Whether an event says that an action ended without an effect, so that it may be tried anew.
fn did_nothing(payload: &Payload, action: &ActionId) -> bool {
    match payload {
        Payload::ActionFinished(finished) => finished.action == *action && finished.error.is_some(),
        Payload::ActionDecided(decided) => {
            decided.action == *action && decided.decision == Decision::Deny
        }
        Payload::ActionReconciled(reconciled) => {
            reconciled.action == *action && reconciled.verdict == Verdict::NotHappened
        }
        _ => false,
    }
}

/// The action's arguments that the status tool knows, and the key where it takes one.
fn status_arguments(schema: &Value, arguments: &Value, key: &str) -> Value {
    let mut taken = Map::new();
    let known = schema.get("properties").and_then(Value::as_object);
    for name in known.into_iter().flat_map(Map::keys) {
        match arguments.get(name) {
            Some(value) => taken.insert(name.clone(), value.clone()),
            None if name == "key" => taken.insert(name.clone(), key.into()),
            None => None,
        };
    }
    Value::Object(taken)
}

/// What a status tool's answer says.
fn status_answer(text: &str, pointer: Option<&str>) -> StatusAnswer {
    let parsed: Option<Value> = serde_json::from_str(text).ok();
    let word = match (parsed, pointer) {
        (Some(value), Some(pointer)) => value
            .pointer(pointer)
            .and_then(|found| found.as_str().map(str::to_owned)),
        (Some(Value::String(word)), None) => Some(word),
        (_, None) => Some(text.to_owned()),
        (None, Some(_)) => None,
    };
    match word.as_deref().map(str::trim) {
        Some("done") => StatusAnswer::Done,
        Some("not_done") => StatusAnswer::NotDone,
        _ => StatusAnswer::Unknown,
    }
}

fn text_of(output: ToolOutput) -> String {
    output.parts.into_iter().map(Part::into_text).collect()
}

#[cfg(test)]
mod tests {
    use longrein_protocol::event::StatusAnswer;
    use serde_json::json;

    use super::{status_answer, status_arguments};

    #[test]
    fn only_two_words_of_a_status_tool_are_believed() {
        let cases = [
            ("done", None, StatusAnswer::Done),
            (" not_done\n", None, StatusAnswer::NotDone),
            ("\"done\"", None, StatusAnswer::Done),
            ("it is done", None, StatusAnswer::Unknown),
            ("{\"state\":\"done\"}", Some("/state"), StatusAnswer::Done),
            (
                "{\"state\":\"queued\"}",
                Some("/state"),
                StatusAnswer::Unknown,
            ),
            ("done", Some("/state"), StatusAnswer::Unknown),
            ("{\"state\":true}", Some("/state"), StatusAnswer::Unknown),
        ];
        for (text, pointer, expected) in cases {
            assert_eq!(status_answer(text, pointer), expected, "{text} {pointer:?}");
        }
    }

    #[test]
    fn a_status_tool_is_given_what_its_schema_names_and_the_key() {
        let schema = json!({"properties": {"id": {}, "key": {}, "other": {}}});
        let given = status_arguments(&schema, &json!({"id": 7, "text": "x"}), "k1");
        assert_eq!(given, json!({"id": 7, "key": "k1"}));
    }
}

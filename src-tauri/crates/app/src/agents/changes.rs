//! Changes to an agent that a person names key by key, as they would write them into its file.

use longrein_core::agent_file;
use longrein_protocol::AgentSpec;
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Key, Table, Value};

use crate::error::AppError;

/// What is other in an agent.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct AgentChanges {
    /// Keys with their new values: `model.temperature` and `0.2`. A value that is no TOML is taken as
    /// a text.
    pub set: Vec<(String, String)>,
    /// Other instructions.
    pub instructions: Option<String>,
    /// Rules of the policy beside those that there are: each as JSON, or as an inline table of TOML.
    pub rules: Vec<String>,
}

impl AgentChanges {
    /// Whether nothing is other.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The agent with these changes. They are checked as its file is.
    ///
    /// # Errors
    /// A key or value that an agent's file can't have, with the remedy.
    pub fn made_to(&self, agent: &AgentSpec) -> Result<AgentSpec, AppError> {
        let written = agent_file::to_toml(agent);
        let mut document: DocumentMut = written.parse().map_err(|error| {
            AppError::usage(format!("The agent can't be changed: {error}."), "")
        })?;
        for (key, value) in &self.set {
            set(document.as_table_mut(), key, value_of(value))?;
        }
        if let Some(instructions) = &self.instructions {
            document["instructions"] = Item::Value(Value::from(instructions.as_str()));
        }
        for rule in &self.rules {
            add_rule(&mut document, rule)?;
        }
        agent_file::parse(&document.to_string(), &agent.name).map_err(|problems| {
            let worst = problems
                .iter()
                .find(|problem| problem.severity == agent_file::Severity::Error);
            let (message, remedy) = worst.map_or((String::new(), String::new()), |problem| {
                (problem.message.clone(), problem.remedy.clone())
            });
            AppError::usage(format!("The agent can't be changed so: {message}"), remedy)
        })
    }
}

/// A value as it is written in TOML; a text where it is none.
fn value_of(text: &str) -> Value {
    text.parse().unwrap_or_else(|_| Value::from(text))
}

fn set(root: &mut Table, key: &str, value: Value) -> Result<(), AppError> {
    let unusable = || {
        AppError::usage(
            format!("“{key}” is not a key of an agent's file."),
            "Write it as in the file, with dots between its parts: model.temperature, or tools.\"slack.post\".decision",
        )
    };
    let path = Key::parse(key).map_err(|_| unusable())?;
    let Some((last, above)) = path.split_last() else {
        return Err(unusable());
    };
    let mut table = root;
    for part in above {
        let item = table
            .entry_format(part)
            .or_insert_with(|| Item::Table(Table::new()));
        table = item.as_table_mut().ok_or_else(unusable)?;
    }
    table.insert(last.get(), Item::Value(value));
    Ok(())
}

fn add_rule(document: &mut DocumentMut, rule: &str) -> Result<(), AppError> {
    let unusable = || {
        AppError::usage(
            format!("“{rule}” is not a rule."),
            "Write it as in the agent's file: { tool = \"write_file\", decision = \"ask\" }",
        )
    };
    let table = match serde_json::from_str::<serde_json::Value>(rule) {
        Ok(json) => from_json(&json).ok_or_else(unusable)?,
        Err(_) => rule.parse::<Value>().map_err(|_| unusable())?,
    };
    let Value::InlineTable(table) = table else {
        return Err(unusable());
    };
    let policy = document
        .entry("policy")
        .or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
    match policy {
        Item::ArrayOfTables(rules) => rules.push(table.into_table()),
        Item::Value(Value::Array(rules)) => rules.push(Value::InlineTable(table)),
        _ => return Err(unusable()),
    }
    Ok(())
}

/// TOML has no null.
fn from_json(json: &serde_json::Value) -> Option<Value> {
    use serde_json::Value as Json;
    Some(match json {
        Json::Null => return None,
        Json::Bool(yes) => Value::from(*yes),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => Value::from(whole),
            None => Value::from(number.as_f64()?),
        },
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => {
            let items: Option<Array> = items.iter().map(from_json).collect();
            Value::Array(items?)
        }
        Json::Object(fields) => {
            let mut table = InlineTable::new();
            for (name, value) in fields {
                table.insert(name, from_json(value)?);
            }
            Value::InlineTable(table)
        }
    })
}

#[cfg(test)]
mod tests {
    use longrein_protocol::agent::Decision;

    use super::*;

    fn agent() -> AgentSpec {
        let text = "instructions = \"Look.\"\n[tools]\nallow = [\"files\"]\n[[policy]]\ntool = \"write_file\"\ndecision = \"deny\"\n";
        agent_file::parse(text, "plain").unwrap()
    }

    fn changed(set: &[(&str, &str)]) -> Result<AgentSpec, AppError> {
        let set = set
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let changes = AgentChanges {
            set: set.collect(),
            ..AgentChanges::default()
        };
        changes.made_to(&agent())
    }

    #[test]
    fn keys_are_set_as_a_person_would_write_them_and_all_else_stays() {
        let same = AgentChanges::default().made_to(&agent()).unwrap();
        assert_eq!(same, agent());
        let keys = [
            ("budget.steps", "7"),
            ("model.temperature", "0.5"),
            ("instructions", "Look twice."),
            ("tools.\"lab.post\".decision", "ask"),
        ];
        let other = changed(&keys).unwrap();
        assert_eq!(
            (other.budget.steps, other.model.temperature),
            (7, Some(0.5))
        );
        assert_eq!(other.instructions.trim(), "Look twice.");
        assert_eq!(
            (&other.policy[0], &other.tools.allow),
            (&agent().policy[0], &agent().tools.allow)
        );
    }

    #[test]
    fn a_key_or_a_value_that_a_file_can_not_have_is_refused_with_its_remedy() {
        for (key, value) in [
            ("budget.stepz", "7"),
            ("budget.steps", "many"),
            ("", "1"),
            ("name.x", "1"),
        ] {
            let error = changed(&[(key, value)]).unwrap_err();
            assert!(!error.message.is_empty(), "{key}");
        }
    }

    #[test]
    fn rules_are_added_as_json_or_as_toml() {
        let changes = AgentChanges {
            instructions: Some("Be\nquick.".to_owned()),
            rules: vec![
                "{ tool = \"read_file\", decision = \"ask\" }".to_owned(),
                r#"{"host": "example.org", "decision": "deny"}"#.to_owned(),
            ],
            set: Vec::new(),
        };
        let other = changes.made_to(&agent()).unwrap();
        let decisions: Vec<Decision> = other.policy.iter().map(|rule| rule.decision).collect();
        assert_eq!(decisions, [Decision::Deny, Decision::Ask, Decision::Deny]);
        assert_eq!(other.instructions.trim(), "Be\nquick.");
        for rule in ["ask", "{ tool = 1 }", "{\"decision\": null}"] {
            let changes = AgentChanges {
                rules: vec![rule.to_owned()],
                ..AgentChanges::default()
            };
            assert!(changes.made_to(&agent()).is_err(), "{rule}");
        }
    }
}

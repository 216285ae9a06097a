//! Tool calls out of a stream: by index where there is one, by id where there is not.

use longrein_runtime::ports::ReplyBlock;
use serde_json::Value;

/// The most calls that one reply may have.
pub(crate) const CALL_LIMIT: usize = 128;

/// The calls that have begun, in the order in which they did.
#[derive(Default)]
pub(crate) struct Calls(Vec<Call>);

/// Why calls can't be used, in words that follow the provider's address.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum Unusable {
    /// There are more than [`CALL_LIMIT`].
    #[error("asked for more than {CALL_LIMIT} actions at once")]
    TooMany,
    /// One has arguments and no name.
    #[error("asked for an action without naming a tool")]
    Nameless,
}

#[derive(Default)]
struct Call {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

impl Calls {
    /// Whether none has begun.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes a piece of a call.
    pub fn take(&mut self, piece: &Value) -> Result<(), Unusable> {
        let text = |path: &str| {
            piece
                .pointer(path)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let index = piece.get("index").and_then(Value::as_u64);
        let (id, name) = (text("/id"), text("/function/name"));
        let call = self.call_of(index, id, name)?;
        if !id.is_empty() {
            call.id = id.to_owned();
        }
        if name.starts_with(call.name.as_str()) {
            // The first piece, or a server that repeats the name with every piece.
            call.name = name.to_owned();
        } else if !name.is_empty() && call.arguments.is_empty() {
            call.name.push_str(name);
        }
        match piece.pointer("/function/arguments") {
            Some(Value::String(more)) => call.arguments.push_str(more),
            // Some servers send the object itself instead of its text.
            Some(whole @ Value::Object(_)) => call.arguments = whole.to_string(),
            _ => {}
        }
        Ok(())
    }

    fn call_of(&mut self, index: Option<u64>, id: &str, name: &str) -> Result<&mut Call, Unusable> {
        let calls = &mut self.0;
        let found = match index {
            // The last one: some servers give every call the index 0 and only the id differs.
            Some(_) => calls.iter().rposition(|call| call.index == index),
            None if !id.is_empty() => calls.iter().rposition(|call| call.id == id),
            None => calls.len().checked_sub(1),
        };
        let fits = |call: &Call| match (index, id, name) {
            (_, id, _) if !id.is_empty() => call.id.is_empty() || call.id == id,
            // Without index and id, a second name is a second call.
            (None, _, name) if !name.is_empty() => {
                call.name.is_empty() || call.arguments.is_empty()
            }
            _ => true,
        };
        let position = match found.filter(|position| fits(&calls[*position])) {
            Some(position) => position,
            None if calls.len() == CALL_LIMIT => {
                return Err(Unusable::TooMany);
            }
            None => {
                calls.push(Call {
                    index,
                    ..Call::default()
                });
                calls.len() - 1
            }
        };
        Ok(&mut calls[position])
    }

    /// The calls as blocks, with ids as the provider gave them; some may be empty.
    pub fn finish(self) -> Result<Vec<ReplyBlock>, Unusable> {
        let mut blocks = Vec::new();
        for call in self.0 {
            if call.name.is_empty() {
                if call.arguments.is_empty() {
                    continue;
                }
                return Err(Unusable::Nameless);
            }
            blocks.push(ReplyBlock::ToolUse {
                id: call.id,
                name: call.name,
                arguments: call.arguments,
                raw: None,
            });
        }
        Ok(blocks)
    }
}

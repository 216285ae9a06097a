//! The box that commands are given to. It outlives the process, and may be lost with all that runs
//! in it; what a program calls is counted there.

use std::collections::{BTreeMap, BTreeSet};

use longrein_protocol::ActionId;
use serde_json::{Value, json};

use super::laws::Law;
use super::outside::State;

/// The command of an action, and how often that was begun anew.
pub(super) type Command = (ActionId, u32);

/// A call of a program: the tool, and its arguments.
type Call = (&'static str, Value);

/// What is in the box.
#[derive(Default)]
pub(super) struct Boxed {
    /// How often a box was lost before this one.
    lost: u32,
    commands: BTreeSet<Command>,
    /// How many calls of each program were answered.
    answered: BTreeMap<Command, u32>,
}

impl Boxed {
    /// The life of the box's agent.
    pub fn life(&self) -> String {
        format!("life {}", self.lost)
    }

    /// The box is lost with all that runs in it.
    pub fn lose(&mut self) {
        *self = Self {
            lost: self.lost + 1,
            ..Self::default()
        };
    }

    /// The box is given a command; false where it has it already.
    pub fn takes(&mut self, command: &Command) -> bool {
        self.commands.insert(command.clone())
    }

    /// The number of the next call of a program.
    pub fn next_call(&self, command: &Command) -> u32 {
        self.answered.get(command).copied().unwrap_or_default() + 1
    }

    /// A call of a program is answered.
    pub fn answered(&mut self, command: &Command) {
        *self.answered.entry(command.clone()).or_default() += 1;
    }
}

/// The file that a program writes, by itself, before it calls anything.
pub(super) fn own_file(action: &ActionId) -> String {
    format!("own file of {action}")
}

/// What a program calls next. Which program it is stands in the argument of its action.
pub(super) fn next_call(program: u64, life: u32, number: u32) -> Option<Call> {
    let tools: &[&'static str] = match program % 5 {
        2 => &["post", "once", "look", "post"],
        3 => &["keyed", "order", "write", "once", "look"],
        _ => &["look", "once", "write", "once"],
    };
    let tool = *tools.get(number as usize - 1)?;
    Some(match (tool, program % 5) {
        ("write", _) => (tool, json!({"n": number, "path": "of a program"})),
        // One program does something else each time that it is begun.
        ("once", 4) => (tool, json!({"n": number + 100 * life})),
        _ => (tool, json!({"n": number})),
    })
}

impl State {
    /// A program begins: nothing of what it wrote in an earlier life is there.
    pub fn program_begins(&mut self, action: &ActionId) {
        let own = own_file(action);
        if self.has_file(&own) {
            let how = "a program is begun anew on what it left";
            self.laws.broken(Law::FilesLaidBack, how);
        }
        self.change_file(&own);
    }

    /// A program looks at the files once a call is answered: at its own, and at the one that it had
    /// written.
    pub fn program_finds(&mut self, action: &ActionId, wrote: Option<&str>) {
        let own = own_file(action);
        for path in [Some(own.as_str()), wrote].into_iter().flatten() {
            if !self.has_file(path) {
                let how = format!("a program does not find {path}");
                self.laws.broken(Law::FilesLaidBack, how);
            }
        }
    }
}

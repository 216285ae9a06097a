//! The gate: whether an action may start. Pure: the same state and the same facts give the same
//! decision. What has to be looked up in the world is looked up by the driver, and comes in as
//! [`Looked`].
//!
//! What is absent: no check is skipped because an earlier one said no, nothing that can't be made
//! out is allowed, and no approval turns a denial into anything else.

mod checks;
mod facts;
mod hosts;
mod offers;
mod onward;
mod paths;
mod preview;
mod rules;
pub(crate) mod selector;
mod shell;
mod standing;
mod text;

use longrein_protocol::agent::{Decision, ToolGrants};
use longrein_protocol::event::ActionDecided;
use longrein_protocol::gate::{ActionFacts, Actor, Check, CheckName};
use longrein_protocol::tool::{Effect, READ_RESULT};
use serde_json::Value;

use self::selector::{Selector, selects};
use crate::run::{Action, Run};

pub use longrein_protocol::tool::LOAD_SKILL;

pub use facts::{Looked, binding, facts, urls_in};
pub use offers::offers;
pub use onward::Onward;
pub use preview::in_words;
pub use rules::is_host;
pub use standing::narrowed;

/// Tools that every agent has: they touch nothing but the run itself.
pub const ALWAYS_GRANTED: &[&str] = &[
    "update_plan",
    READ_RESULT,
    "pin_note",
    "recall",
    "read_source",
    "load_skill",
    "find_tools",
    "call_tool",
    "publish_artifact",
    "ask_person",
    "finish",
];
/// The argument of [`LOAD_SKILL`] that names the skill.
pub const SKILL_ARGUMENT: &str = "name";
/// The grant that stands for all of [`FILE_TOOLS`].
pub const FILES: &str = "files";
/// The tools that [`FILES`] stands for.
pub const FILE_TOOLS: &[&str] = &[
    "read_file",
    "write_file",
    "edit_file",
    "list_files",
    "search_files",
];

/// The tool that runs programs in a box.
pub const RUN_CODE: &str = "run_code";
/// The tools that run commands in a box.
pub const COMMAND_TOOLS: &[&str] = &["run_command", RUN_CODE];
/// The tools that come with `run_command`, for what it leaves running.
pub const JOB_TOOLS: &[&str] = &["job_output", "job_stop"];

/// Tools that say something to the harness about the run itself, or begin further programs: a
/// program can't call them.
pub const NOT_FROM_CODE: &[&str] = &[
    "ask_person",
    "call_tool",
    "delegate",
    "find_tools",
    "finish",
    "job_output",
    "job_stop",
    "load_skill",
    RUN_CODE,
    "run_command",
];
/// The most calls that programs make in one step.
pub const PROGRAM_CALLS: usize = 2_000;

/// Whether a program may call a tool.
pub fn is_callable(tool: &str) -> bool {
    !NOT_FROM_CODE.contains(&tool)
}

/// Whether an agent may run commands.
pub fn runs_commands(tools: &ToolGrants) -> bool {
    COMMAND_TOOLS.iter().any(|tool| grants(tools, tool, None))
}

/// Whether an agent is granted a tool of this effect: by its own list, and by those above it.
pub fn grants(tools: &ToolGrants, tool: &str, effect: Option<Effect>) -> bool {
    let mut lists = tools.within.iter().chain([&tools.allow]);
    lists.all(|allow| is_granted(allow, tool, effect))
}

/// Whether a list of grants covers a tool of this effect. Where its effect is not known, no
/// selector covers it.
pub fn is_granted(allow: &[String], tool: &str, effect: Option<Effect>) -> bool {
    grant_place(allow, tool, effect).is_some()
}

/// The same before anybody knows the tool's effect: whether a list may turn out to cover it.
pub fn may_be_granted(allow: &[String], tool: &str) -> bool {
    let effects = [Effect::Read, Effect::Workspace, Effect::Irreversible];
    effects
        .into_iter()
        .any(|effect| is_granted(allow, tool, Some(effect)))
}

/// Whether `server.tool`, `server.*` or a selector such as `server.@read` covers a tool.
pub fn covers(pattern: &str, tool: &str, effect: Option<Effect>) -> bool {
    match Selector::of(pattern) {
        Some(_) => effect.is_some_and(|effect| selects(pattern, tool, effect) == Some(true)),
        None => rules::is_tool(pattern, tool),
    }
}

/// The place of the first grant that covers a tool, for tools to be told in the order in which a
/// person wrote them: small models take what comes first. What every agent has comes last.
pub fn grant_place(allow: &[String], tool: &str, effect: Option<Effect>) -> Option<usize> {
    let covers = |grant: &String| match grant.as_str() {
        FILES => FILE_TOOLS.contains(&tool),
        "run_command" if JOB_TOOLS.contains(&tool) => true,
        grant => covers(grant, tool, effect),
    };
    let always = ALWAYS_GRANTED.contains(&tool).then_some(allow.len());
    allow.iter().position(covers).or(always)
}

/// Decides an action: all eight checks, in their order, all recorded; deny beats ask beats allow.
///
/// `arguments` are the effective ones. The decision holds [`ActionFacts::binding`] where it rests
/// on a person: because one has to be asked, or because one has approved exactly this.
pub fn decide(
    run: &Run,
    action: &Action,
    arguments: &Value,
    mut facts: ActionFacts,
) -> ActionDecided {
    let checks = checks::all(run, action, arguments, &facts);
    let (mut decision, mut why) = deciding(&checks);
    if decision == Decision::Ask {
        let binding = run
            .tool(&action.tool)
            .map(|spec| binding(spec, action.arguments.hash(), &facts));
        let approved = action.approved.is_some();
        if action.by == Actor::Person {
            decision = Decision::Allow;
            why = "you asked for it yourself".to_owned();
        } else if approved && action.approved == binding {
            decision = Decision::Allow;
            why = "you approved it".to_owned();
        } else if approved {
            why = format!(
                "since you approved it, its arguments, a file that it names or the tool itself \
                 has changed; {why}"
            );
        }
        facts.binding = binding;
    }
    ActionDecided {
        action: action.id.clone(),
        decision,
        why,
        checks,
        facts,
    }
}

/// What the checks say together, and the words of the one that decides. Of several that deny, the
/// first; of several that ask, the one that tells the person most; where all agree, the rules.
fn deciding(checks: &[Check]) -> (Decision, String) {
    const ASKING: &[CheckName] = &[CheckName::Taint, CheckName::Reach, CheckName::Rules];
    let strictest = checks.iter().map(|check| check.decision).max();
    // Without checks nothing is known, so nothing starts.
    let strictest = strictest.unwrap_or(Decision::Deny);
    let of = |name: CheckName| {
        let mut said = checks.iter().filter(|check| check.decision == strictest);
        said.find(|check| check.check == name)
    };
    let decider = match strictest {
        Decision::Deny => checks.iter().find(|check| check.decision == strictest),
        Decision::Ask => ASKING.iter().find_map(|name| of(*name)),
        Decision::Allow => of(CheckName::Rules),
    };
    let why = decider.map_or(String::new(), |check| check.facts.clone());
    (strictest, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_stands_where_the_first_grant_names_it_and_what_all_have_comes_last() {
        let allow = ["write_file", "files", "lab.*"].map(str::to_owned);
        let place = |tool| grant_place(&allow, tool, None);
        assert_eq!(place("write_file"), Some(0));
        assert_eq!(place("read_file"), Some(1));
        assert_eq!(place("lab.post"), Some(2));
        assert_eq!(place("finish"), Some(3));
        assert_eq!(place("delegate"), None);
    }

    #[test]
    fn a_selector_grants_by_effect_and_nothing_whose_effect_is_not_known() {
        let granted = |allow: &str, tool, effect| is_granted(&[allow.to_owned()], tool, effect);
        let (read, burn) = (Some(Effect::Read), Some(Effect::Irreversible));
        assert!(granted("lab.@read", "lab.weigh", read));
        assert!(!granted("lab.@read", "lab.burn", burn));
        assert!(!granted("lab.@read", "lab.weigh", None));
        assert!(granted("@read", "search_library", read));
        assert!(!granted("@read", "write_file", Some(Effect::Workspace)));
        assert!(may_be_granted(&["lab.@destructive".to_owned()], "lab.burn"));
        assert!(!may_be_granted(&["lab.@read".to_owned()], "arm.burn"));
    }
}

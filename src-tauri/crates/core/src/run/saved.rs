//! Saved agents as helpers: what is left of an agent's rights when another one gives it work.
//!
//! A helper may do what its own file says and the one above it may do as well. Nothing that its file
//! says widens that: not its rules, not what it says of tools, not its hosts and folders.

use longrein_protocol::agent::{
    AgentSpec, Budget, Decision, PolicyRule, SandboxSettings, SavedAgent, ToolGrants, ToolSettings,
};
use longrein_protocol::host_rule::HostRule;

/// What a saved agent is told after its own instructions.
const AS_HELPER: &str = "\
You are given this work by another agent, which sees only what you report. When you are done, call \
finish: its summary is your report. Say what you found, with the source id of each statement, and \
what you could not find.";

/// A saved agent as a helper of another.
pub(super) fn as_helper(parent: &AgentSpec, saved: &SavedAgent) -> AgentSpec {
    let own = &saved.agent;
    let mut agent = own.clone();
    agent.instructions = match own.instructions.trim() {
        "" => AS_HELPER.to_owned(),
        words => format!("{words}\n\n{AS_HELPER}"),
    };
    agent.tools = Box::new(tools(&parent.tools, &own.tools));
    agent.policy = rules(&parent.policy, &own.policy);
    agent.library.folders = match own.library.folders.as_slice() {
        [] => parent.library.folders.clone(),
        folders => beneath(&parent.library.folders, folders),
    };
    agent.sandbox = Box::new(sandbox(&parent.sandbox, &own.sandbox));
    agent.budget = Box::new(budget(&parent.budget, &own.budget));
    agent
}

/// What is said of tools is the parent's: that a tool only reads, or that its server is believed, is
/// for the one to say whom the person started.
fn tools(parent: &ToolGrants, own: &ToolGrants) -> ToolGrants {
    let mut settings = parent.settings.clone();
    for (tool, said) in &own.settings {
        let size = || ToolSettings {
            result_tokens: said.result_tokens,
            timeout_seconds: said.timeout_seconds,
            ..ToolSettings::default()
        };
        settings.entry(tool.clone()).or_insert_with(size);
    }
    let mut within = parent.within.clone();
    within.push(parent.allow.clone());
    ToolGrants {
        allow: own.allow.clone(),
        preload: own.preload.clone(),
        within,
        settings,
    }
}

/// The parent's rules, and of the helper's own those that narrow.
fn rules(parent: &[PolicyRule], own: &[PolicyRule]) -> Vec<PolicyRule> {
    let narrowing = own.iter().filter(|rule| rule.decision != Decision::Allow);
    parent.iter().chain(narrowing).cloned().collect()
}

/// Those of the folders that are one of the parent's, or lie in one.
fn beneath(parent: &[String], own: &[String]) -> Vec<String> {
    let lies_in = |folder: &str, above: &String| {
        let rest = folder.strip_prefix(above.trim_end_matches('/'));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let climbs = |folder: &str| folder.split('/').any(|part| part == "..");
    let kept = own
        .iter()
        .filter(|folder| !climbs(folder) && parent.iter().any(|above| lies_in(folder, above)));
    kept.cloned().collect()
}

fn sandbox(parent: &SandboxSettings, own: &SandboxSettings) -> SandboxSettings {
    let above = read_hosts(&parent.hosts);
    let is_within = |host: &&String| {
        let host: Option<HostRule> = host.parse().ok();
        host.is_some_and(|host| above.iter().any(|rule| host.is_within(rule)))
    };
    SandboxSettings {
        image: own.image.clone(),
        memory: own.memory.min(parent.memory),
        cpus: own.cpus.min(parent.cpus),
        processes: own.processes.min(parent.processes),
        disk: own.disk.min(parent.disk),
        timeout_seconds: own.timeout_seconds.min(parent.timeout_seconds),
        hosts: own.hosts.iter().filter(is_within).cloned().collect(),
    }
}

fn read_hosts(hosts: &[String]) -> Vec<HostRule> {
    hosts.iter().filter_map(|host| host.parse().ok()).collect()
}

/// The limits that a grant does not set.
fn budget(parent: &Budget, own: &Budget) -> Budget {
    Budget {
        children: own.children.min(parent.children),
        depth: own.depth.min(parent.depth),
        ..own.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent_file;
    use longrein_protocol::Effect;
    use longrein_protocol::media::Takes;

    fn agent(text: &str) -> AgentSpec {
        let checked = agent_file::check(text, "test");
        checked
            .spec
            .unwrap_or_else(|| panic!("{:?}", checked.problems))
    }

    fn helper(parent: &str, own: &str) -> AgentSpec {
        let saved = SavedAgent {
            name: "checker".to_owned(),
            agent: agent(own),
            model: "local/small".to_owned(),
            price: None,
            takes: Takes::default(),
        };
        as_helper(&agent(parent), &saved)
    }

    #[test]
    fn a_helper_has_the_tools_that_both_files_grant() {
        let helper = helper(
            "[tools]\nallow = [\"search_library\", \"exa.@read\", \"delegate\"]",
            "[tools]\nallow = [\"files\", \"search_library\", \"exa.*\"]",
        );
        let has = |tool, effect| crate::policy::grants(&helper.tools, tool, Some(effect));
        assert!(has("search_library", Effect::Read));
        assert!(has("exa.search", Effect::Read));
        assert!(!has("exa.post", Effect::Irreversible));
        assert!(!has("write_file", Effect::Workspace));
        assert!(
            !has("delegate", Effect::Workspace),
            "its own file does not grant it"
        );
        assert!(has("finish", Effect::Read), "what every agent has");
    }

    #[test]
    fn what_a_helpers_file_says_of_a_tool_makes_it_no_milder() {
        let helper = helper(
            "[tools]\nallow = [\"exa.*\", \"delegate\"]\n[tools.\"exa.post\"]\neffect = \"irreversible\"",
            "[tools]\nallow = [\"exa.*\"]\n[tools.\"exa.post\"]\neffect = \"read\"\n\
             [tools.\"exa.send\"]\neffect = \"read\"\ntrusted = true\nresult_tokens = 500",
        );
        let said = |tool: &str| helper.tools.settings[tool].clone();
        assert_eq!(said("exa.post").effect, Some(Effect::Irreversible));
        assert_eq!(said("exa.send").effect, None);
        assert_eq!(said("exa.send").trusted, None);
        assert_eq!(said("exa.send").result_tokens, Some(500));
    }

    #[test]
    fn rules_of_a_helper_narrow_and_never_allow() {
        let helper = helper(
            "[tools]\nallow = [\"exa.*\", \"delegate\"]\n[[policy]]\ntool = \"exa.post\"\ndecision = \"ask\"",
            "[tools]\nallow = [\"exa.*\"]\n[[policy]]\ntool = \"exa.post\"\ndecision = \"allow\"\n\
             [[policy]]\ntool = \"exa.send\"\ndecision = \"deny\"",
        );
        let decisions: Vec<_> = helper.policy.iter().map(|rule| rule.decision).collect();
        assert_eq!(decisions, [Decision::Ask, Decision::Deny]);
    }

    #[test]
    fn folders_and_hosts_of_a_helper_lie_within_those_above_it() {
        let helper = helper(
            "[tools]\nallow = [\"search_library\", \"delegate\", \"run_command\"]\n\
             [library]\nfolders = [\"~/Papers\"]\n\
             [sandbox]\nmemory = \"1GiB\"\nhosts = [\"*.example.org\", \"files.example.com:8443\"]",
            "[tools]\nallow = [\"search_library\", \"run_command\"]\n\
             [library]\nfolders = [\"~/Papers/2026\", \"~/Paper\", \"~/Papers/../Letters\", \"/etc\"]\n\
             [sandbox]\nmemory = \"4GiB\"\ncpus = 1\n\
             hosts = [\"a.example.org\", \"example.org\", \"*.b.example.org\", \"files.example.com\"]",
        );
        assert_eq!(helper.library.folders, ["~/Papers/2026"]);
        assert_eq!(helper.sandbox.hosts, ["a.example.org", "*.b.example.org"]);
        assert_eq!(helper.sandbox.memory.to_string(), "1GiB");
        assert!((helper.sandbox.cpus - 1.0).abs() < f64::EPSILON);
    }
}

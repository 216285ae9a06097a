//! The scenarios of the sweep. Each is about one part of what a run can go through.

use longrein_protocol::agent::{Criterion, Decision, PolicyRule};
use longrein_protocol::block::ModelErrorClass;
use longrein_protocol::event::{Limits, Price};
use longrein_protocol::gate::Scope;
use longrein_testkit::sim::{
    Act, Agent, Answer, Deed, Ends, Lands, Manner, Mishap, MishapKind, OnHandoff, Person, Reply,
    Scenario, SkillOnDisk, When, calls, words,
};
use serde_json::json;

use super::delegated;

/// All of them.
pub fn all() -> Vec<Scenario> {
    let mut all = vec![
        every_effect(),
        keyed_and_queryable(),
        approvals(),
        budget(),
        looping(),
        cancel(),
        person(),
        judge(),
        provider(),
        undo(),
        narrowed(),
        steered(),
        late(),
        delegated::children(),
        delegated::staged(),
        super::long::results(),
        leaving(),
        boxed(),
        skills(),
        skills_of_children(),
        super::found::found(),
        super::summed_up::summed_up(),
        super::summed_up::done_without(),
    ];
    all.extend(super::programs::all());
    all
}

pub(super) fn scenario(name: &str, replies: impl IntoIterator<Item = Reply>) -> Scenario {
    Scenario {
        name: name.to_owned(),
        replies: replies.into_iter().collect(),
        ..Scenario::default()
    }
}

fn criterion(value: serde_json::Value) -> Criterion {
    serde_json::from_value(value).unwrap()
}

fn when(event: &str, times: u32, does: Deed) -> Act {
    Act {
        when: When::Event(event.to_owned(), times),
        does,
    }
}

fn manner(tool: &str, call: u32) -> Manner {
    Manner {
        tool: tool.to_owned(),
        call,
        ..Manner::default()
    }
}

/// Reads, writes, does something once, and is sent back by the check the first time.
pub fn every_effect() -> Scenario {
    Scenario {
        agent: Agent {
            criteria: vec![criterion(json!({"file": "a.html"}))],
            ..Agent::default()
        },
        verdicts: vec![false],
        ..scenario(
            "every effect",
            [
                calls("look", json!({"n": 1})).and("look", json!({"n": 2})),
                calls("write", json!({"path": "a.html", "n": 3})),
                calls("once", json!({"n": 4})).and("page", json!({"n": 5})),
                calls("finish", json!({})),
                words("It is there now."),
            ],
        )
    }
}

/// Commands that go on without the process, and are found again in their box.
fn boxed() -> Scenario {
    Scenario {
        manners: vec![Manner {
            takes_ms: 2_000,
            ..manner("boxed", 1)
        }],
        ..scenario(
            "boxed",
            [
                calls("boxed", json!({"n": 1})).and("boxed", json!({"n": 2})),
                words("Both have run."),
            ],
        )
    }
}

/// A keyed call and two that can be asked about end without a word; of one of these nobody can
/// say at first, the other did not happen.
fn keyed_and_queryable() -> Scenario {
    let unknown = Ends::Unknown;
    let never = Manner {
        lands: Lands::Never,
        ends: unknown,
        ..manner("order", 2)
    };
    Scenario {
        status_unknown: 0,
        manners: vec![
            Manner {
                ends: unknown,
                ..manner("keyed", 1)
            },
            Manner {
                lands: Lands::Late(500),
                ends: unknown,
                ..manner("order", 1)
            },
            never,
        ],
        ..scenario(
            "keyed and queryable",
            [
                calls("keyed", json!({"n": 1})),
                calls("order", json!({"n": 2})),
                calls("order", json!({"n": 3})),
                words("Both are done."),
            ],
        )
    }
}

/// Asks a person four times over: they edit, refuse, and say that it may always be done.
pub fn approvals() -> Scenario {
    Scenario {
        person: Person {
            approvals: vec![
                Answer::Edit(json!({"n": 7}).to_string()),
                Answer::Deny("Not to them.".to_owned()),
                Answer::Always(Scope::Agent, false),
            ],
            thinks_ms: 3_000,
            ..Person::default()
        },
        ..scenario(
            "approvals",
            [
                calls("post", json!({"n": 1})),
                calls("put", json!({"n": 2})),
                calls("post", json!({"n": 3})).and("look", json!({"n": 3})),
                calls("post", json!({"n": 4})),
                words("Posted."),
            ],
        )
    }
}

/// Comes to the end of its steps and of its actions, and is given more of each.
fn budget() -> Scenario {
    let limits = Limits {
        steps: Some(2),
        actions: Some(3),
        ..Limits::default()
    };
    let more_steps = Limits {
        steps: Some(9),
        ..Limits::default()
    };
    let more_actions = Limits {
        actions: Some(9),
        ..Limits::default()
    };
    Scenario {
        agent: Agent {
            limits,
            price: Some(Price {
                input: 1_000_000,
                cached: None,
                output: 4_000_000,
            }),
            ..Agent::default()
        },
        person: Person {
            handoffs: vec![OnHandoff::Raise(more_steps), OnHandoff::Raise(more_actions)],
            ..Person::default()
        },
        ..scenario(
            "budget",
            [
                calls("look", json!({"n": 1})),
                calls("once", json!({"n": 2})),
                calls("look", json!({"n": 3})),
                calls("keyed", json!({"n": 4})),
                words("Done."),
            ],
        )
    }
}

/// Goes round in circles until it is handed over; the person says something else.
fn looping() -> Scenario {
    let mut replies = vec![calls("look", json!({"n": 1})); 5];
    replies.push(words("I see."));
    Scenario {
        person: Person {
            handoffs: vec![OnHandoff::Say("Look elsewhere.".to_owned())],
            ..Person::default()
        },
        ..scenario("loop", replies)
    }
}

/// Is cancelled while a tool runs.
fn cancel() -> Scenario {
    Scenario {
        manners: vec![Manner {
            takes_ms: 30_000,
            lands: Lands::AtEnd,
            ..manner("write", 1)
        }],
        acts: vec![when("action.started", 2, Deed::Cancel)],
        ..scenario(
            "cancel",
            [
                calls("look", json!({"n": 1})),
                calls("write", json!({"n": 2})).and("once", json!({"n": 3})),
                words("Never said."),
            ],
        )
    }
}

/// Asks the person something, and has to be accepted by them; they send it back once.
fn person() -> Scenario {
    Scenario {
        agent: Agent {
            criteria: vec![
                criterion(json!({"file": "a.html"})),
                criterion(json!({"person": "Read it."})),
            ],
            ..Agent::default()
        },
        person: Person {
            answers: vec!["The second one.".to_owned()],
            acceptances: vec![false, true],
            ..Person::default()
        },
        leaves: true,
        ..scenario(
            "person",
            [
                calls("ask_person", json!({"question": "Which one?"})),
                calls("finish", json!({})),
                calls("write", json!({"path": "a.html", "n": 2})),
                words("Better now."),
            ],
        )
    }
}

/// Is judged by a model, at first badly.
fn judge() -> Scenario {
    Scenario {
        agent: Agent {
            criteria: vec![
                criterion(json!({"judge": "It is fair.", "of": "a.html"})),
                criterion(json!({"tool": "look", "equals": "done"})),
            ],
            ..Agent::default()
        },
        verdicts: vec![false, true],
        ..scenario(
            "judge",
            [
                calls("write", json!({"path": "a.html", "n": 1})),
                words("Done."),
                words("Fair now."),
            ],
        )
    }
}

/// Is refused, cut off and misread by the provider.
fn provider() -> Scenario {
    use ModelErrorClass::{Malformed, Network, RateLimited};
    let mishap = |request, what| Mishap { request, what };
    Scenario {
        mishaps: vec![
            mishap(1, MishapKind::Refused(RateLimited, Some(7_000))),
            mishap(3, MishapKind::Broken(Malformed)),
            mishap(4, MishapKind::Broken(Network)),
            mishap(6, MishapKind::Silent(30_000)),
        ],
        ..scenario(
            "provider",
            [
                calls("look", json!({"n": 1})),
                calls("once", json!({"n": 2})),
                words("Done."),
            ],
        )
    }
}

/// Puts something, and when the run is done the person says twice that it is to be taken back.
fn undo() -> Scenario {
    Scenario {
        acts: vec![
            when("run.finished", 1, Deed::Undo("put".to_owned())),
            when("run.finished", 1, Deed::Undo("put".to_owned())),
        ],
        ..scenario("undo", [calls("put", json!({"n": 1})), words("Put.")])
    }
}

/// While it waits for an approval, the rules on disk come to forbid the action.
fn narrowed() -> Scenario {
    let deny = PolicyRule {
        tool: Some("post".to_owned()),
        effect: None,
        args: std::collections::BTreeMap::new(),
        path: None,
        host: None,
        command: None,
        decision: Decision::Deny,
    };
    Scenario {
        person: Person {
            thinks_ms: 1_000,
            ..Person::default()
        },
        acts: vec![when("approval.requested", 1, Deed::Rules(vec![deny]))],
        ..scenario(
            "narrowed",
            [calls("post", json!({"n": 1})), words("I may not.")],
        )
    }
}

/// Is paused while it works, and told something more while it stands still.
fn steered() -> Scenario {
    Scenario {
        acts: vec![
            when("action.started", 1, Deed::Pause),
            when("run.paused", 1, Deed::Say("And the heron?".to_owned())),
        ],
        ..scenario(
            "steered",
            [
                calls("look", json!({"n": 1})),
                calls("look", json!({"n": 2})),
                words("Done."),
            ],
        )
    }
}

/// A call takes too long, and happens after all.
fn late() -> Scenario {
    Scenario {
        manners: vec![Manner {
            lands: Lands::Late(90_000),
            takes_ms: 120_000,
            deaf: true,
            ..manner("once", 1)
        }],
        ..scenario("late", [calls("once", json!({"n": 1})), words("Done.")])
    }
}

/// The approvals once more, with a driver that does not stay while a person is waited for.
fn leaving() -> Scenario {
    Scenario {
        name: "leaving".to_owned(),
        leaves: true,
        ..approvals()
    }
}

fn skill(name: &str, unseen: bool) -> SkillOnDisk {
    SkillOnDisk {
        name: name.to_owned(),
        unseen,
    }
}

fn loads(name: &str) -> Reply {
    calls("load_skill", json!({ "name": name }))
}

/// Loads a skill that the person approved before, and once more when it has changed; another one
/// they look at for the first time, and refuse.
pub fn skills() -> Scenario {
    let change = || Deed::ChangeSkill("beans".to_owned());
    Scenario {
        skills: vec![skill("beans", false), skill("peas", true)],
        person: Person {
            approvals: vec![Answer::Approve, Answer::Deny("Not this one.".to_owned())],
            thinks_ms: 3_000,
            ..Person::default()
        },
        acts: vec![when("skill.loaded", 1, change())],
        leaves: true,
        ..scenario(
            "skills",
            [
                loads("beans"),
                loads("beans").and("once", json!({"n": 1})),
                loads("peas"),
                loads("beans"),
                words("Done."),
            ],
        )
    }
}

/// Delegates a part that loads a skill at which the person has yet to look, and one that it is not
/// granted; then loads the same itself.
fn skills_of_children() -> Scenario {
    Scenario {
        agent: Agent {
            skills: Some(vec!["beans".to_owned()]),
            ..Agent::default()
        },
        skills: vec![skill("beans", true), skill("peas", false)],
        child_replies: vec![
            loads("beans").and("load_skill", json!({"name": "peas"})),
            calls("finish", json!({"summary": "My part is done."})),
        ],
        ..scenario(
            "skills of children",
            [
                calls(
                    "delegate",
                    json!({"tasks": [{"title": "One", "brief": "Do your part."}]}),
                ),
                loads("beans").and("load_skill", json!({"name": "peas"})),
                words("It is done."),
            ],
        )
    }
}

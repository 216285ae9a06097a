//! From a seed to a scenario.

use longrein_protocol::ToolErrorClass;
use longrein_protocol::agent::{Criterion, Decision, PolicyRule};
use longrein_protocol::block::{ModelErrorClass, StopReason};
use longrein_protocol::event::{Limits, Price};
use longrein_protocol::gate::Scope;
use longrein_protocol::tool::LOAD_SKILL;
use longrein_runtime::ports::Chance;
use serde_json::json;

use super::catalogue::TIMEOUT_MS;
use super::scenario::{
    Act, Agent, Answer, Call, Deed, DiskFault, Ends, FaultWhat, Jump, Lands, Manner, Mishap,
    MishapKind, OnHandoff, Person, Reply, Scenario, SkillOnDisk, When, calls,
};
use crate::world::SeededChance;

/// The appends among which most faults strike.
const FAULTS_UP_TO: u32 = 30;
/// The time within which most things happen by themselves: most runs take no longer.
const SOON_MS: u32 = 3_000;
/// The time within which the others do.
const LATER_MS: u32 = 150_000;
/// The most seconds by which the clock jumps, forward or back.
const JUMP_SECONDS: u32 = 3_000;

/// Draws from a seed.
struct Draw(SeededChance);

impl Draw {
    fn below(&mut self, end: u32) -> u32 {
        (self.0.random() % u128::from(end.max(1))) as u32
    }

    /// Whether something happens that happens so often in a hundred.
    fn hits(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }

    fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u32) as usize].clone()
    }

    /// A time at which something happens.
    fn time_ms(&mut self) -> u32 {
        let within = self.one(&[SOON_MS, SOON_MS, LATER_MS]);
        1 + self.below(within)
    }

    fn some<T>(&mut self, most: u32, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let count = self.below(most + 1);
        (0..count).map(|_| make(self)).collect()
    }
}

/// The scenario of a seed.
pub fn scenario(seed: u64) -> Scenario {
    let draw = &mut Draw(SeededChance::new(seed.wrapping_mul(0x9e37_79b9) ^ 0x5eed));
    let replies = 1 + draw.below(10);
    let mut scenario = Scenario {
        name: format!("seed {seed}"),
        seed,
        agent: agent(draw),
        replies: (0..replies).map(|_| reply(draw)).collect(),
        child_replies: draw.some(4, child_reply),
        mishaps: draw.some(4, mishap),
        ratio_percent: draw.one(&[0, 60, 90, 125]),
        manners: draw.some(8, manner),
        status_unknown: draw.one(&[0, 0, 1, 2, 5]),
        verdicts: draw.some(3, |draw| draw.hits(50)),
        person: person(draw),
        acts: draw.some(5, act),
        faults: draw.some(4, fault),
        kills: draw.some(2, |draw| draw.time_ms()),
        lets_go: draw.some(1, Draw::time_ms),
        jumps: draw.some(2, jump),
        // Every third world's model can't sum up.
        summary: (seed.is_multiple_of(3)).then(String::new),
        by_steps: false,
        hides: false,
        loses_box: false,
        leaves: draw.hits(30),
        skills: Vec::new(),
    };
    // Last, so that the worlds without skills are those that they were before there were any.
    if draw.hits(25) {
        skills(draw, &mut scenario);
    }
    // So too with boxes that are lost.
    scenario.loses_box = draw.hits(50);
    if draw.hits(30) {
        let does = Deed::LoseBox;
        let when = When::At(draw.time_ms());
        scenario.acts.push(Act { when, does });
    }
    scenario
}

/// Lays skills on the disk, has them loaded here and there, and maybe changed meanwhile.
fn skills(draw: &mut Draw, scenario: &mut Scenario) {
    let skill = |name: &str, unseen: bool| SkillOnDisk {
        name: name.to_owned(),
        unseen,
    };
    scenario.skills = vec![skill("beans", draw.hits(30)), skill("peas", true)];
    if draw.hits(30) {
        scenario.agent.skills = Some(vec!["beans".to_owned()]);
    }
    for _ in 0..1 + draw.below(3) {
        let name = draw.one(&["beans", "beans", "peas", "none"]);
        let loads = calls(LOAD_SKILL, json!({ "name": name }));
        let place = draw.below(scenario.replies.len() as u32 + 1) as usize;
        scenario.replies.insert(place, loads);
    }
    if draw.hits(50) {
        let when = match draw.hits(50) {
            true => When::Event("skill.loaded".to_owned(), 1),
            false => When::At(draw.time_ms()),
        };
        let does = Deed::ChangeSkill("beans".to_owned());
        scenario.acts.push(Act { when, does });
    }
}

fn agent(draw: &mut Draw) -> Agent {
    let criteria = draw.some(2, criterion);
    let withheld = draw.some(1, |draw| {
        draw.one(&["look", "post", "keyed", "page"]).to_owned()
    });
    let price = draw.hits(50).then_some(Price {
        input: 1_000_000,
        cached: None,
        output: 4_000_000,
    });
    Agent {
        withheld,
        rules: draw.some(2, rule),
        limits: if draw.hits(40) {
            limits(draw)
        } else {
            Limits::default()
        },
        criteria,
        stages: Vec::new(),
        price,
        window_tokens: draw.one(&[0, 0, 0, 4_000]),
        output_tokens: draw.one(&[0, 0, 0, 12]),
        skills: None,
    }
}

fn rule(draw: &mut Draw) -> PolicyRule {
    let tool = draw.one(&["post", "post", "put", "once", "order", "write", "look"]);
    let decision = draw.one(&[
        Decision::Allow,
        Decision::Allow,
        Decision::Ask,
        Decision::Deny,
    ]);
    PolicyRule {
        tool: Some(tool.to_owned()),
        effect: None,
        args: std::collections::BTreeMap::new(),
        path: None,
        host: None,
        command: None,
        decision,
    }
}

fn limits(draw: &mut Draw) -> Limits {
    let mut limits = Limits::default();
    match draw.below(5) {
        0 => limits.steps = Some(1 + draw.below(5)),
        1 => limits.tokens_in = Some(2_000 + draw.below(12_000)),
        2 => limits.tokens_out = Some(10 + draw.below(400)),
        3 => limits.actions = Some(draw.below(5)),
        _ => limits.money_micro = Some(u64::from(1_000 + draw.below(20_000))),
    }
    limits
}

fn criterion(draw: &mut Draw) -> Criterion {
    let value = match draw.below(4) {
        0 => json!({"judge": "It is fair.", "of": "a.html"}),
        1 => json!({"person": "Read it."}),
        2 => json!({"tool": "look", "equals": "done"}),
        _ => json!({"file": "a.html"}),
    };
    serde_json::from_value(value).expect("the values above are criteria")
}

fn reply(draw: &mut Draw) -> Reply {
    let calls = draw.some(3, call);
    let text = if calls.is_empty() || draw.hits(30) {
        "I have thought about it and will go on."
    } else {
        ""
    };
    let stop = draw
        .hits(4)
        .then(|| draw.one(&[StopReason::Length, StopReason::Other]));
    Reply {
        text: if draw.hits(4) { "" } else { text }.to_owned(),
        calls,
        stop,
    }
}

/// A child has no children of its own.
fn child_reply(draw: &mut Draw) -> Reply {
    let mut reply = reply(draw);
    for call in &mut reply.calls {
        if call.tool == "delegate" {
            call.tool = "look".to_owned();
        }
    }
    reply
}

fn delegation(draw: &mut Draw) -> Call {
    let tasks = draw.some(3, |draw| {
        let mut task = json!({"title": "A part", "brief": "Do your part."});
        if draw.hits(30) {
            task["budget_share"] = draw.one(&[0.1, 0.4, 0.8]).into();
        }
        task
    });
    Call {
        tool: "delegate".to_owned(),
        arguments: json!({ "tasks": tasks }).to_string(),
        id: None,
    }
}

fn call(draw: &mut Draw) -> Call {
    if draw.hits(6) {
        return delegation(draw);
    }
    const TOOLS: &[&str] = &[
        "look",
        "page",
        "mine",
        "fetch",
        "write",
        "once",
        "keyed",
        "order",
        "post",
        "put",
        "ask_person",
        "finish",
    ];
    let tool = match draw.below(40) {
        0 => "nothing".to_owned(),
        1 => "order_status".to_owned(),
        _ => draw.one(TOOLS).to_owned(),
    };
    let number = draw.below(3);
    let arguments = match tool.as_str() {
        "fetch" => json!({"url": draw.one(&["https://a.example/x", "https://b.example/notes"])}),
        "write" => json!({"path": draw.one(&["a.html", "b.html", "../c"]), "n": number}),
        "ask_person" => json!({"question": "Which one?"}),
        _ => json!({"n": number}),
    };
    let arguments = match draw.below(40) {
        0 => "{\"n\": ".to_owned(),
        1 => "[1]".to_owned(),
        2 => json!({"n": "one"}).to_string(),
        _ => arguments.to_string(),
    };
    let id = draw.hits(8).then(|| "same".to_owned());
    Call {
        tool,
        arguments,
        id,
    }
}

fn mishap(draw: &mut Draw) -> Mishap {
    use ModelErrorClass::{Auth, ContextTooLong, Malformed, Network, Overloaded, RateLimited};
    let after = draw.one(&[None, Some(0), Some(7_000), Some(90_000)]);
    Mishap {
        request: 1 + draw.below(10),
        what: match draw.below(8) {
            0 => MishapKind::Refused(draw.one(&[Auth, ContextTooLong]), None),
            1 | 2 => MishapKind::Refused(draw.one(&[RateLimited, Overloaded]), after),
            3 | 4 => MishapKind::Broken(draw.one(&[Network, Malformed])),
            5 => MishapKind::Silent(draw.below(100_000)),
            6 => MishapKind::Unreachable,
            _ => MishapKind::Empty,
        },
    }
}

fn manner(draw: &mut Draw) -> Manner {
    use ToolErrorClass::{Conflict, Failed, NotFound, Temporary};
    let tool = draw.one(&[
        "once",
        "keyed",
        "keyed",
        "order",
        "order",
        "post",
        "put",
        "take_back",
        "write",
        "look",
        "order_status",
    ]);
    let late = draw.below(TIMEOUT_MS * 2);
    Manner {
        tool: tool.to_owned(),
        call: 1 + draw.below(2),
        lands: draw.one(&[
            Lands::AtOnce,
            Lands::AtOnce,
            Lands::AtEnd,
            Lands::Late(late),
            Lands::Never,
        ]),
        takes_ms: draw.one(&[0, 10, 5_000, TIMEOUT_MS - 1, TIMEOUT_MS * 2]),
        ends: match draw.below(4) {
            0 | 1 => Ends::Well,
            2 => Ends::Unknown,
            _ => Ends::Error(draw.one(&[Conflict, Failed, NotFound, Temporary])),
        },
        deaf: draw.hits(25),
    }
}

fn person(draw: &mut Draw) -> Person {
    Person {
        approvals: draw.some(5, |draw| match draw.below(9) {
            0..3 => Answer::Approve,
            3 => Answer::Edit(json!({"n": 7}).to_string()),
            4 => Answer::Edit("{\"n\": \"seven\"}".to_owned()),
            5 => Answer::Always(draw.one(&[Scope::Run, Scope::Agent]), draw.hits(50)),
            6 => Answer::Deny("Not that.".to_owned()),
            7 => Answer::Both,
            _ => Answer::Never,
        }),
        answers: draw.some(2, |_| "The second one.".to_owned()),
        acceptances: draw.some(2, |draw| draw.hits(50)),
        handoffs: draw.some(4, |draw| match draw.below(8) {
            0..2 => OnHandoff::Resume,
            2 => OnHandoff::Say("Go on, please.".to_owned()),
            3 | 4 => OnHandoff::Raise(raised(draw)),
            5 => OnHandoff::Cancel,
            6 => OnHandoff::Take,
            _ => OnHandoff::Leave,
        }),
        retries: draw.hits(50),
        thinks_ms: draw.one(&[0, 10, 3_000, 700_000]),
    }
}

fn raised(draw: &mut Draw) -> Limits {
    Limits {
        steps: draw.hits(50).then_some(100),
        tokens_in: draw.hits(50).then_some(100_000),
        tokens_out: draw.hits(50).then_some(100_000),
        actions: draw.hits(50).then_some(100),
        money_micro: draw.hits(50).then_some(10_000_000),
        working_minutes: None,
    }
}

fn act(draw: &mut Draw) -> Act {
    const EVENTS: &[&str] = &[
        "model.requested",
        "model.failed",
        "action.decided",
        "action.started",
        "action.finished",
        "action.uncertain",
        "approval.requested",
        "verification.started",
        "run.handed_off",
        "run.finished",
    ];
    let when = if draw.hits(50) {
        When::At(draw.time_ms())
    } else {
        When::Event(draw.one(EVENTS).to_owned(), 1 + draw.below(3))
    };
    Act {
        when,
        does: match draw.below(13) {
            0 => Deed::Cancel,
            1 | 2 => Deed::Pause,
            3 => Deed::Resume,
            4 | 5 => Deed::Say("And the heron?".to_owned()),
            6 => Deed::Raise(raised(draw)),
            7 | 8 => Deed::Undo("put".to_owned()),
            9 => Deed::ApproveStale,
            10 => Deed::ChangeFile("a.html".to_owned()),
            11 => Deed::Muddle,
            _ if draw.hits(30) => Deed::BreakRules,
            _ => Deed::Rules(draw.some(2, rule)),
        },
    }
}

fn fault(draw: &mut Draw) -> DiskFault {
    let up_to = draw.one(&[FAULTS_UP_TO, FAULTS_UP_TO, FAULTS_UP_TO * 3]);
    DiskFault {
        append: 1 + draw.below(up_to),
        durable: draw.hits(50),
        what: draw.one(&[
            FaultWhat::Crash,
            FaultWhat::Crash,
            FaultWhat::Crash,
            FaultWhat::Full,
            FaultWhat::Io,
            FaultWhat::Busy,
        ]),
    }
}

fn jump(draw: &mut Draw) -> Jump {
    let by = draw.below(2 * JUMP_SECONDS + 1) as i32;
    Jump {
        at_ms: draw.time_ms(),
        by_seconds: by - JUMP_SECONDS as i32,
    }
}

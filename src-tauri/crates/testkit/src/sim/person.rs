//! The person of a scenario: they see what is on disk, and put their wishes into the inbox.

use std::sync::Arc;
use std::time::Duration;

use longrein_core::run::{Acceptance, Action, ActionStage, Phase};
use longrein_protocol::event::{HandoffReason, Payload, Verdict};
use longrein_protocol::gate::{Always, Scope, StandingRule, Surface};
use longrein_protocol::wish::Wish;
use longrein_protocol::{ActionId, BlobHash, RunId};
use longrein_runtime::Waker;
use longrein_runtime::ports::Clock;
use longrein_store::{Log, MemoryLog};

use super::clock::SimClock;
use super::laws::Laws;
use super::outside::{Outside, State};
use super::scenario::{Answer, Deed, OnHandoff, When};

/// After so long without anything new the person looks once more, and then goes.
const IDLE: Duration = Duration::from_secs(6 * 3_600);
/// How long a paused run stays paused.
const PAUSE_MS: u64 = 5_000;
/// The time at which the inbox says that a wish was put into it; nobody reads it.
const POSTED_AT: i64 = 0;

pub(super) struct Person {
    pub outside: Arc<Outside>,
    pub clock: Arc<SimClock>,
    /// The inbox by way of another process.
    pub inbox: Arc<MemoryLog>,
    pub run: RunId,
}

/// What the person is about to do, and how it is remembered.
struct Plan {
    run: RunId,
    memo: String,
    wait_ms: u64,
    does: Vec<Doing>,
}

enum Doing {
    Wish(Wish),
    Undo(String),
    ApproveStale,
    Muddle,
    LoseBox,
    ChangeFile(String),
    ChangeSkill(String),
    Rules(Vec<StandingRule>),
    BreakRules,
}

impl Person {
    /// Acts until there is nothing more to do and nothing happens.
    pub async fn acts(&self, waker: &Waker) {
        loop {
            if self.act().await {
                waker.wake();
                continue;
            }
            tokio::select! {
                biased;
                () = self.outside.changed.notified() => {}
                () = self.until_next_act() => {}
                () = self.clock.sleep(IDLE) => {
                    if !self.looks_again().await {
                        return;
                    }
                    waker.wake();
                }
            }
        }
    }

    /// Does the next thing, if there is one now or later. For a run that has stopped.
    pub async fn goes_on(&self) -> bool {
        if self.act().await {
            return true;
        }
        if self.next_act_ms().is_none() {
            return false;
        }
        self.until_next_act().await;
        self.act().await
    }

    async fn act(&self) -> bool {
        let Some(plan) = self.plan() else {
            return false;
        };
        self.clock.sleep(Duration::from_millis(plan.wait_ms)).await;
        self.outside.state().done.insert(plan.memo);
        for doing in plan.does {
            self.does(plan.run, doing).await;
        }
        true
    }

    /// What still waits for an answer, although one was given, is answered in the plain way.
    async fn looks_again(&self) -> bool {
        let Some((run, action)) = self.still_asked() else {
            return false;
        };
        self.outside.state().done.insert(again(&action));
        let wish = approve(&action, None, None);
        self.does(run, Doing::Wish(wish)).await;
        true
    }

    fn still_asked(&self) -> Option<(RunId, Action)> {
        let state = self.outside.state();
        let approvals = &self.outside.scenario.person.approvals;
        state.all().find_map(|laws| {
            let asked = laws.run.actions.iter().find(|action| {
                let place = place(&laws.asked, &action.id);
                let answer = place.and_then(|place| approvals.get(place));
                action.stage == ActionStage::Asked
                    && answer != Some(&Answer::Never)
                    && !state.done.contains(&again(action))
            });
            Some((laws.run.id?, asked?.clone()))
        })
    }

    async fn does(&self, run: RunId, doing: Doing) {
        match doing {
            Doing::Wish(wish) => self.posts(run, wish).await,
            Doing::Undo(tool) => {
                if let Some(action) = self.last_of(&tool).await {
                    let from = Surface::Command;
                    self.posts(run, Wish::Undo { action, from }).await;
                }
            }
            Doing::ApproveStale => {
                let asked = self.outside.state().laws.asked.last().cloned();
                if let Some(action) = asked {
                    self.posts(
                        run,
                        Wish::Approve {
                            action,
                            seen: BlobHash::of(b"not what was shown"),
                            edit: None,
                            always: None,
                            from: Surface::Window,
                        },
                    )
                    .await;
                }
            }
            Doing::Muddle => {
                let asked = self.outside.state().laws.asked.last().cloned();
                for wish in muddle(asked) {
                    self.posts(run, wish).await;
                }
            }
            Doing::LoseBox => self.outside.state().boxed.lose(),
            Doing::ChangeFile(path) => self.outside.state().change_file(&path),
            Doing::ChangeSkill(name) => self.outside.state().skills.change(&name),
            Doing::Rules(rules) => {
                let mut state = self.outside.state();
                state.rules.kept = true;
                state.rules.broken = false;
                state.rules.rules = rules;
            }
            Doing::BreakRules => self.outside.state().rules.broken = true,
        }
    }

    async fn posts(&self, run: RunId, wish: Wish) {
        // Before the run is on disk there is nobody to wish anything of.
        let _ = self.inbox.post_wish(run, wish, POSTED_AT).await;
    }

    /// The last action of a tool that ended well.
    async fn last_of(&self, tool: &str) -> Option<ActionId> {
        let read = self.inbox.read(self.run, 1, u32::MAX).await.ok()?;
        let mut of_tool = Vec::new();
        let mut last = None;
        for event in read.events {
            match event.payload {
                Payload::ActionProposed(proposed) if proposed.tool == tool => {
                    of_tool.push(proposed.action);
                }
                Payload::ActionFinished(finished) if of_tool.contains(&finished.action) => {
                    last = Some(finished.action);
                }
                _ => {}
            }
        }
        last
    }

    fn next_act_ms(&self) -> Option<u64> {
        let state = self.outside.state();
        let acts = self.outside.scenario.acts.iter().enumerate();
        let times = acts.filter_map(|(number, act)| match act.when {
            When::At(ms) if !state.done.contains(&act_memo(number)) => Some(u64::from(ms)),
            _ => None,
        });
        times.min()
    }

    async fn until_next_act(&self) {
        match self.next_act_ms() {
            Some(at) => {
                let left = at.saturating_sub(self.clock.monotonic_ms());
                self.clock.sleep(Duration::from_millis(left)).await;
            }
            None => std::future::pending().await,
        }
    }

    /// The first thing that is to be done now.
    fn plan(&self) -> Option<Plan> {
        let state = self.outside.state();
        if state.laws.run.seq == 0 {
            return None;
        }
        let new = |plan: &Plan| !state.done.contains(&plan.memo);
        let acts = self.outside.scenario.acts.iter().enumerate();
        let mut acts = acts.filter(|(_, act)| self.is_due(&state, &act.when));
        let act = acts.find_map(|(number, act)| {
            let plan = Plan {
                run: self.run,
                memo: act_memo(number),
                wait_ms: 0,
                does: vec![deed(&act.does)],
            };
            Some(plan).filter(|plan| new(plan))
        });
        act.or_else(|| {
            let mut plans = state.all().flat_map(|laws| self.answers(&state, laws));
            plans.find(|plan| new(plan))
        })
    }

    fn is_due(&self, state: &State, when: &When) -> bool {
        match when {
            When::At(ms) => u64::from(*ms) <= self.clock.monotonic_ms(),
            When::Event(name, times) => state.laws.count(name) >= *times,
        }
    }

    /// What the person is asked by one run, with their answers.
    fn answers(&self, state: &State, laws: &Laws) -> Vec<Plan> {
        let person = &self.outside.scenario.person;
        let run = &laws.run;
        let id = run.id.unwrap_or(self.run);
        let plan = |memo: String, wait_ms: u64, wishes: Vec<Wish>| Plan {
            run: id,
            memo: format!("{id} {memo}"),
            wait_ms,
            does: wishes.into_iter().map(Doing::Wish).collect(),
        };
        let thinks_ms = u64::from(person.thinks_ms);
        let mut plans = Vec::new();
        for action in &run.actions {
            if let Some((memo, wishes)) = self.answer(laws, action) {
                plans.push(plan(memo, thinks_ms, wishes));
            }
        }
        if run.acceptance != Acceptance::None && run.phase == Phase::Going {
            let asked = laws.count("acceptance.requested");
            let accepted = person.acceptances.get(asked as usize - 1).copied();
            let accepted = accepted.unwrap_or(true);
            let accept = Wish::Accept {
                accepted,
                note: if accepted { "" } else { "Not yet." }.to_owned(),
                from: Surface::Window,
            };
            plans.push(plan(format!("acceptance {asked}"), thinks_ms, vec![accept]));
        }
        match run.phase {
            // A child that is handed over has ended for its parent.
            Phase::HandedOff { reason, .. } if id == self.run => {
                let number = laws.count("run.handed_off");
                let wishes = self.takes_over(state, reason, number as usize - 1);
                plans.push(plan(format!("handoff {number}"), thinks_ms, wishes));
            }
            Phase::Paused => {
                let number = laws.count("run.paused");
                plans.push(plan(
                    format!("pause {number}"),
                    PAUSE_MS,
                    vec![Wish::Resume],
                ));
            }
            _ => {}
        }
        plans
    }

    /// What one action asks of the person, and what they say.
    fn answer(&self, laws: &Laws, action: &Action) -> Option<(String, Vec<Wish>)> {
        let person = &self.outside.scenario.person;
        match action.stage {
            ActionStage::Asked => {
                let place = place(&laws.asked, &action.id)?;
                let answer = person.approvals.get(place).unwrap_or(&Answer::Approve);
                Some((format!("approval {place}"), approval(action, answer)))
            }
            ActionStage::Questioned => {
                let place = place(&laws.questioned, &action.id)?;
                let text = person.answers.get(place).map_or("Yes.", String::as_str);
                let answer = Wish::Answer {
                    action: action.id.clone(),
                    text: text.to_owned(),
                    from: Surface::Window,
                };
                Some((format!("question {place}"), vec![answer]))
            }
            _ => None,
        }
    }

    /// What the person does with a run that was handed to them.
    fn takes_over(&self, state: &State, reason: HandoffReason, number: usize) -> Vec<Wish> {
        let person = &self.outside.scenario.person;
        if reason == HandoffReason::Uncertain {
            let uncertain = state.laws.run.actions.iter();
            let uncertain = uncertain.filter(|action| action.stage == ActionStage::Uncertain);
            return uncertain
                .map(|action| self.settles(state, action))
                .collect();
        }
        match person.handoffs.get(number).unwrap_or(&OnHandoff::Leave) {
            OnHandoff::Leave => Vec::new(),
            OnHandoff::Resume => vec![Wish::Resume],
            OnHandoff::Say(text) => vec![Wish::Say { text: text.clone() }],
            OnHandoff::Raise(limits) => vec![Wish::Raise {
                limits: *limits,
                from: Surface::Command,
            }],
            OnHandoff::Cancel => vec![Wish::Cancel],
            OnHandoff::Take => vec![Wish::Accept {
                accepted: true,
                note: String::new(),
                from: Surface::Window,
            }],
        }
    }

    /// The person looks whether it happened, and says so.
    fn settles(&self, state: &State, action: &Action) -> Wish {
        let verdict = match (
            state.has_landed(&action.id),
            self.outside.scenario.person.retries,
        ) {
            (true, _) => Verdict::Happened,
            (false, true) => Verdict::Retry,
            (false, false) => Verdict::NotHappened,
        };
        Wish::Settle {
            action: action.id.clone(),
            verdict,
            result: None,
            from: Surface::Command,
        }
    }
}

fn again(action: &Action) -> String {
    format!("again {}", action.id)
}

fn act_memo(number: usize) -> String {
    format!("act {number}")
}

/// The last place of an action among those of which the person was asked.
fn place(asked: &[ActionId], id: &ActionId) -> Option<usize> {
    asked.iter().rposition(|asked| asked == id)
}

fn approval(action: &Action, answer: &Answer) -> Vec<Wish> {
    let deny = |reason: &str| Wish::Deny {
        action: action.id.clone(),
        reason: reason.to_owned(),
        from: Surface::Command,
    };
    match answer {
        Answer::Approve => vec![approve(action, None, None)],
        Answer::Edit(arguments) => vec![approve(action, Some(arguments.clone()), None)],
        Answer::Always(scope, tainted) => {
            let always = Always {
                scope: *scope,
                rules: vec![longrein_protocol::agent::PolicyRule {
                    tool: Some(action.tool.clone()),
                    ..allow()
                }],
                tainted: *tainted && *scope == Scope::Run,
            };
            vec![approve(action, None, Some(always))]
        }
        Answer::Deny(reason) => vec![deny(reason)],
        Answer::Both => vec![approve(action, None, None), deny("Not from here.")],
        Answer::Never => Vec::new(),
    }
}

fn approve(action: &Action, edit: Option<String>, always: Option<Always>) -> Wish {
    Wish::Approve {
        action: action.id.clone(),
        seen: action.shown.unwrap_or_else(|| BlobHash::of(b"")),
        edit,
        always,
        from: Surface::Window,
    }
}

fn muddle(asked: Option<ActionId>) -> Vec<Wish> {
    let from = Surface::Api;
    let mut wishes = vec![Wish::Accept {
        accepted: true,
        note: String::new(),
        from,
    }];
    if let Some(action) = asked {
        wishes.push(Wish::Settle {
            action: action.clone(),
            verdict: Verdict::Happened,
            result: Some("It is there.".to_owned()),
            from,
        });
        wishes.push(Wish::Answer {
            action: action.clone(),
            text: "Both.".to_owned(),
            from,
        });
        wishes.push(Wish::Deny {
            action,
            reason: "Not so.".to_owned(),
            from,
        });
    }
    wishes
}

fn allow() -> longrein_protocol::agent::PolicyRule {
    longrein_protocol::agent::PolicyRule {
        tool: None,
        effect: None,
        args: std::collections::BTreeMap::new(),
        path: None,
        host: None,
        command: None,
        decision: longrein_protocol::agent::Decision::Allow,
    }
}

fn deed(deed: &Deed) -> Doing {
    let from = Surface::Command;
    match deed {
        Deed::Cancel => Doing::Wish(Wish::Cancel),
        Deed::Pause => Doing::Wish(Wish::Pause),
        Deed::Resume => Doing::Wish(Wish::Resume),
        Deed::Say(text) => Doing::Wish(Wish::Say { text: text.clone() }),
        Deed::Raise(limits) => Doing::Wish(Wish::Raise {
            limits: *limits,
            from,
        }),
        Deed::Undo(tool) => Doing::Undo(tool.clone()),
        Deed::ApproveStale => Doing::ApproveStale,
        Deed::Muddle => Doing::Muddle,
        Deed::LoseBox => Doing::LoseBox,
        Deed::ChangeFile(path) => Doing::ChangeFile(path.clone()),
        Deed::ChangeSkill(name) => Doing::ChangeSkill(name.clone()),
        Deed::Rules(rules) => {
            let standing = rules.iter().enumerate().map(|(number, rule)| StandingRule {
                id: format!("rule {number}"),
                scope: Scope::Everywhere,
                rule: rule.clone(),
                tainted: false,
            });
            Doing::Rules(standing.collect())
        }
        Deed::BreakRules => Doing::BreakRules,
    }
}

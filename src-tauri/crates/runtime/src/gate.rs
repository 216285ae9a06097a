//! The gate as the driver passes it: it gathers the facts, the core decides, a person is asked.

use longrein_core::policy::{self, Looked};
use longrein_core::run::{Action, ActionStage, Phase};
use longrein_protocol::agent::Decision;
use longrein_protocol::event::{
    ActionDecided, ActionUncertain, ApprovalRequested, PolicyChanged, QuestionAsked,
};
use longrein_protocol::gate::{ActionFacts, SkillFact};
use longrein_protocol::{ActionId, Body};
use serde_json::Value;

use crate::driver::{DriveError, Driver};
use crate::world::Unavailable;

/// The most answers that a question may offer.
const OPTIONS: usize = 8;

impl Driver {
    /// Takes in what changed of the rules on disk. They are taken as they are before the first
    /// decision; after it, a running run is narrowed by them and never widened.
    async fn take_in_policy(&mut self) -> Result<Result<(), Unavailable>, DriveError> {
        let on_disk = match self.ports.world.policy(&self.run).await {
            Ok(on_disk) => on_disk,
            Err(unavailable) => return Ok(Err(unavailable)),
        };
        let Some(on_disk) = on_disk.filter(|found| Some(found.hash) != self.run.policy_hash) else {
            return Ok(Ok(()));
        };
        let rules = match self.run.decided {
            true => policy::narrowed(&self.run.rules, &on_disk.rules),
            false => self
                .run
                .rules
                .iter()
                .cloned()
                .chain(on_disk.rules)
                .collect(),
        };
        if self.run.policy_hash.is_some() || !rules.is_empty() {
            self.record(PolicyChanged {
                hash: on_disk.hash,
                rules,
                by: "the rules on disk".to_owned(),
            })?;
        }
        Ok(Ok(()))
    }

    /// Decides an action. Without its rules nothing is decided: the run is handed off, and what a
    /// person asks of a run that stands still is refused.
    pub(crate) async fn decide(&mut self, id: &ActionId) -> Result<(), DriveError> {
        let policy = self.take_in_policy().await?;
        let Some(action) = self.run.action(id).cloned() else {
            return Ok(());
        };
        match policy {
            Ok(()) => {
                let decided = self.judgement(&action).await?;
                self.fresh.insert(id.clone());
                self.record(decided)
            }
            Err(unavailable) if self.run.phase == Phase::Going => self.hand_off(unavailable),
            Err(unavailable) => self.record(ActionDecided {
                action: id.clone(),
                decision: Decision::Deny,
                why: unavailable.message,
                checks: Vec::new(),
                facts: ActionFacts::default(),
            }),
        }
    }

    /// Whether every check that allowed an action still does. Where not, what follows is recorded:
    /// a new decision, or, where the action may have happened already, that nobody knows.
    pub(crate) async fn still_allowed(&mut self, id: &ActionId) -> Result<bool, DriveError> {
        if self.fresh.contains(id) {
            return Ok(true);
        }
        if let Err(unavailable) = self.take_in_policy().await? {
            if self.run.phase == Phase::Going {
                self.hand_off(unavailable)?;
            }
            return Ok(false);
        }
        let Some(action) = self.run.action(id).cloned() else {
            return Ok(false);
        };
        let decided = self.judgement(&action).await?;
        if decided.decision == Decision::Allow {
            return Ok(true);
        }
        if action.stage == ActionStage::Lost {
            let why = "It was cut short, and it may no longer be started again by itself";
            self.record(ActionUncertain {
                action: id.clone(),
                why: format!("{why}: {}.", decided.why),
            })?;
        } else {
            self.record(decided)?;
        }
        Ok(false)
    }

    async fn judgement(&mut self, action: &Action) -> Result<ActionDecided, DriveError> {
        let arguments = self.arguments(&action.arguments).await?;
        let facts = self.facts(action, &arguments).await?;
        Ok(policy::decide(&self.run, action, &arguments, facts))
    }

    /// What is true of an action with these arguments at this moment.
    pub(crate) async fn facts(
        &mut self,
        action: &Action,
        arguments: &Value,
    ) -> Result<ActionFacts, DriveError> {
        let Some(spec) = self.run.tool(&action.tool).cloned() else {
            return Ok(ActionFacts::default());
        };
        let mut known_urls = std::collections::HashSet::new();
        for url in policy::urls_in(&spec, arguments) {
            if self.has_met(&url).await? {
                known_urls.insert(url);
            }
        }
        let skill = match spec.name == policy::LOAD_SKILL {
            true => self.skill(arguments).await,
            false => None,
        };
        let (paths, secrets) = self.ports.world.look(&self.run, &spec, arguments).await;
        let looked = Looked {
            paths,
            secrets,
            skill,
            known_urls,
        };
        Ok(policy::facts(&spec, arguments, looked))
    }

    /// The skill that would be loaded; what a person is shown of it is kept with the decision.
    async fn skill(&mut self, arguments: &Value) -> Option<SkillFact> {
        let seen = self.ports.world.look_at_skill(&self.run, arguments).await?;
        let mut fact = SkillFact {
            skill: seen.skill,
            hash: seen.hash,
            ask: None,
            review: None,
        };
        if let Some((why, mut review)) = seen.ask {
            self.ports.world.masker().text(&mut review);
            let (body, blob) = Body::of(review);
            self.keep(blob);
            fact.ask = Some(why);
            fact.review = Some(body);
        }
        Some(fact)
    }

    /// Asks a person whether an action may start.
    pub(crate) async fn ask(&mut self, id: &ActionId) -> Result<(), DriveError> {
        let Some(action) = self.run.action(id).cloned() else {
            return Ok(());
        };
        let arguments = self.arguments(&action.arguments).await?;
        let facts = &action.facts;
        let shown = facts.binding.unwrap_or_else(|| action.arguments.hash());
        self.record(ApprovalRequested {
            action: id.clone(),
            why: action.why.clone(),
            shown,
            offers: policy::offers(&self.run, &action, &arguments, facts),
        })
    }

    /// Asks a person the question that an action is.
    pub(crate) async fn question(&mut self, id: &ActionId) -> Result<(), DriveError> {
        let Some(action) = self.run.action(id).cloned() else {
            return Ok(());
        };
        let arguments = self.arguments(&action.arguments).await?;
        let text = arguments.get("question").and_then(Value::as_str);
        let (question, blob) = Body::of(text.unwrap_or_default().to_owned());
        self.keep(blob);
        let options = arguments.get("options").and_then(Value::as_array);
        let options = options.into_iter().flatten().filter_map(Value::as_str);
        self.record(QuestionAsked {
            action: id.clone(),
            question,
            options: options.take(OPTIONS).map(str::to_owned).collect(),
            by: None,
        })
    }
}

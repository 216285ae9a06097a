//! The skills that the model was given, and what of them stays in its view.

use longrein_protocol::event::SkillLoaded;
use longrein_protocol::{ActionId, Body};

use super::{BYTES_PER_TOKEN, Run};

/// The share of the window that the instructions of skills may take once their place in the
/// conversation is gone. What is beyond is named, and loaded again when it is needed.
const PINNED_SHARE: f64 = 0.3;
/// The most skills that are remembered; of more, the oldest are not named any more.
const SKILLS_LIMIT: usize = 64;

/// A skill that the model was given.
#[derive(Clone, PartialEq, Debug)]
pub struct LoadedSkill {
    /// The action that loaded it last.
    pub action: ActionId,
    /// Its name.
    pub skill: String,
    /// What it was made of.
    pub hash: String,
    /// Its instructions as the model was shown them; `None` until the action has ended.
    pub text: Option<Body>,
    /// Whether its place in the conversation is gone, so that it is laid before it.
    pub pinned: bool,
}

impl Run {
    pub(super) fn skill_loaded(&mut self, loaded: &SkillLoaded) {
        self.skills.retain(|skill| skill.skill != loaded.skill);
        if self.skills.len() == SKILLS_LIMIT {
            self.skills.remove(0);
        }
        self.skills.push(LoadedSkill {
            action: loaded.action.clone(),
            skill: loaded.skill.clone(),
            hash: loaded.hash.clone(),
            text: None,
            pinned: false,
        });
        self.progressed = true;
    }

    /// Takes down what the model was shown by an action that loaded a skill.
    pub(super) fn skill_shown(&mut self, action: &ActionId, text: &Body) {
        let mut skills = self.skills.iter_mut();
        if let Some(skill) = skills.find(|skill| skill.action == *action) {
            skill.text = Some(text.clone());
        }
    }

    /// The instructions that stay in view whatever is taken out: those loaded last, as far as the
    /// window has room for them.
    pub fn lasting_skills(&self) -> impl Iterator<Item = (&LoadedSkill, &Body)> {
        let window = f64::from(self.window_tokens()) * PINNED_SHARE * BYTES_PER_TOKEN as f64;
        let mut left = window as usize;
        let mut lasting: Vec<(&LoadedSkill, &Body)> = Vec::new();
        for skill in self.skills.iter().rev() {
            let Some(text) = skill.text.as_ref().filter(|text| text.len() <= left) else {
                continue;
            };
            left -= text.len();
            lasting.push((skill, text));
        }
        lasting.reverse();
        lasting.into_iter()
    }

    /// Whether what an action returned stays in view whatever is taken out.
    pub fn lasts(&self, action: &ActionId) -> bool {
        self.lasting_skills()
            .any(|(skill, _)| skill.action == *action)
    }

    /// Instructions that are laid before the conversation, since their place in it is gone.
    pub fn pinned_skills(&self) -> impl Iterator<Item = (&LoadedSkill, &Body)> {
        self.lasting_skills().filter(|(skill, _)| skill.pinned)
    }

    /// Skills whose place in the conversation is gone and for which there is no room.
    pub fn forgotten_skills(&self) -> impl Iterator<Item = &LoadedSkill> {
        let gone = self.skills.iter().filter(|skill| skill.pinned);
        gone.filter(|skill| !self.lasts(&skill.action))
    }

    /// Lays what these actions returned before the conversation from here on.
    pub(super) fn pin_skills(&mut self, gone: &[ActionId]) {
        for skill in &mut self.skills {
            skill.pinned |= gone.contains(&skill.action);
        }
    }

    /// Bytes of what is laid before the conversation.
    pub(super) fn pinned_skill_bytes(&self) -> usize {
        self.pinned_skills().map(|(_, text)| text.len()).sum()
    }
}

//! Another model takes over.

use longrein_protocol::Block;
use longrein_protocol::block::ModelErrorClass;
use longrein_protocol::event::ModelSwitched;
use longrein_protocol::view::KnotShape;

use super::{Item, Request, Run};

impl Run {
    /// The model that takes over when the present one can't be used: the next of the agent's list.
    /// What another model would refuse as well is no reason.
    pub fn fallback(&self, class: ModelErrorClass) -> Option<String> {
        use ModelErrorClass::{
            Auth, BadRequest, ContentRefused, ContextTooLong, Malformed, MediaRefused, Network,
            Overloaded, RateLimited, UnknownModel,
        };
        match class {
            Auth | RateLimited | Overloaded | Network | Malformed | UnknownModel => {}
            ContextTooLong | ContentRefused | BadRequest | MediaRefused => return None,
        }
        let present = &self.created.as_ref()?.model;
        let list = &self.agent()?.model.use_;
        let place = list.iter().position(|model| model == present)?;
        list.get(place + 1).cloned()
    }

    pub(super) fn switched(&mut self, switched: &ModelSwitched) {
        if let Some(created) = &mut self.created {
            created.model.clone_from(&switched.to);
            created.window_tokens = switched.window_tokens;
            created.price = switched.price;
            created.takes = switched.takes;
        }
        self.strip_raw();
        self.forget_refusals();
        self.front_changed = true;
        self.request = Request::None;
        // What the new model makes of bytes is not known yet.
        self.ratio_last = 0.0;
        self.knot(KnotShape::Ring);
    }

    /// Takes out what only the model that said it may be sent: raw forms, and reasoning without
    /// words.
    pub(super) fn strip_raw(&mut self) {
        for item in &mut self.conversation.items {
            let Item::Assistant(blocks) = item else {
                continue;
            };
            blocks.retain_mut(|block| match block {
                Block::Text { raw, .. } | Block::ToolUse { raw, .. } => {
                    *raw = None;
                    true
                }
                Block::Thinking { .. } => false,
            });
        }
        self.weigh();
    }

    /// What one model refused, another may take.
    pub(super) fn forget_refusals(&mut self) {
        self.reduced.clear();
        self.accepted_items = 0;
    }
}

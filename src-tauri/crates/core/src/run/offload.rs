//! Results that are too long to be shown: which ones, what stands in their place, and how they are
//! found again.

use longrein_protocol::block::{Origin, Trust};
use longrein_protocol::event::ResultOffloaded;
use longrein_protocol::tool::READ_RESULT;
use longrein_protocol::{ActionId, Body};

use super::next::DELEGATE;
use super::{Action, ActionResult, BYTES_PER_TOKEN, Item, Run};
use crate::outline::PREVIEW_BYTES_MIN;

/// The part of the limit of one result that its preview takes.
const PREVIEW_PART: usize = 4;
/// How many results of full length a step may show together.
const STEP_RESULTS: usize = 4;
/// The part of the window that the results of one step may take together.
const STEP_WINDOW_PART: usize = 4;

/// A result that can be read on in, however little of it was shown.
#[derive(Clone, PartialEq, Debug)]
pub struct KeptResult {
    /// The action that gave it.
    pub action: ActionId,
    /// All of it.
    pub body: Body,
    /// Where it comes from.
    pub origin: Origin,
    /// Whether it may be believed.
    pub trust: Trust,
    /// The file beneath the workspace that holds it.
    pub file: Option<String>,
    /// Whether the tool itself left that file, with more in it than `body` has.
    pub file_has_more: bool,
}

/// A result that is too long to be shown.
#[derive(Clone, PartialEq, Debug)]
pub struct TooLong {
    /// The action that gave it.
    pub action: ActionId,
    /// All of it.
    pub body: Body,
    /// The file that holds it already.
    pub file: Option<String>,
    /// How long what is shown of it may be, about, in bytes.
    pub preview_bytes: usize,
}

/// A result that no request has held.
struct Unsent<'r> {
    action: &'r ActionId,
    tool: &'r str,
    result: &'r ActionResult,
}

impl Run {
    /// The results that have to be shown by what they are made of before the next request: each that
    /// is over its own limit, and of those that are too much together the largest first.
    pub fn too_long(&self) -> Vec<TooLong> {
        let Some(agent) = self.agent() else {
            return Vec::new();
        };
        let limit = agent.context.offload_above_tokens as usize * BYTES_PER_TOKEN;
        let preview_bytes = (limit / PREVIEW_PART).max(PREVIEW_BYTES_MIN);
        let unsent: Vec<Unsent<'_>> = self.unsent_results().collect();
        let mut left: usize = unsent.iter().map(|unsent| unsent.result.body.len()).sum();
        if left <= preview_bytes {
            return Vec::new();
        }
        let mut by_size: Vec<&Unsent<'_>> = unsent
            .iter()
            .filter(|unsent| unsent.result.body.len() > preview_bytes && self.may_be_cut(unsent))
            .collect();
        // Of equal size the first goes first: the sort keeps their order.
        by_size.sort_by_key(|unsent| std::cmp::Reverse(unsent.result.body.len()));
        let together = self.together_bytes(limit);
        let mut too_long: Vec<ActionId> = Vec::new();
        for unsent in &by_size {
            let bytes = unsent.result.body.len();
            if bytes > self.result_limit(unsent.tool, limit) || left > together {
                left = left.saturating_sub(bytes - preview_bytes);
                too_long.push(unsent.action.clone());
            }
        }
        // In the order in which they stand.
        unsent
            .iter()
            .filter(|unsent| too_long.contains(unsent.action))
            .map(|unsent| TooLong {
                action: unsent.action.clone(),
                body: unsent.result.body.clone(),
                file: unsent.result.file.clone(),
                preview_bytes,
            })
            .collect()
    }

    /// How much of a tool's result is shown whole, in bytes.
    fn result_limit(&self, tool: &str, limit: usize) -> usize {
        let own = self
            .tool(tool)
            .map(|spec| spec.result_tokens as usize * BYTES_PER_TOKEN);
        match own {
            // Both are held to a length of their own, and what they show was asked for as it is.
            Some(own) if tool == READ_RESULT || tool == DELEGATE => own,
            Some(own) => own.min(limit),
            None => limit,
        }
    }

    /// How much the results of one step may show together, in bytes.
    fn together_bytes(&self, limit: usize) -> usize {
        let many = limit.saturating_mul(STEP_RESULTS);
        match self.window_tokens() as usize * BYTES_PER_TOKEN {
            0 => many,
            // One result may show what the agent says, unless it would fill the window by itself.
            window => many
                .min(limit.max(window / STEP_WINDOW_PART))
                .min(window / 2),
        }
    }

    /// Half of an instruction is none, and what is cut already is not cut again.
    fn may_be_cut(&self, unsent: &Unsent<'_>) -> bool {
        let of_skill = matches!(unsent.result.origin, Origin::Skill { .. });
        !of_skill && unsent.result.whole.is_none() && unsent.result.error.is_none()
    }

    fn unsent_results(&self) -> impl Iterator<Item = Unsent<'_>> {
        let conversation = &self.conversation;
        let sent = self.compiled_items.max(conversation.pruned_before);
        // From the end, since what is unsent stands there and a conversation may be long.
        let skip = sent.saturating_sub(conversation.first) as usize;
        let unsent = conversation
            .items
            .range(skip.min(conversation.items.len())..);
        unsent.filter_map(|item| match item {
            Item::Result {
                action,
                tool,
                result,
                ..
            } => Some(Unsent {
                action,
                tool,
                result,
            }),
            Item::Person(_) | Item::Assistant(_) | Item::Notice(_) => None,
        })
    }

    /// The result of an action that no request has held and that is whole.
    pub(super) fn unsent_result(&self, action: &ActionId) -> Option<&ActionResult> {
        let mut unsent = self.unsent_results();
        let found = unsent.find(|unsent| unsent.action == action && unsent.result.whole.is_none());
        found.map(|unsent| unsent.result)
    }

    pub(super) fn offloaded(&mut self, offloaded: &ResultOffloaded) {
        let conversation = &mut self.conversation;
        let item = conversation
            .items
            .iter_mut()
            .rev()
            .find_map(|item| match item {
                Item::Result { action, result, .. } if *action == offloaded.action => Some(result),
                _ => None,
            });
        let Some(result) = item else {
            return;
        };
        conversation.bytes = conversation
            .bytes
            .saturating_sub(result.body.len())
            .saturating_add(offloaded.shown.len());
        let whole = std::mem::replace(&mut result.body, offloaded.shown.clone());
        result.whole.get_or_insert(whole);
        if offloaded.file.is_some() && offloaded.file != result.file {
            result.file.clone_from(&offloaded.file);
            // A new file of the workspace.
            self.files_touched = Some(self.seq);
        }
        let mut kept = self.results_kept.iter_mut().rev();
        if let Some(kept) = kept.find(|kept| kept.action == offloaded.action) {
            kept.file.clone_from(&offloaded.file);
        }
    }

    /// Takes down a result that can be read on in once it is no longer shown whole.
    pub(super) fn keep_result(&mut self, action: &Action, result: &ActionResult) {
        let body = result.whole.as_ref().unwrap_or(&result.body);
        if !matches!(body, Body::Blob { .. }) {
            return;
        }
        self.results_kept.push(KeptResult {
            action: action.id.clone(),
            body: body.clone(),
            origin: result.origin.clone(),
            trust: result.trust,
            file: result.file.clone(),
            file_has_more: result.file.is_some(),
        });
    }
}

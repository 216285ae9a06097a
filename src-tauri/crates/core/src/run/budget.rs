//! Hard limits: what is used, what is held in reserve, what the next request may cost.

use longrein_protocol::block::Usage;
use longrein_protocol::event::{BudgetExceeded, BudgetRaised, BudgetWarned, Limit, Limits, Price};

use super::{Reserve, Run};

/// At this share of a limit, in percent, the person is warned.
const WARN_AT_PERCENT: u64 = 80;
/// Bytes by which a request may have grown since the last one, when the output that is still
/// affordable is worked out before it is put together.
const GROWTH_BYTES: usize = 8_192;

/// One limit: which, how much is used, how much there is.
type Measure = (Limit, u64, Option<u64>);

impl Run {
    /// The price of the model's tokens, where it is known.
    pub fn price(&self) -> Option<Price> {
        self.created.as_ref()?.price
    }

    /// Input and output tokens that are known to be used.
    pub fn tokens_known(&self) -> (u32, u32) {
        (
            self.used.tokens_in.saturating_sub(self.unsettled.tokens_in),
            self.used
                .tokens_out
                .saturating_sub(self.unsettled.tokens_out),
        )
    }

    /// Money that is known to be spent, in millionths of a dollar; `None` where the price is not
    /// known and the provider says nothing.
    pub fn money_known(&self) -> Option<u64> {
        let known = self
            .used
            .money_micro
            .saturating_sub(self.unsettled.money_micro);
        (self.price().is_some() || known > 0).then_some(known)
    }

    /// Estimated tokens of `bytes` of a request, for the meter. Media counts by its weight.
    pub fn estimate(&self, bytes: usize) -> u32 {
        let ratio = if self.ratio_last > 0.0 {
            self.ratio_last
        } else {
            1.0
        };
        (bytes as f64 / 4.0 * ratio).ceil() as u32
    }

    /// Estimated tokens of `bytes` of a request, for a reservation: never too few, as far as
    /// the run's own experience goes.
    pub fn estimate_at_most(&self, bytes: usize) -> u32 {
        (bytes as f64 / 4.0 * self.ratio_worst.max(1.25)).ceil() as u32
    }

    /// What a request of so many bytes, media by its weight, holds in reserve until it is settled.
    pub fn reserve(&self, bytes: usize, tokens_out: u32) -> Reserve {
        self.reserve_at(bytes, tokens_out, None)
    }

    /// The same at another price than that of the run's model, where one is given.
    pub fn reserve_at(&self, bytes: usize, tokens_out: u32, price: Option<Price>) -> Reserve {
        let tokens_in = self.estimate_at_most(bytes);
        let price = price.or(self.price());
        Reserve {
            tokens_in,
            tokens_out,
            money_micro: price.map_or(0, |price| price.of(tokens_in, 0, tokens_out)),
        }
    }

    /// The most tokens that the next response may have; 0 when nothing is left.
    pub fn output_limit(&self) -> u32 {
        let Some(agent) = self.agent() else { return 0 };
        let left = self
            .limits
            .tokens_out
            .map_or(u32::MAX, |limit| limit.saturating_sub(self.used.tokens_out));
        agent
            .model
            .max_output_tokens
            .min(left)
            .min(self.affordable_output())
    }

    /// The most output tokens that the money pays for, after the input.
    fn affordable_output(&self) -> u32 {
        let (Some(limit), Some(price)) = (self.limits.money_micro, self.price()) else {
            return u32::MAX;
        };
        let bytes = self.conversation.bytes.max(self.body_weight as usize) + GROWTH_BYTES;
        let input = price.of(self.estimate_at_most(bytes), 0, 0);
        let left = limit
            .saturating_sub(self.used.money_micro)
            .saturating_sub(input);
        if price.output == 0 {
            return u32::MAX;
        }
        let tokens = u128::from(left) * 1_000_000 / u128::from(price.output);
        u32::try_from(tokens).unwrap_or(u32::MAX)
    }

    /// What is used of each limit, with `more` of what the next request would need.
    fn measures(&self, more: Reserve, steps: u32, minutes: u32) -> [Measure; 5] {
        let (used, limits) = (&self.used, &self.limits);
        let minutes = used.working_ms / 60_000 + minutes;
        let of = |limit: Option<u32>| limit.map(u64::from);
        [
            (
                Limit::Steps,
                u64::from(used.steps) + u64::from(self.granted.0) + u64::from(steps),
                of(limits.steps),
            ),
            (
                Limit::TokensIn,
                u64::from(used.tokens_in) + u64::from(more.tokens_in),
                of(limits.tokens_in),
            ),
            (
                Limit::TokensOut,
                u64::from(used.tokens_out) + u64::from(more.tokens_out),
                of(limits.tokens_out),
            ),
            (
                Limit::WorkingMinutes,
                u64::from(minutes),
                of(limits.working_minutes),
            ),
            (
                Limit::Money,
                used.money_micro.saturating_add(more.money_micro),
                limits.money_micro,
            ),
        ]
    }

    /// The limit that the next request would pass, if any, judged by the size of the last one.
    pub(super) fn budget_reached(&self) -> Option<BudgetExceeded> {
        let more = self.reserve(self.body_weight as usize, self.output_limit().max(1));
        self.passed_by(more, true)
    }

    /// The limit that a request with this reserve would pass, if any. Only the first attempt of
    /// the conversation's own request is a step.
    pub fn passed_by(&self, more: Reserve, is_step: bool) -> Option<BudgetExceeded> {
        let step = u32::from(is_step);
        passed(self.measures(more, step, step))
    }

    /// The limit of actions, when the next action would pass it.
    pub(super) fn actions_reached(&self) -> Option<BudgetExceeded> {
        let of = self.limits.actions?;
        let used = self.used.actions + self.granted.1 + 1;
        (used > of).then(|| BudgetExceeded {
            limit: Limit::Actions,
            used: u64::from(used),
            of: u64::from(of),
        })
    }

    /// How many more actions may start.
    pub(super) fn actions_left(&self) -> u32 {
        let used = self.used.actions.saturating_add(self.granted.1);
        let limit = self.limits.actions.unwrap_or(u32::MAX);
        limit.saturating_sub(used)
    }

    /// A limit of which four fifths are used, and of which the person was not warned.
    pub(super) fn budget_warning(&self) -> Option<BudgetWarned> {
        let actions = (
            Limit::Actions,
            u64::from(self.used.actions),
            self.limits.actions.map(u64::from),
        );
        let measures = self.measures(Reserve::default(), 0, 0);
        measures
            .into_iter()
            .chain([actions])
            .find_map(|(limit, used, of)| {
                let of = of?;
                let near = u128::from(used) * 100 >= u128::from(of) * u128::from(WARN_AT_PERCENT);
                (near && used > 0 && !self.warned.contains(&limit)).then_some(BudgetWarned {
                    limit,
                    used,
                    of,
                })
            })
    }

    pub(super) fn raised(&mut self, raised: &BudgetRaised) {
        let BudgetRaised { limits: new, .. } = raised;
        let limits = &mut self.limits;
        let set = [
            (Limit::Steps, new.steps, &mut limits.steps),
            (Limit::TokensIn, new.tokens_in, &mut limits.tokens_in),
            (Limit::TokensOut, new.tokens_out, &mut limits.tokens_out),
            (
                Limit::WorkingMinutes,
                new.working_minutes,
                &mut limits.working_minutes,
            ),
            (Limit::Actions, new.actions, &mut limits.actions),
        ];
        for (limit, new, old) in set {
            if new.is_some() {
                *old = new;
                self.warned.retain(|warned| *warned != limit);
            }
        }
        if new.money_micro.is_some() {
            limits.money_micro = new.money_micro;
            self.warned.retain(|warned| *warned != Limit::Money);
        }
        self.exceeded = None;
    }

    pub(super) fn begin_limits(&mut self) {
        let Some(agent) = self.agent() else { return };
        let budget = &agent.budget;
        self.limits = Limits {
            steps: Some(budget.steps),
            tokens_in: budget.tokens_in,
            tokens_out: budget.tokens_out,
            working_minutes: budget.working_minutes,
            actions: budget.actions,
            money_micro: budget.money_micro(),
        };
    }

    pub(super) fn hold(&mut self, more: Reserve) {
        for held in [
            (&mut self.used.tokens_in, more.tokens_in),
            (&mut self.used.tokens_out, more.tokens_out),
            (&mut self.unsettled.tokens_in, more.tokens_in),
            (&mut self.unsettled.tokens_out, more.tokens_out),
        ] {
            *held.0 = held.0.saturating_add(held.1);
        }
        for held in [&mut self.used.money_micro, &mut self.unsettled.money_micro] {
            *held = held.saturating_add(more.money_micro);
        }
    }

    /// Takes back what a settled request held in reserve.
    pub(super) fn release(&mut self, held: Reserve) {
        for taken in [
            (&mut self.used.tokens_in, held.tokens_in),
            (&mut self.used.tokens_out, held.tokens_out),
            (&mut self.unsettled.tokens_in, held.tokens_in),
            (&mut self.unsettled.tokens_out, held.tokens_out),
        ] {
            *taken.0 = taken.0.saturating_sub(taken.1);
        }
        for taken in [&mut self.used.money_micro, &mut self.unsettled.money_micro] {
            *taken = taken.saturating_sub(held.money_micro);
        }
    }

    /// Counts what a request used: the cost as the provider says, else by the price.
    pub(super) fn spend(&mut self, usage: Usage, latency_ms: u32) {
        self.spend_at(usage, latency_ms, None);
    }

    /// The same at another price than that of the run's model, where one is given.
    pub(super) fn spend_at(&mut self, usage: Usage, latency_ms: u32, price: Option<Price>) {
        let used = &mut self.used;
        used.tokens_in = used.tokens_in.saturating_add(usage.input);
        used.tokens_out = used.tokens_out.saturating_add(usage.output);
        used.working_ms = used.working_ms.saturating_add(latency_ms);
        let price = price.or(self.price());
        let of = |price: Price| price.of(usage.input, usage.cached, usage.output);
        let cost = usage.cost_micro.unwrap_or_else(|| price.map_or(0, of));
        self.cost_estimated |= usage.cost_micro.is_none() && cost > 0;
        self.used.money_micro = self.used.money_micro.saturating_add(cost);
    }
}

fn passed(measures: [Measure; 5]) -> Option<BudgetExceeded> {
    measures.into_iter().find_map(|(limit, used, of)| {
        let of = of.filter(|of| used > *of)?;
        Some(BudgetExceeded { limit, used, of })
    })
}

//! Hard limits in words, and as they are typed.

pub use longrein_core::view::amount;
use longrein_protocol::event::Limit;
use longrein_protocol::view::{Meter, Money, RunHead};

use crate::text;

/// Millionths in a dollar.
const MICRO: u64 = 1_000_000;

/// The flag that sets a limit.
pub fn flag(limit: Limit) -> &'static str {
    match limit {
        Limit::Steps => "--max-steps",
        Limit::TokensIn => "--max-tokens-in",
        Limit::TokensOut => "--max-tokens-out",
        Limit::WorkingMinutes => "--max-minutes",
        Limit::Actions => "--max-actions",
        Limit::Money => "--max-cost",
    }
}

/// An amount as it is typed behind its flag, exactly.
pub fn typed(limit: Limit, amount: u64) -> String {
    if limit != Limit::Money {
        return amount.to_string();
    }
    let (whole, part) = (amount / MICRO, amount % MICRO);
    match format!("{part:06}").trim_end_matches('0') {
        "" => whole.to_string(),
        part => format!("{whole}.{part:0<2}"),
    }
}

/// Money that was spent, and how sure that is.
pub fn cost(head: &RunHead) -> String {
    if !head.money.known {
        return "not known; the price can be given in config.toml".to_owned();
    }
    let sure = match (head.money.estimated, head.money.used_micro) {
        (true, _) => " (estimated by the price)",
        (false, 1..) => " (as the provider says)",
        (false, 0) => "",
    };
    format!("{}{sure}", money(&head.money))
}

/// Money that was spent, with what is held in reserve and the limit.
pub fn money(money: &Money) -> String {
    let mut words = text::dollars(money.used_micro);
    if let Some(limit) = money.limit_micro {
        words.push_str(&format!(" of {}", text::dollars(limit)));
    }
    if money.held_micro > 0 {
        words.push_str(&format!(
            ", {} more in reserve",
            text::dollars(money.held_micro)
        ));
    }
    words
}

/// What is used of every limit that there is, one line each, for the panel.
pub fn budget(head: &RunHead) -> Vec<String> {
    let seconds = |meter: Meter| {
        let limit = meter.limit.map(|seconds| text::seconds(seconds.into()));
        limit.map(|limit| format!("{} of {limit} of work", text::seconds(meter.used.into())))
    };
    let known = head.money.known.then(|| money(&head.money));
    [
        metered(Limit::Steps, head.steps),
        metered(Limit::TokensIn, head.tokens_in),
        metered(Limit::TokensOut, head.tokens_out),
        metered(Limit::Actions, head.actions),
        seconds(head.working_seconds),
        known.filter(|_| head.money.limit_micro.is_some()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn metered(limit: Limit, meter: Meter) -> Option<String> {
    let of = amount(limit, meter.limit?.into());
    let mut words = format!("{} of {of}", text::count(meter.used.into()));
    if meter.held > 0 {
        words.push_str(&format!(
            ", {} more in reserve",
            text::count(meter.held.into())
        ));
    }
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_typed_as_its_flag_reads_it() {
        let cases = [
            (Limit::Steps, 120, "120"),
            (Limit::TokensIn, 2_000_000, "2000000"),
            (Limit::Money, 2_000_000, "2"),
            (Limit::Money, 2_500_000, "2.50"),
            (Limit::Money, 123, "0.000123"),
            (Limit::Money, 1_230_000, "1.23"),
        ];
        for (limit, amount, words) in cases {
            assert_eq!(typed(limit, amount), words);
        }
    }

    #[test]
    fn what_is_held_in_reserve_is_told_beside_what_is_used() {
        let meter = Meter {
            used: 1_200,
            held: 300,
            limit: Some(5_000),
        };
        let words = metered(Limit::TokensIn, meter).unwrap();
        assert_eq!(words, "1,200 of 5,000 tokens in, 300 more in reserve");
        let spent = Money {
            used_micro: 120_000,
            held_micro: 0,
            limit_micro: Some(2_000_000),
            known: true,
            estimated: false,
        };
        assert_eq!(money(&spent), "$0.12 of $2.00");
    }
}

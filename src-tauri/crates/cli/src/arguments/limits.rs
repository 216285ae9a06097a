//! Hard limits as they are typed: `--max-cost 2.50`.

use clap::Args;
use longrein_protocol::event::Limits;

/// The digits behind the point that an amount of money may have.
const FRACTION_DIGITS: usize = 6;
/// Millionths in a dollar.
const MICRO: u64 = 1_000_000;
/// The most that a run may be allowed to cost, in dollars.
const DOLLARS_LIMIT: u64 = 100_000;

/// The limits that `run` and `resume` take.
#[derive(Args, Clone, Debug, Default)]
pub struct LimitArguments {
    /// Stop after so many model requests
    #[arg(long, value_name = "N", help_heading = "Limits", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_steps: Option<u32>,
    /// Stop before more input tokens than this
    #[arg(long, value_name = "N", help_heading = "Limits", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_tokens_in: Option<u32>,
    /// Stop before more output tokens than this
    #[arg(long, value_name = "N", help_heading = "Limits", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_tokens_out: Option<u32>,
    /// Stop before it costs more US dollars than this
    #[arg(long, value_name = "USD", help_heading = "Limits", value_parser = dollars)]
    pub max_cost: Option<u64>,
    /// Stop after so many minutes of work; waiting for you does not count
    #[arg(long, value_name = "N", help_heading = "Limits", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_minutes: Option<u32>,
    /// Stop before more actions than this are started
    #[arg(long, value_name = "N", help_heading = "Limits", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_actions: Option<u32>,
}

impl LimitArguments {
    /// As a person's wish carries them; what was not typed stays as it is.
    pub fn limits(&self) -> Limits {
        Limits {
            steps: self.max_steps,
            tokens_in: self.max_tokens_in,
            tokens_out: self.max_tokens_out,
            working_minutes: self.max_minutes,
            actions: self.max_actions,
            money_micro: self.max_cost,
        }
    }
}

/// Why a word is no amount of money.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
enum NoMoney {
    #[error("write US dollars, for example 2.50")]
    Shape,
    #[error("it has to be more than 0 and at most {DOLLARS_LIMIT}")]
    Range,
}

/// `2.50` in millionths of a dollar, exactly.
fn dollars(word: &str) -> Result<u64, NoMoney> {
    let amount = word.strip_prefix('$').unwrap_or(word);
    let (whole, fraction) = amount.split_once('.').unwrap_or((amount, "0"));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) || fraction.len() > FRACTION_DIGITS {
        return Err(NoMoney::Shape);
    }
    let whole: u64 = whole.parse().map_err(|_| NoMoney::Range)?;
    let fraction: u64 = format!("{fraction:0<FRACTION_DIGITS$}")
        .parse()
        .map_err(|_| NoMoney::Shape)?;
    let micro = whole
        .checked_mul(MICRO)
        .and_then(|whole| whole.checked_add(fraction));
    micro
        .filter(|micro| (1..=DOLLARS_LIMIT * MICRO).contains(micro))
        .ok_or(NoMoney::Range)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_read_to_the_millionth_of_a_dollar_and_nothing_else_is_money() {
        let cases = [
            ("2", Ok(2_000_000)),
            ("2.50", Ok(2_500_000)),
            ("$0.000001", Ok(1)),
            ("0.1", Ok(100_000)),
            ("100000", Ok(100_000_000_000)),
            ("0", Err(NoMoney::Range)),
            ("100000.01", Err(NoMoney::Range)),
            ("99999999999999999999", Err(NoMoney::Range)),
            ("1e3", Err(NoMoney::Shape)),
            ("-1", Err(NoMoney::Shape)),
            (".5", Err(NoMoney::Shape)),
            ("1.", Err(NoMoney::Shape)),
            ("1,5", Err(NoMoney::Shape)),
            ("0.0000001", Err(NoMoney::Shape)),
        ];
        for (word, money) in cases {
            assert_eq!(dollars(word), money, "{word}");
        }
    }
}

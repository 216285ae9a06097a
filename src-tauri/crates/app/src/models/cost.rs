//! What something cost, and how sure that is.

use longrein_models::catalogue::{Source, Sourced, UsdPrice};
use longrein_protocol::block::Usage;
use serde::Serialize;

/// What something cost, in millionths of a dollar.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case", tag = "cost")]
pub enum Cost {
    /// As the provider says.
    Reported {
        /// Millionths of a dollar.
        micro_usd: u64,
    },
    /// By the price and the tokens.
    Estimated {
        /// Millionths of a dollar.
        micro_usd: u64,
        /// Who says what tokens cost.
        price_from: Source,
    },
    /// Nobody knows what its tokens cost.
    Unknown,
}

impl Cost {
    /// What some tokens cost.
    pub fn of(usage: &Usage, price: Option<&Sourced<UsdPrice>>) -> Self {
        if let Some(micro_usd) = usage.cost_micro {
            return Self::Reported { micro_usd };
        }
        match price {
            Some(price) => Self::Estimated {
                micro_usd: price
                    .value
                    .micro()
                    .of(usage.input, usage.cached, usage.output),
                price_from: price.source,
            },
            None => Self::Unknown,
        }
    }
}

//! Anthropic Messages.

mod assembly;
mod dialect;
mod thinking;

use longrein_core::dialect::Dialect;

pub use dialect::AnthropicDialect;

use crate::adapter::{Adapter, Wire};
use crate::format::ModelConfig;
use crate::http::{KeyHeader, Manners};
use assembly::AnthropicAssembly;

pub(crate) const MANNERS: Manners = Manners {
    format: "Anthropic Messages",
    key_header: KeyHeader::Named("x-api-key"),
    headers: &[("anthropic-version", "2023-06-01")],
    version: "/v1",
    adds_version: true,
};

/// What is the format's own.
pub(crate) struct Anthropic {
    dialect: AnthropicDialect,
}

impl Wire for Anthropic {
    type Assembly = AnthropicAssembly;

    fn dialect(&self) -> &dyn Dialect {
        &self.dialect
    }

    fn path(&self) -> Vec<&str> {
        vec!["messages"]
    }

    fn assembly(&self) -> AnthropicAssembly {
        AnthropicAssembly::default()
    }
}

pub(crate) fn adapter(config: &ModelConfig) -> Adapter<Anthropic> {
    Adapter::new(config, &MANNERS, |endpoint| Anthropic {
        dialect: AnthropicDialect::new(&endpoint.provider.model),
    })
}

#[cfg(test)]
mod tests;

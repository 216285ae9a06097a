//! OpenAI Responses, stateless: nothing is stored at the provider, and reasoning goes back
//! encrypted.

mod assembly;
mod dialect;

use longrein_core::dialect::Dialect;

pub use dialect::ResponsesDialect;

use crate::adapter::{Adapter, Wire};
use crate::format::ModelConfig;
use crate::http::{KeyHeader, Manners};
use assembly::ResponsesAssembly;

pub(crate) const MANNERS: Manners = Manners {
    format: "OpenAI Responses",
    key_header: KeyHeader::Bearer,
    headers: &[],
    version: "/v1",
    // Servers put the format beneath all kinds of paths.
    adds_version: false,
};

/// What is the format's own.
pub(crate) struct Responses {
    dialect: ResponsesDialect,
}

impl Wire for Responses {
    type Assembly = ResponsesAssembly;

    fn dialect(&self) -> &dyn Dialect {
        &self.dialect
    }

    fn path(&self) -> Vec<&str> {
        vec!["responses"]
    }

    fn assembly(&self) -> ResponsesAssembly {
        ResponsesAssembly::default()
    }
}

pub(crate) fn adapter(config: &ModelConfig) -> Adapter<Responses> {
    Adapter::new(config, &MANNERS, |endpoint| Responses {
        dialect: ResponsesDialect::new(&endpoint.provider.model),
    })
}

#[cfg(test)]
mod tests;

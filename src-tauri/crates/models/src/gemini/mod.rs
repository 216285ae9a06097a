//! Google Gemini: `generateContent`, streamed.

mod assembly;
mod dialect;
mod thinking;

use longrein_core::dialect::Dialect;

pub use dialect::GeminiDialect;

use crate::adapter::{Adapter, Wire};
use crate::format::ModelConfig;
use crate::http::{KeyHeader, Manners, Query};
use assembly::GeminiAssembly;

pub(crate) const MANNERS: Manners = Manners {
    format: "Gemini",
    // The API takes the key in the address too, where it would get into logs.
    key_header: KeyHeader::Named("x-goog-api-key"),
    headers: &[],
    version: "/v1beta",
    adds_version: true,
};

/// What is the format's own.
pub(crate) struct Gemini {
    dialect: GeminiDialect,
    method: String,
}

impl Wire for Gemini {
    type Assembly = GeminiAssembly;

    fn dialect(&self) -> &dyn Dialect {
        &self.dialect
    }

    fn path(&self) -> Vec<&str> {
        vec!["models", &self.method]
    }

    fn query(&self) -> &'static Query {
        &[("alt", "sse")]
    }

    fn assembly(&self) -> GeminiAssembly {
        GeminiAssembly::default()
    }
}

pub(crate) fn adapter(config: &ModelConfig) -> Adapter<Gemini> {
    Adapter::new(config, &MANNERS, |endpoint| {
        let model = &endpoint.provider.model;
        let name = model.strip_prefix("models/").unwrap_or(model);
        Gemini {
            dialect: GeminiDialect::new(name),
            method: format!("{name}:streamGenerateContent"),
        }
    })
}

#[cfg(test)]
mod tests;

//! Tool calls for models that can't call tools: the tools are described in the system text, and a
//! JSON Schema with one branch per tool and one for an answer keeps the reply to a form that can
//! be read back. Works with every server of the chat format that takes `response_format`.

mod dialect;
mod grammar;
mod reply;
mod watch;

use longrein_core::dialect::Dialect;

pub use dialect::SchemaDialect;

use crate::adapter::{Adapter, Wire};
use crate::format::ModelConfig;
use crate::openai_chat;
use reply::SchemaAssembly;

/// What is the format's own.
pub(crate) struct SchemaChat {
    dialect: SchemaDialect,
}

impl Wire for SchemaChat {
    type Assembly = SchemaAssembly;

    fn dialect(&self) -> &dyn Dialect {
        &self.dialect
    }

    fn path(&self) -> Vec<&str> {
        vec!["chat", "completions"]
    }

    fn assembly(&self) -> SchemaAssembly {
        SchemaAssembly::default()
    }
}

pub(crate) fn adapter(config: &ModelConfig) -> Adapter<SchemaChat> {
    Adapter::new(config, &openai_chat::MANNERS, |endpoint| SchemaChat {
        dialect: SchemaDialect::new(openai_chat::dialect_of(endpoint)),
    })
}

#[cfg(test)]
mod tests;

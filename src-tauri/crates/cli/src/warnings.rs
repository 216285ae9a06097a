//! What the parts of Longrein warn of, on standard error: a tool that is left out, a wish that
//! can't be read. Nothing is dropped in silence.

use std::fmt::{self, Write as _};
use std::io::{self, IsTerminal as _, Write as _};

use longrein_keys::Known;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::text;

/// The crates whose warnings are for the person.
const OURS: &str = "longrein";

/// Begins to tell warnings.
pub fn tell() {
    // Whoever set another one before has a use for it.
    let _ = tracing::subscriber::set_global_default(Warnings);
}

/// Takes events and no spans.
struct Warnings;

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event()
            && *metadata.level() <= Level::WARN
            && metadata.target().starts_with(OURS)
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut words = Words::default();
        event.record(&mut words);
        let said = Known::of_process().masked(format!("{}{}", words.message, words.facts));
        let line = text::plain(&said);
        let mut err = io::stderr().lock();
        let clear = if err.is_terminal() { "\r\u{1b}[K" } else { "" };
        let _ = writeln!(err, "{clear}longrein: warning: {line}");
    }

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

/// The message of an event, and its further fields behind it.
#[derive(Default)]
struct Words {
    message: String,
    facts: String,
}

impl Visit for Words {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a text does not fail.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.facts, " ({name} {value:?})"),
        };
    }
}

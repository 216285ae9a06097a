//! The command `longrein`: what a person types, and what they read of it.

mod arguments;
mod ask;
mod bench;
mod browser;
mod commands;
mod context;
mod edit;
mod failure;
mod follow;
mod hidden;
mod hold;
mod interrupt;
mod narrate;
mod pump;
mod screen;
mod summary;
mod text;
mod waits;
mod warnings;

use std::process::ExitCode;

use clap::Parser as _;

use crate::arguments::Arguments;
use crate::context::Context;

fn main() -> ExitCode {
    longrein_app::keep_what_was_handed_over();
    longrein_keys::mask_panics();
    let arguments = Arguments::parse();
    let context = Context::of(&arguments);
    warnings::tell();
    match commands::run(&context, arguments.command) {
        Ok(status) => status.into(),
        Err(failure) => failure.told().into(),
    }
}

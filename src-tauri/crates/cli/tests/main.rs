//! The command from outside: the real binary, real folders, a provider that is a stand-in.
#![cfg(unix)]

mod answers;
mod bench;
mod counting;
mod crash;
mod damage;
mod demo;
mod disk;
mod events;
mod interrupt;
mod kills;
mod looking;
mod processes;
mod streaming;
mod support;
mod terminal;
mod wrong_input;

//! The adapters against real servers on sockets, and the bytes that the core makes of them.

mod chat;
mod faults;
mod formats;
mod laws;
mod made_up;
mod places;
mod probing;
mod received;
mod recorded;
mod sendable;
mod server;

//! The adapters against real servers on sockets, and the bytes that the core makes of them.

mod chat;
mod faults;
mod formats;
mod places;
mod probing;
mod recorded;
mod server;

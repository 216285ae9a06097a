//! The driver: what `next` says is done, and what happened becomes events.

pub mod ports;

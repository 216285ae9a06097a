//! Servers, driven for real.

mod counter;
mod http;
mod leftovers;
mod stdio;
mod support;

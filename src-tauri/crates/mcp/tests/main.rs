//! Servers, driven for real.

mod counter;
mod stdio;
mod support;

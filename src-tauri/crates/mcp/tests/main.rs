//! Servers, driven for real.

mod counter;
mod http;
mod leftovers;
mod sign_in;
mod stdio;
mod support;

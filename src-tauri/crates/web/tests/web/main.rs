//! Pages fetched from a server of the test's own, which stands on this machine and is reached
//! under names that the test gives out.

mod fetching;
mod hidden;
mod html;
mod kinds;
mod meta;
mod protection;
mod robots;
mod server;

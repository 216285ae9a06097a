//! Pages fetched from a server of the test's own, which stands on this machine and is reached
//! under names that the test gives out.

mod fetching;
mod html;
mod kinds;
mod protection;
mod robots;
mod server;

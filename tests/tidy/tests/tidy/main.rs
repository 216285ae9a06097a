//! The rules of the house, each a test that lists every violation at once.

mod events;
mod length;
mod licences;
mod purity;
mod walls;
mod window;
mod words;

//! The pure core, as data: what a run owes after each event, what it refuses, what it shows.

mod cards;
mod cast;
mod forked;
mod gate;
mod held;
mod next;
mod panel;
mod play;
mod refused;
mod replayed;
mod shown;
mod skills;

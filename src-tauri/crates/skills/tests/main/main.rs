//! Skills from outside: folders and zips as people make them, good ones, broken ones and hostile
//! ones.

mod broken;
mod bundled;
mod catalogue;
mod install;
mod kit;
mod load;
mod review;
mod scaffold;
mod sizes;
mod valid;
mod watch;
mod zips;

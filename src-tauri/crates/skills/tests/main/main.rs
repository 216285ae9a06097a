//! Skills from outside: folders and zips as people make them, good ones, broken ones and hostile
//! ones.

mod analysis;
mod broken;
mod bundled;
mod catalogue;
mod fields;
mod give;
mod install;
mod kit;
mod load;
mod page;
mod review;
mod scaffold;
mod sizes;
mod valid;
mod watch;
mod zips;

//! The desktop app in a real window, driven through WebDriver. `scripts/window-tests` runs each
//! test on a display, a session bus and a data folder of its own; see there for what a test finds
//! in its environment. A state in the middle of a run is held by a gate in the mock provider.

mod in_the_window {
    mod answering;
    mod artifact;
    mod asking;
    mod closing;
    mod demo;
    mod policy;
    mod recovering;
    mod reload;
    mod skills;
    mod starting;
}
mod desk;
mod drag;
mod tray;
mod window;

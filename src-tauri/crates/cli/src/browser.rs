//! The person's own browser.

use std::process::{Command, Stdio};

use crate::failure::{Failure, Status};

/// What opens an address on this system.
const OPENER: &str = if cfg!(target_os = "macos") {
    "open"
} else {
    "xdg-open"
};

/// Opens an address in the person's browser, without waiting for it.
///
/// # Errors
/// [`Status::Failed`] with the address, where there is no display or nothing to open it with.
pub fn open(url: &str) -> Result<(), Failure> {
    let has_display = cfg!(target_os = "macos")
        || ["DISPLAY", "WAYLAND_DISPLAY"]
            .iter()
            .any(|variable| std::env::var_os(variable).is_some_and(|value| !value.is_empty()));
    let started = has_display.then(|| {
        Command::new(OPENER)
            .arg(url)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
    });
    match started {
        Some(Ok(_)) => Ok(()),
        _ => Err(Failure::said(
            Status::Failed,
            "No browser can be opened from here.",
            format!("Open it yourself: {url}"),
        )),
    }
}

//! Noticing that skills change while the app runs.

use std::thread;
use std::time::Duration;

use longrein_skills::Watch;

use crate::Longrein;
use crate::error::{AppError, AppErrorCode};

/// How long it is waited before it is looked whether anybody still wants to be told.
const LOOK_UP: Duration = Duration::from_secs(30);
/// How long changes may go on before they are told of: copying a folder is many.
const SETTLE: Duration = Duration::from_millis(300);

impl Longrein {
    /// Calls `tell` whenever something changes among the skills outside of any project, until it
    /// says that nobody listens. What it is told of is read anew by whoever shows it.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn mind_skills(&self, tell: impl Fn() -> bool + Send + 'static) -> Result<(), AppError> {
        let longrein = self.clone();
        let minding = move || {
            let skills = longrein.skills(None);
            let mut watch = Watch::start(skills.places(), &skills.catalogue());
            let mut seen = watch.now();
            loop {
                if !watch.wait(seen, LOOK_UP) {
                    continue;
                }
                thread::sleep(SETTLE);
                seen = watch.now();
                // Places may have come or gone, and the configuration may name others by now.
                let skills = longrein.skills(None);
                watch.follow(skills.places(), &skills.catalogue());
                if !tell() {
                    return;
                }
            }
        };
        let started = thread::Builder::new()
            .name("skills".to_owned())
            .spawn(minding);
        started.map(|_| ()).map_err(|error| {
            AppError::new(
                AppErrorCode::Io,
                format!("No thread can be started: {error}."),
                "",
            )
        })
    }
}

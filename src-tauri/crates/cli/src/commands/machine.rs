//! `doctor`: how this machine is.

use std::path::PathBuf;

use longrein_app::Paths;
use longrein_app::doctor::{self, FindingState};

use crate::context::Context;
use crate::failure::{Failure, Status};
use crate::screen::Tone;
use crate::text;

/// Columns of what was looked at.
const WHAT_COLUMNS: usize = 22;

/// `doctor`.
pub async fn doctor(context: &Context) -> Result<Status, Failure> {
    let mut screen = context.screen();
    let findings = match context.try_open() {
        Ok(app) => app.doctor().await,
        Err(error) => {
            let paths = Paths::find(context.data_dir().map(PathBuf::as_path))?;
            doctor::look_from_outside(&paths, &error)
        }
    };
    for finding in &findings {
        if screen.is_json() {
            screen.json(finding)?;
            continue;
        }
        let (tone, word) = match finding.state {
            FindingState::Good => (Tone::Good, "good   "),
            FindingState::Limited => (Tone::Accent, "limited"),
            FindingState::Bad => (Tone::Bad, "bad    "),
        };
        let word = screen.result_painted(tone, word);
        let what = text::cell(&finding.what, WHAT_COLUMNS);
        screen.result(&format!("{word}  {what} {}", text::plain(&finding.seen)))?;
        if !finding.remedy.is_empty() {
            let remedy = text::plain(&finding.remedy);
            screen.result(&format!("         {} {remedy}", " ".repeat(WHAT_COLUMNS)))?;
        }
    }
    let is_bad = findings
        .iter()
        .any(|finding| finding.state == FindingState::Bad);
    Ok(if is_bad { Status::Failed } else { Status::Done })
}

//! The bridge to the window: what it may ask, what it is told, and the words for what went wrong.

use longrein_app::{AppError, AppErrorCode};
use longrein_keys::Known;
use longrein_protocol::view::RunLine;
use serde::{Deserialize, Serialize};
use specta::Type;
use tauri_specta::{Event, collect_commands, collect_events};

use crate::commands::skills::{DropHovers, SkillOffered, SkillsChanged};
use crate::commands::{
    act, answer, files, keys, replay, rules, runs, search, servers, settings, skills, window,
};

/// What a command answers when it can't do what was asked.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Type)]
pub struct BridgeError {
    /// What kind of failure it is.
    pub code: ErrorCode,
    /// What happened, in a sentence.
    pub message: String,
    /// What the person can do, in a sentence; may be empty.
    pub remedy: String,
}

/// The kinds of failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// What the person wrote is off. Nothing was begun.
    Usage,
    /// There is no such thing.
    NotFound,
    /// Another process drives the run.
    Busy,
    /// The system refuses: a folder, the disk.
    Io,
    /// Somebody else refuses: a provider.
    Refused,
    /// The run can be read but not continued.
    Unreadable,
}

impl BridgeError {
    /// A failure with its remedy.
    pub fn new(code: ErrorCode, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            remedy: remedy.into(),
        }
    }
}

impl From<AppError> for BridgeError {
    fn from(error: AppError) -> Self {
        let code = match error.code {
            AppErrorCode::Usage | AppErrorCode::Locked => ErrorCode::Usage,
            AppErrorCode::NotFound => ErrorCode::NotFound,
            AppErrorCode::Busy => ErrorCode::Busy,
            AppErrorCode::Io => ErrorCode::Io,
            AppErrorCode::Refused => ErrorCode::Refused,
            AppErrorCode::Unreadable => ErrorCode::Unreadable,
        };
        let known = Known::of_process();
        Self {
            code,
            message: known.masked(error.message),
            remedy: known.masked(error.remedy),
        }
    }
}

impl From<longrein_store::LogError> for BridgeError {
    fn from(error: longrein_store::LogError) -> Self {
        AppError::from(error).into()
    }
}

/// The person wants to quit while runs are at work.
#[derive(Clone, Debug, Serialize, Deserialize, Type, Event)]
pub struct QuitAsked {
    /// The runs.
    pub running: Vec<RunLine>,
}

/// A run is to be shown: it was chosen in the tray or named by a second start.
#[derive(Clone, Debug, Serialize, Deserialize, Type, Event)]
pub struct OpenRun {
    /// The run.
    pub run: String,
}

/// Every command: a list and no more, so it stands outside of a function.
macro_rules! all_commands {
    () => {
        collect_commands![
            runs::list_runs,
            runs::watch_runs,
            runs::list_agents,
            runs::list_models,
            runs::start_run,
            runs::start_demo,
            runs::subscribe_run,
            runs::unsubscribe,
            runs::earlier_rows,
            act::cancel_run,
            act::pause_run,
            act::resume_run,
            act::say_to_run,
            act::raise_limits,
            answer::approve_action,
            answer::deny_action,
            answer::asked_arguments,
            answer::answer_question,
            answer::answer_server,
            answer::open_asked_page,
            answer::settle_action,
            answer::accept_result,
            answer::undo_action,
            files::run_files,
            files::artifact_url,
            files::open_workspace,
            files::save_artifact,
            rules::list_rules,
            rules::revoke_rule,
            settings::get_settings,
            settings::set_theme,
            settings::save_provider,
            settings::remove_provider,
            settings::test_provider,
            keys::list_keys,
            keys::set_key,
            keys::remove_key,
            keys::choose_key_place,
            keys::unlock_keys,
            keys::begin_keys,
            keys::change_passphrase,
            keys::lock_keys,
            servers::list_servers,
            servers::save_server,
            servers::remove_server,
            servers::test_server,
            servers::stop_server,
            servers::approve_server,
            servers::sign_in_to_server,
            servers::sign_out_of_server,
            skills::list_skills,
            skills::review_skill,
            skills::approve_skill,
            skills::install_skill,
            skills::decline_skill,
            skills::remove_skill,
            skills::choose_skill,
            replay::run_scrubber,
            replay::run_points,
            replay::run_at,
            replay::rows_at,
            replay::request_at,
            replay::request_bytes_at,
            replay::request_block_at,
            replay::action_at,
            replay::action_result_at,
            replay::action_arguments_at,
            replay::files_at,
            replay::files_between,
            replay::file_text_at,
            replay::fork_run,
            replay::compare_runs,
            replay::verify_run,
            search::search_runs,
            search::page_of_runs,
            search::delete_run,
            search::storage_used,
            search::free_storage,
            window::request_quit,
            window::quit,
            window::window_ready,
        ]
    };
}

/// The whole bridge.
pub fn builder() -> tauri_specta::Builder<tauri::Wry> {
    tauri_specta::Builder::new()
        // Types cross in one form: what is written is what is read.
        .disable_serde_phases()
        .commands(all_commands!())
        .events(collect_events![QuitAsked, OpenRun, SkillOffered, DropHovers, SkillsChanged])
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const BINDINGS: &str = "ui/src/host/bindings.ts";

    fn generated() -> String {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("bindings.ts");
        let language = specta_typescript::Typescript::default();
        builder()
            .export(language, &path)
            .expect("every type of the bridge can be written");
        std::fs::read_to_string(path).expect("what was just written")
    }

    /// `UPDATE_BINDINGS=1` writes them anew.
    #[test]
    fn the_front_ends_bindings_are_those_of_these_types() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(BINDINGS);
        let generated = generated();
        if std::env::var_os("UPDATE_BINDINGS").is_some() {
            std::fs::write(&path, &generated).expect("the bindings can be written");
        }
        let kept = std::fs::read_to_string(path).expect("the bindings are in the repository");
        assert!(
            kept == generated,
            "{BINDINGS} is out of date: run this test with UPDATE_BINDINGS=1"
        );
    }

    /// The capability is the list that is enforced: a command that it lacks can't be called, and
    /// a name that is not a command is a mistake.
    #[test]
    fn the_windows_capability_names_every_command_and_no_other() {
        let capability: serde_json::Value =
            serde_json::from_str(include_str!("capabilities/main.json"))
                .expect("the capability is JSON");
        let permissions = capability["permissions"]
            .as_array()
            .expect("a list of permissions");
        let mut granted: Vec<String> = permissions
            .iter()
            .filter_map(|permission| {
                Some(
                    permission
                        .as_str()?
                        .strip_prefix("allow-")?
                        .replace('-', "_"),
                )
            })
            .collect();
        granted.sort();
        let bindings = generated();
        let mut asked: Vec<String> = bindings
            .split("__TAURI_INVOKE(\"")
            .skip(1)
            .filter_map(|call| Some(call.split_once('"')?.0.to_owned()))
            .collect();
        asked.sort();
        assert_eq!(granted, asked);
    }
}

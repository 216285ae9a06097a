//! Embeds the front end and resolves the capabilities, which lie beside this file and not in
//! the root.

fn main() {
    println!("cargo:rerun-if-changed=src-tauri/capabilities");
    let attributes = tauri_build::Attributes::new()
        .capabilities_path_pattern("./src-tauri/capabilities/*.json")
        .app_manifest(tauri_build::AppManifest::new().commands(COMMANDS));
    if let Err(error) = tauri_build::try_build(attributes) {
        // The build can't go on: cargo shows these lines.
        eprintln!("{error:#}");
        std::process::exit(1);
    }
}

/// What the window may ask for; a test compares it with the bridge. Only what a capability
/// grants by name can be called at all.
const COMMANDS: &[&str] = &[
    "list_runs",
    "watch_runs",
    "list_agents",
    "list_models",
    "start_run",
    "start_demo",
    "subscribe_run",
    "unsubscribe",
    "cancel_run",
    "pause_run",
    "resume_run",
    "say_to_run",
    "raise_limits",
    "approve_action",
    "deny_action",
    "asked_arguments",
    "answer_question",
    "answer_server",
    "open_asked_page",
    "settle_action",
    "accept_result",
    "undo_action",
    "earlier_rows",
    "run_files",
    "artifact_url",
    "open_workspace",
    "save_artifact",
    "list_rules",
    "revoke_rule",
    "get_settings",
    "set_theme",
    "save_provider",
    "remove_provider",
    "test_provider",
    "list_keys",
    "set_key",
    "remove_key",
    "choose_key_place",
    "unlock_keys",
    "begin_keys",
    "change_passphrase",
    "lock_keys",
    "list_servers",
    "save_server",
    "remove_server",
    "test_server",
    "stop_server",
    "approve_server",
    "sign_in_to_server",
    "sign_out_of_server",
    "list_skills",
    "review_skill",
    "approve_skill",
    "install_skill",
    "decline_skill",
    "remove_skill",
    "choose_skill",
    "run_scrubber",
    "run_points",
    "run_at",
    "rows_at",
    "request_at",
    "request_bytes_at",
    "request_block_at",
    "action_at",
    "action_result_at",
    "action_arguments_at",
    "files_at",
    "files_between",
    "file_text_at",
    "request_quit",
    "quit",
    "window_ready",
];

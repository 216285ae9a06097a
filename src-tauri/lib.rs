//! The desktop app: the window, the tray, and the bridge between them and the runs. Everything
//! that is decided is decided below, in `longrein-app`.

mod arguments;
mod artifact;
mod at_work;
mod bridge;
mod choices;
mod commands;
mod desktop;
mod drag;
mod quit;
mod run_list;
mod signals;
mod subscriptions;
mod tray;
mod tray_host;
mod window;
mod workspace;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use longrein_app::demo::DemoRun;
use longrein_app::{AppError, Longrein, Options};
use longrein_keys::MaskedWriter;
use tauri::{App, AppHandle, Manager, RunEvent, WindowEvent};
use tauri_plugin_dialog::{DialogExt, MessageDialogButtons, MessageDialogKind};
use tauri_plugin_window_state::StateFlags;

use crate::arguments::Arguments;
use crate::desktop::Desktop;
use crate::run_list::RunList;

/// How long the demonstration model takes per word, so that a person sees it write.
const DEMO_PACE_MS: u64 = 30;
/// Sets another pace; tests set none.
const PACE_VARIABLE: &str = "LONGREIN_PACE_MS";

/// Runs the app until it ends. A second start for the same data folder hands its arguments to
/// the first and ends at once.
pub fn run() -> ExitCode {
    longrein_app::keep_what_was_handed_over();
    longrein_keys::mask_panics();
    let arguments = Arguments::parse();
    say_warnings();
    let bridge = bridge::builder();
    let context = tauri::generate_context!();
    let instance =
        arguments::instance_name(&context.config().identifier, arguments.data_dir.as_deref());
    let built = tauri::Builder::default()
        .plugin(
            tauri_plugin_single_instance::Builder::new()
                .dbus_id(instance)
                .callback(|app, arguments, _| started_again(app, arguments))
                .build(),
        )
        .plugin(
            tauri_plugin_window_state::Builder::new()
                .with_state_flags(StateFlags::all() - StateFlags::VISIBLE - StateFlags::FULLSCREEN)
                .build(),
        )
        .plugin(tauri_plugin_dialog::init())
        .plugin(
            tauri_plugin_opener::Builder::new()
                .open_js_links_on_click(false)
                .build(),
        )
        .register_asynchronous_uri_scheme_protocol(artifact::SCHEME, artifact::serve)
        .invoke_handler(bridge.invoke_handler())
        .setup(move |app| {
            bridge.mount_events(app);
            set_up(app, arguments)
        })
        .on_window_event(|window, event| match event {
            WindowEvent::CloseRequested { api, .. } => {
                window::close_requested(window.app_handle(), api);
            }
            WindowEvent::DragDrop(event) => drag::over(window.app_handle(), event),
            _ => {}
        })
        .build(context);
    match built {
        Ok(app) => {
            app.run(on_event);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!(
                "The window can't be opened: {error}. Check that there is a display, or use the longrein command."
            );
            ExitCode::FAILURE
        }
    }
}

/// What goes wrong without a place in the window goes to standard error.
fn say_warnings() {
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::WARN)
        .with_writer(|| MaskedWriter::new(std::io::stderr()))
        .without_time()
        .finish();
    // Only a second call could fail, and there is none.
    let _ = tracing::subscriber::set_global_default(subscriber);
}

fn set_up(app: &mut App, arguments: Arguments) -> Result<(), Box<dyn std::error::Error>> {
    let handle = app.handle().clone();
    tauri::async_runtime::spawn(signals::end_when_told(handle.clone()));
    let opened = tauri::async_runtime::block_on(open(arguments.data_dir.clone()));
    match opened {
        Ok(desktop) => {
            commands::skills::mind(&handle, desktop.longrein());
            app.manage(desktop)
        }
        Err(error) => {
            give_up(&handle, &error);
            return Ok(());
        }
    };
    window::create(&handle)?;
    // Without the tray the window is all there is, and enough.
    if let Err(error) = tray::open(&handle) {
        tracing::warn!("there is no tray: {error}");
    }
    tauri::async_runtime::spawn(async move {
        show_what_was_asked(&handle, arguments).await;
        handle.state::<Desktop>().take_up_interrupted().await;
    });
    let longrein = app.state::<Desktop>().longrein().clone();
    tauri::async_runtime::spawn(desktop::keep_search_ready(longrein));
    Ok(())
}

async fn open(data_dir: Option<PathBuf>) -> Result<Desktop, AppError> {
    let longrein = Longrein::open(Options {
        data_dir,
        pace: pace(),
        surface: "window",
    })?;
    let runs = RunList::open(&longrein).await?;
    Ok(Desktop::new(longrein, runs))
}

fn pace() -> Duration {
    let asked = std::env::var(PACE_VARIABLE)
        .ok()
        .and_then(|text| text.parse().ok());
    Duration::from_millis(asked.unwrap_or(DEMO_PACE_MS))
}

/// The installation can't be opened: the person is told in a dialog, and nothing is changed.
fn give_up(app: &AppHandle, error: &AppError) {
    eprintln!("{} {}", error.message, error.remedy);
    let app = app.clone();
    app.clone()
        .dialog()
        .message(format!("{}\n\n{}", error.message, error.remedy))
        .title("Longrein can’t start")
        .kind(MessageDialogKind::Error)
        .buttons(MessageDialogButtons::OkCustom("Close".to_owned()))
        .show(move |_| app.exit(1));
}

/// Somebody started the app while it runs.
fn started_again(app: &AppHandle, arguments: Vec<String>) {
    let arguments = Arguments::try_parse_from(arguments).unwrap_or_default();
    window::show(app);
    let app = app.clone();
    tauri::async_runtime::spawn(async move { show_what_was_asked(&app, arguments).await });
}

async fn show_what_was_asked(app: &AppHandle, arguments: Arguments) {
    let Some(desktop) = app.try_state::<Desktop>() else {
        return;
    };
    let longrein = desktop.longrein();
    let asked = match (arguments.run, arguments.demo) {
        (Some(prefix), _) => longrein.find_run(&prefix).await,
        (None, true) => longrein
            .start_demo(DemoRun::default())
            .await
            .map(|driving| driving.run),
        (None, false) => return,
    };
    match asked {
        Ok(run) => window::open_run(app, run),
        Err(error) => {
            tracing::warn!("{error}");
            let text = format!("{}\n\n{}", error.message, error.remedy);
            app.dialog()
                .message(text)
                .title("Longrein")
                .kind(MessageDialogKind::Warning)
                .show(|_| {});
        }
    }
}

fn on_event(app: &AppHandle, event: RunEvent) {
    match event {
        #[cfg(target_os = "macos")]
        RunEvent::Reopen { .. } => window::show(app),
        RunEvent::Exit => {
            if let Some(desktop) = app.try_state::<Desktop>() {
                desktop.subscriptions().end_all();
            }
        }
        _ => {}
    }
}

//! Being told to end from outside.

use tauri::AppHandle;

use crate::quit;

/// Ends the app cleanly at the first signal that asks for it.
pub async fn end_when_told(app: AppHandle) {
    if let Err(error) = told().await {
        tracing::warn!("signals can't be waited for: {error}");
        return;
    }
    quit::end(&app);
}

#[cfg(unix)]
async fn told() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut terminate, mut interrupt, mut hangup) = (
        signal(SignalKind::terminate())?,
        signal(SignalKind::interrupt())?,
        signal(SignalKind::hangup())?,
    );
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
        _ = hangup.recv() => {}
    }
    Ok(())
}

#[cfg(not(unix))]
async fn told() -> std::io::Result<()> {
    tokio::signal::ctrl_c().await
}

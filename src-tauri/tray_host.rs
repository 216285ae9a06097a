//! Whether a tray icon would be seen. Without a host for it the icon is silently missing, and a
//! window that hides to it would be lost.

use std::time::Duration;

/// How long the session bus has to answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(1);

/// Whether somebody shows tray icons now.
pub async fn is_there() -> bool {
    tokio::time::timeout(ANSWER_LIMIT, ask())
        .await
        .unwrap_or(false)
}

#[cfg(target_os = "linux")]
async fn ask() -> bool {
    is_watched().await.unwrap_or_else(|error| {
        tracing::debug!("the session bus knows of no tray: {error}");
        false
    })
}

#[cfg(target_os = "linux")]
async fn is_watched() -> zbus::Result<bool> {
    const WATCHER: &str = "org.kde.StatusNotifierWatcher";
    let bus = zbus::Connection::session().await?;
    let names = zbus::fdo::DBusProxy::new(&bus).await?;
    if !names.name_has_owner(WATCHER.try_into()?).await? {
        return Ok(false);
    }
    let watcher = zbus::Proxy::new(&bus, WATCHER, "/StatusNotifierWatcher", WATCHER).await?;
    // A watcher that does not say is taken at its name.
    Ok(watcher
        .get_property("IsStatusNotifierHostRegistered")
        .await
        .unwrap_or(true))
}

#[cfg(not(target_os = "linux"))]
async fn ask() -> bool {
    true
}

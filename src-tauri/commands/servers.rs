//! MCP servers: which there are, how each stands, and what a person does with them. No key is ever
//! among it; servers name the keys that they are given.

use async_trait::async_trait;
use longrein_app::mcp::{Browser, BrowserError, ServerList, ServerRequest};
use serde::Serialize;
use specta::Type;
use tauri::State;
use tauri::ipc::Channel;

use super::Answer;
use crate::desktop::Desktop;

/// The page that a person signs in at. It is opened by them, once they have seen whose it is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Type)]
pub struct SignInPage {
    /// The host of the page.
    pub host: String,
    /// Its whole address.
    pub url: String,
}

/// The servers as they stand. Nothing is started.
#[tauri::command]
#[specta::specta]
pub async fn list_servers(desktop: State<'_, Desktop>) -> Answer<ServerList> {
    Ok(desktop.longrein().server_list().await?)
}

/// Adds a server, or changes the one of this name.
#[tauri::command]
#[specta::specta]
pub async fn save_server(desktop: State<'_, Desktop>, server: ServerRequest) -> Answer<ServerList> {
    desktop.longrein().save_server(&server)?;
    Ok(desktop.longrein().server_list().await?)
}

/// Removes a server, with what was approved of it and the person's sign-in.
#[tauri::command]
#[specta::specta]
pub async fn remove_server(desktop: State<'_, Desktop>, name: String) -> Answer<ServerList> {
    desktop.servers_at_work().stop(&name);
    desktop.longrein().remove_server(&name).await?;
    Ok(desktop.longrein().server_list().await?)
}

/// Starts or reaches a server and keeps what it says. One that can't be looked at is no failure
/// of this: why stands in its line.
#[tauri::command]
#[specta::specta]
pub async fn test_server(desktop: State<'_, Desktop>, name: String) -> Answer<ServerList> {
    let testing = desktop.longrein().test_server(&name);
    if let Some(tested) = desktop.servers_at_work().during(&name, testing).await {
        tested?;
    }
    Ok(desktop.longrein().server_list().await?)
}

/// Ends what goes on with a server: a test, or waiting for a sign-in.
#[tauri::command]
#[specta::specta]
pub async fn stop_server(desktop: State<'_, Desktop>, name: String) -> Answer<()> {
    desktop.servers_at_work().stop(&name);
    Ok(())
}

/// Approves what the person was shown of a server's tools, and nothing else.
#[tauri::command]
#[specta::specta]
pub async fn approve_server(
    desktop: State<'_, Desktop>,
    name: String,
    seen: String,
) -> Answer<ServerList> {
    desktop.longrein().approve_seen(&name, &seen)?;
    Ok(desktop.longrein().server_list().await?)
}

/// Signs the person in: tells the page to open, and waits for them to come back from it.
#[tauri::command]
#[specta::specta]
pub async fn sign_in_to_server(
    desktop: State<'_, Desktop>,
    name: String,
    page: Channel<SignInPage>,
) -> Answer<ServerList> {
    let window = Window { page };
    let signing_in = desktop.longrein().sign_in_to_server(&name, &window);
    if let Some(signed_in) = desktop.servers_at_work().during(&name, signing_in).await {
        signed_in?;
    }
    Ok(desktop.longrein().server_list().await?)
}

/// Forgets the person's sign-in.
#[tauri::command]
#[specta::specta]
pub async fn sign_out_of_server(desktop: State<'_, Desktop>, name: String) -> Answer<ServerList> {
    desktop.longrein().sign_out_of_server(&name).await?;
    Ok(desktop.longrein().server_list().await?)
}

/// Shows the host in the window before anything is opened; the person opens it there.
struct Window {
    page: Channel<SignInPage>,
}

#[async_trait]
impl Browser for Window {
    async fn open(&self, url: &str, host: &str) -> Result<(), BrowserError> {
        let page = SignInPage {
            host: host.to_owned(),
            url: url.to_owned(),
        };
        let sent = self.page.send(page);
        sent.map_err(|error| BrowserError(format!("the window is gone: {error}")))
    }
}

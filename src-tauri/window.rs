//! The one window: made hidden, shown when its first picture is drawn, never left for another
//! address, hidden to the tray where there is one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use longrein_app::config::Theme;
use longrein_protocol::RunId;
use tauri::webview::{NewWindowResponse, PageLoadEvent};
use tauri::window::Color;
use tauri::{
    AppHandle, CloseRequestApi, Manager, PhysicalPosition, Url, WebviewUrl, WebviewWindow,
    WebviewWindowBuilder,
};
use tauri_specta::Event;

use crate::artifact;
use crate::bridge::OpenRun;
use crate::desktop::Desktop;
use crate::{quit, tray_host};

/// The window's label, as the capability names it.
pub const LABEL: &str = "main";

/// The size before the person has chosen one.
const SIZE: (f64, f64) = (1280.0, 800.0);
/// The least size in which nothing is cut off.
const LEAST_SIZE: (f64, f64) = (880.0, 560.0);
/// The ground of the two themes, as in `ui/src/shared/tokens.css`.
const LIGHT_PAPER: Color = Color(0xfb, 0xfa, 0xf7, 0xff);
const DARK_PAPER: Color = Color(0x16, 0x14, 0x11, 0xff);
/// The window is shown after this time even if its page has said nothing: an empty window can be
/// closed, a hidden one can't.
const READY_LIMIT: Duration = Duration::from_secs(5);

/// Whether the page has drawn its first picture, and listens.
#[derive(Default)]
struct Ready(AtomicBool);

/// Where the window was when it was hidden.
#[derive(Default)]
struct KeptPlace(Mutex<Option<PhysicalPosition<i32>>>);

impl KeptPlace {
    fn replace(&self, place: Option<PhysicalPosition<i32>>) -> Option<PhysicalPosition<i32>> {
        std::mem::replace(
            &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner),
            place,
        )
    }
}

/// Makes the window, hidden.
///
/// # Errors
/// When the system refuses one.
pub fn create(app: &AppHandle) -> tauri::Result<()> {
    app.manage(Ready::default());
    app.manage(KeptPlace::default());
    let home = home(app);
    let leads_home = move |address: &Url| is_own(address, &home);
    let window = WebviewWindowBuilder::new(app, LABEL, WebviewUrl::default())
        .title("Longrein")
        .inner_size(SIZE.0, SIZE.1)
        .min_inner_size(LEAST_SIZE.0, LEAST_SIZE.1)
        .center()
        .background_color(paper(chosen_theme(app)))
        .theme(forced(chosen_theme(app)))
        .visible(false)
        .on_navigation(move |address| leads_home(address) || is_frame(address))
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .on_page_load(|window, load| {
            if load.event() == PageLoadEvent::Started {
                page_begins(&window, load.url());
            }
        })
        .build()?;
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        tokio::time::sleep(READY_LIMIT).await;
        if !can_ask(&app) {
            tracing::warn!("the window's page is slow; the window is shown without it");
            let _ = window.show();
        }
    });
    Ok(())
}

/// The colour of the page's ground, so that nothing flashes before the first picture.
fn paper(theme: Theme) -> Color {
    match theme {
        Theme::Dark => DARK_PAPER,
        Theme::Light | Theme::System => LIGHT_PAPER,
    }
}

/// Gives the window the theme that was chosen: its frame, dialogs and what a delivered page is
/// told of the person's liking follow it.
pub fn wear(app: &AppHandle, theme: Theme) {
    if let Some(window) = main(app)
        && let Err(error) = window.set_theme(forced(theme))
    {
        tracing::warn!("the window can't change its theme: {error}");
    }
}

fn forced(theme: Theme) -> Option<tauri::Theme> {
    match theme {
        Theme::System => None,
        Theme::Light => Some(tauri::Theme::Light),
        Theme::Dark => Some(tauri::Theme::Dark),
    }
}

/// The theme that the person chose.
pub fn chosen_theme(app: &AppHandle) -> Theme {
    let desktop = app.try_state::<Desktop>();
    desktop
        .map(|desktop| desktop.longrein().config().ui.theme)
        .unwrap_or_default()
}

/// The window, while there is one.
pub fn main(app: &AppHandle) -> Option<WebviewWindow> {
    app.get_webview_window(LABEL)
}

/// Whether the page listens, so that it can put a question to the person.
pub fn can_ask(app: &AppHandle) -> bool {
    app.try_state::<Ready>()
        .is_some_and(|ready| ready.0.load(Ordering::Acquire))
}

/// The page has drawn its first picture and listens.
pub fn ready(app: &AppHandle) {
    let Some(ready) = app.try_state::<Ready>() else {
        return;
    };
    // A page that was loaded again does not come to the front by that.
    if !ready.0.swap(true, Ordering::AcqRel) {
        show(app);
    }
    if let Some(run) = app
        .try_state::<Desktop>()
        .and_then(|desktop| desktop.take_to_open())
    {
        tell_to_open(app, run);
    }
}

/// Brings the window to the front. Whoever opens it again does not want to leave.
pub fn show(app: &AppHandle) {
    if let Some(desktop) = app.try_state::<Desktop>() {
        desktop.leaving().stay();
    }
    let Some(window) = main(app) else { return };
    let shown = window
        .show()
        .and_then(|()| window.unminimize())
        .and_then(|()| window.set_focus());
    if let Err(error) = shown {
        tracing::warn!("the window can't be shown: {error}");
    }
    // Window managers place a window anew that was hidden.
    if let Some(place) = app.state::<KeptPlace>().replace(None) {
        let _ = window.set_position(place);
    }
}

/// Hides the window; everything else goes on.
pub fn hide(app: &AppHandle) {
    let Some(window) = main(app) else { return };
    app.state::<KeptPlace>()
        .replace(window.outer_position().ok());
    if let Err(error) = window.hide() {
        tracing::warn!("the window can't be hidden: {error}");
    }
}

/// Shows a run, now or as soon as the page listens.
pub fn open_run(app: &AppHandle, run: RunId) {
    if can_ask(app) {
        tell_to_open(app, run);
        show(app);
    } else if let Some(desktop) = app.try_state::<Desktop>() {
        desktop.open_later(run);
    }
}

fn tell_to_open(app: &AppHandle, run: RunId) {
    if let Err(error) = (OpenRun {
        run: run.to_string(),
    })
    .emit(app)
    {
        tracing::warn!("the window can't be told to show run {run}: {error}");
    }
}

/// The person closes the window. Where a tray shows what goes on, it hides and runs go on;
/// otherwise closing is quitting.
pub fn close_requested(app: &AppHandle, api: &CloseRequestApi) {
    api.prevent_close();
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        if tray_host::is_there().await {
            hide(&app);
        } else {
            quit::ask(&app);
        }
    });
}

/// A page begins to load: what the one before followed is over.
fn page_begins(window: &WebviewWindow, address: &Url) {
    if let Some(desktop) = window.try_state::<Desktop>() {
        desktop.subscriptions().end_all();
    }
    let home = home(window.app_handle());
    // The top never shows an artifact: only a page of our own may hold the bridge.
    if !is_own(address, &home) && window.navigate(home).is_err() {
        quit::end(window.app_handle());
    }
}

/// Where the front end is served while it is worked on; there is none in what ships.
pub fn development_address(app: &AppHandle) -> Option<Url> {
    let address = app.config().build.dev_url.clone();
    address.filter(|_| tauri::is_dev())
}

/// Where the window's own pages are.
fn home(app: &AppHandle) -> Url {
    development_address(app).unwrap_or_else(|| {
        let address = if cfg!(windows) {
            "http://tauri.localhost/"
        } else {
            "tauri://localhost/"
        };
        Url::parse(address).expect("a constant that is an address")
    })
}

fn is_own(address: &Url, home: &Url) -> bool {
    let place = |url: &Url| {
        (
            url.scheme().to_owned(),
            url.host_str().map(str::to_owned),
            url.port(),
        )
    };
    place(address) == place(home)
}

/// Whether an address may be shown in a frame.
fn is_frame(address: &Url) -> bool {
    let is_artifact = address.scheme() == artifact::SCHEME
        || cfg!(windows) && address.host_str() == Some(&format!("{}.localhost", artifact::SCHEME));
    is_artifact || address.as_str() == "about:blank"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Url {
        Url::parse(text).expect("an address")
    }

    #[test]
    fn the_window_stays_on_its_own_pages() {
        let home = address("tauri://localhost/");
        for own in ["tauri://localhost/", "tauri://localhost/index.html#/runs"] {
            assert!(is_own(&address(own), &home), "{own}");
        }
        for other in [
            "https://example.org/",
            "tauri://other/",
            "http://localhost:5199/",
            "longrein-artifact://localhost/x/index.html",
            "data:text/html,hello",
            "file:///etc/passwd",
        ] {
            assert!(!is_own(&address(other), &home), "{other}");
        }
    }

    #[test]
    fn a_frame_shows_artifacts_and_nothing_else() {
        assert!(is_frame(&address(
            "longrein-artifact://localhost/x/index.html"
        )));
        assert!(is_frame(&address("about:blank")));
        for other in [
            "https://example.org/",
            "data:text/html,x",
            "file:///etc/passwd",
            "about:srcdoc",
        ] {
            assert!(!is_frame(&address(other)), "{other}");
        }
    }
}

//! The tray: what runs, at a glance, and the way back to the window.

use longrein_protocol::view::{RunLine, RunState};
use tauri::image::Image;
use tauri::menu::{Menu, MenuBuilder, MenuEvent, MenuItem, MenuItemBuilder};
use tauri::tray::{TrayIcon, TrayIconBuilder};
use tauri::{AppHandle, Manager, Theme, Wry};

use crate::desktop::Desktop;
use crate::{quit, window};

/// The most runs that the menu names; the rest is counted.
const RUNS_IN_THE_MENU: usize = 8;
/// The most letters of a run's title.
const TITLE_LETTERS: usize = 44;

const OPEN: &str = "open";
const QUIT: &str = "quit";
/// What the id of a run's item begins with.
const RUN: &str = "run:";

/// What the tray shows.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Shown {
    icon: Icon,
    /// The item's id and its words.
    runs: Vec<(String, String)>,
    more: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Icon {
    Idle,
    Running,
    Waiting,
}

/// Puts the icon into the tray and keeps it true in the background.
///
/// # Errors
/// When the system refuses an icon.
pub fn open(app: &AppHandle) -> tauri::Result<()> {
    let desktop = app.state::<Desktop>();
    let mut runs = desktop.runs();
    let mut shown = shown(&runs.going());
    let tray = TrayIconBuilder::with_id("longrein")
        .icon(picture(app, shown.icon)?)
        .tooltip("Longrein")
        .menu(&menu(app, &shown)?)
        .on_menu_event(chosen)
        .build(app)?;
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        while runs.changed().await {
            let now = self::shown(&runs.going());
            if now == shown {
                continue;
            }
            let with_icon = now.icon != shown.icon;
            shown = now.clone();
            let (tray, handle) = (tray.clone(), app.clone());
            let drawn = app.run_on_main_thread(move || {
                if let Err(error) = draw(&handle, &tray, &now, with_icon) {
                    tracing::warn!("the tray can't be drawn: {error}");
                }
            });
            if drawn.is_err() {
                return;
            }
        }
    });
    Ok(())
}

fn draw(
    app: &AppHandle,
    tray: &TrayIcon<Wry>,
    shown: &Shown,
    with_icon: bool,
) -> tauri::Result<()> {
    tray.set_menu(Some(menu(app, shown)?))?;
    if with_icon {
        tray.set_icon(Some(picture(app, shown.icon)?))?;
    }
    Ok(())
}

fn shown(going: &[RunLine]) -> Shown {
    let icon = if going.iter().any(|line| line.state == RunState::Waiting) {
        Icon::Waiting
    } else if going.is_empty() {
        Icon::Idle
    } else {
        Icon::Running
    };
    let named = going.iter().take(RUNS_IN_THE_MENU);
    Shown {
        icon,
        runs: named
            .map(|line| (format!("{RUN}{}", line.run), words(line)))
            .collect(),
        more: going.len().saturating_sub(RUNS_IN_THE_MENU),
    }
}

fn words(line: &RunLine) -> String {
    let state = match line.state {
        RunState::Waiting => "waiting for you",
        _ => "running",
    };
    let title = match line.title.char_indices().nth(TITLE_LETTERS) {
        Some((end, _)) => format!("{}…", line.title[..end].trim_end()),
        None => line.title.clone(),
    };
    format!("{title} ({state})")
}

fn menu(app: &AppHandle, shown: &Shown) -> tauri::Result<Menu<Wry>> {
    let item = |id: &str, words: &str| MenuItemBuilder::with_id(id, escaped(words)).build(app);
    let remark = |words: String| -> tauri::Result<MenuItem<Wry>> {
        MenuItemBuilder::new(escaped(&words))
            .enabled(false)
            .build(app)
    };
    let mut menu = MenuBuilder::new(app)
        .item(&item(OPEN, "Open Longrein")?)
        .separator();
    if shown.runs.is_empty() {
        menu = menu.item(&remark("Nothing is running".to_owned())?);
    }
    for (id, words) in &shown.runs {
        menu = menu.item(&item(id, words)?);
    }
    if shown.more > 0 {
        menu = menu.item(&remark(format!("and {} more", shown.more))?);
    }
    menu.separator().item(&item(QUIT, "Quit Longrein")?).build()
}

/// An ampersand marks a letter to press in a menu, unless it is doubled.
fn escaped(words: &str) -> String {
    words.replace('&', "&&")
}

fn chosen(app: &AppHandle, event: MenuEvent) {
    match event.id().as_ref() {
        OPEN => window::show(app),
        QUIT => quit::ask(app),
        id => {
            if let Some(run) = id.strip_prefix(RUN).and_then(|run| run.parse().ok()) {
                window::open_run(app, run);
            }
        }
    }
}

fn picture(app: &AppHandle, icon: Icon) -> tauri::Result<Image<'static>> {
    macro_rules! drawn {
        ($name:literal) => {
            [
                include_bytes!(concat!("../icons/tray/", $name, "-light@2x.png")).as_slice(),
                include_bytes!(concat!("../icons/tray/", $name, "-dark@2x.png")).as_slice(),
            ]
        };
    }
    let pictures = match icon {
        Icon::Idle => drawn!("idle"),
        Icon::Running => drawn!("running"),
        Icon::Waiting => drawn!("waiting"),
    };
    Image::from_bytes(pictures[usize::from(is_dark_panel(app))])
}

/// GNOME's panel is dark in every theme; elsewhere panels look like the system's windows. Where
/// the person chose a theme for this app alone, the system's is not known: most panels are dark.
fn is_dark_panel(app: &AppHandle) -> bool {
    let desktops = std::env::var("XDG_CURRENT_DESKTOP").unwrap_or_default();
    let is_light = window::chosen_theme(app) == longrein_app::config::Theme::System
        && window::main(app).and_then(|window| window.theme().ok()) == Some(Theme::Light);
    desktops.split(':').any(|desktop| desktop == "GNOME") || !is_light
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(run: u32, title: &str, state: RunState) -> RunLine {
        RunLine {
            run: format!("R{run}"),
            parent: None,
            root: None,
            title: title.to_owned(),
            agent: "research".to_owned(),
            model: "demo/researcher".to_owned(),
            demo: true,
            state,
            reason: String::new(),
            since: 0,
            created_at: 0,
            updated_at: 0,
            steps: 0,
            tokens_in: 0,
            tokens_out: 0,
            working_ms: 0,
            cost_micro: None,
            cost_estimated: false,
            seq: 1,
            rein: Vec::new(),
        }
    }

    #[test]
    fn the_icon_says_that_somebody_waits_before_it_says_that_something_runs() {
        let running = line(1, "What?", RunState::Running);
        let waiting = line(2, "Who?", RunState::Waiting);
        assert_eq!(shown(&[]).icon, Icon::Idle);
        assert_eq!(shown(std::slice::from_ref(&running)).icon, Icon::Running);
        assert_eq!(shown(&[running, waiting]).icon, Icon::Waiting);
    }

    #[test]
    fn a_run_is_named_with_its_state_and_a_long_title_is_cut() {
        let long = "How do vector indexes for one hundred million vectors compare on one machine?";
        let named = shown(&[
            line(1, long, RunState::Running),
            line(2, "R & D?", RunState::Waiting),
        ]);
        assert_eq!(
            named.runs[0].1,
            "How do vector indexes for one hundred millio… (running)"
        );
        assert_eq!(
            named.runs[1],
            ("run:R2".to_owned(), "R & D? (waiting for you)".to_owned())
        );
        assert_eq!(escaped(&named.runs[1].1), "R && D? (waiting for you)");
    }

    #[test]
    fn only_so_many_runs_are_named_and_the_rest_is_counted() {
        let lines: Vec<RunLine> = (0..11)
            .map(|run| line(run, "What?", RunState::Running))
            .collect();
        let named = shown(&lines);
        assert_eq!((named.runs.len(), named.more), (RUNS_IN_THE_MENU, 3));
    }
}

//! Skills: which there are, what a person sees of one before it counts, and what they say to it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use longrein_app::Longrein;
use longrein_app::skills::{ContentHash, SkillList, SkillOffer, ToldReview};
use serde::{Deserialize, Serialize};
use specta::Type;
use tauri::{AppHandle, Manager, State};
use tauri_plugin_dialog::DialogExt;
use tauri_specta::Event;

use super::Answer;
use crate::bridge::{BridgeError, ErrorCode};
use crate::desktop::Desktop;

/// The most things that are looked at of one drop.
const DROPPED_LIMIT: usize = 16;
/// The most offers that wait for an answer; of more, the oldest are forgotten.
const OFFERS_LIMIT: usize = 32;

/// Something was dropped on the window, or chosen: a skill to be looked through, or why it is none.
#[derive(Clone, Debug, Serialize, Deserialize, Type, Event)]
pub struct SkillOffered {
    /// The folder or zip.
    pub path: String,
    /// By what it is answered; `None` when it can't be installed.
    pub offer: Option<u32>,
    /// What is in it.
    pub review: Option<ToldReview>,
    /// Why it can't be installed, and what would help.
    pub refused: Option<(String, String)>,
}

/// Files are held over the window, or no longer.
#[derive(Clone, Debug, Serialize, Deserialize, Type, Event)]
pub struct DropHovers {
    /// Whether they are.
    pub over: bool,
}

/// Something changed among the skills of this machine.
#[derive(Clone, Debug, Serialize, Deserialize, Type, Event)]
pub struct SkillsChanged {}

/// Skills that wait for a person's yes.
#[derive(Default)]
pub struct Offers(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    last: u32,
    offers: BTreeMap<u32, SkillOffer>,
}

impl Offers {
    fn keep(&self, offer: SkillOffer) -> u32 {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.last += 1;
        let id = waiting.last;
        waiting.offers.insert(id, offer);
        if waiting.offers.len() > OFFERS_LIMIT {
            waiting.offers.pop_first();
        }
        id
    }

    fn take(&self, id: u32) -> Option<SkillOffer> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.offers.remove(&id)
    }
}

/// The skills that count outside of any project.
#[tauri::command]
#[specta::specta]
pub async fn list_skills(desktop: State<'_, Desktop>) -> Answer<SkillList> {
    listed(desktop.longrein()).await
}

/// What is in the skill of this folder, for a person to look through.
#[tauri::command]
#[specta::specta]
pub async fn review_skill(desktop: State<'_, Desktop>, folder: String) -> Answer<ToldReview> {
    let longrein = desktop.longrein().clone();
    on_disk(move || longrein.review_skill(None, Path::new(&folder))).await
}

/// Approves the skill of this folder, if it is still what was seen.
#[tauri::command]
#[specta::specta]
pub async fn approve_skill(
    desktop: State<'_, Desktop>,
    folder: String,
    seen: String,
) -> Answer<SkillList> {
    let longrein = desktop.longrein().clone();
    on_disk(move || longrein.approve_skill(None, Path::new(&folder), &ContentHash::told(seen)))
        .await?;
    listed(desktop.longrein()).await
}

/// Installs what was offered, if it is still what was seen.
#[tauri::command]
#[specta::specta]
pub async fn install_skill(
    desktop: State<'_, Desktop>,
    offer: u32,
    seen: String,
) -> Answer<SkillList> {
    let Some(prepared) = desktop.offers().take(offer) else {
        return Err(BridgeError::new(
            ErrorCode::NotFound,
            "This skill is no longer at hand.",
            "Drop it on the window again.",
        ));
    };
    let longrein = desktop.longrein().clone();
    on_disk(move || longrein.install_skill(prepared, &ContentHash::told(seen))).await?;
    listed(desktop.longrein()).await
}

/// Lets go of what was offered; nothing of it stays.
#[tauri::command]
#[specta::specta]
pub async fn decline_skill(desktop: State<'_, Desktop>, offer: u32) -> Answer<()> {
    // It is removed from the disk where that may take a moment.
    let declined = desktop.offers().take(offer);
    on_disk(move || {
        drop(declined);
        Ok(())
    })
    .await
}

/// Removes an installed skill.
#[tauri::command]
#[specta::specta]
pub async fn remove_skill(desktop: State<'_, Desktop>, name: String) -> Answer<SkillList> {
    let longrein = desktop.longrein().clone();
    on_disk(move || longrein.remove_skill(&name)).await?;
    listed(desktop.longrein()).await
}

/// Lets the person choose a skill's folder, or a zip of one, and offers it.
#[tauri::command]
#[specta::specta]
pub async fn choose_skill(app: AppHandle, zip: bool) -> Answer<()> {
    let dialog = app.dialog().file();
    let handle = app.clone();
    let chosen = move |path: Option<tauri_plugin_dialog::FilePath>| {
        let path = path.and_then(|path| path.into_path().ok());
        dropped(&handle, path.into_iter().collect());
    };
    match zip {
        true => dialog.add_filter("Zip", &["zip"]).pick_file(chosen),
        false => dialog.pick_folder(chosen),
    }
    Ok(())
}

/// Looks through what was dropped on the window, one after the other, and offers each.
pub fn dropped(app: &AppHandle, paths: Vec<PathBuf>) {
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        let beyond = paths.len().saturating_sub(DROPPED_LIMIT);
        for path in paths.into_iter().take(DROPPED_LIMIT) {
            offer(&app, path).await;
        }
        if beyond > 0 {
            let message = format!(
                "At most {DROPPED_LIMIT} things are looked at in one drop; {beyond} more were left alone."
            );
            let remedy = "Drop them again, fewer at a time.".to_owned();
            tell(&app, refused(String::new(), (message, remedy)));
        }
    });
}

async fn offer(app: &AppHandle, path: PathBuf) {
    let Some(desktop) = app.try_state::<Desktop>() else {
        return;
    };
    let longrein = desktop.longrein().clone();
    let source = path.clone();
    let prepared = on_disk(move || longrein.prepare_skill(&source)).await;
    let path = path.display().to_string();
    let offered = match prepared {
        Ok(offer) => SkillOffered {
            review: Some(ToldReview::of(offer.review())),
            offer: Some(desktop.offers().keep(offer)),
            path,
            refused: None,
        },
        Err(error) => refused(path, (error.message, error.remedy)),
    };
    tell(app, offered);
}

fn refused(path: String, why: (String, String)) -> SkillOffered {
    SkillOffered {
        path,
        offer: None,
        review: None,
        refused: Some(why),
    }
}

fn tell(app: &AppHandle, offered: SkillOffered) {
    if let Err(error) = offered.emit(app) {
        tracing::warn!("a dropped skill could not be shown: {error}");
    }
}

/// Tells the window whenever something changes among the skills, as long as this lives.
pub fn mind(app: &AppHandle, longrein: &Longrein) {
    let app = app.clone();
    let told = longrein.mind_skills(move || SkillsChanged {}.emit(&app).is_ok());
    if let Err(error) = told {
        tracing::warn!("the skills can't be watched: {error}");
    }
}

async fn listed(longrein: &Longrein) -> Answer<SkillList> {
    let longrein = longrein.clone();
    on_disk(move || Ok(SkillList::of(&longrein.skills(None).catalogue()))).await
}

/// Does what waits for the disk where that holds up nothing else.
async fn on_disk<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, longrein_app::AppError> + Send + 'static,
) -> Answer<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => Ok(done?),
        Err(error) => Err(BridgeError::new(
            ErrorCode::Io,
            format!("The skills could not be looked at: {error}."),
            "Try again.",
        )),
    }
}

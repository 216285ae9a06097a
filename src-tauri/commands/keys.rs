//! Keys: which there are and where each comes from. One that is typed comes here once and is never
//! sent back.

use longrein_app::keys::{KeyList, Moved};
use longrein_keys::{Backend, Passphrase, SecretText};
use serde::{Deserialize, Serialize};
use specta::Type;
use tauri::State;

use super::Answer;
use crate::desktop::Desktop;

/// What was typed and must not be shown: a key or a passphrase.
#[derive(Deserialize, Type)]
#[serde(transparent)]
pub struct Typed(String);

impl Typed {
    fn secret(self) -> SecretText {
        SecretText::exact(self.0)
    }

    fn passphrase(self) -> Passphrase {
        Passphrase::new(self.0)
    }
}

/// The keys after one was set.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Type)]
pub struct KeySaved {
    /// All of them.
    pub list: KeyList,
    /// What is odd about the one that was set, in sentences.
    pub notes: Vec<String>,
}

/// The keys after another place was chosen.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Type)]
pub struct PlaceChosen {
    /// All of them.
    pub list: KeyList,
    /// What was taken along.
    pub moved: Moved,
}

/// Another place for keys.
#[derive(Deserialize, Type)]
pub struct PlaceRequest {
    /// The place.
    pub backend: Backend,
    /// What opens the encrypted file, or encrypts a new one.
    pub passphrase: Option<Typed>,
    /// Whether what is kept now is taken there.
    pub take_along: bool,
}

/// All keys, as they may be shown. Nobody is asked to unlock anything.
#[tauri::command]
#[specta::specta]
pub async fn list_keys(desktop: State<'_, Desktop>) -> Answer<KeyList> {
    Ok(desktop.longrein().keys().list().await)
}

/// Keeps a key for a provider, or a secret of this name, in place of the one that was there.
#[tauri::command]
#[specta::specta]
pub async fn set_key(desktop: State<'_, Desktop>, name: String, key: Typed) -> Answer<KeySaved> {
    let keys = desktop.longrein().keys();
    let kept = keys.set(&name, key.secret().expose()).await?;
    Ok(KeySaved {
        list: keys.list().await,
        notes: kept.notes,
    })
}

/// Removes what is kept for a provider or under this name.
#[tauri::command]
#[specta::specta]
pub async fn remove_key(desktop: State<'_, Desktop>, name: String) -> Answer<KeyList> {
    let keys = desktop.longrein().keys();
    keys.remove(&name).await?;
    Ok(keys.list().await)
}

/// Keeps keys in another place from now on.
#[tauri::command]
#[specta::specta]
pub async fn choose_key_place(
    desktop: State<'_, Desktop>,
    place: PlaceRequest,
) -> Answer<PlaceChosen> {
    let keys = desktop.longrein().keys();
    let passphrase = place.passphrase.map(Typed::passphrase);
    let moved = keys
        .choose(place.backend, passphrase, place.take_along)
        .await?;
    Ok(PlaceChosen {
        list: keys.list().await,
        moved,
    })
}

/// Opens the encrypted file with its passphrase; without one, lets the system ask the person to
/// unlock the keychain.
#[tauri::command]
#[specta::specta]
pub async fn unlock_keys(
    desktop: State<'_, Desktop>,
    passphrase: Option<Typed>,
) -> Answer<KeyList> {
    let keys = desktop.longrein().keys();
    keys.unlock(passphrase.map(Typed::passphrase)).await?;
    Ok(keys.list().await)
}

/// Makes the encrypted file.
#[tauri::command]
#[specta::specta]
pub async fn begin_keys(desktop: State<'_, Desktop>, passphrase: Typed) -> Answer<KeyList> {
    let keys = desktop.longrein().keys();
    keys.begin(passphrase.passphrase()).await?;
    Ok(keys.list().await)
}

/// Encrypts the file with another passphrase.
#[tauri::command]
#[specta::specta]
pub async fn change_passphrase(
    desktop: State<'_, Desktop>,
    old: Typed,
    chosen: Typed,
) -> Answer<KeyList> {
    let keys = desktop.longrein().keys();
    keys.change_passphrase(old.passphrase(), chosen.passphrase())
        .await?;
    Ok(keys.list().await)
}

/// Closes the encrypted file until its passphrase is given again.
#[tauri::command]
#[specta::specta]
pub async fn lock_keys(desktop: State<'_, Desktop>) -> Answer<KeyList> {
    let keys = desktop.longrein().keys();
    keys.lock().await?;
    Ok(keys.list().await)
}

//! `keys`: which keys there are, and everything that is done with them. None is ever shown.

mod told;

use longrein_app::keys::{KeyPlace, Keys, PASSPHRASE_VARIABLE};
use longrein_app::{AppError, AppErrorCode, Longrein};
use longrein_keys::{Backend, Passphrase, Standing};
use serde_json::json;

use crate::arguments::{self, KeysAction, KeysSet, KeysStore};
use crate::ask;
use crate::context::Context;
use crate::failure::{Failure, Status};
use crate::hidden;
use crate::screen::Screen;
use crate::text;

/// `keys …`.
pub async fn keys(context: &Context, keys: arguments::Keys) -> Result<Status, Failure> {
    let app = context.open()?;
    if let Some(problem) = app.config_problem() {
        return Err(Failure::usage(problem.message, problem.remedy));
    }
    let mut screen = context.screen();
    match keys.action {
        None | Some(KeysAction::List) => {
            open_if_closed(app.keys(), &mut screen).await?;
            told::list(&app.keys().list().await, &mut screen)
        }
        Some(KeysAction::Set(set)) => set_one(&app, set, &mut screen).await,
        Some(KeysAction::Remove(key)) => remove(&app, &key.name, &mut screen).await,
        Some(KeysAction::Test(key)) => test(&app, &key.name, &mut screen).await,
        Some(KeysAction::Store(store)) => choose(&app, store, &mut screen).await,
        Some(KeysAction::Passphrase) => change_passphrase(app.keys(), &mut screen).await,
    }
}

/// Opens the encrypted file for a command that drives runs, where one with this model, or with any
/// when none is named, needs it and a person is there to give the passphrase. Where nobody is, the
/// run itself says what it lacks.
///
/// # Errors
/// When the passphrase does not open it.
pub async fn open_for_runs(
    context: &Context,
    app: &Longrein,
    model: Option<&str>,
) -> Result<(), Failure> {
    let mut screen = context.screen();
    if !ask::somebody_is_there(&screen) {
        return Ok(());
    }
    let provider = model.map(|model| model.split_once('/').map_or(model, |(name, _)| name));
    if !app.keys().asks_for_passphrase(provider).await {
        return Ok(());
    }
    open(app.keys(), &mut screen).await
}

async fn set_one(app: &Longrein, set: KeysSet, screen: &mut Screen) -> Result<Status, Failure> {
    let keys = app.keys();
    if keys.backend() == Backend::Memory {
        return Err(memory_only(&set.name));
    }
    // A place that is not there says so before anybody types a key.
    make_ready(keys, screen).await?;
    let given = if set.stdin {
        hidden::given().await?
    } else {
        let prompt = format!("Key of {}, which is not shown:", text::plain(&set.name));
        match hidden::ask(&prompt, screen).await? {
            Some(typed) => typed,
            None => {
                screen.say("Nothing was kept.");
                return Ok(Status::Cancelled);
            }
        }
    };
    let kept = keys.set(&set.name, given.expose()).await?;
    let place = told::in_words(keys.backend());
    if screen.is_json() {
        let last4 = given.trimmed().last4();
        screen.json(&json!({
            "name": set.name,
            "kept_as": kept.name,
            "replaced": kept.replaced,
            "store": keys.backend(),
            "last4": last4,
            "notes": kept.notes,
        }))?;
    } else {
        let verb = if kept.replaced { "Replaced" } else { "Kept" };
        screen.result(&format!("{verb} in {place}: {}", kept.name))?;
    }
    for note in &kept.notes {
        screen.say(&format!("{note} It is kept all the same."));
    }
    if let Some(line) = keys
        .list()
        .await
        .keys
        .iter()
        .find(|line| line.name == set.name)
        && line.overridden.is_some()
        && let Some(found) = &line.found
    {
        screen.say(&format!(
            "{} overrides it.",
            told::source_in_words(&found.source)
        ));
    }
    Ok(Status::Done)
}

fn memory_only(name: &str) -> Failure {
    let own = longrein_keys::environment::own_variable(name);
    Failure::usage(
        "Keys are kept in memory only, and this command's memory ends with it.",
        format!(
            "Set the variable {own} for the command that needs it, or choose another place with: longrein keys store file"
        ),
    )
}

async fn remove(app: &Longrein, name: &str, screen: &mut Screen) -> Result<Status, Failure> {
    let keys = app.keys();
    open_if_closed(keys, screen).await?;
    let removed = keys.remove(name).await?;
    let place = told::in_words(keys.backend());
    if !removed {
        return Err(Failure::usage(
            format!("Nothing is kept for {} in {place}.", text::plain(name)),
            "See what is kept, and what comes from variables, with: longrein keys",
        ));
    }
    if screen.is_json() {
        screen.json(&json!({"name": name, "removed": true, "store": keys.backend()}))?;
    } else {
        screen.result(&format!("Removed from {place}: {}", text::plain(name)))?;
    }
    let list = keys.list().await;
    if let Some(line) = list.keys.iter().find(|line| line.name == name)
        && let Some(found) = &line.found
    {
        let source = told::source_in_words(&found.source);
        screen.say(&format!("{source} still gives one, which is used."));
    }
    Ok(Status::Done)
}

async fn test(app: &Longrein, name: &str, screen: &mut Screen) -> Result<Status, Failure> {
    open_if_closed(app.keys(), screen).await?;
    if !app.config().providers.contains_key(name) {
        return Err(Failure::usage(
            format!(
                "{} is no provider, so there is nobody to ask.",
                text::plain(name)
            ),
            "See the providers with: longrein keys",
        ));
    }
    let models = app.provider_models(name).await?;
    let list = app.keys().list().await;
    let found = list
        .keys
        .into_iter()
        .find(|line| line.name == name)
        .and_then(|line| line.found);
    if screen.is_json() {
        screen.json(&json!({"name": name, "models": models.len(), "key": found}))?;
        return Ok(Status::Done);
    }
    let count = text::counted(u32::try_from(models.len()).unwrap_or(u32::MAX), "model");
    let with = match &found {
        Some(found) => format!("with the key from {}", told::found_in_words(found)),
        None => "without a key".to_owned(),
    };
    screen.result(&format!(
        "{} answers {with}, and lists {count}.",
        text::plain(name)
    ))?;
    Ok(Status::Done)
}

async fn choose(app: &Longrein, store: KeysStore, screen: &mut Screen) -> Result<Status, Failure> {
    let keys = app.keys();
    let Some(place) = store.place else {
        return told::place(&keys.place().await, screen);
    };
    let (from, to) = (keys.backend(), Backend::from(place));
    if from == to {
        keys.choose(to, None, false).await?;
        return told::place(&keys.place().await, screen);
    }
    if to == Backend::Memory && store.take_along {
        return Err(Failure::usage(
            "What is taken to memory would end with this command.",
            "Leave it where it is with --leave.",
        ));
    }
    let take_along = to != Backend::Memory && takes_along(keys, &store, screen).await?;
    // What is closed can't be counted.
    let staying = match take_along {
        true => Some(0),
        false => keys.list().await.kept,
    };
    let chosen = match keys.choose(to, None, take_along).await {
        Err(error) if to == Backend::File && error.code == AppErrorCode::Locked => {
            let is_new = !keys.place().await.file_exists;
            let passphrase = passphrase(is_new, screen).await?;
            keys.choose(to, Some(passphrase), take_along).await
        }
        chosen => chosen,
    };
    let moved = chosen?;
    if screen.is_json() {
        screen.json(&json!({"store": to, "was": from, "moved": moved.moved, "left_behind": moved.left_behind, "staying": staying}))?;
        return Ok(Status::Done);
    }
    screen.result(&format!(
        "Keys are kept in {} from now on.",
        told::in_words(to)
    ))?;
    if !moved.moved.is_empty() {
        let count = text::counted(
            u32::try_from(moved.moved.len()).unwrap_or(u32::MAX),
            "secret",
        );
        screen.result(&format!("{count} moved from {}.", told::in_words(from)))?;
    }
    told::staying(from, staying, screen);
    for name in &moved.left_behind {
        screen.say(&format!(
            "{name} could not be removed from {}: remove it there by hand.",
            told::in_words(from)
        ));
    }
    Ok(Status::Done)
}

/// Whether what is kept now is taken along; asked only where there is something.
async fn takes_along(keys: &Keys, store: &KeysStore, screen: &mut Screen) -> Result<bool, Failure> {
    if store.leave {
        return Ok(false);
    }
    open_if_closed(keys, screen).await?;
    if store.take_along {
        return Ok(true);
    }
    let kept = keys.list().await.kept.unwrap_or(0);
    if kept == 0 {
        return Ok(false);
    }
    let place = told::in_words(keys.backend());
    let count = text::counted(kept, "secret");
    let verb = if kept == 1 { "is" } else { "are" };
    if !ask::somebody_is_there(screen) {
        return Err(Failure::usage(
            format!("{count} {verb} in {place}, and nobody is here to say what becomes of them."),
            "Take them along with --move, or leave them there with --leave.",
        ));
    }
    ask::confirmed(
        &format!("{count} {verb} in {place}. Take them along? y/N:"),
        screen,
    )
    .await
}

async fn change_passphrase(keys: &Keys, screen: &mut Screen) -> Result<Status, Failure> {
    if !ask::somebody_is_there(screen) {
        return Err(Failure::usage(
            "A passphrase is changed on a terminal, and there is none.",
            format!(
                "Change it on one. The file that {PASSPHRASE_VARIABLE} names only opens the file of secrets, and has to hold the new one afterwards."
            ),
        ));
    }
    let Some(old) = hidden::ask("Passphrase as it is:", screen).await? else {
        return Ok(Status::Cancelled);
    };
    let old = Passphrase::new(old.expose());
    keys.unlock(Some(old.clone())).await?;
    let new = passphrase(true, screen).await?;
    keys.change_passphrase(old, new).await?;
    screen.result("The file of secrets has another passphrase.")?;
    Ok(Status::Done)
}

/// Opens the encrypted file, or makes it, before a secret is typed that would go there. Where
/// nobody can be asked it is left to the environment.
async fn make_ready(keys: &Keys, screen: &mut Screen) -> Result<(), Failure> {
    let place = keys.place().await;
    if let Some(problem) = &place.problem {
        return Err(unusable(
            &place,
            problem.message.clone(),
            problem.remedy.clone(),
        ));
    }
    if place.backend != Backend::File || !ask::somebody_is_there(screen) {
        return Ok(());
    }
    match place.standing {
        Some(Standing::New) => {
            screen.say("A new file of secrets is made, which a passphrase encrypts.");
            let new = passphrase(true, screen).await?;
            Ok(keys.begin(new).await?)
        }
        Some(Standing::Locked) => open(keys, screen).await,
        _ => Ok(()),
    }
}

fn unusable(place: &KeyPlace, message: String, remedy: String) -> Failure {
    let status = match place.backend {
        Backend::Keychain => Status::Usage,
        Backend::File | Backend::Memory => Status::Failed,
    };
    Failure::said(status, message, remedy)
}

async fn open_if_closed(keys: &Keys, screen: &mut Screen) -> Result<(), Failure> {
    let is_closed =
        keys.backend() == Backend::File && keys.place().await.standing == Some(Standing::Locked);
    if is_closed && ask::somebody_is_there(screen) {
        return open(keys, screen).await;
    }
    Ok(())
}

/// Asks for the passphrase until it opens the file, three times at most.
async fn open(keys: &Keys, screen: &mut Screen) -> Result<(), Failure> {
    /// How often a person may mistype it.
    const ATTEMPTS: usize = 3;
    let mut refused: Option<AppError> = None;
    for _ in 0..ATTEMPTS {
        if let Some(error) = &refused {
            screen.say(&error.message);
        }
        let passphrase = passphrase(false, screen).await?;
        match keys.unlock(Some(passphrase)).await {
            Ok(()) => return Ok(()),
            Err(error) => refused = Some(error),
        }
    }
    Err(refused.map_or_else(stopped, Failure::from))
}

/// A passphrase; a new one is asked for twice.
async fn passphrase(is_new: bool, screen: &mut Screen) -> Result<Passphrase, Failure> {
    if !ask::somebody_is_there(screen) {
        return Err(Failure::usage(
            "There is no terminal to ask for the passphrase on.",
            format!("Write it into a file, and let the variable {PASSPHRASE_VARIABLE} name that."),
        ));
    }
    let prompt = if is_new {
        "New passphrase:"
    } else {
        "Passphrase of the file of secrets:"
    };
    let typed = hidden::ask(prompt, screen).await?.ok_or_else(stopped)?;
    if is_new {
        let again = hidden::ask("The same again:", screen)
            .await?
            .ok_or_else(stopped)?;
        if again != typed {
            return Err(Failure::usage(
                "These are two different passphrases, so nothing was changed.",
                "Try again.",
            ));
        }
    }
    Ok(Passphrase::new(typed.expose()))
}

fn stopped() -> Failure {
    Failure::said(Status::Cancelled, "Nothing was changed.", "")
}

//! Changes of `config.toml` by a program: only what is meant changes, comments and order stay, and
//! the file is either the old one or the new one.

use std::path::Path;

use longrein_keys::Backend;
use longrein_models::ToolMode;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, value};

use super::read::check;
use super::{Config, FILE_NAME, McpConfig, ProviderConfig, Theme, as_error, path};
use crate::error::AppError;
use crate::own_file;

/// Adds a provider or changes the one of this name. Returns the configuration as it is now.
///
/// # Errors
/// When the file has mistakes already, when the provider would be one, or when the file can't be
/// written; the file then stays as it was.
pub fn set_provider(
    data_dir: &Path,
    name: &str,
    provider: &ProviderConfig,
) -> Result<Config, AppError> {
    edit(data_dir, |document| {
        let entry = table_at(table_at(document.as_table_mut(), "providers")?, name)?;
        set(entry, "format", provider.format.name());
        set(entry, "base_url", &provider.base_url);
        match &provider.key {
            Some(reference) => set(entry, "key", &reference.written()),
            None => {
                entry.remove("key");
            }
        }
        match provider.tool_mode {
            // What is usual needs no line, but a line that is there tells the truth.
            ToolMode::Native if !entry.contains_key("tool_mode") => {}
            mode => set(entry, "tool_mode", mode.name()),
        }
        Some(())
    })
}

/// Removes a provider; removing one that is not there changes nothing.
///
/// # Errors
/// As [`set_provider`].
pub fn remove_provider(data_dir: &Path, name: &str) -> Result<Config, AppError> {
    edit(data_dir, |document| {
        if let Some(providers) = document
            .get_mut("providers")
            .and_then(Item::as_table_like_mut)
        {
            providers.remove(name);
        }
        Some(())
    })
}

/// Adds a server or changes the one of this name. Returns the configuration as it is now.
///
/// # Errors
/// As [`set_provider`].
pub fn set_server(data_dir: &Path, name: &str, server: &McpConfig) -> Result<Config, AppError> {
    edit(data_dir, |document| {
        let entry = table_at(table_at(document.as_table_mut(), "mcp")?, name)?;
        for key in ["command", "url", "env", "headers"] {
            entry.remove(key);
        }
        if !server.command.is_empty() {
            entry.insert("command", value(Array::from_iter(&server.command)));
        }
        if let Some(url) = &server.url {
            entry.insert("url", value(url));
        }
        let env = server
            .env
            .iter()
            .map(|(name, value)| (name, value.written()));
        let headers = server.headers.iter().map(|(name, header)| {
            let written = format!("{}{}", header.before, header.value.written());
            (name, written)
        });
        insert_table(entry, "env", InlineTable::from_iter(env));
        insert_table(entry, "headers", InlineTable::from_iter(headers));
        match server.start_seconds {
            Some(seconds) => entry.insert("start_seconds", value(i64::from(seconds))),
            None => entry.remove("start_seconds"),
        };
        // Trust is never left over from a server that had this name before.
        entry.insert("trusted", value(server.trusted));
        Some(())
    })
}

fn insert_table(entry: &mut dyn TableLike, key: &str, table: InlineTable) {
    if !table.is_empty() {
        entry.insert(key, value(table));
    }
}

/// Removes a server; removing one that is not there changes nothing.
///
/// # Errors
/// As [`set_provider`].
pub fn remove_server(data_dir: &Path, name: &str) -> Result<Config, AppError> {
    edit(data_dir, |document| {
        if let Some(servers) = document.get_mut("mcp").and_then(Item::as_table_like_mut) {
            servers.remove(name);
        }
        Some(())
    })
}

/// Says how a model is brought to ask for actions.
///
/// # Errors
/// As [`set_provider`].
pub fn set_tool_mode(data_dir: &Path, model: &str, mode: ToolMode) -> Result<Config, AppError> {
    edit(data_dir, |document| {
        let entry = table_at(table_at(document.as_table_mut(), "models")?, model)?;
        set(entry, "tool_mode", mode.name());
        Some(())
    })
}

/// Chooses how the window looks.
///
/// # Errors
/// As [`set_provider`].
pub fn set_theme(data_dir: &Path, theme: Theme) -> Result<Config, AppError> {
    edit(data_dir, |document| {
        set(
            table_at(document.as_table_mut(), "ui")?,
            "theme",
            theme.name(),
        );
        Some(())
    })
}

/// Chooses where keys are kept.
///
/// # Errors
/// As [`set_provider`].
pub fn set_key_store(data_dir: &Path, store: Backend) -> Result<Config, AppError> {
    edit(data_dir, |document| {
        set(
            table_at(document.as_table_mut(), "keys")?,
            "store",
            store.name(),
        );
        Some(())
    })
}

/// Changes a value and keeps what stands beside it.
fn set(table: &mut dyn TableLike, key: &str, text: &str) {
    match table.get_mut(key).and_then(Item::as_value_mut) {
        Some(old) => {
            let decor = old.decor().clone();
            *old = text.into();
            *old.decor_mut() = decor;
        }
        None => {
            table.insert(key, value(text));
        }
    }
}

/// The table below a key, made when it is missing.
fn table_at<'t>(table: &'t mut dyn TableLike, key: &str) -> Option<&'t mut dyn TableLike> {
    if !table.contains_key(key) {
        let mut fresh = Table::new();
        // A table that only holds tables needs no heading of its own.
        fresh.set_implicit(true);
        table.insert(key, Item::Table(fresh));
    }
    table.get_mut(key)?.as_table_like_mut()
}

fn edit(
    data_dir: &Path,
    change: impl FnOnce(&mut DocumentMut) -> Option<()>,
) -> Result<Config, AppError> {
    let not_changed = |problems: &[_]| own_file::not_changed(FILE_NAME, problems);
    let old = own_file::read(&path(data_dir)).map_err(|problems| not_changed(&problems))?;
    let checked = check(&old);
    if checked.config.is_none() {
        return Err(not_changed(&checked.problems));
    }
    let mut document: DocumentMut = old.parse().map_err(|error| {
        AppError::usage(
            format!("{FILE_NAME} can't be edited: {error}."),
            "Correct it by hand.",
        )
    })?;
    if change(&mut document).is_none() {
        let remedy = "Write its sections as [providers.NAME], [keys] and [ui].";
        return Err(AppError::usage(
            format!("{FILE_NAME} can't be edited as it is written."),
            remedy,
        ));
    }
    let new = document.to_string();
    let checked = check(&new);
    let Some(config) = checked.config else {
        return Err(as_error(&checked.problems));
    };
    if new != old {
        own_file::replace(data_dir, FILE_NAME, &new)?;
    }
    Ok(config)
}

//! Changes of `policy.toml` by a program: only what is meant changes, comments and order stay, and
//! the file is either the old one or the new one. Processes change it one after the other.

use std::path::Path;

use longrein_protocol::Effect;
use longrein_protocol::agent::Decision;
use toml_edit::{ArrayOfTables, DocumentMut, InlineTable, Item, Table, value};

use super::read::check;
use super::{FILE_NAME, KeptRule, as_error, path};
use crate::error::{AppError, AppErrorCode};
use crate::own_file;

/// What stands at the top of a file that a program made.
const HEADING: &str = "\
# Rules that hold beside those of agent files: what was answered with \"always\", and what you
# write here yourself. Deny beats ask, ask beats allow. A change narrows runs that are going at
# once; it never widens them.
";

/// The key under which the rules stand.
const RULE: &str = "rule";

/// Adds rules; those that are there already stay as they are. Gives back all of the given ones.
/// Blocks while another process changes the file, at most for five seconds.
///
/// # Errors
/// When the file has mistakes already, when a rule would be one, or when the file can't be
/// written; the file then stays as it was.
pub fn add(data_dir: &Path, rules: Vec<KeptRule>) -> Result<Vec<KeptRule>, AppError> {
    change(data_dir, |document, there| {
        let tables = tables_of(document)?;
        for (position, kept) in rules.iter().enumerate() {
            let is_known = there.contains(kept) || rules[..position].contains(kept);
            if !is_known {
                tables.push(table_of(kept));
            }
        }
        Ok(rules)
    })
}

/// Takes a rule back, by its name or the beginning of it. Blocks as [`add`] does.
///
/// # Errors
/// When there is no such rule, or several, and as [`add`].
pub fn revoke(data_dir: &Path, id: &str) -> Result<KeptRule, AppError> {
    change(data_dir, |document, there| {
        let mut named = there
            .iter()
            .enumerate()
            .filter(|(_, kept)| !id.is_empty() && kept.id.starts_with(id));
        let found = (named.next(), named.next());
        let (position, kept) = match found {
            (Some(only), None) => only,
            (None, _) => {
                return Err(AppError::new(
                    AppErrorCode::NotFound,
                    format!("There is no rule {id}."),
                    "List the rules with: longrein rules",
                ));
            }
            (Some(_), Some(_)) => {
                return Err(AppError::usage(
                    format!("Several rules begin with {id}."),
                    "Write more letters of the name.",
                ));
            }
        };
        take_out(document, position)?;
        Ok(kept.clone())
    })
}

/// Does one change under the lock. A file with mistakes is left alone, and so is one that would
/// have mistakes afterwards.
fn change<T>(
    data_dir: &Path,
    act: impl FnOnce(&mut DocumentMut, &[KeptRule]) -> Result<T, AppError>,
) -> Result<T, AppError> {
    let _lock = own_file::lock(data_dir, FILE_NAME, "policy.lock")?;
    let not_changed = |problems: &[_]| own_file::not_changed(FILE_NAME, problems);
    let old = own_file::read(&path(data_dir)).map_err(|problems| not_changed(&problems))?;
    let checked = check(&old);
    let Some(there) = checked.rules else {
        return Err(not_changed(&checked.problems));
    };
    let mut document: DocumentMut = old.parse().map_err(|error| {
        AppError::usage(
            format!("{FILE_NAME} can't be edited: {error}."),
            "Correct it by hand.",
        )
    })?;
    let done = act(&mut document, &there)?;
    let mut new = document.to_string();
    if old.is_empty() && !new.is_empty() {
        new = format!("{HEADING}\n{}", new.trim_start());
    }
    let checked = check(&new);
    if checked.rules.is_none() {
        let error = as_error(&checked.problems);
        let message = format!("The rule can't be kept in a file. {}", error.message);
        return Err(AppError::new(error.code, message, error.remedy));
    }
    if new != old {
        own_file::replace(data_dir, FILE_NAME, &new)?;
    }
    Ok(done)
}

fn tables_of(document: &mut DocumentMut) -> Result<&mut ArrayOfTables, AppError> {
    let item = document
        .as_table_mut()
        .entry(RULE)
        .or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
    item.as_array_of_tables_mut().ok_or_else(|| {
        AppError::usage(
            format!("{FILE_NAME} can't be edited as it is written."),
            "Write each rule as a table of its own, under [[rule]].",
        )
    })
}

/// Takes one table out, with the comment right above it. What stands further above, parted by an
/// empty line, is about the file and stays.
fn take_out(document: &mut DocumentMut, position: usize) -> Result<(), AppError> {
    let tables = tables_of(document)?;
    let above = tables
        .get(position)
        .and_then(|table| table.decor().prefix()?.as_str())
        .and_then(|prefix| prefix.rfind("\n\n").map(|end| prefix[..=end].to_owned()))
        .filter(|kept| !kept.trim().is_empty());
    tables.remove(position);
    let is_last = tables.is_empty();
    let Some(kept) = above else {
        return Ok(());
    };
    if let Some(next) = tables.get_mut(position) {
        let below = next.decor().prefix().and_then(|prefix| prefix.as_str());
        let below = below
            .unwrap_or_default()
            .trim_start_matches('\n')
            .to_owned();
        next.decor_mut().set_prefix(format!("{kept}\n{below}"));
    } else {
        let trailing = document.trailing().as_str().unwrap_or_default().to_owned();
        let parted = if is_last { "" } else { "\n" };
        document.set_trailing(format!(
            "{parted}{}{trailing}",
            kept.trim_start_matches('\n')
        ));
    }
    Ok(())
}

fn table_of(kept: &KeptRule) -> Table {
    let rule = &kept.rule;
    let mut table = Table::new();
    let mut say = |key: &str, text: &str| table.insert(key, value(text));
    match &kept.agent {
        Some(agent) => {
            say("scope", "agent");
            say("agent", agent);
        }
        None => {
            say("scope", "everywhere");
        }
    }
    let texts = [
        ("tool", rule.tool.as_deref()),
        ("effect", rule.effect.map(effect)),
        ("path", rule.path.as_deref()),
        ("host", rule.host.as_deref()),
        ("command", rule.command.as_deref()),
        ("decision", Some(decision(rule.decision))),
    ];
    for (key, text) in texts {
        if let Some(text) = text {
            say(key, text);
        }
    }
    if !rule.args.is_empty() {
        let args: InlineTable = rule.args.iter().collect();
        table.insert("args", value(args));
    }
    table
}

fn effect(effect: Effect) -> &'static str {
    match effect {
        Effect::Read => "read",
        Effect::Workspace => "workspace",
        Effect::Reversible => "reversible",
        Effect::Irreversible => "irreversible",
    }
}

fn decision(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "allow",
        Decision::Ask => "ask",
        Decision::Deny => "deny",
    }
}

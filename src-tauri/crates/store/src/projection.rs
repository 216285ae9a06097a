//! Lists that are derived from the events. They may be wrong or gone without any harm: they are
//! shown as far as they can be read, and rebuilt from the log.

use longrein_protocol::view::{RunLine, RunState};
use longrein_protocol::{Event, Payload, RunId};
use rusqlite::{Connection, OptionalExtension, params};

use crate::append::named_action;
use crate::log::Reading;
use crate::rows::{key, run_of};

/// The most answers to a search by prefix: enough to show that it is not unique.
const FOUND_LIMIT: u32 = 16;

/// How many parents a run may have above it when its tree is looked for.
pub(crate) const DEPTH_LIMIT: u32 = 64;

/// The letters of an id.
const ID_LENGTH: usize = 26;

/// The most letters of an action's id that are looked for.
const ACTION_PREFIX_LIMIT: usize = 64;

pub(crate) fn runs(
    connection: &Connection,
    limit: u32,
    before: Option<RunId>,
) -> rusqlite::Result<Vec<RunLine>> {
    let sql = "SELECT run, created_at, updated_at, seq, line FROM runs WHERE run < ?1 ORDER BY run DESC LIMIT ?2";
    // Ids sort by the time of creation; no id has seventeen bytes of ones.
    let before = before.map_or(vec![0xff; 17], |run| key(run).to_vec());
    let mut select = connection.prepare_cached(sql)?;
    let mut rows = select.query(params![before, limit])?;
    let mut lines = Vec::new();
    while let Some(row) = rows.next()? {
        lines.push(line_of(row)?);
    }
    Ok(lines)
}

pub(crate) fn run_line(connection: &Connection, run: RunId) -> rusqlite::Result<Option<RunLine>> {
    connection
        .prepare_cached("SELECT run, created_at, updated_at, seq, line FROM runs WHERE run = ?1")?
        .query_row([key(run)], line_of)
        .optional()
}

/// The line of a row, or one that says that it can't be read: it never hides its run.
fn line_of(row: &rusqlite::Row<'_>) -> rusqlite::Result<RunLine> {
    if let Ok(text) = row.get_ref(4)?.as_str()
        && let Ok(line) = serde_json::from_str(text)
    {
        return Ok(line);
    }
    let run = row.get_ref(0)?.as_blob().ok().and_then(run_of);
    let mut line = unreadable(run, "the line of this run can't be read; rebuild the list");
    line.created_at = row.get(1).unwrap_or_default();
    line.updated_at = row.get(2).unwrap_or_default();
    line.since = line.updated_at;
    line.seq = row.get(3).unwrap_or_default();
    Ok(line)
}

fn unreadable(run: Option<RunId>, reason: &str) -> RunLine {
    RunLine {
        run: run.map(|run| run.to_string()).unwrap_or_default(),
        parent: None,
        root: None,
        title: String::new(),
        agent: String::new(),
        model: String::new(),
        demo: false,
        state: RunState::Unreadable,
        reason: reason.to_owned(),
        since: 0,
        created_at: 0,
        updated_at: 0,
        steps: 0,
        tokens_in: 0,
        tokens_out: 0,
        working_ms: 0,
        cost_micro: None,
        cost_estimated: false,
        seq: 0,
        rein: Vec::new(),
    }
}

pub(crate) fn tree_of(connection: &Connection, run: RunId) -> rusqlite::Result<Option<RunId>> {
    let tree: Option<Vec<u8>> = connection
        .prepare_cached("SELECT tree FROM runs WHERE run = ?1")?
        .query_row([key(run)], |row| row.get(0))
        .optional()?;
    Ok(tree.as_deref().and_then(run_of))
}

/// The first and the last id that begin with `prefix`; `None` when no id does.
pub(crate) fn id_range(prefix: &str) -> Option<(RunId, RunId)> {
    if prefix.len() > ID_LENGTH || !prefix.is_ascii() {
        return None;
    }
    let filled = |letter: char| {
        let mut text = prefix.to_ascii_uppercase();
        while text.len() < ID_LENGTH {
            // The first letter holds three bits only.
            text.push(if text.is_empty() && letter == 'Z' {
                '7'
            } else {
                letter
            });
        }
        text.parse().ok()
    };
    filled('0').zip(filled('Z'))
}

pub(crate) fn find_run(
    connection: &Connection,
    (first, last): (RunId, RunId),
) -> rusqlite::Result<Vec<RunId>> {
    let sql = "SELECT run FROM runs WHERE run BETWEEN ?1 AND ?2 ORDER BY run DESC LIMIT ?3";
    let mut select = connection.prepare_cached(sql)?;
    let found = select.query_map(params![key(first), key(last), FOUND_LIMIT], |row| {
        row.get(0)
    })?;
    let found: Vec<Vec<u8>> = found.collect::<rusqlite::Result<_>>()?;
    Ok(found.iter().filter_map(|key| run_of(key)).collect())
}

pub(crate) fn find_action(
    connection: &Connection,
    prefix: &str,
) -> rusqlite::Result<Vec<(String, RunId)>> {
    if prefix.is_empty() || prefix.len() > ACTION_PREFIX_LIMIT {
        return Ok(Vec::new());
    }
    let sql = "SELECT action, run FROM actions \
         WHERE action BETWEEN ?1 AND ?1 || char(1114111) ORDER BY action LIMIT ?2";
    let mut select = connection.prepare_cached(sql)?;
    let found = select.query_map(params![prefix, FOUND_LIMIT], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, Vec<u8>>(1)?))
    })?;
    let found: Vec<_> = found.collect::<rusqlite::Result<_>>()?;
    Ok(found
        .into_iter()
        .filter_map(|(action, key)| Some((action, run_of(&key)?)))
        .collect())
}

/// What the events of a run say of its rows in lists.
pub(crate) struct Rebuilt {
    pub line: RunLine,
    pub actions: Vec<String>,
}

pub(crate) fn rebuild(
    run: RunId,
    reading: &Reading,
    fold: &dyn Fn(&[Event]) -> Option<RunLine>,
) -> Rebuilt {
    let mut line = match &reading.events[..] {
        [] => None,
        events => fold(events),
    }
    .unwrap_or_else(|| unreadable(Some(run), "the events of this run can't be read"));
    if let Some(damage) = &reading.damage {
        line.state = RunState::Unreadable;
        line.reason = format!(
            "the log is damaged at event {}: {}",
            damage.seq, damage.what
        );
    }
    let actions = reading
        .events
        .iter()
        .filter_map(|event| named_action(&event.payload));
    Rebuilt {
        line,
        actions: actions.map(str::to_owned).collect(),
    }
}

/// The run above the one that these events begin.
pub(crate) fn parent(events: &[Event]) -> Option<RunId> {
    match events.first().map(|event| &event.payload) {
        Some(Payload::RunCreated(created)) => created.parent,
        _ => None,
    }
}

//! Rows that another version might write, made by the written rule and not by the store.

use longrein_protocol::RunId;
use rusqlite::{Connection, params};

/// When the added rows were made.
const AT: i64 = 77;

/// The hash of a row, written down once more, so that the format can't change by accident.
fn row_hash(before: &[u8], row: (RunId, u32), kind: &str, v: u16, json: &[u8]) -> [u8; 32] {
    let (run, seq) = row;
    let mut bytes = before.to_vec();
    bytes.extend(run.0.0.to_be_bytes());
    bytes.extend(seq.to_be_bytes());
    bytes.extend(AT.to_be_bytes());
    bytes.extend((kind.len() as u32).to_be_bytes());
    bytes.extend(kind.as_bytes());
    bytes.extend(v.to_be_bytes());
    bytes.extend(blake3::hash(json).as_bytes());
    *blake3::hash(&bytes).as_bytes()
}

/// Adds a row that is whole, of any type and version, at the end of a run.
pub fn add_row(
    connection: &Connection,
    run: RunId,
    kind: &str,
    v: u16,
    json: &[u8],
) -> rusqlite::Result<()> {
    let key = run.0.0.to_be_bytes();
    let last = "SELECT seq, hash FROM events WHERE run = ?1 ORDER BY seq DESC LIMIT 1";
    let last = connection.query_row(last, [key], |row| {
        Ok((row.get::<_, u32>(0)?, row.get::<_, Vec<u8>>(1)?))
    });
    let (seq, before) = last?;
    let hash = row_hash(&before, (run, seq + 1), kind, v, json);
    let name = "INSERT INTO types (name) VALUES (?1) ON CONFLICT DO NOTHING";
    connection.execute(name, [kind])?;
    // The first byte says that the rest is not compressed.
    let stored = [&[0], json].concat();
    let insert = "INSERT INTO events (run, seq, at, type, v, payload, hash) \
         VALUES (?1, ?2, ?3, (SELECT id FROM types WHERE name = ?4), ?5, ?6, ?7)";
    connection.execute(insert, params![key, seq + 1, AT, kind, v, stored, hash])?;
    let head = "UPDATE runs SET seq = ?2, head = ?3 WHERE run = ?1";
    connection.execute(head, params![key, seq + 1, hash])?;
    Ok(())
}

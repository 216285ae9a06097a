//! Rows that are not what was written: each is named, and nothing else suffers.

use std::fs;
use std::path::Path;

use longrein_core::run::Run;
use longrein_protocol::event::{ActionUncertain, RunCancelled};
use longrein_protocol::view::RunState;
use longrein_protocol::{ActionId, Body, Event, Payload, RunId};
use longrein_store::{Damage, DamageKind, Log, LogError, Store};
use rusqlite::params;

use crate::forged::add_row;
use crate::sample::Sample;
use crate::support::{append, begun, block_on, go_on, noise, raw, run_on};

/// A folder with two runs of sixteen events; the first one is to be spoilt.
struct Folder {
    folder: tempfile::TempDir,
    spoilt: Sample,
    whole: Sample,
}

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (spoilt, whole) = block_on(async {
            let store = Store::open(folder.path()).unwrap();
            let (mut spoilt, fence) = begun(&store, 1).await;
            go_on(&store, &mut spoilt, fence, 2).await;
            let (mut whole, fence) = begun(&store, 2).await;
            go_on(&store, &mut whole, fence, 2).await;
            (spoilt, whole)
        });
        Self {
            folder,
            spoilt,
            whole,
        }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn key(&self) -> [u8; 16] {
        self.spoilt.run.0.0.to_be_bytes()
    }

    /// Changes a column of one row of the run that is spoilt.
    fn spoil(&self, column: &str, seq: u32, change: impl FnOnce(&mut Vec<u8>)) {
        let connection = raw(self.path());
        let place = params![self.key(), seq];
        let select = format!("SELECT {column} FROM events WHERE run = ?1 AND seq = ?2");
        let mut bytes: Vec<u8> = connection
            .query_row(&select, place, |row| row.get(0))
            .unwrap();
        change(&mut bytes);
        let update = format!("UPDATE events SET {column} = ?3 WHERE run = ?1 AND seq = ?2");
        let changed = connection.execute(&update, params![self.key(), seq, bytes]);
        assert_eq!(changed.unwrap(), 1);
    }

    fn execute(&self, sql: &str) {
        raw(self.path()).execute(sql, [self.key()]).unwrap();
    }

    /// What a check finds, and that reading finds the first of it and nothing in the other run.
    #[track_caller]
    fn damages(&self) -> Vec<(u32, DamageKind)> {
        block_on(async {
            let store = Store::open(self.path()).unwrap();
            let report = store.check(None).await.unwrap();
            assert!(
                report
                    .damages
                    .iter()
                    .all(|damage| damage.run == self.spoilt.run)
            );
            let reading = store.read(self.spoilt.run, 1, 1_000).await.unwrap();
            assert_eq!(reading.damage.as_ref(), report.damages.first());
            let other = store.read(self.whole.run, 1, 1_000).await.unwrap();
            assert_eq!((other.events.len(), other.damage), (16, None));
            assert_eq!(store.runs(10, None).await.unwrap().len(), 2);
            report
                .damages
                .into_iter()
                .map(|Damage { seq, what, .. }| (seq, what))
                .collect()
        })
    }
}

#[test]
fn a_flipped_bit_anywhere_in_a_payload_names_the_row() {
    let folder = Folder::new();
    let length = {
        let sql = "SELECT length(payload) FROM events WHERE run = ?1 AND seq = 7";
        let length = raw(folder.path()).query_row(sql, [folder.key()], |row| row.get::<_, i64>(0));
        length.unwrap() as usize
    };
    for place in 0..length {
        let flip = |bytes: &mut Vec<u8>| bytes[place] ^= 1 << (place % 8);
        folder.spoil("payload", 7, flip);
        assert_eq!(folder.damages(), [(7, DamageKind::Payload)], "byte {place}");
        folder.spoil("payload", 7, flip);
    }
    assert_eq!(folder.damages(), []);
}

#[test]
fn the_last_row_is_held_to_the_head_that_the_list_recorded() {
    let folder = Folder::new();
    folder.spoil("payload", 16, |bytes| bytes[5] ^= 4);
    assert_eq!(folder.damages(), [(16, DamageKind::Payload)]);
}

#[test]
fn a_changed_time_or_type_is_a_changed_row() {
    let folder = Folder::new();
    folder.execute("UPDATE events SET at = at + 1 WHERE run = ?1 AND seq = 5");
    folder.execute("UPDATE events SET type = type + 1 WHERE run = ?1 AND seq = 9");
    let damages = folder.damages();
    assert_eq!(
        damages,
        [(5, DamageKind::Payload), (9, DamageKind::Payload)]
    );
}

#[test]
fn a_changed_hash_breaks_the_chain_there_and_after() {
    let folder = Folder::new();
    folder.spoil("hash", 7, |bytes| bytes[0] ^= 1);
    let damages = folder.damages();
    assert_eq!(damages[0], (7, DamageKind::Chain));
    assert_eq!(damages[1].0, 8);
    assert_eq!(damages.len(), 2);
}

#[test]
fn a_missing_row_is_a_gap() {
    let folder = Folder::new();
    folder.execute("DELETE FROM events WHERE run = ?1 AND seq IN (3, 9, 10)");
    assert_eq!(
        folder.damages(),
        [(4, DamageKind::Gap), (11, DamageKind::Gap)]
    );
}

#[test]
fn a_missing_tail_is_a_gap_and_is_not_written_over() {
    let mut folder = Folder::new();
    folder.execute("DELETE FROM events WHERE run = ?1 AND seq >= 15");
    assert_eq!(folder.damages(), [(17, DamageKind::Gap)]);
    block_on(async {
        let store = Store::open(folder.path()).unwrap();
        let fence = store.take_fence(folder.spoilt.run).await.unwrap();
        folder.spoilt.seq = 14;
        let event = folder.spoilt.event(RunCancelled {});
        let refused = store
            .append(append(fence, &folder.spoilt, vec![event]))
            .await;
        assert!(
            matches!(refused, Err(LogError::Sequence { last: 16, .. })),
            "{refused:?}"
        );
        store.rebuild(&line_of_events).await.unwrap();
    });
    assert_eq!(
        folder.damages(),
        [(17, DamageKind::Gap)],
        "a rebuild keeps the only trace"
    );
}

#[test]
fn a_run_of_which_only_the_list_knows_is_named() {
    let folder = Folder::new();
    folder.execute("DELETE FROM events WHERE run = ?1");
    assert_eq!(folder.damages(), [(17, DamageKind::Gap)]);
}

/// Adds a row to the run that is spoilt.
fn add(folder: &Folder, kind: &str, v: u16, json: &[u8]) {
    add_row(&raw(folder.path()), folder.spoilt.run, kind, v, json).unwrap();
}

#[test]
fn a_row_that_was_made_by_the_written_rule_is_read() {
    let folder = Folder::new();
    add(
        &folder,
        "notice.given",
        1,
        br#"{"text":"as the rule says"}"#,
    );
    assert_eq!(folder.damages(), []);
    block_on(async {
        let store = Store::open(folder.path()).unwrap();
        let reading = store.read(folder.spoilt.run, 17, 1).await.unwrap();
        let Payload::NoticeGiven(notice) = &reading.events[0].payload else {
            panic!("{reading:?}");
        };
        assert_eq!(notice.text, Body::Text("as the rule says".to_owned()));
    });
}

#[test]
fn events_of_the_future_are_named_and_their_chain_holds() {
    let folder = Folder::new();
    add(&folder, "moon.landed", 1, br#"{"crater":"Tycho"}"#);
    add(&folder, "run.paused", 9, br#"{"until":"spring"}"#);
    let unknown = |name: &str| DamageKind::UnknownType(name.to_owned());
    let damages = folder.damages();
    assert_eq!(
        damages,
        [(17, unknown("moon.landed")), (18, unknown("run.paused v9"))]
    );
}

#[test]
fn a_payload_that_does_not_fit_its_type_is_unreadable() {
    let folder = Folder::new();
    add(
        &folder,
        "notice.given",
        1,
        br#"{"text":["not","a","body"]}"#,
    );
    assert_eq!(folder.damages(), [(17, DamageKind::Unreadable)]);
}

#[test]
fn a_redacted_payload_keeps_the_chain() {
    let folder = Folder::new();
    let store = Store::open(folder.path()).unwrap();
    let reading = block_on(store.read(folder.spoilt.run, 7, 1)).unwrap();
    let json = serde_json::to_string(&reading.events[0].payload).unwrap();
    let tag = format!(r#""type":"{}","#, reading.events[0].payload.name());
    let hash = blake3::hash(json.replacen(&tag, "", 1).as_bytes());
    let redact = "UPDATE events SET payload = NULL, payload_hash = ?2 WHERE run = ?1 AND seq = 7";
    let row = params![folder.key(), hash.as_bytes()];
    raw(folder.path()).execute(redact, row).unwrap();
    assert!(block_on(store.check(None)).unwrap().is_whole());
}

#[test]
fn a_byte_that_is_flipped_in_the_file_itself_names_the_row() {
    let folder = Folder::new();
    let sql = "SELECT payload FROM events WHERE run = ?1 AND seq = 7";
    let payload: Vec<u8> = raw(folder.path())
        .query_row(sql, [folder.key()], |row| row.get(0))
        .unwrap();
    let file = folder.path().join("longrein.db");
    let mut bytes = fs::read(&file).unwrap();
    let place = bytes
        .windows(payload.len())
        .position(|window| window == payload)
        .unwrap();
    bytes[place + payload.len() / 2] ^= 0x20;
    fs::write(&file, bytes).unwrap();
    assert_eq!(folder.damages(), [(7, DamageKind::Payload)]);
}

#[test]
fn a_page_of_nonsense_loses_its_rows_only() {
    let folder = tempfile::tempdir().unwrap();
    let (spoilt, whole) = block_on(async {
        let store = Store::open(folder.path()).unwrap();
        let (mut spoilt, fence) = begun(&store, 1).await;
        run_on(&store, &mut spoilt, fence, 100).await;
        let (mut whole, fence) = begun(&store, 2).await;
        run_on(&store, &mut whole, fence, 100).await;
        (spoilt, whole)
    });
    let sql = "SELECT payload FROM events WHERE run = ?1 AND seq = 350";
    let payload: Vec<u8> = raw(folder.path())
        .query_row(sql, [spoilt.run.0.0.to_be_bytes()], |row| row.get(0))
        .unwrap();
    let file = folder.path().join("longrein.db");
    let mut bytes = fs::read(&file).unwrap();
    let place = bytes
        .windows(payload.len())
        .position(|window| window == payload)
        .unwrap();
    let page = place / 8_192 * 8_192;
    bytes[page..page + 64].fill(0xee);
    fs::write(&file, bytes).unwrap();
    block_on(async {
        let store = Store::open(folder.path()).unwrap();
        let reading = store.read(spoilt.run, 1, 10_000).await.unwrap();
        let damage = reading.damage.unwrap();
        assert_eq!(damage.what, DamageKind::Unreadable);
        assert!((300..=350).contains(&damage.seq), "{damage:?}");
        assert_eq!(reading.events.len() as u32, damage.seq - 1);
        let reading = store.read(whole.run, 1, 10_000).await.unwrap();
        assert_eq!(
            (reading.events.len() as u32, reading.damage),
            (whole.seq, None)
        );
        let report = store.check(None).await.unwrap();
        assert_eq!(report.runs, 2);
        assert!(report.damages.iter().all(|damage| damage.run == spoilt.run));
        assert!(!report.damages.is_empty());
    });
}

#[test]
fn a_damaged_page_that_no_row_needs_is_damage_of_the_file() {
    let folder = Folder::new();
    let connection = raw(folder.path());
    let root = "SELECT rootpage FROM sqlite_schema WHERE name = 'inbox_open'";
    let page: u32 = connection.query_row(root, [], |row| row.get(0)).unwrap();
    drop(connection);
    let file = folder.path().join("longrein.db");
    let mut bytes = fs::read(&file).unwrap();
    let start = (page as usize - 1) * 8_192;
    bytes[start..start + 64].fill(0xee);
    fs::write(&file, bytes).unwrap();
    let report = block_on(async { Store::open(folder.path()).unwrap().check(None).await }).unwrap();
    assert_eq!(
        (report.damages.as_slice(), report.stale.as_slice()),
        (&[][..], &[][..])
    );
    assert!(!report.file.is_empty() && !report.is_whole());
    assert!(!report.file[0].starts_with("***"), "{:?}", report.file);
}

#[test]
fn a_lost_or_spoilt_blob_is_named_by_every_event_that_refers_to_it() {
    let folder = tempfile::tempdir().unwrap();
    block_on(async {
        let store = Store::open(folder.path()).unwrap();
        let (mut sample, fence) = begun(&store, 1).await;
        let (small, large) = (noise(1, 9_000), noise(2, 200_000));
        for _ in 0..2 {
            let mut events = sample.seldom(&ActionId::from_random(5));
            if let Payload::SourceCaptured(captured) = &mut events[0].payload {
                (captured.bytes, captured.text) = (large.body(), small.body());
            }
            let mut with = append(fence, &sample, events);
            with.blobs = vec![small.clone(), large.clone()];
            store.append(with).await.unwrap();
        }
        let report = store.check(None).await.unwrap();
        assert_eq!((report.blobs, report.damages.len()), (2, 0));

        let spoil = "UPDATE blobs SET data = substr(data, 1, 500) WHERE hash = ?1";
        raw(folder.path()).execute(spoil, [small.hash.0]).unwrap();
        let name = large.hash.to_string();
        fs::remove_file(
            folder
                .path()
                .join(format!("blobs/{}/{name}.zst", &name[..2])),
        )
        .unwrap();
        for hash in [small.hash, large.hash] {
            let read = store.blob(hash).await;
            assert!(
                matches!(read, Err(LogError::Blob(lost)) if lost == hash),
                "{read:?}"
            );
        }
        let report = store.check(None).await.unwrap();
        let named = |seq| {
            let of_row = report
                .damages
                .iter()
                .filter(move |damage| damage.seq == seq);
            of_row.map(|damage| damage.what.clone()).collect::<Vec<_>>()
        };
        for seq in [3, 5] {
            assert!(
                named(seq).contains(&DamageKind::Blob(small.hash)),
                "event {seq}"
            );
            assert!(
                named(seq).contains(&DamageKind::Blob(large.hash)),
                "event {seq}"
            );
        }
        assert_eq!(report.damages.len(), 4);
        let reading = store.read(sample.run, 1, 100).await.unwrap();
        assert_eq!(reading.damage, None, "the events themselves are whole");
    });
}

fn line_of_events(events: &[Event]) -> Option<longrein_protocol::view::RunLine> {
    Some(Run::fold(events).line())
}

#[test]
fn a_line_that_can_not_be_read_is_shown_and_can_be_rebuilt() {
    let folder = Folder::new();
    folder.execute("UPDATE runs SET line = '{\"half' WHERE run = ?1");
    block_on(async {
        let store = Store::open(folder.path()).unwrap();
        let lines = store.runs(10, None).await.unwrap();
        let of = |run: RunId| {
            lines
                .iter()
                .find(|line| line.run == run.to_string())
                .unwrap()
        };
        assert_eq!(of(folder.spoilt.run).state, RunState::Unreadable);
        assert_eq!(of(folder.spoilt.run).seq, 16);
        assert_eq!(of(folder.whole.run).state, RunState::Running);
        let report = store.check(None).await.unwrap();
        assert_eq!(
            (report.damages, report.stale),
            (vec![], vec![folder.spoilt.run])
        );

        assert_eq!(store.rebuild(&line_of_events).await.unwrap(), 2);
        let line = store.run_line(folder.spoilt.run).await.unwrap();
        assert_eq!(
            (line.state, line.seq, line.steps),
            (RunState::Running, 16, 2)
        );
        assert!(store.check(None).await.unwrap().is_whole());
    });
}

#[test]
fn lists_that_are_gone_come_back_from_the_log() {
    let folder = tempfile::tempdir().unwrap();
    block_on(async {
        let store = Store::open(folder.path()).unwrap();
        let (mut sample, fence) = begun(&store, 1).await;
        let action = ActionId::from_random(99);
        let uncertain = ActionUncertain {
            action: action.clone(),
            why: "its server died".to_owned(),
        };
        let event = sample.event(uncertain);
        store
            .append(append(fence, &sample, vec![event]))
            .await
            .unwrap();
        let raw = raw(folder.path());
        raw.execute_batch("DELETE FROM runs; DELETE FROM actions")
            .unwrap();
        assert!(store.runs(10, None).await.unwrap().is_empty());
        assert_eq!(store.check(None).await.unwrap().stale, [sample.run]);

        store.rebuild(&line_of_events).await.unwrap();
        assert_eq!(store.runs(10, None).await.unwrap().len(), 1);
        assert_eq!(store.tree_of(sample.run).await.unwrap(), sample.run);
        let found = store
            .find_action(&action.0[..6].to_uppercase())
            .await
            .unwrap();
        assert_eq!(found, [(action.0, sample.run)]);
        assert!(store.check(None).await.unwrap().is_whole());
        go_on(&store, &mut sample, fence, 1).await;
    });
}

#[test]
fn a_rebuilt_line_says_where_its_log_is_damaged() {
    let folder = Folder::new();
    folder.spoil("payload", 7, |bytes| bytes[3] ^= 1);
    block_on(async {
        let store = Store::open(folder.path()).unwrap();
        store.rebuild(&line_of_events).await.unwrap();
        let line = store.run_line(folder.spoilt.run).await.unwrap();
        assert_eq!(line.state, RunState::Unreadable);
        assert!(line.reason.contains("event 7"), "{}", line.reason);
    });
}

#[test]
fn runs_are_found_by_the_beginning_of_their_ids() {
    let folder = Folder::new();
    block_on(async {
        let store = Store::open(folder.path()).unwrap();
        let id = folder.spoilt.run.to_string();
        assert_eq!(store.find_run(&id).await.unwrap(), [folder.spoilt.run]);
        let prefix = id[..14].to_lowercase();
        assert_eq!(store.find_run(&prefix).await.unwrap(), [folder.spoilt.run]);
        assert_eq!(store.find_run("").await.unwrap().len(), 2);
        assert_eq!(store.find_run(&id[..2]).await.unwrap().len(), 2);
        for nothing in ["zz", "7ZZZZZZ", "not an id", "ü", &format!("{id}0")] {
            assert_eq!(store.find_run(nothing).await.unwrap(), [], "{nothing}");
        }
    });
}

use std::sync::mpsc as std_mpsc;

use rusqlite::params;
use tempfile::TempDir;
use tokio::sync::oneshot;

use super::*;

/// A database of few pages, its writer, and a runtime to ask it from.
struct Desktop {
    folder: TempDir,
    writer: Writer,
    runtime: tokio::runtime::Runtime,
}

impl Desktop {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("small.db");
        let connection = Connection::open(&path).unwrap();
        connection
            .query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))
            .unwrap();
        connection
            .execute_batch("CREATE TABLE things (thing BLOB)")
            .unwrap();
        let (changes, _) = watch::channel(0);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        Self {
            writer: Writer::start(connection, path, changes).unwrap(),
            folder,
            runtime,
        }
    }

    fn send(&self, deed: Deed) -> oneshot::Receiver<Result<(), LogError>> {
        let (reply, answer) = oneshot::channel();
        let task = Box::new(Task { deed, reply });
        self.runtime.block_on(self.writer.send(task)).unwrap();
        answer
    }

    fn answer(&self, answer: oneshot::Receiver<Result<(), LogError>>) -> Result<(), LogError> {
        self.runtime.block_on(answer).unwrap()
    }

    /// Keeps the writer busy until the returned sender is used, so that what is sent meanwhile
    /// becomes one group.
    fn hold(&self) -> std_mpsc::Sender<()> {
        let (release, gate) = std_mpsc::channel();
        let (begun, begins) = std_mpsc::channel();
        drop(self.send(Deed::Wait(begun, gate)));
        begins.recv().unwrap();
        release
    }

    fn things(&self) -> i64 {
        let connection = Connection::open(self.folder.path().join("small.db")).unwrap();
        let count = "SELECT count(*) FROM things";
        connection.query_row(count, [], |row| row.get(0)).unwrap()
    }
}

enum Deed {
    /// Stores so many bytes.
    Store(usize),
    /// Lets the database grow to so many pages.
    Limit(u32),
    /// Says that it begins and waits to be released.
    Wait(std_mpsc::Sender<()>, std_mpsc::Receiver<()>),
}

struct Task {
    deed: Deed,
    reply: oneshot::Sender<Result<(), LogError>>,
}

impl Work for Task {
    fn prepare(&mut self, _encoder: &mut Encoder) -> Result<(), LogError> {
        if let Deed::Wait(begun, gate) = &self.deed {
            begun.send(()).unwrap();
            let _ = gate.recv();
        }
        Ok(())
    }

    fn apply(&mut self, connection: &Connection) -> Result<(), Failure> {
        match self.deed {
            Deed::Store(bytes) => {
                let insert = "INSERT INTO things VALUES (?1)";
                connection.execute(insert, params![vec![7_u8; bytes]])?;
            }
            Deed::Limit(pages) => {
                let limit = format!("PRAGMA max_page_count = {pages}");
                connection.query_row(&limit, [], |_| Ok(()))?;
            }
            Deed::Wait(..) => {}
        }
        Ok(())
    }

    fn answer(self: Box<Self>, outcome: Result<(), LogError>) {
        let _ = self.reply.send(outcome);
    }
}

#[test]
fn one_that_does_not_fit_on_the_disk_leaves_room_for_those_beside_it() {
    let desk = Desktop::new();
    desk.answer(desk.send(Deed::Limit(8))).unwrap();
    let release = desk.hold();
    let sizes = [10, 1_000_000, 20, 30];
    let answers = sizes.map(|bytes| desk.send(Deed::Store(bytes)));
    release.send(()).unwrap();
    let outcomes = answers.map(|answer| desk.answer(answer));
    assert!(
        matches!(outcomes[1], Err(LogError::Full { .. })),
        "{outcomes:?}"
    );
    for place in [0, 2, 3] {
        assert!(outcomes[place].is_ok(), "{outcomes:?}");
    }
    assert_eq!(desk.things(), 3);
}

#[test]
fn the_writer_goes_on_when_there_is_space_again() {
    let desk = Desktop::new();
    desk.answer(desk.send(Deed::Limit(8))).unwrap();
    let full = desk.answer(desk.send(Deed::Store(1_000_000)));
    assert!(matches!(full, Err(LogError::Full { .. })), "{full:?}");
    assert_eq!(desk.things(), 0);
    desk.answer(desk.send(Deed::Limit(1_000))).unwrap();
    desk.answer(desk.send(Deed::Store(1_000_000))).unwrap();
    assert_eq!(desk.things(), 1);
}

#[test]
fn what_waits_is_one_commit() {
    let desk = Desktop::new();
    let release = desk.hold();
    let answers: Vec<_> = (0..10).map(|_| desk.send(Deed::Store(10))).collect();
    release.send(()).unwrap();
    for answer in answers {
        desk.answer(answer).unwrap();
    }
    let stats = desk.writer.stats();
    assert_eq!(
        (stats.works, stats.commits),
        (11, 1),
        "with the one that was waited for"
    );
}

#[test]
fn what_waits_is_written_when_the_writer_ends_even_if_nobody_asks_any_more() {
    let mut desk = Desktop::new();
    let release = desk.hold();
    for _ in 0..10 {
        drop(desk.send(Deed::Store(10)));
    }
    release.send(()).unwrap();
    desk.writer.queue = None;
    desk.writer.thread.take().unwrap().join().unwrap();
    assert_eq!(desk.things(), 10);
    let late = Box::new(Task {
        deed: Deed::Store(1),
        reply: oneshot::channel().0,
    });
    let refused = desk.runtime.block_on(desk.writer.send(late));
    assert!(matches!(refused, Err(LogError::Closed)));
}

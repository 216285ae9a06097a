//! A box of any kind with one command after the other in it, and this machine around it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use longrein_sandbox::bubblewrap::{Bubblewrap, BubblewrapSpec};
use longrein_sandbox::container::{Container, hand_over};
use longrein_sandbox::session::Session;
use longrein_sandbox::wire::{End, Limits, Receipt, Start, Stream};
use longrein_sandbox::{BubblewrapBox, Sandbox};

use crate::on_an_engine::place::{Place, open_up, script, within};

/// The most of a command's output that a test looks at.
const OUTPUT_MAX_BYTES: usize = 1 << 22;
/// What commands may use together where no engine holds it.
const MEMORY_BYTES: u64 = 512 << 20;
const PROCESSES: u32 = 64;

/// What a shell says of a program that is not there.
const NOT_FOUND: i32 = 127;

/// Where a test's box stands.
pub(super) struct Ground {
    on: On,
    /// Beside the workspace: nobody inside knows it.
    secret: String,
}

enum On {
    Engine(Box<Place>),
    Bubblewrap {
        folder: tempfile::TempDir,
        bubblewrap: Bubblewrap,
    },
}

/// A connected box.
pub(super) struct Inside {
    pub(super) session: Session,
    life: String,
    boxed: Boxed,
    next: AtomicU32,
}

enum Boxed {
    Container(Container),
    Bubblewrap(BubblewrapBox),
}

impl Ground {
    pub(super) async fn of(engine: &str) -> Self {
        Self::new(On::Engine(Box::new(Place::of(engine).await)))
    }

    pub(super) async fn without_an_engine() -> Self {
        let bubblewrap = Bubblewrap::find().await.expect("it works here");
        let folder = tempfile::tempdir().expect("a folder");
        open_up(folder.path());
        std::fs::create_dir(folder.path().join("workspace")).expect("a workspace");
        Self::new(On::Bubblewrap { folder, bubblewrap })
    }

    fn new(on: On) -> Self {
        let mut ground = Self {
            on,
            secret: String::new(),
        };
        let name = ground.folder().file_name().expect("it has a name");
        ground.secret = format!("secret of {}", name.to_string_lossy());
        std::fs::write(ground.secret_file(), &ground.secret).expect("it is ours");
        ground
    }

    /// The folder of the test; commands have only the workspace in it.
    pub(super) fn folder(&self) -> &Path {
        match &self.on {
            On::Engine(place) => place.folder(),
            On::Bubblewrap { folder, .. } => folder.path(),
        }
    }

    pub(super) fn workspace(&self) -> PathBuf {
        self.folder().join("workspace")
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.workspace().join(name)
    }

    /// What anybody of this machine may read, and nobody of the box.
    pub(super) fn secret(&self) -> &str {
        &self.secret
    }

    pub(super) fn secret_file(&self) -> PathBuf {
        self.folder().join("secret")
    }

    /// A name that occurs nowhere else.
    pub(super) fn mark(&self) -> String {
        let name = self.folder().file_name().expect("it has a name");
        let letters = name.to_string_lossy().to_lowercase();
        format!("attack-{}", letters.trim_start_matches('.'))
    }

    pub(super) fn has_engine(&self) -> bool {
        matches!(self.on, On::Engine(_))
    }

    pub(super) async fn enter(&self) -> Inside {
        self.enter_for("a").await
    }

    /// The box of another run on the same ground, in a workspace of its own.
    pub(super) async fn enter_another(&self) -> Inside {
        std::fs::create_dir_all(self.folder().join("other")).expect("it is ours");
        self.enter_for("other").await
    }

    async fn enter_for(&self, run: &str) -> Inside {
        let workspace = match run {
            "a" => self.workspace(),
            other => self.folder().join(other),
        };
        hand_over(&workspace).expect("it is ours");
        let boxed = match &self.on {
            On::Engine(place) => {
                let mut spec = place.spec(run);
                spec.workspace = workspace;
                let made = within(Container::ensure(&place.engine, &spec)).await;
                Boxed::Container(made.expect("it is made"))
            }
            On::Bubblewrap { folder, bubblewrap } => Boxed::Bubblewrap(BubblewrapBox {
                bubblewrap: bubblewrap.clone(),
                spec: BubblewrapSpec {
                    state: folder.path().join(format!("state-{run}")),
                    workspace,
                    read_only: false,
                    shared: folder.path().join("shared"),
                    tmp_bytes: Place::limits().tmp_bytes,
                },
                memory_bytes: MEMORY_BYTES,
                processes: PROCESSES,
            }),
        };
        let (session, _) = within(boxed.sandbox().connect()).await.expect("it answers");
        let inside = Inside {
            life: session.life().to_owned(),
            session,
            boxed,
            next: AtomicU32::new(0),
        };
        inside.assert_limited().await;
        inside
    }

    /// Where the box without an engine keeps receipts, on this machine.
    pub(super) fn state(&self) -> PathBuf {
        self.folder().join("state-a")
    }

    /// Looks whether the box is still one after the test, and removes it.
    pub(super) async fn leave(self, inside: Inside) {
        inside.assert_well().await;
        self.remove(inside).await;
    }

    pub(super) async fn remove(self, inside: Inside) {
        within(inside.boxed.sandbox().remove())
            .await
            .expect("it is removed");
        if let On::Engine(place) = self.on {
            place.clear().await;
        }
    }
}

impl Boxed {
    fn sandbox(&self) -> &dyn Sandbox {
        match self {
            Self::Container(container) => container,
            Self::Bubblewrap(made) => made,
        }
    }
}

impl Inside {
    pub(super) fn sandbox(&self) -> &dyn Sandbox {
        self.boxed.sandbox()
    }

    fn environment(&self) -> BTreeMap<String, String> {
        self.sandbox().environment()
    }

    /// A command under an id of its own, with the limits of this box.
    pub(super) fn start_of(&self, text: &str) -> Start {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let mut start = script(&format!("c{number}"), &self.environment(), text);
        start.limits = self.limits(start.limits);
        start
    }

    pub(super) fn limits(&self, limits: Limits) -> Limits {
        self.sandbox().limits(limits)
    }

    pub(super) async fn run(&self, text: &str) -> (Receipt, String) {
        self.run_start(self.start_of(text)).await
    }

    pub(super) async fn run_start(&self, start: Start) -> (Receipt, String) {
        let id = self.begin(start).await;
        self.end(&id).await
    }

    /// Starts a command and goes on beside it.
    pub(super) async fn begin(&self, start: Start) -> String {
        let id = start.command.clone();
        within(self.session.start(start))
            .await
            .expect("it is taken");
        id
    }

    pub(super) async fn end(&self, id: &str) -> (Receipt, String) {
        let receipt = within(self.session.wait(id)).await.expect("it ends");
        let command = self.session.command(id);
        let output = within(command.read_all(Stream::Output, OUTPUT_MAX_BYTES)).await;
        let output = String::from_utf8_lossy(&output.expect("it can be read")).into_owned();
        (receipt, output)
    }

    /// What a command says that has to succeed.
    pub(super) async fn say(&self, text: &str) -> String {
        let (receipt, output) = self.run(text).await;
        assert_eq!(
            receipt.end,
            End::Exited { status: 0 },
            "{text}: {output} {receipt:?}"
        );
        output
    }

    /// Tries each of these ways; none may succeed, and each has to be a command that ends.
    pub(super) async fn assert_refused(&self, ways: &[(&str, &str)]) {
        let mut wrong = String::new();
        for (what, text) in ways {
            let (receipt, output) = self.run(text).await;
            match receipt.end {
                // What is not there was not refused.
                End::Exited { status } if status != 0 && status != NOT_FOUND => {}
                end => {
                    let _ = writeln!(wrong, "{what}: {end:?} {output}");
                }
            }
        }
        assert!(wrong.is_empty(), "not refused:\n{wrong}");
    }

    /// The box is still one, and the same: a command runs and is told of.
    pub(super) async fn assert_well(&self) {
        assert!(self.session.is_open(), "the pipe has ended");
        let said = self
            .say("echo well > /workspace/well && cat /workspace/well && rm /workspace/well")
            .await;
        assert_eq!(said, "well\n");
        assert_eq!(self.session.life(), self.life);
    }

    /// Goes no further where limits don't hold: what comes next would be felt by the whole machine.
    async fn assert_limited(&self) {
        let measured = self.say("/longrein/resident measure").await;
        let limited = match &self.boxed {
            Boxed::Container(_) => ["memory_bytes", "processes"],
            // Held by each process, and told by the shell.
            Boxed::Bubblewrap(_) => {
                let said = self.say("ulimit -v; ulimit -p").await;
                assert_eq!(said, format!("{}\n{PROCESSES}\n", MEMORY_BYTES >> 10));
                return;
            }
        };
        for limit in limited {
            assert!(
                !measured.contains(&format!("\"{limit}\":null")),
                "no limit holds: {measured}"
            );
        }
    }
}

//! A run's container on one of the engines, for one test.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use longrein_sandbox::container::{
    Container, ContainerLimits, ContainerSpec, Owner, RunBox, hand_over, reap,
};
use longrein_sandbox::engine::Engine;
use longrein_sandbox::session::{Incoming, Session};
use longrein_sandbox::wire::{Limits, Receipt, Start, Stream};

/// Long enough for a machine that is busy; nothing waits for it when all is well.
const LIMIT: Duration = Duration::from_secs(90);

pub struct Place {
    pub engine: Engine,
    folder: PathBuf,
    /// Removes the folder with the test that made it.
    kept: Option<tempfile::TempDir>,
    pub image: String,
    pub instance: String,
}

/// A connected container.
pub struct Inside {
    pub container: Container,
    pub session: Session,
    pub incoming: Incoming,
}

pub async fn within<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(LIMIT, work)
        .await
        .expect("it does not take that long")
}

/// Waits for what nobody tells of.
pub async fn until(is_so: impl Fn() -> bool) {
    let looking = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    within(looking).await;
}

pub fn variable(name: &str) -> String {
    std::env::var(name)
        .unwrap_or_else(|_| panic!("{name} is not set: run these by scripts/sandbox-tests"))
}

impl Place {
    pub async fn of(engine: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        // What is mounted must be reachable for who commands run as.
        open_up(folder.path());
        std::fs::create_dir(folder.path().join("workspace")).expect("a workspace");
        let mut place = Self::at(engine, folder.path()).await;
        place.kept = Some(folder);
        place
    }

    /// The place of another process, which keeps the folder.
    pub async fn at(engine: &str, folder: &Path) -> Self {
        let name = folder.file_name().expect("it has a name");
        let instance = name
            .to_string_lossy()
            .trim_start_matches('.')
            .to_lowercase();
        Self {
            engine: Engine::at(&variable(engine))
                .await
                .expect("the engine answers"),
            folder: folder.to_owned(),
            kept: None,
            image: variable("LONGREIN_TEST_IMAGE"),
            instance,
        }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn workspace(&self) -> PathBuf {
        self.folder.join("workspace")
    }

    pub fn limits() -> ContainerLimits {
        ContainerLimits {
            memory_bytes: 256 << 20,
            processes: 128,
            cpus_milli: 1_500,
            tmp_bytes: 32 << 20,
        }
    }

    pub fn spec(&self, run: &str) -> ContainerSpec {
        ContainerSpec {
            owner: Owner {
                instance: self.instance.clone(),
                run: format!("{}-{run}", self.instance),
                purpose: RunBox::Work,
            },
            image: self.image.clone(),
            workspace: self.workspace(),
            read_only: false,
            limits: Self::limits(),
            shared: self.folder.join("shared"),
        }
    }

    pub async fn enter(&self) -> Inside {
        self.enter_spec(&self.spec("a")).await
    }

    pub async fn enter_spec(&self, spec: &ContainerSpec) -> Inside {
        hand_over(&spec.workspace).expect("it is ours");
        let container = within(Container::ensure(&self.engine, spec))
            .await
            .expect("it is made");
        let (session, incoming) = within(container.connect()).await.expect("it answers");
        Inside {
            container,
            session,
            incoming,
        }
    }

    /// Removes what the test made.
    pub async fn clear(self) {
        let reaped = reap(&self.engine, &self.instance, &HashSet::new()).await;
        reaped.expect("the engine removes");
    }
}

pub fn open_up(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
}

/// A shell script as a command.
pub fn script(id: &str, environment: &BTreeMap<String, String>, script: &str) -> Start {
    Start {
        command: id.to_owned(),
        program: ["sh", "-c", script].map(str::to_owned).to_vec(),
        directory: "/workspace".to_owned(),
        environment: environment.clone(),
        input: false,
        merged: true,
        egress: false,
        tools: false,
        limits: Limits {
            time_ms: 60_000,
            output_bytes: 1 << 20,
            file_bytes: 64 << 20,
            open_files: 256,
            address_space_bytes: None,
            processes: None,
        },
    }
}

impl Inside {
    pub async fn run(&self, id: &str, text: &str) -> (Receipt, String) {
        self.run_start(script(id, self.container.environment(), text))
            .await
    }

    pub async fn run_start(&self, start: Start) -> (Receipt, String) {
        let id = start.command.clone();
        within(self.session.start(start))
            .await
            .expect("it is taken");
        let receipt = within(self.session.wait(&id)).await.expect("it ends");
        let output = within(self.session.command(&id).read_all(Stream::Output, 1 << 22)).await;
        let output = String::from_utf8_lossy(&output.expect("it can be read")).into_owned();
        (receipt, output)
    }
}

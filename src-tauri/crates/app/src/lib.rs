//! Longrein put together once, for the command line and for the window: configuration, ports,
//! drivers.

pub mod agents;
mod attachments;
pub mod config;
pub mod delete;
pub mod demo;
pub mod doctor;
mod drivers;
mod error;
mod feed;
pub mod files;
mod follow;
pub mod fork;
pub mod given_file;
pub mod keys;
mod live;
pub mod mcp;
pub mod models;
mod own_file;
mod pages;
mod paths;
pub mod policy;
mod reading;
mod recovery;
pub mod replay;
mod sandbox;
pub mod search;
pub mod skills;
mod start;
mod system;
mod telling;
mod world;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use longrein_protocol::wish::Wish;
use longrein_protocol::{ActionId, RunId};
use longrein_runtime::Ports;
use longrein_store::Store;

pub use drivers::{Driving, Ended};
pub use error::{AppError, AppErrorCode};
pub use feed::ViewFeed;
pub use follow::{Followed, Follower};
pub use live::{Acting, Provisional, Shown};
pub use paths::{Paths, home};
pub use policy::KeptRule;
pub use reading::{RequestView, RunsFilter, RunsPage};
pub use recovery::{Recovered, Recovery};
pub use sandbox::{BoxBench, BoxCost};
pub use start::NewRun;
pub use system::{keep_what_was_handed_over, now};
pub use telling::{Form, Told};
pub use world::DEMO_MODEL;

/// How an installation is opened.
#[derive(Clone, Default, Debug)]
pub struct Options {
    /// The data folder; the usual one when absent.
    pub data_dir: Option<PathBuf>,
    /// How long the demonstration model takes per word; zero when nobody watches.
    pub pace: Duration,
    /// The surface that speaks: `command`, `window`.
    pub surface: &'static str,
}

/// One installation, open in this process.
#[derive(Clone)]
pub struct Longrein {
    inner: Arc<Inner>,
}

struct Inner {
    paths: Paths,
    store: Store,
    config: config::Current,
    keys: keys::Keys,
    world: Arc<world::AppWorld>,
    live: live::LiveHub,
    drivers: drivers::Drivers,
    pasts: replay::Pasts,
    clock: Arc<system::SystemClock>,
}

impl Longrein {
    /// Opens the data folder. Must be called within a Tokio runtime.
    ///
    /// # Errors
    /// [`AppError`] when the folder can't be opened. A configuration that can't be read stops what
    /// needs it, see [`Longrein::config_problem`], and nothing else.
    pub fn open(options: Options) -> Result<Self, AppError> {
        let paths = Paths::find(options.data_dir.as_deref())?;
        let store = Store::open(&paths.data)?;
        let config = match config::load(&paths.data) {
            Ok(config) => config::Current::new(config),
            Err(problems) => config::Current::broken(&config::as_error(&problems)),
        };
        let keys = keys::Keys::new(&paths.data, config.clone());
        let live = live::LiveHub::default();
        let world = world::AppWorld::new(
            paths.clone(),
            config.clone(),
            keys.clone(),
            live.clone(),
            options.pace,
        );
        longrein_store::groups::sweep(&paths.data)?;
        Ok(Self {
            inner: Arc::new(Inner {
                paths,
                store,
                config,
                keys,
                world: Arc::new(world),
                live,
                drivers: drivers::Drivers::default(),
                pasts: replay::Pasts::default(),
                clock: Arc::default(),
            }),
        })
    }

    /// Where things lie.
    pub fn paths(&self) -> &Paths {
        &self.inner.paths
    }

    /// The configuration as it was read when this was opened, or last taken.
    pub fn config(&self) -> Arc<config::Config> {
        self.inner.config.get()
    }

    /// Why the configuration could not be read. Until it can, runs that need it are refused.
    pub fn config_problem(&self) -> Option<longrein_runtime::world::Unavailable> {
        self.inner.config.problem()
    }

    /// Takes a changed configuration, as the functions that edit it return it; runs see it with
    /// their next request.
    pub fn take_config(&self, config: config::Config) {
        self.inner.config.take(config);
        self.inner.keys.learn_environment();
    }

    /// The keys of this machine.
    pub fn keys(&self) -> &keys::Keys {
        &self.inner.keys
    }

    /// The log.
    pub fn store(&self) -> &Store {
        &self.inner.store
    }

    fn ports(&self) -> Ports {
        Ports {
            log: Arc::new(self.inner.store.clone()),
            clock: self.inner.clock.clone(),
            chance: Arc::new(system::SystemChance),
            world: self.inner.world.clone(),
        }
    }

    /// The run that an id or a unique prefix of one names.
    ///
    /// # Errors
    /// When there is none, or several.
    pub async fn find_run(&self, prefix: &str) -> Result<RunId, AppError> {
        let found = self.inner.store.find_run(prefix).await?;
        match found.as_slice() {
            [run] => Ok(*run),
            [] => Err(AppError::new(
                AppErrorCode::NotFound,
                format!("There is no run {prefix}."),
                "List the runs with: longrein runs",
            )),
            _ => Err(AppError::usage(
                format!("{} runs begin with {prefix}.", found.len()),
                "Write more letters of the id.",
            )),
        }
    }

    /// The action that an id or a unique prefix of one names, with its run.
    ///
    /// # Errors
    /// When there is none, or several.
    pub async fn find_action(&self, prefix: &str) -> Result<(ActionId, RunId), AppError> {
        let mut found = self.inner.store.find_action(prefix).await?;
        match (found.pop(), found.is_empty()) {
            (Some((action, run)), true) => Ok((ActionId(action), run)),
            (None, _) => Err(AppError::new(
                AppErrorCode::NotFound,
                format!("There is no action {prefix}."),
                "See what waits with: longrein runs",
            )),
            (Some(_), false) => Err(AppError::usage(
                format!("Several actions begin with {prefix}."),
                "Write more letters of the id.",
            )),
        }
    }

    /// Puts a wish into a run's inbox. Whoever drives the run takes it from there.
    ///
    /// # Errors
    /// When there is no such run or the disk refuses.
    pub async fn wish(&self, run: RunId, wish: Wish) -> Result<(), AppError> {
        if matches!(wish, Wish::Say { .. } | Wish::Give { .. }) {
            self.check_hears(run).await?;
        }
        self.inner.store.post_wish(run, wish, system::now()).await?;
        Ok(())
    }

    /// The rules that hold for every run, or for every run of one agent.
    ///
    /// # Errors
    /// The mistakes of `policy.toml`, each with its line and remedy.
    pub fn rules(&self) -> Result<Vec<KeptRule>, AppError> {
        policy::load(&self.inner.paths.data).map_err(|problems| policy::as_error(&problems))
    }

    /// Takes a rule back, by its name or the first letters of it. Runs that are going stop allowing
    /// by it with their next action.
    ///
    /// # Errors
    /// When there is no such rule, or several; when the file has mistakes or can't be written.
    pub async fn revoke_rule(&self, id: &str) -> Result<KeptRule, AppError> {
        let (data, id) = (self.inner.paths.data.clone(), id.trim().to_owned());
        let revoking = tokio::task::spawn_blocking(move || policy::revoke(&data, &id));
        let revoked = revoking.await;
        revoked.map_err(|error| AppError::new(AppErrorCode::Io, error.to_string(), ""))?
    }

    /// A child that has ended hears nothing any more: its finding was told to its parent.
    async fn check_hears(&self, run: RunId) -> Result<(), AppError> {
        use longrein_protocol::view::RunState::{Accepted, Failed, HandedOff, Unverified};
        let line = self.run_line(run).await?;
        let ended = matches!(line.state, Accepted | Unverified | Failed | HandedOff);
        let Some(root) = line.root.filter(|_| ended) else {
            return Ok(());
        };
        Err(AppError::usage(
            format!("Run {run} is a child, and it has ended."),
            format!("Say it to the run that leads: longrein resume {root} \"…\""),
        ))
    }

    /// Whether some process drives the tree whose first run this is.
    pub fn is_driven(&self, run: RunId) -> bool {
        longrein_store::TreeLock::holder(&self.inner.paths.data, run).is_some()
    }

    /// The folder that a run works in.
    pub fn workspace(&self, run: RunId) -> PathBuf {
        self.inner.paths.workspace(run)
    }

    /// A path of the data folder, for messages.
    pub fn data_dir(&self) -> &Path {
        &self.inner.paths.data
    }
}

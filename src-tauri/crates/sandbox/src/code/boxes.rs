//! The boxes of this process's runs.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use longrein_protocol::RunId;
use longrein_protocol::agent::SandboxSettings;
use longrein_runtime::ports::LiveAction;
use tokio::sync::mpsc;

use super::station::{Station, StationSpec};
use crate::SandboxError;
#[cfg(target_os = "linux")]
use crate::bubblewrap::{Bubblewrap, BubblewrapSpec};
use crate::container::{self, Container, ContainerLimits, ContainerSpec, Owner, RunBox};
use crate::egress::{Guard, Resolver};
use crate::engine::{Engine, Places, Probe, Wanted};
use crate::image::{self, ImageSource};
#[cfg(target_os = "linux")]
use crate::sandbox::BubblewrapBox;
use crate::sandbox::{Backing, Sandbox};
use crate::wire::Limits;

/// Lines of an image's making that may wait to be shown.
const LINES_MAX: usize = 64;
/// The folder of the states of boxes without an engine, by run.
pub(super) const STATES: &str = "state";
/// The share of a box's memory that its `/tmp` may take.
const TMP_SHARE: u64 = 4;

/// What all boxes of an installation have in common.
#[derive(Clone)]
pub struct BoxesConfig {
    /// Where engines are looked for.
    pub places: Places,
    /// The installation, by which its boxes are told from those of others.
    pub instance: String,
    /// A folder for what boxes are made with. It lies outside of the data folder, which nothing
    /// mounts.
    pub folder: PathBuf,
    /// Another base of the shipped image than the pinned one.
    pub base: Option<String>,
    /// Which addresses are refused whatever name led to them.
    pub guard: Guard,
    /// How names become addresses.
    pub resolver: Resolver,
}

impl BoxesConfig {
    /// What boxes mount from the app; others may read it.
    pub(super) fn shared(&self) -> PathBuf {
        self.folder.join("shared")
    }

    /// The state of a box without an engine.
    pub(super) fn state(&self, owner: &Owner) -> PathBuf {
        self.states(&owner.run).join(owner.name())
    }

    /// The states of all of a run's boxes without an engine.
    pub(super) fn states(&self, run: &str) -> PathBuf {
        self.folder.join(STATES).join(run)
    }
}

/// How a run's box is let go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// The run is over: the box goes, with all that ran in it.
    Over,
    /// The run stands still: the box is stopped, and kept.
    Still,
    /// The process lets the run go where it is: what runs goes on, and is found again.
    LetGo,
}

/// The boxes of this process's runs. Clones are the same boxes.
#[derive(Clone)]
pub struct Boxes {
    inner: Arc<Inner>,
}

struct Inner {
    config: BoxesConfig,
    backing: tokio::sync::Mutex<Option<Backing>>,
    stations: Mutex<HashMap<RunId, Arc<Station>>>,
    /// What was measured, by the image that it was measured with.
    probes: tokio::sync::Mutex<HashMap<String, Probe>>,
    /// Whether a box without an engine was tried out, and held.
    #[cfg(target_os = "linux")]
    tried: tokio::sync::OnceCell<()>,
}

/// A box, and the limits of one command in it.
pub(super) struct Made {
    pub sandbox: Arc<dyn Sandbox>,
    pub probe: Option<Probe>,
}

impl Made {
    /// A command's limits, with those that the box itself does not hold.
    pub(super) fn limits(&self, limits: Limits, container: &ContainerLimits) -> Limits {
        match &self.probe {
            Some(probe) => probe.limits(limits, container),
            None => self.sandbox.limits(limits),
        }
    }
}

impl Boxes {
    /// No box yet.
    pub fn new(config: BoxesConfig) -> Self {
        Self {
            inner: Arc::new(Inner {
                config,
                backing: tokio::sync::Mutex::default(),
                stations: Mutex::default(),
                probes: tokio::sync::Mutex::default(),
                #[cfg(target_os = "linux")]
                tried: tokio::sync::OnceCell::new(),
            }),
        }
    }

    /// The same, made of this and of nothing else.
    #[must_use]
    pub fn of(config: BoxesConfig, backing: Backing) -> Self {
        let mut boxes = Self::new(config);
        // Nobody else has it yet.
        if let Some(inner) = Arc::get_mut(&mut boxes.inner) {
            *inner.backing.get_mut() = Some(backing);
        }
        boxes
    }

    /// What all have in common.
    pub fn config(&self) -> &BoxesConfig {
        &self.inner.config
    }

    /// What boxes are made of here. What was found stays; where there was nothing, it is looked
    /// again, since a person may have installed it meanwhile.
    ///
    /// # Errors
    /// When an engine is named and does not answer.
    pub async fn backing(&self) -> Result<Backing, SandboxError> {
        let mut known = self.inner.backing.lock().await;
        if let Some(backing) = known.as_ref() {
            return Ok(backing.clone());
        }
        let found = Backing::find(&self.inner.config.places).await?;
        if !matches!(found, Backing::Nothing(_)) {
            *known = Some(found.clone());
        }
        Ok(found)
    }

    /// The box of a run, made when it is first entered.
    pub fn station(&self, run: RunId, spec: StationSpec) -> Arc<Station> {
        let mut stations = self.stations();
        if let Some(station) = stations.get(&run).filter(|known| *known.spec() == spec) {
            return station.clone();
        }
        let station = Arc::new(Station::new(self.clone(), run, spec));
        stations.insert(run, station.clone());
        station
    }

    /// Lets the box of a run go. What can't be done is told in the log; the next start reaps it.
    pub async fn close(&self, run: RunId, how: Closing) {
        let station = self.stations().remove(&run);
        let Some(station) = station else { return };
        if let Err(error) = station.close(how).await {
            tracing::warn!(%run, %error, "the box of a run can't be let go");
        }
        if how == Closing::Over {
            // What is left in it is reaped at the next start.
            let _ = tokio::fs::remove_dir(self.inner.config.states(&run.to_string())).await;
        }
    }

    /// Sees to it that commands of a run can have a box: the image is there or is built, which is
    /// shown, and what the box holds was measured, as a run would have it.
    ///
    /// # Errors
    /// When they can't: nothing may be offered then that runs commands.
    pub async fn ready(
        &self,
        spec: &StationSpec,
        live: &dyn LiveAction,
    ) -> Result<(), SandboxError> {
        match self.backing().await? {
            Backing::Engine(engine) => {
                let image = self.image(&engine, spec, live).await?;
                self.probed(&engine, &image, spec, live).await.map(drop)
            }
            Backing::Nothing(nothing) => Err(SandboxError::Unusable {
                why: nothing.to_string(),
            }),
            #[cfg(target_os = "linux")]
            Backing::Bubblewrap { .. } => self.tried_out(&spec.settings).await,
        }
    }

    /// Whether a box can be had without anything being built or fetched first.
    ///
    /// # Errors
    /// When it can't: why, and what would make the image.
    pub async fn is_made(&self, settings: &SandboxSettings) -> Result<(), SandboxError> {
        let Backing::Engine(engine) = self.backing().await? else {
            return Ok(());
        };
        let source = self.source(settings.image.as_ref());
        match image::is_there(&engine, &source).await? {
            true => Ok(()),
            false => Err(SandboxError::Unusable {
                why: format!(
                    "{} has no image for it yet; the first run of an agent with commands makes it",
                    engine.kind.name()
                ),
            }),
        }
    }

    /// Makes a box without an engine as a run would have it, and runs a command in it; once, where
    /// it holds.
    ///
    /// # Errors
    /// When it does not.
    #[cfg(target_os = "linux")]
    pub async fn tried_out(&self, settings: &SandboxSettings) -> Result<(), SandboxError> {
        let Backing::Bubblewrap { bubblewrap, .. } = self.backing().await? else {
            return Ok(());
        };
        let trying = || self.try_out(&bubblewrap, settings);
        self.inner.tried.get_or_try_init(trying).await.copied()
    }

    /// Makes a box, or takes the one that is there.
    pub(super) async fn make(
        &self,
        owner: &Owner,
        spec: &StationSpec,
        read_only: bool,
        live: &dyn LiveAction,
    ) -> Result<Made, SandboxError> {
        match self.backing().await? {
            Backing::Engine(engine) => {
                let image = self.image(&engine, spec, live).await?;
                let probe = self.probed(&engine, &image, spec, live).await?;
                live.doing("starting the box");
                let container = Container::ensure(
                    &engine,
                    &ContainerSpec {
                        owner: owner.clone(),
                        image,
                        workspace: spec.workspace.clone(),
                        read_only,
                        limits: limits_of(spec),
                        shared: self.inner.config.shared(),
                    },
                )
                .await?;
                Ok(Made {
                    sandbox: Arc::new(container),
                    probe: Some(probe),
                })
            }
            other => self.made_without(&other, owner, spec, read_only),
        }
    }

    /// The box of an owner as an earlier process left it; `None` where there is none.
    pub(super) async fn found(
        &self,
        owner: &Owner,
        spec: &StationSpec,
    ) -> Result<Option<Made>, SandboxError> {
        match self.backing().await? {
            Backing::Engine(engine) => {
                let found = Container::find(&engine, owner).await?;
                Ok(found.map(|container| Made {
                    sandbox: Arc::new(container),
                    probe: None,
                }))
            }
            other => {
                if !self.inner.config.state(owner).exists() {
                    return Ok(None);
                }
                self.made_without(&other, owner, spec, false).map(Some)
            }
        }
    }

    #[cfg(target_os = "linux")]
    pub(super) fn bubblewrap_box(
        &self,
        bubblewrap: &Bubblewrap,
        spec: &StationSpec,
        (state, read_only): (PathBuf, bool),
    ) -> BubblewrapBox {
        BubblewrapBox {
            bubblewrap: bubblewrap.clone(),
            spec: BubblewrapSpec {
                state,
                workspace: spec.workspace.clone(),
                read_only,
                shared: self.inner.config.shared(),
                tmp_bytes: limits_of(spec).tmp_bytes,
            },
            memory_bytes: spec.settings.memory.0,
            processes: spec.settings.processes,
        }
    }

    fn made_without(
        &self,
        backing: &Backing,
        owner: &Owner,
        spec: &StationSpec,
        read_only: bool,
    ) -> Result<Made, SandboxError> {
        match backing {
            #[cfg(target_os = "linux")]
            Backing::Bubblewrap { bubblewrap, .. } => {
                let state = self.inner.config.state(owner);
                let made = self.bubblewrap_box(bubblewrap, spec, (state, read_only));
                Ok(Made {
                    sandbox: Arc::new(made),
                    probe: None,
                })
            }
            Backing::Nothing(nothing) => Err(SandboxError::Unusable {
                why: nothing.to_string(),
            }),
            Backing::Engine(engine) => Err(SandboxError::Unusable {
                why: format!("{} was lost", engine.address),
            }),
        }
    }

    /// The image of an agent, made with what is said of it shown.
    async fn image(
        &self,
        engine: &Engine,
        spec: &StationSpec,
        live: &dyn LiveAction,
    ) -> Result<String, SandboxError> {
        let source = self.source(spec.settings.image.as_ref());
        let what = match source {
            ImageSource::Own(_) => "fetching the image",
            ImageSource::Shipped { .. } => "building the image",
        };
        let (progress, mut lines) = mpsc::channel(LINES_MAX);
        let ensuring = image::ensure(engine, &source, &progress);
        tokio::pin!(ensuring);
        loop {
            tokio::select! {
                biased;
                ensured = &mut ensuring => return ensured,
                Some(line) = lines.recv() => live.doing(&format!("{what}: {line}")),
            }
        }
    }

    fn source(&self, own: Option<&String>) -> ImageSource {
        match own {
            Some(own) => ImageSource::Own(own.clone()),
            None => ImageSource::Shipped {
                base: self.inner.config.base.clone(),
                offline: false,
            },
        }
    }

    /// What an engine holds, measured with the image that ships; `None` while that is not built.
    ///
    /// # Errors
    /// When nothing can be run there at all.
    pub async fn measured(
        &self,
        engine: &Engine,
        settings: &SandboxSettings,
    ) -> Result<Option<Probe>, SandboxError> {
        let source = self.source(None);
        if !image::is_there(engine, &source).await? {
            return Ok(None);
        }
        let probed = self.probe(engine, &source.name(), limits(settings)).await;
        probed.map(Some)
    }

    /// What the engine holds, measured once with each image.
    async fn probed(
        &self,
        engine: &Engine,
        image: &str,
        spec: &StationSpec,
        live: &dyn LiveAction,
    ) -> Result<Probe, SandboxError> {
        let mut probes = self.inner.probes.lock().await;
        if let Some(probe) = probes.get(image) {
            return Ok(probe.clone());
        }
        live.doing("looking at what the box holds");
        let probe = self.probe(engine, image, limits_of(spec)).await?;
        probe.usable()?;
        probes.insert(image.to_owned(), probe.clone());
        Ok(probe)
    }

    async fn probe(
        &self,
        engine: &Engine,
        image: &str,
        limits: ContainerLimits,
    ) -> Result<Probe, SandboxError> {
        let scratch = self.inner.config.folder.clone();
        let made = tokio::fs::create_dir_all(&scratch).await;
        made.map_err(SandboxError::file(&scratch))?;
        let wanted = Wanted {
            instance: self.inner.config.instance.clone(),
            image: image.to_owned(),
            limits,
            shared: self.inner.config.shared(),
            scratch,
        };
        engine.probe(&wanted).await
    }

    pub(super) fn owner(&self, run: RunId, purpose: RunBox) -> Owner {
        Owner {
            instance: self.inner.config.instance.clone(),
            run: run.to_string(),
            purpose,
        }
    }

    fn stations(&self) -> std::sync::MutexGuard<'_, HashMap<RunId, Arc<Station>>> {
        // A panic elsewhere leaves nothing half done in here.
        let stations = &self.inner.stations;
        stations.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The limits of a box as a whole.
pub(super) fn limits_of(spec: &StationSpec) -> ContainerLimits {
    limits(&spec.settings)
}

fn limits(settings: &SandboxSettings) -> ContainerLimits {
    ContainerLimits {
        memory_bytes: settings.memory.0,
        processes: settings.processes,
        cpus_milli: (settings.cpus * 1_000.0).round() as u32,
        tmp_bytes: settings.memory.0 / TMP_SHARE,
    }
}

/// What belongs to root in a workspace is handed over to whom commands run as.
pub(super) async fn hand_over(workspace: &Path) -> Result<(), SandboxError> {
    let given = workspace.to_owned();
    let handing = tokio::task::spawn_blocking(move || {
        container::mend(&given)?;
        container::hand_over(&given)
    });
    let handed = handing.await;
    handed.map_err(|error| SandboxError::file(workspace)(error.into()))?
}

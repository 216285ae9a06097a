//! What a box costs: until its first command has ended, for each command, and for recording what
//! its workspace holds.

use std::path::Path;
use std::time::{Duration, Instant};

use longrein_protocol::RunId;
use longrein_protocol::agent::SandboxSettings;
use longrein_runtime::ports::NoLiveAction;
use longrein_runtime::world::SnapshotOf;
use longrein_sandbox::code::{Boxes, Closing, Lease, Make, Station, StationSpec};
use longrein_sandbox::engine::{Engine, Places};
use longrein_sandbox::wire::{Limits, Start};
use longrein_sandbox::{Backing, SandboxError};
use serde::Serialize;

use super::Sandboxes;
use crate::config::SandboxConfig;
use crate::files::Keeper;
use crate::paths::Paths;
use crate::{AppError, AppErrorCode, Longrein};

/// How the configuration names a box without an engine.
const WITHOUT_ENGINE: &str = "bubblewrap";
/// The command that is timed: what is left is what the box adds.
const COMMAND: &str = "true";
/// How often a stopped box is started again.
const RESTARTS: usize = 5;
/// How often a snapshot is taken of what did not change, and after one change.
const SNAPSHOTS: usize = 7;
/// The files of the workspace that is recorded.
const FILES: u32 = 2_000;
/// Those in one folder of it.
const FOLDER_FILES: u32 = 50;
/// Bytes of each: 55 MB in all.
const FILE_BYTES: usize = 27_500;
/// How long the files are left alone: one that was written a moment ago is read again, since its
/// time does not tell two writes apart.
const SETTLING: Duration = Duration::from_millis(2_100);
/// The longest that one command may take.
const COMMAND_MS: u64 = 60_000;
/// The files that a process may hold open.
const OPEN_FILES: u64 = 1_024;

/// What is to be measured.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BoxBench {
    /// The engine, instead of the one that is found.
    pub engine: Option<String>,
    /// The image, instead of the one that ships.
    pub image: Option<String>,
    /// How many commands are timed.
    pub commands: u32,
}

/// What was measured; medians where it was done several times.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct BoxCost {
    /// What the box is made of.
    pub made_of: String,
    /// From nothing but the image to the end of the first command.
    pub cold_start_ms: f64,
    /// From a stopped box to the end of a command.
    pub restart_ms: f64,
    /// A command in a box that is there.
    pub command_ms: f64,
    /// What all but one in twenty of them stay under.
    pub command_p95_ms: f64,
    /// The same command without a box.
    pub plain_ms: f64,
    /// The first snapshot of a workspace of `files` files.
    pub snapshot_first_ms: f64,
    /// One of a workspace in which nothing changed.
    pub snapshot_unchanged_ms: f64,
    /// One after a file changed.
    pub snapshot_changed_ms: f64,
    /// Files of that workspace.
    pub files: u32,
    /// Bytes of that workspace.
    pub bytes: u64,
}

impl Longrein {
    /// What boxes can be made of here: the engine that is named, or each that answers at a usual
    /// place, and bubblewrap.
    pub async fn box_engines(&self) -> Vec<String> {
        let said = self.inner.config.get().sandbox.clone();
        let places = Places::of_environment(said.engine.as_deref());
        if let Some(named) = said.engine {
            return vec![named];
        }
        let mut engines = Vec::new();
        for candidate in places.candidates() {
            if Engine::at(&candidate.address).await.is_ok() {
                engines.push(candidate.address);
            }
        }
        engines.push(WITHOUT_ENGINE.to_owned());
        engines
    }

    /// Measures a box on this machine, in a folder that goes away, and tells what it is about.
    ///
    /// # Errors
    /// When no box can be made here, or a command in it fails.
    pub async fn box_cost(
        &self,
        folder: &Path,
        wanted: &BoxBench,
        tell: &(dyn Fn(&str) + Sync),
    ) -> Result<BoxCost, AppError> {
        let said = self.inner.config.get().sandbox.clone();
        let config = SandboxConfig {
            engine: wanted.engine.clone().or(said.engine),
            base: said.base,
        };
        let paths = Paths {
            data: folder.to_path_buf(),
            work: folder.join("work"),
        };
        let run = RunId::from_parts(0, u128::from(std::process::id()));
        let workspace = paths.workspace(run);
        std::fs::create_dir_all(&workspace).map_err(|error| failed(&error.to_string()))?;
        let spec = StationSpec {
            settings: SandboxSettings {
                image: wanted.image.clone(),
                ..SandboxSettings::default()
            },
            workspace: workspace.clone(),
        };
        let sandboxes = Sandboxes::new(&paths, &config);
        let boxes = sandboxes.boxes();
        let costs = of_boxes(boxes, (run, &spec), wanted.commands, tell).await;
        boxes.close(run, Closing::Over).await;
        let mut cost = costs.map_err(|error| failed(&error.to_string()))?;
        tell("recording files");
        of_snapshots(&paths, run, &mut cost).await?;
        Ok(cost)
    }
}

async fn of_boxes(
    boxes: &Boxes,
    (run, spec): (RunId, &StationSpec),
    commands: u32,
    tell: &(dyn Fn(&str) + Sync),
) -> Result<BoxCost, SandboxError> {
    let made_of = made_of(boxes).await?;
    tell(&format!("{made_of}: the image, and what it holds"));
    // The image is built, and what it holds is looked at, only once on a machine.
    once(&boxes.station(run, spec.clone()), 0).await?;
    boxes.close(run, Closing::Over).await;

    tell("cold start");
    let station = boxes.station(run, spec.clone());
    let began = Instant::now();
    once(&station, 0).await?;
    let cold_start_ms = since(began);
    tell("starting again");
    let mut restarts = Vec::with_capacity(RESTARTS);
    for _ in 0..RESTARTS {
        boxes.close(run, Closing::Still).await;
        let station = boxes.station(run, spec.clone());
        let began = Instant::now();
        once(&station, 0).await?;
        restarts.push(since(began));
    }
    tell("commands");
    let station = boxes.station(run, spec.clone());
    let lease = entered(&station).await?;
    let mut times = Vec::with_capacity(commands as usize);
    for number in 1..=commands {
        let began = Instant::now();
        command(&lease, number).await?;
        times.push(since(began));
        // Nobody waits for that in a run.
        lease.session.command(&name(number)).forget().await?;
    }
    let mut plain = Vec::with_capacity(commands as usize);
    for _ in 0..commands {
        let began = Instant::now();
        let ended = tokio::process::Command::new(COMMAND).status().await;
        ended.map_err(|error| SandboxError::File {
            path: COMMAND.into(),
            error,
        })?;
        plain.push(since(began));
    }
    Ok(BoxCost {
        made_of,
        cold_start_ms,
        restart_ms: at(&mut restarts, 0.5),
        command_ms: at(&mut times, 0.5),
        command_p95_ms: at(&mut times, 0.95),
        plain_ms: at(&mut plain, 0.5),
        snapshot_first_ms: 0.0,
        snapshot_unchanged_ms: 0.0,
        snapshot_changed_ms: 0.0,
        files: FILES,
        bytes: u64::from(FILES) * FILE_BYTES as u64,
    })
}

/// What a box is made of here, in words.
async fn made_of(boxes: &Boxes) -> Result<String, SandboxError> {
    Ok(match boxes.backing().await? {
        Backing::Engine(engine) => {
            format!(
                "{} {} at {}",
                engine.kind.name(),
                engine.version,
                engine.address
            )
        }
        #[cfg(target_os = "linux")]
        Backing::Bubblewrap { .. } => "bubblewrap".to_owned(),
        Backing::Nothing(nothing) => {
            return Err(SandboxError::Unusable {
                why: nothing.to_string(),
            });
        }
    })
}

async fn once(station: &std::sync::Arc<Station>, number: u32) -> Result<(), SandboxError> {
    let lease = entered(station).await?;
    command(&lease, number).await?;
    lease.session.command(&name(number)).forget().await
}

async fn entered(station: &std::sync::Arc<Station>) -> Result<Lease, SandboxError> {
    let entered = station.enter(Make::Anew, &NoLiveAction).await?;
    entered.ok_or_else(|| SandboxError::Unusable {
        why: "there is no box".to_owned(),
    })
}

fn name(number: u32) -> String {
    format!("bench{number}")
}

async fn command(lease: &Lease, number: u32) -> Result<(), SandboxError> {
    let name = name(number);
    let start = Start {
        command: name.clone(),
        program: vec![COMMAND.to_owned()],
        directory: longrein_sandbox::container::WORKSPACE.to_owned(),
        environment: lease.environment(),
        input: false,
        merged: true,
        egress: false,
        tools: false,
        limits: lease.limits(Limits {
            time_ms: COMMAND_MS,
            output_bytes: 1 << 20,
            file_bytes: 1 << 20,
            open_files: OPEN_FILES,
            address_space_bytes: None,
            processes: None,
        }),
    };
    lease.session.start(start).await?;
    lease.session.wait(&name).await.map(drop)
}

async fn of_snapshots(paths: &Paths, run: RunId, cost: &mut BoxCost) -> Result<(), AppError> {
    let workspace = paths.workspace(run);
    let file = |number: u32| {
        let folder = workspace.join((number / FOLDER_FILES).to_string());
        folder.join(format!("{number}.bin"))
    };
    for number in 0..FILES {
        write(&file(number), number)?;
    }
    tokio::time::sleep(SETTLING).await;
    let keeper = Keeper::new(&paths.files());
    let of = SnapshotOf {
        run,
        tree: run,
        workspace: workspace.clone(),
        before: None,
    };
    let unreadable = |error: longrein_runtime::world::Unavailable| failed(&error.message);
    let began = Instant::now();
    let mut before = keeper.look(&of, None).await.map_err(unreadable)?;
    cost.snapshot_first_ms = since(began);
    let (mut unchanged, mut changed) = (Vec::new(), Vec::new());
    for number in 0..SNAPSHOTS {
        let began = Instant::now();
        before = keeper.look(&of, Some(before)).await.map_err(unreadable)?;
        unchanged.push(since(began));
        let number = u32::try_from(number).unwrap_or_default();
        write(&file(number), FILES + number)?;
        let began = Instant::now();
        before = keeper.look(&of, Some(before)).await.map_err(unreadable)?;
        changed.push(since(began));
    }
    cost.snapshot_unchanged_ms = at(&mut unchanged, 0.5);
    cost.snapshot_changed_ms = at(&mut changed, 0.5);
    Ok(())
}

/// Writes a file that no other one is like.
fn write(path: &Path, seed: u32) -> Result<(), AppError> {
    let mut bytes = vec![0; FILE_BYTES];
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seed.to_le_bytes());
    hasher.finalize_xof().fill(&mut bytes);
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(path, bytes))
        .map_err(|error| failed(&error.to_string()))
}

fn since(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1_000.0
}

/// What this part of them stays under; 0 where there is none.
fn at(times: &mut [f64], part: f64) -> f64 {
    times.sort_by(f64::total_cmp);
    let place = (times.len() as f64 * part) as usize;
    times
        .get(place.min(times.len().saturating_sub(1)))
        .copied()
        .unwrap_or_default()
}

fn failed(why: &str) -> AppError {
    AppError::new(
        AppErrorCode::Io,
        format!("The box can't be measured: {}", crate::error::sentence(why)),
        "See what commands run in here: longrein doctor",
    )
}

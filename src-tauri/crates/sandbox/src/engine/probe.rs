//! What an engine can really hold, measured from inside: some say that they limit and don't.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use longrein_resident::wire::{Limits, Start, Stream};
use serde::Deserialize;

use super::Engine;
use crate::container::{
    Container, ContainerLimits, ContainerSpec, Owner, RunBox, STATE, WORKSPACE,
};
use crate::{SandboxError, resident};

/// How long measuring may take inside.
const MEASURE_LIMIT_MS: u64 = 20_000;
/// The most that it may say.
const MEASURED_MAX_BYTES: usize = 64 * 1024;
/// What probes' names begin with.
pub(crate) const PREFIX: &str = "probe-";
/// The file that must be seen inside.
const TOKEN: &str = "token";

/// Numbers the probes of this process.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// What to probe with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The app instance, by which the probe is reaped if this process dies.
    pub instance: String,
    /// The image to probe with.
    pub image: String,
    /// The limits that must hold.
    pub limits: ContainerLimits,
    /// See [`ContainerSpec::shared`].
    pub shared: PathBuf,
    /// A folder for the probe's workspace; on the same file system as the runs' own.
    pub scratch: PathBuf,
}

/// What was measured, and what is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Everything that is not as it should be.
    pub lacks: Vec<Lack>,
    /// Which version of control groups commands see.
    pub control_groups: u8,
}

impl Probe {
    /// A command's limits, with those that its processes carry where the engine holds none: less
    /// than a container's, since memory is each process's own then, but a fork bomb ends.
    pub fn limits(&self, limits: Limits, container: &ContainerLimits) -> Limits {
        let lacks = |what| self.lacks.iter().any(|lack| lack.what == what);
        Limits {
            address_space_bytes: lacks(Lacking::MemoryLimit).then_some(container.memory_bytes),
            processes: lacks(Lacking::ProcessLimit).then_some(u64::from(container.processes)),
            ..limits
        }
    }

    /// Whether commands may run here: a lack of limits is told, a hole in the wall is not taken.
    ///
    /// # Errors
    /// When something is missing without which the box is none.
    pub fn usable(&self) -> Result<(), SandboxError> {
        let holes: Vec<String> = self
            .lacks
            .iter()
            .filter(|lack| lack.what.is_hole())
            .map(|lack| format!("{}; {}", lack.found, lack.remedy))
            .collect();
        if holes.is_empty() {
            return Ok(());
        }
        Err(SandboxError::Unusable {
            why: holes.join(". "),
        })
    }
}

/// One thing that is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lack {
    /// What.
    pub what: Lacking,
    /// What was found instead.
    pub found: String,
    /// What a person can do.
    pub remedy: &'static str,
}

/// What can be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lacking {
    /// The limit of memory does not hold.
    MemoryLimit,
    /// The limit of processes does not hold.
    ProcessLimit,
    /// The limit of processors does not hold.
    CpuLimit,
    /// Calls of the kernel are not filtered.
    Seccomp,
    /// Programs can gain privileges.
    NoNewPrivileges,
    /// Commands have capabilities.
    Capabilities,
    /// Commands are root.
    Unprivileged,
    /// Commands can make user namespaces.
    UserNamespaces,
    /// Commands can change the image.
    ReadOnlyRoot,
    /// There is a network.
    NoNetwork,
    /// Commands can open what receipts lie on.
    PrivateReceipts,
    /// The workspace is not the one of this machine.
    Workspace,
    /// Commands can't write to the workspace.
    WritableWorkspace,
}

impl Lacking {
    /// Whether the box is none without it.
    pub fn is_hole(self) -> bool {
        !matches!(
            self,
            Self::MemoryLimit | Self::ProcessLimit | Self::CpuLimit
        )
    }

    fn remedy(self, engine: &Engine, control_groups: u8) -> &'static str {
        match self {
            Self::MemoryLimit | Self::ProcessLimit | Self::CpuLimit => {
                if engine.rootless && control_groups == 1 {
                    "without root, limits need version 2 of control groups: boot with systemd.unified_cgroup_hierarchy=1"
                } else if engine.rootless {
                    "let systemd delegate the controllers cpu, memory and pids to users"
                } else {
                    "enable the controllers cpu, memory and pids of the kernel's control groups"
                }
            }
            Self::Seccomp => "use an engine and a kernel that are built with seccomp",
            Self::UserNamespaces | Self::NoNewPrivileges | Self::Capabilities => {
                "update the engine; it does not do what it is told"
            }
            Self::Workspace => {
                "use an engine on this machine, and share the folder of the workspaces with it"
            }
            Self::WritableWorkspace => {
                "use Podman without root, or Docker with root: here files belong to nobody inside"
            }
            Self::Unprivileged | Self::ReadOnlyRoot | Self::NoNetwork | Self::PrivateReceipts => {
                "update the engine, or use another one"
            }
        }
    }
}

#[derive(Deserialize)]
struct Measured {
    user: u32,
    memory_bytes: Option<u64>,
    processes: Option<u64>,
    cpus_milli: Option<u64>,
    seccomp: bool,
    no_new_privileges: bool,
    capabilities: String,
    user_namespaces: Option<bool>,
    root_writable: bool,
    interfaces: Vec<String>,
    control_groups: u8,
    writable: Vec<bool>,
    openable: Vec<bool>,
}

impl Engine {
    /// Makes a container, measures inside what holds, and removes it again.
    ///
    /// # Errors
    /// When nothing can be run at all; what runs but is not held is in the answer.
    pub async fn probe(&self, wanted: &Wanted) -> Result<Probe, SandboxError> {
        let name = new_name(&wanted.instance);
        let workspace = wanted.scratch.join(&name);
        let made = std::fs::create_dir_all(&workspace)
            .and_then(|()| std::fs::write(workspace.join(TOKEN), wanted.instance.as_bytes()));
        made.map_err(SandboxError::file(&workspace))?;
        let probed = self.probe_in(wanted, name, &workspace).await;
        std::fs::remove_dir_all(&workspace).map_err(SandboxError::file(&workspace))?;
        probed
    }

    async fn probe_in(
        &self,
        wanted: &Wanted,
        name: String,
        workspace: &Path,
    ) -> Result<Probe, SandboxError> {
        crate::container::hand_over(workspace)?;
        let spec = ContainerSpec {
            owner: Owner {
                instance: wanted.instance.clone(),
                run: name,
                purpose: RunBox::Probe,
            },
            image: wanted.image.clone(),
            workspace: workspace.to_owned(),
            read_only: false,
            limits: wanted.limits,
            shared: wanted.shared.clone(),
        };
        let container = Container::ensure(self, &spec).await?;
        let measured = measure(&container).await;
        container.remove().await?;
        let (measured, token) = measured?;
        Ok(judge(
            self,
            wanted,
            &measured,
            token == wanted.instance.as_bytes(),
        ))
    }
}

/// A name for a probe, in place of a run's: of this process, and of no other on the same engine.
fn new_name(instance: &str) -> String {
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{PREFIX}{}-{number}-{instance}", std::process::id())
}

/// Whether this is the name of a probe whose process is gone: what is left of it is nobody's.
pub fn is_left_probe(name: &str) -> bool {
    let process = name
        .strip_prefix(PREFIX)
        .and_then(|rest| rest.split('-').next());
    let process = process.and_then(|process| process.parse().ok());
    process.is_some_and(|process: u32| process != std::process::id() && !is_alive(process))
}

#[cfg(unix)]
fn is_alive(process: u32) -> bool {
    let process = i32::try_from(process)
        .ok()
        .and_then(rustix::process::Pid::from_raw);
    // One that may not be sent a signal is there as well.
    process.is_some_and(|process| {
        rustix::process::test_kill_process(process) != Err(rustix::io::Errno::SRCH)
    })
}

/// Elsewhere nobody can be asked.
#[cfg(not(unix))]
fn is_alive(_process: u32) -> bool {
    true
}

async fn measure(container: &Container) -> Result<(Measured, Vec<u8>), SandboxError> {
    let (session, _incoming) = container.connect().await?;
    let start = |id: &str, program: &[&str]| Start {
        command: id.to_owned(),
        program: program.iter().map(|word| (*word).to_owned()).collect(),
        directory: "/".to_owned(),
        environment: BTreeMap::clone(container.environment()),
        input: false,
        merged: false,
        egress: false,
        tools: false,
        limits: Limits {
            time_ms: MEASURE_LIMIT_MS,
            output_bytes: MEASURED_MAX_BYTES as u64,
            file_bytes: MEASURED_MAX_BYTES as u64,
            open_files: 64,
            address_space_bytes: None,
            processes: None,
        },
    };
    session
        .start(start(
            "measure",
            &[resident::INSIDE, "measure", WORKSPACE, STATE],
        ))
        .await?;
    let token = format!("{WORKSPACE}/{TOKEN}");
    session
        .start(start(
            "token",
            &[resident::INSIDE, "get", &token, "0", "4096"],
        ))
        .await?;
    let json = session
        .command("measure")
        .read_all(Stream::Output, MEASURED_MAX_BYTES)
        .await?;
    let token = session
        .command("token")
        .read_all(Stream::Output, MEASURED_MAX_BYTES)
        .await?;
    let measured = serde_json::from_slice(&json).map_err(|error| SandboxError::Unusable {
        why: format!("what was measured inside can't be read ({error})"),
    })?;
    Ok((measured, token))
}

type Check = (Lacking, bool, String);

fn judge(engine: &Engine, wanted: &Wanted, measured: &Measured, sees_token: bool) -> Probe {
    let checks = limits(&wanted.limits, measured)
        .into_iter()
        .chain(walls(measured, sees_token));
    let lacks = checks
        .filter(|(_, holds, _)| !holds)
        .map(|(what, _, found)| Lack {
            what,
            found,
            remedy: what.remedy(engine, measured.control_groups),
        });
    Probe {
        lacks: lacks.collect(),
        control_groups: measured.control_groups,
    }
}

/// Whether each limit is there, and at most as high as it was asked for.
fn limits(wanted: &ContainerLimits, measured: &Measured) -> [Check; 3] {
    let check = |what, words: &str, found: Option<u64>, wanted: u64| {
        let shown = found.map_or("none".to_owned(), |found| found.to_string());
        (
            what,
            found.is_some_and(|found| found <= wanted),
            format!("{words} is {shown} inside"),
        )
    };
    [
        check(
            Lacking::MemoryLimit,
            "the limit of memory in bytes",
            measured.memory_bytes,
            wanted.memory_bytes,
        ),
        check(
            Lacking::ProcessLimit,
            "the limit of processes",
            measured.processes,
            u64::from(wanted.processes),
        ),
        check(
            Lacking::CpuLimit,
            "the limit in thousandths of a processor",
            measured.cpus_milli,
            u64::from(wanted.cpus_milli),
        ),
    ]
}

/// Without each of these, the box is none.
fn walls(measured: &Measured, sees_token: bool) -> [Check; 10] {
    let capabilities = measured.capabilities.trim_start_matches('0');
    let is_writable = measured.writable.first().copied().unwrap_or(false);
    let receipts_open = measured.openable.get(1).copied().unwrap_or(true);
    let check = |what, holds, found: &str| (what, holds, found.to_owned());
    [
        check(
            Lacking::Seccomp,
            measured.seccomp,
            "no filter of kernel calls is set",
        ),
        check(
            Lacking::NoNewPrivileges,
            measured.no_new_privileges,
            "programs can gain privileges",
        ),
        check(
            Lacking::Capabilities,
            capabilities.is_empty(),
            &format!("commands have the capabilities {capabilities}"),
        ),
        check(
            Lacking::Unprivileged,
            measured.user != 0,
            "commands are root",
        ),
        check(
            Lacking::UserNamespaces,
            measured.user_namespaces != Some(true),
            "commands can make user namespaces",
        ),
        check(
            Lacking::ReadOnlyRoot,
            !measured.root_writable,
            "the root can be written to",
        ),
        check(
            Lacking::NoNetwork,
            measured.interfaces.is_empty(),
            &format!("there are networks: {}", measured.interfaces.join(", ")),
        ),
        check(
            Lacking::PrivateReceipts,
            !receipts_open,
            "commands can open the folder of receipts",
        ),
        check(
            Lacking::Workspace,
            sees_token,
            "the workspace inside is another folder",
        ),
        check(
            Lacking::WritableWorkspace,
            is_writable,
            "commands can't write to the workspace",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_is_left_when_its_process_is_gone() {
        assert!(!is_left_probe(&new_name("a")), "it may be at work");
        // The first process lives as long as the machine.
        assert!(!is_left_probe("probe-1-0-a"));
        let mut gone = std::process::Command::new("true")
            .spawn()
            .expect("it starts");
        let name = format!("{PREFIX}{}-0-a", gone.id());
        gone.wait().expect("it ends");
        assert_eq!(is_left_probe(&name), cfg!(unix));
        for name in ["probe-", "probe-x-0-a", "01JAB", "probe--1-0-a"] {
            assert!(!is_left_probe(name), "{name}");
        }
    }
}

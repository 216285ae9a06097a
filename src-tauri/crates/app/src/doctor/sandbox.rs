//! What commands run in, and what it lacks.

use longrein_protocol::agent::SandboxSettings;
use longrein_sandbox::engine::{Engine, Probe};
use longrein_sandbox::{Backing, SandboxError};

use super::{Finding, FindingState, finding};
use crate::Longrein;

const WHAT: &str = "sandbox";

impl Longrein {
    /// Which box commands get here, measured from inside where it can be.
    pub(super) async fn sandbox(&self) -> Finding {
        let boxes = self.inner.world.sandboxes().boxes();
        match boxes.backing().await {
            Err(error) => {
                let remedy = "Start it, or name another one under [sandbox] in config.toml.";
                finding(WHAT, FindingState::Bad, error.to_string(), remedy)
            }
            Ok(Backing::Engine(engine)) => {
                let measured = boxes.measured(&engine, &SandboxSettings::default()).await;
                of_engine(&engine, measured)
            }
            #[cfg(target_os = "linux")]
            Ok(Backing::Bubblewrap { engines, .. }) => {
                if let Err(error) = boxes.tried_out(&SandboxSettings::default()).await {
                    let seen = format!("commands are off: {error}");
                    let remedy = format!("{}.", engines.remedy());
                    return finding(WHAT, FindingState::Bad, seen, &remedy);
                }
                let lacks = longrein_sandbox::bubblewrap::Bubblewrap::lacks();
                let lacks: Vec<&str> = lacks.iter().map(|lack| lack.what).collect();
                let lacks = lacks.join("; ");
                let (seen, remedy) = match engines.tried.is_empty() {
                    true => (
                        format!("bubblewrap, which config.toml names: {lacks}"),
                        "Take engine under [sandbox] out of config.toml to have an engine used."
                            .to_owned(),
                    ),
                    false => (
                        format!("bubblewrap, no container engine: {lacks}"),
                        format!("{}.", engines.remedy()),
                    ),
                };
                finding(WHAT, FindingState::Limited, seen, &remedy)
            }
            Ok(Backing::Nothing(nothing)) => {
                let seen = "commands are off: there is no container engine and no bubblewrap";
                let remedy = format!("{}, or bubblewrap.", nothing.engines.remedy());
                finding(WHAT, FindingState::Limited, seen, &remedy)
            }
        }
    }
}

fn of_engine(engine: &Engine, measured: Result<Option<Probe>, SandboxError>) -> Finding {
    let root = match engine.rootless {
        true => "without root",
        false => "with root",
    };
    let (name, version, address) = (engine.kind.name(), &engine.version, &engine.address);
    let which = format!("{name} {version} {root}, at {address}");
    match measured {
        Err(error) => finding(
            WHAT,
            FindingState::Bad,
            format!("{which}: {error}"),
            "Update the engine, or name another one under [sandbox] in config.toml.",
        ),
        Ok(None) => {
            let seen = format!("{which}; its image is not built yet, so nothing was measured");
            finding(
                WHAT,
                FindingState::Good,
                seen,
                "The first run that needs it builds it.",
            )
        }
        Ok(Some(probe)) => of_probe(&which, &probe),
    }
}

fn of_probe(which: &str, probe: &Probe) -> Finding {
    if probe.lacks.is_empty() {
        let seen = format!("{which}; all limits hold");
        return finding(WHAT, FindingState::Good, seen, "");
    }
    let found: Vec<&str> = probe.lacks.iter().map(|lack| lack.found.as_str()).collect();
    let mut remedies: Vec<&str> = probe.lacks.iter().map(|lack| lack.remedy).collect();
    remedies.dedup();
    let state = match probe.usable() {
        Ok(()) => FindingState::Limited,
        Err(_) => FindingState::Bad,
    };
    let seen = format!("{which}; {}", found.join("; "));
    finding(
        WHAT,
        state,
        seen,
        &crate::error::sentence(&remedies.join("; ")),
    )
}

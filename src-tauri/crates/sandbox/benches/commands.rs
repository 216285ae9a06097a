//! How long a container takes to start, and what a command costs in one that runs.
//!
//! `cargo bench -p longrein-sandbox --bench commands -- ADDRESS IMAGE…`, an address for each
//! engine; `scripts/sandbox-engine` starts some and says theirs.

use std::collections::{BTreeMap, HashSet};
use std::error::Error;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use longrein_sandbox::container::{
    Container, ContainerLimits, ContainerSpec, Owner, RunBox, hand_over, reap,
};
use longrein_sandbox::engine::Engine;
use longrein_sandbox::session::Session;
use longrein_sandbox::wire::{Limits, Start, Stream};

const ROUNDS: usize = 200;
const STARTS: usize = 5;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect();
    let Some((image, addresses)) = words.split_last() else {
        println!("give the address of an engine, and an image that it has");
        return Ok(());
    };
    for address in addresses {
        measure(address, image).await?;
    }
    Ok(())
}

async fn measure(address: &str, image: &str) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755))?;
    let engine = Engine::at(address).await?;
    println!("{} {}", engine.kind.name(), engine.version);
    let workspace = folder.path().join("workspace");
    std::fs::create_dir(&workspace)?;
    hand_over(&workspace)?;
    let instance = format!("bench-{}", std::process::id());
    let mut cold = Vec::new();
    for run in 0..STARTS {
        let spec = ContainerSpec {
            owner: Owner {
                instance: instance.clone(),
                run: format!("{instance}-{run}"),
                purpose: RunBox::Work,
            },
            image: image.to_owned(),
            workspace: workspace.clone(),
            read_only: false,
            limits: ContainerLimits {
                memory_bytes: 512 << 20,
                processes: 256,
                cpus_milli: 2_000,
                tmp_bytes: 64 << 20,
            },
            shared: folder.path().join("shared"),
        };
        let begun = Instant::now();
        let container = Container::ensure(&engine, &spec).await?;
        let (session, _incoming) = container.connect().await?;
        command(&session, container.environment(), "first").await?;
        cold.push(begun.elapsed());
        if run + 1 == STARTS {
            warm(&session, container.environment()).await?;
        }
    }
    show("cold start, with its first command", &mut cold);
    reap(&engine, &instance, &HashSet::new()).await?;
    Ok(())
}

async fn warm(
    session: &Session,
    environment: &BTreeMap<String, String>,
) -> Result<(), Box<dyn Error>> {
    let mut times = Vec::new();
    for round in 0..ROUNDS {
        let begun = Instant::now();
        command(session, environment, &format!("c{round}")).await?;
        times.push(begun.elapsed());
    }
    show("a command in a warm container", &mut times);
    Ok(())
}

/// From asking to the receipt and the whole output.
async fn command(
    session: &Session,
    environment: &BTreeMap<String, String>,
    id: &str,
) -> Result<(), Box<dyn Error>> {
    let start = Start {
        command: id.to_owned(),
        program: ["/bin/echo", "x"].map(str::to_owned).to_vec(),
        directory: "/workspace".to_owned(),
        environment: environment.clone(),
        input: false,
        merged: true,
        egress: false,
        tools: false,
        limits: Limits {
            time_ms: 10_000,
            output_bytes: 1 << 20,
            file_bytes: 1 << 30,
            open_files: 256,
            address_space_bytes: None,
            processes: None,
        },
    };
    session.start(start).await?;
    let command = session.command(id);
    let (output, receipt) = tokio::join!(command.read_all(Stream::Output, 1 << 20), command.wait());
    if output? != b"x\n" {
        return Err(format!("it said something else: {:?}", receipt?).into());
    }
    Ok(())
}

fn show(what: &str, times: &mut [Duration]) {
    times.sort();
    let milliseconds = |time: Duration| time.as_secs_f64() * 1_000.0;
    let (median, high) = (times[times.len() / 2], times[times.len() * 9 / 10]);
    println!(
        "  {what:<36} {:>8.1} ms, nine of ten under {:.1} ms",
        milliseconds(median),
        milliseconds(high)
    );
}

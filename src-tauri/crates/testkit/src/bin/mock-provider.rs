//! A provider server for tests of the command and the window. Its base address is the first
//! line that it prints. Its gate is opened by `POST /control/open`; `GET /control/stats` and
//! `GET /control/requests/N` tell what it has seen.

use std::io::Write as _;
use std::path::Path;

use anyhow::{Context, bail};
use longrein_testkit::provider::{Manner, MockProvider, Script, Setup};
use tokio::io::AsyncReadExt;

const USAGE: &str = "\
mock-provider (--script FILE | --brain demo) [options]

  --script FILE          answer by a list of replies in JSON
  --brain demo           answer by the rules of the demonstration model
  --manner plain|nasty|JSON   how replies are sent
  --hold-at N            request N waits in the middle of its reply until POST /control/open
  --key KEY              refuse requests without this key
  --port N               listen here instead of on a free port
  --until-stdin-closes   end with whoever holds the other end of standard input";

/// Events of a held reply that are sent before it waits.
const EVENTS_BEFORE_HOLD: usize = 2;

struct Arguments {
    setup: Setup,
    until_stdin_closes: bool,
}

fn main() -> anyhow::Result<()> {
    let arguments = match read(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("mock-provider: {error:#}\n\n{USAGE}");
            std::process::exit(2);
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(run(arguments))
}

async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let provider = MockProvider::start(arguments.setup)
        .await
        .context("the port can't be opened")?;
    println!("{}", provider.base_url());
    std::io::stdout().flush()?;
    match arguments.until_stdin_closes {
        true => stdin_closes().await,
        // Until a signal ends the process; there is nothing to put in order.
        false => std::future::pending().await,
    }
    Ok(())
}

async fn stdin_closes() {
    let mut stdin = tokio::io::stdin();
    let mut ignored = [0; 256];
    while matches!(stdin.read(&mut ignored).await, Ok(1..)) {}
}

fn read(mut arguments: impl Iterator<Item = String>) -> anyhow::Result<Arguments> {
    let mut setup = None;
    let (mut manner, mut key, mut hold_at, mut port) = (Manner::default(), None, None, 0);
    let mut until_stdin_closes = false;
    while let Some(option) = arguments.next() {
        let mut value = || {
            arguments
                .next()
                .with_context(|| format!("{option} needs a value"))
        };
        match option.as_str() {
            "--script" => setup = Some(Setup::of(Script::load(Path::new(&value()?))?.into_rule())),
            "--brain" => match value()?.as_str() {
                "demo" => setup = Some(Setup::demo()),
                other => bail!("there is no brain {other}; there is demo"),
            },
            "--manner" => {
                manner = match value()?.as_str() {
                    "plain" => Manner::default(),
                    "nasty" => Manner::nasty(),
                    json => {
                        serde_json::from_str(json).context("--manner is plain, nasty or JSON")?
                    }
                }
            }
            "--hold-at" => {
                hold_at = Some(
                    value()?
                        .parse::<u32>()
                        .context("--hold-at needs a number")?,
                )
            }
            "--key" => key = Some(value()?),
            "--port" => port = value()?.parse().context("--port needs a number")?,
            "--until-stdin-closes" => until_stdin_closes = true,
            other => bail!("there is no option {other}"),
        }
    }
    let mut setup = setup.context("give --script or --brain")?;
    if let Some(hold_at) = hold_at {
        let (brain, usual) = (setup.brain.clone(), manner.clone());
        setup = Setup::of(move |request| {
            let mut answer = brain(request);
            if request.number == hold_at {
                let manner = answer.manner.take().unwrap_or_else(|| usual.clone());
                answer.manner = Some(Manner {
                    hold_after: Some(EVENTS_BEFORE_HOLD),
                    ..manner
                });
            }
            answer
        });
    }
    Ok(Arguments {
        setup: Setup {
            manner,
            key,
            port,
            ..setup
        },
        until_stdin_closes,
    })
}

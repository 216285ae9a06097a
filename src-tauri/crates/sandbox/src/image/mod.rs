//! The image that commands work in: the shipped one, built by the engine when it is first needed,
//! or the person's own.

use std::collections::HashMap;
use std::time::Duration;

use bollard::body_full;
use bollard::query_parameters::{BuildImageOptionsBuilder, CreateImageOptionsBuilder};
use bytes::Bytes;
use futures::{Stream, StreamExt};
use tokio::sync::mpsc;

use crate::SandboxError;
use crate::engine::{Engine, status};

/// What the shipped image is built of.
pub const DOCKERFILE: &str = include_str!("Dockerfile");
/// The shipped image's name; its tag is a hash of what it is built of.
const NAME: &str = "localhost/longrein/sandbox";
/// How much of the hash is in the tag.
const TAG_CHARS: usize = 16;
/// How long a build or a download may take.
const LIMIT: Duration = Duration::from_secs(1_800);
/// The longest line of progress that is passed on.
const LINE_MAX_CHARS: usize = 400;
/// How many lines are remembered to say what went wrong.
const LAST_LINES: usize = 8;

/// Which image an agent wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImageSource {
    /// The shipped one.
    Shipped {
        /// Another base than the pinned one.
        base: Option<String>,
        /// Build without a network, on a base that has everything.
        offline: bool,
    },
    /// The person's own, by its name. It is fetched if the engine has not got it.
    Own(String),
}

impl ImageSource {
    /// The name that the engine knows it by.
    pub fn name(&self) -> String {
        match self {
            Self::Shipped { base, .. } => {
                let mut hash = blake3::Hasher::new();
                hash.update(DOCKERFILE.as_bytes());
                hash.update(base.as_deref().unwrap_or_default().as_bytes());
                format!("{NAME}:{}", &hash.finalize().to_hex()[..TAG_CHARS])
            }
            Self::Own(name) => name.clone(),
        }
    }
}

/// Sees to it that an image is there, and gives the name that containers are made from. Lines of
/// progress go to `progress`; one that nobody takes in time is dropped.
///
/// # Errors
/// When the engine can't build or fetch it; the last lines say why.
pub async fn ensure(
    engine: &Engine,
    source: &ImageSource,
    progress: &mpsc::Sender<String>,
) -> Result<String, SandboxError> {
    let name = source.name();
    match engine.docker.inspect_image(&name).await {
        Ok(_) => return Ok(name),
        Err(error) if status(&error) == Some(404) => {}
        Err(error) => return Err(engine.failed(format!("look for the image {name}"))(error)),
    }
    let making = async {
        match source {
            ImageSource::Shipped { base, offline } => {
                build(engine, &name, base.as_deref(), *offline, progress).await
            }
            ImageSource::Own(own) => fetch(engine, own, progress).await,
        }
    };
    tokio::time::timeout(LIMIT, making)
        .await
        .map_err(|_| SandboxError::TimedOut {
            what: format!("making the image {name}"),
            limit_s: LIMIT.as_secs(),
        })??;
    Ok(name)
}

/// Whether an engine has an image already.
///
/// # Errors
/// When the engine does not answer.
pub async fn is_there(engine: &Engine, source: &ImageSource) -> Result<bool, SandboxError> {
    let name = source.name();
    match engine.docker.inspect_image(&name).await {
        Ok(_) => Ok(true),
        Err(error) if status(&error) == Some(404) => Ok(false),
        Err(error) => Err(engine.failed(format!("look for the image {name}"))(error)),
    }
}

async fn build(
    engine: &Engine,
    name: &str,
    base: Option<&str>,
    offline: bool,
    progress: &mpsc::Sender<String>,
) -> Result<(), SandboxError> {
    let mut options = BuildImageOptionsBuilder::new()
        .dockerfile("Dockerfile")
        .t(name)
        .rm(true);
    options = options
        .forcerm(true)
        .labels(&HashMap::from([("longrein.image", name)]));
    if let Some(base) = base {
        options = options.buildargs(&HashMap::from([("BASE", base)]));
    }
    if offline {
        options = options.networkmode("none");
    }
    let context = context().map_err(SandboxError::file("Dockerfile"))?;
    let said = engine
        .docker
        .build_image(options.build(), None, Some(body_full(context)));
    let lines = said.map(|said| {
        said.map(|info| {
            let error = info.error_detail.and_then(|detail| detail.message);
            (info.stream.or(info.status).unwrap_or_default(), error)
        })
    });
    follow(name, lines, progress).await?;
    // An engine may end a build that failed without a word.
    let built = engine.docker.inspect_image(name).await;
    built.map(drop).map_err(|error| SandboxError::Image {
        image: name.to_owned(),
        why: error.to_string(),
    })
}

async fn fetch(
    engine: &Engine,
    name: &str,
    progress: &mpsc::Sender<String>,
) -> Result<(), SandboxError> {
    let whole = with_tag(name);
    let options = CreateImageOptionsBuilder::new().from_image(&whole).build();
    let said = engine.docker.create_image(Some(options), None, None);
    let lines = said.map(|said| {
        said.map(|info| {
            let error = info.error_detail.and_then(|detail| detail.message);
            (info.status.unwrap_or_default(), error)
        })
    });
    follow(name, lines, progress).await
}

/// A name without a tag means the latest; some engines would fetch all tags that there are.
fn with_tag(name: &str) -> String {
    let last = name.rsplit('/').next().unwrap_or(name);
    if last.contains([':', '@']) {
        name.to_owned()
    } else {
        format!("{name}:latest")
    }
}

/// Passes lines on until there are no more, or one of them says that it failed.
async fn follow(
    image: &str,
    said: impl Stream<Item = Result<(String, Option<String>), bollard::errors::Error>>,
    progress: &mpsc::Sender<String>,
) -> Result<(), SandboxError> {
    let mut last: Vec<String> = Vec::new();
    let failed = |last: &[String], why: &str| SandboxError::Image {
        image: image.to_owned(),
        why: format!("{why}\n{}", last.join("\n")).trim().to_owned(),
    };
    let mut said = std::pin::pin!(said);
    while let Some(next) = said.next().await {
        let (text, error) = next.map_err(|error| failed(&last, &error.to_string()))?;
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let line: String = plain(line).take(LINE_MAX_CHARS).collect();
            if last.len() == LAST_LINES {
                last.remove(0);
            }
            last.push(line.clone());
            // Progress is to be seen, not to be waited for.
            let _ = progress.try_send(line);
        }
        if let Some(error) = error {
            return Err(failed(&last, &error));
        }
    }
    Ok(())
}

/// A line without what colours it on a terminal.
fn plain(line: &str) -> impl Iterator<Item = char> {
    let mut in_sequence = false;
    line.trim_end().chars().filter(move |letter| {
        if *letter == '\u{1b}' {
            in_sequence = true;
            return false;
        }
        let is_text = !in_sequence && !letter.is_control();
        in_sequence = in_sequence && !letter.is_ascii_alphabetic();
        is_text
    })
}

/// The Dockerfile alone: the image holds nothing of this machine.
fn context() -> std::io::Result<Bytes> {
    let mut archive = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(DOCKERFILE.len() as u64);
    header.set_mode(0o644);
    header.set_cksum();
    archive.append_data(&mut header, "Dockerfile", DOCKERFILE.as_bytes())?;
    archive.into_inner().map(Bytes::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_is_pinned_by_its_digest() {
        let base = DOCKERFILE
            .lines()
            .find_map(|line| line.strip_prefix("ARG BASE="));
        let (_, digest) = base
            .and_then(|base| base.split_once("@sha256:"))
            .expect("it is pinned");
        assert!(digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()));
    }

    #[test]
    fn an_image_without_a_tag_is_the_latest_one() {
        assert_eq!(with_tag("localhost:5000/a/b"), "localhost:5000/a/b:latest");
        assert_eq!(with_tag("localhost:5000/a/b:1"), "localhost:5000/a/b:1");
        assert_eq!(with_tag("b@sha256:00"), "b@sha256:00");
    }

    #[test]
    fn a_line_is_shown_without_its_colours() {
        let line: String = plain("\u{1b}[91m/bin/sh: no\u{1b}[0m\r").collect();
        assert_eq!(line, "/bin/sh: no");
    }

    #[test]
    fn another_base_is_another_image() {
        let of = |base: Option<&str>| {
            ImageSource::Shipped {
                base: base.map(str::to_owned),
                offline: false,
            }
            .name()
        };
        assert_ne!(of(None), of(Some("a")));
        assert_eq!(of(Some("a")), of(Some("a")));
    }
}

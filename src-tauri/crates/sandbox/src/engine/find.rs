//! Where engines are looked for, in which order, and what is said when there is none.

use std::ffi::OsString;
use std::path::PathBuf;

use bollard::Docker;

use super::{Engine, REQUEST_LIMIT};
use crate::SandboxError;

/// The variable by which people name an engine for all their tools.
const HOST_VARIABLE: &str = "DOCKER_HOST";
/// What a configuration names that wants bubblewrap, whatever engine there is.
const WITHOUT_ENGINE: &str = "bubblewrap";
/// What a configuration names that wants an engine of one kind, at any of its usual places, with the
/// word that their descriptions begin with.
const KINDS: [(&str, &str); 2] = [("podman", "Podman"), ("docker", "Docker")];

/// An address at which an engine may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its address: `unix://…`, `npipe://…` or `tcp://…`.
    pub address: String,
    /// What it would be, for people.
    pub what: &'static str,
}

/// Why no engine was found: what was tried, and what each said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unavailable {
    /// In the order of trying.
    pub tried: Vec<(Candidate, String)>,
}

impl Unavailable {
    /// What a person can do about it.
    pub fn remedy(&self) -> &'static str {
        if cfg!(target_os = "linux") {
            "Install Podman and run 'systemctl --user enable --now podman.socket' (as root without --user; without systemd: 'podman system service --time=0'), or install Docker"
        } else {
            "Install Podman and run 'podman machine init --now', or install Docker Desktop"
        }
    }
}

/// What finding depends on. Taken once from the environment, so that it can be said and tested.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// An engine that the configuration names, `podman`, `docker` or `bubblewrap`; nothing else is
    /// tried then.
    pub named: Option<String>,
    /// `DOCKER_HOST`; nothing else is tried then.
    pub host: Option<String>,
    /// The person's folder for sockets.
    pub runtime: Option<PathBuf>,
    /// The person's home.
    pub home: Option<PathBuf>,
}

impl Places {
    /// The environment's places, with an engine that the configuration may name: an address, the
    /// path of a socket, or a kind.
    pub fn of_environment(named: Option<&str>) -> Self {
        let text = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let path = |name: &str| {
            let value: Option<OsString> = std::env::var_os(name).filter(|value| !value.is_empty());
            value.map(PathBuf::from)
        };
        Self {
            named: named.map(str::to_owned),
            host: text(HOST_VARIABLE),
            runtime: path("XDG_RUNTIME_DIR"),
            home: path("HOME"),
        }
    }

    /// Whether the configuration wants no engine at all.
    pub fn wants_none(&self) -> bool {
        self.named.as_deref() == Some(WITHOUT_ENGINE)
    }

    /// Where to look, in this order: the named one alone, `DOCKER_HOST` alone; else Podman without
    /// root, Podman with root, Docker without root, Docker.
    pub fn candidates(&self) -> Vec<Candidate> {
        let one = |address: &str, what| {
            vec![Candidate {
                address: address_of(address),
                what,
            }]
        };
        if let Some(kind) = self.kind() {
            let mut usual = self.usual();
            usual.retain(|candidate| candidate.what.starts_with(kind));
            return usual;
        }
        if let Some(named) = &self.named {
            return one(named, "the engine that the configuration names");
        }
        if let Some(host) = &self.host {
            return one(host, "the engine that DOCKER_HOST names");
        }
        self.usual()
    }

    /// The kind that the configuration wants.
    fn kind(&self) -> Option<&'static str> {
        let named = self.named.as_deref()?;
        let kind = KINDS.iter().find(|(name, _)| *name == named);
        kind.map(|(_, word)| *word)
    }

    /// Where engines usually are.
    fn usual(&self) -> Vec<Candidate> {
        if cfg!(windows) {
            return vec![
                Candidate {
                    address: "npipe:////./pipe/podman-machine-default".to_owned(),
                    what: "Podman's machine",
                },
                Candidate {
                    address: "npipe:////./pipe/docker_engine".to_owned(),
                    what: "Docker",
                },
            ];
        }
        let mut found = Vec::new();
        let mut add = |folder: Option<&PathBuf>, socket: &str, what| {
            if let Some(folder) = folder {
                let address = format!("unix://{}", folder.join(socket).display());
                found.push(Candidate { address, what });
            }
        };
        let (run, var) = (PathBuf::from("/run"), PathBuf::from("/var/run"));
        add(
            self.runtime.as_ref(),
            "podman/podman.sock",
            "Podman without root",
        );
        let machine = ".local/share/containers/podman/machine/podman.sock";
        add(self.home.as_ref(), machine, "Podman's machine");
        add(Some(&run), "podman/podman.sock", "Podman with root");
        add(self.runtime.as_ref(), "docker.sock", "Docker without root");
        add(
            self.home.as_ref(),
            ".docker/run/docker.sock",
            "Docker Desktop",
        );
        add(Some(&var), "docker.sock", "Docker");
        found
    }

    /// The first engine that answers. `Ok(Err(_))` says that there is none where none was named.
    ///
    /// # Errors
    /// When one is named and does not answer: another one in its place would be a surprise.
    pub async fn find(&self) -> Result<Result<Engine, Unavailable>, SandboxError> {
        let mut tried = Vec::new();
        let mut last = None;
        for candidate in self.candidates() {
            match Engine::at(&candidate.address).await {
                Ok(engine) => return Ok(Ok(engine)),
                Err(error) => {
                    tried.push((candidate, error.to_string()));
                    last = Some(error);
                }
            }
        }
        match last.filter(|_| self.named.is_some() || self.host.is_some()) {
            Some(error) => Err(error),
            None => Ok(Err(Unavailable { tried })),
        }
    }
}

/// A path is the address of a socket.
fn address_of(named: &str) -> String {
    if named.starts_with('/') {
        format!("unix://{named}")
    } else {
        named.to_owned()
    }
}

pub(super) fn connect(address: &str) -> Result<Docker, bollard::errors::Error> {
    Ok(Docker::connect_with_host(address)?.with_timeout(REQUEST_LIMIT))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn addresses(places: &Places) -> Vec<String> {
        places
            .candidates()
            .into_iter()
            .map(|candidate| candidate.address)
            .collect()
    }

    #[test]
    fn engines_without_root_come_first_and_podman_before_docker() {
        let places = Places {
            runtime: Some("/run/user/7".into()),
            home: Some("/h".into()),
            ..Places::default()
        };
        let expected = [
            "unix:///run/user/7/podman/podman.sock",
            "unix:///h/.local/share/containers/podman/machine/podman.sock",
            "unix:///run/podman/podman.sock",
            "unix:///run/user/7/docker.sock",
            "unix:///h/.docker/run/docker.sock",
            "unix:///var/run/docker.sock",
        ];
        assert_eq!(addresses(&places), expected);
    }

    #[test]
    fn a_named_engine_is_the_only_one_and_the_configuration_has_the_last_word() {
        let mut places = Places {
            host: Some("tcp://other:1".to_owned()),
            ..Places::default()
        };
        assert_eq!(addresses(&places), ["tcp://other:1"]);
        places.named = Some("/a/socket".to_owned());
        assert_eq!(addresses(&places), ["unix:///a/socket"]);
    }

    #[test]
    fn an_engine_may_be_named_by_its_kind() {
        let places = Places {
            named: Some("docker".to_owned()),
            host: Some("tcp://other:1".to_owned()),
            runtime: Some("/run/user/7".into()),
            home: None,
        };
        let expected = [
            "unix:///run/user/7/docker.sock",
            "unix:///var/run/docker.sock",
        ];
        assert_eq!(addresses(&places), expected);
    }

    #[tokio::test]
    async fn a_named_engine_that_does_not_answer_is_an_error_and_never_another_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let socket = folder.path().join("none.sock");
        let places = Places {
            named: Some(socket.display().to_string()),
            ..Places::default()
        };
        let error = places.find().await.expect_err("nothing is there");
        assert!(matches!(error, SandboxError::Unreachable { .. }), "{error}");
    }
}

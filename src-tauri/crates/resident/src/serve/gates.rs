//! The two ways out of the box that a command may have been given: to tools and to the network.
//! Both only lead to the app.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use longrein_resident::wire::Start;
use rustix::net::Shutdown;

use super::job::Job;
use super::{Refused, Server, calls, socket, thread, tunnels};
use crate::PROXY_VARIABLES;

/// Where a program finds the socket for its calls.
const TOOLS_VARIABLE: &str = "LONGREIN_TOOLS";

/// What a command was given, open for as long as it runs.
#[derive(Default)]
pub(crate) struct Gates {
    tools: Option<(UnixListener, PathBuf)>,
    network: Option<Network>,
}

/// The way to the network. A box that a door makes has a loopback of its own, so that there is a
/// socket in a folder instead, to which process 1 of the box leads.
enum Network {
    Here(TcpListener),
    Door(UnixListener, PathBuf),
}

/// Closes the gates when the command has ended.
pub(crate) struct Closer {
    gates: Gates,
}

impl Gates {
    pub(crate) fn open(server: &Server, start: &Start) -> Result<Self, Refused> {
        let mut gates = Self::default();
        if start.egress {
            gates.network = Some(match server.setup.door.is_empty() {
                true => Network::Here(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?),
                false => {
                    let path = server.setup.run.join(format!("{}.net", start.command));
                    Network::Door(open_to_commands(&path)?, path)
                }
            });
        }
        if start.tools {
            let path = server.setup.run.join(format!("{}.sock", start.command));
            gates.tools = Some((open_to_commands(&path)?, path));
        }
        Ok(gates)
    }

    /// What tells the command of its gates.
    pub(crate) fn environment(&self, run_inside: &Path) -> BTreeMap<String, String> {
        let mut variables = BTreeMap::new();
        if let Some((_, path)) = &self.tools {
            let inside = run_inside.join(path.file_name().unwrap_or_default());
            variables.insert(
                TOOLS_VARIABLE.to_owned(),
                inside.to_string_lossy().into_owned(),
            );
        }
        let address = match &self.network {
            Some(Network::Here(listener)) => listener.local_addr().ok(),
            _ => None,
        };
        if let Some(address) = address {
            for name in PROXY_VARIABLES {
                variables.insert(name.to_owned(), format!("http://{address}"));
            }
        }
        variables
    }

    /// Where the socket that leads to the network is, for who stands inside of a door.
    pub(crate) fn network_inside(&self, run_inside: &Path) -> Option<PathBuf> {
        match &self.network {
            Some(Network::Door(_, path)) => {
                Some(run_inside.join(path.file_name().unwrap_or_default()))
            }
            _ => None,
        }
    }

    pub(crate) fn closer(&self) -> io::Result<Closer> {
        let tools = self.tools.as_ref().map(|(listener, path)| {
            listener
                .try_clone()
                .map(|listener| (listener, path.clone()))
        });
        let network = self.network.as_ref().map(Network::try_clone);
        Ok(Closer {
            gates: Self {
                tools: tools.transpose()?,
                network: network.transpose()?,
            },
        })
    }

    /// Takes what comes through the gates until they are closed.
    pub(crate) fn serve(&self, server: &Arc<Server>, job: &Arc<Job>) -> io::Result<()> {
        if let Some((listener, _)) = &self.tools {
            let (listener, server) = (listener.try_clone()?, Arc::clone(server));
            let job = Arc::clone(job);
            thread("tools", move || {
                for stream in listener.incoming() {
                    let Ok(stream) = stream else { return };
                    calls::accept(&server, &job, stream);
                }
            })?;
        }
        if let Some(network) = &self.network {
            let (network, server) = (network.try_clone()?, Arc::clone(server));
            let command = job.id.clone();
            thread("network", move || {
                while let Ok(stream) = network.accept() {
                    tunnels::accept(&server, &command, stream);
                }
            })?;
        }
        Ok(())
    }
}

impl Network {
    fn try_clone(&self) -> io::Result<Self> {
        Ok(match self {
            Self::Here(listener) => Self::Here(listener.try_clone()?),
            Self::Door(listener, path) => Self::Door(listener.try_clone()?, path.clone()),
        })
    }

    fn accept(&self) -> io::Result<tunnels::Way> {
        Ok(match self {
            Self::Here(listener) => tunnels::Way::Tcp(listener.accept()?.0),
            Self::Door(listener, _) => tunnels::Way::Unix(listener.accept()?.0),
        })
    }
}

/// A socket in the folder that commands see.
fn open_to_commands(path: &Path) -> io::Result<UnixListener> {
    // One of an earlier life is nobody's.
    let _ = fs::remove_file(path);
    let listener = socket::listen(path)?;
    // The command is another user, and must be able to write to it to connect.
    fs::set_permissions(path, fs::Permissions::from_mode(0o666))?;
    Ok(listener)
}

impl Closer {
    pub(crate) fn close(&self) {
        // Shut, a listener wakes whoever waits for it.
        if let Some((listener, path)) = &self.gates.tools {
            let _ = rustix::net::shutdown(listener, Shutdown::Both);
            let _ = fs::remove_file(path);
        }
        match &self.gates.network {
            Some(Network::Here(listener)) => {
                let _ = rustix::net::shutdown(listener, Shutdown::Both);
            }
            Some(Network::Door(listener, path)) => {
                let _ = rustix::net::shutdown(listener, Shutdown::Both);
                let _ = fs::remove_file(path);
            }
            None => {}
        }
    }
}

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

use longrein_resident::wire::{Code, Start};
use rustix::net::Shutdown;

use super::job::Job;
use super::{Refused, Server, calls, socket, thread, tunnels};

/// Where a program finds the socket for its calls.
const TOOLS_VARIABLE: &str = "LONGREIN_TOOLS";
/// Both spellings: programs know one or the other.
const PROXY_VARIABLES: [&str; 4] = ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"];

/// What a command was given, open for as long as it runs.
#[derive(Default)]
pub(crate) struct Gates {
    tools: Option<(UnixListener, PathBuf)>,
    network: Option<TcpListener>,
}

/// Closes the gates when the command has ended.
pub(crate) struct Closer {
    gates: Gates,
}

impl Gates {
    pub(crate) fn open(server: &Server, start: &Start) -> Result<Self, Refused> {
        let mut gates = Self::default();
        if start.egress {
            if !server.setup.door.is_empty() {
                let message = "this box has no way to the network; it takes a container engine";
                return Err(Refused(Code::Invalid, message.to_owned()));
            }
            gates.network = Some(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?);
        }
        if start.tools {
            let path = server.setup.run.join(format!("{}.sock", start.command));
            // One of an earlier life is nobody's.
            let _ = fs::remove_file(&path);
            let listener = socket::listen(&path)?;
            // The command is another user, and must be able to write to it to connect.
            fs::set_permissions(&path, fs::Permissions::from_mode(0o666))?;
            gates.tools = Some((listener, path));
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
        let address = self
            .network
            .as_ref()
            .and_then(|network| network.local_addr().ok());
        if let Some(address) = address {
            for name in PROXY_VARIABLES {
                variables.insert(name.to_owned(), format!("http://{address}"));
            }
        }
        variables
    }

    pub(crate) fn closer(&self) -> io::Result<Closer> {
        let tools = self.tools.as_ref().map(|(listener, path)| {
            listener
                .try_clone()
                .map(|listener| (listener, path.clone()))
        });
        let network = self.network.as_ref().map(TcpListener::try_clone);
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
        if let Some(listener) = &self.network {
            let (listener, server) = (listener.try_clone()?, Arc::clone(server));
            let command = job.id.clone();
            thread("network", move || {
                for stream in listener.incoming() {
                    let Ok(stream) = stream else { return };
                    tunnels::accept(&server, &command, stream);
                }
            })?;
        }
        Ok(())
    }
}

impl Closer {
    pub(crate) fn close(&self) {
        // Shut, a listener wakes whoever waits for it.
        if let Some((listener, path)) = &self.gates.tools {
            let _ = rustix::net::shutdown(listener, Shutdown::Both);
            let _ = fs::remove_file(path);
        }
        if let Some(listener) = &self.gates.network {
            let _ = rustix::net::shutdown(listener, Shutdown::Both);
        }
    }
}

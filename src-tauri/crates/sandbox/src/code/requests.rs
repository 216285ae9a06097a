//! Where what commands ask for goes: requests to the network onto the record of their action, calls
//! of tools to whoever answers them.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use longrein_protocol::event::{NetworkAnswer, NetworkRequest, Progress};
use longrein_runtime::ports::Tells;
use tokio::sync::mpsc;

use crate::egress::{EgressEvent, Teller};
use crate::session::Call;
use crate::wire::CALLS_MAX;

/// The most requests of one command that are carried: each is an event of its run.
const REQUESTS_MAX: u32 = 10_000;

/// The commands of one box, and what was asked for in their name.
#[derive(Default)]
pub(super) struct Routes {
    commands: Mutex<HashMap<String, Route>>,
    /// Counts the requests of the box, over all of its connections.
    last: AtomicU64,
}

struct Route {
    tells: Arc<dyn Tells>,
    requests: u32,
    calls: Calls,
}

/// What becomes of a command's calls of tools.
enum Calls {
    /// Nobody has asked for them yet: they wait, as many as the agent lets be open.
    Waiting(VecDeque<Call>),
    /// Somebody answers them.
    Taken(mpsc::Sender<Call>),
}

impl Routes {
    /// What a command asks for belongs to this action from here on.
    pub(super) fn open(&self, command: &str, tells: Arc<dyn Tells>) {
        let mut commands = self.commands();
        let route = commands.entry(command.to_owned()).or_insert_with(|| Route {
            tells: tells.clone(),
            requests: 0,
            calls: Calls::Waiting(VecDeque::new()),
        });
        route.tells = tells;
    }

    /// The command has ended.
    pub(super) fn close(&self, command: &str) {
        self.commands().remove(command);
    }

    /// Takes the calls of a command, those that came before included.
    pub(super) fn calls(&self, command: &str) -> mpsc::Receiver<Call> {
        let (sender, calls) = mpsc::channel(CALLS_MAX);
        if let Some(route) = self.commands().get_mut(command) {
            let before = std::mem::replace(&mut route.calls, Calls::Taken(sender.clone()));
            if let Calls::Waiting(waiting) = before {
                for call in waiting {
                    // There is room for as many as the agent lets be open.
                    let _ = sender.try_send(call);
                }
            }
        }
        calls
    }

    /// Takes in the calls of a connection. The agent tells those that are not answered again after
    /// the next hello, so none is lost here.
    pub(super) async fn take_calls(self: Arc<Self>, mut calls: mpsc::Receiver<Call>) {
        while let Some(call) = calls.recv().await {
            let mut commands = self.commands();
            let route = commands.get_mut(&call.id.command);
            match route.map(|route| &mut route.calls) {
                Some(Calls::Taken(sender)) => {
                    let _ = sender.try_send(call);
                }
                Some(Calls::Waiting(waiting)) if waiting.len() < CALLS_MAX => {
                    waiting.push_back(call);
                }
                _ => tracing::debug!(command = %call.id.command, "nobody answers a call"),
            }
        }
    }

    /// Puts the requests of one connection on the record.
    pub(super) fn teller(self: &Arc<Self>) -> Teller {
        let routes = Arc::clone(self);
        let open: Arc<Mutex<HashMap<u64, Open>>> = Arc::default();
        Arc::new(move |event| {
            let (routes, open) = (Arc::clone(&routes), Arc::clone(&open));
            Box::pin(async move { routes.tell(&open, event).await })
        })
    }

    async fn tell(&self, open: &Mutex<HashMap<u64, Open>>, event: EgressEvent) -> bool {
        let known = || open.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            EgressEvent::Decided {
                request,
                command,
                method,
                host,
                port,
                path,
                refused,
            } => {
                let Some(tells) = self.counted(&command) else {
                    return false;
                };
                let number = self.last.fetch_add(1, Ordering::Relaxed) + 1;
                if refused.is_none() {
                    let tells = tells.clone();
                    known().insert(request, Open { number, tells });
                }
                let what = Progress::Requested(NetworkRequest {
                    request: number,
                    method,
                    host,
                    port,
                    path,
                    refused: refused.map(|refused| refused.to_string()),
                });
                tells.progress(what).await
            }
            EgressEvent::Ended {
                request,
                address,
                sent_bytes,
                received_bytes,
                failed,
            } => {
                let Some(Open { number, tells }) = known().remove(&request) else {
                    return false;
                };
                let what = Progress::Answered(NetworkAnswer {
                    request: number,
                    address: address.map(|address| address.to_string()),
                    sent_bytes,
                    received_bytes,
                    failed,
                });
                tells.progress(what).await
            }
        }
    }

    /// Whose record it is, as long as there is room on it.
    fn counted(&self, command: &str) -> Option<Arc<dyn Tells>> {
        let mut commands = self.commands();
        let route = commands.get_mut(command)?;
        if route.requests >= REQUESTS_MAX {
            return None;
        }
        route.requests += 1;
        Some(route.tells.clone())
    }

    fn commands(&self) -> MutexGuard<'_, HashMap<String, Route>> {
        // A panic elsewhere leaves nothing half done in here.
        self.commands.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that was allowed and is not over.
struct Open {
    number: u64,
    tells: Arc<dyn Tells>,
}

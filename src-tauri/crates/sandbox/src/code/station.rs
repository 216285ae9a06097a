//! The box of one run: entered by those who need it, stopped when nobody has for a while.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use longrein_protocol::RunId;
use longrein_protocol::agent::SandboxSettings;
use longrein_runtime::ports::LiveAction;
use tokio::sync::{Mutex as AsyncMutex, watch};
use tokio::task::JoinSet;

use super::boxes::{Boxes, Closing, Made, limits_of};
use super::requests::Routes;
use crate::SandboxError;
use crate::container::RunBox;
use crate::egress::{Egress, HostRule, serve};
use crate::session::Session;
use crate::wire::Limits;

/// How long nobody uses a box before it is stopped. What is on its disk stays, and it is started
/// again when it is needed.
pub(super) const IDLE: Duration = Duration::from_secs(300);

/// What a run's box is to be.
#[derive(Clone, PartialEq, Debug)]
pub struct StationSpec {
    /// What the agent says of it.
    pub settings: SandboxSettings,
    /// The run's folder.
    pub workspace: PathBuf,
}

/// Which box is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Make {
    /// One that is as it is to be, made if it is not there.
    Anew,
    /// The one that is there, whatever it was made to: what an earlier process left runs in it.
    AsItIs,
}

/// The box of one run.
pub struct Station {
    boxes: Boxes,
    run: RunId,
    spec: StationSpec,
    connected: AsyncMutex<Option<Connected>>,
    uses: watch::Sender<usize>,
    routes: Arc<Routes>,
    /// Whether the box was let stand still.
    stands_still: AsyncMutex<bool>,
    /// Commands that have ended and whose end is on record by the time that another one begins.
    ended: Mutex<Vec<String>>,
}

struct Connected {
    made: Arc<Made>,
    session: Session,
    /// What carries the network and the calls of this connection; ends with it.
    _tasks: JoinSet<()>,
}

/// The right to use a box. While there is one, the box is not stopped for being idle.
pub struct Lease {
    /// The connection to its agent.
    pub session: Session,
    made: Arc<Made>,
    station: Arc<Station>,
}

impl Lease {
    /// The environment of commands.
    pub fn environment(&self) -> std::collections::BTreeMap<String, String> {
        self.made.sandbox.environment()
    }

    /// A command's limits, with those that the box itself does not hold.
    pub fn limits(&self, limits: Limits) -> Limits {
        self.made.limits(limits, &limits_of(&self.station.spec))
    }

    /// Whether commands inside have a way to the hosts that the agent lists.
    pub fn carries_network(&self) -> bool {
        self.made.sandbox.carries_network()
    }

    /// Takes the calls of tools that the program of a command makes, those that came before
    /// included. Each is answered by [`Session::answer`], and told again until it is.
    pub fn calls(&self, command: &str) -> tokio::sync::mpsc::Receiver<crate::session::Call> {
        self.station.routes.calls(command)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.station.uses.send_modify(|uses| *uses -= 1);
    }
}

impl Station {
    pub(super) fn new(boxes: Boxes, run: RunId, spec: StationSpec) -> Self {
        Self {
            boxes,
            run,
            spec,
            connected: AsyncMutex::default(),
            uses: watch::Sender::new(0),
            routes: Arc::default(),
            stands_still: AsyncMutex::default(),
            ended: Mutex::default(),
        }
    }

    /// What it is to be.
    pub fn spec(&self) -> &StationSpec {
        &self.spec
    }

    /// Where what commands ask for goes.
    pub(super) fn routes(&self) -> &Arc<Routes> {
        &self.routes
    }

    /// Whether the agent lists hosts.
    pub(super) fn has_egress(&self) -> bool {
        !self.spec.settings.hosts.is_empty()
    }

    /// Enters the box, which is made or started first where it has to be. `None` where it is to be
    /// taken as it is and there is none.
    ///
    /// # Errors
    /// When there is no box here, or it can't be made or entered.
    pub async fn enter(
        self: &Arc<Self>,
        make: Make,
        live: &dyn LiveAction,
    ) -> Result<Option<Lease>, SandboxError> {
        let mut connected = self.connected.lock().await;
        if let Some(open) = connected.as_ref().filter(|open| open.session.is_open()) {
            return Ok(Some(self.lease(open)));
        }
        let owner = self.boxes.owner(self.run, RunBox::Work);
        let known = connected.take().map(|open| open.made);
        let made = match (known, make) {
            // Its pipe ended; the box may be there all the same, with what runs in it.
            (Some(made), Make::AsItIs) => made,
            (None, Make::AsItIs) => match self.boxes.found(&owner, &self.spec).await? {
                Some(made) => Arc::new(made),
                None => return Ok(None),
            },
            (_, Make::Anew) => Arc::new(self.boxes.make(&owner, &self.spec, false, live).await?),
        };
        let (session, incoming) = made.sandbox.connect().await?;
        // What was let stand still goes on when it is connected to.
        *self.stands_still.lock().await = false;
        let mut tasks = JoinSet::new();
        let egress = Egress {
            hosts: self.host_rules(),
            guard: self.boxes.config().guard,
            resolver: self.boxes.config().resolver.clone(),
        };
        tasks.spawn(serve(incoming.tunnels, egress, self.routes.teller()));
        tasks.spawn(Arc::clone(&self.routes).take_calls(incoming.calls));
        let open = Connected {
            made,
            session,
            _tasks: tasks,
        };
        let lease = self.lease(&open);
        *connected = Some(open);
        drop(connected);
        tokio::spawn(stop_when_idle(
            Arc::downgrade(self),
            lease.session.life().to_owned(),
        ));
        live.doing("");
        Ok(Some(lease))
    }

    fn lease(self: &Arc<Self>, open: &Connected) -> Lease {
        self.uses.send_modify(|uses| *uses += 1);
        Lease {
            session: open.session.clone(),
            made: open.made.clone(),
            station: self.clone(),
        }
    }

    /// What can't be a rule was refused when the agent was read.
    fn host_rules(&self) -> Vec<HostRule> {
        let lines = self.spec.settings.hosts.iter();
        lines.filter_map(|line| line.parse().ok()).collect()
    }

    /// Lets everything inside stand still while a person is waited for, or go on. Where it can't
    /// stand still, it goes on all the same.
    pub(super) async fn stand(&self, still: bool) {
        let made = {
            let connected = self.connected.lock().await;
            connected.as_ref().map(|open| open.made.clone())
        };
        let Some(made) = made else { return };
        let mut stands = self.stands_still.lock().await;
        if *stands == still {
            return;
        }
        let done = match still {
            true => made.sandbox.pause().await,
            false => made.sandbox.unpause().await.map(|()| false),
        };
        match done {
            Ok(stands_now) => *stands = stands_now,
            Err(error) => tracing::warn!(%error, still, "a box can't be let stand still, or go on"),
        }
    }

    /// Notes that a command has ended; its output and receipt go when the next one begins.
    pub(super) fn has_ended(&self, command: &str) {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.push(command.to_owned());
    }

    /// Lets the agent forget the commands whose ends are on record. Nobody waits for that: what is
    /// not forgotten is only remembered longer.
    pub(super) fn forget_ended(&self, session: &Session) {
        let ended = {
            let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *ended)
        };
        for command in ended {
            let forgotten = session.command(&command);
            tokio::spawn(async move {
                if let Err(error) = forgotten.forget().await {
                    tracing::debug!(%command, %error, "a command is not forgotten");
                }
            });
        }
    }

    /// Lets the box go.
    pub(super) async fn close(&self, how: Closing) -> Result<(), SandboxError> {
        let mut connected = self.connected.lock().await;
        let open = match connected.take() {
            Some(open) => Some((open.made.clone(), Some(open))),
            // It may have been stopped meanwhile, and it is to go all the same.
            None if how == Closing::Over => {
                let owner = self.boxes.owner(self.run, RunBox::Work);
                let found = self.boxes.found(&owner, &self.spec).await?;
                found.map(|made| (Arc::new(made), None))
            }
            None => None,
        };
        let Some((made, open)) = open else {
            return Ok(());
        };
        match how {
            Closing::Over => made.sandbox.remove().await,
            Closing::Still => made.sandbox.stop().await,
            // What stands still waits for whoever takes the run up.
            Closing::LetGo if *self.stands_still.lock().await => Ok(()),
            Closing::LetGo => {
                let Some(open) = open else { return Ok(()) };
                let running = open.session.list().await?;
                if running.iter().any(|command| command.receipt.is_none()) {
                    return Ok(());
                }
                made.sandbox.stop().await
            }
        }
    }
}

/// Stops a box when nobody has used it for a while. One watch stands for each connection.
async fn stop_when_idle(station: Weak<Station>, life: String) {
    let Some(mut uses) = station.upgrade().map(|station| station.uses.subscribe()) else {
        return;
    };
    loop {
        if uses.wait_for(|uses| *uses == 0).await.is_err() {
            return;
        }
        tokio::select! {
            changed = uses.changed() => match changed {
                Ok(()) => continue,
                Err(_) => return,
            },
            () = tokio::time::sleep(IDLE) => {}
        }
        let Some(station) = station.upgrade() else {
            return;
        };
        let mut connected = station.connected.lock().await;
        let is_ours = connected
            .as_ref()
            .is_some_and(|open| open.session.life() == life);
        if !is_ours {
            return;
        }
        if *uses.borrow_and_update() > 0 {
            continue;
        }
        let Some(open) = connected.take() else { return };
        if let Err(error) = open.made.sandbox.stop().await {
            tracing::warn!(%error, "an idle box does not stop");
        }
        return;
    }
}

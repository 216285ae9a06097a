//! What a server may ask of us: its roots, a question to the person, and, refused, a model.

#![expect(
    deprecated,
    reason = "servers of the older versions still ask for roots and for models"
)]

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use longrein_protocol::HARNESS_VERSION;
use longrein_runtime::ports::{Answer, Person, RefusedQuestion};
use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult,
    ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationCapability, ErrorCode,
    ErrorData, FormElicitationCapability, Implementation, ListRootsResult,
    ProgressNotificationParam, ProgressToken, ProtocolVersion, Root, RootsCapabilities,
    UrlElicitationCapability,
};
use rmcp::service::{ClientLifecycleMode, NotificationContext, RequestContext, RoleClient};
use tokio::sync::watch;
use url::Url;

use crate::config::ServerConfig;
use crate::elicit;

/// Why sampling is refused.
pub(crate) const NO_SAMPLING: &str = "This client lends no model to servers: what a model is asked \
    and what it costs is decided by the run. Answer without sampling.";

/// Both handshakes, the newer one first.
pub(crate) fn lifecycle() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::V_2025_11_25),
    }
}

/// Our side of one connection. Clones are one.
#[derive(Clone)]
pub(crate) struct Host(Arc<Inner>);

struct Inner {
    server: String,
    root: Option<String>,
    /// Calls that wait for an answer, by the token of their progress.
    calls: Mutex<HashMap<ProgressToken, Open>>,
    /// How many calls there were.
    placed: AtomicU64,
    /// How many questions are with the person.
    asking: watch::Sender<usize>,
    /// How often the server said that its tools have changed.
    changes: watch::Sender<u64>,
}

struct Open {
    /// Its place among all calls of the connection.
    place: u64,
    /// Who answers what is asked during it.
    person: Arc<dyn Person>,
    /// Grows with every sign of life.
    beats: watch::Sender<u64>,
}

/// A call in the list of those that wait; it leaves the list when this is dropped.
pub(crate) struct Waiting {
    host: Host,
    token: ProgressToken,
    /// Changes with every sign of life.
    pub(crate) beats: watch::Receiver<u64>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.host.calls().remove(&self.token);
    }
}

/// Counts a question as long as it is with the person.
struct Asking<'a>(&'a watch::Sender<usize>);

impl<'a> Asking<'a> {
    fn of(count: &'a watch::Sender<usize>) -> Self {
        count.send_modify(|count| *count += 1);
        Self(count)
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count = count.saturating_sub(1));
    }
}

impl Host {
    pub(crate) fn new(config: &ServerConfig) -> Self {
        Self(Arc::new(Inner {
            server: config.name.clone(),
            root: Url::from_directory_path(&config.workspace)
                .ok()
                .map(|url| url.as_str().trim_end_matches('/').to_owned()),
            calls: Mutex::default(),
            placed: AtomicU64::new(0),
            asking: watch::Sender::new(0),
            changes: watch::Sender::new(0),
        }))
    }

    fn calls(&self) -> std::sync::MutexGuard<'_, HashMap<ProgressToken, Open>> {
        self.0.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a call whose request is on its way.
    pub(crate) fn wait(&self, token: ProgressToken, person: Arc<dyn Person>) -> Waiting {
        let (beats, receiver) = watch::channel(0);
        let open = Open {
            place: self.0.placed.fetch_add(1, Ordering::Relaxed),
            person,
            beats,
        };
        self.calls().insert(token.clone(), open);
        Waiting {
            host: self.clone(),
            token,
            beats: receiver,
        }
    }

    /// How many questions are with the person, now and later.
    pub(crate) fn asking(&self) -> watch::Receiver<usize> {
        self.0.asking.subscribe()
    }

    /// How often the server said that its tools have changed, now and later.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.0.changes.subscribe()
    }

    /// The server said that its tools have changed.
    pub(crate) fn tools_changed(&self) {
        self.0.changes.send_modify(|count| *count += 1);
    }

    /// The person behind the call that waits longest: the older versions of the protocol don't
    /// tell for which call something is asked.
    fn somebody(&self) -> Option<Arc<dyn Person>> {
        let calls = self.calls();
        let oldest = calls.values().min_by_key(|open| open.place);
        oldest.map(|open| open.person.clone())
    }

    /// Puts a question to the person, or says to the server why not. `person` is the one behind
    /// the call that it belongs to, where the protocol tells.
    pub(crate) async fn elicit(
        &self,
        asked: &ElicitRequestParams,
        person: Option<Arc<dyn Person>>,
    ) -> ElicitResult {
        let server = &self.0.server;
        let Some(person) = person.or_else(|| self.somebody()) else {
            tracing::warn!("MCP server {server} asked something outside of any call");
            return ElicitResult::new(ElicitationAction::Decline);
        };
        let question = match elicit::question(server, asked) {
            Ok(question) => question,
            Err(why) => {
                let refused = RefusedQuestion {
                    server: server.clone(),
                    message: elicit::message(asked),
                    why: why.0,
                };
                person.told_of(refused).await;
                return ElicitResult::new(ElicitationAction::Decline);
            }
        };
        let asking = Asking::of(&self.0.asking);
        let answer = person.ask(question).await;
        drop(asking);
        if let Answer::Nobody(why) = &answer {
            tracing::warn!("MCP server {server} asked in vain: {why}");
        }
        elicit::result(asked, answer)
    }

    /// Tells the person that the server asked for a model's answer, which it does not get.
    pub(crate) async fn refuse_sampling(&self, person: Option<Arc<dyn Person>>) {
        let Some(person) = person.or_else(|| self.somebody()) else {
            return;
        };
        let refused = RefusedQuestion {
            server: self.0.server.clone(),
            message: String::new(),
            why: "It asked for the answer of a model, which no server gets: what a model is asked, and what that costs, is the run's to decide.".to_owned(),
        };
        person.told_of(refused).await;
    }

    /// The folders that the server may work in: the workspace.
    pub(crate) fn roots(&self) -> ListRootsResult {
        let root = |uri: &String| Root::new(uri.clone()).with_name("workspace");
        ListRootsResult::new(self.0.root.iter().map(root).collect())
    }
}

impl ClientHandler for Host {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.roots = Some(RootsCapabilities::default());
        capabilities.elicitation = Some(
            ElicitationCapability::new()
                .with_form(FormElicitationCapability::default())
                .with_url(UrlElicitationCapability::default()),
        );
        let us = Implementation::new("longrein", HARNESS_VERSION);
        let mut config = ClientConfig::new(capabilities, us);
        config.protocol_version = ProtocolVersion::V_2025_11_25;
        config
    }

    async fn create_message(
        &self,
        _params: CreateMessageRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        self.refuse_sampling(None).await;
        Err(ErrorData::new(
            ErrorCode::METHOD_NOT_FOUND,
            NO_SAMPLING,
            None,
        ))
    }

    async fn list_roots(
        &self,
        _context: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        Ok(self.roots())
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        tokio::select! {
            result = self.elicit(&request, None) => Ok(result),
            () = context.ct.cancelled() => Ok(ElicitResult::new(ElicitationAction::Cancel)),
        }
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        if let Some(open) = self.calls().get(&params.progress_token) {
            open.beats
                .send_modify(|count| *count = count.wrapping_add(1));
        }
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.tools_changed();
    }
}

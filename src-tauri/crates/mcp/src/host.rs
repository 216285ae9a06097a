//! What a server may ask of us: its roots, a question to the person, and, refused, a model.

#![expect(
    deprecated,
    reason = "servers of the older versions still ask for roots and for models"
)]

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use longrein_protocol::{ActionId, HARNESS_VERSION};
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
use crate::person::{Answer, Person};

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
    person: Arc<dyn Person>,
    /// Calls that wait for an answer, by the token of their progress.
    calls: Mutex<HashMap<ProgressToken, Open>>,
    /// How many questions are with the person.
    asking: watch::Sender<usize>,
    /// How often the server said that its tools have changed.
    changes: watch::Sender<u64>,
}

struct Open {
    action: ActionId,
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
            person: config.person.clone(),
            calls: Mutex::default(),
            asking: watch::Sender::new(0),
            changes: watch::Sender::new(0),
        }))
    }

    fn calls(&self) -> std::sync::MutexGuard<'_, HashMap<ProgressToken, Open>> {
        self.0.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a call whose request is on its way.
    pub(crate) fn wait(&self, token: ProgressToken, action: ActionId) -> Waiting {
        let (beats, receiver) = watch::channel(0);
        self.calls().insert(token.clone(), Open { action, beats });
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

    /// The one call that is open; `None` where there are several.
    fn only_call(&self) -> Option<ActionId> {
        let calls = self.calls();
        let mut actions: Vec<ActionId> = calls.values().map(|open| open.action.clone()).collect();
        drop(calls);
        actions.sort();
        actions.dedup();
        let only = actions.pop()?;
        actions.is_empty().then_some(only)
    }

    /// Puts a question to the person, or says to the server why not. `action` is the call that it
    /// belongs to, where the protocol tells.
    pub(crate) async fn elicit(
        &self,
        asked: &ElicitRequestParams,
        action: Option<ActionId>,
    ) -> ElicitResult {
        let action = action.or_else(|| self.only_call());
        let question = match elicit::question(&self.0.server, action, asked) {
            Ok(question) => question,
            Err(refused) => {
                tracing::warn!(
                    "a question of MCP server {} was refused: {}",
                    self.0.server,
                    refused.0
                );
                return ElicitResult::new(ElicitationAction::Decline);
            }
        };
        let asking = Asking::of(&self.0.asking);
        let answer = self.0.person.ask(question).await;
        drop(asking);
        if let Answer::Nobody(why) = &answer {
            tracing::warn!("MCP server {} asked in vain: {why}", self.0.server);
        }
        elicit::result(asked, answer)
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

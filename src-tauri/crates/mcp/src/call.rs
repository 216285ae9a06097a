//! One request that may take long: its answer, awaited with an eye on its signs of life; the
//! questions that come in its place, answered; and, when nobody waits for it any more, its end
//! told to the server.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use longrein_runtime::ports::{CancellationToken, Person};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, CancelledNotificationParam,
    ClientRequest, ElicitRequestParams, ElicitationAction, ErrorData, InputRequest,
    InputRequiredResult, ReadResourceRequest, ReadResourceRequestParams, ReadResourceResult,
    RequestId, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient, ServiceError};
use serde_json::Value;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::host::NO_SAMPLING;
use crate::live::Live;

/// How often one call may ask back.
const ROUNDS_MAX: usize = 10;

/// How many questions one answer may bring.
const QUESTIONS_MAX: usize = 16;

/// How long a call that only asks to be made again waits, times the number of the round.
const ROUND_PAUSE: Duration = Duration::from_millis(200);

/// How long the server is told that nobody waits any more.
const CANCEL_LIMIT: Duration = Duration::from_secs(5);

/// The error of servers that want the person to visit a page first.
const URL_WANTED: i32 = -32042;

/// Why a call is told to be over.
const CANCEL_REASON: &str = "nobody waits for the answer any more";

/// How long a call may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// From its last sign of life.
    pub(crate) idle: Duration,
    /// Altogether, the time that the person takes to answer questions not counted.
    pub(crate) total: Duration,
}

/// A call without a result.
#[derive(Debug)]
pub(crate) enum Unanswered {
    /// The run does not want it any more.
    Cancelled,
    /// It did not come in time.
    Late(Duration),
    /// The server, or the way to it, failed.
    Failed(ServiceError),
    /// The server asked for what it does not get; why. It has not done it.
    Refused(String),
}

impl From<ServiceError> for Unanswered {
    fn from(error: ServiceError) -> Self {
        Self::Failed(error)
    }
}

/// What a call needs besides its parameters.
pub(crate) struct Call<'a> {
    pub(crate) live: &'a Live,
    pub(crate) person: &'a Arc<dyn Person>,
    pub(crate) patience: Patience,
    pub(crate) cancel: &'a CancellationToken,
}

impl Call<'_> {
    /// Calls a tool, answering what the server asks in between.
    pub(crate) async fn tool(
        &self,
        mut params: CallToolRequestParams,
    ) -> Result<CallToolResult, Unanswered> {
        let mut has_visited = false;
        for round in 0..ROUNDS_MAX {
            let request = ClientRequest::CallToolRequest(CallToolRequest::new(params.clone()));
            match self.ask(request).await {
                Ok(ServerResult::CallToolResult(result)) => return Ok(result),
                Ok(ServerResult::InputRequiredResult(wanted)) => {
                    let answered = self.answer(wanted, round).await?;
                    params.input_responses = answered.responses;
                    params.request_state = answered.state;
                }
                Ok(ServerResult::CreateTaskResult(_)) => {
                    return Err(Unanswered::Failed(ServiceError::UnexpectedResponse));
                }
                // A result without any content; the library takes it for something else.
                Ok(ServerResult::EmptyResult(_) | ServerResult::TaskAckResult(_)) => {
                    return Ok(CallToolResult::default());
                }
                Ok(_) => return Err(Unanswered::Failed(ServiceError::UnexpectedResponse)),
                Err(Unanswered::Failed(ServiceError::McpError(error)))
                    if error.code.0 == URL_WANTED && !has_visited =>
                {
                    has_visited = true;
                    self.visit(&error).await?;
                }
                Err(error) => return Err(error),
            }
        }
        Err(Unanswered::Refused(format!(
            "it asked back {ROUNDS_MAX} times without an end"
        )))
    }

    /// Reads a resource, answering what the server asks in between.
    pub(crate) async fn resource(
        &self,
        mut params: ReadResourceRequestParams,
    ) -> Result<ReadResourceResult, Unanswered> {
        for round in 0..ROUNDS_MAX {
            let request =
                ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params.clone()));
            match self.ask(request).await? {
                ServerResult::ReadResourceResult(result) => return Ok(result),
                ServerResult::InputRequiredResult(wanted) => {
                    let answered = self.answer(wanted, round).await?;
                    params.input_responses = answered.responses;
                    params.request_state = answered.state;
                }
                _ => return Err(Unanswered::Failed(ServiceError::UnexpectedResponse)),
            }
        }
        Err(Unanswered::Refused(format!(
            "it asked back {ROUNDS_MAX} times without an end"
        )))
    }

    /// Sends one request and waits for its answer.
    pub(crate) async fn ask(&self, request: ClientRequest) -> Result<ServerResult, Unanswered> {
        let host = &self.live.host;
        let mut handle = self
            .live
            .peer
            .send_request_with_option(request, PeerRequestOptions::no_options())
            .await?;
        let mut abandoned = Abandoned::new(&self.live.peer, handle.id.clone());
        let mut waiting = host.wait(handle.progress_token.clone(), self.person.clone());
        let mut asking = host.asking();
        let mut ends = Deadlines::new(self.patience);
        loop {
            let is_asking = *asking.borrow_and_update() > 0;
            ends.hold(is_asking);
            tokio::select! {
                biased;
                answer = &mut handle.rx => {
                    abandoned.disarm();
                    return match answer {
                        Ok(answer) => Ok(answer?),
                        Err(_) => Err(ServiceError::TransportClosed.into()),
                    };
                }
                () = self.cancel.cancelled() => return Err(Unanswered::Cancelled),
                Ok(()) = waiting.beats.changed() => ends.sign_of_life(),
                Ok(()) = asking.changed() => {}
                () = sleep_until(ends.idle), if !is_asking => {
                    return Err(Unanswered::Late(self.patience.idle));
                }
                () = sleep_until(ends.total), if !is_asking => {
                    return Err(Unanswered::Late(self.patience.total));
                }
            }
        }
    }

    /// Answers what came in the place of a result.
    async fn answer(
        &self,
        wanted: InputRequiredResult,
        round: usize,
    ) -> Result<Answered, Unanswered> {
        let requests = wanted.input_requests.unwrap_or_default();
        if requests.len() > QUESTIONS_MAX {
            return Err(Unanswered::Refused(format!(
                "it asked {} questions at once; at most {QUESTIONS_MAX} are taken",
                requests.len()
            )));
        }
        if requests.is_empty() {
            if wanted.request_state.is_none() {
                return Err(Unanswered::Failed(ServiceError::UnexpectedResponse));
            }
            let pause = ROUND_PAUSE.saturating_mul(u32::try_from(round + 1).unwrap_or(u32::MAX));
            tokio::select! {
                () = sleep(pause) => {}
                () = self.cancel.cancelled() => return Err(Unanswered::Cancelled),
            }
        }
        let mut responses = BTreeMap::new();
        for (key, request) in requests {
            let response = match request {
                InputRequest::Elicitation(request) => self.elicit(&request.params).await?,
                InputRequest::ListRoots(_) => value_of(&self.live.host.roots()),
                InputRequest::CreateMessage(_) => {
                    self.live
                        .host
                        .refuse_sampling(Some(self.person.clone()))
                        .await;
                    return Err(Unanswered::Refused(format!(
                        "it asked for a model's answer ({NO_SAMPLING})"
                    )));
                }
                _ => {
                    return Err(Unanswered::Refused(
                        "it asked for something that this version does not know".to_owned(),
                    ));
                }
            };
            responses.insert(key, response);
        }
        Ok(Answered {
            responses: (!responses.is_empty()).then_some(responses),
            state: wanted.request_state,
        })
    }

    async fn elicit(&self, asked: &ElicitRequestParams) -> Result<Value, Unanswered> {
        let asking = self.live.host.elicit(asked, Some(self.person.clone()));
        tokio::select! {
            result = asking => Ok(value_of(&result)),
            () = self.cancel.cancelled() => Err(Unanswered::Cancelled),
        }
    }

    /// Lets the person visit the pages that an error names.
    async fn visit(&self, error: &ErrorData) -> Result<(), Unanswered> {
        let wanted = error
            .data
            .as_ref()
            .and_then(|data| data.get("elicitations"));
        let pages: Vec<ElicitRequestParams> = wanted
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .take(QUESTIONS_MAX)
            .filter_map(|page| serde_json::from_value(page.clone()).ok())
            .collect();
        if pages.is_empty() {
            return Err(ServiceError::McpError(error.clone()).into());
        }
        for page in &pages {
            let asking = self.live.host.elicit(page, Some(self.person.clone()));
            let result = tokio::select! {
                result = asking => result,
                () = self.cancel.cancelled() => return Err(Unanswered::Cancelled),
            };
            if result.action != ElicitationAction::Accept {
                return Err(Unanswered::Refused(
                    "it wants a page to be visited first, and it was not".to_owned(),
                ));
            }
        }
        Ok(())
    }
}

/// When a call is given up. Neither end comes nearer while a question is with the person.
struct Deadlines {
    patience: Patience,
    idle: Instant,
    total: Instant,
    held_since: Option<Instant>,
}

impl Deadlines {
    fn new(patience: Patience) -> Self {
        let now = Instant::now();
        Self {
            patience,
            idle: now + patience.idle,
            total: now + patience.total,
            held_since: None,
        }
    }

    fn sign_of_life(&mut self) {
        self.idle = Instant::now() + self.patience.idle;
    }

    /// Holds them, or lets them go on where they stood; an answer is a sign of life.
    fn hold(&mut self, is_asking: bool) {
        match (self.held_since, is_asking) {
            (None, true) => self.held_since = Some(Instant::now()),
            (Some(since), false) => {
                self.held_since = None;
                self.total += since.elapsed();
                self.sign_of_life();
            }
            _ => {}
        }
    }
}

/// What a request is made again with.
struct Answered {
    responses: Option<BTreeMap<String, Value>>,
    state: Option<String>,
}

fn value_of(result: &impl serde::Serialize) -> Value {
    // What the library sends by itself can be written; a failure would say nothing.
    serde_json::to_value(result).unwrap_or(Value::Null)
}

/// Tells the server that nobody waits for a request any more, when it is dropped armed.
struct Abandoned {
    peer: Peer<RoleClient>,
    request: Option<RequestId>,
}

impl Abandoned {
    fn new(peer: &Peer<RoleClient>, request: RequestId) -> Self {
        Self {
            peer: peer.clone(),
            request: Some(request),
        }
    }

    fn disarm(&mut self) {
        self.request = None;
    }
}

impl Drop for Abandoned {
    fn drop(&mut self) {
        let (Some(request), Ok(runtime)) =
            (self.request.take(), tokio::runtime::Handle::try_current())
        else {
            return;
        };
        let peer = self.peer.clone();
        runtime.spawn(async move {
            let reason = Some(CANCEL_REASON.to_owned());
            let params = CancelledNotificationParam::new(Some(request), reason);
            // A server that does not take it learns nothing; nothing else depends on it.
            let _ = timeout(CANCEL_LIMIT, peer.notify_cancelled(params)).await;
        });
    }
}

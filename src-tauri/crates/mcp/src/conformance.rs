//! Our side of the official conformance suite: it starts a server of its own for each scenario and
//! watches what a client does there. This one does what a run would, with the same parts: reaches
//! the server, signs in where that is asked, lists, calls and reads, and answers questions with
//! what they propose. Only the person is played.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::join_all;
use longrein_keys::SecretText;
use longrein_runtime::ports::{
    Answer, CancellationToken, Person, Question, RefusedQuestion, Reply, Wants,
};
use rmcp::model::{CallToolRequestParams, ReadResourceRequestParams};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::auth::{
    Browser, BrowserError, ClientIdentity, SignIn, SignInError, TokenStore, TokenStoreError,
};
use crate::call::{Call, Patience, Unanswered};
use crate::config::{AddressConfig, Limits, Reach, ServerConfig};
use crate::error::McpError;
use crate::live::Live;

/// The document about us that the suite's authorization servers know.
const CLIENT_DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";

/// How often one request is signed in for before it is given up: what a server asks a third time
/// it will ask for ever.
const SIGN_INS_MAX: usize = 2;

/// How long a call may take.
const CALL_LIMIT: Duration = Duration::from_secs(20);

/// How many redirects from the page to sign in are followed, the last of them to ourselves.
const REDIRECTS_MAX: usize = 5;

/// How many tools, resources and prompts are tried.
const TRIED_MAX: usize = 50;

/// What the suite says of a scenario.
#[derive(Clone, Default)]
pub struct Scenario {
    /// The address of its server.
    pub url: String,
    /// What it gives besides (`MCP_CONFORMANCE_CONTEXT`), as JSON.
    pub context: Option<String>,
    /// A folder to work in.
    pub workspace: std::path::PathBuf,
}

/// Why a scenario could not be played to its end. Some of them mean it to be so.
#[derive(Debug, thiserror::Error)]
pub enum ConformanceError {
    /// The context is not what the suite says that it is.
    #[error("The scenario's context can't be read: {0}.")]
    Context(#[source] serde_json::Error),
    /// The server could not be reached.
    #[error(transparent)]
    Server(#[from] McpError),
    /// The person could not be signed in.
    #[error(transparent)]
    SignIn(#[from] SignInError),
    /// A call had no result.
    #[error("{tool} failed: {reason}.")]
    Call {
        /// The tool.
        tool: String,
        /// What was said.
        reason: String,
    },
}

#[derive(Deserialize, Default)]
struct Context {
    client_id: Option<String>,
    client_secret: Option<String>,
    #[serde(default, rename = "toolCalls")]
    tool_calls: Vec<ToolCall>,
}

#[derive(Deserialize, Clone)]
struct ToolCall {
    name: String,
    #[serde(default)]
    arguments: Map<String, Value>,
}

/// Plays one scenario. What it did is in the suite's own report.
///
/// # Errors
/// [`ConformanceError`]; the suite decides whether that was right.
pub async fn play(scenario: Scenario) -> Result<(), ConformanceError> {
    let context: Context = match scenario.context.as_deref().filter(|text| !text.is_empty()) {
        Some(text) => serde_json::from_str(text).map_err(ConformanceError::Context)?,
        None => Context::default(),
    };
    let player = Player::new(&scenario, &context);
    let live = player.reach().await?;
    let calls = if context.tool_calls.is_empty() {
        sampled(&live)
    } else {
        context.tool_calls
    };
    let played = player.call_all(&live, calls).await;
    player.read_all(&live).await;
    live.close().await;
    played
}

struct Player {
    config: ServerConfig,
    sign_in: Arc<SignIn>,
}

impl Player {
    fn new(scenario: &Scenario, context: &Context) -> Self {
        let identity = ClientIdentity {
            id: context.client_id.clone(),
            secret: context.client_secret.as_deref().map(SecretText::exact),
            metadata_url: Some(CLIENT_DOCUMENT.to_owned()),
            scopes: Vec::new(),
        };
        let store = Arc::new(InMemory::default());
        let sign_in = Arc::new(SignIn::new(&scenario.url, identity, store));
        let config = ServerConfig {
            name: "conformance".to_owned(),
            reach: Reach::Address(AddressConfig {
                url: scenario.url.clone(),
                headers: BTreeMap::new(),
                sign_in: Some(sign_in.clone()),
            }),
            trusted: false,
            workspace: scenario.workspace.clone(),
            limits: Limits::default(),
        };
        Self { config, sign_in }
    }

    /// Reaches the server, signing in where that is asked.
    async fn reach(&self) -> Result<Arc<Live>, ConformanceError> {
        for _ in 0..SIGN_INS_MAX {
            match Live::open(&self.config).await {
                Err(McpError::SignIn { challenge, .. }) => {
                    self.sign_in
                        .sign_in(challenge.as_deref(), &Headless)
                        .await?;
                }
                reached => return Ok(reached?),
            }
        }
        Ok(Live::open(&self.config).await?)
    }

    /// Makes all calls at once; when one was not permitted, it is made again alone.
    async fn call_all(&self, live: &Live, calls: Vec<ToolCall>) -> Result<(), ConformanceError> {
        let made = join_all(calls.iter().map(|call| self.call(live, call))).await;
        for (call, made) in calls.iter().zip(made) {
            let mut made = made;
            for _ in 0..SIGN_INS_MAX {
                let challenge = match &made {
                    Err(Unanswered::Failed(error)) => error.auth_challenge().map(str::to_owned),
                    _ => None,
                };
                let Some(challenge) = challenge else {
                    break;
                };
                self.sign_in.sign_in(Some(&challenge), &Headless).await?;
                made = self.call(live, call).await;
            }
            made.map_err(|error| ConformanceError::Call {
                tool: call.name.clone(),
                reason: in_words(&error),
            })?;
        }
        Ok(())
    }

    async fn call(&self, live: &Live, call: &ToolCall) -> Result<(), Unanswered> {
        let params =
            CallToolRequestParams::new(call.name.clone()).with_arguments(call.arguments.clone());
        self.request(live, async |made| made.tool(params).await.map(|_| ()))
            .await
    }

    async fn request<T>(
        &self,
        live: &Live,
        make: impl AsyncFnOnce(Call<'_>) -> Result<T, Unanswered>,
    ) -> Result<T, Unanswered> {
        let person: Arc<dyn Person> = Arc::new(Agreeable);
        let cancel = CancellationToken::new();
        make(Call {
            live,
            person: &person,
            patience: Patience {
                idle: CALL_LIMIT,
                total: CALL_LIMIT,
            },
            cancel: &cancel,
        })
        .await
    }

    /// Reads resources and prompts, where the server has any. Whether they can be had is the
    /// scenario's business.
    async fn read_all(&self, live: &Live) {
        let Some(info) = live.peer.peer_info() else {
            return;
        };
        if info.capabilities.resources.is_some()
            && let Ok(Ok(page)) =
                tokio::time::timeout(CALL_LIMIT, live.peer.list_resources(None)).await
        {
            for resource in page.resources.into_iter().take(TRIED_MAX) {
                let params = ReadResourceRequestParams::new(resource.uri);
                let read = self.request(live, async |made| made.resource(params).await);
                if let Err(error) = read.await {
                    tracing::info!("a resource can't be read: {}", in_words(&error));
                }
            }
        }
        if info.capabilities.prompts.is_some()
            && let Ok(Ok(page)) =
                tokio::time::timeout(CALL_LIMIT, live.peer.list_prompts(None)).await
        {
            for prompt in page.prompts.into_iter().take(TRIED_MAX) {
                let arguments = prompt.arguments.unwrap_or_default().into_iter();
                let arguments: Map<String, Value> = arguments
                    .map(|argument| (argument.name.clone(), Value::from("x")))
                    .collect();
                let mut params = rmcp::model::GetPromptRequestParams::new(prompt.name);
                params.arguments = (!arguments.is_empty()).then_some(arguments);
                let got = live.peer.get_prompt_once(params);
                if let Ok(Err(error)) = tokio::time::timeout(CALL_LIMIT, got).await {
                    tracing::info!("a prompt can't be had: {error}");
                }
            }
        }
    }
}

fn in_words(error: &Unanswered) -> String {
    match error {
        Unanswered::Cancelled => "it was cancelled".to_owned(),
        Unanswered::Late(limit) => format!("it did not answer within {} s", limit.as_secs()),
        Unanswered::Refused(why) => why.clone(),
        Unanswered::Failed(error) => error.to_string(),
    }
}

/// A call of each tool, with arguments that its schema takes.
fn sampled(live: &Live) -> Vec<ToolCall> {
    let listing = live.listing();
    let mut calls = Vec::new();
    for listed in listing.tools.iter().take(TRIED_MAX) {
        let schema = &listed.tool.input_schema;
        let properties = schema.get("properties").and_then(Value::as_object);
        let needed = schema.get("required").and_then(Value::as_array);
        let mut arguments = Map::new();
        for (name, property) in properties.into_iter().flatten() {
            let is_needed = needed.is_some_and(|needed| needed.contains(&json!(name)));
            if name == "schema" {
                // A tool that takes a schema gets that of another one, as it was listed.
                let other = listing
                    .tools
                    .iter()
                    .find(|other| other.tool.name != listed.tool.name);
                if let Some(other) = other {
                    let schema = other.tool.input_schema.as_ref().clone();
                    arguments.insert(name.clone(), Value::Object(schema));
                }
            } else if is_needed {
                arguments.insert(name.clone(), sample(property));
            }
        }
        calls.push(ToolCall {
            name: listed.tool.name.to_string(),
            arguments,
        });
    }
    calls
}

fn sample(property: &Value) -> Value {
    if let Some(first) = property.get("enum").and_then(|values| values.get(0)) {
        return first.clone();
    }
    match property.get("type").and_then(Value::as_str) {
        Some("integer" | "number") => json!(3),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!("x"),
    }
}

/// A person who agrees to everything and takes what is proposed.
struct Agreeable;

#[async_trait]
impl Person for Agreeable {
    async fn ask(&self, question: Question) -> Answer {
        let mut values = Map::new();
        if let Wants::Form { fields } = question.wants {
            for field in fields.into_iter().filter(|field| field.default.is_none()) {
                if field.required {
                    values.insert(field.name.clone(), crate::elicit::proposed(&field));
                }
            }
        }
        Answer::Reply(Reply::Given { values })
    }

    async fn told_of(&self, refused: RefusedQuestion) {
        tracing::info!("refused: {}", refused.why);
    }
}

/// A browser that needs nobody: the suite's pages send it on at once.
struct Headless;

#[async_trait]
impl Browser for Headless {
    async fn open(&self, url: &str, _host: &str) -> Result<(), BrowserError> {
        let failed = |error: reqwest::Error| BrowserError(error.to_string());
        let http = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::limited(REDIRECTS_MAX))
            .timeout(CALL_LIMIT)
            .build()
            .map_err(failed)?;
        let url = url.to_owned();
        // Our own listener answers only once we wait for it.
        tokio::spawn(async move { http.get(url).send().await });
        Ok(())
    }
}

/// A store that forgets with the process.
#[derive(Default)]
struct InMemory(Mutex<Option<SecretText>>);

#[async_trait]
impl TokenStore for InMemory {
    async fn load(&self) -> Result<Option<SecretText>, TokenStoreError> {
        Ok(self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone())
    }

    async fn save(&self, token: SecretText) -> Result<(), TokenStoreError> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(token);
        Ok(())
    }

    async fn remove(&self) -> Result<(), TokenStoreError> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(())
    }

    async fn lock(&self) -> Result<Box<dyn Send + Sync>, TokenStoreError> {
        Ok(Box::new(()))
    }
}

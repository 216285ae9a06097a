//! A server of the person's: reached when it is started, reached again when it was lost.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use longrein_protocol::ToolErrorClass;
use longrein_protocol::agent::ToolSettings;
use longrein_runtime::ports::{Tool, ToolError};
use tokio::time::Instant;

use crate::clean::{self, Secrets};
use crate::config::ServerConfig;
use crate::confine::Confinement;
use crate::definition::Definition;
use crate::error::McpError;
use crate::listing::{Listing, ToolProblem};
use crate::live::Live;
use crate::memory;
use crate::prompts::{self, Prompt};
use crate::resources;
use crate::suspicion::Flag;
use crate::tool::McpTool;

/// How long the second attempt to reach a lost server waits; each later one waits twice as long.
const WAIT_FIRST: Duration = Duration::from_secs(1);

/// The longest wait between two attempts.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// A server that lived for so long was not at fault from the start: its attempts are counted anew.
const STEADY: Duration = Duration::from_secs(60);

/// The most bytes of what a server says that it is for.
const ABOUT_BYTES: usize = 2_000;

/// A running server. It ends with its whole process group when this is closed or dropped, even
/// while tools of it are still held; those then answer that it was closed.
///
/// When it ends by itself, or the connection is lost, the next call reaches it again, with growing
/// pauses when that fails.
pub struct McpServer {
    link: Arc<Link>,
}

impl McpServer {
    /// Starts or reaches the server and lists its tools. Must be called within a Tokio runtime.
    /// Nothing is sent to a program before its process group is on record.
    ///
    /// # Errors
    /// [`McpError`], which says what would mend it.
    pub async fn start(config: ServerConfig) -> Result<Self, McpError> {
        config.check()?;
        let live = Live::open(&config).await?;
        Ok(Self {
            link: Arc::new(Link::new(config, live)),
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.link.name()
    }

    /// Its tools as it lists them now, with what the person says of each
    /// (`[tools."server.tool"]`) filled in, and two to list and read its resources where it has
    /// any and no tools of these names.
    pub fn tools(&self, settings: &BTreeMap<String, ToolSettings>) -> Vec<Arc<dyn Tool>> {
        let listing = self.link.listing();
        let mut tools: Vec<Arc<dyn Tool>> = Vec::with_capacity(listing.tools.len());
        for listed in &listing.tools {
            tools.push(Arc::new(McpTool::new(listed, settings, self.link.clone())));
        }
        if listing.has_resources {
            tools.extend(resources::tools(&listing, settings, &self.link));
        }
        tools
    }

    /// The tools that it offers and that can't be used.
    pub fn problems(&self) -> Vec<ToolProblem> {
        self.link.listing().problems.clone()
    }

    /// What each of its tools is, as the server says it: what a person approves.
    pub fn definitions(&self) -> Vec<Definition> {
        let listing = self.link.listing();
        let definitions = listing.tools.iter().map(|listed| &listed.definition);
        definitions.cloned().collect()
    }

    /// What a person should see of its tools' words before they trust them.
    pub fn flags(&self) -> Vec<Flag> {
        let listing = self.link.listing();
        let flags = listing.tools.iter().flat_map(|listed| &listed.flags);
        flags.cloned().collect()
    }

    /// What the server says that it is for, plain and cut: what a search for tools may go by. No
    /// model is shown it.
    pub fn about(&self) -> String {
        let current = self.link.current();
        let Some(info) = current.as_ref().and_then(|live| live.peer.peer_info()) else {
            return String::new();
        };
        let named = info.server_info.as_ref();
        let said = [
            named.and_then(|named| named.title.as_deref()),
            named.and_then(|named| named.description.as_deref()),
            info.instructions.as_deref(),
        ];
        let said: Vec<&str> = said.into_iter().flatten().collect();
        clean::head(&clean::plain(&said.join(" ")), ABOUT_BYTES)
    }

    /// The version of the protocol that is spoken, as a date.
    pub fn protocol_version(&self) -> Option<String> {
        let info = self.link.current()?.peer.peer_info()?;
        Some(info.protocol_version.to_string())
    }

    /// Prompts that it offers to the person.
    ///
    /// # Errors
    /// When it can't be reached or does not answer.
    pub async fn prompts(&self) -> Result<Vec<Prompt>, ToolError> {
        prompts::list(&self.link).await
    }

    /// Why it has ended; `None` while it runs.
    pub fn ended(&self) -> Option<String> {
        match self.link.current() {
            Some(live) => live.ended(),
            None => Some(CLOSED.to_owned()),
        }
    }

    /// Whether its program is kept away from the data folder; `None` where there is no program.
    pub fn confinement(&self) -> Option<Confinement> {
        Some(self.link.current()?.program.as_ref()?.confinement.clone())
    }

    /// The last 64 KB that its program wrote to standard error, safe to show; `None` where there is
    /// no program.
    pub fn last_words(&self) -> Option<String> {
        Some(self.link.current()?.program.as_ref()?.words.all())
    }

    /// The memory that its program and what that started hold, in bytes; `None` where that can't
    /// be told.
    pub fn memory_bytes(&self) -> Option<u64> {
        memory::of_group(self.link.current()?.program.as_ref()?.group.number())
    }

    /// Closes its input, waits a moment for it to end by itself, and ends its process group.
    pub async fn close(&self) {
        if let Some(live) = self.link.retire() {
            live.close().await;
        }
    }
}

impl Drop for McpServer {
    fn drop(&mut self) {
        if let Some(live) = self.link.retire() {
            live.begin_to_close();
            if let Some(program) = &live.program {
                program.group.end();
            }
        }
    }
}

/// What is said of a server that was closed by us.
const CLOSED: &str = "it was closed";

/// What the tools of a server share.
pub(crate) struct Link {
    config: ServerConfig,
    secrets: Secrets,
    current: Mutex<Option<Arc<Live>>>,
    /// What it offered when it was last there.
    last: Mutex<Arc<Listing>>,
    attempts: tokio::sync::Mutex<Attempts>,
    is_retired: AtomicBool,
}

/// How often a lost server was tried to be reached.
struct Attempts {
    /// In a row, without a steady life in between.
    count: u32,
    opened: Instant,
    not_before: Instant,
    why: String,
}

impl Link {
    fn new(config: ServerConfig, live: Arc<Live>) -> Self {
        let now = Instant::now();
        Self {
            secrets: config.secrets(),
            last: Mutex::new(live.listing()),
            current: Mutex::new(Some(live)),
            attempts: tokio::sync::Mutex::new(Attempts {
                count: 0,
                opened: now,
                not_before: now,
                why: String::new(),
            }),
            is_retired: AtomicBool::new(false),
            config,
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.config.name
    }

    pub(crate) fn config(&self) -> &ServerConfig {
        &self.config
    }

    pub(crate) fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    fn current(&self) -> Option<Arc<Live>> {
        lock(&self.current).clone()
    }

    fn listing(&self) -> Arc<Listing> {
        if let Some(live) = self.current() {
            *lock(&self.last) = live.listing();
        }
        lock(&self.last).clone()
    }

    /// Ends it for good: nothing reaches it again.
    fn retire(&self) -> Option<Arc<Live>> {
        self.is_retired.store(true, Ordering::SeqCst);
        lock(&self.current).take()
    }

    /// The way to the server, which is reached again when it was lost.
    ///
    /// # Errors
    /// Why `tool` was not called.
    pub(crate) async fn live(&self, tool: &str) -> Result<Arc<Live>, ToolError> {
        if let Some(live) = self.current().filter(|live| live.is_open()) {
            return Ok(live);
        }
        let mut attempts = self.attempts.lock().await;
        if self.is_retired.load(Ordering::SeqCst) {
            return Err(not_called(
                tool,
                &format!("its server has ended ({CLOSED})"),
            ));
        }
        let lost = self.current();
        if let Some(live) = lost.clone().filter(|live| live.is_open()) {
            return Ok(live);
        }
        let now = Instant::now();
        if now < attempts.not_before {
            let seconds = (attempts.not_before - now).as_secs() + 1;
            let why = format!(
                "its server has ended ({}) and is reached again in {seconds} s at the earliest",
                attempts.why
            );
            return Err(not_called(tool, &why));
        }
        if let Some(lost) = lost {
            attempts.why = lost.why_ended().await;
            // Nothing of what was lost may live on beside what comes.
            lost.close().await;
        }
        if now.duration_since(attempts.opened) > STEADY {
            attempts.count = 0;
        }
        attempts.count = attempts.count.saturating_add(1);
        attempts.not_before = now + wait(attempts.count);
        let opened = Live::open(&self.config).await.map_err(|error| {
            attempts.why = error.to_string();
            unreachable(tool, &error)
        })?;
        attempts.opened = Instant::now();
        if self.is_retired.load(Ordering::SeqCst) {
            opened.close().await;
            return Err(not_called(
                tool,
                &format!("its server has ended ({CLOSED})"),
            ));
        }
        *lock(&self.current) = Some(opened.clone());
        Ok(opened)
    }
}

/// How long after an attempt the next one waits; none after the first.
fn wait(count: u32) -> Duration {
    match count {
        0 | 1 => Duration::ZERO,
        count => WAIT_MAX.min(WAIT_FIRST.saturating_mul(1 << (count - 2).min(16))),
    }
}

/// The error of a call that never reached the server.
pub(crate) fn not_called(tool: &str, why: &str) -> ToolError {
    ToolError::new(
        ToolErrorClass::Temporary,
        format!("{tool} was not called: {why}."),
    )
}

fn unreachable(tool: &str, error: &McpError) -> ToolError {
    let class = match error {
        McpError::SignIn { .. } => ToolErrorClass::NotPermitted,
        _ => ToolErrorClass::Temporary,
    };
    ToolError::new(class, format!("{tool} was not called: {error}"))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_wait_longer_each_time_and_never_for_ever() {
        let waits: Vec<u64> = (0..6).map(|count| wait(count).as_secs()).collect();
        assert_eq!(waits, [0, 0, 1, 2, 4, 8]);
        assert_eq!(wait(u32::MAX), WAIT_MAX);
    }
}

//! Reading a run from its log: the whole state, and the exact bytes of any of its requests.

use longrein_core::run::Run;
use longrein_protocol::event::{Fragment, ModelRequested, Payload};
use longrein_protocol::{Event, RunId};
use longrein_store::log::{Damage, Log, LogError};

use crate::wire::{self, Sealed};

/// Events that are read at once.
const PAGE_EVENTS: u32 = 1_000;

/// A run as its log says.
#[derive(Debug)]
pub struct History {
    /// The folded state.
    pub run: Run,
    /// Why the log could be read only so far. Such a run is not continued.
    pub damage: Option<Damage>,
}

/// Folds a run from its log, page by page.
///
/// # Errors
/// [`LogError::NoRun`] when there is no such run, or what reading gives.
pub async fn load(log: &dyn Log, run: RunId) -> Result<History, LogError> {
    let mut state = Run::default();
    let damage = each_event(log, run, &mut |event| state.apply(event)).await?;
    if state.id.is_none() && damage.is_none() {
        return Err(LogError::NoRun(run));
    }
    Ok(History { run: state, damage })
}

/// Calls `visit` for every event of a run, in order.
///
/// # Errors
/// What reading gives.
pub async fn each_event(
    log: &dyn Log,
    run: RunId,
    visit: &mut (dyn FnMut(&Event) + Send),
) -> Result<Option<Damage>, LogError> {
    let mut from = 1;
    loop {
        let reading = log.read(run, from, PAGE_EVENTS).await?;
        let count = reading.events.len() as u32;
        reading.events.iter().for_each(&mut *visit);
        if reading.damage.is_some() || count < PAGE_EVENTS {
            return Ok(reading.damage);
        }
        from += count;
    }
}

/// A request of a run, rebuilt from its log.
#[derive(Clone)]
pub struct PastRequest {
    /// The event that announced it.
    pub requested: ModelRequested,
    /// Its fragments.
    pub fragments: Vec<Fragment>,
    /// Its bytes, made of the fragments.
    pub sealed: Sealed,
}

/// Rebuilds the `number`th request of a run, counted from 1; retries are not counted.
///
/// # Errors
/// What reading gives; `None` when there is no such request.
pub async fn request(
    log: &dyn Log,
    run: RunId,
    number: u32,
) -> Result<Option<PastRequest>, LogError> {
    let mut fragments: Vec<Fragment> = Vec::new();
    let mut count = 0;
    let mut found = None;
    each_event(log, run, &mut |event| match &event.payload {
        Payload::ContextCompiled(compiled) if found.is_none() => {
            fragments.truncate(compiled.keep as usize);
            fragments.extend(compiled.add.iter().cloned());
        }
        Payload::ModelRequested(requested) if requested.attempt == 1 => {
            count += 1;
            if count == number {
                found = Some(requested.clone());
            }
        }
        _ => {}
    })
    .await?;
    let Some(requested) = found else {
        return Ok(None);
    };
    let sealed = wire::rebuild(log, &fragments).await?;
    Ok(Some(PastRequest {
        requested,
        fragments,
        sealed,
    }))
}

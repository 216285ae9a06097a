//! From an address to a page.

use std::sync::Arc;

use longrein_protocol::body::BlobHash;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::address::Address;
use crate::cache::{Cache, Key};
use crate::client::{Answer, Deadline, Http, Wish};
use crate::error::{FetchError, Stage};
use crate::guard::{Guard, LoopbackPermit};
use crate::limits::{FETCHES_LIMIT, Limits, READINGS_LIMIT};
use crate::page::{Capture, Page, Part, Redirect};
use crate::read::{self, PdfReader};
use crate::resolve::{ResolveHost, SystemResolver};

/// The person's word that a page may be read although its site asks programs not to. Only code
/// that has asked the person may make one; no model can.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PersonAllows(());

impl PersonAllows {
    /// Says that the person was asked about this page and allowed it.
    pub const fn this_page() -> Self {
        Self(())
    }
}

/// What is wanted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// A whole address, `https://…`. A fragment is ignored.
    pub address: String,
    /// Which part is read.
    pub part: Part,
    /// When it is asked, in milliseconds since 1970: it becomes the time of the capture.
    pub fetched_at_ms: u64,
    /// The person's word to leave `robots.txt` aside; without it, it is obeyed.
    pub ignore_robots: Option<PersonAllows>,
}

impl Request {
    /// The main part of the page at this address, `robots.txt` obeyed.
    pub fn new(address: impl Into<String>, fetched_at_ms: u64) -> Self {
        Self {
            address: address.into(),
            part: Part::Main,
            fetched_at_ms,
            ignore_robots: None,
        }
    }
}

/// What a fetch gave.
#[derive(Clone, PartialEq, Debug)]
pub struct Fetched {
    /// The page.
    pub page: Arc<Page>,
    /// Whether its bytes are those of an earlier fetch of the same run.
    pub from_cache: bool,
}

/// What a [`Fetcher`] is made of.
pub struct Settings {
    /// Its limits.
    pub limits: Limits,
    /// How it names itself: a product and a version.
    pub user_agent: String,
    /// Who finds hosts.
    pub resolver: Arc<dyn ResolveHost>,
    /// Who reads PDFs. Without it, a PDF is an unsupported type.
    pub pdf: Option<Arc<PdfReader>>,
    /// Whether the environment names a proxy ([`crate::environment_names_a_proxy`]). It is never
    /// used, since nobody could check where it connects to; a page that can't be reached says so.
    pub proxied: bool,
    /// Lets a test reach its own server.
    pub loopback: Option<LoopbackPermit>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            user_agent: concat!("Longrein/", env!("CARGO_PKG_VERSION")).to_owned(),
            resolver: Arc::new(SystemResolver),
            pdf: None,
            proxied: false,
            loopback: None,
        }
    }
}

/// Fetches pages of the public web. One serves the whole process; what a run has fetched is in
/// the run's [`Cache`].
pub struct Fetcher {
    http: Http,
    pdf: Option<Arc<PdfReader>>,
    fetches: Arc<Semaphore>,
    readings: Arc<Semaphore>,
}

impl Fetcher {
    /// A fetcher with these settings. Nothing is connected to before the first fetch.
    pub fn new(settings: Settings) -> Self {
        let guard = Guard {
            loopback: settings.loopback,
        };
        Self {
            http: Http::new(
                settings.limits,
                guard,
                settings.proxied,
                settings.user_agent,
                settings.resolver,
            ),
            pdf: settings.pdf,
            fetches: Arc::new(Semaphore::new(FETCHES_LIMIT)),
            readings: Arc::new(Semaphore::new(READINGS_LIMIT)),
        }
    }

    /// Fetches a page and reads it, or takes it from the run's cache. Dropping the future ends
    /// the connection.
    ///
    /// # Errors
    /// A [`FetchError`] with its class, what happened and what would help.
    pub async fn fetch(&self, request: &Request, cache: &Cache) -> Result<Fetched, FetchError> {
        let address = Address::parse(&request.address, self.http.guard)?;
        let key = Key {
            address: address.to_string(),
            part: request.part,
            robots_ignored: request.ignore_robots.is_some(),
        };
        if let Some(page) = cache.page(&key) {
            return Ok(Fetched {
                page,
                from_cache: true,
            });
        }
        let (capture, from_cache) = match cache.other_part(&key) {
            Some(page) => (Arc::clone(&page.capture), true),
            None => {
                let capture = self.capture(&address, request, cache).await?;
                (Arc::new(capture), false)
            }
        };
        let page = Arc::new(self.read(&address, capture, request.part).await?);
        cache.keep(key, Arc::clone(&page));
        Ok(Fetched { page, from_cache })
    }

    async fn capture(
        &self,
        address: &Address,
        request: &Request,
        cache: &Cache,
    ) -> Result<Capture, FetchError> {
        let deadline = Deadline::after(self.http.limits.total);
        let _place = place(&self.fetches, address, deadline).await?;
        let mut at = address.clone();
        let mut redirects = Vec::new();
        let wish = Wish {
            bytes: self.http.limits.page_bytes,
            cut: false,
            deadline,
        };
        loop {
            if request.ignore_robots.is_none() {
                cache.rules.check(&self.http, &at, deadline).await?;
            }
            let answer = self.http.get(&at, wish).await?;
            let Some(next) = self.next(&at, &answer)? else {
                return Ok(Capture {
                    requested: address.to_string(),
                    address: at.to_string(),
                    redirects,
                    status: answer.status,
                    fetched_at_ms: request.fetched_at_ms,
                    content_type: answer.content_type,
                    hash: BlobHash::of(&answer.bytes),
                    bytes: answer.bytes,
                    robots_ignored: request.ignore_robots.is_some(),
                });
            };
            if redirects.len() >= self.http.limits.redirects {
                return Err(FetchError::TooManyRedirects {
                    address: address.shown(),
                    limit: self.http.limits.redirects,
                    last: next.shown(),
                });
            }
            redirects.push(Redirect {
                status: answer.status,
                from: at.to_string(),
                to: next.to_string(),
            });
            at = next;
        }
    }

    /// Where the answer sends on to; `None` when it is the page.
    fn next(&self, at: &Address, answer: &Answer) -> Result<Option<Address>, FetchError> {
        match (answer.status, &answer.location) {
            (200..=299, _) => Ok(None),
            (301 | 302 | 303 | 307 | 308, Some(location)) => {
                at.join(location, self.http.guard).map(Some)
            }
            (404 | 410, _) => Err(FetchError::NotFound {
                address: at.shown(),
                status: answer.status,
            }),
            _ => Err(FetchError::HttpStatus {
                address: at.shown(),
                status: answer.status,
                retry_after: answer.retry_after,
            }),
        }
    }

    /// Makes text of the bytes on a thread where that may take its time. A reading that can't be
    /// ended keeps its place until it ends by itself, so that there are never many.
    async fn read(
        &self,
        address: &Address,
        capture: Arc<Capture>,
        part: Part,
    ) -> Result<Page, FetchError> {
        let deadline = Deadline::after(self.http.limits.reading);
        let place = place(&self.readings, address, deadline).await?;
        let (pdf, text_bytes) = (self.pdf.clone(), self.http.limits.text_bytes);
        let reading = tokio::task::spawn_blocking(move || {
            let _place = place;
            read::page(&capture, part, pdf.as_deref(), text_bytes)
        });
        let read = deadline
            .wait_whole(address, Stage::Reading, reading)
            .await?;
        match read {
            Ok(page) => page,
            Err(_) => Err(FetchError::Unreadable {
                address: address.shown(),
                why: "its reader broke off".to_owned(),
            }),
        }
    }
}

async fn place(
    places: &Arc<Semaphore>,
    address: &Address,
    deadline: Deadline,
) -> Result<OwnedSemaphorePermit, FetchError> {
    let permit = deadline
        .wait_whole(address, Stage::Queue, Arc::clone(places).acquire_owned())
        .await?;
    // The semaphore is never closed while its fetcher stands.
    permit.map_err(|_| FetchError::Unreadable {
        address: address.shown(),
        why: "fetching has ended".to_owned(),
    })
}

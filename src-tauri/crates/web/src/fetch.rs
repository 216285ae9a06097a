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

/// The person's word that pages may be read although their sites ask programs not to. Only code
/// that has the person's word may make one; no model can.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PersonAllows(Allowed);

#[derive(Clone, PartialEq, Eq, Debug)]
enum Allowed {
    ThisPage,
    Hosts(Vec<String>),
}

impl PersonAllows {
    /// Says that the person was asked about this page, wherever it sends on to, and allowed it.
    pub const fn this_page() -> Self {
        Self(Allowed::ThisPage)
    }

    /// Says that the person named these hosts: `example.org`, or `*.example.org` for it and those
    /// beneath it. `None` where there are none.
    pub fn hosts(hosts: &[String]) -> Option<Self> {
        let named: Vec<String> = hosts.iter().map(|host| host.to_ascii_lowercase()).collect();
        (!named.is_empty()).then_some(Self(Allowed::Hosts(named)))
    }

    /// Whether the word holds for pages of this host.
    fn holds_for(&self, host: &str) -> bool {
        let Allowed::Hosts(named) = &self.0 else {
            return true;
        };
        named
            .iter()
            .any(|pattern| match pattern.strip_prefix("*.") {
                Some(domain) => {
                    let beneath = || host.strip_suffix(domain)?.strip_suffix('.');
                    host == domain || beneath().is_some_and(|rest| !rest.is_empty())
                }
                None => host == pattern,
            })
    }
}

/// What is to become of a redirect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Onward {
    /// It is followed.
    Follow,
    /// It is not followed by itself: whoever asked has to ask for that address.
    Ask,
    /// It is not followed, for this reason.
    Refuse(String),
}

/// Says whether a page may send on to an address, as it was said whether it may be fetched.
pub trait JudgeOnward: Send + Sync {
    /// What is to become of a redirect to `address`, which is whole and without a fragment.
    fn judge(&self, address: &str) -> Onward;
}

/// Follows every redirect; what is not the public internet is refused all the same.
#[derive(Clone, Copy, Debug)]
pub struct FollowAll;

impl JudgeOnward for FollowAll {
    fn judge(&self, _address: &str) -> Onward {
        Onward::Follow
    }
}

/// Passes where a page at `from` may send on to `to`. What needs asking is followed as long as it
/// stays with the same host, about which somebody was asked.
pub(crate) fn pass(
    judge: &dyn JudgeOnward,
    from: &Address,
    to: &Address,
) -> Result<(), FetchError> {
    let why = match judge.judge(&to.to_string()) {
        Onward::Follow => return Ok(()),
        Onward::Ask if from.host() == to.host() => return Ok(()),
        Onward::Ask => None,
        Onward::Refuse(why) => Some(why),
    };
    Err(FetchError::SendsElsewhere {
        address: from.shown(),
        to: to.to_string(),
        host: to.host().to_owned(),
        why,
    })
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

    fn ignores_robots(&self, address: &Address) -> bool {
        self.ignore_robots
            .as_ref()
            .is_some_and(|word| word.holds_for(address.host()))
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
        self.fetch_judged(request, cache, &FollowAll).await
    }

    /// Like [`Fetcher::fetch`]; no redirect is followed that `judge` does not let pass, and no page
    /// of the cache is given that was reached by one.
    ///
    /// # Errors
    /// As there, and [`FetchError::SendsElsewhere`].
    pub async fn fetch_judged(
        &self,
        request: &Request,
        cache: &Cache,
        judge: &dyn JudgeOnward,
    ) -> Result<Fetched, FetchError> {
        let address = Address::parse(&request.address, self.http.guard)?;
        let key = Key {
            address: address.to_string(),
            part: request.part,
            robots_ignored: request.ignores_robots(&address),
        };
        if let Some(page) = cache.page(&key) {
            self.pass_again(&page.capture, judge)?;
            return Ok(Fetched {
                page,
                from_cache: true,
            });
        }
        let (capture, from_cache) = match cache.other_part(&key) {
            Some(page) => {
                self.pass_again(&page.capture, judge)?;
                (Arc::clone(&page.capture), true)
            }
            None => {
                let capture = self.capture(&address, request, cache, judge).await?;
                (Arc::new(capture), false)
            }
        };
        let page = Arc::new(self.read(&address, capture, request.part).await?);
        cache.keep(key, Arc::clone(&page));
        Ok(Fetched { page, from_cache })
    }

    /// Judges the way to a page that was fetched before: what is allowed may have changed since.
    fn pass_again(&self, capture: &Capture, judge: &dyn JudgeOnward) -> Result<(), FetchError> {
        for redirect in &capture.redirects {
            let from = Address::parse(&redirect.from, self.http.guard)?;
            pass(
                judge,
                &from,
                &Address::parse(&redirect.to, self.http.guard)?,
            )?;
        }
        Ok(())
    }

    async fn capture(
        &self,
        address: &Address,
        request: &Request,
        cache: &Cache,
        judge: &dyn JudgeOnward,
    ) -> Result<Capture, FetchError> {
        let deadline = Deadline::after(self.http.limits.total);
        let _place = place(&self.fetches, address, deadline).await?;
        let mut at = address.clone();
        let mut redirects = Vec::new();
        let mut robots_ignored = false;
        let wish = Wish {
            bytes: self.http.limits.page_bytes,
            cut: false,
            deadline,
        };
        loop {
            if request.ignores_robots(&at) {
                robots_ignored = true;
            } else {
                let rules = &cache.rules;
                rules.check(&self.http, &at, deadline, judge).await?;
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
                    robots_ignored,
                });
            };
            if redirects.len() >= self.http.limits.redirects {
                return Err(FetchError::TooManyRedirects {
                    address: address.shown(),
                    limit: self.http.limits.redirects,
                    last: next.shown(),
                });
            }
            pass(judge, &at, &next)?;
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

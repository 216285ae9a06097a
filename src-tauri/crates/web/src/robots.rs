//! `robots.txt` as RFC 9309 says: fetched once a run for each site, and obeyed.

use std::sync::{Arc, Mutex, PoisonError};

use robotxt::Robots;
use url::Position;

use crate::address::Address;
use crate::client::{Deadline, Http, Wish};
use crate::error::FetchError;
use crate::fetch::{JudgeOnward, pass};
use crate::recent::Recent;
use crate::words::line;

/// The name by which `robots.txt` files call this program.
pub(crate) const PRODUCT: &str = "Longrein";
/// How many redirects of `robots.txt` are followed (RFC 9309, 2.3.1.2).
const REDIRECTS_LIMIT: usize = 5;
/// How many sites' rules are kept.
const SITES_LIMIT: usize = 256;
/// How many bytes of rules are kept in all.
const RULES_LIMIT_BYTES: usize = 16 * 1024 * 1024;
/// A little more than is parsed, so that the parser sees where the last whole line ends.
const FETCHED_LIMIT_BYTES: usize = robotxt::BYTE_LIMIT + 1024;

/// The rules of the sites that a run has met.
pub(crate) struct Rules(Mutex<Recent<String, Arc<Robots>>>);

impl Rules {
    pub fn new() -> Self {
        Self(Mutex::new(Recent::new(SITES_LIMIT, RULES_LIMIT_BYTES)))
    }

    /// Passes when the site lets programs read this address.
    pub async fn check(
        &self,
        http: &Http,
        address: &Address,
        deadline: Deadline,
        judge: &dyn JudgeOnward,
    ) -> Result<(), FetchError> {
        let site = address.url()[..Position::BeforePath].to_owned();
        let known = self.locked().get(&site);
        let robots = match known {
            Some(robots) => robots,
            None => {
                // A failure is not kept: it may have passed when the next page is wanted.
                let (robots, weight) = fetch(http, address, deadline, judge).await?;
                let robots = Arc::new(robots);
                self.locked().put(site, Arc::clone(&robots), weight);
                robots
            }
        };
        verdict(&robots, address)
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, Recent<String, Arc<Robots>>> {
        // A panic elsewhere leaves the map whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn verdict(robots: &Robots, address: &Address) -> Result<(), FetchError> {
    if robots.is_url_allowed(address.url()) {
        return Ok(());
    }
    let path: &str = &address.url()[Position::BeforePath..Position::AfterQuery];
    let rule = robots
        .matching_rule(path)
        .map_or("/", |rule| rule.pattern());
    Err(FetchError::RefusedByRobots {
        address: address.shown(),
        host: address.host().to_owned(),
        rule: line(&format!("Disallow: {rule}")),
    })
}

/// The rules of the site, and the bytes they came in.
async fn fetch(
    http: &Http,
    page: &Address,
    deadline: Deadline,
    judge: &dyn JudgeOnward,
) -> Result<(Robots, usize), FetchError> {
    let open = || (Robots::allow_all(), 1);
    let Ok(mut at) = page.join("/robots.txt", http.guard) else {
        return Ok(open());
    };
    let wish = Wish {
        bytes: FETCHED_LIMIT_BYTES,
        cut: true,
        deadline,
    };
    for _ in 0..=REDIRECTS_LIMIT {
        let answer = http.get(&at, wish).await?;
        match answer.status {
            200..=299 => {
                let robots = Robots::parse(&answer.bytes, PRODUCT);
                return Ok((robots, answer.bytes.len() + 1));
            }
            300..=399 => {
                let Some(location) = answer.location else {
                    return Ok(open());
                };
                at = match at.join(&location, http.guard) {
                    Ok(next) => {
                        pass(judge, &at, &next)?;
                        next
                    }
                    Err(FetchError::InvalidAddress { .. }) => return Ok(open()),
                    Err(error) => return Err(error),
                };
            }
            400..=499 => return Ok(open()),
            status => {
                return Err(FetchError::RobotsUnreachable {
                    host: page.host().to_owned(),
                    status,
                    retry_after: answer.retry_after,
                });
            }
        }
    }
    Ok(open())
}

//! Why a page could not be had: in classes that a model can act on, with what to do about it.

use std::net::IpAddr;
use std::time::Duration;

use serde::Serialize;

use crate::guard::Special;

/// What kind of failure it is, for whoever decides what to do next.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FetchErrorClass {
    /// The address can't be one of a page. Another address is needed.
    InvalidAddress,
    /// The address is not on the public internet. It is never fetched.
    PrivateAddress,
    /// The site asks programs not to read this page.
    RefusedByRobots,
    /// There is no such page.
    NotFound,
    /// The site answered with another error; it may say when to try again.
    HttpStatus,
    /// The page sends on for ever.
    TooManyRedirects,
    /// The page sends on to an address that nobody has allowed.
    SendsElsewhere,
    /// It has more bytes than are read.
    TooLarge,
    /// It took too long.
    TimedOut,
    /// It is something that can't be made into text.
    UnsupportedType,
    /// It says to be a document, and can't be read as one.
    Unreadable,
    /// The site could not be reached.
    Network,
}

/// Why an address can't be fetched, as its letters say.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum AddressFault {
    /// It is relative.
    #[error("it does not begin with https:// or http://")]
    NoScheme,
    /// Another protocol.
    #[error("{0} is neither http nor https")]
    Scheme(String),
    /// No host is named.
    #[error("it names no host")]
    NoHost,
    /// Somebody's name or password stands in it.
    #[error("it carries a name or a password")]
    UserInfo,
    /// A port of another protocol.
    #[error("port {0} belongs to another protocol")]
    Port(u16),
    /// More than [`crate::limits::ADDRESS_LIMIT_BYTES`].
    #[error("it is too long")]
    TooLong,
    /// What the parser says.
    #[error("{0}")]
    Malformed(String),
}

/// Why a site could not be reached.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NetworkFault {
    /// Nobody knows the name.
    #[error("there is no host of this name, or this machine is offline")]
    NoSuchHost,
    /// Nothing listens.
    #[error("it refuses the connection")]
    Refused,
    /// No route.
    #[error("there is no way to it from this network")]
    NoRoute,
    /// TLS failed: a certificate that does not hold, most often.
    #[error("the secure connection failed ({0})")]
    Secure(String),
    /// The answer ended before its end.
    #[error("its answer was cut off")]
    CutOff,
    /// The answer is not HTTP, or its compression is damaged.
    #[error("its answer is damaged ({0})")]
    Damaged(String),
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

/// What was waited for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Stage {
    /// A free place among the fetches that run.
    #[error("for other fetches to end")]
    Queue,
    /// Name and connection.
    #[error("for a connection")]
    Connection,
    /// The first byte.
    #[error("for the answer to begin")]
    Answer,
    /// The next bytes.
    #[error("for the answer to go on")]
    Body,
    /// The whole.
    #[error("for the whole of it")]
    Whole,
    /// Bytes becoming text.
    #[error("for its text to be read")]
    Reading,
}

/// Why a page could not be had.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum FetchError {
    /// See [`FetchErrorClass::InvalidAddress`].
    #[error("{address} is not an address of a page: {fault}.")]
    InvalidAddress {
        /// As it was written, cut.
        address: String,
        /// What is wrong with it.
        fault: AddressFault,
    },
    /// See [`FetchErrorClass::PrivateAddress`].
    #[error("{host} leads to {address}, which is {kind} and not the public internet.")]
    PrivateAddress {
        /// The host as the address names it.
        host: String,
        /// Where it leads.
        address: IpAddr,
        /// What that is.
        kind: Special,
    },
    /// See [`FetchErrorClass::RefusedByRobots`].
    #[error("The site asks programs not to read {address} (robots.txt of {host}: {rule}).")]
    RefusedByRobots {
        /// What was to be read.
        address: String,
        /// Whose `robots.txt` it is.
        host: String,
        /// The line of it.
        rule: String,
    },
    /// As long as `robots.txt` fails, nothing may be read (RFC 9309, 2.3.1.4).
    #[error(
        "The robots.txt of {host} can't be read (status {status}), and until it can, nothing of \
         the site may be read by programs."
    )]
    RobotsUnreachable {
        /// Whose it is.
        host: String,
        /// The HTTP status.
        status: u16,
        /// When to try again, where the site says so.
        retry_after: Option<Duration>,
    },
    /// See [`FetchErrorClass::NotFound`].
    #[error("There is no page at {address} (status {status}).")]
    NotFound {
        /// Where it was looked for.
        address: String,
        /// 404 or 410.
        status: u16,
    },
    /// See [`FetchErrorClass::HttpStatus`].
    #[error("{address} answered with status {status}.")]
    HttpStatus {
        /// Who answered.
        address: String,
        /// The HTTP status.
        status: u16,
        /// When to try again, where the site says so.
        retry_after: Option<Duration>,
    },
    /// See [`FetchErrorClass::TooManyRedirects`].
    #[error("{address} sends on more than {limit} times, last to {last}.")]
    TooManyRedirects {
        /// Where it began.
        address: String,
        /// How many are followed.
        limit: usize,
        /// The address that was not fetched any more.
        last: String,
    },
    /// See [`FetchErrorClass::SendsElsewhere`].
    #[error("{address} sends on to another address, which was not fetched{}.", because(why.as_deref()))]
    SendsElsewhere {
        /// Who sends on.
        address: String,
        /// Where to, whole.
        to: String,
        /// Its host.
        host: String,
        /// Why it may not be fetched; `None` where it may once it is asked for.
        why: Option<String>,
    },
    /// See [`FetchErrorClass::TooLarge`].
    #[error("{address} has more than {limit_bytes} bytes.")]
    TooLarge {
        /// What it is.
        address: String,
        /// How many are read.
        limit_bytes: usize,
    },
    /// See [`FetchErrorClass::TimedOut`].
    #[error("{address} took too long: {} seconds {stage}.", limit.as_secs_f64())]
    TimedOut {
        /// What was waited for.
        address: String,
        /// At which point.
        stage: Stage,
        /// How long was waited there.
        limit: Duration,
    },
    /// See [`FetchErrorClass::UnsupportedType`].
    #[error("{address} is {media_type}, which can't be read as text.")]
    UnsupportedType {
        /// What it is.
        address: String,
        /// What it says to be, or is seen to be.
        media_type: String,
    },
    /// See [`FetchErrorClass::Unreadable`].
    #[error("{address} can't be read: {why}.")]
    Unreadable {
        /// What it is.
        address: String,
        /// What its reader says.
        why: String,
    },
    /// See [`FetchErrorClass::Network`].
    #[error("{host} can't be reached: {fault}.")]
    Network {
        /// Whom it was tried with.
        host: String,
        /// How it failed.
        fault: NetworkFault,
        /// Whether the environment names a proxy, which is not used for pages.
        proxied: bool,
    },
}

impl FetchError {
    /// What kind of failure it is.
    pub fn class(&self) -> FetchErrorClass {
        match self {
            Self::InvalidAddress { .. } => FetchErrorClass::InvalidAddress,
            Self::PrivateAddress { .. } => FetchErrorClass::PrivateAddress,
            Self::RefusedByRobots { .. } | Self::RobotsUnreachable { .. } => {
                FetchErrorClass::RefusedByRobots
            }
            Self::NotFound { .. } => FetchErrorClass::NotFound,
            Self::HttpStatus { .. } => FetchErrorClass::HttpStatus,
            Self::TooManyRedirects { .. } => FetchErrorClass::TooManyRedirects,
            Self::SendsElsewhere { .. } => FetchErrorClass::SendsElsewhere,
            Self::TooLarge { .. } => FetchErrorClass::TooLarge,
            Self::TimedOut { .. } => FetchErrorClass::TimedOut,
            Self::UnsupportedType { .. } => FetchErrorClass::UnsupportedType,
            Self::Unreadable { .. } => FetchErrorClass::Unreadable,
            Self::Network { .. } => FetchErrorClass::Network,
        }
    }

    /// When the site asks to be tried again.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::HttpStatus { retry_after, .. } | Self::RobotsUnreachable { retry_after, .. } => {
                *retry_after
            }
            _ => None,
        }
    }

    /// Whether the same fetch may succeed later without anything being changed.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::RobotsUnreachable { .. } | Self::TimedOut { .. } => true,
            Self::HttpStatus { status, .. } => matches!(status, 408 | 425 | 429) || *status >= 500,
            Self::Network { fault, .. } => !matches!(fault, NetworkFault::Secure(_)),
            _ => false,
        }
    }

    /// What would help, as a sentence to whoever asked for the page.
    pub fn remedy(&self) -> String {
        let words = match self {
            Self::InvalidAddress { fault, .. } => match fault {
                AddressFault::UserInfo => {
                    "Leave the name and password out; pages behind a login can't be fetched."
                }
                AddressFault::Port(_) => "Use the site's web port.",
                _ => "Give a whole address that begins with https://.",
            },
            Self::PrivateAddress { .. } => {
                "Only public pages are fetched. If the person needs this one, ask them to save it \
                 as a file."
            }
            Self::RefusedByRobots { .. } => {
                "Look for the same work elsewhere, or ask the person, who may allow this page."
            }
            Self::RobotsUnreachable { .. } => "Try again later, or use another source.",
            Self::NotFound { .. } => "Check the address, or search for where the page went.",
            Self::HttpStatus {
                status,
                retry_after,
                ..
            } => return status_remedy(*status, *retry_after),
            Self::TooManyRedirects { .. } => {
                "The site may want cookies or a login, which are not kept. Use another source."
            }
            Self::SendsElsewhere {
                why: Some(_), host, ..
            } => return format!("Leave {host} alone, and use another source."),
            Self::SendsElsewhere { to, host, .. } if to.len() <= ONWARD_LIMIT_BYTES => {
                return format!("Ask for it if it is wanted, since {host} is another host: {to}");
            }
            Self::SendsElsewhere { .. } => {
                "That address is too long to be told. Use another source."
            }
            Self::TooLarge { .. } => "Look for a smaller version: an abstract, a part, a summary.",
            Self::TimedOut { .. } => "Try once more, or use another source.",
            Self::UnsupportedType { .. } => {
                "Text, HTML, Markdown, JSON, XML and PDF can be read. Look for such a version."
            }
            Self::Unreadable { .. } => "Look for another version of it.",
            Self::Network { proxied: true, .. } => {
                "The environment names a proxy, which is not used for pages: behind it, nobody \
                 could check where an address leads. A direct connection is needed."
            }
            Self::Network { fault, .. } => match fault {
                NetworkFault::NoSuchHost => "Check the spelling of the host.",
                NetworkFault::Secure(_) => {
                    "The page is not fetched without a certificate that holds. Use another source."
                }
                _ => "Try once more, or use another source.",
            },
        };
        words.to_owned()
    }
}

/// The longest address that a remedy names, in bytes: a message to a model is not long.
const ONWARD_LIMIT_BYTES: usize = 600;

fn because(why: Option<&str>) -> String {
    why.map_or_else(String::new, |why| format!(": {why}"))
}

fn status_remedy(status: u16, retry_after: Option<Duration>) -> String {
    if let Some(wait) = retry_after {
        return format!("Try again in {} seconds.", wait.as_secs().max(1));
    }
    match status {
        401 | 402 | 403 | 407 | 451 => {
            "The site does not show this page to programs or without a login. Use another source, \
             or ask the person to save it as a file."
        }
        408 | 425 | 429 => "Wait before trying this site again.",
        500.. => "The site has a fault of its own. Try again later, or use another source.",
        _ => "Check the address, or use another source.",
    }
    .to_owned()
}

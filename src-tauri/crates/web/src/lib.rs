//! Pages of the public web: fetched safely, read as text.
//!
//! - [`Fetcher`] takes an address and gives a [`Page`], or a [`FetchError`] with its class.
//!   Nothing but the public internet is connected to: every address of a host is checked when its
//!   name is resolved, at every redirect, and the checked addresses are the ones connected to.
//! - [`Cache`] is what one run has fetched already, with the rules of `robots.txt`.
//! - A page's `text` is what quotes are checked against; its `markdown` is for reading. Both leave
//!   out what no reader sees, and say so. Scripts are never run.
//!
//! There is no clock here: the caller says when a page was fetched.

mod address;
mod body;
mod cache;
mod charset;
mod client;
mod error;
mod fetch;
mod guard;
pub mod limits;
mod media;
mod page;
mod read;
mod recent;
mod resolve;
mod robots;
mod words;

pub use cache::{Cache, PAGES_LIMIT, PAGES_LIMIT_BYTES};
pub use client::environment_names_a_proxy;
pub use error::{AddressFault, FetchError, FetchErrorClass, NetworkFault, Stage};
pub use fetch::{
    Fetched, Fetcher, FollowAll, JudgeOnward, Onward, PersonAllows, Request, Settings,
};
pub use guard::{LoopbackPermit, Special, special};
pub use page::{Capture, Heading, Hidden, Link, Note, Page, Part, Redirect};
pub use read::{PdfReader, PdfText, Unreadable};
pub use resolve::{ResolveHost, SystemResolver};

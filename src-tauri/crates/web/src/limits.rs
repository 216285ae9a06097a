//! How much of the web is taken at once.

use std::time::Duration;

/// The longest address that is fetched or listed, in bytes.
pub const ADDRESS_LIMIT_BYTES: usize = 8 * 1024;
/// How often a page may send on to another.
pub const REDIRECTS_LIMIT: usize = 10;
/// The largest page, after decompression.
pub const PAGE_LIMIT_BYTES: usize = 10 * 1024 * 1024;
/// The most text that is kept of one page.
pub const TEXT_LIMIT_BYTES: usize = 8 * 1024 * 1024;
/// How long one page may take with all its redirects and its `robots.txt`.
pub const TOTAL_LIMIT: Duration = Duration::from_secs(30);
/// How long a connection may take to stand.
pub const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// How long a server may think before it answers.
pub const FIRST_BYTE_LIMIT: Duration = Duration::from_secs(20);
/// How long a server may be silent in the middle of its answer.
pub const IDLE_LIMIT: Duration = Duration::from_secs(10);
/// How long making text of the bytes may take. A PDF is slow.
pub const READING_LIMIT: Duration = Duration::from_secs(70);
/// How many pages are fetched at once by one [`crate::Fetcher`]; further ones wait.
pub const FETCHES_LIMIT: usize = 8;
/// How many pages are made into text at once. One that hangs keeps its place.
pub const READINGS_LIMIT: usize = 4;

/// The limits of a [`crate::Fetcher`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// How often a page may send on to another.
    pub redirects: usize,
    /// The largest page in bytes, both as it comes over the wire and after decompression.
    pub page_bytes: usize,
    /// The most text of a page, in bytes. What comes after is cut, with a note.
    pub text_bytes: usize,
    /// How long one page may take, with redirects and `robots.txt`, until its bytes are here.
    pub total: Duration,
    /// How long a connection may take to stand.
    pub connect: Duration,
    /// How long a server may think before it answers.
    pub first_byte: Duration,
    /// How long a server may be silent in the middle of its answer.
    pub idle: Duration,
    /// How long making text of the bytes may take.
    pub reading: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            redirects: REDIRECTS_LIMIT,
            page_bytes: PAGE_LIMIT_BYTES,
            text_bytes: TEXT_LIMIT_BYTES,
            total: TOTAL_LIMIT,
            connect: CONNECT_LIMIT,
            first_byte: FIRST_BYTE_LIMIT,
            idle: IDLE_LIMIT,
            reading: READING_LIMIT,
        }
    }
}

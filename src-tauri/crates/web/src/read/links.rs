//! The links of a page, numbered in the order of reading.

use std::collections::HashMap;

use url::Url;

use crate::limits::ADDRESS_LIMIT_BYTES;
use crate::page::Link;
use crate::words::cut_line;

/// How many links of a page are listed.
pub(super) const LINKS_LIMIT: usize = 2_000;
/// The longest words of a link in the list, in bytes.
const WORDS_LIMIT_BYTES: usize = 200;

/// Collects links. Those that lead to the same address have one number.
pub(super) struct Links {
    base: Option<Url>,
    links: Vec<Link>,
    numbers: HashMap<String, u32>,
    /// How many links have all their words.
    whole: usize,
    /// Whether there were more than are listed.
    pub are_more: bool,
}

impl Links {
    /// Links are relative to `base`.
    pub fn new(base: Option<Url>) -> Self {
        Self {
            base,
            links: Vec::new(),
            numbers: HashMap::new(),
            whole: 0,
            are_more: false,
        }
    }

    /// The address of another page that this leads to, if it does.
    pub fn resolve(&self, reference: &str) -> Option<Url> {
        let reference = reference.trim();
        if reference.starts_with('#') || reference.len() > ADDRESS_LIMIT_BYTES {
            return None;
        }
        let mut url = match &self.base {
            Some(base) => base.join(reference).ok()?,
            None => Url::parse(reference).ok()?,
        };
        let leads_on = matches!(url.scheme(), "http" | "https") && url.has_host();
        // Nobody's password becomes part of a page's text.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        (leads_on && url.as_str().len() <= ADDRESS_LIMIT_BYTES).then_some(url)
    }

    /// The number of a link; `None` when it leads nowhere or the list is full.
    pub fn number(&mut self, reference: &str) -> Option<u32> {
        let address = String::from(self.resolve(reference)?);
        if let Some(number) = self.numbers.get(&address) {
            return Some(*number);
        }
        if self.links.len() >= LINKS_LIMIT {
            self.are_more = true;
            return None;
        }
        // The limit is far below what the number can hold.
        let number = u32::try_from(self.links.len()).ok()? + 1;
        self.numbers.insert(address.clone(), number);
        self.links.push(Link {
            number,
            text: String::new(),
            address,
        });
        Some(number)
    }

    /// The number that a link has already.
    pub fn known(&self, reference: &str) -> Option<u32> {
        let address = self.resolve(reference)?;
        self.numbers.get(address.as_str()).copied()
    }

    /// Adds words of the open link. Those of a further link to the same address are left out.
    pub fn words(&mut self, number: u32, words: &str) {
        let is_open = |link: &&mut Link| link.number == number;
        if let Some(link) = self.links[self.whole..].first_mut().filter(is_open)
            && link.text.len() < WORDS_LIMIT_BYTES
        {
            link.text.push_str(words);
        }
    }

    /// Says that the open link has ended.
    pub fn end(&mut self) {
        self.whole = self.links.len();
    }

    pub fn finish(self) -> Vec<Link> {
        let tidy = |link: Link| Link {
            text: cut_line(&link.text, WORDS_LIMIT_BYTES),
            ..link
        };
        self.links.into_iter().map(tidy).collect()
    }
}

//! What a page says of itself besides its words.

use ego_tree::NodeRef;
use ego_tree::iter::Edge;
use longrein_protocol::source::SourceMeta;
use scraper::node::Element;
use scraper::{Html, Node};
use serde_json::Value;
use url::Url;

use crate::words::{cut_line, line};

/// The longest description for machines that is read, in bytes.
const JSON_LD_LIMIT_BYTES: usize = 256 * 1024;
/// How many of them are read.
const JSON_LD_LIMIT: usize = 8;
/// How many things one of them may describe.
const JSON_LD_THINGS_LIMIT: usize = 200;
/// How many names of authors are taken in.
const AUTHORS_LIMIT: usize = 200;
/// The longest title, in bytes.
const TITLE_LIMIT_BYTES: usize = 1000;
/// A page that goes on to another within so many seconds is a redirect.
const AT_ONCE_SECONDS: f32 = 5.0;

/// What a page says of itself.
#[derive(Default)]
pub(super) struct Said {
    pub meta: SourceMeta,
    pub canonical: Option<String>,
    pub language: Option<String>,
    pub identifier: Option<String>,
    /// What its links are relative to, where it says so.
    pub base: Option<Url>,
    /// Where it sends browsers on to.
    pub sends_on: Option<String>,
}

/// Values of one kind, by how much they are worth: those of a library's catalogue first.
#[derive(Default)]
struct Found {
    titles: [Option<String>; 5],
    authors: [Vec<String>; 4],
    dates: [Option<String>; 3],
    canonical: Option<String>,
    language: Option<String>,
    identifier: Option<String>,
    base: Option<String>,
    refresh: Option<String>,
    json_ld: usize,
}

/// Reads the head of a page, and what is elsewhere and belongs there.
pub(super) fn describe(page: &Html, address: Option<&Url>) -> Said {
    let mut found = Found::default();
    for edge in page.tree.root().traverse() {
        let Edge::Open(node) = edge else { continue };
        let Node::Element(element) = node.value() else {
            continue;
        };
        match element.name() {
            "html" => found.language = tag(element.attr("lang").or(element.attr("xml:lang"))),
            "title" if found.titles[4].is_none() && !is_drawing(node) => {
                found.titles[4] = Some(words(node, TITLE_LIMIT_BYTES));
            }
            "base" if found.base.is_none() => {
                found.base = element.attr("href").map(str::to_owned);
            }
            "link" if found.canonical.is_none() && is_canonical(element) => {
                found.canonical = element.attr("href").map(str::to_owned);
            }
            "meta" => found.meta(element),
            "script" if element.attr("type") == Some("application/ld+json") => {
                found.json_ld(node);
            }
            _ => {}
        }
    }
    found.finish(address)
}

impl Found {
    fn meta(&mut self, element: &Element) {
        let Some(content) = element
            .attr("content")
            .map(str::trim)
            .filter(|content| !content.is_empty())
        else {
            return;
        };
        if let Some(equiv) = element.attr("http-equiv") {
            match equiv.to_ascii_lowercase().as_str() {
                "refresh" if self.refresh.is_none() => self.refresh = target(content),
                "content-language" if self.language.is_none() => {
                    self.language = tag(Some(content));
                }
                _ => {}
            }
            return;
        }
        let name = element
            .attr("name")
            .or_else(|| element.attr("property"))
            .or_else(|| element.attr("itemprop"))
            .unwrap_or_default()
            .to_ascii_lowercase();
        match name.as_str() {
            "citation_title" | "bepress_citation_title" => put(&mut self.titles[0], content),
            "dc.title" | "dcterms.title" | "eprints.title" => put(&mut self.titles[1], content),
            "og:title" | "twitter:title" => put(&mut self.titles[2], content),
            "citation_author" | "bepress_citation_author" | "eprints.creators_name" => {
                self.author(0, content);
            }
            "dc.creator" | "dcterms.creator" => self.author(1, content),
            "author" | "parsely-author" | "article:author" | "sailthru.author" => {
                self.author(3, content);
            }
            "citation_publication_date"
            | "citation_date"
            | "citation_online_date"
            | "bepress_citation_date" => put(&mut self.dates[0], content),
            "dc.date"
            | "dcterms.issued"
            | "dcterms.date"
            | "dc.date.issued"
            | "prism.publicationdate" => {
                put(&mut self.dates[0], content);
            }
            "article:published_time"
            | "datepublished"
            | "date"
            | "parsely-pub-date"
            | "publish-date"
            | "pubdate" => put(&mut self.dates[2], content),
            "citation_doi"
            | "prism.doi"
            | "dc.identifier"
            | "dc.identifier.doi"
            | "bepress_citation_doi"
            | "doi"
                if self.identifier.is_none() =>
            {
                self.identifier = doi(content);
            }
            _ => {}
        }
    }

    /// Often named twice, in two vocabularies.
    fn author(&mut self, worth: usize, name: &str) {
        let names = &mut self.authors[worth];
        let is_name = !name.starts_with("http://") && !name.starts_with("https://");
        if is_name && names.len() < AUTHORS_LIMIT && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }

    fn json_ld(&mut self, script: NodeRef<'_, Node>) {
        if self.json_ld >= JSON_LD_LIMIT {
            return;
        }
        self.json_ld += 1;
        let mut text = String::new();
        for child in script.children() {
            if let Node::Text(piece) = child.value() {
                text.push_str(piece);
            }
        }
        if text.len() > JSON_LD_LIMIT_BYTES {
            return;
        }
        // The parser refuses what is nested too deep. What it can't read says nothing.
        let Ok(value) = serde_json::from_str::<Value>(&text) else {
            return;
        };
        for thing in things(&value) {
            if is_work(thing) {
                self.work(thing);
                return;
            }
        }
    }

    fn work(&mut self, work: &Value) {
        let title = work.get("headline").or_else(|| work.get("name"));
        if let Some(title) = title.and_then(Value::as_str) {
            put(&mut self.titles[3], title);
        }
        if let Some(date) = work.get("datePublished").and_then(Value::as_str) {
            put(&mut self.dates[1], date);
        }
        let authors = match work.get("author") {
            Some(Value::Array(authors)) => authors.as_slice(),
            Some(author) => std::slice::from_ref(author),
            None => &[],
        };
        for author in authors {
            let name = author
                .as_str()
                .or_else(|| author.get("name").and_then(Value::as_str));
            if let Some(name) = name.map(str::trim).filter(|name| !name.is_empty()) {
                self.author(2, name);
            }
        }
    }

    fn finish(self, address: Option<&Url>) -> Said {
        let base = match (&self.base, address) {
            (Some(base), Some(address)) => address.join(base).ok().filter(is_web),
            _ => None,
        };
        let outside = base.as_ref().or(address);
        let resolve = |reference: String| {
            let url = match outside {
                Some(outside) => outside.join(reference.trim()).ok()?,
                None => Url::parse(reference.trim()).ok()?,
            };
            is_web(&url).then(|| String::from(url))
        };
        Said {
            meta: SourceMeta {
                title: self.titles.into_iter().flatten().next().unwrap_or_default(),
                authors: self
                    .authors
                    .into_iter()
                    .find(|names| !names.is_empty())
                    .unwrap_or_default(),
                date: self.dates.into_iter().flatten().next(),
                ..SourceMeta::default()
            },
            canonical: self.canonical.and_then(resolve),
            language: self.language,
            identifier: self.identifier,
            sends_on: self.refresh.and_then(resolve).map(|to| line(&to)),
            base,
        }
    }
}

/// The first value stays.
fn put(place: &mut Option<String>, value: &str) {
    let value = value.trim();
    if place.is_none() && !value.is_empty() {
        *place = Some(cut_line(value, TITLE_LIMIT_BYTES));
    }
}

/// What a description describes: itself, the members of its list or its graph.
fn things(value: &Value) -> impl Iterator<Item = &Value> {
    let outer = match value {
        Value::Array(list) => list.as_slice(),
        other => std::slice::from_ref(other),
    };
    outer
        .iter()
        .flat_map(|thing| {
            let graph = thing.get("@graph").and_then(Value::as_array);
            std::iter::once(thing).chain(graph.into_iter().flatten())
        })
        .take(JSON_LD_THINGS_LIMIT)
}

/// Whether it is something that is written and read.
fn is_work(thing: &Value) -> bool {
    let is_kind = |kind: &Value| {
        kind.as_str().is_some_and(|kind| {
            kind.ends_with("Article")
                || kind.ends_with("Posting")
                || matches!(
                    kind,
                    "Report" | "Book" | "Chapter" | "Dataset" | "Thesis" | "Review"
                )
        })
    };
    match thing.get("@type") {
        Some(Value::Array(kinds)) => kinds.iter().any(is_kind),
        Some(kind) => is_kind(kind),
        None => false,
    }
}

fn is_web(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
}

/// A title inside a drawing is the drawing's.
fn is_drawing(node: NodeRef<'_, Node>) -> bool {
    node.ancestors()
        .filter_map(|outer| outer.value().as_element())
        .any(|outer| outer.name() == "svg")
}

fn is_canonical(element: &Element) -> bool {
    element.attr("rel").is_some_and(|relations| {
        relations
            .split_whitespace()
            .any(|relation| relation.eq_ignore_ascii_case("canonical"))
    })
}

fn words(node: NodeRef<'_, Node>, limit: usize) -> String {
    let mut text = String::new();
    for child in node.children() {
        if let Node::Text(piece) = child.value() {
            text.push_str(piece);
        }
    }
    cut_line(&text, limit)
}

/// A language tag, if it looks like one.
fn tag(language: Option<&str>) -> Option<String> {
    /// Longer than any tag in use.
    const TAG_LIMIT: usize = 35;
    let tag = language?.trim();
    let is_tag = (2..=TAG_LIMIT).contains(&tag.len())
        && tag
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || letter == '-');
    is_tag.then(|| tag.to_owned())
}

/// Where `0; url=…` sends on to, if it does so at once.
fn target(content: &str) -> Option<String> {
    let (delay, rest) = content.split_once([';', ','])?;
    let is_soon = delay
        .trim()
        .parse::<f32>()
        .is_ok_and(|seconds| seconds <= AT_ONCE_SECONDS);
    let (name, address) = rest.split_once('=')?;
    let is_url = name.trim().eq_ignore_ascii_case("url");
    let address = address.trim().trim_matches(['"', '\'']);
    (is_soon && is_url && !address.is_empty()).then(|| address.to_owned())
}

/// A DOI in its bare form: `10.1000/182`.
fn doi(text: &str) -> Option<String> {
    /// Longer than any in use.
    const DOI_LIMIT_BYTES: usize = 300;
    let text = text.trim();
    let start = text.find("10.")?;
    let before = text[..start].to_ascii_lowercase();
    let is_form = before.is_empty()
        || before.trim_end() == "doi:"
        || before.ends_with("doi.org/")
        || before.ends_with("info:doi/");
    let bare = &text[start..];
    let is_doi = is_form
        && bare.contains('/')
        && bare.len() <= DOI_LIMIT_BYTES
        && !bare.contains(char::is_whitespace);
    is_doi.then(|| bare.to_owned())
}

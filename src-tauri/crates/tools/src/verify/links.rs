//! `links`: that a page leads nowhere but to what this run fetched.

use std::collections::BTreeSet;

use longrein_protocol::agent::LinksCriterion;
use longrein_runtime::ports::{RunContext, ToolError};
use scraper::{Html, Node};
use url::Url;

use super::read::{Content, delivered};
use super::{Finding, shown};
use crate::page::{self, Media, Sources, TOLD_LIMIT};
use crate::sources::cited_sources;
use crate::tool::blocking;
use crate::{error, show};

/// How much of a link's words is shown.
const WORDS_BYTES: usize = 60;
/// What relative addresses are taken beneath; nothing is ever asked there.
const NOWHERE: &str = "https://page.invalid/";

pub(super) async fn check(
    criterion: &LinksCriterion,
    context: &RunContext,
) -> Result<Finding, ToolError> {
    let content = delivered(context, &criterion.links).await?;
    if matches!(content.media, Media::Other(_)) {
        return Ok(Finding::off(
            format!("{} has no links that can be read", content.name),
            format!(
                "{} is {}: links are read in HTML and Markdown only. Write the page as one of these.",
                content.path,
                content.media.name()
            ),
        ));
    }
    let bytes = content.bytes.clone();
    let media = content.media;
    let cited = blocking(move || Ok(page::survey(&parsed(&bytes, media)?).cited())).await?;
    let cited: Vec<_> = cited.into_iter().collect();
    let sources = cited_sources(context, &cited).await?;
    let fetched: BTreeSet<String> = context
        .sources
        .iter()
        .filter_map(|source| source.meta.url.as_deref())
        .filter_map(normal)
        .collect();
    let least = criterion.min as usize;
    blocking(move || hold(&content, &sources, &fetched, least)).await
}

fn parsed(page: &[u8], media: Media) -> Result<Html, ToolError> {
    page::parse(&String::from_utf8_lossy(page), media)
        .map_err(|problem| error::failed(problem.to_string()))
}

fn hold(
    content: &Content,
    sources: &Sources,
    fetched: &BTreeSet<String>,
    least: usize,
) -> Result<Finding, ToolError> {
    content.text()?;
    let page = parsed(&content.bytes, content.media)?;
    let survey = page::survey(&page);
    let claims = page::ledger(&survey, sources);
    // The page as it is shown, so that its references are among its links.
    let shown_page = page::render(page, &survey, &claims, sources);
    let shown_page = parsed(shown_page.as_bytes(), Media::Html)?;
    let mut told = BTreeSet::new();
    let (mut count, mut strange) = (0, 0);
    let mut difference = Vec::new();
    for link in links(&shown_page) {
        count += 1;
        if fetched.contains(&link.address) || !told.insert(link.address.clone()) {
            continue;
        }
        strange += 1;
        if difference.len() < TOLD_LIMIT {
            difference.push(format!(
                "The link “{}” leads to {}, which this run has not fetched. Fetch it and cite it, or take the link out.",
                shown(&link.words),
                shown(&link.address)
            ));
        }
    }
    if strange > difference.len() {
        difference.push(format!(
            "… and {} more of these",
            strange - difference.len()
        ));
    }
    let active = page::survey(&shown_page).active;
    if !active.is_empty() {
        difference.push(format!(
            "{} has {}: links that these make can't be checked. Take them out.",
            content.path,
            active.join(", ")
        ));
    }
    if count < least {
        difference.push(format!(
            "{} has {}, and at least {least} are wanted.",
            content.path,
            show::count(count, "link", "links")
        ));
    }
    let evidence = format!(
        "{} in {}, {} not fetched by this run",
        show::count(count, "link", "links"),
        content.name,
        strange
    );
    Ok(Finding::of(evidence, difference))
}

/// A link to somewhere else.
struct Link {
    /// Where it leads, in its normal form.
    address: String,
    words: String,
}

/// Every link of a page that leads to the web.
fn links(page: &Html) -> impl Iterator<Item = Link> {
    page.tree.root().descendants().flat_map(|node| {
        let element = node.value().as_element();
        let leads = element.filter(|element| matches!(element.name(), "a" | "area"));
        let addresses: Vec<String> = leads
            .into_iter()
            // In a drawing the attribute has a prefix, which is not part of this name.
            .flat_map(|element| element.attrs().filter(|(name, _)| *name == "href"))
            .filter_map(|(_, address)| leaving(address))
            .collect();
        addresses.into_iter().map(move |address| {
            let words: String = node
                .descendants()
                .filter_map(|inner| match inner.value() {
                    Node::Text(text) => Some(text.text.to_string()),
                    _ => None,
                })
                .collect();
            Link {
                address,
                words: show::brief(words.trim(), WORDS_BYTES),
            }
        })
    })
}

/// Where an address of a page leads, when that is another place of the web. Read as a browser
/// reads it, so that `//host`, `\\host` and blanks within hide nothing; and read both as one of a
/// page of the web and of a page elsewhere, for `https:host` is relative in one of these only.
fn leaving(address: &str) -> Option<String> {
    let nowhere = Url::parse(NOWHERE).ok()?;
    let readings = [Url::parse(address), nowhere.join(address)];
    readings
        .into_iter()
        .flatten()
        .filter(|url| url.host_str() != nowhere.host_str())
        .find_map(|url| normal(url.as_str()))
}

/// The one form of an address of the web: without its fragment, without the port that goes without
/// saying.
fn normal(address: &str) -> Option<String> {
    let mut url = Url::parse(address.trim()).ok()?;
    if !matches!(url.scheme(), "http" | "https") {
        return None;
    }
    url.set_fragment(None);
    Some(url.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_ways_to_write_one_address_are_the_same() {
        for (one, other) in [
            ("HTTPS://Example.org:443", "https://example.org/"),
            ("https://example.org/a#b", "https://example.org/a"),
            ("http://example.org:80/a/../b", "http://example.org/b"),
            ("https://ex\u{e4}mple.org/", "https://xn--exmple-cua.org/"),
        ] {
            assert_eq!(normal(one).unwrap(), other);
        }
        assert_eq!(normal("mailto:a@example.org"), None);
        assert_ne!(
            normal("https://a@example.org"),
            normal("https://example.org")
        );
        assert_ne!(
            normal("https://example.org/a"),
            normal("https://example.org/a/")
        );
    }

    #[test]
    fn a_link_is_read_as_a_browser_reads_it() {
        for address in [
            "//evil.example/x",
            "\\\\evil.example/x",
            " https:evil.example/x",
            "https://evil.\nexample/x",
            "https://page.invalid@evil.example/x",
        ] {
            let leads = leaving(address).unwrap();
            assert!(leads.contains("evil.example/x"), "{address:?}: {leads}");
        }
        for address in [
            "#lr-S1",
            "other.html",
            "/root",
            "mailto:a@b.c",
            "data:text/plain,x",
            "http://",
        ] {
            assert_eq!(leaving(address), None, "{address}");
        }
    }
}

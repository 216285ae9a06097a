//! The rendered copy: each citation becomes a link into a list of references that is built from
//! the run's records. What the model wrote is otherwise left as it is.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use html5ever::serialize::{SerializeOpts, TraversalScope, serialize};
use longrein_core::evidence::is_too_short;
use longrein_protocol::source::{Claim, ClaimState, SourceMeta, TextRange};
use longrein_protocol::{BlobHash, SourceId};
use scraper::{Html, Node};

use super::escaped;
use super::ledger::{Sources, is_citation};
use super::survey::{PlacedToken, Survey};

/// Authors named before the rest is counted.
const AUTHORS_NAMED: usize = 6;

const STYLE: &str = include_str!("references.css");

/// What a copy may load, wherever it is opened: nothing but what it carries itself.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
    img-src data:; font-src data:; base-uri 'none'; form-action 'none'";

/// The page with its citations rendered. `claims` is the ledger of `survey`.
pub(crate) fn render(
    mut page: Html,
    survey: &Survey,
    claims: &[Claim],
    sources: &Sources,
) -> String {
    let tokens: Vec<&PlacedToken> = survey
        .statements
        .iter()
        .filter_map(|statement| statement.token.as_ref())
        .collect();
    let references = References::new(&tokens, claims, sources);
    let marks = Marks::of(&page);
    marks.place(&mut page, &tokens);
    let html = marks.replace(&written(&page), |name| match name {
        // First, because a policy holds for what follows it only.
        "head" => format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\"><meta charset=\"utf-8\"><style id=\"lr-style\">{STYLE}</style>"),
        "body" => references.section(),
        number => number
            .parse()
            .map(|number| references.anchors(number))
            .unwrap_or_default(),
    });
    let typed = html
        .get(..DOCTYPE.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(DOCTYPE));
    if typed {
        html
    } else {
        format!("{DOCTYPE} html>\n{html}")
    }
}

const DOCTYPE: &str = "<!DOCTYPE";

/// Marks in the page's text for what is put in later. They hold a hash of the page, so that no
/// page can hold one by itself.
struct Marks {
    opening: String,
}

impl Marks {
    const CLOSING: char = '\u{e001}';

    fn of(page: &Html) -> Self {
        let stamp = BlobHash::of(written(page).as_bytes()).to_string();
        Self {
            opening: format!("\u{e000}{}:", &stamp[..16]),
        }
    }

    fn mark(&self, name: &str) -> String {
        format!("{}{name}{}", self.opening, Self::CLOSING)
    }

    /// Marks every token, the beginning of the head and the end of the body.
    fn place(&self, page: &mut Html, tokens: &[&PlacedToken]) {
        for (number, token) in tokens.iter().enumerate().rev() {
            // From the last to the first, so that the ranges before stay right.
            if let Some(mut node) = page.tree.get_mut(token.node)
                && let Node::Text(text) = node.value()
            {
                let mut words = text.text.to_string();
                words.replace_range(token.range.clone(), &self.mark(&number.to_string()));
                text.text = words.into();
            }
        }
        for (name, first) in [("head", true), ("body", false)] {
            let named = |node: &ego_tree::NodeRef<'_, Node>| {
                node.value()
                    .as_element()
                    .is_some_and(|element| element.name() == name)
            };
            let place = page.tree.nodes().find(named).map(|node| node.id());
            let Some(mut place) = place.and_then(|place| page.tree.get_mut(place)) else {
                continue;
            };
            let text = Node::Text(scraper::node::Text {
                text: self.mark(name).into(),
            });
            if first {
                place.prepend(text);
            } else {
                place.append(text);
            }
        }
    }

    /// The page with each mark replaced by what `content` says for its name.
    fn replace(&self, page: &str, content: impl Fn(&str) -> String) -> String {
        let mut pieces = page.split(&self.opening);
        let mut html = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let (name, rest) = piece.split_once(Self::CLOSING).unwrap_or(("", piece));
            html.push_str(&content(name));
            html.push_str(rest);
        }
        html
    }
}

fn written(page: &Html) -> String {
    let options = SerializeOpts {
        scripting_enabled: false,
        traversal_scope: TraversalScope::IncludeNode,
        create_missing_parent: false,
    };
    let mut html = Vec::new();
    // Writing to memory can't fail, and what is written was parsed as text.
    let written = serialize(&mut html, page, options);
    debug_assert!(written.is_ok(), "memory takes every byte");
    String::from_utf8_lossy(&html).into_owned()
}

/// One citation: its number on the page and what became of it.
struct Citation<'a> {
    number: usize,
    claim: &'a Claim,
    /// The numbers of its sentence that do not stand in the source, as the page writes them.
    missing: Vec<&'a str>,
}

/// A number of the page, and the citation that it rests on.
struct Figure<'a> {
    citation: usize,
    claim: &'a Claim,
}

/// A work that the page cites.
struct Reference<'a> {
    source: SourceId,
    meta: &'a SourceMeta,
    citations: Vec<Citation<'a>>,
    figures: Vec<Figure<'a>>,
}

struct References<'a> {
    /// In the order in which the page first cites them.
    works: Vec<Reference<'a>>,
    /// For each token of the page, its citations as (work, citation).
    tokens: Vec<Vec<(usize, usize)>>,
}

impl<'a> References<'a> {
    fn new(tokens: &[&PlacedToken], all: &'a [Claim], sources: &'a Sources) -> Self {
        let mut works: Vec<Reference<'a>> = Vec::new();
        let mut numbers: BTreeMap<SourceId, usize> = BTreeMap::new();
        let mut placed = Vec::new();
        // Where in the ledger each citation stands.
        let mut places = Vec::new();
        let mut claims = all
            .iter()
            .enumerate()
            .filter(|(_, claim)| is_citation(claim.state));
        let mut count = 0;
        for token in tokens {
            let mut of_token = Vec::new();
            for cited in &token.cited {
                let (Some((place, claim)), Some(source)) =
                    (claims.next(), sources.get(&cited.source))
                else {
                    continue;
                };
                let work = *numbers.entry(cited.source).or_insert_with(|| {
                    works.push(Reference {
                        source: cited.source,
                        meta: &source.meta,
                        citations: Vec::new(),
                        figures: Vec::new(),
                    });
                    works.len() - 1
                });
                count += 1;
                of_token.push((work, works[work].citations.len()));
                places.push((place, cited.source, works[work].citations.len()));
                works[work].citations.push(Citation {
                    number: count,
                    claim,
                    missing: Vec::new(),
                });
            }
            placed.push(of_token);
        }
        let mut references = Self {
            works,
            tokens: placed,
        };
        references.figures(all, &places, &numbers);
        references
    }

    /// Gives each number to the citation of its source that stands last before it in the ledger,
    /// or first after it.
    fn figures(
        &mut self,
        all: &'a [Claim],
        places: &[(usize, SourceId, usize)],
        works: &BTreeMap<SourceId, usize>,
    ) {
        let numbers = all.iter().enumerate().filter(|(_, claim)| {
            matches!(
                claim.state,
                ClaimState::NumberFound | ClaimState::NumberNotFound
            )
        });
        for (place, claim) in numbers {
            let Ok(source) = claim.source.parse() else {
                continue;
            };
            let mut of_source = places.iter().filter(|(_, of, _)| *of == source);
            let nearest = of_source
                .clone()
                .rfind(|(citation, ..)| *citation < place)
                .or(of_source.next());
            let (Some((_, _, citation)), Some(work)) = (nearest, works.get(&source)) else {
                continue;
            };
            let work = &mut self.works[*work];
            let citation = &mut work.citations[*citation];
            if let (ClaimState::NumberNotFound, Some(written)) = (claim.state, &claim.quote) {
                citation.missing.push(written);
            }
            work.figures.push(Figure {
                citation: citation.number,
                claim,
            });
        }
    }

    /// What stands in place of a token.
    fn anchors(&self, token: usize) -> String {
        let mut html = String::new();
        for (work, citation) in self.tokens.get(token).into_iter().flatten() {
            let reference = &self.works[*work];
            let Citation {
                number,
                claim,
                missing,
            } = &reference.citations[*citation];
            let mut hint = String::new();
            if let Some(quote) = &claim.quote {
                let _ = write!(hint, "“{quote}” — ");
            }
            hint.push_str(&reference.meta.title);
            if let Some(page) = page(claim.found) {
                let _ = write!(hint, ", {page}");
            }
            if let Some(doubt) = doubt(claim) {
                let _ = write!(hint, " ({doubt})");
            }
            if !missing.is_empty() {
                let _ = write!(hint, " ({NO_NUMBER}: {})", missing.join(", "));
            }
            let class = if doubt(claim).is_some() || !missing.is_empty() {
                "lr-cite lr-doubt"
            } else {
                "lr-cite"
            };
            let _ = write!(
                html,
                "<a class=\"{class}\" id=\"lr-cite-{number}\" href=\"#lr-{}\" role=\"doc-noteref\" title=\"{}\">[{}]</a>",
                reference.source,
                escaped(&hint),
                work + 1
            );
        }
        html
    }

    fn section(&self) -> String {
        if self.works.is_empty() {
            return String::new();
        }
        let mut html = String::from(
            "<section id=\"lr-references\" role=\"doc-bibliography\" aria-labelledby=\"lr-references-title\">\
             <h2 id=\"lr-references-title\">References</h2><ol>",
        );
        for work in &self.works {
            work.write(&mut html);
        }
        html.push_str("</ol></section>");
        html
    }
}

impl Reference<'_> {
    fn write(&self, html: &mut String) {
        let meta = self.meta;
        let _ = write!(html, "<li id=\"lr-{}\"><p>", self.source);
        let authors = authors(&meta.authors);
        if !authors.is_empty() {
            let _ = write!(html, "{}. ", escaped(&authors));
        }
        let _ = write!(html, "<cite>{}</cite>", escaped(&meta.title));
        if let Some(date) = &meta.date {
            let _ = write!(html, ", {}", escaped(date));
        }
        html.push_str(". ");
        html.push_str(&place(meta));
        html.push_str("</p><ul>");
        for Citation { number, claim, .. } in &self.citations {
            let _ = write!(
                html,
                "<li><a href=\"#lr-cite-{number}\" role=\"doc-backlink\">cited here</a>"
            );
            if let Some(quote) = &claim.quote {
                let _ = write!(html, ": <q>{}</q>", escaped(quote));
            }
            if let Some(page) = page(claim.found) {
                let _ = write!(html, ", {page}");
            }
            if let Some(doubt) = doubt(claim) {
                let _ = write!(html, " <strong>{doubt}</strong>");
            }
            html.push_str("</li>");
        }
        self.write_figures(html);
        html.push_str("</ul></li>");
    }

    /// The numbers that the work has in one line, each that it has not in one of its own.
    fn write_figures(&self, html: &mut String) {
        let back = |figure: &Figure<'_>| {
            format!(
                "<a href=\"#lr-cite-{}\" role=\"doc-backlink\">{}</a>",
                figure.citation,
                escaped(figure.claim.quote.as_deref().unwrap_or_default())
            )
        };
        let (found, missing): (Vec<&Figure<'_>>, Vec<&Figure<'_>>) = self
            .figures
            .iter()
            .partition(|figure| figure.claim.state == ClaimState::NumberFound);
        let mut told = BTreeSet::new();
        let found: Vec<String> = found
            .into_iter()
            .filter(|figure| {
                told.insert((
                    &figure.claim.quote,
                    figure.claim.found.and_then(|found| found.page),
                ))
            })
            .map(|figure| match page(figure.claim.found) {
                Some(page) => format!("{} ({page})", back(figure)),
                None => back(figure),
            })
            .collect();
        if !found.is_empty() {
            let _ = write!(html, "<li>numbers found: {}</li>", found.join(", "));
        }
        for figure in missing {
            let _ = write!(
                html,
                "<li>number: {} <strong>{NO_NUMBER}</strong></li>",
                back(figure)
            );
        }
    }
}

const NO_NUMBER: &str = "not found in what is cited";

fn authors(names: &[String]) -> String {
    if names.len() <= AUTHORS_NAMED {
        return names.join(", ");
    }
    format!(
        "{} and {} others",
        names[..AUTHORS_NAMED].join(", "),
        names.len() - AUTHORS_NAMED
    )
}

/// A link for what has an address, the name for what is the person's own: never a path.
fn place(meta: &SourceMeta) -> String {
    let web = meta
        .url
        .as_deref()
        .filter(|url| url.starts_with("https://") || url.starts_with("http://"));
    match (web, &meta.file) {
        (Some(url), _) => format!(
            "<a href=\"{0}\" rel=\"noopener noreferrer\">{0}</a>",
            escaped(url)
        ),
        (None, Some(file)) => format!(
            "<span class=\"lr-file\">{}</span>",
            escaped(file.trim_start_matches('/'))
        ),
        (None, None) => meta.url.as_deref().map(escaped).unwrap_or_default(),
    }
}

fn page(found: Option<TextRange>) -> Option<String> {
    found?.page.map(|page| format!("page {page}"))
}

fn doubt(claim: &Claim) -> Option<&'static str> {
    match claim.state {
        ClaimState::Near => Some("not in these words"),
        ClaimState::NotFound if claim.quote.as_deref().is_some_and(is_too_short) => {
            Some("too short to show anything")
        }
        ClaimState::NotFound => Some("not found in this source"),
        ClaimState::Verbatim
        | ClaimState::Cited
        | ClaimState::SourceNotRead
        | ClaimState::Uncited
        | ClaimState::NumberFound
        | ClaimState::NumberNotFound => None,
    }
}

//! `web_fetch`: a page of the public web as text, captured so that its words can be cited.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use longrein_core::evidence::page_at;
use longrein_core::policy::Onward as Rules;
use longrein_protocol::agent::Decision;
use longrein_protocol::source::TextRange;
use longrein_protocol::tool::Reach;
use longrein_protocol::{ToolErrorClass, ToolSpec};
use longrein_runtime::ports::{Captured, Part, Tool, ToolCall, ToolError, ToolOutput};
use longrein_web::{
    Cache, FetchError, FetchErrorClass, Fetched, Fetcher, JudgeOnward, Onward, Page, PdfText,
    PersonAllows, Request, Settings, Unreadable, environment_names_a_proxy,
};
use serde::Deserialize;
use serde_json::json;

use crate::library::document::{self, Kind};
use crate::tool::{arguments, spec};
use crate::{error, show};

/// The longest address that is taken: what the gate looks at, in bytes.
const ADDRESS_LIMIT_BYTES: usize = 2_048;
/// How long one call may take: fetching, and reading a slow PDF.
const TIMEOUT_MS: u32 = 120_000;
/// How much of a page's text one call shows, in bytes.
const SHOWN_BYTES: usize = 8_000;
/// The most links that are listed, and how many bytes their lines may have.
const LINKS_LIMIT: usize = 40;
const LINKS_LIMIT_BYTES: usize = 3_000;
/// The most headings that are listed.
const HEADINGS_LIMIT: usize = 24;
/// How much of a link's words or of a heading is shown, in bytes.
const WORDS_SHOWN_BYTES: usize = 80;
const RESULT_TOKENS: u32 = 6_000;

/// Where pages come from, for the runs of one tree.
#[derive(Clone)]
pub struct Web {
    /// Serves the whole process.
    pub fetcher: Arc<Fetcher>,
    /// What this tree of runs has fetched.
    pub cache: Arc<Cache>,
    /// Hosts whose `robots.txt` the person has said to leave aside.
    pub ignore_robots: Vec<String>,
}

impl Default for Web {
    fn default() -> Self {
        Self {
            fetcher: Arc::new(fetcher(Settings::default())),
            cache: Arc::default(),
            ignore_robots: Vec::new(),
        }
    }
}

/// A fetcher that reads PDFs as the library does.
pub fn fetcher(settings: Settings) -> Fetcher {
    Fetcher::new(Settings {
        pdf: Some(Arc::new(read_pdf)),
        proxied: environment_names_a_proxy(),
        ..settings
    })
}

fn read_pdf(bytes: &[u8]) -> Result<PdfText, Unreadable> {
    let read = document::read(Kind::Pdf, "", bytes);
    let read = read.map_err(|problem| Unreadable(problem.to_string()))?;
    Ok(PdfText {
        meta: read.meta,
        text: read.text,
        not_evidence: read.hidden,
        notes: read.notes,
    })
}

/// The tool.
struct WebFetch {
    spec: ToolSpec,
    web: Web,
}

pub(crate) fn web_fetch(web: Web) -> Arc<dyn Tool> {
    let properties = json!({
        "url": {
            "type": "string", "minLength": 1, "maxLength": ADDRESS_LIMIT_BYTES,
            "description": "The whole address of the page, as a person, a search result or a page gave it: https://example.org/paper.pdf. A fragment (#…) is ignored.",
        },
        "part": {
            "type": "string", "enum": ["main", "whole"], "default": "main",
            "description": "`main`: what the page is about. `whole`: navigation and asides too, for lists of links or where `main` leaves out what you need. Default `main`.",
        },
    });
    let description = "Fetches a public page (HTML, PDF, plain text, Markdown, JSON, XML) and shows \
        the beginning of its text with a source id: cite it as [S1], or with words that stand in \
        it as [S1: \"exact words\"]. Then its sections and links, with their addresses. Read on \
        with read_source; the same address again gives what was captured before. Scripts are not \
        run, there is no login, and only addresses of the public internet are reached. To find \
        pages, use a search tool; do not make addresses up.";
    let spec = ToolSpec {
        timeout_ms: TIMEOUT_MS,
        result_tokens: RESULT_TOKENS,
        untrusted: true,
        reach: Reach {
            urls: vec!["url".to_owned()],
            ..Reach::default()
        },
        ..spec("web_fetch", description, properties, &["url"])
    };
    Arc::new(WebFetch { spec, web })
}

#[derive(Deserialize)]
struct Asked {
    url: String,
    #[serde(default)]
    part: AskedPart,
}

#[derive(Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum AskedPart {
    #[default]
    Main,
    Whole,
}

#[async_trait]
impl Tool for WebFetch {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(&self, call: ToolCall) -> Result<ToolOutput, ToolError> {
        let asked: Asked = arguments(&call)?;
        let request = Request {
            part: match asked.part {
                AskedPart::Main => longrein_web::Part::Main,
                AskedPart::Whole => longrein_web::Part::Whole,
            },
            ignore_robots: PersonAllows::hosts(&self.web.ignore_robots),
            ..Request::new(asked.url, now_ms())
        };
        let judge = ByRules(&call.onward);
        let fetching = self
            .web
            .fetcher
            .fetch_judged(&request, &self.web.cache, &judge);
        tokio::select! {
            biased;
            () = call.cancel.cancelled() => Err(error::cancelled()),
            fetched = fetching => match fetched {
                Ok(fetched) => Ok(output(&fetched)),
                Err(problem) => Err(told(&problem)),
            },
        }
    }
}

/// The rules that the call started under, held against where a page sends on to.
struct ByRules<'a>(&'a Rules);

impl JudgeOnward for ByRules<'_> {
    fn judge(&self, address: &str) -> Onward {
        match self.0.judge(address) {
            (Decision::Allow, _) => Onward::Follow,
            (Decision::Ask, _) => Onward::Ask,
            (Decision::Deny, why) => Onward::Refuse(why),
        }
    }
}

fn now_ms() -> u64 {
    // A clock before 1970 says nothing about when.
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}

/// A failure in the class that a model can act on.
fn told(problem: &FetchError) -> ToolError {
    let class = match problem.class() {
        FetchErrorClass::InvalidAddress => ToolErrorClass::InvalidArguments,
        FetchErrorClass::NotFound => ToolErrorClass::NotFound,
        _ if problem.may_pass() => ToolErrorClass::Temporary,
        FetchErrorClass::PrivateAddress
        | FetchErrorClass::RefusedByRobots
        | FetchErrorClass::SendsElsewhere => ToolErrorClass::NotPermitted,
        FetchErrorClass::HttpStatus
        | FetchErrorClass::TooManyRedirects
        | FetchErrorClass::TooLarge
        | FetchErrorClass::TimedOut
        | FetchErrorClass::UnsupportedType
        | FetchErrorClass::Unreadable
        | FetchErrorClass::Network => ToolErrorClass::Failed,
    };
    ToolError::new(class, format!("{problem} {}", problem.remedy()))
}

fn output(fetched: &Fetched) -> ToolOutput {
    let page = &*fetched.page;
    let (text, capture) = (&page.text, &page.capture);
    let end = text.floor_char_boundary(SHOWN_BYTES);
    let range = TextRange {
        start: 0,
        end: u32::try_from(end).unwrap_or(u32::MAX),
        page: page.meta.pdf.is_some().then(|| page_at(text, 0)),
    };
    let mut parts = vec![Part::Text(head(fetched))];
    if end > 0 {
        parts.push(Part::Passage(Box::new(Captured {
            meta: page.meta.clone(),
            bytes: capture.bytes.as_slice().into(),
            text: text.as_str().into(),
            range,
        })));
    }
    parts.push(Part::Text(tail(page, end)));
    let bytes = show::count(text.len(), "byte", "bytes");
    let outcome = match fetched.from_cache {
        true => format!("{bytes} of text, fetched before"),
        false => format!("{bytes} of text"),
    };
    ToolOutput {
        parts,
        outcome,
        place: Some(capture.address.clone()),
        ..ToolOutput::default()
    }
}

/// What stands before the text: the way to the page, and what its reader should know.
fn head(fetched: &Fetched) -> String {
    let page = &*fetched.page;
    let capture = &page.capture;
    let mut lines = Vec::new();
    if capture.address != capture.requested {
        lines.push(format!("Sent on to {}.", capture.address));
    }
    if fetched.from_cache {
        lines.push("As it was captured earlier in this run.".to_owned());
    }
    lines.extend(page.notes.iter().map(ToString::to_string));
    if let Some(identifier) = &page.identifier {
        let identifier = show::brief(identifier, WORDS_SHOWN_BYTES);
        lines.push(format!("The page names its work {identifier}."));
    }
    lines.push(String::new());
    lines.join("\n")
}

/// What stands after the text: how it goes on, its sections and its links.
fn tail(page: &Page, end: usize) -> String {
    let mut lines = Vec::new();
    let whole = page.text.len();
    if end < whole {
        lines.push(format!(
            "These are the first {end} of {whole} bytes of its text; read on with read_source, \
             start {end}."
        ));
    } else if end > 0 {
        lines.push("That is all of its text.".to_owned());
    }
    let later = page.headings.iter().filter(|heading| heading.start >= end);
    let later: Vec<String> = later
        .take(HEADINGS_LIMIT)
        .map(|heading| {
            let words = show::brief(&heading.text, WORDS_SHOWN_BYTES);
            format!("- {words} (start {})", heading.start)
        })
        .collect();
    if !later.is_empty() {
        lines.push("Sections further on:".to_owned());
        lines.extend(later);
    }
    lines.extend(links(page));
    lines.join("\n")
}

fn links(page: &Page) -> Vec<String> {
    let mut lines = Vec::new();
    let mut bytes = 0;
    for link in page.links.iter().take(LINKS_LIMIT) {
        let words = show::brief(&link.text, WORDS_SHOWN_BYTES);
        let line = format!("- {words}: {}", link.address);
        bytes += line.len();
        if bytes > LINKS_LIMIT_BYTES {
            break;
        }
        lines.push(line);
    }
    if lines.is_empty() {
        return lines;
    }
    let (shown, all) = (lines.len(), page.links.len());
    let title = match shown == all {
        true => "Links:".to_owned(),
        false => format!("The first {shown} of {all} links:"),
    };
    lines.insert(0, title);
    lines
}

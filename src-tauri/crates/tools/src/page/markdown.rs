//! A Markdown artifact as a page: plain, readable in light and dark, with raw HTML shown as text.

use longrein_core::evidence::{Found, tokens};
use longrein_protocol::BlobHash;
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};

use super::escaped;

const STYLE: &str = "\
:root{color-scheme:light dark}\
body{margin:0;font:1rem/1.6 system-ui,sans-serif}\
main{max-width:44rem;margin:0 auto;padding:2.5rem 1.25rem 4rem}\
h1,h2,h3{line-height:1.25;margin:2em 0 .6em}h1{margin-top:0}\
table{border-collapse:collapse}th,td{text-align:left;vertical-align:top;padding:.35em .8em .35em 0;\
border-bottom:1px solid color-mix(in srgb,currentColor 20%,transparent)}\
pre{overflow-x:auto}pre,code{font-family:ui-monospace,monospace;font-size:.92em}\
blockquote{margin:1em 0;padding-left:1em;border-left:3px solid color-mix(in srgb,currentColor 25%,transparent)}\
img{max-width:100%}";

/// The page that `text` becomes.
pub(super) fn page(text: &str) -> String {
    // Markdown would read the quotes and brackets of a citation as its own marks.
    let stamp = BlobHash::of(text.as_bytes()).to_string();
    let (text, kept) = keep_tokens(text, &stamp[..16]);
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_FOOTNOTES;
    let mut body = String::with_capacity(text.len() * 2);
    let mut title = Title::default();
    let mut pictures = Pictures::default();
    let events = Parser::new_ext(&text, options)
        .flat_map(|event| pictures.inert(event))
        .inspect(|event| title.take(event));
    html::push_html(&mut body, events);
    for (mark, token) in &kept {
        body = body.replace(mark, &escaped(token));
    }
    let title = kept
        .iter()
        .fold(title.text, |title, (mark, _)| title.replace(mark, ""));
    format!(
        "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n",
        escaped(title.trim())
    )
}

/// Replaces each citation by a word that Markdown leaves alone. The stamp is a hash of the text,
/// so no text can hold such a word by itself.
fn keep_tokens(text: &str, stamp: &str) -> (String, Vec<(String, String)>) {
    let mut kept = Vec::new();
    let mut marked = String::with_capacity(text.len());
    let mut from = 0;
    for found in tokens(text) {
        let range = match found {
            Found::Token(token) => token.range,
            Found::Malformed(token) => token.range,
        };
        let mark = format!("lr{stamp}x{}x", kept.len());
        marked.push_str(&text[from..range.start]);
        marked.push_str(&mark);
        from = range.end;
        kept.push((mark, text[range].to_owned()));
    }
    marked.push_str(&text[from..]);
    (marked, kept)
}

/// Takes the life out of what Markdown can bring in, and keeps count of its pictures: the end of
/// one does not say where it leads.
#[derive(Default)]
struct Pictures<'t> {
    /// Whether each picture that is open has become a link.
    linked: Vec<bool>,
    /// Where the link leads that has no words yet.
    wordless: Option<CowStr<'t>>,
}

impl<'t> Pictures<'t> {
    /// Raw HTML is shown as text, links lead nowhere but to pages, and a picture that the page
    /// does not carry itself is a link to it.
    fn inert(&mut self, event: Event<'t>) -> impl Iterator<Item = Event<'t>> + use<'t> {
        let wordless = self.wordless.take();
        let mut words = None;
        let event = match event {
            Event::Html(html) | Event::InlineHtml(html) => Event::Text(html),
            Event::Start(Tag::Link {
                link_type,
                dest_url,
                title,
                id,
            }) => Event::Start(Tag::Link {
                link_type,
                dest_url: safe(dest_url),
                title,
                id,
            }),
            Event::Start(Tag::Image {
                link_type,
                dest_url,
                title,
                id,
            }) if !is_carried(&dest_url) => {
                self.linked.push(true);
                self.wordless = Some(dest_url.clone());
                Event::Start(Tag::Link {
                    link_type,
                    dest_url: safe(dest_url),
                    title,
                    id,
                })
            }
            Event::Start(Tag::Image { .. }) => {
                self.linked.push(false);
                event
            }
            Event::End(TagEnd::Image) if self.linked.pop() == Some(true) => {
                words = wordless.map(Event::Text);
                Event::End(TagEnd::Link)
            }
            event => event,
        };
        words.into_iter().chain(std::iter::once(event))
    }
}

/// Whether the page carries the picture itself.
fn is_carried(url: &str) -> bool {
    url.get(..DATA_IMAGE.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(DATA_IMAGE))
}

const DATA_IMAGE: &str = "data:image/";

fn safe(url: CowStr<'_>) -> CowStr<'_> {
    let scheme = url
        .split_once(':')
        .map(|(scheme, _)| scheme.trim().to_ascii_lowercase());
    match scheme.as_deref() {
        None | Some("http" | "https" | "mailto") => url,
        // A colon after a slash belongs to a path.
        Some(path) if path.contains(['/', '#', '?']) => url,
        Some(_) => CowStr::Borrowed("#"),
    }
}

/// The words of the first heading.
#[derive(Default)]
struct Title {
    text: String,
    open: bool,
    done: bool,
}

impl Title {
    fn take(&mut self, event: &Event<'_>) {
        match event {
            Event::Start(Tag::Heading { .. }) if !self.done => self.open = true,
            Event::End(TagEnd::Heading(_)) if self.open => {
                self.open = false;
                self.done = true;
            }
            Event::Text(text) | Event::Code(text) if self.open => self.text.push_str(text),
            _ => {}
        }
    }
}

//! The model's Markdown as HTML: its own HTML is shown as text, its pictures are named, and of its
//! links those are kept that lead to a page or a letter.

use pulldown_cmark::{CowStr, Event, LinkType, Options, Parser, Tag, TagEnd, html};

use super::html::Html;

/// Writes Markdown.
pub(super) fn prose(html: &mut Html, text: &str) {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let events = Parser::new_ext(text, options).map(tame);
    let mut written = String::new();
    html::push_html(&mut written, events);
    html.raw("<div class=\"prose\" dir=\"auto\">");
    html.raw(&written);
    html.raw("</div>");
}

fn tame(event: Event<'_>) -> Event<'_> {
    match event {
        Event::Html(marks) | Event::InlineHtml(marks) => Event::Text(marks),
        Event::Start(Tag::HtmlBlock) => Event::Start(Tag::Paragraph),
        Event::End(TagEnd::HtmlBlock) => Event::End(TagEnd::Paragraph),
        // What it shows would be fetched; its description is its text.
        Event::Start(Tag::Image { .. }) => Event::Start(Tag::Emphasis),
        Event::End(TagEnd::Image) => Event::End(TagEnd::Emphasis),
        Event::Start(Tag::Link {
            link_type,
            dest_url,
            title,
            id,
        }) => {
            let kept = leads_out(&dest_url) || link_type == LinkType::Email;
            let dest_url = if kept { dest_url } else { CowStr::from("#") };
            Event::Start(Tag::Link {
                link_type,
                dest_url,
                title,
                id,
            })
        }
        event => event,
    }
}

fn leads_out(address: &str) -> bool {
    let address = address.to_ascii_lowercase();
    ["https://", "http://", "mailto:"]
        .iter()
        .any(|scheme| address.starts_with(scheme))
}

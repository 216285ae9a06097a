//! A run as one HTML file that asks nothing of any network: the whole transcript with the rein beside
//! it, readable without scripts, and an inspector of its requests for those who let the file's own
//! script run.

mod html;
mod panel;
mod prose;
mod row;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use longrein_protocol::view::RunState;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::story::Story;
use crate::words;
use html::Html;

/// The colours and sizes of the window.
const TOKENS: &str = include_str!("../../../../../ui/src/shared/tokens.css");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The page of a run.
pub fn page(story: &Story) -> String {
    let mut html = Html::default();
    head(&mut html, story);
    html.raw("<body>");
    banner(&mut html, story);
    html.raw("<div class=\"sides\"><main>");
    run(&mut html, story, "");
    html.raw("</main>");
    panel::panel(&mut html, &story.view.head);
    html.raw("</div>");
    foot(&mut html, story);
    html.raw("</body></html>\n");
    words::tame(&html.text)
}

fn head(html: &mut Html, story: &Story) {
    let hash = STANDARD.encode(Sha256::digest(SCRIPT.as_bytes()));
    let policy = format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{hash}'; img-src data:; base-uri 'none'; form-action 'none'"
    );
    html.raw("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">");
    html.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
    html.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"");
    html.escaped(&policy);
    html.raw("\"><meta name=\"referrer\" content=\"no-referrer\"><title>");
    html.escaped(&story.view.head.title);
    html.raw("</title><style>");
    html.raw(TOKENS);
    html.raw(STYLE);
    html.raw("</style></head>");
}

fn banner(html: &mut Html, story: &Story) {
    let head = &story.view.head;
    html.raw("<header class=\"banner\"><div><h1>");
    html.escaped(&head.title);
    html.raw("</h1><p class=\"facts\">");
    html.escaped(&words::facts(head).join(" · "));
    html.raw(" · ");
    html.time(head.created_at);
    html.raw("</p></div><p class=\"state ");
    html.raw(tone(head.state));
    html.raw("\">");
    html.escaped(words::of_run(head.state));
    html.raw("</p></header>");
    if head.demo {
        html.element(
            "p",
            "demo",
            "The model of this run is the demonstration stand-in: it follows rules and thinks nothing.",
        );
    }
}

fn tone(state: RunState) -> &'static str {
    match state {
        RunState::Running => "run",
        RunState::Waiting | RunState::HandedOff | RunState::Interrupted => "wait",
        RunState::Accepted => "good",
        RunState::Failed | RunState::Unreadable => "bad",
        RunState::Paused | RunState::Unverified | RunState::Cancelled => "soft",
    }
}

/// The rows of a run on their line. `within` keeps the names of a child's rows apart.
fn run(html: &mut Html, story: &Story, within: &str) {
    if story.view.earlier > 0 {
        let words = format!("{} earlier rows are left out.", story.view.earlier);
        html.element("p", "left-out", &words);
    }
    html.raw("<ol class=\"rein\">");
    for item in &story.view.rows {
        row::row(html, item, story, within);
    }
    html.raw("</ol>");
}

fn foot(html: &mut Html, story: &Story) {
    html.raw("<footer><p>Exported by Longrein from run <code>");
    html.escaped(&story.view.head.run);
    html.raw("</code>, event ");
    html.escaped(&story.view.seq.to_string());
    if !story.head.is_empty() {
        html.raw("; the log’s last row is <code>");
        html.escaped(&story.head);
        html.raw("</code>");
    }
    html.raw(".</p></footer><noscript><p class=\"left-out\">What each request to the model was made of is shown where scripts may run.</p></noscript>");
    html.raw("<script type=\"application/json\" id=\"requests\">");
    html.json(&json!(story.requests));
    html.raw("</script><script>");
    html.raw(SCRIPT);
    html.raw("</script>");
}

#[cfg(test)]
mod tests;

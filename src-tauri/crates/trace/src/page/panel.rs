//! What stands beside the rows: plan, criteria, sources, files with their evidence.

use longrein_core::view::thousands;
use longrein_protocol::source::PlanState;
use longrein_protocol::view::{ArtifactLine, RunHead};

use super::html::Html;
use crate::words;

/// Writes the panel.
pub(super) fn panel(html: &mut Html, head: &RunHead) {
    html.raw("<aside>");
    let stages = head.stages.iter();
    states(
        html,
        "Stages",
        stages.map(|stage| (stage.state, &*stage.name)),
    );
    let plan = head.plan.iter();
    states(html, "Plan", plan.map(|item| (item.state, &*item.text)));
    criteria(html, head);
    let notes = head.notes.iter();
    let notes: Vec<String> = notes.map(|note| note.text.clone()).collect();
    section(html, "Kept in view", &notes);
    sources(html, head);
    for artifact in &head.artifacts {
        evidence(html, artifact);
    }
    let rules: Vec<&str> = head.rules.iter().map(|rule| rule.words.as_str()).collect();
    section(html, "Rules", &rules);
    html.raw("</aside>");
}

/// Lines of which each is so far.
fn states<'w>(html: &mut Html, title: &str, lines: impl Iterator<Item = (PlanState, &'w str)>) {
    let mut lines = lines.peekable();
    if lines.peek().is_none() {
        return;
    }
    html.raw("<section>");
    html.element("h2", "title", title);
    html.raw("<ul>");
    for (state, words) in lines {
        let class = match state {
            PlanState::Done => "verdict good",
            PlanState::Open | PlanState::Doing | PlanState::Dropped => "verdict",
        };
        html.raw("<li>");
        html.element("span", class, words::of_plan(state));
        html.raw(" ");
        html.escaped(words);
        html.raw("</li>");
    }
    html.raw("</ul></section>");
}

fn section<S: AsRef<str>>(html: &mut Html, title: &str, lines: &[S]) {
    if lines.is_empty() {
        return;
    }
    html.raw("<section>");
    html.element("h2", "title", title);
    html.raw("<ul>");
    for line in lines {
        html.element("li", "line", line.as_ref());
    }
    html.raw("</ul></section>");
}

fn criteria(html: &mut Html, head: &RunHead) {
    if head.done_when.is_empty() {
        return;
    }
    html.raw("<section>");
    html.element("h2", "title", "Done when");
    html.raw("<ul>");
    for criterion in &head.done_when {
        html.raw("<li>");
        if head.verified {
            html.verdict(criterion.holds);
        }
        html.escaped(&criterion.criterion);
        html.element("p", "detail", &criterion.evidence);
        html.raw("</li>");
    }
    html.raw("</ul></section>");
}

fn sources(html: &mut Html, head: &RunHead) {
    if head.sources.is_empty() {
        return;
    }
    html.raw("<section>");
    html.element("h2", "title", "Sources");
    html.raw("<ul>");
    for source in &head.sources {
        html.raw("<li id=\"source-");
        html.escaped(&source.id);
        html.raw("\"><span class=\"id\">");
        html.escaped(&source.id);
        html.raw("</span> ");
        html.escaped(&source.meta.title);
        let place = source.meta.url.as_ref().or(source.meta.file.as_ref());
        html.element("p", "detail", place.map_or("", String::as_str));
        html.raw("</li>");
    }
    html.raw("</ul></section>");
}

fn evidence(html: &mut Html, artifact: &ArtifactLine) {
    html.raw("<section>");
    html.element("h2", "title", &artifact.path);
    let bytes = thousands(u64::from(artifact.bytes));
    html.element("p", "detail", &format!("{}, {bytes} bytes", artifact.title));
    if !artifact.ledger.is_empty() {
        html.raw("<details><summary>Evidence</summary><ul>");
        for claim in &artifact.ledger {
            html.raw("<li class=\"line\">");
            html.escaped(&claim.sentence);
            let quote = claim.quote.as_deref().map(|quote| format!("“{quote}” "));
            let said = format!(
                "{}{}: {}",
                quote.unwrap_or_default(),
                claim.source,
                words::of_claim(claim.state)
            );
            html.element("p", "detail", &said);
            html.raw("</li>");
        }
        html.raw("</ul></details>");
    }
    html.raw("</section>");
}

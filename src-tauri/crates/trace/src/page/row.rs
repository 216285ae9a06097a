//! One row with its knot on the line.

use longrein_protocol::agent::Decision;
use longrein_protocol::block::Trust;
use longrein_protocol::event::Digest;
use longrein_protocol::source::CriterionResult;
use longrein_protocol::view::{
    ActionRow, Knot, KnotShape, KnotTone, Listed, Row, RowContent, RuleLine, SaidLine,
};

use super::html::Html;
use super::prose::prose;
use crate::story::Story;
use crate::words;

/// Writes a row.
pub(super) fn row(html: &mut Html, row: &Row, story: &Story, within: &str) {
    let tone = row.knot.as_ref().map_or("none", |knot| tone(knot.tone));
    let (seq, step) = (row.seq, row.step);
    html.raw(&format!(
        "<li id=\"{within}e{seq}\" class=\"row {tone}\" data-seq=\"{seq}\" data-step=\"{step}\">"
    ));
    if let Some(knot) = &row.knot {
        html.raw(mark(knot));
    }
    content(html, &row.content, story, within);
    html.raw("</li>");
}

fn tone(tone: KnotTone) -> &'static str {
    match tone {
        KnotTone::Plain => "plain",
        KnotTone::Running => "running",
        KnotTone::Waiting => "waiting",
        KnotTone::Good => "good",
        KnotTone::Bad => "bad",
    }
}

/// The drawing of a knot, as the window draws it.
fn mark(knot: &Knot) -> &'static str {
    match knot.shape {
        KnotShape::Person => {
            r#"<svg class="knot" viewBox="-12 -12 24 24" aria-hidden="true"><circle class="disc full" r="6"/></svg>"#
        }
        KnotShape::Ring if knot.tone == KnotTone::Bad => {
            r#"<svg class="knot" viewBox="-12 -12 24 24" aria-hidden="true"><circle class="disc" r="5"/><path d="M-2-2 2 2M2-2-2 2"/></svg>"#
        }
        KnotShape::Ring => {
            r#"<svg class="knot" viewBox="-12 -12 24 24" aria-hidden="true"><circle class="disc" r="5"/></svg>"#
        }
        KnotShape::Square => {
            r#"<svg class="knot" viewBox="-12 -12 24 24" aria-hidden="true"><rect class="disc" x="-6.5" y="-6.5" width="13" height="13" rx="3"/></svg>"#
        }
        KnotShape::Splice => {
            r#"<svg class="knot splice" viewBox="-12 -12 24 24" aria-hidden="true"><rect class="gap" x="-4" y="-4" width="8" height="8"/><path d="M-9-7.5 9-.5M-9 .5 9 7.5"/></svg>"#
        }
        KnotShape::Break => {
            r#"<svg class="knot" viewBox="-12 -12 24 24" aria-hidden="true"><circle class="disc" r="9"/><path d="M-2.75-3.5V3.5M2.75-3.5V3.5"/></svg>"#
        }
        KnotShape::End => {
            r#"<svg class="knot" viewBox="-12 -12 24 24" aria-hidden="true"><circle class="disc full" r="9.5"/><path class="in" d="M-4 .5-1.25 3.25 4-2.75"/></svg>"#
        }
        KnotShape::Stop => {
            r#"<svg class="knot" viewBox="-12 -12 24 24" aria-hidden="true"><circle class="disc full" r="9.5"/><path class="in" d="M-3-3 3 3M3-3-3 3"/></svg>"#
        }
    }
}

fn content(html: &mut Html, content: &RowContent, story: &Story, within: &str) {
    match content {
        RowContent::Question { text } => {
            html.raw("<div class=\"asked\">");
            prose(html, text);
            html.raw("</div>");
        }
        RowContent::Answer { text, thinking } => {
            html.folded("Reasoning", thinking);
            prose(html, text);
        }
        RowContent::Action(action) => card(html, action, story, within),
        RowContent::Verification { results, accepted } => verification(html, results, *accepted),
        RowContent::Acceptance { text, said, .. } => {
            html.element("p", "note", text);
            said.iter().for_each(|said| of_person(html, said));
        }
        RowContent::Rules {
            text,
            added,
            removed,
        } => {
            html.element("p", "note", text);
            rules(html, "In force from here on", added);
            rules(html, "No longer in force", removed);
        }
        RowContent::Side {
            text,
            model,
            answer,
            ..
        } => {
            html.element("p", "note", &format!("{text} ({model})"));
            html.folded("What it said", answer);
        }
        RowContent::Splice { text } => {
            html.element("p", "note bad", &format!("Spliced. {text}"));
        }
        RowContent::Files { text, left_out } => {
            html.element("p", "note", text);
            html.element("p", "detail", left_out);
        }
        RowContent::Compacted { text, details } => {
            html.element("p", "note", &format!("Compacted. {text}"));
            left_out(html, details);
        }
        RowContent::Notice { text } | RowContent::Budget { text, .. } => {
            html.element("p", "note", text);
        }
        RowContent::ModelTrouble { text, retrying } => {
            let after = if *retrying { " It is tried again." } else { "" };
            html.element("p", "note bad", &format!("{text}{after}"));
        }
        RowContent::Stop {
            state,
            text,
            remedy,
            digest,
        } => {
            let said = format!("{}. {text}", words::of_run(*state));
            html.element("p", "stop", said.trim_end_matches(". "));
            html.element("p", "detail", remedy);
            digest.iter().for_each(|digest| handed_over(html, digest));
        }
    }
}

fn rules(html: &mut Html, heading: &str, rules: &[RuleLine]) {
    let words: Vec<&str> = rules.iter().map(|rule| rule.words.as_str()).collect();
    html.list(heading, &words);
}

fn left_out(html: &mut Html, details: &[Listed]) {
    if details.is_empty() {
        return;
    }
    html.raw("<details><summary>What was left out and what is kept</summary>");
    for listed in details {
        html.list(&listed.title, &listed.lines);
    }
    html.raw("</details>");
}

fn handed_over(html: &mut Html, digest: &Digest) {
    html.list("Done", &digest.done);
    html.list("Open", &digest.open);
    html.element("p", "detail", &digest.cost);
}

fn card(html: &mut Html, action: &ActionRow, story: &Story, within: &str) {
    let class = match action.trust {
        Trust::Untrusted => "card untrusted",
        Trust::Trusted => "card",
    };
    html.raw(&format!("<details class=\"{class}\"><summary><code>"));
    html.escaped(&action.tool);
    html.raw("</code> ");
    html.element("span", "brief", &action.brief);
    let outcome = match action.outcome.as_str() {
        "" => words::of_action(action.state),
        outcome => outcome,
    };
    html.element("span", "outcome", outcome);
    if action.trust == Trust::Untrusted {
        html.element("span", "tag", "untrusted");
    }
    if let Some(latency_ms) = action.latency_ms {
        html.element("span", "took", &format!("{latency_ms} ms"));
    }
    html.raw("</summary><div class=\"body\">");
    html.element("p", "detail", words::of_action(action.state));
    html.folded("Arguments", &action.arguments);
    html.folded("Arguments as the model proposed them", &action.proposed);
    checks(html, action);
    action.said.iter().for_each(|said| of_person(html, said));
    if let Some(question) = &action.question {
        html.element("p", "note", &question.text);
        html.element(
            "p",
            "detail",
            question.answer.as_deref().unwrap_or_default(),
        );
    }
    html.element("pre", "words result", &action.result);
    html.raw("</div></details>");
    let begun = story.children.iter();
    begun
        .filter(|child| child.of_action == action.action)
        .for_each(|child| branch(html, child, within));
}

/// A child, which leaves the line and joins it again.
fn branch(html: &mut Html, child: &Story, within: &str) {
    let head = &child.view.head;
    html.raw("<details class=\"branch\"><summary>");
    html.escaped(&head.title);
    let standing = format!("{}, {} steps", words::of_run(head.state), head.steps.used);
    html.element("span", "outcome", &standing);
    html.raw("</summary>");
    let name = format!("{within}{}-", head.run.to_lowercase());
    super::run(html, child, &name);
    html.raw("</details>");
}

fn checks(html: &mut Html, action: &ActionRow) {
    if action.checks.is_empty() {
        return;
    }
    html.raw("<details><summary>Decision: ");
    html.escaped(&action.decision);
    html.raw("</summary><ul class=\"checks\">");
    for check in &action.checks {
        let decision = match check.decision {
            Decision::Allow => "yes",
            Decision::Ask => "ask",
            Decision::Deny => "no",
        };
        let facts = match check.facts.as_str() {
            "" => String::new(),
            facts => format!(", {facts}"),
        };
        let said = format!("{}: {decision}{facts}", words::of_check(check.check));
        html.element("li", "line", &said);
    }
    html.raw("</ul></details>");
}

fn of_person(html: &mut Html, said: &SaidLine) {
    html.raw("<p class=\"said\">");
    html.escaped(&said.words);
    html.raw(" · ");
    html.time(said.at);
    html.raw("</p>");
    html.element("p", "detail", &said.note);
}

fn verification(html: &mut Html, results: &[CriterionResult], accepted: bool) {
    let words = if accepted {
        "Checked: every criterion holds."
    } else {
        "Checked: not every criterion holds."
    };
    html.element("p", "note", words);
    html.raw("<ul class=\"checked\">");
    for result in results {
        html.raw("<li>");
        html.verdict(result.holds);
        html.escaped(&result.criterion);
        html.element("p", "detail", &result.evidence);
        html.element("pre", "words", &result.difference.join("\n"));
        html.raw("</li>");
    }
    html.raw("</ul>");
}

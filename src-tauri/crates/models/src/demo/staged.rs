//! What the demonstration model does in the stages of an agent that has them: as the one who leads,
//! and as a helper.

use longrein_protocol::source::PlanState;
use serde_json::{Value, json};

use super::rank::Ranking;
use super::request::{Action, Seen};
use super::rules::{Move, queries};
use super::text::counted;

/// The most parts of the plan.
const PARTS: usize = 3;
/// The most quotes that a helper reports.
const REPORTED: usize = 6;
/// The most places that are read once more after the helpers.
const PLACES: usize = 8;
/// What stands in a report behind a quote: where its passage lies.
const AT: &str = " (bytes ";

/// Makes the plan, and says that it is made.
pub(crate) fn plan(seen: &Seen) -> Move {
    if seen
        .last("update_plan")
        .is_some_and(|place| !seen.actions[place].failed())
    {
        let words = "The plan is made: one part for each way of asking.";
        return Move::new(words).call(seen, "finish", json!({"summary": words}));
    }
    Move::new(
        "I am the demonstration model: a set of rules, no AI. I split the question into its words, have each part \
         looked up, and put the sentences that answer best on one page with their sources.",
    )
    .call(seen, "update_plan", json!({"items": parts(seen)}))
}

fn parts(seen: &Seen) -> Vec<Value> {
    let mut queries = queries(&seen.asked);
    queries.truncate(PARTS);
    // A question without a letter is one part all the same.
    if queries.is_empty() {
        queries.push(seen.question.clone());
    }
    let item =
        |query: &String| json!({"text": format!("Look up “{query}”"), "state": PlanState::Open});
    queries.iter().map(item).collect()
}

/// What a helper was asked to look up: what stands in quotes in its part of the work.
pub(crate) fn asked_of_helper(brief: &str) -> &str {
    let part = brief
        .rsplit_once("Your part of it: ")
        .map_or(brief, |(_, part)| part);
    let quoted = part
        .split_once('“')
        .and_then(|(_, rest)| rest.rsplit_once('”'));
    quoted.map_or(part, |(quoted, _)| quoted)
}

/// A helper's report: its best quotes, each with its source and where its passage lies.
pub(crate) fn report(seen: &Seen, ranking: &Ranking) -> Move {
    let quotes = &ranking.quotes[..ranking.quotes.len().min(REPORTED)];
    let mut summary = match quotes {
        [] => "Nothing that I read speaks of this.".to_owned(),
        _ => format!("{} found:", counted(quotes.len(), "quote")),
    };
    for quote in quotes {
        summary.push_str(&format!("\n- [{}: \"{}\"]", quote.source, quote.words));
        let passage = seen.passage_of(quote.source, &quote.words);
        if let Some((start, end)) = passage.and_then(|passage| passage.range) {
            summary.push_str(&format!("{AT}{start}-{end})"));
        }
    }
    Move::new(summary.clone()).call(seen, "finish", json!({"summary": summary}))
}

/// Reads the places that the helpers named, each once; `None` where that was done, or where there
/// are none.
pub(crate) fn read_reported(seen: &Seen) -> Option<Move> {
    if !seen.has("read_source") || seen.count("read_source") > 0 || seen.count("write_file") > 0 {
        return None;
    }
    let places = reported(seen);
    if places.is_empty() {
        return None;
    }
    let words = format!(
        "The helpers named {}; I read there.",
        counted(places.len(), "place")
    );
    let next = places.into_iter().fold(Move::new(words), |next, place| {
        next.call(seen, "read_source", place)
    });
    Some(next)
}

/// The places in the reports: source and bytes.
fn reported(seen: &Seen) -> Vec<Value> {
    let mut places: Vec<Value> = Vec::new();
    let lines = seen.reports().flat_map(str::lines);
    for line in lines {
        let Some(place) = place_of(line) else {
            continue;
        };
        if places.len() < PLACES && !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

/// The place in one line: `- [S3: "words"] (bytes 120-560)`.
fn place_of(line: &str) -> Option<Value> {
    let (quote, bytes) = line.strip_prefix("- [")?.rsplit_once(AT)?;
    let (source, _) = quote.split_once(':')?;
    let (start, end) = bytes.strip_suffix(')')?.split_once('-')?;
    let (start, end): (u32, u32) = (start.parse().ok()?, end.parse().ok()?);
    Some(json!({"source": source, "start": start, "end": end}))
}

/// The plan as it was last set, with every item done; `None` where there is none.
pub(crate) fn closed_plan(seen: &Seen, evidence: &str) -> Option<Value> {
    let is_plan = |action: &&Action| action.tool == "update_plan" && !action.failed();
    let last = seen.actions.iter().rev().find(is_plan);
    let in_view = last.and_then(|last| last.arguments["items"].as_array().cloned());
    // What made room since is told by the harness.
    let told = || {
        seen.plan_told()
            .into_iter()
            .map(|text| json!({"text": text}))
    };
    let mut items = in_view.unwrap_or_else(|| told().collect());
    if items.is_empty() {
        return None;
    }
    for item in &mut items {
        item["state"] = json!(PlanState::Done);
        item["evidence"] = json!(evidence);
    }
    Some(json!({ "items": items }))
}

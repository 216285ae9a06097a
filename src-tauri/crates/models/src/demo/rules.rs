//! What the demonstration model does next: plan, search, read on, write, publish, finish; and
//! what it does when something was refused.

use longrein_core::evidence::{Found, tokens};
use longrein_protocol::SourceId;
use longrein_protocol::source::{PlanItem, PlanState};
use longrein_runtime::ports::ReplyBlock;
use serde_json::{Value, json};

use super::long;
use super::page::page;
use super::rank::{Ranking, rank};
use super::request::{Action, Seen};
use super::staged;
use super::text::{counted, cut_at_word, terms, words};

/// The page's path.
const PAGE: &str = "index.html";
/// The stages of the research agent in which there is no page to write.
const PLANNING: &str = "plan";
const VERIFYING: &str = "verify";
/// How often the page is written, repairs included.
const WRITES: usize = 4;
/// How often searching is tried when every search fails.
const SEARCH_ROUNDS: usize = 2;
/// The longest query in characters.
const QUERY_LIMIT: usize = 300;
/// How many terms a narrower query has.
const QUERY_TERMS: usize = 4;
/// Passages asked for with each search.
const PASSAGES: u32 = 8;
/// How many documents are read on in.
const READ_ON: usize = 2;
/// How far is read on, in bytes.
const READ_ON_BYTES: u32 = 1_600;
/// How many letters of a quote have to stand in an objection for the quote to be meant.
const OBJECTION_LETTERS: usize = 40;

const PLAN: [&str; 5] = [
    "Search the library for the words of the question",
    "Read on around the best passages",
    "Choose sentences that answer, of at least two documents",
    "Write one page on which every statement is cited",
    "Publish the page and have it checked",
];

/// The words and calls of one reply.
pub(crate) struct Move {
    pub words: String,
    pub calls: Vec<(&'static str, Value)>,
}

impl Move {
    pub(super) fn new(words: impl Into<String>) -> Self {
        Self {
            words: words.into(),
            calls: Vec::new(),
        }
    }

    pub(super) fn call(mut self, seen: &Seen, tool: &'static str, arguments: Value) -> Self {
        if seen.has(tool) {
            self.calls.push((tool, arguments));
        }
        self
    }

    /// The reply's blocks. Ids are counted over the replies that the request holds.
    pub fn into_blocks(self, seen: &Seen) -> Vec<ReplyBlock> {
        let reply = seen.replies + 1;
        let mut blocks = vec![ReplyBlock::Text {
            text: self.words,
            raw: None,
        }];
        for (position, (tool, arguments)) in self.calls.into_iter().enumerate() {
            blocks.push(ReplyBlock::ToolUse {
                id: format!("demo_{reply}_{}", position + 1),
                name: tool.to_owned(),
                arguments: arguments.to_string(),
                raw: None,
            });
        }
        blocks
    }
}

/// Decides the next reply.
pub(crate) fn decide(seen: &Seen) -> Move {
    if seen.stage.as_deref() == Some(PLANNING) {
        return staged::plan(seen);
    }
    if let Some(written) = seen.last("write_file") {
        return after_writing(seen, &ranking(seen), written);
    }
    if is_verifying(seen) {
        // The page was written, and made room since.
        return finish(seen, false);
    }
    let ranking = ranking(seen);
    if let Some(next) = gather(seen, &ranking) {
        return next;
    }
    if seen.is_helper {
        return staged::report(seen, &ranking);
    }
    match seen.has("write_file") {
        true => write(seen, &ranking, first_words(&ranking)),
        false => without_page(seen, &ranking),
    }
}

fn ranking(seen: &Seen) -> Ranking {
    rank(&seen.asked, &seen.passages, &|quote| {
        is_objected(quote, seen)
    })
}

/// What is to be found out before there is anything to write; `None` once enough was.
fn gather(seen: &Seen, ranking: &Ranking) -> Option<Move> {
    // Where what the helpers reported made room, what was read of it counts.
    let is_read = seen.stage.is_some() && !is_new(seen) && !seen.passages.is_empty();
    let was_searched = is_read || seen.reports().next().is_some();
    let next = staged::read_reported(seen)
        .or_else(|| was_searched.then(|| long::next(seen))?)
        .or_else(|| long::read_again(seen));
    if next.is_some() {
        return next;
    }
    let plans = seen.stage.is_none() && !seen.is_helper;
    if plans && seen.has("update_plan") && seen.count("update_plan") == 0 {
        let words = "I am the demonstration model: a set of rules, no AI. I will search the library for the words of \
                     your question, quote the sentences that answer it best, and put them on one page with their \
                     sources.";
        return Some(Move::new(words).call(seen, "update_plan", plan(0, &[])));
    }
    if seen.has("search_library") && !was_searched && must_search(seen) {
        return Some(search(seen));
    }
    if seen.has("read_source") && seen.count("read_source") == 0 {
        let places = places_to_read(seen, ranking);
        return (!places.is_empty()).then(|| read_on(seen, places));
    }
    None
}

/// Whether the page of a question that was asked once is there and is being checked.
fn is_verifying(seen: &Seen) -> bool {
    seen.stage.as_deref() == Some(VERIFYING) && !is_new(seen) && !seen.is_sent_back(0)
}

/// Whether the person has said more since the question.
fn is_new(seen: &Seen) -> bool {
    seen.asked != seen.question
}

fn must_search(seen: &Seen) -> bool {
    let searches: Vec<&Action> = seen
        .actions
        .iter()
        .filter(|action| action.tool == "search_library")
        .collect();
    // A question without a single letter has no queries, and still gets a page that says so.
    let queries = queries(&seen.asked).len();
    let all_failed = searches.iter().all(|action| action.failed());
    all_failed && searches.len() < SEARCH_ROUNDS * queries
}

/// The whole question, then its terms in parts: a long question hides its rarer words.
pub(super) fn queries(asked: &str) -> Vec<String> {
    let whole = asked.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut queries = vec![cut_at_word(&whole, QUERY_LIMIT).to_owned()];
    let mut terms = terms(asked);
    // A name in capitals is rarer than a word, a long word rarer than a short one, and a number
    // alone says little.
    terms.retain(|term| term.contains(char::is_alphabetic));
    terms.sort_by_key(|term| {
        let is_name = term.chars().count() > 1 && asked.contains(&term.to_uppercase());
        let is_cased = term.to_uppercase() != *term;
        (
            !(is_name && is_cased),
            std::cmp::Reverse(term.chars().count()),
        )
    });
    for part in terms.chunks(QUERY_TERMS).take(2) {
        let query = part.join(" ");
        if words(&query) != words(&queries[0]) && !queries.contains(&query) {
            queries.push(query);
        }
    }
    queries.retain(|query| query.contains(char::is_alphanumeric));
    queries
}

fn search(seen: &Seen) -> Move {
    let queries = queries(&seen.asked);
    let count = queries.len();
    let words = match count {
        1 => "I search the library for the question.".to_owned(),
        _ => format!(
            "I search the library in {count} ways: for the whole question, and for its rarer words."
        ),
    };
    queries.into_iter().fold(Move::new(words), |next, query| {
        next.call(
            seen,
            "search_library",
            json!({"query": query, "limit": PASSAGES}),
        )
    })
}

/// Where to read on: behind the passages that the best quotes stand in.
fn places_to_read(seen: &Seen, ranking: &Ranking) -> Vec<Value> {
    let mut places: Vec<(String, Value)> = Vec::new();
    for quote in &ranking.quotes {
        let source = quote.source.to_string();
        if places.len() == READ_ON || places.iter().any(|(known, _)| *known == source) {
            continue;
        }
        if let Some((start, end)) = seen
            .passage_of(quote.source, &quote.words)
            .and_then(|passage| passage.range)
        {
            let arguments =
                json!({"source": source, "start": start, "end": end.saturating_add(READ_ON_BYTES)});
            places.push((source, arguments));
        }
    }
    places.into_iter().map(|(_, arguments)| arguments).collect()
}

fn read_on(seen: &Seen, places: Vec<Value>) -> Move {
    let documents = if places.len() == 1 {
        "one document looks"
    } else {
        "two documents look"
    };
    let words = format!(
        "{} found something; {documents} best, so I read on there.",
        searches(seen)
    );
    let found = counted(seen.passages.len(), "passage");
    let next = planned(seen, Move::new(words), plan(1, &[&found]));
    places
        .into_iter()
        .fold(next, |next, place| next.call(seen, "read_source", place))
}

fn searches(seen: &Seen) -> String {
    match seen.searches.len() {
        1 => "The search".to_owned(),
        _ => "The searches".to_owned(),
    }
}

fn first_words(ranking: &Ranking) -> String {
    match ranking.quotes.len() {
        0 => "Nothing that I read speaks of this, so I write a page that says so.".to_owned(),
        count => format!(
            "I looked at {} and chose {count} of {}. Now I write the page.",
            counted(ranking.sentences, "sentence"),
            counted(documents(ranking), "document")
        ),
    }
}

fn documents(ranking: &Ranking) -> usize {
    let mut sources: Vec<_> = ranking.quotes.iter().map(|quote| quote.source).collect();
    sources.sort_unstable();
    sources.dedup();
    sources.len()
}

fn write(seen: &Seen, ranking: &Ranking, words: String) -> Move {
    let found = counted(seen.passages.len(), "passage");
    let chosen = counted(ranking.quotes.len(), "quote");
    planned(seen, Move::new(words), plan(3, &[&found, "", &chosen])).call(
        seen,
        "write_file",
        json!({"path": PAGE, "content": page(seen, ranking)}),
    )
}

/// With the plan brought up to date, where the model made it for itself.
fn planned(seen: &Seen, next: Move, plan: Value) -> Move {
    match seen.stage.is_none() && !seen.is_helper {
        true => next.call(seen, "update_plan", plan),
        false => next,
    }
}

/// The page is written: publish it, finish, or mend what was refused.
fn after_writing(seen: &Seen, ranking: &Ranking, written: usize) -> Move {
    let last = |tool: &str| seen.last(tool).filter(|position| *position > written);
    let may_write = seen.count("write_file") < WRITES;
    if seen.actions[written].failed() {
        return match may_write {
            true => write(
                seen,
                ranking,
                "The page could not be written; I try it again.".to_owned(),
            ),
            false => give_up(seen, &seen.actions[written]),
        };
    }
    if seen.has("publish_artifact") && last("publish_artifact").is_none() {
        return Move::new("The page is written. I publish it, so that its citations are checked.")
            .call(
                seen,
                "publish_artifact",
                json!({"path": PAGE, "title": title(seen)}),
            );
    }
    let unpublished =
        last("publish_artifact").is_some_and(|position| seen.actions[position].failed());
    if (unpublished || seen.is_sent_back(written)) && may_write {
        if let Some(next) = long::read_again(seen) {
            return next;
        }
        let before = seen.actions[written].arguments["content"]
            .as_str()
            .unwrap_or_default();
        if page(seen, ranking) != before {
            let words =
                "Something on the page did not hold. I leave it out and write the page again.";
            return write(seen, ranking, words.to_owned());
        }
    }
    finish(seen, unpublished)
}

fn title(seen: &Seen) -> String {
    let line = seen
        .question
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    cut_at_word(&line, 120).to_owned()
}

fn finish(seen: &Seen, unpublished: bool) -> Move {
    let summary = match on_page(seen) {
        None => format!(
            "{PAGE} answers “{}”. The demonstration model (rules, no AI) wrote it.",
            title(seen)
        ),
        Some((0, _)) => format!(
            "Nothing in the library speaks of “{}”. {PAGE} says so and what was searched.",
            title(seen)
        ),
        Some((count, documents)) => format!(
            "{PAGE} answers “{}” with {} of {}, each with its source. \
             The demonstration model (rules, no AI) wrote it.",
            title(seen),
            counted(count, "quote"),
            counted(documents, "document")
        ),
    };
    let summary = if unpublished {
        format!("{summary} It could not be published.")
    } else {
        summary
    };
    let found = counted(seen.passages.len(), "passage");
    let chosen = counted(on_page(seen).map_or(0, |(quotes, _)| quotes), "quote");
    let end = Move::new(summary.clone());
    let end = match seen.stage.as_deref() {
        None => planned(
            seen,
            end,
            plan(PLAN.len(), &[&found, "", &chosen, PAGE, PAGE]),
        ),
        Some(VERIFYING) => match staged::closed_plan(seen, PAGE) {
            Some(plan) => end.call(seen, "update_plan", plan),
            None => end,
        },
        Some(_) => end,
    };
    end.call(seen, "finish", json!({"summary": summary}))
}

/// How many quotes of how many documents stand on the page as it was last written: what they were
/// chosen from may have made room since.
fn on_page(seen: &Seen) -> Option<(usize, usize)> {
    let written = &seen.actions[seen.last("write_file")?];
    let page = written.arguments["content"].as_str()?;
    let cited = tokens(page).into_iter().filter_map(|found| match found {
        Found::Token(token) => Some(token.cited),
        _ => None,
    });
    let sources: Vec<SourceId> = cited.flatten().map(|cited| cited.source).collect();
    let mut documents = sources.clone();
    documents.sort_unstable();
    documents.dedup();
    Some((sources.len(), documents.len()))
}

fn give_up(seen: &Seen, failed: &Action) -> Move {
    let why = failed.result.as_deref().unwrap_or_default();
    let words = format!("I could not write {PAGE}: {}", cut_at_word(why, 300));
    Move::new(words.clone()).call(seen, "finish", json!({"summary": words}))
}

/// An agent without files gets its answer in words.
fn without_page(seen: &Seen, ranking: &Ranking) -> Move {
    let mut words = match ranking.quotes.is_empty() {
        true => "Nothing that I read speaks of this.".to_owned(),
        false => "The best sentences that I read:\n".to_owned(),
    };
    for quote in &ranking.quotes {
        words.push_str(&format!("\n- “{}” [{}]", quote.words, quote.source));
    }
    Move::new(words.clone()).call(seen, "finish", json!({"summary": words}))
}

/// The plan with the items before `doing` done.
fn plan(doing: usize, evidence: &[&str]) -> Value {
    let item = |(position, text): (usize, &&str)| PlanItem {
        text: (*text).to_owned(),
        state: match position.cmp(&doing) {
            std::cmp::Ordering::Less => PlanState::Done,
            std::cmp::Ordering::Equal => PlanState::Doing,
            std::cmp::Ordering::Greater => PlanState::Open,
        },
        evidence: evidence
            .get(position)
            .filter(|text| !text.is_empty())
            .map(|text| (*text).to_owned()),
    };
    json!({"items": PLAN.iter().enumerate().map(item).collect::<Vec<_>>()})
}

/// Whether the harness has said that a quote does not hold.
fn is_objected(quote: &str, seen: &Seen) -> bool {
    let letters = |text: &str| -> String {
        text.chars()
            .filter(|letter| letter.is_alphanumeric())
            .flat_map(char::to_lowercase)
            .collect()
    };
    let wanted: String = letters(quote).chars().take(OBJECTION_LETTERS).collect();
    let refused = seen
        .actions
        .iter()
        .filter(|action| {
            action.failed() && matches!(action.tool.as_str(), "publish_artifact" | "finish")
        })
        .filter_map(|action| action.result.as_deref());
    refused
        .chain(seen.objections())
        .any(|objection| letters(objection).contains(&wanted))
}

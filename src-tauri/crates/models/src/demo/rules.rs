//! What the demonstration model does next: plan, search, read on, write, publish, finish; and
//! what it does when something was refused.

use longrein_protocol::source::{PlanItem, PlanState};
use longrein_runtime::ports::ReplyBlock;
use serde_json::{Value, json};

use super::page::page;
use super::rank::{Ranking, rank};
use super::request::{Action, Seen};
use super::text::{counted, cut_at_word, terms, words};

/// The page's path.
const PAGE: &str = "index.html";
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
    fn new(words: impl Into<String>) -> Self {
        Self {
            words: words.into(),
            calls: Vec::new(),
        }
    }

    fn call(mut self, seen: &Seen, tool: &'static str, arguments: Value) -> Self {
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
    if seen.has("update_plan") && seen.count("update_plan") == 0 {
        return Move::new(
            "I am the demonstration model: a set of rules, no AI. I will search the library for the words of your \
             question, quote the sentences that answer it best, and put them on one page with their sources.",
        )
        .call(seen, "update_plan", plan(0, &[]));
    }
    if seen.has("search_library") && must_search(seen) {
        return search(seen);
    }
    let ranking = rank(&seen.asked, &seen.passages, &|quote| {
        is_objected(quote, seen)
    });
    if seen.has("read_source") && seen.count("read_source") == 0 && seen.count("write_file") == 0 {
        let places = places_to_read(seen, &ranking);
        if !places.is_empty() {
            return read_on(seen, places);
        }
    }
    if !seen.has("write_file") {
        return without_page(seen, &ranking);
    }
    match seen.last("write_file") {
        None => write(seen, &ranking, first_words(&ranking)),
        Some(written) => after_writing(seen, &ranking, written),
    }
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
fn queries(asked: &str) -> Vec<String> {
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
        let of_quote = |passage: &&super::request::Passage| {
            let text = passage
                .text
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ");
            passage.source == quote.source && text.contains(&quote.words)
        };
        if let Some((start, end)) = seen
            .passages
            .iter()
            .find(of_quote)
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
    let next = Move::new(words).call(seen, "update_plan", plan(1, &[&found]));
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
    Move::new(words)
        .call(seen, "update_plan", plan(3, &[&found, "", &chosen]))
        .call(
            seen,
            "write_file",
            json!({"path": PAGE, "content": page(seen, ranking)}),
        )
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
    let unfinished =
        last("finish").is_some() || seen.notices.iter().any(|(after, _)| *after > written);
    if (unpublished || unfinished) && may_write {
        let before = seen.actions[written].arguments["content"]
            .as_str()
            .unwrap_or_default();
        if page(seen, ranking) != before {
            let words =
                "Something on the page did not hold. I leave it out and write the page again.";
            return write(seen, ranking, words.to_owned());
        }
    }
    finish(seen, ranking, unpublished)
}

fn title(seen: &Seen) -> String {
    let line = seen
        .question
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    cut_at_word(&line, 120).to_owned()
}

fn finish(seen: &Seen, ranking: &Ranking, unpublished: bool) -> Move {
    let summary = match ranking.quotes.len() {
        0 => format!(
            "Nothing in the library speaks of “{}”. {PAGE} says so and what was searched.",
            title(seen)
        ),
        count => format!(
            "{PAGE} answers “{}” with {} of {}, each with its source. \
             The demonstration model (rules, no AI) wrote it.",
            title(seen),
            counted(count, "quote"),
            counted(documents(ranking), "document")
        ),
    };
    let summary = if unpublished {
        format!("{summary} It could not be published.")
    } else {
        summary
    };
    let found = counted(seen.passages.len(), "passage");
    let chosen = counted(ranking.quotes.len(), "quote");
    Move::new(summary.clone())
        .call(
            seen,
            "update_plan",
            plan(PLAN.len(), &[&found, "", &chosen, PAGE, PAGE]),
        )
        .call(seen, "finish", json!({"summary": summary}))
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
    let notices = seen.notices.iter().map(|(_, notice)| notice.as_str());
    refused
        .chain(notices)
        .any(|objection| letters(objection).contains(&wanted))
}

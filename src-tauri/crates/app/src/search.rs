//! Search over everything that was said or found in any run. The index is made of the log, a few
//! events at a time, and never where a step is made: by whoever searches, and by the window while
//! nothing else is to do.

use std::collections::HashMap;

use longrein_core::search::{self, Query, TEXT_BYTES, Text};
use longrein_protocol::view::{RunLine, RunState};
use longrein_protocol::{BlobHash, Body, Event, RunId};
use longrein_store::search::{Hit, NewText, SearchIndex};
use longrein_store::{Log as _, LogError};
use serde::{Deserialize, Serialize};

use crate::Longrein;
use crate::error::{AppError, AppErrorCode};
use crate::files::blocking;

/// Events that are indexed in one transaction.
const PAGE_EVENTS: u32 = 256;
/// The longest content that is read to be indexed; of a longer one, what the model was shown is.
const BODY_BYTES: usize = 4 << 20;
/// Runs that are listed at once.
const PAGE_RUNS: u32 = 500;
/// The most hits of one page.
const HITS_ON_A_PAGE: usize = 50;
/// The most texts that are looked at for one page: with a filter, most of them may not count.
const TEXTS_LOOKED_AT: usize = 2_000;
/// Texts that are asked for at once.
const TEXTS_AT_ONCE: u32 = 100;

/// What is searched for.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct Search {
    /// Words that all have to be there; between quotation marks, words that follow each other.
    pub words: String,
    /// Only in runs of these states; empty: of any.
    #[serde(default)]
    pub states: Vec<RunState>,
    /// Only in runs of this agent; empty: of any.
    #[serde(default)]
    pub agent: String,
    /// Only in this run; empty: in any.
    #[serde(default)]
    pub run: String,
    /// Where a page before ended; empty for the first.
    #[serde(default)]
    pub after: String,
}

/// A page of what was found, the newest first.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct SearchPage {
    /// What was found.
    pub hits: Vec<SearchHit>,
    /// Where the page ends, for the next one; empty where there is no more.
    pub next: String,
}

/// A text in which all words were found.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct SearchHit {
    /// Its run.
    pub run: RunLine,
    /// The event.
    pub seq: u32,
    /// When that was (milliseconds since the epoch).
    #[cfg_attr(feature = "bindings", specta(type = i32))]
    pub at: i64,
    /// What it is: `you`, `answer`, `request`, `result`, `plan`, `file`, `source`, `question`,
    /// `note`, `summary`.
    pub kind: String,
    /// The key of the row that shows it; empty where the panel does.
    pub row: String,
    /// The part of the text around the first place, on one line.
    pub text: String,
    /// The places in it.
    pub marks: Vec<Marked>,
}

/// A place in a text, in UTF-16 units, as JavaScript counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub struct Marked {
    /// Where it begins.
    pub from: u32,
    /// Where it ends.
    pub to: u32,
}

impl Longrein {
    /// Searches all runs, as they stand now.
    ///
    /// # Errors
    /// When there is no word to search for, or the index can't be read or written.
    pub async fn search(&self, search: Search) -> Result<SearchPage, AppError> {
        let query = Query::of(&search.words);
        if query.phrases.is_empty() {
            return Err(AppError::usage(
                "There is no word to search for.",
                "Write a word, or several; between quotation marks they have to follow each other.",
            ));
        }
        self.index_texts().await?;
        let mut lines: HashMap<RunId, Option<RunLine>> = HashMap::new();
        let mut page = SearchPage::default();
        let mut before = search.after.parse().ok();
        let mut looked_at = 0;
        loop {
            let (index, phrases) = (self.search_index(), query.phrases.clone());
            let found = blocking(move || Ok(index.find(&phrases, before, TEXTS_AT_ONCE)?)).await?;
            let is_last = found.len() < TEXTS_AT_ONCE as usize;
            for hit in found {
                looked_at += 1;
                before = Some(hit.id);
                if let Some(line) = self.searched(hit.run, &search, &mut lines).await?
                    && let Some(shown) = self.shown(&hit, line, &query).await?
                    && !page.hits.iter().any(|known| is_same(known, &shown))
                {
                    page.hits.push(shown);
                }
                if page.hits.len() >= HITS_ON_A_PAGE || looked_at >= TEXTS_LOOKED_AT {
                    page.next = hit.id.to_string();
                    return Ok(page);
                }
            }
            if is_last {
                return Ok(page);
            }
        }
    }

    /// Brings the index up to what the log says.
    ///
    /// # Errors
    /// What reading gives, and when the index can't be written.
    pub async fn index_texts(&self) -> Result<(), AppError> {
        let index = self.search_index();
        let indexed = blocking(move || Ok(index.indexed()?)).await?;
        let mut before = None;
        loop {
            let lines = self.inner.store.runs(PAGE_RUNS, before).await?;
            for line in &lines {
                let Ok(run) = line.run.parse() else { continue };
                before = Some(run);
                let from = indexed.get(&run).copied().unwrap_or(0);
                if from < line.seq {
                    self.index_run(run, from).await?;
                }
            }
            if lines.len() < PAGE_RUNS as usize {
                return Ok(());
            }
        }
    }

    /// Makes the index anew.
    ///
    /// # Errors
    /// Those of [`Longrein::index_texts`].
    pub async fn rebuild_search(&self) -> Result<(), AppError> {
        let index = self.search_index();
        blocking(move || Ok(index.clear()?)).await?;
        self.index_texts().await
    }

    pub(crate) fn search_index(&self) -> SearchIndex {
        SearchIndex::of(&self.inner.paths.data)
    }

    async fn index_run(&self, run: RunId, from: u32) -> Result<(), AppError> {
        let mut from = from;
        loop {
            let events = match self.inner.store.read(run, from + 1, PAGE_EVENTS).await {
                Ok(reading) => reading.events,
                // It was deleted meanwhile.
                Err(LogError::NoRun(_)) => return Ok(()),
                Err(error) => return Err(error.into()),
            };
            let Some(last) = events.last().map(|event| event.seq) else {
                return Ok(());
            };
            let texts = self.texts_of_events(&events).await?;
            let (index, span) = (self.search_index(), (from, last));
            let was_owed = blocking(move || Ok(index.add(run, span, &texts)?)).await?;
            if !was_owed || events.len() < PAGE_EVENTS as usize {
                return Ok(());
            }
            from = last;
        }
    }

    async fn texts_of_events(&self, events: &[Event]) -> Result<Vec<NewText>, AppError> {
        let found = events.iter().flat_map(|event| {
            let texts = search::texts(event).into_iter();
            texts
                .enumerate()
                .map(move |(part, found)| (event, part as u32, found.text))
        });
        let found: Vec<_> = found.collect();
        let bodies = found.iter().filter_map(|(.., text)| match text {
            Text::Body(Body::Blob { blob, bytes }) if *bytes as usize <= BODY_BYTES => Some(*blob),
            _ => None,
        });
        let mut hashes: Vec<BlobHash> = bodies.collect();
        hashes.sort_unstable();
        hashes.dedup();
        let blobs = match hashes.is_empty() {
            true => HashMap::new(),
            false => self.inner.store.blobs(hashes).await?,
        };
        let texts = found.into_iter().filter_map(|(event, part, text)| {
            let text = match text {
                Text::Words(words) => words,
                Text::Body(Body::Text(text)) => text.clone(),
                Text::Body(Body::Blob { blob, .. }) => {
                    String::from_utf8_lossy(blobs.get(blob)?).into_owned()
                }
            };
            let words = search::words(beginning(&text)).into_iter();
            let words: Vec<String> = words.map(|word| word.folded).collect();
            (!words.is_empty()).then(|| NewText {
                seq: event.seq,
                part,
                at: event.at,
                words: words.join(" "),
            })
        });
        Ok(texts.collect())
    }

    /// The line of a hit's run; `None` where the search is not for that run.
    async fn searched<'l>(
        &self,
        run: RunId,
        search: &Search,
        lines: &'l mut HashMap<RunId, Option<RunLine>>,
    ) -> Result<Option<&'l RunLine>, AppError> {
        if let std::collections::hash_map::Entry::Vacant(place) = lines.entry(run) {
            let line = match self.run_line(run).await {
                Ok(line) => Some(line),
                Err(error) if error.code == AppErrorCode::NotFound => None,
                Err(error) => return Err(error),
            };
            place.insert(line.filter(|line| {
                (search.states.is_empty() || search.states.contains(&line.state))
                    && (search.agent.is_empty() || search.agent == line.agent)
                    && (search.run.is_empty() || search.run == line.run)
            }));
        }
        Ok(lines.get(&run).and_then(Option::as_ref))
    }

    /// A hit in place; `None` where the log no longer has it.
    async fn shown(
        &self,
        hit: &Hit,
        line: &RunLine,
        query: &Query,
    ) -> Result<Option<SearchHit>, AppError> {
        let events = match self.inner.store.read(hit.run, hit.seq, 1).await {
            Ok(reading) => reading.events,
            Err(LogError::NoRun(_)) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let Some(event) = events.first() else {
            return Ok(None);
        };
        let Some(found) = search::texts(event).into_iter().nth(hit.part as usize) else {
            return Ok(None);
        };
        let text = match found.text {
            Text::Words(words) => words,
            Text::Body(body) => match self.content(body).await {
                Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                Err(error) if error.code == AppErrorCode::Unreadable => return Ok(None),
                Err(error) => return Err(error),
            },
        };
        let text = beginning(&text);
        let snippet = search::snippet(text, &query.places(text));
        let marks = snippet
            .marks
            .into_iter()
            .map(|(from, to)| Marked { from, to });
        Ok(Some(SearchHit {
            run: line.clone(),
            seq: hit.seq,
            at: hit.at,
            kind: found.kind.to_owned(),
            row: found.row,
            text: snippet.text,
            marks: marks.collect(),
        }))
    }
}

/// What of a text is searched.
fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(TEXT_BYTES)]
}

/// A long result is found whole and in what the model was shown of it.
fn is_same(one: &SearchHit, other: &SearchHit) -> bool {
    !one.row.is_empty()
        && (&one.run.run, &one.row, &one.kind) == (&other.run.run, &other.row, &other.kind)
}

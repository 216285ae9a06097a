//! What a search finds of an event, and where in a text. The same words are made of a text when it is
//! indexed, of a question, and of a text in which hits are marked.

use std::ops::Range;

use longrein_protocol::Body;
use longrein_protocol::block::Block;
use longrein_protocol::event::{Event, Payload};
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// The most bytes of one text that are searched; what lies behind stands in the log all the same.
pub const TEXT_BYTES: usize = 64 << 10;
/// About how many characters of a text a hit shows.
const SNIPPET_CHARS: usize = 240;
/// About how many of them stand before the first word that was found.
const LEAD_CHARS: usize = 60;

/// A word of a text, as it is compared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Word {
    /// Where it stands, in bytes.
    pub place: Range<usize>,
    /// Without case and accents.
    pub folded: String,
}

/// The words of a text. Where a script sets no spaces, each character is a word, so that any part of
/// a sentence can be found.
pub fn words(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut begin: Option<usize> = None;
    for (place, letter) in text.char_indices().chain([(text.len(), ' ')]) {
        let alone = stands_alone(letter);
        let is_part = (letter.is_alphanumeric() || is_combining_mark(letter)) && !alone;
        if let Some(from) = begin.filter(|_| !is_part) {
            words.extend(word(text, from..place));
            begin = None;
        }
        if alone {
            words.extend(word(text, place..place + letter.len_utf8()));
        } else if is_part && begin.is_none() {
            begin = Some(place);
        }
    }
    words
}

fn word(text: &str, place: Range<usize>) -> Option<Word> {
    let folded = text[place.clone()].nfkd();
    let folded = folded.filter(|letter| !is_combining_mark(*letter));
    let folded: String = folded.flat_map(char::to_lowercase).collect();
    (!folded.is_empty()).then_some(Word { place, folded })
}

/// Whether a character belongs to a script that sets no spaces between words.
fn stands_alone(letter: char) -> bool {
    matches!(
        letter,
        '\u{0e00}'..='\u{0eff}'
            | '\u{1000}'..='\u{109f}'
            | '\u{1780}'..='\u{17ff}'
            | '\u{3040}'..='\u{30ff}'
            | '\u{31f0}'..='\u{31ff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{20000}'..='\u{3134f}'
    )
}

/// What is looked for: words that all have to be there, and words that follow each other.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Query {
    /// Each a word or several that follow each other; the last word of each may go on.
    pub phrases: Vec<Vec<String>>,
}

impl Query {
    /// What a person typed. Words between quotation marks follow each other; so do the parts of
    /// `vector_index`.
    pub fn of(text: &str) -> Self {
        let mut phrases = Vec::new();
        for (number, part) in text.split(['"', '“', '”']).enumerate() {
            let is_quoted = number % 2 == 1;
            let pieces: Vec<&str> = match is_quoted {
                true => vec![part],
                false => part.split_whitespace().collect(),
            };
            for piece in pieces {
                let phrase: Vec<String> =
                    words(piece).into_iter().map(|word| word.folded).collect();
                if !phrase.is_empty() {
                    phrases.push(phrase);
                }
            }
        }
        Self { phrases }
    }

    /// Where the words stand in a text, in order, in bytes; empty where not all do.
    pub fn places(&self, text: &str) -> Vec<Range<usize>> {
        let words = words(text);
        let mut places: Vec<Range<usize>> = Vec::new();
        for phrase in &self.phrases {
            let Some((last, first)) = phrase.split_last() else {
                continue;
            };
            let before = places.len();
            for window in words.windows(phrase.len()) {
                let (tail, head) = (&window[phrase.len() - 1], &window[..phrase.len() - 1]);
                let follows = head
                    .iter()
                    .zip(first)
                    .all(|(word, wanted)| word.folded == *wanted);
                if follows && tail.folded.starts_with(last.as_str()) {
                    places.push(window[0].place.start..tail.place.end);
                }
            }
            if places.len() == before {
                return Vec::new();
            }
        }
        places.sort_by_key(|place| (place.start, place.end));
        places.dedup_by(|next, place| {
            let overlaps = next.start < place.end;
            place.end = if overlaps {
                place.end.max(next.end)
            } else {
                place.end
            };
            overlaps
        });
        places
    }
}

/// A part of a text around what was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Snippet {
    /// On one line, with `…` where it is cut.
    pub text: String,
    /// What was found, in characters of `text` as JavaScript counts them (UTF-16), from and to.
    pub marks: Vec<(u32, u32)>,
}

/// The part of a text around the first place.
pub fn snippet(text: &str, places: &[Range<usize>]) -> Snippet {
    let first = places.first().map_or(0, |place| place.start);
    let begin = text[..first]
        .char_indices()
        .rev()
        .nth(LEAD_CHARS - 1)
        .map_or(0, |(place, _)| place);
    let end = text[begin..]
        .char_indices()
        .nth(SNIPPET_CHARS)
        .map_or(text.len(), |(place, _)| begin + place);
    let mut shown = String::new();
    let mut units = 0u32;
    let mut push = |letter: char, shown: &mut String| {
        shown.push(letter);
        units += letter.len_utf16() as u32;
        units
    };
    if begin > 0 {
        push('…', &mut shown);
    }
    let mut marks: Vec<(u32, u32)> = Vec::new();
    let mut open: Option<(u32, usize)> = None;
    let mut places = places.iter().skip_while(|place| place.end <= begin);
    let mut next = places.next();
    let mut after_space = true;
    let mut at = u32::from(begin > 0);
    for (place, letter) in text[begin..end]
        .char_indices()
        .map(|(place, letter)| (begin + place, letter))
    {
        if let Some((from, until)) = open
            && place >= until
        {
            marks.push((from, at));
            open = None;
        }
        if open.is_none() && next.is_some_and(|next| next.start <= place) {
            open = next.map(|next| (at, next.end));
            next = places.next();
        }
        let letter = if letter.is_whitespace() || letter.is_control() {
            ' '
        } else {
            letter
        };
        if letter == ' ' && std::mem::replace(&mut after_space, true) {
            continue;
        }
        after_space = letter == ' ';
        at = push(letter, &mut shown);
    }
    if let Some((from, _)) = open {
        marks.push((from, at));
    }
    if end < text.len() {
        push('…', &mut shown);
    }
    Snippet { text: shown, marks }
}

/// A text of an event that is searched.
#[derive(Clone, PartialEq, Debug)]
pub struct Found<'e> {
    /// What it is: `you`, `answer`, `request`, `result`, `plan`, `file`, `source`, `question`,
    /// `note`, `summary`.
    pub kind: &'static str,
    /// The key of the row that shows it; empty where the panel does.
    pub row: String,
    /// The text.
    pub text: Text<'e>,
}

/// Where a text lies.
#[derive(Clone, PartialEq, Debug)]
pub enum Text<'e> {
    /// In a body of the log.
    Body(&'e Body),
    /// In the event itself.
    Words(String),
}

/// The texts of an event that are searched, in order.
pub fn texts(event: &Event) -> Vec<Found<'_>> {
    let own = format!("e{}", event.seq);
    match &event.payload {
        Payload::TurnStarted(turn) => vec![body("you", &own, &turn.input)],
        Payload::TurnSteered(steered) => vec![body("you", &own, &steered.input)],
        Payload::ModelResponded(responded) => {
            let blocks = responded.blocks.iter().filter_map(|block| match block {
                Block::Text { text, .. } => Some(body("answer", &own, text)),
                _ => None,
            });
            blocks.collect()
        }
        Payload::NoticeGiven(notice) => vec![body("note", &own, &notice.text)],
        Payload::PlanUpdated(plan) => {
            let items: Vec<&str> = plan.items.iter().map(|item| item.text.as_str()).collect();
            vec![said("plan", "", items.join("\n"))]
        }
        Payload::NotePinned(pinned) => vec![said("note", "", pinned.note.text.clone())],
        Payload::ContextCompacted(compacted) => {
            let summary = compacted.summary.iter();
            let lines = summary.flat_map(|summary| {
                let found = summary.findings.iter().map(|finding| &finding.text);
                let rest = summary.decisions.iter().chain(&summary.failed);
                found.chain(rest.chain(&summary.open)).map(String::as_str)
            });
            vec![said("summary", &own, lines.collect::<Vec<_>>().join("\n"))]
        }
        Payload::RunHandedOff(handed_off) => vec![said("note", &own, handed_off.message.clone())],
        payload => texts_of_actions(payload),
    }
}

/// The texts of an event that an action's row shows.
fn texts_of_actions(payload: &Payload) -> Vec<Found<'_>> {
    match payload {
        Payload::ActionProposed(proposed) => {
            vec![body("request", &proposed.action.0, &proposed.arguments)]
        }
        Payload::ActionFinished(finished) => {
            vec![body("result", &finished.action.0, &finished.result)]
        }
        Payload::ResultOffloaded(offloaded) => {
            vec![body("result", &offloaded.action.0, &offloaded.shown)]
        }
        Payload::ActionReconciled(reconciled) => {
            let result = reconciled.result.iter();
            let found = result.map(|result| body("result", &reconciled.action.0, result));
            found.collect()
        }
        Payload::ChildFinished(finished) => {
            vec![body("result", &finished.action.0, &finished.finding)]
        }
        Payload::QuestionAsked(asked) => vec![body("question", &asked.action.0, &asked.question)],
        Payload::QuestionAnswered(answered) => {
            vec![body("you", &answered.action.0, &answered.answer)]
        }
        Payload::SourceCaptured(captured) => {
            let title = captured.meta.title.clone();
            vec![said("source", &captured.action.0, title)]
        }
        Payload::ArtifactPublished(artifact) => {
            let words = format!("{}\n{}", artifact.title, artifact.rendered_path);
            vec![said("file", &artifact.action.0, words)]
        }
        Payload::RunForked(forked) => {
            let results = forked.results.iter();
            let found = results.map(|changed| body("result", &changed.action.0, &changed.result));
            found.collect()
        }
        _ => Vec::new(),
    }
}

fn body<'e>(kind: &'static str, row: &str, body: &'e Body) -> Found<'e> {
    Found {
        kind,
        row: row.to_owned(),
        text: Text::Body(body),
    }
}

fn said(kind: &'static str, row: &str, words: String) -> Found<'static> {
    Found {
        kind,
        row: row.to_owned(),
        text: Text::Words(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(query: &str, text: &str) -> String {
        let places = Query::of(query).places(text);
        let shown = snippet(text, &places);
        let mut units: Vec<u16> = shown.text.encode_utf16().collect();
        for (from, to) in shown.marks.iter().rev() {
            units.insert(*to as usize, u16::from(b']'));
            units.insert(*from as usize, u16::from(b'['));
        }
        String::from_utf16(&units).unwrap()
    }

    #[test]
    fn words_are_found_without_case_and_accents_and_by_their_beginning() {
        assert_eq!(marked("cafe", "Das Café am\n\n Eck"), "Das [Café] am Eck");
        assert_eq!(
            marked("IND", "one vector_index here"),
            "one vector_[index] here"
        );
        assert_eq!(marked("vector_index", "a vector-index"), "a [vector-index]");
        assert_eq!(marked("index vector", "vector index"), "[vector] [index]");
        assert_eq!(marked("🐎 naïve", "🐎 so naive"), "🐎 so [naive]");
    }

    #[test]
    fn quoted_words_follow_each_other_and_all_have_to_be_there() {
        assert_eq!(
            marked("\"so it is\"", "it so is, so it is"),
            "it so is, [so it is]"
        );
        assert!(Query::of("\"so is it\"").places("so it is").is_empty());
        assert!(Query::of("so nothing").places("so it is").is_empty());
        assert!(Query::of("  \"\" , ").phrases.is_empty());
    }

    #[test]
    fn scripts_without_spaces_are_found_in_the_middle() {
        assert_eq!(marked("研究", "我们的研究结果"), "我们的[研究]结果");
        assert!(Query::of("究研").places("我们的研究结果").is_empty());
    }

    #[test]
    fn a_long_text_is_cut_around_what_was_found() {
        let text = format!("{} needle {}", "before ".repeat(100), "after ".repeat(100));
        let shown = marked("needle", &text);
        assert!(shown.starts_with('…') && shown.ends_with('…'), "{shown}");
        assert!(shown.contains(" [needle] after"), "{shown}");
        assert!(shown.chars().count() < SNIPPET_CHARS + 10, "{shown}");
        assert_eq!(snippet("", &[]).text, "");
    }
}

//! Shows an answer while it is written, without the JSON around it.

use std::sync::{Mutex, PoisonError};

use longrein_runtime::ports::LiveText;

/// How an answer begins, without white space.
const OPENING: &str = r#"{"tool":"answer","arguments":{"text":""#;

/// What has been seen of a reply.
#[derive(Default)]
pub(super) struct Watch(Mutex<Seen>);

#[derive(Default)]
struct Seen {
    place: Place,
    /// What came before the answer, without white space.
    opening: String,
    /// An escape that is not complete.
    escape: String,
    /// The answer so far.
    answer: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Place {
    /// It may become an answer.
    #[default]
    Opening,
    /// In its words.
    Answer,
    /// After them, or in something else.
    Elsewhere,
}

impl Watch {
    /// The answer as far as it came, of a reply that is one.
    pub fn answer(&self) -> Option<String> {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (seen.opening == OPENING).then(|| seen.answer.clone())
    }

    /// A listener that hears of the answer alone.
    pub fn over<'a>(&'a self, live: &'a dyn LiveText) -> Over<'a> {
        Over { watch: self, live }
    }
}

/// See [`Watch::over`].
pub(super) struct Over<'a> {
    watch: &'a Watch,
    live: &'a dyn LiveText,
}

impl LiveText for Over<'_> {
    fn text(&self, more: &str) {
        let mut seen = self.watch.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = seen.answer.len();
        for letter in more.chars() {
            seen.take(letter);
        }
        let shown = seen.answer[before..].to_owned();
        drop(seen);
        if !shown.is_empty() {
            self.live.text(&shown);
        }
    }

    fn thinking(&self, more: &str) {
        self.live.thinking(more);
    }
}

impl Seen {
    fn take(&mut self, letter: char) {
        match self.place {
            Place::Elsewhere => {}
            Place::Opening if letter.is_whitespace() => {}
            Place::Opening => {
                self.opening.push(letter);
                if self.opening == OPENING {
                    self.place = Place::Answer;
                } else if !OPENING.starts_with(self.opening.as_str()) {
                    self.place = Place::Elsewhere;
                }
            }
            Place::Answer if !self.escape.is_empty() || letter == '\\' => self.escape(letter),
            Place::Answer if letter == '"' => self.place = Place::Elsewhere,
            Place::Answer => self.answer.push(letter),
        }
    }

    fn escape(&mut self, letter: char) {
        /// As long as two halves of a character outside the basic plane.
        const LONGEST: usize = 12;
        self.escape.push(letter);
        let is_unicode = self.escape.starts_with("\\u");
        let is_whole = match is_unicode {
            true => matches!(self.escape.len(), 6 | LONGEST..),
            false => self.escape.len() >= 2,
        };
        if !is_whole {
            return;
        }
        match serde_json::from_str::<String>(&format!("\"{}\"", self.escape)) {
            Ok(text) => self.answer.push_str(&text),
            // The first half alone is nothing yet.
            Err(_) if is_unicode && self.escape.len() < LONGEST => return,
            Err(_) => self.answer.push('\u{fffd}'),
        }
        self.escape.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Heard(Mutex<String>);

    impl LiveText for Heard {
        fn text(&self, more: &str) {
            self.0.lock().unwrap().push_str(more);
        }
        fn thinking(&self, _more: &str) {}
    }

    fn heard(pieces: &[&str]) -> String {
        let (watch, heard) = (Watch::default(), Heard::default());
        for piece in pieces {
            watch.over(&heard).text(piece);
        }
        heard.0.into_inner().unwrap()
    }

    #[test]
    fn an_answer_is_shown_as_it_is_written_and_a_call_is_not() {
        let answer = "{ \"tool\" :\"answer\",\n\"arguments\": {\"text\": \"Gr\u{fc}\\u00dfe \\ud83d\\ude00\\n\\\"木\\\"\"}}";
        let words = "Gr\u{fc}\u{df}e 😀\n\"木\"";
        assert_eq!(heard(&[answer]), words);
        let letters: Vec<String> = answer.chars().map(String::from).collect();
        let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
        assert_eq!(heard(&letters), words);
        assert_eq!(heard(&[r#"{"tool":"find","arguments":{"text":"x"}}"#]), "");
    }
}

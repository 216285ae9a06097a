//! Texts by the stems in them, and the thesaurus. SQLite's full-text tokenizer gives the stems.

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, params};

/// Groups of words with near meanings; the file's head says how they are written.
const THESAURUS: &str = include_str!("thesaurus.txt");
/// How soon the repetition of a word stops to count, and how much long texts are held back.
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.5;

const SCHEMA: &str = "
    CREATE VIRTUAL TABLE spelt USING fts5(
        a, b, c, d, tokenize=\"porter unicode61 remove_diacritics 2\"
    );
    CREATE VIRTUAL TABLE stem USING fts5vocab(spelt, instance);
";
const SPELL: &str = "INSERT INTO spelt(rowid, a, b, c, d) VALUES (?, ?, ?, ?, ?)";
const STEMS: &str = "SELECT term, doc, col FROM stem ORDER BY doc, col, offset";

/// Words that may stand between those of a phrase.
const BETWEEN: &str = "a an the my our your his her their its this that these those some any me us";
/// Words that may stand behind the object of their verb: turn the light off.
const PARTICLES: &str = "on off up down out back over in again together live";
/// How many words that object has at most, besides those that may stand between.
const PARTICLE_APART: usize = 2;

/// Phrases of stems, each with the stems that it is widened by, by the first of a phrase.
pub(super) type Near = HashMap<String, Vec<(Vec<String>, Vec<String>)>>;

/// A database for `stems`.
pub(super) fn speller() -> rusqlite::Result<Connection> {
    let connection = Connection::open_in_memory()?;
    connection.execute_batch(SCHEMA)?;
    Ok(connection)
}

/// Texts by the stems in them.
pub(super) struct Texts {
    /// In which texts a stem is, how much it weighs there, and whether it is in the first column.
    postings: HashMap<String, Vec<(usize, f64, bool)>>,
    /// How many words each text has.
    lengths: Vec<f64>,
    average: f64,
}

/// The best that a text has of some meanings.
#[derive(Clone, Copy, Default)]
pub(super) struct Hit {
    pub(super) rank: f64,
    /// The rank of its second meaning.
    pub(super) second: f64,
    /// What the best meaning in the first column counts.
    pub(super) named: f64,
}

impl Texts {
    pub(super) fn of(
        connection: &Connection,
        rows: &[[String; 4]],
        weights: [f64; 4],
    ) -> rusqlite::Result<Self> {
        let mut postings: HashMap<String, Vec<(usize, f64, bool)>> = HashMap::new();
        let mut lengths = vec![0.0; rows.len()];
        for (stem, text, column) in spelt(connection, rows.iter().map(|row| row.each_ref()))? {
            lengths[text] += 1.0;
            let of_stem = postings.entry(stem).or_default();
            match of_stem.last_mut().filter(|(last, ..)| *last == text) {
                Some((_, weight, _)) => *weight += weights[column],
                None => of_stem.push((text, weights[column], column == 0)),
            }
        }
        let average = lengths.iter().sum::<f64>() / lengths.len().max(1) as f64;
        Ok(Self {
            postings,
            lengths,
            average,
        })
    }

    /// How many texts there are.
    pub(super) fn len(&self) -> usize {
        self.lengths.len()
    }

    /// What has any of some meanings, each with its best ranks.
    pub(super) fn best(&self, meanings: &[(String, f64)]) -> HashMap<usize, Hit> {
        let mut best: HashMap<usize, Hit> = HashMap::new();
        let texts = self.lengths.len() as f64;
        for (stem, counts) in meanings {
            let Some(postings) = self.postings.get(stem) else {
                continue;
            };
            let having = postings.len() as f64;
            // More than nothing even for what all texts have, as those of one server may.
            let rarity = (1.0 + (texts - having + 0.5) / (having + 0.5)).ln();
            for (text, weight, named) in postings {
                let length = 1.0 - LENGTH + LENGTH * self.lengths[*text] / self.average;
                let share = weight * (SATURATION + 1.0) / (weight + SATURATION * length);
                let hit = best.entry(*text).or_default();
                let rank = counts * rarity * share;
                hit.second = hit.second.max(rank.min(hit.rank));
                hit.rank = hit.rank.max(rank);
                if *named {
                    hit.named = hit.named.max(*counts);
                }
            }
        }
        best
    }
}

/// Rows of texts as stems, in their order: the stem, its row and its column.
pub(super) fn spelt<'a>(
    connection: &Connection,
    rows: impl Iterator<Item = [&'a String; 4]>,
) -> rusqlite::Result<Vec<(String, usize, usize)>> {
    let transaction = connection.unchecked_transaction()?;
    let mut spell = transaction.prepare_cached(SPELL)?;
    for (place, [a, b, c, d]) in rows.enumerate() {
        spell.execute(params![place as i64, a, b, c, d])?;
    }
    let mut statement = transaction.prepare_cached(STEMS)?;
    let stems = statement.query_map([], |row| {
        // The columns are called a, b, c and d.
        let column = row.get::<_, String>(2)?.bytes().next().unwrap_or(b'a') - b'a';
        Ok((
            row.get(0)?,
            row.get::<_, i64>(1)? as usize,
            usize::from(column),
        ))
    })?;
    let stems = stems.collect::<rusqlite::Result<Vec<_>>>()?;
    // The transaction is not committed, so that the next texts find the table empty.
    Ok(stems)
}

/// The stem of each of some words.
pub(super) fn stems<'a>(
    connection: &Connection,
    words: impl Iterator<Item = &'a str>,
) -> rusqlite::Result<Vec<String>> {
    let mut stems: Vec<String> = words.map(str::to_owned).collect();
    let none = String::new();
    let rows = stems.iter().map(|word| [word, &none, &none, &none]);
    for (stem, place, _) in spelt(connection, rows)? {
        stems[place] = stem;
    }
    Ok(stems)
}

/// `everyday > interface`: each of the words and `phrases_of_words` before the mark is widened by
/// those behind it; where there is none, each by all others.
pub(super) fn thesaurus(connection: &Connection) -> rusqlite::Result<Near> {
    let is_mark = |letter: char| letter == '>' || letter == '_' || letter.is_whitespace();
    let lines = || THESAURUS.lines().filter(|line| !line.starts_with('#'));
    let words: HashSet<&str> = lines().flat_map(|line| line.split(is_mark)).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let of_words = stems(connection, words.iter().copied())?;
    let of_words: HashMap<&str, String> = words.into_iter().zip(of_words).collect();
    let mut near = Near::new();
    for line in lines() {
        let (everyday, gives) = line.split_once('>').unwrap_or((line, line));
        let gives = gives.split_whitespace().filter_map(|it| of_words.get(it));
        let gives: Vec<String> = gives.cloned().collect();
        for phrase in everyday.split_whitespace() {
            let phrase = phrase.split('_').filter_map(|word| of_words.get(word));
            let phrase: Vec<String> = phrase.cloned().collect();
            if let Some(first) = phrase.first() {
                let of_first = near.entry(first.clone()).or_default();
                match of_first.iter_mut().find(|(known, _)| *known == phrase) {
                    Some((_, known)) => known.extend(gives.iter().cloned()),
                    None => of_first.push((phrase, gives.clone())),
                }
            }
        }
    }
    Ok(near)
}

/// The places of a phrase's words in a query, when it begins at this one.
pub(super) fn occurs(
    phrase: &[String],
    at: usize,
    said: &[String],
    stems: &[String],
    taken: &[bool],
) -> Option<Vec<usize>> {
    let mut places = Vec::with_capacity(phrase.len());
    let mut next = at;
    for (step, stem) in phrase.iter().enumerate() {
        let may_be_apart = phrase.len() == 2 && is_among(PARTICLES, stem);
        let mut skips = if may_be_apart { PARTICLE_APART } else { 0 };
        while step > 0 && stems.get(next)? != stem {
            if !is_among(BETWEEN, &said[next]) {
                skips = skips.checked_sub(1)?;
            }
            next += 1;
        }
        if stems[next] != *stem || taken[next] {
            return None;
        }
        places.push(next);
        next += 1;
    }
    Some(places)
}

/// Whether a list of words has this one.
pub(super) fn is_among(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|listed| listed == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_texts_have_counts_less_than_what_one_has_but_counts() {
        let connection = speller().unwrap();
        let row = |name: &str| [name, "", "", ""].map(str::to_owned);
        let rows = [row("create issue"), row("delete issue")];
        let texts = Texts::of(&connection, &rows, [1.0; 4]).unwrap();
        let rank = |stem: &str| texts.best(&[(stem.to_owned(), 1.0)])[&1].rank;
        assert!(rank("delet") > rank("issu"));
        assert!(rank("issu") > 0.1, "{}", rank("issu"));
    }

    #[test]
    fn the_thesaurus_is_written_as_its_head_says() {
        let lines = THESAURUS.lines();
        for line in lines.filter(|line| !line.starts_with('#') && !line.is_empty()) {
            let mut sides = line.split('>');
            let sides = (sides.next(), sides.next(), sides.next());
            let (Some(everyday), gives, None) = sides else {
                panic!("two marks: {line}");
            };
            let gives = gives.unwrap_or(everyday);
            assert!(
                !everyday.trim().is_empty() && !gives.trim().is_empty(),
                "{line}"
            );
            let is_plain = |letter: char| {
                letter == '_' || letter == ' ' || letter.is_ascii_digit() || letter.is_lowercase()
            };
            assert!(line.chars().all(|it| it == '>' || is_plain(it)), "{line}");
            // Phrases widen; nothing is widened by them.
            assert!(!line.contains('>') || !gives.contains('_'), "{line}");
        }
    }
}

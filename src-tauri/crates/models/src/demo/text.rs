//! Words and sentences, of any script.

use longrein_core::evidence::sentences;

/// The longest quote in characters; a longer sentence is cut between words.
const QUOTE_LIMIT: usize = 320;
/// The shortest quote in characters.
const QUOTE_LEAST: usize = 24;

/// Words that say nothing about what a question is after.
const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "because",
    "been", "before", "best", "between", "both", "but", "by", "can", "compare", "could", "did",
    "do", "does", "each", "every", "find", "fit", "fits", "happen", "happens", "need", "needs",
    "explain", "describe", "show", "tell", "better", "good", "for", "from", "give", "had", "has",
    "have", "how", "i", "if", "in", "into", "is", "it", "its", "like", "many", "may", "me", "more",
    "most", "much", "my", "no", "not", "of", "on", "one", "only", "or", "other", "our", "out",
    "over", "please", "should", "so", "some", "source", "sources", "than", "that", "the", "their",
    "them", "then", "there", "these", "they", "this", "those", "three", "through", "to", "two",
    "under", "up", "us", "use", "used", "very", "was", "we", "were", "what", "when", "where",
    "which", "while", "who", "why", "will", "with", "would", "you", "your", "der", "die", "das",
    "den", "dem", "ein", "eine", "einen", "ist", "sind", "und", "oder", "nicht", "mit", "von",
    "zu", "im", "für", "auf", "wie", "was", "welche", "welcher", "welches", "le", "la", "les",
    "un", "une", "et", "ou", "est", "des", "du", "el", "los", "las", "y", "es", "en", "qué", "que",
    "cual",
];

/// The terms of a text: lower-case words without stop words, each in its first form only, in
/// order. Scripts that write no spaces give pairs of characters.
pub(crate) fn terms(text: &str) -> Vec<String> {
    let mut terms: Vec<String> = Vec::new();
    for word in words(text) {
        let known = terms.iter().any(|term| same_word(term, &word));
        if !known && !STOP_WORDS.contains(&word.as_str()) {
            terms.push(word);
        }
    }
    terms
}

/// The words of a text, in order, in lower case.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for word in text
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
    {
        let word = word.to_lowercase();
        if !word.chars().any(is_spaceless) {
            words.push(word);
            continue;
        }
        let letters: Vec<char> = word.chars().collect();
        match letters.len() {
            1 => words.push(word),
            _ => words.extend(
                letters
                    .windows(2)
                    .map(|pair| pair.iter().collect::<String>()),
            ),
        }
    }
    words
}

/// Whether a character belongs to a script that writes words without spaces in between.
fn is_spaceless(letter: char) -> bool {
    matches!(letter, '\u{0e00}'..='\u{0eff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{3134f}')
}

/// Whether two words are forms of one: equal, or with the same beginning and a short rest.
pub(crate) fn same_word(one: &str, other: &str) -> bool {
    const STEM: usize = 4;
    const ENDING: usize = 3;
    if one == other {
        return true;
    }
    let common = one
        .chars()
        .zip(other.chars())
        .take_while(|(one, other)| one == other)
        .count();
    let longest = one.chars().count().max(other.chars().count());
    let digits = one.contains(|letter: char| letter.is_numeric());
    !digits && common >= STEM && longest - common <= ENDING && longest < common * 2
}

/// What may be quoted out of a passage: whole sentences in one line, free of the characters that
/// would end a citation. Headings, tables and code are left out.
pub(crate) fn quotable(passage: &str) -> Vec<String> {
    let mut quotes = Vec::new();
    for block in blocks(passage) {
        for range in sentences(&block) {
            quotes.extend(quote_of(&block[range]));
        }
    }
    quotes
}

/// The paragraphs of a passage, each in one line.
fn blocks(passage: &str) -> Vec<String> {
    let mut blocks: Vec<String> = Vec::new();
    let mut open = false;
    let mut code = false;
    for line in passage.lines() {
        let line = line.trim();
        if line.starts_with("```") || line.starts_with("~~~") {
            code = !code;
        }
        let ruler = line
            .chars()
            .all(|letter| matches!(letter, '-' | '=' | '*' | '_' | '`' | '~'));
        if code || ruler || line.starts_with(['#', '|', '`', '~']) {
            open = false;
            continue;
        }
        let (begins, words) = without_marker(line);
        match blocks.last_mut() {
            Some(block) if open && !begins => join(block, words),
            _ => blocks.push(words.split_whitespace().collect::<Vec<_>>().join(" ")),
        }
        open = true;
    }
    blocks
}

/// A line without the mark of a list or a quotation, and whether it had one.
fn without_marker(line: &str) -> (bool, &str) {
    for marker in ["- ", "* ", "+ ", "> ", "• ", "– "] {
        if let Some(rest) = line.strip_prefix(marker) {
            return (true, without_marker(rest.trim_start()).1);
        }
    }
    let rest = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    match rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") ")) {
        Some(words) if (1..=3).contains(&(line.len() - rest.len())) => (true, words.trim_start()),
        _ => (false, line),
    }
}

/// Adds a line to a paragraph. A word that was divided at the end of a line becomes one again.
fn join(block: &mut String, line: &str) {
    let divided = block
        .strip_suffix('-')
        .is_some_and(|before| before.ends_with(char::is_alphabetic))
        && line.starts_with(char::is_lowercase);
    if divided {
        block.pop();
    } else {
        block.push(' ');
    }
    block.push_str(&line.split_whitespace().collect::<Vec<_>>().join(" "));
}

/// The longest part of a sentence that can stand between quotation marks in a citation. A
/// sentence with invisible characters is left alone: nobody could see what is quoted.
fn quote_of(sentence: &str) -> Option<String> {
    let sentence = sentence.replace(SOFT_HYPHEN, "");
    if sentence.contains(is_hidden) {
        return None;
    }
    let part = sentence
        .split(ENDS)
        .map(|part| {
            part.trim_matches(|letter: char| letter.is_whitespace() || EDGES.contains(&letter))
        })
        .max_by_key(|part| part.chars().count())?;
    let part = within_limit(part)?;
    let spaceless = part.chars().filter(|letter| is_spaceless(*letter)).count();
    let long_enough = part.chars().count() + 2 * spaceless >= QUOTE_LEAST;
    let prose = part.split_whitespace().count() >= 4 || spaceless >= 8;
    (long_enough && prose).then(|| part.to_owned())
}

const SOFT_HYPHEN: char = '\u{ad}';

/// Characters that would end a citation, or its text.
const ENDS: [char; 11] = [
    '"', '“', '”', '„', '«', '»', '[', ']', '【', '】', '\u{2028}',
];

/// Characters that no quotation begins or ends with.
const EDGES: [char; 10] = ['*', '_', ',', ';', ':', '(', '\'', '’', '‘', '-'];

fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{fffd}')
}

/// What is longer is cut between words, or at a punctuation mark where words are not divided.
fn within_limit(part: &str) -> Option<&str> {
    let Some((end, _)) = part.char_indices().nth(QUOTE_LIMIT) else {
        return Some(part);
    };
    let gap = part[..end].rfind(|letter: char| !letter.is_alphanumeric())?;
    Some(part[..gap].trim_end_matches(|letter: char| !letter.is_alphanumeric()))
}

/// The beginning of a text, cut after a word where there are words.
pub(crate) fn cut_at_word(text: &str, limit: usize) -> &str {
    let Some((end, _)) = text.char_indices().nth(limit) else {
        return text;
    };
    let kept = &text[..end];
    let word = kept.rfind(char::is_whitespace).filter(|at| *at > end / 2);
    kept[..word.unwrap_or(end)].trim_end()
}

/// A count with its noun.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    let plural = match (count, noun) {
        (1, _) => "",
        (_, "search") => "es",
        _ => "s",
    };
    format!("{count} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_words_without_the_empty_ones() {
        assert_eq!(terms("Which index is best for the Indexes?"), ["index"]);
        assert_eq!(
            terms("Größe der HNSW-Graphen"),
            ["größe", "hnsw", "graphen"]
        );
        assert_eq!(terms("東京都の木"), ["東京", "京都", "都の", "の木"]);
        assert!(terms("?!").is_empty());
    }

    #[test]
    fn forms_of_a_word_are_one_word() {
        assert!(same_word("vector", "vectors"));
        assert!(same_word("measure", "measured"));
        assert!(!same_word("disk", "discord"));
        assert!(!same_word("index", "industry"));
        assert!(!same_word("1000", "10000"));
    }

    #[test]
    fn quotes_are_whole_sentences_of_prose() {
        let passage = "# A heading that is long enough to be one\n\nThe graph held 412 GB in\nmemory and \
                       was meas-\nured twice. He said \"no\" and left the building for good.\n\n| a table | of many words here |\n\
                       - a list item that says something\n```\ncode that is long enough to quote\n```\nToo short.";
        assert_eq!(
            quotable(passage),
            [
                "The graph held 412 GB in memory and was measured twice.",
                "and left the building for good.",
                "a list item that says something",
            ]
        );
    }

    #[test]
    fn long_sentences_are_cut_at_a_word_in_any_script() {
        let long = "wörter ".repeat(100);
        let quotes = quotable(&long);
        assert_eq!(quotes.len(), 1);
        assert!(quotes[0].chars().count() <= QUOTE_LIMIT && quotes[0].ends_with("wörter"));
        let quotes = quotable(&"木の下で、".repeat(100));
        assert!(quotes[0].chars().count() <= QUOTE_LIMIT && quotes[0].ends_with("木の下で"));
        assert!(
            quotable(&"木".repeat(1_000)).is_empty(),
            "no word may be cut"
        );
    }
}

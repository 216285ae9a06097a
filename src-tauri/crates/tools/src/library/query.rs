//! What the model asks becomes a full-text query that can't be wrong.

/// The most words of a query that are looked for.
const TERMS_LIMIT: usize = 32;

/// Words that say nothing of what is looked for.
const STOP_WORDS: &[&str] = &[
    "a", "about", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "could",
    "did", "do", "does", "for", "from", "had", "has", "have", "how", "i", "if", "in", "into", "is",
    "it", "its", "me", "more", "most", "my", "no", "not", "of", "on", "or", "our", "should", "so",
    "some", "such", "than", "that", "the", "their", "them", "then", "there", "these", "they",
    "this", "those", "to", "was", "we", "were", "what", "when", "where", "which", "who", "whom",
    "whose", "why", "will", "with", "would", "you", "your",
];

/// The full-text expression for `query`: its words, any of which may occur, and its phrases in
/// quotation marks. `None` when there is no word in it.
pub(crate) fn expression(query: &str) -> Option<String> {
    let mut terms: Vec<String> = phrases(query);
    terms.extend(telling(query));
    terms.truncate(TERMS_LIMIT);
    // Words hold letters and digits only, so nothing in the quotation marks can end them.
    (!terms.is_empty()).then(|| {
        terms
            .iter()
            .map(|term| format!("\"{term}\""))
            .collect::<Vec<_>>()
            .join(" OR ")
    })
}

/// The words that say what is looked for, in lower case, each once; all words where none does.
fn telling(query: &str) -> Vec<String> {
    let words = words(query);
    let telling = words
        .iter()
        .filter(|word| !STOP_WORDS.contains(&word.as_str()));
    let mut telling: Vec<String> = telling.cloned().collect();
    if telling.is_empty() {
        telling = words;
    }
    telling.truncate(TERMS_LIMIT);
    telling
}

/// Words in lower case, each once.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(|letter: char| !letter.is_alphanumeric()) {
        let word = word.to_lowercase();
        if !word.is_empty() && !words.contains(&word) && words.len() < 2 * TERMS_LIMIT {
            words.push(word);
        }
    }
    words
}

fn phrases(query: &str) -> Vec<String> {
    let quotes = ['"', '\u{201c}', '\u{201d}'];
    query
        .split(quotes)
        .skip(1)
        .step_by(2)
        .map(|phrase| {
            let words: Vec<&str> = phrase
                .split(|letter: char| !letter.is_alphanumeric())
                .filter(|word| !word.is_empty())
                .collect();
            words.join(" ").to_lowercase()
        })
        .filter(|phrase| phrase.contains(' '))
        .collect()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn a_query_is_its_telling_words_and_phrases() {
        let table: Vec<String> = [
            "What is the memory of an HNSW index?",
            "\"product quantization\" memory",
            "who are you",
            "a* OR b) NEAR/2 \"c:d\" -e '; DROP",
            "\u{201c}état de l'art\u{201d} ÉTAT",
            "?!* \"\"",
        ]
        .iter()
        .map(|query| format!("{query} => {:?}", expression(query)))
        .collect();
        expect![[r#"
            What is the memory of an HNSW index? => Some("\"memory\" OR \"hnsw\" OR \"index\"")
            "product quantization" memory => Some("\"product quantization\" OR \"product\" OR \"quantization\" OR \"memory\"")
            who are you => Some("\"who\" OR \"are\" OR \"you\"")
            a* OR b) NEAR/2 "c:d" -e '; DROP => Some("\"c d\" OR \"b\" OR \"near\" OR \"2\" OR \"c\" OR \"d\" OR \"e\" OR \"drop\"")
            “état de l'art” ÉTAT => Some("\"état de l art\" OR \"état\" OR \"de\" OR \"l\" OR \"art\"")
            ?!* "" => None"#]].assert_eq(&table.join("\n"));
    }
}

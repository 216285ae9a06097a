//! The page: one file without network, in which every statement is a quotation with its source.

use std::fmt::Write as _;

use longrein_protocol::SourceId;

use super::rank::{Quote, Ranking};
use super::request::{Kept, Seen};
use super::text::{counted, cut_at_word, same_word, words};

const STYLE: &str = include_str!("page.css");

/// The longest title in characters.
const TITLE_LIMIT: usize = 220;
/// A title with more characters is set smaller.
const LONG_TITLE: usize = 80;
/// Quotes that stand above the others.
const IN_SHORT: usize = 3;
/// The most terms that the table has columns for.
const COLUMNS: usize = 8;
/// The most documents that the table has rows for.
const ROWS: usize = 12;
/// From so many passages on a cell of the table is dark.
const MUCH: usize = 4;

/// Writes the page.
pub(crate) fn page(seen: &Seen, ranking: &Ranking) -> String {
    let question = one_line(&seen.asked);
    let long = if question.chars().count() > LONG_TITLE {
        " class=\"long\""
    } else {
        ""
    };
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{question}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <header>\n<p class=\"eyebrow\">Research page</p>\n<h1{long}>{question}</h1>\n\
         <p class=\"label\"><strong>Demonstration model.</strong> Rules, no AI: it only quotes.</p>\n</header>\n"
    );
    match ranking.quotes.as_slice() {
        [] => page.push_str(&nothing_found(seen)),
        quotes => {
            page.push_str("<main>\n");
            let (best, others) = best_of_each(quotes);
            page.push_str(&in_short(&best, ranking));
            page.push_str(&findings(&others, ranking));
            page.push_str("</main>\n");
            page.push_str(&coverage(seen, ranking));
        }
    }
    page.push_str(&searched(seen, ranking));
    page.push_str(
        "<footer>\n<p>The demonstration model of Longrein wrote this page. It is a set of \
         rules without any AI: it ranks the sentences that the library returned by the words of the question, and \
         repeats the best of them word for word. What it leaves out may matter.</p>\n</footer>\n</body>\n</html>\n",
    );
    page
}

/// The best quotes of as many documents, and the others.
fn best_of_each(quotes: &[Quote]) -> (Vec<&Quote>, Vec<&Quote>) {
    let mut best: Vec<&Quote> = Vec::new();
    let mut others = Vec::new();
    for quote in quotes {
        let heard = best.iter().any(|other| other.source == quote.source);
        if heard || best.len() == IN_SHORT {
            others.push(quote)
        } else {
            best.push(quote)
        }
    }
    (best, others)
}

fn in_short(quotes: &[&Quote], ranking: &Ranking) -> String {
    let mut section =
        "<section aria-labelledby=\"in-short\">\n<h2 id=\"in-short\">In short</h2>\n".to_owned();
    for quote in quotes {
        let _ = writeln!(
            section,
            "<blockquote>{}</blockquote>",
            cited(quote, ranking)
        );
    }
    section.push_str("</section>\n");
    section
}

/// Quotes by document, in the order in which the documents first speak.
fn findings(quotes: &[&Quote], ranking: &Ranking) -> String {
    if quotes.is_empty() {
        return String::new();
    }
    let mut section =
        "<section aria-labelledby=\"findings\">\n<h2 id=\"findings\">What the documents say</h2>\n"
            .to_owned();
    let mut done: Vec<SourceId> = Vec::new();
    for first in quotes {
        if done.contains(&first.source) {
            continue;
        }
        done.push(first.source);
        let (title, place) = (plain(&first.title), plain(&first.place));
        let _ = write!(
            section,
            "<article>\n<h3>{title} <small>{place}</small></h3>\n<ul>\n"
        );
        for quote in quotes.iter().filter(|quote| quote.source == first.source) {
            let _ = writeln!(section, "<li>{}</li>", cited(quote, ranking));
        }
        section.push_str("</ul>\n</article>\n");
    }
    section.push_str("</section>\n");
    section
}

/// Which document speaks of which term, counted in passages.
fn coverage(seen: &Seen, ranking: &Ranking) -> String {
    let mut documents: Vec<(SourceId, &str, Vec<Vec<String>>)> = Vec::new();
    for passage in &seen.passages {
        let said = words(&passage.text);
        match documents
            .iter_mut()
            .find(|(source, ..)| *source == passage.source)
        {
            Some((.., passages)) => passages.push(said),
            None => documents.push((passage.source, &passage.title, vec![said])),
        }
    }
    documents.truncate(ROWS);
    let count = |passages: &[Vec<String>], term: &str| {
        passages
            .iter()
            .filter(|said| said.iter().any(|word| same_word(word, term)))
            .count()
    };
    let found = |term: &String| {
        documents
            .iter()
            .any(|(.., passages)| count(passages, term) > 0)
    };
    let mut rare: Vec<(usize, &String)> = ranking
        .terms
        .iter()
        .enumerate()
        .filter(|(_, term)| found(term))
        .collect();
    rare.sort_by(|(one, _), (other, _)| ranking.weights[*other].total_cmp(&ranking.weights[*one]));
    rare.truncate(COLUMNS);
    rare.sort_by_key(|(position, _)| *position);
    let terms: Vec<&String> = rare.into_iter().map(|(_, term)| term).collect();
    if documents.len() < 2 || terms.len() < 2 {
        return String::new();
    }
    let mut table = String::from(
        "<aside aria-labelledby=\"coverage\">\n<h2 id=\"coverage\">Which document speaks of \
         what</h2>\n<div class=\"table\">\n<table>\n<thead><tr><th scope=\"col\">Passages read that name</th>",
    );
    for term in &terms {
        let _ = write!(table, "<th scope=\"col\">{}</th>", plain(term));
    }
    table.push_str("</tr></thead>\n<tbody>\n");
    for (_, title, passages) in &documents {
        let _ = write!(table, "<tr><th scope=\"row\">{}</th>", plain(title));
        for term in &terms {
            table.push_str(&match count(passages, term) {
                0 => "<td class=\"none\">·</td>".to_owned(),
                many if many >= MUCH => format!("<td class=\"much\">{many}</td>"),
                some => format!("<td>{some}</td>"),
            });
        }
        table.push_str("</tr>\n");
    }
    table.push_str("</tbody>\n</table>\n</div>\n</aside>\n");
    table
}

fn searched(seen: &Seen, ranking: &Ranking) -> String {
    let mut sources: Vec<SourceId> = seen.passages.iter().map(|passage| passage.source).collect();
    sources.sort_unstable();
    sources.dedup();
    let mut aside = String::from(
        "<aside aria-labelledby=\"searched\">\n<h2 id=\"searched\">What was searched</h2>\n",
    );
    if seen.searches.is_empty() {
        aside.push_str("<p>Nothing: this agent was given no library to search.</p>\n");
    } else {
        aside.push_str("<p>The library, for these words:</p>\n<ul>\n");
        for search in &seen.searches {
            let _ = writeln!(aside, "<li>{}</li>", plain(search));
        }
        aside.push_str("</ul>\n");
    }
    let (passages, quotes) = (seen.passages.len(), ranking.quotes.len());
    let _ = write!(
        aside,
        "<p>Read: {}. Looked at: {}. Quoted: {}.</p>\n{}</aside>\n",
        format_args!(
            "{} of {}",
            counted(passages, "passage"),
            counted(sources.len(), "document")
        ),
        counted(ranking.sentences, "sentence"),
        counted(quotes, "sentence"),
        seen.kept.as_ref().map(gone_through).unwrap_or_default()
    );
    aside
}

/// How the document that is too long to be shown was gone through.
fn gone_through(kept: &Kept) -> String {
    let (title, lines) = (plain(&kept.title), counted(kept.lines, "line"));
    let how = match kept.looked_at {
        Some(all) => format!(
            "A program in the box looked at {} and kept {lines} that name the words of the question.",
            counted(all, "line")
        ),
        None => format!(
            "No program could run here, so its text was searched: {lines} name the words of the question."
        ),
    };
    format!("<p>“{title}” is too long to be read at once. {how}</p>\n")
}

fn nothing_found(seen: &Seen) -> String {
    let read = match seen.passages.is_empty() {
        true => "The library returned nothing for this question.",
        false => {
            "The library returned passages, but none of their sentences has the words of this question."
        }
    };
    let failures = seen
        .actions
        .iter()
        .filter(|action| action.tool == "search_library" && action.failed())
        .count();
    let failed = match failures {
        0 => String::new(),
        count => format!(" {} failed.", counted(count, "search")),
    };
    format!(
        "<aside aria-labelledby=\"nothing\">\n<h2 id=\"nothing\">Nothing found</h2>\n\
         <p>{read}{failed} The demonstration model only repeats what it has read, so it has nothing to say here. \
         Other words may find more, or other documents in the library.</p>\n</aside>\n"
    )
}

/// A quotation with its citation. The displayed words mark what matched; the citation has them
/// exactly.
fn cited(quote: &Quote, ranking: &Ranking) -> String {
    let end = if quote
        .words
        .ends_with(['.', '!', '?', '…', '。', '！', '？'])
    {
        ""
    } else {
        " …"
    };
    format!(
        "“{}{end}” [{}: \"{}\"]",
        marked(&quote.words, &ranking.terms),
        quote.source,
        escape(&quote.words)
    )
}

/// Words with the question's terms marked, and without the signs of Markdown.
fn marked(text: &str, terms: &[String]) -> String {
    let mut marked = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let is_word = rest.starts_with(char::is_alphanumeric);
        let end = rest
            .find(|letter: char| letter.is_alphanumeric() != is_word)
            .unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        let matches = is_word
            && terms
                .iter()
                .any(|term| same_word(&piece.to_lowercase(), term));
        match (is_word, matches) {
            (true, true) => {
                let _ = write!(marked, "<mark>{}</mark>", escape(piece));
            }
            (true, false) => marked.push_str(&escape(piece)),
            (false, _) => marked.push_str(&escape(&piece.replace("**", "").replace('`', ""))),
        }
        rest = after;
    }
    marked
}

/// The person's words as a title.
fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut = cut_at_word(&line, TITLE_LIMIT);
    let more = if cut.len() < line.len() { " …" } else { "" };
    plain(&format!("{cut}{more}"))
}

/// A text that is shown as it is. A bracket could look like a citation, which only quotations
/// carry.
fn plain(text: &str) -> String {
    escape(&text.replace(['[', '【'], "(").replace([']', '】'], ")"))
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            letter if letter.is_control() => escaped.push(' '),
            letter => escaped.push(letter),
        }
    }
    escaped
}

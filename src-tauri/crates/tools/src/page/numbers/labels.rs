//! Words around a number that say what it is not: labels, names, lists.

/// Whether the name of what is counted follows on the same line, and no small word.
pub(super) fn names(after: &str) -> bool {
    let rest = after.trim_start_matches([' ', '\u{a0}', '-', '\u{2011}']);
    let end = rest
        .find(|letter: char| !letter.is_alphabetic())
        .unwrap_or(rest.len());
    end > 0 && !SMALL_WORDS.contains(&rest[..end].to_lowercase().as_str())
}

/// Whether the words between two numbers make a range of them (`true`) or a list.
pub(super) fn connects(between: &str) -> Option<bool> {
    /// Longer words connect no numbers.
    const CONNECTS_BYTES: usize = 16;
    if between.len() > CONNECTS_BYTES {
        return None;
    }
    let word = between.trim();
    match word.to_lowercase().as_str() {
        "-" | "\u{2013}" | "\u{2014}" | "\u{2012}" | "\u{2010}" | "\u{2011}" | "to" | "bis"
        | "\u{b1}" | "+/-" | "..." | "\u{2026}" | "through" | "until" => Some(true),
        "," | "and" | "or" | "und" | "oder" | "&" | "/" | ", and" | ", or" | "versus" | "vs"
        | "vs." | ";" => Some(false),
        _ => None,
    }
}

/// Words before which a hyphen makes no name: `sub-10`, `top-10`.
pub(super) const COMPOUNDS: &[&str] = &[
    "sub", "top", "pre", "post", "mid", "non", "under", "over", "near", "ca", "unter", "über",
    "vor", "nach", "early", "late",
];

/// Words after which a number names a place.
pub(super) const LABELS: &[&str] = &[
    "figure",
    "figures",
    "fig",
    "figs",
    "table",
    "tables",
    "tab",
    "section",
    "sections",
    "sec",
    "sect",
    "chapter",
    "chapters",
    "chap",
    "ch",
    "appendix",
    "equation",
    "equations",
    "eq",
    "eqs",
    "page",
    "pages",
    "p",
    "pp",
    "step",
    "steps",
    "part",
    "parts",
    "item",
    "items",
    "no",
    "nos",
    "nr",
    "note",
    "notes",
    "footnote",
    "ref",
    "refs",
    "reference",
    "line",
    "lines",
    "row",
    "rows",
    "column",
    "columns",
    "listing",
    "algorithm",
    "theorem",
    "lemma",
    "definition",
    "example",
    "exercise",
    "question",
    "rule",
    "rules",
    "article",
    "paragraph",
    "volume",
    "vol",
    "issue",
    "phase",
    "type",
    "stage",
    "level",
    "tier",
    "class",
    "option",
    "scenario",
    "experiment",
    "abbildung",
    "abb",
    "tabelle",
    "tabellen",
    "abschnitt",
    "kapitel",
    "kap",
    "seite",
    "seiten",
    "schritt",
    "teil",
    "gleichung",
    "gl",
    "anhang",
    "zeile",
    "zeilen",
    "spalte",
    "nummer",
    "regel",
    "frage",
    "punkt",
    "artikel",
    "art",
    "absatz",
    "abs",
    "band",
    "bd",
    "stufe",
    "typ",
];

/// Words after a number that are not the name of what is counted.
const SMALL_WORDS: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "auf", "aus", "bei", "but", "by", "bis", "das", "der",
    "die", "for", "from", "für", "had", "has", "if", "im", "in", "is", "ist", "mit", "nach", "of",
    "on", "or", "oder", "than", "that", "the", "then", "to", "und", "until", "von", "vor", "was",
    "were", "when", "where", "which", "while", "with", "within", "zu",
];

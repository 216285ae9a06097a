//! How long the functions of a TypeScript file are, and of the script of a Svelte component.
//! No parser: strings, templates, patterns and comments are blanked, and a brace that follows
//! a parameter list or an arrow opens a function.

use crate::rust::Function;

/// What may stand before a parenthesis that opens no parameter list.
const KEYWORDS: [&str; 7] = ["if", "for", "while", "switch", "catch", "with", "await"];

/// The functions of a TypeScript text, innermost first.
pub fn functions(text: &str) -> Vec<Function> {
    let blank = blanked(text);
    let mut open: Vec<Option<(String, usize)>> = Vec::new();
    let mut found = Vec::new();
    let mut line = 1;
    for (at, letter) in blank.char_indices() {
        match letter {
            '\n' => line += 1,
            '{' => open.push(opened(&blank[..at]).map(|name| (name, line))),
            '}' => {
                if let Some(Some((name, from))) = open.pop() {
                    found.push(Function {
                        name,
                        line: from,
                        length: line - from + 1,
                    });
                }
            }
            _ => {}
        }
    }
    found
}

/// The name of the function whose body begins after this text, or None where no body does.
fn opened(before: &str) -> Option<String> {
    let before = before.trim_end();
    if let Some(head) = before.strip_suffix("=>") {
        return arrow_name(head.trim_end());
    }
    // `name(…): Type {`: the type is skipped back to the list's end.
    let list_end = before.rfind(')')?;
    let after = before[list_end + 1..].trim();
    if !after.is_empty() && !after.starts_with(':') {
        return None;
    }
    if after.contains([';', '{', '}', '\n']) {
        return None;
    }
    let head = before[..matching(before, list_end)?].trim_end();
    let name = last_word(head);
    (!name.is_empty() && !KEYWORDS.contains(&name)).then(|| name.to_owned())
}

/// Only an arrow that is given a name is a function by itself; one that is passed on belongs
/// to the call that it is passed to, like the cases of a test.
fn arrow_name(head: &str) -> Option<String> {
    let start = match head.rfind(')') {
        Some(end)
            if head[end + 1..].trim().is_empty() || head[end + 1..].trim().starts_with(':') =>
        {
            matching(head, end)?
        }
        _ => head.len() - last_word(head).len(),
    };
    let head = head[..start].trim_end();
    let head = head.strip_suffix("async").unwrap_or(head).trim_end();
    let name = last_word(head.strip_suffix('=')?.trim_end());
    (!name.is_empty()).then(|| name.to_owned())
}

/// Where the parenthesis that ends at `end` begins.
fn matching(text: &str, end: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, letter) in text[..=end].char_indices().rev() {
        match letter {
            ')' => depth += 1,
            '(' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

fn last_word(text: &str) -> &str {
    let is_name = |letter: char| letter.is_alphanumeric() || "_$#".contains(letter);
    text.rsplit(|letter| !is_name(letter)).next().unwrap_or("")
}

/// The text with what is quoted or commented replaced by spaces; line breaks stay.
fn blanked(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < letters.len() {
        let end = match (letters[at], letters.get(at + 1)) {
            ('/', Some('/')) => until(&letters, at, &['\n']),
            ('/', Some('*')) => until(&letters, at + 2, &['*', '/']) + 2,
            (quote @ ('"' | '\'' | '`'), _) => quoted_end(&letters, at, quote),
            ('/', _) if begins_pattern(&out) => quoted_end(&letters, at, '/'),
            _ => {
                out.push(letters[at]);
                at += 1;
                continue;
            }
        };
        let end = end.min(letters.len());
        out.extend(
            letters[at..end]
                .iter()
                .map(|&letter| if letter == '\n' { '\n' } else { ' ' }),
        );
        at = end;
    }
    out
}

/// Where `mark` next occurs, or the end.
fn until(letters: &[char], from: usize, mark: &[char]) -> usize {
    let from = from.min(letters.len());
    letters[from..]
        .windows(mark.len())
        .position(|window| window == mark)
        .map_or(letters.len(), |offset| from + offset)
}

/// One after the quote that closes the one at `from`.
fn quoted_end(letters: &[char], from: usize, quote: char) -> usize {
    let mut at = from + 1;
    while at < letters.len() {
        match letters[at] {
            '\\' => at += 1,
            '\n' if quote != '`' => return at,
            letter if letter == quote => return at + 1,
            _ => {}
        }
        at += 1;
    }
    letters.len()
}

/// A slash divides after a value and begins a pattern after anything else.
fn begins_pattern(before: &str) -> bool {
    match before.trim_end().chars().next_back() {
        Some(last) => "(,=:[!&|?{};\n".contains(last),
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, usize)]) {
        let found: Vec<(String, usize)> = functions(text)
            .into_iter()
            .map(|one| (one.name, one.length))
            .collect();
        let expected: Vec<(String, usize)> = expected
            .iter()
            .map(|&(name, length)| (name.to_owned(), length))
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn functions_methods_and_named_arrows_are_measured() {
        check("function one(a: A): B {\n  return 1;\n}\n", &[("one", 3)]);
        check("class C {\n  two(a = f(1)) {\n  }\n}\n", &[("two", 2)]);
        check(
            "const three = async (a: A): Promise<B> => {\n};\n",
            &[("three", 2)],
        );
        check("const four = a => {\n\n};\n", &[("four", 3)]);
    }

    #[test]
    fn branches_objects_types_and_passed_arrows_are_not() {
        check(
            "if (a) {\n}\nfor (const b of c) {\n}\nconst d = { e: 1 };\n",
            &[],
        );
        check("interface F {\n  g(): void;\n}\n", &[]);
        check("describe(\"h\", () => {\n});\n", &[]);
    }

    #[test]
    fn quoted_and_commented_braces_open_nothing() {
        check(
            "function i() {\n  return '}' + \"{\" + `{${1}`; // }\n}\n",
            &[("i", 3)],
        );
        check(
            "function j() {\n  /* } */ return k.split(/[{}]/);\n}\n",
            &[("j", 3)],
        );
    }
}

//! What a file is by its content, as a media type.
//!
//! Binary files are told by their first bytes. Texts have none that tell them for sure, so the
//! rules are: what begins as a page does is HTML, what begins as a drawing does is SVG, what parses
//! as an object or a list is JSON, what has the same number of fields in every line is CSV. Any other
//! text is plain, and plain text is Markdown, too.

/// The types that a content may be said to have.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// The one that fits best.
    pub(super) name: &'static str,
    also: &'static [&'static str],
}

/// How much of a text is looked at for where it begins.
const HEAD_BYTES: usize = 4_096;
/// How many lines are looked at for fields.
const LINES_LIMIT: usize = 100;

impl Found {
    /// Whether it is what `wanted` says: `text/html`, or `image/*` for any picture.
    pub(super) fn is(&self, wanted: &str) -> bool {
        let wanted = wanted.split(';').next().unwrap_or(wanted).trim();
        let wanted = plain(&wanted.to_ascii_lowercase());
        let is = |name: &str| {
            let name = plain(name);
            match wanted.strip_suffix("/*") {
                Some("*") => true,
                Some(kind) => name.split('/').next() == Some(kind),
                None => name == wanted,
            }
        };
        std::iter::once(&self.name)
            .chain(self.also)
            .any(|name| is(name))
    }

    /// What helps where a text is not the wanted one.
    pub(super) fn hint(&self) -> &'static str {
        if self.name == "text/plain" {
            " Of texts, HTML, Markdown, SVG, XML, JSON and CSV are told by their content, and no others."
        } else {
            ""
        }
    }
}

/// `audio/x-wav` and `audio/wav` are the same.
fn plain(name: &str) -> String {
    name.replacen("/x-", "/", 1)
}

const fn found(name: &'static str, also: &'static [&'static str]) -> Found {
    Found { name, also }
}

const PLAIN: Found = found("text/plain", &["text/markdown"]);
const XML: &[&str] = &["application/xml", "text/xml"];

/// `whole`: whether `content` is all of the file.
pub(super) fn of(content: &[u8], whole: bool) -> Found {
    let text = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
    let Some(text) = as_text(text, whole) else {
        // Its rules for texts are other ones than those above.
        let binary = infer::get(content).map(|kind| kind.mime_type());
        let binary = binary.filter(|name| !name.starts_with("text/"));
        return found(binary.unwrap_or("application/octet-stream"), &[]);
    };
    // A few formats of bytes are letters only, such as PDF.
    if let Some(kind) = infer::get(content)
        && !kind.mime_type().starts_with("text/")
        && kind.matcher_type() != infer::MatcherType::Text
    {
        return found(kind.mime_type(), &[]);
    }
    let head = &text[..text.floor_char_boundary(HEAD_BYTES)];
    if let Some(markup) = markup(head.trim_start()) {
        return markup;
    }
    if whole && text.trim_start().starts_with(['{', '[']) && is_json(text) {
        return found("application/json", &["text/json"]);
    }
    if is_table(text) {
        return found("text/csv", &["text/plain", "text/markdown"]);
    }
    PLAIN
}

fn as_text(content: &[u8], whole: bool) -> Option<&str> {
    let text = match std::str::from_utf8(content) {
        Ok(text) => text,
        // The end of a beginning may cut a character.
        Err(problem) if !whole && problem.error_len().is_none() => {
            std::str::from_utf8(&content[..problem.valid_up_to()]).ok()?
        }
        Err(_) => return None,
    };
    (!text.contains('\0')).then_some(text)
}

/// What begins with a tag.
fn markup(text: &str) -> Option<Found> {
    let mut rest = text;
    let mut xml = false;
    // What may stand before the first element.
    loop {
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = comment
                .split_once("-->")
                .map_or("", |(_, rest)| rest)
                .trim_start();
        } else if let Some(declaration) = rest.strip_prefix("<?xml") {
            xml = true;
            rest = declaration
                .split_once("?>")
                .map_or("", |(_, rest)| rest)
                .trim_start();
        } else {
            break;
        }
    }
    let tag = rest.strip_prefix('<')?;
    let name: String = tag
        .chars()
        .take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '!')
        .map(|letter| letter.to_ascii_lowercase())
        .collect();
    let kind = tag.get(name.len()..).unwrap_or_default().trim_start();
    let doctype = |of: &str| {
        kind.get(..of.len())
            .is_some_and(|kind| kind.eq_ignore_ascii_case(of))
    };
    match name.as_str() {
        "!doctype" if doctype("html") => Some(found("text/html", &[])),
        "!doctype" if doctype("svg") => Some(found("image/svg+xml", XML)),
        "svg" => Some(found("image/svg+xml", XML)),
        _ if xml => Some(found("application/xml", &["text/xml"])),
        "html" | "head" | "body" | "title" | "meta" | "style" | "script" => {
            Some(found("text/html", &[]))
        }
        // A part of a page, which may stand in Markdown, too.
        "h1" | "h2" | "h3" | "p" | "div" | "main" | "section" | "article" | "header" | "table"
        | "ul" | "ol" | "a" | "b" | "br" | "font" | "iframe" => {
            Some(found("text/html", &["text/markdown"]))
        }
        _ => None,
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// Whether every line has the same number of fields, two or more.
fn is_table(text: &str) -> bool {
    [',', ';', '\t'].into_iter().any(|sign| {
        let mut lines = records(text, sign).take(LINES_LIMIT).peekable();
        let fields = lines.peek().copied().unwrap_or_default();
        fields > 1 && lines.all(|of_line| of_line == fields)
    })
}

/// The number of fields of each record; a quoted field may hold the sign and the ends of lines.
fn records(text: &str, sign: char) -> impl Iterator<Item = usize> {
    let mut letters = text.trim_end().chars();
    std::iter::from_fn(move || {
        let (mut fields, mut quoted, mut any) = (1, false, false);
        for letter in letters.by_ref() {
            any = true;
            match letter {
                '"' => quoted = !quoted,
                '\n' if !quoted => return Some(fields),
                letter if letter == sign && !quoted => fields += 1,
                _ => {}
            }
        }
        any.then_some(fields)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_is_told_by_what_it_is_and_not_by_its_name() {
        for (content, name) in [
            (&b"<!DOCTYPE html><p>x"[..], "text/html"),
            (b"\xef\xbb\xbf <!-- x -->\n<HTML>", "text/html"),
            (b"<p>A part of a page", "text/html"),
            (
                b"<?xml version=\"1.0\"?>\n<!-- x --><svg/>",
                "image/svg+xml",
            ),
            (b"<svg xmlns=\"x\">", "image/svg+xml"),
            (b"<?xml version=\"1.0\"?><a/>", "application/xml"),
            (b" {\"a\": [1]}\n", "application/json"),
            (b"{\"a\": [1}", "text/plain"),
            (b"12", "text/plain"),
            (b"a,b\n1,\"2,\n3\"\n", "text/csv"),
            (b"a;b\r\n1;2", "text/csv"),
            (b"One, two.\nThree.", "text/plain"),
            (b"# Title\n\n- item", "text/plain"),
            (b"", "text/plain"),
            (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image/png"),
            (b"%PDF-1.7\n", "application/pdf"),
            (b"\0\x01\x02", "application/octet-stream"),
            (b"caf\xe9", "application/octet-stream"),
        ] {
            assert_eq!(
                of(content, true).name,
                name,
                "{}",
                String::from_utf8_lossy(content)
            );
        }
    }

    #[test]
    fn a_pattern_names_a_family_and_markdown_is_any_text() {
        let is = |content: &[u8], wanted: &str| of(content, true).is(wanted);
        assert!(is(b"\x89PNG\r\n\x1a\n", "image/*") && !is(b"\x89PNG\r\n\x1a\n", "text/*"));
        assert!(is(b"<svg/>", "image/*") && is(b"<svg/>", "application/xml"));
        assert!(is(b"# Title", "text/markdown") && is(b"# Title", "TEXT/Plain; charset=utf-8"));
        assert!(is(b"<h1>Title</h1>\n\n# x", "text/markdown"));
        assert!(!is(b"<!doctype html>", "text/markdown") && !is(b"<html>", "text/plain"));
        assert!(is(b"", "*/*"));
    }

    #[test]
    fn a_beginning_may_end_within_a_character_and_is_no_json() {
        assert_eq!(of(b"{\"a\": \"\xc3", false).name, "text/plain");
        assert_eq!(of(b"\xc3", true).name, "application/octet-stream");
    }
}

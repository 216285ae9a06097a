//! What a page is: by what it was sent as, and by its first bytes where those say otherwise.

/// How a page is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Html,
    Xml,
    Json,
    Markdown,
    Text,
    Pdf,
}

/// How far a PDF may begin behind its first byte, as its readers allow.
const PDF_LIMIT_BYTES: usize = 1024;
/// How many bytes tell text from data.
const SNIFFED_LIMIT_BYTES: usize = 4096;

/// A text that says to be one may have a zero byte by mistake in every so many.
const STRAY_SHARE: usize = 32;

/// What a page is, and how it is called.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Media {
    pub kind: Kind,
    /// `text/html`, …
    pub name: String,
    /// The charset of the header, if any.
    pub charset: Option<String>,
    /// What it was sent as, where its bytes say something else.
    pub corrected: Option<String>,
}

/// Types besides `text/…` that are text.
const TEXT_APPLICATIONS: &[&str] = &[
    "application/javascript",
    "application/ecmascript",
    "application/x-javascript",
    "application/x-bibtex",
    "application/x-research-info-systems",
    "application/x-ndjson",
    "application/jsonl",
    "application/x-sh",
    "application/x-tex",
    "application/x-latex",
    "application/x-yaml",
    "application/yaml",
    "application/toml",
    "application/sql",
    "application/rtf",
];

/// What something is that can't be read as text.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct NotText(String);

/// Says what the bytes are.
pub(crate) fn identify(content_type: Option<&str>, bytes: &[u8]) -> Result<Media, NotText> {
    let (sent, charset) = content_type.map_or((String::new(), None), split);
    let media = |kind, name: &str| Media {
        kind,
        name: name.to_owned(),
        charset: charset.clone(),
        corrected: None,
    };
    let head = &bytes[..bytes.len().min(PDF_LIMIT_BYTES)];
    if head.windows(5).any(|window| window == b"%PDF-") && is_pdf(&sent, head) {
        let name = "application/pdf";
        return Ok(Media {
            corrected: (!sent.is_empty() && sent != name && !is_vague(&sent)).then_some(sent),
            ..media(Kind::Pdf, name)
        });
    }
    match declared(&sent) {
        Some(Kind::Pdf) => Err(NotText("called application/pdf and is none".to_owned())),
        Some(kind) => match binary(bytes, bytes.len() / STRAY_SHARE) {
            None => Ok(media(kind, &sent)),
            Some(what) => Err(NotText(format!("sent as {sent} and is {what}"))),
        },
        None if sent.is_empty() || is_vague(&sent) => match binary(bytes, 0) {
            None => {
                let (kind, name) = sniffed(bytes);
                Ok(media(kind, name))
            }
            Some(what) => Err(NotText(what)),
        },
        None => Err(NotText(crate::words::line(&sent))),
    }
}

/// A PDF that says so, or that begins at once; some text may well speak of PDFs.
fn is_pdf(sent: &str, head: &[u8]) -> bool {
    sent == "application/pdf" || is_vague(sent) || head.starts_with(b"%PDF-")
}

/// Types by which servers mean that they don't know.
fn is_vague(sent: &str) -> bool {
    matches!(
        sent,
        "" | "application/octet-stream"
            | "binary/octet-stream"
            | "application/x-download"
            | "application/download"
            | "application/force-download"
            | "unknown/unknown"
            | "application/unknown"
            | "*/*"
    )
}

fn declared(sent: &str) -> Option<Kind> {
    match sent {
        "text/html" | "application/xhtml+xml" | "application/vnd.wap.xhtml+xml" => Some(Kind::Html),
        "application/pdf" | "application/x-pdf" => Some(Kind::Pdf),
        "text/markdown" | "text/x-markdown" => Some(Kind::Markdown),
        "application/json" | "text/json" => Some(Kind::Json),
        "application/xml" | "text/xml" => Some(Kind::Xml),
        _ if sent.ends_with("+json") => Some(Kind::Json),
        _ if sent.ends_with("+xml") => Some(Kind::Xml),
        _ if sent.starts_with("text/") || TEXT_APPLICATIONS.contains(&sent) => Some(Kind::Text),
        _ => None,
    }
}

/// The type and its charset, in lower case.
fn split(content_type: &str) -> (String, Option<String>) {
    let mut parts = content_type.split(';');
    let name = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
    let charset = parts
        .filter_map(|part| part.split_once('='))
        .find(|(key, _)| key.trim().eq_ignore_ascii_case("charset"))
        .map(|(_, value)| value.trim().trim_matches(['"', '\'']).to_owned())
        .filter(|value| !value.is_empty());
    (name, charset)
}

/// What data that is no text is; `None` for text. So many zero bytes are let pass: pages that say
/// to be text have some by mistake.
fn binary(bytes: &[u8], stray: usize) -> Option<String> {
    let head = &bytes[..bytes.len().min(SNIFFED_LIMIT_BYTES)];
    let known = infer::get(head)
        .filter(|found| found.matcher_type() != infer::MatcherType::Text)
        .map(|found| found.mime_type().to_owned());
    let marked = head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff");
    let zeros = head.iter().filter(|byte| **byte == 0).count();
    match known {
        // Two letters are the mark of some formats, and also begin many a text.
        Some(name) if head.contains(&0) || std::str::from_utf8(whole(head)).is_err() => Some(name),
        _ if zeros > stray && !marked => Some("binary data".to_owned()),
        _ => None,
    }
}

/// The bytes without a character that was cut at their end.
fn whole(head: &[u8]) -> &[u8] {
    match std::str::from_utf8(head) {
        Err(error) if error.error_len().is_none() => &head[..error.valid_up_to()],
        _ => head,
    }
}

fn sniffed(bytes: &[u8]) -> (Kind, &'static str) {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let bytes = bytes.trim_ascii_start();
    let begins = |mark: &str| {
        bytes
            .get(..mark.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(mark.as_bytes()))
    };
    const HTML: [&str; 6] = [
        "<!doctype html",
        "<html",
        "<head",
        "<body",
        "<title",
        "<!--",
    ];
    if HTML.iter().any(|mark| begins(mark)) {
        return (Kind::Html, "text/html");
    }
    if begins("<?xml") || begins("<rss") || begins("<feed") {
        return (Kind::Xml, "application/xml");
    }
    let is_json = matches!(bytes.first(), Some(b'{' | b'['))
        && serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok();
    if is_json {
        return (Kind::Json, "application/json");
    }
    (Kind::Text, "text/plain")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0";

    #[track_caller]
    fn check(sent: Option<&str>, bytes: &[u8], expected: Result<(Kind, &str), &str>) {
        let found = identify(sent, bytes);
        let found = found
            .as_ref()
            .map(|media| (media.kind, media.name.as_str()))
            .map_err(|NotText(what)| what.as_str());
        assert_eq!(found, expected, "{sent:?}");
    }

    #[test]
    fn what_it_was_sent_as_counts() {
        let text = b"<!doctype html><p>a";
        check(
            Some("text/html; charset=utf-8"),
            text,
            Ok((Kind::Html, "text/html")),
        );
        check(Some("Text/HTML"), text, Ok((Kind::Html, "text/html")));
        check(Some("text/plain"), text, Ok((Kind::Text, "text/plain")));
        check(
            Some("application/xhtml+xml"),
            text,
            Ok((Kind::Html, "application/xhtml+xml")),
        );
        check(
            Some("application/ld+json"),
            b"{}",
            Ok((Kind::Json, "application/ld+json")),
        );
        check(
            Some("application/rss+xml"),
            b"<rss/>",
            Ok((Kind::Xml, "application/rss+xml")),
        );
        check(Some("text/csv"), b"a,b", Ok((Kind::Text, "text/csv")));
        check(
            Some("application/x-bibtex"),
            b"@book{",
            Ok((Kind::Text, "application/x-bibtex")),
        );
    }

    #[test]
    fn what_was_sent_as_nothing_is_looked_at() {
        for sent in [None, Some("application/octet-stream"), Some("")] {
            check(
                sent,
                b" \n<!DOCTYPE HTML><p>",
                Ok((Kind::Html, "text/html")),
            );
            check(
                sent,
                b"<?xml version='1.0'?><a/>",
                Ok((Kind::Xml, "application/xml")),
            );
            check(sent, b"[1, 2]", Ok((Kind::Json, "application/json")));
            check(sent, b"[1, 2", Ok((Kind::Text, "text/plain")));
            check(sent, b"BM is a ticker", Ok((Kind::Text, "text/plain")));
            check(sent, b"%PDF-1.7\n", Ok((Kind::Pdf, "application/pdf")));
            check(sent, b"\n\n%PDF-1.7\n", Ok((Kind::Pdf, "application/pdf")));
            check(sent, PNG, Err("image/png"));
            check(sent, b"a\0b", Err("binary data"));
            check(sent, b"", Ok((Kind::Text, "text/plain")));
        }
    }

    #[test]
    fn what_is_not_what_it_says_is_named() {
        check(
            Some("text/html"),
            PNG,
            Err("sent as text/html and is image/png"),
        );
        check(
            Some("application/pdf"),
            b"<html>Log in",
            Err("called application/pdf and is none"),
        );
        check(Some("image/png"), PNG, Err("image/png"));
        check(
            Some("application/zip"),
            b"PK\x03\x04",
            Err("application/zip"),
        );
        let pdf = identify(Some("text/html"), b"%PDF-1.4\n").unwrap();
        assert_eq!(pdf.kind, Kind::Pdf);
        assert_eq!(pdf.corrected.as_deref(), Some("text/html"));
        // A text about PDFs is none.
        check(
            Some("text/plain"),
            b"It begins with %PDF-",
            Ok((Kind::Text, "text/plain")),
        );
    }

    #[test]
    fn a_stray_zero_byte_makes_no_data_of_a_page() {
        let page = "<p>words and \0 more words".repeat(4);
        check(
            Some("text/html"),
            page.as_bytes(),
            Err("sent as text/html and is binary data"),
        );
        let page = format!("{page}{}", "words ".repeat(100));
        check(
            Some("text/html"),
            page.as_bytes(),
            Ok((Kind::Html, "text/html")),
        );
        check(None, page.as_bytes(), Err("binary data"));
    }

    #[test]
    fn utf_16_is_text() {
        check(
            Some("text/plain"),
            b"\xff\xfea\0b\0",
            Ok((Kind::Text, "text/plain")),
        );
    }

    #[test]
    fn a_charset_is_read_as_sloppily_as_it_is_written() {
        for (header, charset) in [
            ("text/html; charset=utf-8", Some("utf-8")),
            ("text/html;Charset=\"ISO-8859-1\"; x=y", Some("ISO-8859-1")),
            ("text/html; charset='gbk'", Some("gbk")),
            ("text/html; charset=", None),
            ("text/html", None),
        ] {
            assert_eq!(split(header).1.as_deref(), charset, "{header}");
        }
    }
}

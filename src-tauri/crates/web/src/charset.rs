//! Bytes as characters: by their mark, by what the page says, or by looking at them.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, X_USER_DEFINED};

use crate::media::Kind;
use crate::page::Note;
use crate::words::line;

/// Where a page may say in which encoding it is written. Browsers look at the first 1024 bytes;
/// pages with long comments before it are read right all the same.
const LABEL_LIMIT_BYTES: usize = 4096;

/// A text, and what is to be said of how it was decoded.
pub(crate) struct Decoded {
    pub text: String,
    pub notes: Vec<Note>,
}

/// Decodes a body. `named` is the charset of the header.
pub(crate) fn decode(kind: Kind, bytes: &[u8], named: Option<&str>) -> Decoded {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return decoded(encoding, &bytes[mark..], None);
    }
    let label = named
        .map(str::to_owned)
        .or_else(|| label_inside(kind, bytes));
    let encoding = label
        .as_deref()
        .and_then(|label| Encoding::for_label(label.as_bytes()))
        // A page whose label could be read as ASCII is not written in two bytes a character.
        .map(|encoding| match encoding {
            wide if wide == UTF_16BE || wide == UTF_16LE || wide == X_USER_DEFINED => UTF_8,
            other => other,
        });
    let is_utf8 = std::str::from_utf8(bytes).is_ok();
    match encoding {
        Some(encoding) if encoding == UTF_8 && is_utf8 => decoded(UTF_8, bytes, None),
        Some(encoding) if encoding == UTF_8 => guessed(bytes, label, Some(UTF_8)),
        // In an encoding of one byte each, nearly nothing looks like UTF-8 by chance.
        Some(encoding) if is_utf8 && encoding.is_single_byte() && !bytes.is_ascii() => {
            decoded(UTF_8, bytes, Some(label))
        }
        Some(encoding) => match encoding.decode_without_bom_handling_and_without_replacement(bytes)
        {
            Some(text) => Decoded {
                text: text.into_owned(),
                notes: Vec::new(),
            },
            None => guessed(bytes, label, Some(encoding)),
        },
        None if is_utf8 => decoded(UTF_8, bytes, None),
        None => guessed(bytes, label, None),
    }
}

/// Looks at the bytes themselves. Where that gives nothing better, the named encoding stays.
fn guessed(bytes: &[u8], label: Option<String>, named: Option<&'static Encoding>) -> Decoded {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    let guess = detector.guess(None, Utf8Detection::Allow);
    let fits = |encoding: &'static Encoding| {
        encoding
            .decode_without_bom_handling_and_without_replacement(bytes)
            .is_some()
    };
    match named {
        // A page that is nearly all in its encoding, with a few bytes broken, keeps it.
        Some(named) if named == guess || !fits(guess) || is_nearly(named, bytes) => {
            decoded(named, bytes, None)
        }
        _ => decoded(guess, bytes, Some(label)),
    }
}

/// Whether few enough characters are broken for the encoding to be the right one.
fn is_nearly(encoding: &'static Encoding, bytes: &[u8]) -> bool {
    /// One in so many characters beyond ASCII.
    const BROKEN_SHARE: usize = 10;
    let (text, _) = encoding.decode_without_bom_handling(bytes);
    let beyond = text.chars().filter(|letter| !letter.is_ascii()).count();
    let broken = text.chars().filter(|letter| *letter == '\u{fffd}').count();
    broken * BROKEN_SHARE <= beyond
}

/// `instead_of` is given when another encoding was taken than the page names, or it names none.
fn decoded(
    encoding: &'static Encoding,
    bytes: &[u8],
    instead_of: Option<Option<String>>,
) -> Decoded {
    let (text, broken) = encoding.decode_without_bom_handling(bytes);
    let mut notes = Vec::new();
    if let Some(named) = instead_of {
        notes.push(Note::CharsetGuessed {
            taken: encoding.name(),
            named: named.map(|label| line(&label)),
        });
    }
    if broken {
        notes.push(Note::BrokenCharacters {
            charset: encoding.name(),
        });
    }
    Decoded {
        text: text.into_owned(),
        notes,
    }
}

/// What the page itself says: `<meta charset>`, its older form, or the XML declaration.
fn label_inside(kind: Kind, bytes: &[u8]) -> Option<String> {
    let head =
        String::from_utf8_lossy(&bytes[..bytes.len().min(LABEL_LIMIT_BYTES)]).to_ascii_lowercase();
    match kind {
        Kind::Html => {
            let mut rest = head.as_str();
            while let Some((_, after)) = rest.split_once("<meta") {
                let end = after.find('>').unwrap_or(after.len());
                if let Some((_, value)) = after[..end].split_once("charset") {
                    return label_after(value);
                }
                rest = &after[end..];
            }
            None
        }
        Kind::Xml => {
            let declaration = head.trim_start().strip_prefix("<?xml")?;
            let end = declaration.find("?>")?;
            let (_, value) = declaration[..end].split_once("encoding")?;
            label_after(value)
        }
        _ => None,
    }
}

fn label_after(value: &str) -> Option<String> {
    let value = value.trim_start().strip_prefix('=')?.trim_start();
    let value = value.trim_start_matches(['"', '\'']);
    let end = value
        .find(['"', '\'', ' ', ';', '/', '>'])
        .unwrap_or(value.len());
    (end > 0).then(|| value[..end].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: Kind, bytes: &[u8], named: Option<&str>, text: &str, notes: &[Note]) {
        let found = decode(kind, bytes, named);
        assert_eq!((found.text.as_str(), &found.notes[..]), (text, notes));
    }

    #[test]
    fn a_named_encoding_is_taken() {
        check(Kind::Text, b"caf\xe9", Some("iso-8859-1"), "café", &[]);
        check(Kind::Text, b"caf\xc3\xa9", Some("utf-8"), "café", &[]);
        check(Kind::Text, b"caf\xc3\xa9", None, "café", &[]);
        check(
            Kind::Text,
            b"\x93\xfa\x96\x7b",
            Some("shift_jis"),
            "日本",
            &[],
        );
        check(
            Kind::Html,
            b"<meta name=a><META http-equiv=x content='text/html; charset=windows-1251'>\xcf",
            None,
            "<meta name=a><META http-equiv=x content='text/html; charset=windows-1251'>П",
            &[],
        );
        check(
            Kind::Xml,
            b"<?xml version='1.0' encoding='ISO-8859-15'?><a>\xa4</a>",
            None,
            "<?xml version='1.0' encoding='ISO-8859-15'?><a>€</a>",
            &[],
        );
    }

    #[test]
    fn a_mark_beats_every_name() {
        check(
            Kind::Text,
            b"\xef\xbb\xbf\xc3\xa9",
            Some("iso-8859-1"),
            "é",
            &[],
        );
        check(Kind::Text, b"\xff\xfe\xe9\0", Some("utf-8"), "é", &[]);
    }

    #[test]
    fn utf_8_under_another_name_is_seen() {
        check(
            Kind::Text,
            b"caf\xc3\xa9",
            Some("ISO-8859-1"),
            "café",
            &[Note::CharsetGuessed {
                taken: "UTF-8",
                named: Some("ISO-8859-1".to_owned()),
            }],
        );
    }

    #[test]
    fn another_encoding_under_the_name_of_utf_8_is_guessed() {
        let russian = "Москва — столица России, крупнейший по численности населения город.";
        let (bytes, _, _) = encoding_rs::WINDOWS_1251.encode(russian);
        for named in [Some("utf-8"), None] {
            check(
                Kind::Text,
                &bytes,
                named,
                russian,
                &[Note::CharsetGuessed {
                    taken: "windows-1251",
                    named: named.map(str::to_owned),
                }],
            );
        }
    }

    #[test]
    fn a_few_broken_bytes_do_not_change_the_encoding() {
        let mut bytes = "Zażółć gęślą jaźń, zażółć gęślą jaźń.".as_bytes().to_vec();
        bytes.push(0xff);
        let found = decode(Kind::Text, &bytes, Some("utf-8"));
        assert!(found.text.ends_with("jaźń.\u{fffd}"), "{}", found.text);
        assert_eq!(found.notes, [Note::BrokenCharacters { charset: "UTF-8" }]);
    }

    #[test]
    fn a_label_that_lies_about_width_is_left_aside() {
        check(
            Kind::Html,
            b"<meta charset=utf-16>\xc3\xa9",
            None,
            "<meta charset=utf-16>é",
            &[],
        );
    }
}

//! What the masker finds, and laws that hold for any secret in any text.

use std::fmt::Write as _;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::*;

const KEY: &str = "sk-ant-api03-Abc_12+34/56";

fn masker(secrets: &[&str]) -> Masker {
    Masker::new(secrets.iter().map(|secret| SecretText::new(*secret)))
}

fn masked(secrets: &[&str], text: &str) -> String {
    let mut text = text.to_owned();
    masker(secrets).text(&mut text);
    text
}

fn stars(count: usize) -> String {
    "*".repeat(count)
}

#[test]
fn a_secret_is_replaced_by_as_many_asterisks() {
    let key = stars(KEY.len());
    assert_eq!(
        masked(&[KEY], &format!("a {KEY} b{KEY}")),
        format!("a {key} b{key}")
    );
    let mut bytes = [b"\xff\x00", KEY.as_bytes(), b"\xfe"].concat();
    assert!(masker(&[KEY]).bytes(&mut bytes));
    assert_eq!(bytes, [b"\xff\x00", key.as_bytes(), b"\xfe"].concat());
}

#[test]
fn a_text_without_a_secret_stays_as_it_is() {
    for text in ["", "nothing", "sk-ant-api03-Abc_12+34/5", r"a%zz\q\u12"] {
        let mut same = text.to_owned();
        assert!(!masker(&[KEY]).text(&mut same));
        assert_eq!(same, text);
    }
    assert!(masker(&[]).is_empty());
    assert!(masker(&["short"]).is_empty());
    assert_eq!(masked(&["short"], "short"), "short");
}

#[test]
fn secrets_that_overlap_leave_nothing_of_either() {
    let text = "..abcdefgh-ijklmnop..";
    assert_eq!(
        masked(&["abcdefgh-ijkl", "gh-ijklmnop"], text),
        format!("..{}..", stars(17))
    );
    assert_eq!(
        masked(&["abcdefgh", "abcdefgh-ijklmnop"], text),
        "..*****************.."
    );
}

#[test]
fn a_secret_in_an_address_is_found() {
    let text = "GET /?exaApiKey=sk-ant-api03-Abc_12%2B34%2f56&x=1";
    let encoded = "sk-ant-api03-Abc_12%2B34%2f56".len();
    let wanted = format!("GET /?exaApiKey={}&x=1", stars(encoded));
    assert_eq!(masked(&[KEY], text), wanted);
    // A form spells a space as a plus.
    assert_eq!(
        masked(&["Bearer %abcd"], "h=Bearer+%25abcd"),
        "h=**************"
    );
}

#[test]
fn a_secret_in_json_is_found_and_the_json_stays_sound() {
    let text = r#"{"a":"x\"quoted\/secret\u0022\\\n","b":1}"#;
    let wanted = format!("{{\"a\":\"x{}\\n\",\"b\":1}}", stars(24));
    assert_eq!(masked(&[r#""quoted/secret"\"#], text), wanted);
    // JSON inside JSON, and an address inside JSON.
    assert_eq!(
        masked(&["a\"bcdefgh"], r#""{\"k\":\"a\\\"bcdefgh\"}""#),
        r#""{\"k\":\"************\"}""#
    );
    assert_eq!(
        masked(&["ab/cdefgh"], r#""\u0025\u0036\u0031b%2fcdefgh""#),
        format!("\"{}\"", stars(28))
    );
}

#[test]
fn what_only_looks_like_an_escape_stands_for_itself() {
    assert_eq!(masked(&["abcdefg%4"], "abcdefg%4"), stars(9));
    let text = r#"a%5C"bcdef\u0"#;
    assert_eq!(masked(&[r#"a"bcdef\u0"#], text), stars(text.len()));
}

#[test]
fn a_secret_in_base64_is_found_wherever_it_stands() {
    for before in ["", "u", "us", "use", "user:"] {
        let text = STANDARD.encode(format!("{before}{KEY}\n"));
        let mut shown = masked(&[KEY], &text);
        assert_eq!(shown.len(), text.len());
        shown.retain(|letter| letter != '*');
        // Of the secret, no more than a part of its first and of its last byte is left.
        let rest = before.len() * 8 / 6 + 2 + 4;
        assert!(shown.len() <= rest, "{before}: {shown} of {text}");
    }
    let url_safe = URL_SAFE_NO_PAD.encode("~~~???>>>secret");
    assert_eq!(
        masked(&["~~~???>>>secret"], &url_safe),
        stars(url_safe.len())
    );
}

#[test]
fn base64_that_a_tool_wrapped_is_found_and_its_lines_stay() {
    let secret = "k".repeat(90);
    let mut encoded = STANDARD.encode(&secret);
    encoded.insert(76, '\n');
    let wanted = format!("{}\n{}", stars(76), stars(encoded.len() - 77));
    assert_eq!(masked(&[&secret], &encoded), wanted);
    let in_json = encoded.replace('\n', "\\n");
    assert_eq!(masked(&[&secret], &in_json), stars(in_json.len()));
}

#[test]
fn a_secret_of_several_lines_is_found() {
    let secret = "-----BEGIN-----\nabcdefgh\nijkl";
    assert_eq!(
        masked(&[secret], &format!("a {secret}")),
        "a ***************\n********\n****"
    );
    assert_eq!(
        masked(&[secret], &secret.replace('\n', "%0A")),
        stars(secret.len() + 4)
    );
    // Many line breaks, and few of them in a row.
    let wrapped = "ab\n\n\n\n\ncd\n\n\n\n\nefgh\n\nijkl";
    let wanted = "**\n\n\n\n\n**\n\n\n\n\n****\n\n****";
    assert_eq!(masked(&["abcdefghijkl"], wrapped), wanted);
    let far_apart = format!("abcdefgh{}ijkl", "\n".repeat(20));
    assert_eq!(masked(&["abcdefghijkl"], &far_apart), far_apart);
}

#[test]
fn what_is_learnt_stays_known() {
    let known = Known::new([SecretText::new("first-secret")]);
    let copy = known.clone();
    copy.learn(&SecretText::new("second-secret"));
    copy.learn(&SecretText::new("second-secret"));
    let mut text = "first-secret second-secret".to_owned();
    known.masker().text(&mut text);
    assert_eq!(text, "************ *************");
    assert_eq!(
        format!("{known:?}"),
        "Known(RwLock { data: Masker(2 secrets), poisoned: false, .. })"
    );
}

#[test]
fn a_stream_gives_on_at_once_what_can_be_no_secret() {
    let mut stream = masker(&["abcdefgh"]).stream();
    assert_eq!(stream.push_text("xyz"), "xyz");
    assert_eq!(stream.push_text("xabc"), "x");
    assert_eq!(stream.push_text("def"), "");
    assert_eq!(stream.push_text("x"), "abcdefx");
    assert_eq!(stream.push_text("50 %"), "50 ");
    assert_eq!(stream.push_text("6"), "");
    assert_eq!(
        stream.push_text("1bcdefgh."),
        "%61bcdefgh.".replace("%61bcdefgh", &stars(10))
    );
    assert_eq!(stream.push_text("abcd"), "");
    assert_eq!(stream.finish_text(), "abcd");
}

#[test]
fn a_stream_masks_what_is_left_of_a_secret_in_which_another_begins() {
    let mut stream = masker(&["abcdefgh", "ghijklmn"]).stream();
    let mut shown = stream.push_text("abcdefgh");
    shown += &stream.push_text("ijk");
    shown += &stream.push_text("x");
    assert_eq!(shown + &stream.finish_text(), "********ijkx");
}

#[test]
fn a_stream_holds_back_no_more_than_its_bound() {
    let mut stream = masker(&["aaaaaaab"]).stream();
    let bound = stream.held_max_bytes();
    let mut most = 0;
    let piece = r"\u005cu0061\u005cu000a%2561%250a".repeat(40);
    for _ in 0..400 {
        stream.push(piece.as_bytes());
        most = most.max(stream.held_bytes());
    }
    assert!(most > 0 && most <= bound, "{most} of {bound}");
}

/// How a secret is written in a text.
#[derive(Clone, Copy, Debug)]
enum Spelling {
    Plain,
    Address,
    Json,
    Base64,
    UrlSafe,
}

const SPELLINGS: [Spelling; 5] = [
    Spelling::Plain,
    Spelling::Address,
    Spelling::Json,
    Spelling::Base64,
    Spelling::UrlSafe,
];

fn letters(chance: &mut StdRng, count: usize) -> String {
    const LETTERS: &str = "abcxyz019-_.+/=%\\\"' {}&uüß€😀";
    let letters: Vec<char> = LETTERS.chars().collect();
    let letters = (0..count).map(|_| letters[chance.random_range(0..letters.len())]);
    letters.collect()
}

fn in_address(chance: &mut StdRng, text: &str) -> String {
    let mut encoded = String::new();
    for letter in text.chars() {
        let plain = letter.is_ascii_alphanumeric() && chance.random_bool(0.7);
        for byte in letter.to_string().bytes() {
            let written = match (plain, chance.random_bool(0.5)) {
                (true, _) => write!(encoded, "{}", char::from(byte)),
                (false, true) => write!(encoded, "%{byte:02x}"),
                (false, false) => write!(encoded, "%{byte:02X}"),
            };
            written.unwrap();
        }
    }
    encoded
}

fn in_json(chance: &mut StdRng, text: &str) -> String {
    let mut encoded = String::new();
    for letter in text.chars() {
        let must = matches!(letter, '"' | '\\');
        if !must && chance.random_bool(0.8) {
            encoded.push(letter);
        } else if must && chance.random_bool(0.5) {
            encoded.extend(['\\', letter]);
        } else {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                write!(encoded, "\\u{unit:04x}").unwrap();
            }
        }
    }
    encoded
}

/// The encoded text, and how much of it at its ends may stay.
fn spelt(chance: &mut StdRng, spelling: Spelling, text: &str) -> (String, usize) {
    match spelling {
        Spelling::Plain => (text.to_owned(), 0),
        Spelling::Address => (in_address(chance, text), 0),
        Spelling::Json => (in_json(chance, text), 0),
        Spelling::Base64 | Spelling::UrlSafe => {
            let before = letters(chance, 3).into_bytes();
            let before = &before[..chance.random_range(0..3)];
            let bytes = [before, text.as_bytes(), b"~"].concat();
            let encoded = match spelling {
                Spelling::Base64 => STANDARD.encode(bytes),
                _ => URL_SAFE_NO_PAD.encode(bytes),
            };
            (encoded, 4)
        }
    }
}

/// A text with one secret in it: what stands before it, it, what stands behind it.
struct Case {
    secret: String,
    text: String,
    /// Where the secret stands, without what base64 mixes with its neighbours.
    place: Range<usize>,
    /// Where the encoded text stands.
    whole: Range<usize>,
}

fn case(seed: u64) -> Case {
    let chance = &mut StdRng::seed_from_u64(seed);
    let length = chance.random_range(10..60);
    let secret = format!("k{}k", letters(chance, length));
    let spelling = SPELLINGS[chance.random_range(0..SPELLINGS.len())];
    let (mut encoded, mut edge) = spelt(chance, spelling, &secret);
    // What was encoded may stand inside something else that is.
    match chance.random_range(0..4) {
        0 => {
            encoded = in_json(chance, &encoded);
            edge *= 6;
        }
        1 => {
            encoded = in_address(chance, &encoded);
            edge *= 3;
        }
        _ => {}
    }
    let around = |chance: &mut StdRng| {
        let count = chance.random_range(0..30);
        letters(chance, count).replace(['%', '\\'], "")
    };
    let (before, after) = (around(chance), around(chance));
    let whole = before.len()..before.len() + encoded.len();
    Case {
        place: whole.start + edge..whole.end.saturating_sub(edge).max(whole.start + edge),
        whole,
        text: before + &encoded + &after,
        secret,
    }
}

#[test]
fn any_secret_in_any_spelling_is_masked_and_nothing_else_is() {
    for seed in 0..3_000 {
        let Case {
            secret,
            text,
            place,
            whole,
        } = case(seed);
        let shown = masked(&[&secret], &text);
        assert_eq!(shown.len(), text.len(), "seed {seed}");
        assert!(
            shown.as_bytes()[place].iter().all(|byte| *byte == b'*'),
            "seed {seed}: {secret}\n{text}\n{shown}"
        );
        assert_eq!(shown[..whole.start], text[..whole.start], "seed {seed}");
        assert_eq!(shown[whole.end..], text[whole.end..], "seed {seed}");
    }
}

#[test]
fn a_stream_masks_the_same_however_its_pieces_are_cut() {
    for seed in 0..1_000 {
        let chance = &mut StdRng::seed_from_u64(seed);
        let (one, other) = (case(seed), case(seed + 1_000_000));
        // The other secret begins with the end of this one, so that they overlap.
        let tail: String = one
            .secret
            .chars()
            .skip(one.secret.chars().count() / 2)
            .collect();
        let masker = masker(&[&one.secret, &other.secret, &(tail + "abc%41\\n")]);
        let text = one.text.clone() + "abc%41\\nabc" + &other.text + &one.secret + "abc%41";
        let mut wanted = text.clone();
        masker.text(&mut wanted);
        let mut stream = masker.stream();
        let mut shown = Vec::new();
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            let (piece, others) = rest.split_at(chance.random_range(1..=rest.len().min(12)));
            shown.extend(stream.push(piece));
            assert!(stream.held_bytes() <= stream.held_max_bytes());
            rest = others;
        }
        shown.extend(stream.finish());
        assert_eq!(String::from_utf8(shown).unwrap(), wanted, "seed {seed}");
    }
}

#[test]
fn a_stream_of_text_is_never_cut_inside_a_character() {
    for seed in 0..500 {
        let chance = &mut StdRng::seed_from_u64(seed);
        let Case { secret, text, .. } = case(seed);
        let masker = masker(&[&secret]);
        let mut wanted = text.clone();
        masker.text(&mut wanted);
        let mut stream = masker.stream();
        let mut shown = String::new();
        let mut piece = String::new();
        for letter in text.chars() {
            piece.push(letter);
            if chance.random_bool(0.2) {
                shown += &stream.push_text(&std::mem::take(&mut piece));
            }
        }
        shown += &stream.push_text(&piece);
        assert_eq!(shown + &stream.finish_text(), wanted, "seed {seed}");
    }
}

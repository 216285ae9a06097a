use longrein_protocol::event::{NoticeGiven, RunPaused};
use longrein_protocol::{Body, Payload};

use super::*;

const LIMIT: usize = 1 << 20;

fn there_and_back(payload: Payload) -> Payload {
    let (hash, stored) = Encoder::new().unwrap().payload(&payload).unwrap();
    let json = Decoder::new().unwrap().bytes(&stored, LIMIT).unwrap();
    assert_eq!(chain::payload_hash(&json), hash);
    match parse(payload.name(), SCHEMA_VERSION, &json) {
        Parsed::Payload(payload) => *payload,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_payload_comes_back_as_it_was() {
    let texts = [
        "",
        "short",
        "{\"type\":\"run.paused\"}",
        "NUL \0, quote \", \u{1f40e}",
    ];
    for text in texts {
        let payload = Payload::from(NoticeGiven {
            text: Body::Text(text.to_owned()),
        });
        assert_eq!(there_and_back(payload.clone()), payload);
    }
    let paused = Payload::from(RunPaused {});
    assert_eq!(there_and_back(paused.clone()), paused);
}

#[test]
fn the_type_is_not_stored_twice() {
    let notice = Payload::from(NoticeGiven {
        text: Body::Text("turn".to_owned()),
    });
    let mut buffer = Vec::new();
    assert_eq!(fields(&mut buffer, &notice).unwrap(), br#"{"text":"turn"}"#);
    assert_eq!(fields(&mut buffer, &RunPaused {}.into()).unwrap(), b"{}");
}

#[test]
fn bytes_of_any_kind_come_back_and_never_grow_by_more_than_one() {
    let mut encoder = Encoder::new().unwrap();
    let mut decoder = Decoder::new().unwrap();
    let noise: Vec<u8> = (0_u32..5_000)
        .map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    for bytes in [&b""[..], b"x", &noise, &vec![b'a'; 100_000]] {
        let stored = encoder.bytes(bytes).unwrap();
        assert!(stored.len() <= bytes.len() + 1);
        assert_eq!(decoder.bytes(&stored, LIMIT).unwrap(), bytes);
    }
}

#[test]
fn a_row_can_not_ask_for_more_memory_than_is_allowed() {
    let stored = Encoder::new().unwrap().bytes(&vec![b'a'; 100_000]).unwrap();
    assert!(stored.len() < 200);
    assert_eq!(Decoder::new().unwrap().bytes(&stored, 99_999), None);
}

#[test]
fn nonsense_is_no_content() {
    let mut decoder = Decoder::new().unwrap();
    for stored in [
        &b""[..],
        &[1],
        &[2, 3, 4],
        &[1, 0xff, 0xff, 0xff],
        &[9, b'{', b'}'],
    ] {
        assert_eq!(decoder.bytes(stored, LIMIT), None, "{stored:?}");
    }
    assert!(matches!(parse("run.paused", 1, b"[1]"), Parsed::Unreadable));
    assert!(matches!(parse("run.paused", 2, b"{}"), Parsed::Unknown(_)));
    assert!(matches!(parse("moon.landed", 1, b"{}"), Parsed::Unknown(_)));
}

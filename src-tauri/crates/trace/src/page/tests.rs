use longrein_protocol::view::{Row, RowContent, RunView};
use serde_json::json;

use super::page;
use crate::{PieceStory, RequestStory, Story, markdown};

const HOSTILE: &str = "</script><script>alert(1)</script> \" ' & <img src=x onerror=alert(1)>";

fn view(rows: Vec<Row>) -> RunView {
    let head = json!({
        "run": "01J", "parent": "", "title": HOSTILE, "agent": HOSTILE, "model": "local/any",
        "demo": false, "state": "accepted", "reason": "", "remedy": "", "since": 0,
        "created_at": 0, "steps": {"used": 2, "held": 0, "limit": null},
        "tokens_in": {"used": 1200, "held": 0, "limit": null},
        "tokens_out": {"used": 34, "held": 0, "limit": null},
        "working_seconds": {"used": 5, "held": 0, "limit": null},
        "actions": {"used": 0, "held": 0, "limit": null},
        "money": {"used_micro": 0, "held_micro": 0, "limit_micro": null, "known": false},
        "warned": [], "reached": null, "plan": [{"text": HOSTILE, "state": "done"}], "notes": [],
        "context": [], "window_tokens": 0, "sources": [], "stages": [], "artifacts": [],
        "done_when": [], "verified": false, "acceptance": null, "digest": null, "rules": [],
        "tainted": false,
    });
    RunView {
        seq: 9,
        head: serde_json::from_value(head).unwrap(),
        rows,
        earlier: 0,
    }
}

fn row(seq: u32, content: RowContent) -> Row {
    Row {
        key: format!("e{seq}"),
        seq,
        at: 0,
        step: 1,
        content,
        knot: None,
    }
}

fn story() -> Story {
    let question = RowContent::Question {
        text: HOSTILE.to_owned(),
    };
    let answer = RowContent::Answer {
        text: format!(
            "**Bold** ![a picture](https://example.org/x.png) [page](https://example.org) [trap](javascript:alert(1)) {HOSTILE}"
        ),
        thinking: HOSTILE.to_owned(),
    };
    let piece = PieceStory {
        section: "conversation".to_owned(),
        origin: "you".to_owned(),
        untrusted: true,
        tokens: 3,
        words: HOSTILE.to_owned(),
        hidden_bytes: 0,
    };
    Story {
        view: view(vec![row(1, question), row(2, answer)]),
        requests: vec![RequestStory {
            seq: 2,
            number: 1,
            model: "local/any".to_owned(),
            sha256: String::new(),
            bytes: 1,
            exact: true,
            sections: vec![("conversation".to_owned(), 3)],
            new: vec![piece],
            dropped: Vec::new(),
        }],
        children: Vec::new(),
        of_action: String::new(),
        head: String::new(),
    }
}

#[test]
fn nothing_that_a_run_holds_becomes_markup_of_the_page() {
    let page = page(&story());
    assert_eq!(page.matches("<script").count(), 2, "the data and our own");
    assert!(!page.contains("<img"), "{page}");
    assert!(!page.contains("<script>alert"), "{page}");
    assert!(!page.contains("href=\"javascript"), "{page}");
    assert!(
        page.contains("&lt;script&gt;alert(1)"),
        "it is shown as text"
    );
}

#[test]
fn a_page_asks_nothing_of_a_network() {
    let page = page(&story());
    assert!(page.contains("default-src &#39;none&#39;"), "{page}");
    let addresses = page.matches("https://").count();
    assert_eq!(
        addresses,
        page.matches("href=\"https://example.org\"").count()
    );
}

#[test]
fn the_transcript_is_there_without_scripts() {
    let page = page(&story());
    let (before, _) = page.split_once("<script").unwrap();
    assert!(before.contains("<strong>Bold</strong>"), "{before}");
    assert!(before.contains("Reasoning"), "{before}");
    assert!(before.contains("1,234 tokens"), "{before}");
}

#[test]
fn markdown_tells_what_was_asked_and_answered() {
    let text = markdown(&story());
    assert!(text.contains("## You"), "{text}");
    assert!(text.contains("**Bold**"), "{text}");
}

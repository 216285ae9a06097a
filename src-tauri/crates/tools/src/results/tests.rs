use std::sync::Arc;

use longrein_core::run::KeptResult;
use longrein_protocol::ActionId;
use longrein_protocol::block::{Origin, Trust};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::testing::{Blobs, call, context, run, told};

/// A run with one long result.
struct Desk {
    folder: TempDir,
    blobs: Arc<Blobs>,
    results: Vec<KeptResult>,
}

impl Desk {
    fn with(text: &str) -> Self {
        let blobs = Arc::new(Blobs::default());
        let kept = kept("a7long", blobs.add(text.as_bytes()));
        Self {
            folder: tempfile::tempdir().unwrap(),
            blobs,
            results: vec![kept],
        }
    }

    async fn read(&self, mut asked: Value) -> String {
        if asked.get("result").is_none() {
            asked["result"] = json!("a7long");
        }
        let mut context = context(self.folder.path());
        context.results.clone_from(&self.results);
        context.blobs = self.blobs.clone();
        told(run(&ReadResult::tool(), call(context, asked)).await)
    }
}

fn kept(action: &str, body: Body) -> KeptResult {
    KeptResult {
        action: ActionId(action.to_owned()),
        body,
        origin: Origin::Tool {
            tool: "exa.search".to_owned(),
            place: Some("https://exa.example".to_owned()),
        },
        trust: Trust::Untrusted,
        file: None,
        file_has_more: false,
    }
}

fn hits() -> String {
    let hits: Vec<Value> = (0..500)
        .map(|n| json!({"id": n, "title": format!("Heron {n}"), "a/b": {"~": n}}))
        .collect();
    json!({"total": 500, "hits": hits}).to_string()
}

#[tokio::test]
async fn a_value_is_read_by_its_pointer() {
    let desk = Desk::with(&hits());
    let read = async |pointer| desk.read(json!({"pointer": pointer})).await;
    assert_eq!(
        read("/hits/3/title").await,
        "result a7long at /hits/3/title: 7 bytes\nHeron 3"
    );
    assert_eq!(
        read("/total").await,
        "result a7long at /total: 3 bytes\n500"
    );
    assert!(read("/hits/3/a~1b/~0").await.ends_with("\n3"));
    let items = read("/hits/498-600").await;
    assert!(
        items.contains("Heron 498") && items.contains("Heron 499"),
        "{items}"
    );
    let large = read("/hits").await;
    assert!(
        large.contains("array of 500 items") && large.len() < SHOWN_LIMIT_BYTES + 500,
        "{large}"
    );
}

#[tokio::test]
async fn a_pointer_to_nothing_says_what_there_is() {
    let desk = Desk::with(&hits());
    let read = async |pointer| desk.read(json!({"pointer": pointer})).await;
    assert_eq!(
        read("/hits/3/name").await,
        "not_found: /hits/3 has no `name`; it has a/b, id, title"
    );
    assert_eq!(
        read("/hits/900").await,
        "not_found: /hits has 500 items, counted from 0, and no `900`"
    );
    assert_eq!(
        read("/total/x").await,
        "not_found: /total is a number, which has no parts"
    );
    assert_eq!(
        read("/nothing").await,
        "not_found: the whole has no `nothing`; it has hits, total"
    );
    let text = Desk::with(&"words ".repeat(500));
    let said = text.read(json!({"pointer": "/0"})).await;
    assert!(
        said.starts_with("invalid_arguments: it can't be read as JSON"),
        "{said}"
    );
}

#[tokio::test]
async fn rows_of_json_lines_are_counted_from_nought() {
    let rows: String = (0..300)
        .map(|n| format!("{{\"n\": {n}, \"who\": \"x{n}\"}}\n"))
        .collect();
    let desk = Desk::with(&rows);
    assert!(
        desk.read(json!({"pointer": "/42/who"}))
            .await
            .ends_with("\nx42")
    );
    let text = Desk::with(&json!({"page": "line one\nline two\nheron"}).to_string());
    let said = text
        .read(json!({"pointer": "/page", "start_line": 2, "lines": 1}))
        .await;
    assert_eq!(
        said,
        "result a7long at /page: lines 2 to 2 of 3; read on with \"start_line\": 3\nline two\n"
    );
}

#[tokio::test]
async fn lines_and_bytes_are_read_on_to_the_end() {
    let text: String = (1..=5_000).map(|n| format!("line {n} ä\n")).collect();
    let desk = Desk::with(&text);
    let mut whole = String::new();
    let mut start = 0;
    while start < text.len() {
        let said = desk.read(json!({"start": start})).await;
        let (heading, part) = said.split_once('\n').unwrap();
        whole.push_str(part);
        start += part.len();
        assert_eq!(
            heading.contains("read on with"),
            start < text.len(),
            "{heading}"
        );
    }
    assert_eq!(whole, text, "nothing is lost between the parts");
    let said = desk.read(json!({"start_line": 4_999})).await;
    assert_eq!(
        said,
        "result a7long: lines 4999 to 5000 of 5000\nline 4999 ä\nline 5000 ä\n"
    );
    let said = desk.read(json!({"start_line": 5_001})).await;
    assert!(
        said.starts_with("invalid_arguments: result a7long has 5000 lines"),
        "{said}"
    );
    let said = desk.read(json!({"start_line": 1, "start": 2})).await;
    assert!(said.contains("not both"), "{said}");
}

#[tokio::test]
async fn matches_are_shown_with_their_lines() {
    let text: String = (1..=5_000).map(|n| format!("row {n}\n")).collect();
    let desk = Desk::with(&text);
    let said = desk.read(json!({"pattern": "^row 49\\d9$"})).await;
    assert_eq!(said.lines().next(), Some("result a7long: 10 matches"));
    assert!(said.contains("4909: row 4909\n"), "{said}");
    let said = desk.read(json!({"pattern": "row"})).await;
    assert!(
        said.starts_with("result a7long: 100 matches; go on with \"start_line\": 101\n"),
        "{said}"
    );
    let said = desk
        .read(json!({"pattern": "row", "start_line": 4_950}))
        .await;
    assert!(
        said.starts_with("result a7long: 51 matches\n4950: row 4950"),
        "{said}"
    );
    assert_eq!(
        desk.read(json!({"pattern": "egret"})).await,
        "result a7long: nothing matches"
    );
    let said = desk.read(json!({"pattern": "("})).await;
    assert!(
        said.starts_with("invalid_arguments: `pattern` can't be used"),
        "{said}"
    );
}

/// Nothing here may hang, run out of the stack or show more than its limit.
#[tokio::test]
async fn hostile_results_are_read_within_bounds() {
    let deep = format!("{}{}", "[".repeat(300_000), "]".repeat(300_000));
    let wide = format!("{{\"k\": \"{}\"}}", "\\u0000".repeat(400_000));
    let giant = format!("{}needle{}", "a".repeat(3_000_000), "a".repeat(3_000_000));
    for text in [
        deep.as_str(),
        &wide,
        &giant,
        "\u{1b}[2J\u{202e}".repeat(5_000).as_str(),
    ] {
        let desk = Desk::with(text);
        for asked in [
            json!({}),
            json!({"pointer": format!("{}", "/0".repeat(60))}),
            json!({"pointer": "/k"}),
            json!({"pattern": "(a*)*b|needle"}),
            json!({"pattern": "(?:a{0,50}){0,50}c"}),
            json!({"start_line": 1, "lines": 2_000}),
            json!({"start": text.len() - 1}),
            json!({"pointer": "/0".repeat(100)}),
        ] {
            let said = desk.read(asked.clone()).await;
            // What would act on a terminal is written out, and takes more room so.
            assert!(
                said.len() < 9 * SHOWN_LIMIT_BYTES,
                "{asked}: {}",
                said.len()
            );
            assert!(!said.contains('\u{1b}') && !said.contains('\u{202e}'));
        }
    }
    let said = Desk::with(&giant).read(json!({"pattern": "needle"})).await;
    assert!(
        said.contains("1 match\n1 (byte 3000000 of the line): …aaa"),
        "{}",
        &said[..200]
    );
}

#[tokio::test]
async fn a_result_is_named_by_its_action_its_first_letters_or_its_file() {
    let mut desk = Desk::with(&hits());
    desk.results[0].file = Some("results/a7long.json".to_owned());
    for name in [
        "a7long",
        "a7lo",
        "results/a7long.json",
        "./results/a7long.json",
        "a7long.json",
    ] {
        let said = desk
            .read(json!({"result": name, "pointer": "/total"}))
            .await;
        assert_eq!(
            said, "results/a7long.json at /total: 3 bytes\n500",
            "{name}"
        );
    }
    for name in ["a7", "b8other", "/etc/passwd", "results/../../x"] {
        let said = desk.read(json!({"result": name})).await;
        assert!(said.starts_with("not_found: there is no result"), "{said}");
        assert!(said.contains("a7long ("), "{said}");
    }
    desk.results.push(kept("a7longer", Body::default()));
    let said = desk.read(json!({"result": "a7lon"})).await;
    assert!(said.starts_with("invalid_arguments: several"), "{said}");
    assert!(
        desk.read(json!({"result": "a7long", "pointer": "/total"}))
            .await
            .ends_with("500")
    );
}

#[tokio::test]
async fn what_is_read_is_as_untrusted_as_the_result_was() {
    let desk = Desk::with(&hits());
    let mut context = context(desk.folder.path());
    context.results.clone_from(&desk.results);
    context.blobs = desk.blobs.clone();
    let asked = call(context, json!({"result": "a7long"}));
    let output = run(&ReadResult::tool(), asked).await.unwrap();
    let kept = &desk.results[0];
    assert_eq!(output.origin, Some((kept.origin.clone(), kept.trust)));
}

#[tokio::test]
async fn what_a_tool_left_in_a_file_is_read_there_and_else_what_was_kept() {
    let mut desk = Desk::with(&"kept ".repeat(1_000));
    desk.results[0].file = Some("results/a7long.txt".to_owned());
    desk.results[0].file_has_more = true;
    let said = desk.read(json!({"start": 0, "end": 5})).await;
    assert!(
        said.contains("kept") && said.contains("the whole can't be read here"),
        "{said}"
    );
    let whole = b"whole \xff\xfe\n".repeat(1_000);
    assert_eq!(
        lay_down(desk.folder.path(), &result_path("a7long.txt"), &whole).unwrap(),
        "results/a7long.txt"
    );
    let said = desk.read(json!({"start_line": 1_000})).await;
    assert_eq!(
        said,
        "results/a7long.txt: lines 1000 to 1000 of 1000\nwhole \u{fffd}\u{fffd}\n"
    );
}

#[cfg(unix)]
#[test]
fn a_result_is_not_laid_down_through_a_link_that_leads_out() {
    let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::os::unix::fs::symlink(outside.path(), folder.path().join("results")).unwrap();
    assert!(lay_down(folder.path(), &result_path("a7.txt"), b"x").is_err());
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
}

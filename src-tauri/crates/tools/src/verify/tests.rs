//! Every kind of criterion: what holds, what does not, and what can't be checked.

mod asked;
mod delivered;
mod plan;

use expect_test::expect;
use longrein_protocol::agent::{
    Criterion, FileCriterion, PersonCriterion, SchemaCriterion, TextCriterion,
};
use serde_json::{Value, json};

use crate::tests::Desk;

fn file(path: &str, most: Option<u32>, media: Option<&str>) -> Criterion {
    Criterion::File(FileCriterion {
        file: path.to_owned(),
        min_bytes: 1,
        max_bytes: most,
        media_type: media.map(str::to_owned),
    })
}

fn schema(path: &str, against: Value) -> Criterion {
    Criterion::Schema(SchemaCriterion {
        schema: path.to_owned(),
        against,
    })
}

fn text(path: &str, must: &[&str], must_not: &[&str]) -> Criterion {
    let owned = |patterns: &[&str]| {
        patterns
            .iter()
            .map(|pattern| (*pattern).to_owned())
            .collect()
    };
    Criterion::Text(TextCriterion {
        text: path.to_owned(),
        must: owned(must),
        must_not: owned(must_not),
    })
}

#[tokio::test]
async fn a_file_has_a_size_and_is_what_its_content_says() {
    let desk = Desk::new();
    desk.put("page.html", "<!doctype html><p>Words.</p>");
    desk.put("photo.png", "No picture at all.");
    std::fs::write(desk.folder.path().join("real.png"), b"\x89PNG\r\n\x1a\n\0").unwrap();
    let large = format!("[\"{}\"]", "x".repeat(9 * 1024 * 1024));
    desk.put("large.json", &large);
    let mut told = Vec::new();
    for criterion in [
        file("page.html", Some(100), Some("text/html")),
        file("page.html", Some(10), None),
        file("real.png", None, Some("image/*")),
        file("photo.png", None, Some("image/*")),
        file("page.html", None, Some("text/css")),
        file("large.json", None, Some("application/json")),
        file("none.png", None, Some("image/*")),
    ] {
        told.push(desk.verify(criterion).await);
    }
    expect![[r#"
        page.html exists, at least 1 bytes, at most 100, text/html: holds: page.html has 28 bytes, text/html
        page.html exists, at least 1 bytes, at most 10: does not hold: page.html has 28 bytes
        - page.html has 28 bytes, and at most 10 are wanted.
        real.png exists, at least 1 bytes, image/*: holds: real.png has 9 bytes, image/png
        photo.png exists, at least 1 bytes, image/*: does not hold: photo.png has 18 bytes, text/plain
        - photo.png is text/plain by its content, and image/* is wanted. Of texts, HTML, Markdown, SVG, XML, JSON and CSV are told by their content, and no others.
        page.html exists, at least 1 bytes, text/css: does not hold: page.html has 28 bytes, text/html
        - page.html is text/html by its content, and text/css is wanted.
        large.json exists, at least 1 bytes, application/json: does not hold: large.json has 9437188 bytes, text/plain
        - large.json has more than 8388608 bytes, too many to be read as JSON.
        none.png exists, at least 1 bytes, image/*: does not hold: no file none.png
        - `none.png` is not in the workspace; list_files shows what is"#]].assert_eq(&told.join("\n"));
}

#[tokio::test]
async fn a_json_file_has_the_shape_of_its_schema() {
    let desk = Desk::new();
    desk.put("good.json", r#"{"name": "HNSW", "runs": [1, 2]}"#);
    desk.put(
        "bad.json",
        r#"{"name": 5, "runs": [1, "two", 3.5], "more/or~less": {}}"#,
    );
    desk.put("broken.json", "{\n  \"name\": \"HNSW\",\n}");
    desk.put("many.json", &json!({"runs": vec!["x"; 60]}).to_string());
    std::fs::write(desk.folder.path().join("bytes.json"), b"{\"a\": \"\xff\"}").unwrap();
    let against = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "pattern": "^[A-Z]+$"},
            "runs": {"type": "array", "items": {"type": "integer"}},
            "more/or~less": {"type": "object", "required": ["x"]},
        },
    });
    let mut told = Vec::new();
    for path in [
        "good.json",
        "bad.json",
        "broken.json",
        "bytes.json",
        "none.json",
    ] {
        told.push(desk.verify(schema(path, against.clone())).await);
    }
    told.push(
        desk.verify(schema(
            "good.json",
            json!({"$ref": "https://example.org/s.json"}),
        ))
        .await,
    );
    told.push(
        desk.verify(schema(
            "good.json",
            json!({"properties": {"name": {"pattern": "("}}}),
        ))
        .await,
    );
    expect![[r#"
        good.json satisfies its schema: holds: good.json satisfies its schema
        bad.json satisfies its schema: does not hold: bad.json differs from its schema in 4 places
        - bad.json at /more~1or~0less: "x" is a required property.
        - bad.json at /name: 5 is not of type "string".
        - bad.json at /runs/1: "two" is not of type "integer".
        - bad.json at /runs/2: 3.5 is not of type "integer".
        broken.json satisfies its schema: does not hold: broken.json is not JSON
        - broken.json is not JSON: trailing comma at line 3 column 1. Write it so that it parses.
        bytes.json satisfies its schema: does not hold: it could not be checked
        - bytes.json is not UTF-8 text; write it anew
        none.json satisfies its schema: does not hold: it could not be checked
        - `none.json` is not in the workspace; list_files shows what is
        good.json satisfies its schema: does not hold: it could not be checked
        - the schema of this agent can't be used: Resource 'https://example.org/s.json' is not present in a registry and retrieving it failed: schemas of other places are not fetched. The person has to mend it in the agent's file.
        good.json satisfies its schema: does not hold: it could not be checked
        - the schema of this agent can't be used: "(" is not a "regex". The person has to mend it in the agent's file."#]].assert_eq(&told.join("\n"));
    let many = desk.verify(schema("many.json", against)).await;
    assert!(
        many.contains("in 60 places") && many.ends_with("… and 40 more of these"),
        "{many}"
    );
}

#[tokio::test]
async fn a_text_has_and_has_not_what_its_patterns_say() {
    let desk = Desk::new();
    desk.put(
        "report.md",
        "# Report\n\n## Sources\n\nDRAFT: more \u{1b}[31mwords.\n",
    );
    let mut told = Vec::new();
    for criterion in [
        text("report.md", &["^## Sources$", "(?i)report"], &["SECRET"]),
        text("report.md", &["^## Limits$", "Report"], &["DRAFT: .*"]),
        text("report.md", &["("], &[]),
        text("report.md", &["a{1000}{1000}{1000}"], &[]),
        text("none.md", &["x"], &[]),
        text("../x", &["x"], &[]),
    ] {
        told.push(desk.verify(criterion).await);
    }
    std::fs::write(desk.folder.path().join("report.md"), b"DRAFT\xff").unwrap();
    told.push(desk.verify(text("report.md", &[], &["DRAFT"])).await);
    expect![[r#"
        report.md has the words that it must have: holds: 3 of 3 patterns as wanted
        report.md has the words that it must have: does not hold: 1 of 3 patterns as wanted
        - report.md has nothing that matches “^## Limits$”, which it must have.
        - report.md has “DRAFT: more \u{1b}[31mwords.” in line 5, which matches “DRAFT: .*”; it must not have that.
        report.md has the words that it must have: does not hold: it could not be checked
        - the pattern “(” of this agent can't be used: unclosed group. The person has to mend it in the agent's file.
        report.md has the words that it must have: does not hold: it could not be checked
        - the pattern “a{1000}{1000}{1000}” of this agent can't be used: Compiled regex exceeds size limit of 1048576 bytes. The person has to mend it in the agent's file.
        none.md has the words that it must have: does not hold: it could not be checked
        - `none.md` is not in the workspace; list_files shows what is
        ../x has the words that it must have: does not hold: it could not be checked
        - `../x` leads out of the workspace; only files beneath the workspace can be used
        report.md has the words that it must have: does not hold: it could not be checked
        - report.md is not UTF-8 text; write it anew"#]].assert_eq(&told.join("\n"));
}

#[tokio::test]
async fn a_pattern_can_not_be_made_slow_by_a_text() {
    let desk = Desk::new();
    desk.put("a.txt", &"a".repeat(200_000));
    let told = desk
        .verify(text("a.txt", &[], &["(a+)+$b", "(a|aa)+c"]))
        .await;
    assert!(
        told.contains(": holds: 2 of 2 patterns as wanted"),
        "{told}"
    );
}

#[tokio::test]
async fn a_person_is_waited_for() {
    let desk = Desk::new();
    let criterion = Criterion::Person(PersonCriterion {
        person: "Read the page and accept it.".to_owned(),
    });
    expect!["a person accepts: Read the page and accept it.: waits: a person has to accept it"]
        .assert_eq(&desk.verify(criterion).await);
}

//! The tools together: what is offered, and the way from a source to a verified page.

mod copies;
mod interface;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use expect_test::expect;
use longrein_protocol::agent::{Criterion, EvidenceCriterion, FileCriterion, Permit};
use longrein_protocol::source::{ClaimState, PdfReceipt};
use longrein_protocol::{BlobHash, Effect, Repeat, SourceId};
use longrein_runtime::ports::{
    Fact, NewArtifact, Part, PublishedArtifact, RunContext, Tool, ToolCall, ToolError, ToolOutput,
    Verifier,
};
use serde_json::json;
use tempfile::TempDir;

use crate::testing::{Answers, Blobs, call, context, run, source, text, told, words};
use crate::{HarnessVerifier, ToolsConfig, builtin_tools};

fn tool(name: &str) -> Arc<dyn Tool> {
    let mut tools = builtin_tools(ToolsConfig::default()).into_iter();
    tools
        .find(|tool| tool.spec().name == name)
        .expect("the tool exists")
}

#[test]
fn every_tool_says_what_it_may_do_and_how_it_is_called() {
    let tools = builtin_tools(ToolsConfig::default());
    let table: String = tools
        .iter()
        .map(|tool| {
            let spec = tool.spec();
            jsonschema::draft202012::new(&spec.schema).expect("the schema is valid");
            assert_eq!(spec.schema["additionalProperties"], false, "{}", spec.name);
            assert_eq!(spec.repeat, Repeat::Repeatable, "{}", spec.name);
            for path in &spec.path_arguments {
                assert!(
                    spec.schema["properties"].get(path).is_some(),
                    "{}",
                    spec.name
                );
            }
            let arguments: Vec<&String> = spec.schema["properties"]
                .as_object()
                .unwrap()
                .keys()
                .collect();
            let effect = if spec.effect == Effect::Read {
                "reads"
            } else {
                "writes"
            };
            let untrusted = if spec.untrusted { ", untrusted" } else { "" };
            let private = if spec.reach.private { ", private" } else { "" };
            format!("{} {arguments:?} {effect}{untrusted}{private}\n", spec.name)
        })
        .collect();
    expect![[r#"
        read_file ["lines", "path", "start_line"] reads, untrusted
        write_file ["content", "path"] writes
        edit_file ["all", "new", "old", "path"] writes
        list_files ["depth", "path"] reads
        search_files ["limit", "path", "pattern"] reads, untrusted
        search_library ["limit", "query"] reads, untrusted, private
        web_fetch ["part", "url"] reads, untrusted
        read_source ["end", "source", "start"] reads, untrusted, private
        read_result ["end", "lines", "pattern", "pointer", "result", "start", "start_line"] reads
        update_plan ["items"] writes
        pin_note ["text", "unpin"] writes
        recall ["limit", "query"] reads, untrusted
        publish_artifact ["path", "title"] writes
        delegate ["tasks"] reads
        ask_person ["options", "question"] reads
        finish ["summary"] reads
    "#]]
    .assert_eq(&table);
}

async fn use_tool(name: &str, call: ToolCall) -> Result<ToolOutput, ToolError> {
    run(&tool(name), call).await
}

/// A run with two sources and a workspace.
pub(crate) struct Desk {
    pub(crate) folder: TempDir,
    pub(crate) context: RunContext,
    pub(crate) blobs: Arc<Blobs>,
}

const GRAPHS: &str = "A hierarchical graph answers queries fast. It needs three times the mem-\nory of a flat index.";
const FLAT: &str = "One.\u{c}The flat index scans everything.\u{c}Three.";

impl Desk {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let blobs = Arc::new(Blobs::default());
        let mut paper = source(&blobs, 2, "Flat", FLAT);
        paper.meta.pdf = Some(PdfReceipt {
            pages: 3,
            read: 3,
            ..PdfReceipt::default()
        });
        let context = RunContext {
            sources: vec![source(&blobs, 1, "Graphs", GRAPHS), paper],
            blobs: Arc::clone(&blobs) as _,
            ..context(folder.path())
        };
        Self {
            folder,
            context,
            blobs,
        }
    }

    pub(crate) fn put(&self, path: &str, content: &str) {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Publishes, and records it as the driver does. Returns what the model is told.
    pub(crate) async fn publish(&mut self, path: &str) -> String {
        let outcome = use_tool(
            "publish_artifact",
            call(self.context.clone(), json!({"path": path})),
        )
        .await;
        if let Ok(output) = &outcome {
            let artifact = artifact(output);
            self.context.artifacts.push(PublishedArtifact {
                path: artifact.path.clone(),
                media_type: artifact.media_type.clone(),
                original: self.blobs.add(&artifact.original).hash(),
            });
        }
        told(outcome)
    }

    pub(crate) async fn verify(&self, criterion: Criterion) -> String {
        self.verify_with(criterion, &Answers::default()).await
    }

    /// The result in lines.
    pub(crate) async fn verify_with(&self, criterion: Criterion, answers: &Answers) -> String {
        let results = HarnessVerifier
            .verify(&[criterion], &self.context, answers)
            .await;
        let [result] = &results[..] else {
            panic!("one result per criterion")
        };
        let holds = match (result.holds, result.waits) {
            (true, _) => "holds",
            (false, true) => "waits",
            (false, false) => "does not hold",
        };
        let mut told = format!("{}: {holds}: {}", result.criterion, result.evidence);
        for line in &result.difference {
            told.push_str(&format!("\n- {line}"));
        }
        told
    }
}

fn artifact(output: &ToolOutput) -> &NewArtifact {
    let [Fact::Artifact(artifact)] = &output.facts[..] else {
        panic!("{:?}", output.facts)
    };
    artifact
}

fn evidence(path: &str, uncited: Permit, min_citations: u32) -> Criterion {
    Criterion::Evidence(EvidenceCriterion {
        evidence: path.to_owned(),
        uncited,
        numbers: Permit::Forbid,
        min_citations,
    })
}

fn file(path: &str, min_bytes: u32) -> Criterion {
    Criterion::File(FileCriterion {
        file: path.to_owned(),
        min_bytes,
        max_bytes: None,
        media_type: None,
    })
}

const PAGE: &str = "<title>Two indexes</title><h1>Two indexes</h1><header>We read two documents for this page.</header>\
    <p>A graph is fast [S1: \"answers queries fast\"].</p><p>A flat one is slow [S2: \"scans everything\"].</p>";

#[tokio::test]
async fn a_page_is_published_with_its_original_its_copy_and_its_ledger() {
    let desk = Desk::new();
    desk.put("out/index.html", PAGE);
    let output = use_tool(
        "publish_artifact",
        call(desk.context.clone(), json!({"path": "out/index.html"})),
    )
    .await
    .unwrap();
    expect!["Published out/index.html as artifacts/out/index.html: 2 citations of 2 sources, 2 of 2 quotes verbatim, 0 statements without a citation."].assert_eq(&text(&output));
    assert_eq!(output.outcome, "2 citations, 2 of 2 quotes verbatim");
    let artifact = artifact(&output);
    assert_eq!(
        (artifact.title.as_str(), artifact.media_type.as_str()),
        ("Two indexes", "text/html")
    );
    assert_eq!(artifact.original, PAGE.as_bytes());
    let copy = fs::read(desk.folder.path().join("artifacts/out/index.html")).unwrap();
    assert_eq!(
        (artifact.rendered_path.as_str(), &artifact.rendered),
        ("artifacts/out/index.html", &copy)
    );
    assert_eq!(
        output.receipt.as_deref(),
        Some(BlobHash::of(PAGE.as_bytes()).to_string().as_str())
    );
    let states: Vec<ClaimState> = artifact.ledger.iter().map(|claim| claim.state).collect();
    assert_eq!(states, [ClaimState::Verbatim, ClaimState::Verbatim]);
    assert_eq!(artifact.ledger[1].found.unwrap().page, Some(2));
    let copy = String::from_utf8(copy).unwrap();
    assert!(
        !copy.contains(&*desk.folder.path().to_string_lossy()),
        "no path of this machine is in the page"
    );
}

#[tokio::test]
async fn a_page_that_cites_wrongly_is_refused_with_every_fault() {
    let mut desk = Desk::new();
    desk.put("a.html", "<p title=\"[S1]\">One [S 1].</p><!-- [S2] -->");
    desk.put(
        "b.html",
        "<p>A graph is fast [S7]. And flat is slow [S1][S8: \"x y z\"].</p>",
    );
    fs::write(desk.folder.path().join("c.md"), b"# caf\xe9").unwrap();
    desk.put("deep.html", &"<div>".repeat(20_000));
    let mut outcomes = Vec::new();
    for path in [
        "a.html",
        "b.html",
        "c.md",
        "deep.html",
        "missing.html",
        "../x.html",
        "artifacts/a.html",
        "artifacts",
    ] {
        outcomes.push(desk.publish(path).await);
    }
    expect![[r#"
        invalid_arguments: `a.html` was not published. Mend these and publish it again:
        - `[S1]` stands in the attribute title of <p>: citations count in the page's text only
        - `[S 1]` (at “[S 1].”) has no source id like S1 where one is expected
        - `[S2]` stands in a comment: citations count in the page's text only
        invalid_arguments: `b.html` was not published. Mend these and publish it again:
        - `S7` at “A graph is fast.” is no source of this run: cite one that search_library or another tool gave you
        - `S8` at “And flat is slow.” is no source of this run: cite one that search_library or another tool gave you
        invalid_arguments: `c.md` is not UTF-8 text; write it anew
        invalid_arguments: `deep.html` can't be published: its elements stand in each other more than 1000 deep
        not_found: `missing.html` is not in the workspace; list_files shows what is
        not_permitted: `../x.html` leads out of the workspace; only files beneath the workspace can be used
        invalid_arguments: `artifacts/a.html` lies among the rendered copies; publish the file that you wrote
        invalid_arguments: `artifacts` lies among the rendered copies; publish the file that you wrote"#]].assert_eq(&outcomes.join("\n"));
    assert!(
        !desk.folder.path().join("artifacts").exists(),
        "nothing is published"
    );
}

#[tokio::test]
async fn markdown_becomes_a_page_and_other_files_are_delivered_as_they_are() {
    let desk = Desk::new();
    desk.put(
        "report.md",
        "# Report\n\nFast [S1: \"answers queries fast\"].\n",
    );
    desk.put("data.csv", "a,b\n1,[S1]\n");
    let publish = |path: &'static str, title: &'static str| {
        use_tool(
            "publish_artifact",
            call(desk.context.clone(), json!({"path": path, "title": title})),
        )
    };
    let report = publish("report.md", "The report").await.unwrap();
    assert_eq!(
        (
            artifact(&report).title.as_str(),
            artifact(&report).media_type.as_str()
        ),
        ("The report", "text/markdown")
    );
    assert_eq!(artifact(&report).rendered_path, "artifacts/report.md.html");
    let page = fs::read_to_string(desk.folder.path().join("artifacts/report.md.html")).unwrap();
    assert!(
        page.contains("<title>Report</title>") && page.contains("id=\"lr-references\""),
        "{page}"
    );
    let data = publish("data.csv", "Data").await.unwrap();
    expect!["Published data.csv as artifacts/data.csv."].assert_eq(&text(&data));
    assert_eq!(artifact(&data).rendered, b"a,b\n1,[S1]\n");
    assert_eq!(
        (
            artifact(&data).media_type.as_str(),
            artifact(&data).ledger.len()
        ),
        ("text/csv", 0)
    );
}

#[tokio::test]
async fn what_does_not_hold_is_told_at_once_and_again_by_the_verifier() {
    let mut desk = Desk::new();
    desk.put(
        "index.html",
        "<p>A graph is fast [S1: \"answers most queries fast\"].</p><p>Bananas are rich [S2: \"bananas are rich in potassium\"].</p>\
         <p>This one has no source at all.</p>",
    );
    expect![[r#"
        Published index.html as artifacts/index.html: 2 citations of 2 sources, 0 of 2 quotes verbatim, 1 statement without a citation.
        What does not hold yet:
        - The quote “answers most queries fast” is not in S1; the closest words there are “answers queries fast.”. Quote the words as they stand.
        - The quote “bananas are rich in potassium” (at “Bananas are rich.”) is not in S2, nor anything like it. Quote words that stand there, or drop the claim.
        - “This one has no source at all.” carries no citation, and neither does its paragraph, row or item. Cite a source there, or move words of your own into a <header>, <aside> or <footer>, which hold at most 10 such sentences each."#]].assert_eq(&desk.publish("index.html").await);
    expect![[r#"
        every quote in index.html is in its source, and nothing is uncited: does not hold: 0 of 2 quotes verbatim, 1 statement without a citation
        - The quote “answers most queries fast” is not in S1; the closest words there are “answers queries fast.”. Quote the words as they stand.
        - The quote “bananas are rich in potassium” (at “Bananas are rich.”) is not in S2, nor anything like it. Quote words that stand there, or drop the claim.
        - “This one has no source at all.” carries no citation, and neither does its paragraph, row or item. Cite a source there, or move words of your own into a <header>, <aside> or <footer>, which hold at most 10 such sentences each.
        - Citations in index.html that hold: 0; wanted: at least 3. Cite the sources that its statements rest on."#]].assert_eq(&desk.verify(evidence("index.html", Permit::Forbid, 3)).await);
    expect![[r#"
        every quote in index.html is in its source: does not hold: 0 of 2 quotes verbatim, 1 statement without a citation
        - The quote “answers most queries fast” is not in S1; the closest words there are “answers queries fast.”. Quote the words as they stand.
        - The quote “bananas are rich in potassium” (at “Bananas are rich.”) is not in S2, nor anything like it. Quote words that stand there, or drop the claim.
        - Citations in index.html that hold: 0; wanted: at least 1. Cite the sources that its statements rest on."#]].assert_eq(&desk.verify(evidence("index.html", Permit::Allow, 1)).await);
}

#[tokio::test]
async fn the_verifier_holds_what_was_published_against_what_was_captured() {
    let mut desk = Desk::new();
    desk.put("index.html", PAGE);
    let forbid = || evidence("index.html", Permit::Forbid, 2);
    expect![[r#"
        every quote in index.html is in its source, and nothing is uncited: does not hold: index.html is not published
        - index.html is not published. Nothing is published yet. Write it and call publish_artifact with path index.html."#]].assert_eq(&desk.verify(forbid()).await);
    desk.publish("index.html").await;
    expect!["every quote in index.html is in its source, and nothing is uncited: holds: 2 of 2 quotes verbatim"].assert_eq(&desk.verify(forbid()).await);
    // What lies in the workspace afterwards, a copy of a source among it, changes nothing.
    desk.put("index.html", "<p>Something else that nobody published.</p>");
    desk.put("doc1.md", "Other words.");
    assert!(desk.verify(forbid()).await.contains(": holds: "));
    desk.publish("index.html").await;
    expect![[r#"
        every quote in index.html is in its source, and nothing is uncited: does not hold: 0 of 0 quotes verbatim, 1 statement without a citation
        - “Something else that nobody published.” carries no citation, and neither does its paragraph, row or item. Cite a source there, or move words of your own into a <header>, <aside> or <footer>, which hold at most 10 such sentences each.
        - Citations in index.html that hold: 0; wanted: at least 2. Cite the sources that its statements rest on."#]].assert_eq(&desk.verify(forbid()).await);
    expect![[r#"
        every quote in other.html is in its source: does not hold: other.html is not published
        - other.html is not published. Published are: index.html. Write it and call publish_artifact with path other.html."#]].assert_eq(&desk.verify(evidence("other.html", Permit::Allow, 1)).await);
    desk.put("data.csv", "a");
    desk.publish("data.csv").await;
    expect![[r#"
        every quote in data.csv is in its source: does not hold: data.csv carries no citations
        - data.csv is text/csv: only HTML and Markdown can cite. Publish the page as one of these."#]].assert_eq(&desk.verify(evidence("data.csv", Permit::Allow, 1)).await);
}

#[tokio::test]
async fn a_source_that_was_never_captured_is_no_evidence() {
    let mut desk = Desk::new();
    desk.put("index.html", PAGE);
    desk.publish("index.html").await;
    desk.context.sources.pop();
    expect![[r#"
        every quote in index.html is in its source: does not hold: 1 of 1 quote verbatim
        - “A flat one is slow.” cites S2, and this run has no such source. Cite one that it read.
        - Citations in index.html that hold: 1; wanted: at least 2. Cite the sources that its statements rest on."#]].assert_eq(&desk.verify(evidence("index.html", Permit::Allow, 2)).await);
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_is_there_only_if_it_is_a_file_of_the_workspace() {
    let desk = Desk::new();
    desk.put("index.html", "12345");
    std::os::unix::fs::symlink("/etc/passwd", desk.folder.path().join("passwd")).unwrap();
    fs::create_dir(desk.folder.path().join("folder")).unwrap();
    let mut told = Vec::new();
    for (path, least) in [
        ("index.html", 5),
        ("index.html", 6),
        ("none.html", 1),
        ("passwd", 1),
        ("folder", 1),
        ("../x", 1),
    ] {
        told.push(desk.verify(file(path, least)).await);
    }
    expect![[r#"
        index.html exists, at least 5 bytes: holds: index.html has 5 bytes
        index.html exists, at least 6 bytes: does not hold: index.html has 5 bytes
        - index.html has 5 bytes, and at least 6 are wanted.
        none.html exists, at least 1 bytes: does not hold: no file none.html
        - `none.html` is not in the workspace; list_files shows what is
        passwd exists, at least 1 bytes: does not hold: no file passwd
        - `passwd` leads out of the workspace; only files beneath the workspace can be used
        folder exists, at least 1 bytes: does not hold: no file folder
        - `folder` is a folder, not a file; list_files shows what is in it
        ../x exists, at least 1 bytes: does not hold: it could not be checked
        - `../x` leads out of the workspace; only files beneath the workspace can be used"#]]
    .assert_eq(&told.join("\n"));
}

#[tokio::test]
async fn a_source_is_read_on_where_it_was_left() {
    let mut desk = Desk::new();
    let long = format!("{}é{}", "Words of a long source. ".repeat(400), "End.");
    let mut record = source(&desk.blobs, 3, "Long", &long);
    record.shown.push(longrein_protocol::source::TextRange {
        start: 40,
        end: 96,
        page: None,
    });
    desk.context.sources.push(record);
    let read = |arguments: serde_json::Value| {
        use_tool("read_source", call(desk.context.clone(), arguments))
    };
    let next = read(json!({"source": "S3"})).await.unwrap();
    let [Part::Passage(passage), Part::Text(after)] = &next.parts[..] else {
        panic!("{:?}", next.parts)
    };
    assert_eq!(
        (passage.range.start, passage.range.end, &*passage.bytes),
        (96, 6_096, long.as_bytes())
    );
    assert_eq!(
        (after.as_str(), next.place.as_deref()),
        (
            "S3 has 9606 bytes of text; read on with start 6096.",
            Some("doc3.md")
        )
    );
    let rest = read(json!({"source": "S3", "start": 9_601, "end": 99_999}))
        .await
        .unwrap();
    let [Part::Passage(passage), Part::Text(after)] = &rest.parts[..] else {
        panic!("{:?}", rest.parts)
    };
    assert_eq!(
        (words(passage), after.as_str()),
        ("éEnd.", "That is the end of S3.")
    );
    let paged = read(json!({"source": "S2", "start": 6, "end": 10}))
        .await
        .unwrap();
    let [Part::Passage(passage), _] = &paged.parts[..] else {
        panic!("{:?}", paged.parts)
    };
    assert_eq!((words(passage), passage.range.page), ("he f", Some(2)));

    let mut refused = Vec::new();
    for arguments in [
        json!({"source": "S9"}),
        json!({"source": "9"}),
        json!({"source": "S1", "start": 500}),
        json!({"source": "S1", "start": 5, "end": 5}),
    ] {
        refused.push(told(read(arguments).await));
    }
    expect![[r#"
        not_found: there is no source S9; this run has S1 (Graphs), S2 (Flat), S3 (Long)
        invalid_arguments: schema: "9" does not match "^S[1-9][0-9]*$"
        invalid_arguments: S1 has 93 bytes of text, so nothing begins at 500; give a smaller `start`
        invalid_arguments: `end` (5) must be larger than `start` (5)"#]]
    .assert_eq(&refused.join("\n"));
    let empty = context(Path::new("/nowhere"));
    expect!["not_found: there is no source S1: this run has read none yet"].assert_eq(&told(
        use_tool("read_source", call(empty, json!({"source": "S1"}))).await,
    ));
    assert_eq!(desk.context.sources[0].id, SourceId(1));
}

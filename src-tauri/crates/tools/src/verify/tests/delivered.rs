//! Criteria of what is delivered: links, and the numbers of a page.

use expect_test::expect;
use longrein_protocol::agent::{Criterion, EvidenceCriterion, LinksCriterion, Permit};

use crate::testing::source;
use crate::tests::Desk;

fn links(path: &str, min: u32) -> Criterion {
    Criterion::Links(LinksCriterion {
        links: path.to_owned(),
        min,
    })
}

/// A desk whose S3 is a page of the web.
fn desk() -> Desk {
    let mut desk = Desk::new();
    let mut page = source(
        &desk.blobs,
        3,
        "On the web",
        "The graph on disk needs 410 GB.",
    );
    page.meta.file = None;
    page.meta.private = false;
    page.meta.url = Some("https://Example.org:443/graphs#memory".to_owned());
    desk.context.sources.push(page);
    desk
}

#[tokio::test]
async fn every_link_of_a_page_was_fetched() {
    let mut desk = desk();
    let good = "<p><a href='https://example.org/graphs#disk'>Graphs</a> need 410 GB [S3]. <a href='#top'>Up</a></p>";
    desk.put("index.html", good);
    let mut told = vec![desk.verify(links("index.html", 1)).await];
    desk.publish("index.html").await;
    // The references of the published page are among its links.
    told.push(desk.verify(links("index.html", 2)).await);
    desk.put(
        "index.html",
        "<a href='https://evil.example/'>Unpublished</a>",
    );
    told.push(desk.verify(links("index.html", 3)).await);
    desk.put(
        "index.html",
        "<p><a href='//evil.example/?q=1'>One <b>bad</b> link</a>, <a href='https://example.org/graphs/'>another</a>, \
         <a href='//evil.example/?q=1'>the first again</a></p><svg><a xlink:href='http://third.example'><text>x</text></a></svg>\
         <map><area href='https://fourth.example'></map>",
    );
    desk.publish("index.html").await;
    told.push(desk.verify(links("index.html", 0)).await);
    desk.put("report.md", "See [graphs](https://example.org/graphs) and <https://other.example/x>, ![p](https://p.example/a.png).");
    told.push(desk.verify(links("report.md", 1)).await);
    expect![[r#"
        every link in index.html was fetched: holds: 2 links in index.html, 0 not fetched by this run
        every link in index.html was fetched: holds: 2 links in the published index.html, 0 not fetched by this run
        every link in index.html was fetched: does not hold: 2 links in the published index.html, 0 not fetched by this run
        - index.html has 2 links, and at least 3 are wanted.
        every link in index.html was fetched: does not hold: 5 links in the published index.html, 4 not fetched by this run
        - The link “One bad link” leads to https://evil.example/?q=1, which this run has not fetched. Fetch it and cite it, or take the link out.
        - The link “another” leads to https://example.org/graphs/, which this run has not fetched. Fetch it and cite it, or take the link out.
        - The link “x” leads to http://third.example/, which this run has not fetched. Fetch it and cite it, or take the link out.
        - The link “” leads to https://fourth.example/, which this run has not fetched. Fetch it and cite it, or take the link out.
        every link in report.md was fetched: does not hold: 3 links in report.md, 2 not fetched by this run
        - The link “https://other.example/x” leads to https://other.example/x, which this run has not fetched. Fetch it and cite it, or take the link out.
        - The link “p” leads to https://p.example/a.png, which this run has not fetched. Fetch it and cite it, or take the link out."#]].assert_eq(&told.join("\n"));
}

#[tokio::test]
async fn links_that_can_not_be_read_are_not_let_through() {
    let desk = desk();
    desk.put(
        "index.html",
        "<p>Words.</p><script>location = 'https://evil.example'</script>",
    );
    desk.put("data.json", "{}");
    desk.put("deep.html", &"<div>".repeat(2_000));
    std::fs::write(desk.folder.path().join("bytes.html"), b"<p>\xff</p>").unwrap();
    let mut told = Vec::new();
    for path in [
        "index.html",
        "data.json",
        "deep.html",
        "bytes.html",
        "none.html",
        "/etc/passwd",
    ] {
        told.push(desk.verify(links(path, 0)).await);
    }
    expect![[r#"
        every link in index.html was fetched: does not hold: 0 links in index.html, 0 not fetched by this run
        - index.html has <script>: links that these make can't be checked. Take them out.
        every link in data.json was fetched: does not hold: data.json has no links that can be read
        - data.json is application/json: links are read in HTML and Markdown only. Write the page as one of these.
        every link in deep.html was fetched: does not hold: it could not be checked
        - its elements stand in each other more than 1000 deep
        every link in bytes.html was fetched: does not hold: it could not be checked
        - bytes.html is not UTF-8 text; write it anew
        every link in none.html was fetched: does not hold: it could not be checked
        - `none.html` is not in the workspace; list_files shows what is
        every link in /etc/passwd was fetched: does not hold: it could not be checked
        - `/etc/passwd` is not beneath the workspace; write paths relative to the workspace, like `notes/plan.md`"#]].assert_eq(&told.join("\n"));
    let many: String = (0..50)
        .map(|number| format!("<a href='https://{number}.example'>x</a>"))
        .collect();
    desk.put("index.html", &many);
    let told = desk.verify(links("index.html", 0)).await;
    assert!(told.ends_with("… and 30 more of these"), "{told}");
}

#[tokio::test]
async fn a_number_that_its_source_does_not_say_is_no_evidence() {
    let mut desk = desk();
    let evidence = |numbers| {
        Criterion::Evidence(EvidenceCriterion {
            evidence: "index.html".to_owned(),
            uncited: Permit::Forbid,
            numbers,
            min_citations: 1,
        })
    };
    desk.put(
        "index.html",
        "<p>A graph on disk needs 410 GB [S3]. It costs 47 crowns a month [S3].</p>",
    );
    let mut told = vec![desk.publish("index.html").await];
    told.push(desk.verify(evidence(Permit::Forbid)).await);
    told.push(desk.verify(evidence(Permit::Allow)).await);
    desk.put("index.html", "<p>A graph on disk needs 410 GB [S3].</p>");
    told.push(desk.publish("index.html").await);
    told.push(desk.verify(evidence(Permit::Forbid)).await);
    expect![[r#"
        Published index.html as artifacts/index.html: 2 citations of 1 source, 0 of 0 quotes verbatim, 1 of 2 numbers found, 0 statements without a citation.
        What does not hold yet:
        - The number “47 crowns a month” (at “It costs 47 crowns a month.”) is not in what the page cites of S3: nothing like it stands there. Write the number and its unit as the source has them, cite the source that has them, or drop the number.
        every quote in index.html is in its source, and nothing is uncited: does not hold: 0 of 0 quotes verbatim, 1 of 2 numbers found, 2 citations without words
        - The number “47 crowns a month” (at “It costs 47 crowns a month.”) is not in what the page cites of S3: nothing like it stands there. Write the number and its unit as the source has them, cite the source that has them, or drop the number.
        every quote in index.html is in its source, and nothing is uncited: holds: 0 of 0 quotes verbatim, 1 of 2 numbers found, 2 citations without words
        Published index.html as artifacts/index.html: 1 citation of 1 source, 0 of 0 quotes verbatim, 1 of 1 number found, 0 statements without a citation.
        every quote in index.html is in its source, and nothing is uncited: holds: 0 of 0 quotes verbatim, 1 of 1 number found, 1 citation without words"#]].assert_eq(&told.join("\n"));
}

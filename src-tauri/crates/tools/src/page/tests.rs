mod figures;

use std::collections::BTreeMap;
use std::fmt::Write;

use expect_test::{Expect, expect};
use longrein_protocol::SourceId;
use longrein_protocol::agent::Permit;
use longrein_protocol::source::{ClaimState, PdfReceipt, SourceMeta, TextRange};

use super::survey::OWN_STATEMENTS;
use super::*;

const GRAPHS: &str = "A hierarchical graph answers queries fast. It needs three times the mem-\nory of a flat index.";

/// S1 is a note of the person's, S2 a paper of three pages, S3 a page of the web.
fn sources() -> Sources {
    let source = |meta: SourceMeta, text: &str| SourceText {
        meta,
        text: text.into(),
        shown: vec![TextRange {
            start: 0,
            end: text.len() as u32,
            page: None,
        }],
    };
    BTreeMap::from([
        (
            SourceId(1),
            source(
                SourceMeta {
                    title: "Graphs & <script>alert(1)</script> \"trees\"".to_owned(),
                    authors: vec!["Ada Doe".to_owned(), "Bo <b>Roe</b>".to_owned()],
                    date: Some("2021".to_owned()),
                    file: Some("notes/graphs.md".to_owned()),
                    private: true,
                    ..SourceMeta::default()
                },
                GRAPHS,
            ),
        ),
        (
            SourceId(2),
            source(
                SourceMeta {
                    title: "Flat".to_owned(),
                    file: Some("flat.pdf".to_owned()),
                    pdf: Some(PdfReceipt {
                        pages: 3,
                        read: 3,
                        ..PdfReceipt::default()
                    }),
                    ..SourceMeta::default()
                },
                "One.\u{c}The flat index scans everything.\u{c}Three.",
            ),
        ),
        (
            SourceId(3),
            source(
                SourceMeta {
                    title: "On the web".to_owned(),
                    authors: (1..=8).map(|number| format!("Author {number}")).collect(),
                    url: Some("https://example.org/a?b=1&c=\"2\"".to_owned()),
                    ..SourceMeta::default()
                },
                "Web words.",
            ),
        ),
    ])
}

/// The ledger in lines, then the faults.
fn check(media: Media, text: &str, expected: Expect) {
    check_against(&sources(), media, text, expected);
}

fn check_against(sources: &Sources, media: Media, text: &str, expected: Expect) {
    let survey = survey(&parse(text, media).unwrap());
    let mut table = String::new();
    for claim in ledger(&survey, sources) {
        let state = serde_json::to_value(claim.state).unwrap();
        let page = claim
            .found
            .and_then(|found| found.page)
            .map(|page| format!(" p{page}"))
            .unwrap_or_default();
        let quote = claim
            .quote
            .map(|quote| format!(" “{quote}”"))
            .unwrap_or_default();
        writeln!(
            table,
            "{}{}{quote}{page}: {}",
            state.as_str().unwrap(),
            if claim.source.is_empty() {
                String::new()
            } else {
                format!(" {}", claim.source)
            },
            claim.sentence
        )
        .unwrap();
    }
    for fault in survey.faults {
        writeln!(table, "fault: {fault}").unwrap();
    }
    expected.assert_eq(&table);
}

fn rendered(media: Media, text: &str) -> String {
    rendered_with(&sources(), media, text)
}

fn rendered_with(sources: &Sources, media: Media, text: &str) -> String {
    let page = parse(text, media).unwrap();
    let survey = survey(&page);
    let claims = ledger(&survey, sources);
    render(page, &survey, &claims, sources)
}

#[test]
fn a_claim_is_the_sentence_that_carries_its_citation() {
    check(
        Media::Html,
        "<p>Graphs are fast [S1: \"answers queries fast\"]. They are large, too. [S1: “three times the memory of a flat index”] \
         Flat is slow [S2: \"scans everything\"][S3].</p><p>[S3] It begins so.</p>\
         <p>Wrong words [S1: \"needs four times the memory of a flat index\"], no words [S2: \"bananas are yellow fruit\"], \
         no source [S9].</p>",
        expect![[r#"
            verbatim S1 “answers queries fast”: Graphs are fast.
            verbatim S1 “three times the memory of a flat index”: They are large, too.
            verbatim S2 “scans everything” p2: Flat is slow.
            cited S3: Flat is slow.
            cited S3: It begins so.
            near S1 “needs four times the memory of a flat index”: Wrong words, no words, no source.
            not_found S2 “bananas are yellow fruit”: Wrong words, no words, no source.
            source_not_read S9: Wrong words, no words, no source.
        "#]],
    );
}

#[test]
fn statements_without_a_citation_are_told_and_the_authors_own_words_are_not() {
    check(
        Media::Html,
        "<title>A page about several things here</title><header><p>We searched the library for four things.</p></header>\
         <h2>This heading states nothing at all</h2><nav>Go to the next page here</nav>\
         <p>This statement has no citation. Short one. Is this a statement at all?</p>\
         <p>The first is cited [S1]. The second rests on the same paragraph.</p>\
         <p>There are these three kinds of index:</p><ul><li>The first kind has no citation<ul><li>Inner kinds have one [S1]</li></ul></li></ul>\
         <div>Loose words in a box here<p>and a paragraph in the box [S1]</p></div>\
         <table><caption>All of these numbers are measured [S2]</caption><tr><td>Some kind of index</td><td>has 42 of these</td></tr></table>\
         <table><tr><td>Another kind of index here</td><td>[S1]</td></tr><tr><td>A third kind of index</td><td>has none</td></tr></table>\
         <blockquote><p>Words of another person here.</p><footer>They say so [S1]</footer></blockquote>\
         <figure><pre>let code = no claim;</pre><figcaption>A figure that shows nothing cited.</figcaption></figure>\
         <aside>Nothing was found on the fourth thing.</aside><footer>Made by the research agent today.</footer>",
        expect![[r#"
            uncited: This statement has no citation.
            cited S1: The first is cited.
            uncited: The first kind has no citation
            cited S1: Inner kinds have one
            uncited: Loose words in a box here
            cited S1: and a paragraph in the box
            cited S2: All of these numbers are measured
            number_not_found S2 “42”: Some kind of index has 42 of these
            cited S1: Another kind of index here
            uncited: A third kind of index has none
            cited S1: They say so
            uncited: A figure that shows nothing cited.
        "#]],
    );
}

#[test]
fn what_is_seen_counts_wherever_it_stands() {
    check(
        Media::Html,
        "<svg><title>A title is hardly ever seen</title><text>The drawing states this here</text></svg>\
         <textarea>The field states this here</textarea><noscript><p>Without scripts this is stated</p></noscript>\
         <figure><svg><text>The figure states this here</text></svg><figcaption>So does its caption here.</figcaption></figure>\
         <figure><svg><text>A cited figure states this</text></svg><figcaption>Cited for all [S1]</figcaption></figure>\
         <table><caption>A caption without any citation</caption><tr><td>1</td></tr></table>\
         <table><caption>A caption over cited rows</caption><tr><td>One [S1]</td></tr></table>\
         <details><summary>A summary states this here</summary></details>",
        expect![[r#"
            uncited: The drawing states this here
            uncited: The field states this here
            uncited: Without scripts this is stated
            uncited: The figure states this here So does its caption here.
            cited S1: A cited figure states this Cited for all
            uncited: A caption without any citation
            cited S1: One
            uncited: A summary states this here
            fault: <noscript> can show what the page itself does not hold: take it out
        "#]],
    );
}

#[test]
fn the_authors_own_words_are_few() {
    let aside = "<aside><h2>What this aside is about</h2><p>This is stated in passing.</p></aside>";
    let link = "<nav><a href='#x'>What the documents say here</a></nav>";
    let page = format!("{}{}", aside.repeat(OWN_STATEMENTS), link.repeat(50));
    check(Media::Html, &page, expect![[r#""#]]);
    let page = format!("{page}{aside}<footer>Made by the research agent today.</footer>");
    check(
        Media::Html,
        &page,
        expect![[r#"
        uncited: This is stated in passing.
    "#]],
    );
}

#[test]
fn words_that_stand_in_every_text_are_no_evidence() {
    let text = "<p>Graphs are fast [S1: \"A\"], flat is slow [S2: \"the\"], and fast [S1: \"queries fast\"].</p>";
    check(
        Media::Html,
        text,
        expect![[r#"
        not_found S1 “A”: Graphs are fast, flat is slow, and fast.
        not_found S2 “the”: Graphs are fast, flat is slow, and fast.
        not_found S1 “queries fast”: Graphs are fast, flat is slow, and fast.
    "#]],
    );
    let claims = ledger(&survey(&parse(text, Media::Html).unwrap()), &sources());
    expect![[r#"
        The quote “A” (at “Graphs are fast, flat is slow, and fast.”) is too short to show anything. Quote three words of S1 or more.
        The quote “the” (at “Graphs are fast, flat is slow, and fast.”) is too short to show anything. Quote three words of S2 or more.
        The quote “queries fast” (at “Graphs are fast, flat is slow, and fast.”) is too short to show anything. Quote three words of S1 or more."#]].assert_eq(&differences(&claims, Permits::NONE).join("\n"));
    let html = rendered(Media::Html, text);
    assert!(html.contains("(too short to show anything)"), "{html}");
}

#[test]
fn a_copy_has_no_network_wherever_it_is_opened() {
    for text in [
        "<script src=x></script><p>Words.",
        "<html><head><title>x</title></head><body>",
    ] {
        let html = rendered(Media::Html, text);
        let head = html.split_once("<head>").unwrap().1;
        assert!(
            head.starts_with("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src data:; base-uri 'none'; form-action 'none'\"><meta charset=\"utf-8\">"),
            "{html}"
        );
    }
}

#[test]
fn a_picture_from_elsewhere_becomes_a_link_in_markdown() {
    let html = rendered(
        Media::Markdown,
        "![a *plot*](https://example.org/a.png) ![](https://example.org/b.png) ![dot](data:image/png;base64,AAAA) ![x](javascript:y)",
    );
    let body = html.split_once("<main>").unwrap().1;
    expect![[r##"

        <p><a href="https://example.org/a.png">a <em>plot</em></a> <a href="https://example.org/b.png">https://example.org/b.png</a> <img src="data:image/png;base64,AAAA" alt="dot"> <a href="#">x</a></p>
    "##]].assert_eq(body.split_once("</main>").unwrap().0);
}

#[test]
fn citations_count_in_the_text_only() {
    check(
        Media::Html,
        "<title>Title [S1]</title><p title='see [S1]'>Words.</p><!-- [S1: \"x\"] --><script>const a = '[S1]';</script>\
         <style>a::after{content:'[S2]'}</style><p>Broken [s1], [S1 p. 4] and [S1: no marks].</p>\
         <p>A <a href='#'>link [S1]</a>, <button>[S1]</button> and <svg><text>[S2]</text></svg></p>\
         <p>Divided [S1: \"answers <em>queries</em> fast\"]</p><p>An [aside] and a[0].</p>",
        expect![[r#"
            uncited: Broken [s1], [S1 p. 4] and [S1: no marks].
            uncited: A link [S1], and
            uncited: Divided [S1: "answers queries fast"]
            uncited: An [aside] and a[0].
            fault: `[S1]` stands in <title>: citations count in the page's text only
            fault: `[S1]` stands in the attribute title of <p>: citations count in the page's text only
            fault: `[S1: "x"]` stands in a comment: citations count in the page's text only
            fault: `[S1]` stands in <script>: citations count in the page's text only
            fault: `[S2]` stands in <style>: citations count in the page's text only
            fault: `[s1]` (at “[s1], [S1 p. 4] and [S1: no marks].”) has no source id like S1 where one is expected
            fault: `[S1 p. 4]` (at “[S1 p. 4] and [S1: no marks].”) is not written like [S1] or [S1: "exact words"]
            fault: `[S1: no marks]` (at “[S1: no marks].”) has no quotation mark after the colon
            fault: `[S1]` stands in <a>: citations count in the page's text only
            fault: `[S1]` stands in <button>: citations count in the page's text only
            fault: `[S2]` stands in <svg>: citations count in the page's text only
            fault: `[S1: "answers ` (at “[S1: "answers”) has words without an end: they end with a quotation mark and ]
        "#]],
    );
}

#[test]
fn markdown_cites_like_html_and_its_raw_html_is_text() {
    let text = "# Graphs *and* trees [S1]\n\nFast [S1: \"answers *queries* _fast_\"]. And `code [S2]`.\n\n\
        - One is cited here [S2: \"The flat index scans everything.\"]\n- <script>alert(1)</script>\n\n\
        [a link](javascript:alert(1)) and [another](https://example.org/a:b) say something\n\n\
        | a | b |\n|---|---|\n| This row has a citation | [S3] |\n";
    check(
        Media::Markdown,
        text,
        expect![[r#"
        cited S1: Graphs and trees
        near S1 “answers *queries* _fast_”: Fast.
        cited S2: And code.
        verbatim S2 “The flat index scans everything.” p2: One is cited here
        uncited: a link and another say something
        cited S3: This row has a citation
    "#]],
    );
    let html = rendered(Media::Markdown, text);
    let body = html
        .split_once("<main>")
        .unwrap()
        .1
        .split_once("</main>")
        .unwrap()
        .0;
    expect![[r##"

        <h1>Graphs <em>and</em> trees <a class="lr-cite" id="lr-cite-1" href="#lr-S1" role="doc-noteref" title="Graphs &amp; &lt;script&gt;alert(1)&lt;/script&gt; &quot;trees&quot;">[1]</a></h1>
        <p>Fast <a class="lr-cite lr-doubt" id="lr-cite-2" href="#lr-S1" role="doc-noteref" title="“answers *queries* _fast_” — Graphs &amp; &lt;script&gt;alert(1)&lt;/script&gt; &quot;trees&quot; (not in these words)">[1]</a>. And <code>code <a class="lr-cite" id="lr-cite-3" href="#lr-S2" role="doc-noteref" title="Flat">[2]</a></code>.</p>
        <ul>
        <li>One is cited here <a class="lr-cite" id="lr-cite-4" href="#lr-S2" role="doc-noteref" title="“The flat index scans everything.” — Flat, page 2">[2]</a></li>
        <li>&lt;script&gt;alert(1)&lt;/script&gt;
        </li>
        </ul>
        <p><a href="#">a link</a> and <a href="https://example.org/a:b">another</a> say something</p>
        <table><thead><tr><th>a</th><th>b</th></tr></thead><tbody>
        <tr><td>This row has a citation</td><td><a class="lr-cite" id="lr-cite-5" href="#lr-S3" role="doc-noteref" title="On the web">[3]</a></td></tr>
        </tbody></table>
    "##]].assert_eq(body);
    assert!(html.contains("<title>Graphs and trees</title>"), "{html}");
}

#[test]
fn a_page_is_rendered_with_links_into_its_references() {
    let html = rendered(
        Media::Html,
        "<!doctype html><html lang=en><head><title>Indexes</title></head><body><p class=lead data-x=1>Fast &amp; \
         good [S1: \"answers queries fast\"]; flat [S2: \"flat index scans\"][S3; S1: \"three times the memory\"].</p>\
         <p>Near [S1: \"needs four times the memory of a flat index\"].</p>\
         <script>if (1 < 2 && a[0]) {}</script></body></html>",
    );
    let style = html.find("<style id=\"lr-style\">").unwrap();
    let end = html.find("</style>").unwrap();
    let shown = format!("{}…{}", &html[..style + 21], &html[end..])
        .replace("<li", "\n<li")
        .replace("<p", "\n<p");
    expect![[r##"
        <!DOCTYPE html><html lang="en"><head><meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src data:; base-uri 'none'; form-action 'none'"><meta charset="utf-8"><style id="lr-style">…</style><title>Indexes</title></head><body>
        <p class="lead" data-x="1">Fast &amp; good <a class="lr-cite" id="lr-cite-1" href="#lr-S1" role="doc-noteref" title="“answers queries fast” — Graphs &amp; &lt;script&gt;alert(1)&lt;/script&gt; &quot;trees&quot;">[1]</a>; flat <a class="lr-cite" id="lr-cite-2" href="#lr-S2" role="doc-noteref" title="“flat index scans” — Flat, page 2">[2]</a><a class="lr-cite" id="lr-cite-3" href="#lr-S3" role="doc-noteref" title="On the web">[3]</a><a class="lr-cite" id="lr-cite-4" href="#lr-S1" role="doc-noteref" title="“three times the memory” — Graphs &amp; &lt;script&gt;alert(1)&lt;/script&gt; &quot;trees&quot;">[1]</a>.</p>
        <p>Near <a class="lr-cite lr-doubt" id="lr-cite-5" href="#lr-S1" role="doc-noteref" title="“needs four times the memory of a flat index” — Graphs &amp; &lt;script&gt;alert(1)&lt;/script&gt; &quot;trees&quot; (not in these words)">[1]</a>.</p><script>if (1 < 2 && a[0]) {}</script><section id="lr-references" role="doc-bibliography" aria-labelledby="lr-references-title"><h2 id="lr-references-title">References</h2><ol>
        <li id="lr-S1">
        <p>Ada Doe, Bo &lt;b&gt;Roe&lt;/b&gt;. <cite>Graphs &amp; &lt;script&gt;alert(1)&lt;/script&gt; &quot;trees&quot;</cite>, 2021. <span class="lr-file">notes/graphs.md</span></p><ul>
        <li><a href="#lr-cite-1" role="doc-backlink">cited here</a>: <q>answers queries fast</q></li>
        <li><a href="#lr-cite-4" role="doc-backlink">cited here</a>: <q>three times the memory</q></li>
        <li><a href="#lr-cite-5" role="doc-backlink">cited here</a>: <q>needs four times the memory of a flat index</q> <strong>not in these words</strong></li></ul></li>
        <li id="lr-S2">
        <p><cite>Flat</cite>. <span class="lr-file">flat.pdf</span></p><ul>
        <li><a href="#lr-cite-2" role="doc-backlink">cited here</a>: <q>flat index scans</q>, page 2</li></ul></li>
        <li id="lr-S3">
        <p>Author 1, Author 2, Author 3, Author 4, Author 5, Author 6 and 2 others. <cite>On the web</cite>. <a href="https://example.org/a?b=1&amp;c=&quot;2&quot;" rel="noopener noreferrer">https://example.org/a?b=1&amp;c=&quot;2&quot;</a></p><ul>
        <li><a href="#lr-cite-3" role="doc-backlink">cited here</a></li></ul></li></ol></section></body></html>"##]].assert_eq(&shown);
}

#[test]
fn what_a_document_says_of_itself_is_inert_on_the_page() {
    let html = rendered(
        Media::Html,
        "<p>Words here [S1: \"A hierarchical graph\"][S3]</p>",
    );
    assert!(
        !html.contains("<script>") && !html.contains("<b>"),
        "{html}"
    );
    assert!(
        html.contains("&lt;script&gt;alert(1)&lt;/script&gt;"),
        "{html}"
    );
    assert!(
        html.contains("href=\"https://example.org/a?b=1&amp;c=&quot;2&quot;\""),
        "{html}"
    );
    assert!(
        html.starts_with(
            "<!DOCTYPE html>\n<html><head><meta http-equiv=\"Content-Security-Policy\""
        ),
        "{html}"
    );
    assert!(html.contains("Author 6 and 2 others"), "{html}");
}

#[test]
fn a_page_can_not_forge_the_marks_of_the_renderer() {
    let forged = "<p>\u{e000}0000000000000000:0\u{e001} and \u{e000}body\u{e001} [S3]</p>";
    let html = rendered(Media::Html, forged);
    assert!(
        html.contains("\u{e000}0000000000000000:0\u{e001} and \u{e000}body\u{e001}"),
        "{html}"
    );
    assert_eq!(html.matches("id=\"lr-cite-1\"").count(), 1, "{html}");
}

#[test]
fn a_page_without_citations_is_left_as_it_is() {
    let html = rendered(
        Media::Html,
        "<!DOCTYPE html><p>Short.</p><noscript><p>No script</p></noscript>",
    );
    assert!(
        html.ends_with(
            "</head><body><p>Short.</p><noscript><p>No script</p></noscript></body></html>"
        ),
        "{html}"
    );
}

#[test]
fn a_deep_or_broken_page_breaks_nothing() {
    let deep = format!("{}words [S1]", "<div>".repeat(900));
    assert_eq!(survey(&parse(&deep, Media::Html).unwrap()).cited().len(), 1);
    assert!(parse(&"> ".repeat(50_000), Media::Markdown).is_err());
    for text in [
        "",
        "<",
        "<p",
        "<frameset><frame></frameset>",
        "</body></html><p>after [S1]",
        "\0[S1]\0",
    ] {
        rendered(Media::Html, text);
    }
    let many = "[S1]".repeat(2_001);
    let survey = survey(&parse(&many, Media::Html).unwrap());
    assert_eq!(
        survey.faults,
        ["the page has 2001 citations, more than 2000"]
    );
}

#[test]
fn what_does_not_hold_is_told_in_lines_that_say_how_to_mend_it() {
    let text = "<p>Near [S1: \"needs four times the memory of a flat index\"].</p><p>Gone [S2: \"bananas are yellow fruit\"].</p>\
        <p>Fine [S1].</p><p>This statement has no citation.</p><p>Unread source here [S9].</p>";
    let claims = ledger(&survey(&parse(text, Media::Html).unwrap()), &sources());
    expect![[r#"
        The quote “needs four times the memory of a flat index” is not in S1; the closest words there are “needs three times the memory of a flat index.”. Quote the words as they stand.
        The quote “bananas are yellow fruit” (at “Gone.”) is not in S2, nor anything like it. Quote words that stand there, or drop the claim.
        “This statement has no citation.” carries no citation, and neither does its paragraph, row or item. Cite a source there, or move words of your own into a <header>, <aside> or <footer>, which hold at most 10 such sentences each.
        “Unread source here.” cites S9, and this run has no such source. Cite one that it read."#]].assert_eq(&differences(&claims, Permits::NONE).join("\n"));
    let permits = Permits {
        uncited: Permit::Allow,
        numbers: Permit::Forbid,
    };
    assert_eq!(differences(&claims, permits).len(), 3);
    let uncited = "<p>This statement has no citation.</p>".repeat(50);
    let claims = ledger(&survey(&parse(&uncited, Media::Html).unwrap()), &sources());
    assert!(
        claims
            .iter()
            .all(|claim| claim.state == ClaimState::Uncited)
    );
    let told = differences(&claims, Permits::NONE);
    assert_eq!(
        (told.len(), told[20].as_str()),
        (21, "… and 30 more of these")
    );
}

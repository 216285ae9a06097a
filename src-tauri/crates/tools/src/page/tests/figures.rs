//! The numbers of a page.

use longrein_protocol::source::Claim;

use super::*;

const HNSW: &str = "The HNSW index needed 338 GB in total, at a latency of 2.1 ms. \
    It served 21,400 queries per second, and held 10^8 vectors.";
const PAGES: &str = "It was built in 9 hours.\u{c}The flat index took 12 ms and 307 GB.\u{c}It lost 0.019 of recall.";

/// A library of measurements, and a page that tells of it in words of its own.
const MEASURED: &str = include_str!("honest/measured.md");
const HONEST: &str = include_str!("honest/page.html");

fn honest(page: &str) -> Vec<Claim> {
    let text = SourceText {
        meta: SourceMeta {
            title: "Three kinds of index".to_owned(),
            date: Some("2031-02-19".to_owned()),
            file: Some("measured.md".to_owned()),
            ..SourceMeta::default()
        },
        text: MEASURED.into(),
        shown: vec![TextRange {
            start: 0,
            end: MEASURED.len() as u32,
            page: None,
        }],
    };
    let survey = survey(&parse(page, Media::Html).unwrap());
    ledger(&survey, &BTreeMap::from([(SourceId(1), text)]))
}

#[test]
fn an_honest_page_raises_no_alarm() {
    let claims = honest(HONEST);
    let alarms = differences(&claims, Permits::NONE);
    assert_eq!(alarms, [""; 0]);
    let numbers = claims
        .iter()
        .filter(|claim| claim.state == ClaimState::NumberFound);
    expect!["77"].assert_eq(&numbers.count().to_string());
}

/// Each number of the honest page is made another one, by itself. What is not heard are labels,
/// names, and what the source says of something else (70 minutes, 71 percent).
#[test]
fn a_page_that_changes_a_number_raises_one() {
    let (start, end) = (HONEST.find("<main>"), HONEST.find("</main>"));
    let within = start.unwrap()..end.unwrap();
    let is_digit = |letter: char| letter.is_ascii_digit();
    let begins = HONEST
        .match_indices(is_digit)
        .filter(|(at, digit)| *digit != "0" && within.contains(at))
        .filter(|(at, _)| !HONEST[..*at].ends_with(is_digit));
    let mut unheard = Vec::new();
    for (at, digit) in begins {
        let other = if digit == "7" { "8" } else { "7" };
        let page = format!("{}{other}{}", &HONEST[..at], &HONEST[at + 1..]);
        if differences(&honest(&page), Permits::NONE).is_empty() {
            let (before, after) = (&HONEST[at - 12..at], &HONEST[at..at + 12]);
            unheard.push(format!("{before}|{after}").replace('\n', " "));
        }
    }
    expect![[r#"
        r> <main> <h|2>1. The ans
         <main> <h2>|1. The answe
        he answer</h|2> <p>HNSW i
        at 2.1 ms (p|95), with 32
        ].</li> <li>|2. IVF-PQ ne
        ; see Table |2 [S1].</li>
        entile over |30 min [S1].
        ption>Table |2: what each
        ll</th><th>p|95</th></tr>
        ked</td><td>|11</td><td>0
         </table> <h|2>2. What it
        /table> <h2>|2. What it c
         it costs</h|2> <p>HNSW c
        [S1].</p> <h|2>3. Change<
        1].</p> <h2>|3. Change</h
        3. Change</h|2> <p>1 % of"#]]
    .assert_eq(&unheard.join("\n"));
}

/// S1 was shown whole; of the three pages of S2, nothing but the first.
fn measured() -> Sources {
    let source = |meta: SourceMeta, text: &str, end: usize| SourceText {
        meta,
        text: text.into(),
        shown: vec![TextRange {
            start: 0,
            end: end as u32,
            page: None,
        }],
    };
    let hnsw = SourceMeta {
        title: "HNSW in memory".to_owned(),
        date: Some("2031-02-19".to_owned()),
        file: Some("hnsw.md".to_owned()),
        ..SourceMeta::default()
    };
    let flat = SourceMeta {
        title: "Flat".to_owned(),
        file: Some("flat.pdf".to_owned()),
        pdf: Some(PdfReceipt {
            pages: 3,
            read: 3,
            ..PdfReceipt::default()
        }),
        ..SourceMeta::default()
    };
    BTreeMap::from([
        (SourceId(1), source(hnsw, HNSW, HNSW.len())),
        (SourceId(2), source(flat, PAGES, 24)),
    ])
}

fn told(text: &str) -> String {
    let survey = survey(&parse(text, Media::Html).unwrap());
    differences(&ledger(&survey, &measured()), Permits::NONE).join("\n")
}

#[test]
fn every_number_of_a_cited_sentence_is_a_claim() {
    check_against(
        &measured(),
        Media::Html,
        "<p>HNSW needs 338 GB, has 2.1 ms and serves 21,400 [S1]. It holds 10<sup>8</sup> vectors [S1: \"at a latency of 2.1 ms\"].</p>\
         <p>It was measured in 2031 [S1]. It needs 345 GB, 338 MB or 9 hours [S1][S2], says S2 in section 4.</p>\
         <p>The flat index takes 12 ms and 307 GB [S2: \"The flat index took 12 ms\"].</p>\
         <p>Flat loses 0.019 of recall [S2]. Nothing is read of 5 ms [S9]. Nothing is cited of 6 ms here.</p>\
         <p>Nothing at all is cited of these 7 ms.</p>",
        expect![[r#"
            cited S1: HNSW needs 338 GB, has 2.1 ms and serves 21,400.
            number_found S1 “338 GB”: HNSW needs 338 GB, has 2.1 ms and serves 21,400.
            number_found S1 “2.1 ms”: HNSW needs 338 GB, has 2.1 ms and serves 21,400.
            number_found S1 “21,400”: HNSW needs 338 GB, has 2.1 ms and serves 21,400.
            verbatim S1 “at a latency of 2.1 ms”: It holds 10^8 vectors.
            number_found S1 “10^8”: It holds 10^8 vectors.
            cited S1: It was measured in 2031.
            number_found S1 “2031”: It was measured in 2031.
            cited S1: It needs 345 GB, 338 MB or 9 hours, says S2 in section 4.
            cited S2: It needs 345 GB, 338 MB or 9 hours, says S2 in section 4.
            number_not_found S1 “345 GB”: It needs 345 GB, 338 MB or 9 hours, says S2 in section 4.
            number_not_found S1 “338 MB”: It needs 345 GB, 338 MB or 9 hours, says S2 in section 4.
            number_found S2 “9 hours” p1: It needs 345 GB, 338 MB or 9 hours, says S2 in section 4.
            verbatim S2 “The flat index took 12 ms” p2: The flat index takes 12 ms and 307 GB.
            number_found S2 “12 ms” p2: The flat index takes 12 ms and 307 GB.
            number_found S2 “307 GB” p2: The flat index takes 12 ms and 307 GB.
            cited S2: Flat loses 0.019 of recall.
            number_not_found S2 “0.019” p3: Flat loses 0.019 of recall.
            source_not_read S9: Nothing is read of 5 ms.
            number_not_found S2 “6 ms” p2: Nothing is cited of 6 ms here.
            uncited: Nothing at all is cited of these 7 ms.
        "#]],
    );
}

#[test]
fn a_number_in_words_that_are_quoted_is_covered_by_the_quote() {
    check_against(
        &measured(),
        Media::Html,
        "<blockquote>“The <b>HNSW</b> index needed 338 GB in total, at a latency of 2.1 ms.” \
         [S1: \"The HNSW index needed 338 GB in total, at a latency of 2.1 ms.\"]</blockquote>\
         <p>They write that it “needed 338 GB in total” and 5 ms [S1: \"needed 338 GB in total\"].</p>\
         <p>They write that it “needed 338 TB in total” [S1: \"The index needed 338 TB in total\"].</p>",
        expect![[r#"
            verbatim S1 “The HNSW index needed 338 GB in total, at a latency of 2.1 ms.”: “The HNSW index needed 338 GB in total, at a latency of 2.1 ms.”
            verbatim S1 “needed 338 GB in total”: They write that it “needed 338 GB in total” and 5 ms.
            number_not_found S1 “5 ms”: They write that it “needed 338 GB in total” and 5 ms.
            near S1 “The index needed 338 TB in total”: They write that it “needed 338 TB in total”.
            number_not_found S1 “338 TB”: They write that it “needed 338 TB in total”.
        "#]],
    );
}

#[test]
fn a_citation_covers_the_numbers_of_its_block_its_row_and_its_table() {
    check_against(
        &measured(),
        Media::Html,
        "<p>It needs 338 GB. It has 3 ms. All of this is measured [S1].</p>\
         <table><caption>Measured in 2031 [S1]</caption><tr><th>#</th><th>5 GB</th></tr>\
         <tr><td>1</td><td>HNSW</td><td>338 GB</td></tr><tr><td>2</td><td>Flat</td><td>307 GB</td><td>[S2: \"took 12 ms and 307 GB\"]</td></tr>\
         <tr><td>7</td><td>None</td><td>3 GB</td></tr></table>\
         <figure><svg><text>50</text><text>100 %</text><text>21,400 per second</text></svg><figcaption>Figure 2: 8 ms [S1]</figcaption></figure>",
        expect![[r#"
            number_found S1 “338 GB”: It needs 338 GB.
            number_not_found S1 “3 ms”: It has 3 ms.
            cited S1: All of this is measured.
            cited S1: Measured in 2031
            number_found S1 “2031”: Measured in 2031
            number_found S1 “338 GB”: 1 HNSW 338 GB
            verbatim S2 “took 12 ms and 307 GB” p2: 2 Flat 307 GB
            number_found S2 “307 GB” p2: 2 Flat 307 GB
            number_not_found S1 “7”: 7 None 3 GB
            number_not_found S1 “3 GB”: 7 None 3 GB
            cited S1: 21,400 per second Figure 2: 8 ms
            number_found S1 “21,400”: 21,400 per second Figure 2: 8 ms
            number_not_found S1 “8 ms”: 21,400 per second Figure 2: 8 ms
        "#]],
    );
}

#[test]
fn a_raised_number_is_a_power_or_a_note() {
    check_against(
        &measured(),
        Media::Html,
        "<p>It holds 10<sup>8</sup> vectors<sup>1</sup> in 345 GB<sup>2</sup> or 10<sup>7</sup>, since 2031<sup>3</sup> [S1].</p>",
        expect![[r#"
            cited S1: It holds 10^8 vectors^1 in 345 GB^2 or 10^7, since 2031^3.
            number_found S1 “10^8”: It holds 10^8 vectors^1 in 345 GB^2 or 10^7, since 2031^3.
            number_not_found S1 “345 GB”: It holds 10^8 vectors^1 in 345 GB^2 or 10^7, since 2031^3.
            number_not_found S1 “10^7”: It holds 10^8 vectors^1 in 345 GB^2 or 10^7, since 2031^3.
            number_found S1 “2031”: It holds 10^8 vectors^1 in 345 GB^2 or 10^7, since 2031^3.
        "#]],
    );
}

#[test]
fn what_a_number_should_be_is_told() {
    expect![[r#"
        The number “345 GB” (at “HNSW needs 345 GB and 2.1 s.”) is not in what the page cites of S1: the source says “The HNSW index needed 338 GB in total, at a”. Write the number and its unit as the source has them, cite the source that has them, or drop the number.
        The number “2.1 s” (at “HNSW needs 345 GB and 2.1 s.”) is not in what the page cites of S1: the source says “at a latency of 2.1 ms. It served 21,400”. Write the number and its unit as the source has them, cite the source that has them, or drop the number.
        The number “307 GB” (at “Flat takes 307 GB and 77 minutes.”) is not in what the page cites of S2: “took 12 ms and 307 GB. It lost 0.019” stands in a part that this run was not shown; read_source shows it. Write the number and its unit as the source has them, cite the source that has them, or drop the number.
        The number “77 minutes” (at “Flat takes 307 GB and 77 minutes.”) is not in what the page cites of S2: nothing like it stands there. Write the number and its unit as the source has them, cite the source that has them, or drop the number."#]].assert_eq(&told(
        "<p>HNSW needs 345 GB and 2.1 s [S1].</p><p>Flat takes 307 GB and 77 minutes [S2].</p>",
    ));
    let survey = survey(&parse("<p>HNSW needs 345 GB of memory [S1].</p>", Media::Html).unwrap());
    let permits = Permits {
        uncited: Permit::Forbid,
        numbers: Permit::Allow,
    };
    assert!(differences(&ledger(&survey, &measured()), permits).is_empty());
}

#[test]
fn a_page_shows_its_numbers_with_their_sources() {
    let html = rendered_with(
        &measured(),
        Media::Html,
        "<p>HNSW needs 338 GB and not 345 GB [S1], in 2031 [S1].</p>\
         <p>The flat index takes 12 ms [S2: \"The flat index took 12 ms\"].</p>",
    );
    let body = html.split_once("<body>").unwrap().1;
    expect![[r##"

        <p>HNSW needs 338 GB and not 345 GB <a class="lr-cite" id="lr-cite-1" href="#lr-S1" role="doc-noteref" title="HNSW in memory">[1]</a>, in 2031 <a class="lr-cite lr-doubt" id="lr-cite-2" href="#lr-S1" role="doc-noteref" title="HNSW in memory (not found in what is cited: 345 GB)">[1]</a>.</p>
        <p>The flat index takes 12 ms <a class="lr-cite" id="lr-cite-3" href="#lr-S2" role="doc-noteref" title="“The flat index took 12 ms” — Flat, page 2">[2]</a>.</p><section id="lr-references" role="doc-bibliography" aria-labelledby="lr-references-title"><h2 id="lr-references-title">References</h2><ol>
        <li id="lr-S1">
        <p><cite>HNSW in memory</cite>, 2031-02-19. <span class="lr-file">hnsw.md</span></p><ul>
        <li><a href="#lr-cite-1" role="doc-backlink">cited here</a></li>
        <li><a href="#lr-cite-2" role="doc-backlink">cited here</a></li>
        <li>numbers found: <a href="#lr-cite-2" role="doc-backlink">338 GB</a>, <a href="#lr-cite-2" role="doc-backlink">2031</a></li>
        <li>number: <a href="#lr-cite-2" role="doc-backlink">345 GB</a> <strong>not found in what is cited</strong></li></ul></li>
        <li id="lr-S2">
        <p><cite>Flat</cite>. <span class="lr-file">flat.pdf</span></p><ul>
        <li><a href="#lr-cite-3" role="doc-backlink">cited here</a>: <q>The flat index took 12 ms</q>, page 2</li>
        <li>numbers found: <a href="#lr-cite-3" role="doc-backlink">12 ms</a> (page 2)</li></ul></li></ol></section></body></html>"##]].assert_eq(&body.replace("<li", "\n<li").replace("<p", "\n<p"));
}

#[test]
fn a_page_has_an_end_of_numbers() {
    let many: String = (1..=4_001)
        .map(|number| format!("<li>{number} ms [S1]</li>"))
        .collect();
    let page = format!("<ul>{many}</ul>");
    let survey = survey(&parse(&page, Media::Html).unwrap());
    let claims = ledger(&survey, &measured());
    let numbers = claims
        .iter()
        .filter(|claim| claim.state == ClaimState::NumberNotFound)
        .count();
    assert_eq!(numbers, 4_001);
    let last = claims.last().unwrap();
    assert_eq!((last.source.as_str(), &last.quote), ("", &None));
    let told = differences(std::slice::from_ref(last), Permits::NONE);
    expect![
        "The numbers from “4001 ms” on were not checked: a page may have 4000 of them. Divide it."
    ]
    .assert_eq(&told.join("\n"));
}

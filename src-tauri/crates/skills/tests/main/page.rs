//! The programs of `research-page`.

use expect_test::expect;

use crate::bundled::Bench;

const HONEST: &str = include_str!("../../../tools/src/page/tests/honest/page.html");

#[test]
fn a_new_page_lacks_only_what_it_is_about() {
    let bench = Bench::of("research-page");
    bench.told(
        "new_page.py",
        &[
            "index.html",
            "--title",
            "Which <one> & why?",
            "--lang",
            "de",
        ],
    );
    let page = bench.read("index.html");
    assert!(
        page.contains("<title>Which &lt;one&gt; &amp; why?</title>") && page.contains("Befunde")
    );
    assert!(!page.contains("{{"));
    let output = bench.run("check_page.py", &["index.html"]);
    let told = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        told,
        "1: the page cites nothing\n0 citations, 0 quotes, 1 findings\n"
    );
    let (_, error) = bench.refused("new_page.py", &["index.html", "--title", "Again"]);
    assert!(error.contains("is there already"), "{error}");
}

#[test]
fn a_page_that_the_evidence_check_takes_has_no_findings() {
    let bench = Bench::of("research-page");
    bench.write("index.html", HONEST);
    bench.write("quotes.md", "- S1: \"the HNSW index  needed 338 GB in to-\u{ad}tal\" | memory\nS1: \u{201c}the HNSW index needed 338 GB in total\u{201d}\n");
    let told = bench.told("check_page.py", &["index.html", "--quotes", "quotes.md"]);
    assert_eq!(told, "18 citations, 1 quotes, 0 findings\n");
}

#[test]
fn every_fault_of_a_page_is_told_with_its_line() {
    let bench = Bench::of("research-page");
    bench.write(
        "index.html",
        "<html>\n<head><title>About [S1]</title>\n<link rel=stylesheet href=https://x.example/s.css>\n\
         <style>p { background: url(https://x.example/i.png) }</style></head>\n<body><main>\n\
         <p>Beans are round and often quite small.</p>\n\
         <p>Beans are green [S1 \"exact words here now\"].</p>\n\
         <p>Beans are cheap [s2] and [S3: \"too short\"].</p>\n\
         <p title=\"[S1]\">Beans are many, see <a href=\"https://x.example\">this page</a> [S1].</p>\n\
         <!-- [S4] -->\n<script>1</script>\n<img src=data:image/png;base64,AA onload=x()>\n\
         <p>Is it so that beans are green?</p>\n<p>These are the many kinds of beans:</p>\n\
         <table><tr><td>Black beans</td><td>weigh three grams each</td></tr>\n\
         <tr><td>White beans</td><td>weigh two grams each [S2: \"two grams each … or so\"]</td></tr></table>\n\
         <ul><li>One kind of bean is red [S5: \"one kind of bean is red\"]<li>Another kind of bean is blue</ul>\n\
         </main></body></html>\n",
    );
    bench.write("quotes.md", "S2: \"two grams each\"\n");
    let output = bench.run("check_page.py", &["index.html", "--quotes", "quotes.md"]);
    assert_eq!(output.status.code(), Some(1));
    expect![[r#"
        1: <html> has no lang; name the page's language
        1: a table has no <caption>; say what it shows, of what, when
        1: there is no <h1>; say the question in an <h1>
        2: a citation stands in <title>; it counts in running text only
        3: href of <link> loads 'https://x.example/s.css'; put it into the page
        4: a style loads from an address; put it into the page
        6: nothing is cited for “Beans are round and often quite small.”; cite it, join it to a cited sentence, or take it out
        7: nothing is cited for “Beans are green [S1 "exact words here now"].”; cite it, join it to a cited sentence, or take it out
        7: “[S1 "exact words here now"].” is not written like [S1] or [S1: "exact words"]
        8: the quote of S3 has 2 words; take 4 to 25
        8: “[s2] and [S3: "too short"].” is not written like [S1] or [S1: "exact words"]
        8: “too short” was not collected from S3; copy it from the source again
        9: a citation stands in title of <p>; it counts in running text only
        9: an address is written out; cite the source, and the app makes the link
        10: a citation stands in a comment; it counts in running text only
        11: <script> can show what the page does not hold; take it out
        12: <img> has no text; say in alt what it shows
        12: onload of <img> runs code; take it out
        15: nothing is cited for “Black beans weigh three grams each”; cite it, join it to a cited sentence, or take it out
        16: the quote of S2 leaves words out; make two quotes of it
        16: “two grams each … or so” was not collected from S2; copy it from the source again
        17: nothing is cited for “Another kind of bean is blue”; cite it, join it to a cited sentence, or take it out
        17: “one kind of bean is red” was not collected from S5; copy it from the source again
        4 citations, 3 quotes, 23 findings
    "#]].assert_eq(&String::from_utf8(output.stdout).unwrap());
    let (status, _) = bench.refused("check_page.py", &["missing.html"]);
    assert_eq!(status, Some(2));
}

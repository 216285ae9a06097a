//! HTML as text and as Markdown: what a reader sees, and nothing else.

use expect_test::{Expect, expect};
use longrein_web::Note;

use crate::server::{html, notes, page, whole, without_port};

/// Words enough for a page to be about something.
const STORY: &str = "<p>The heron stands in the shallow water of the bay, and it does not move \
    for a long while, so that the fish forget it. When the tide turns, it takes one step, and \
    waits again, as its kind has done on this shore for longer than anybody has kept count.</p>\
    <p>People who watch it say that patience is not the right word, since patience is what one \
    has while one would rather do something else, and the heron would rather do nothing else.</p>";

async fn check_text(body: &str, expected: Expect) {
    expected.assert_eq(&whole(body).await.text);
}

async fn check_markdown(body: &str, expected: Expect) {
    expected.assert_eq(&whole(body).await.markdown);
}

#[tokio::test]
async fn an_article_is_read_without_what_stands_around_it() {
    let page = page(html(&format!(
        "<!doctype html><html lang=en><head><title>Herons - Shore News</title>
        <meta name=author content='Ada Reed'>
        <meta property='article:published_time' content='2026-03-04T05:06:07Z'>
        <link rel=canonical href='/herons'></head><body>
        <header><nav><a href=/>Home</a> <a href=/birds>All birds</a></nav></header>
        <main><article><h1>Herons</h1>{STORY}
        <h2>Where to see them</h2>
        <p>On the <a href='/bay?view=map'>north bay</a>, <em>early</em>.</p>
        <ul><li>at low tide</li><li>with <strong>good</strong> boots</li></ul>
        </article></main>
        <aside><h3>Most read</h3><a href=/gulls>Ten gulls you will not believe</a></aside>
        <footer>© Shore News <a href=/terms>Terms</a></footer>
        <script>document.title = 'changed'</script></body></html>"
    )))
    .await;
    expect![[r#"
        The heron stands in the shallow water of the bay, and it does not move for a long while, so that the fish forget it. When the tide turns, it takes one step, and waits again, as its kind has done on this shore for longer than anybody has kept count.

        People who watch it say that patience is not the right word, since patience is what one has while one would rather do something else, and the heron would rather do nothing else.

        Where to see them

        On the north bay, early.

        at low tide
        with good boots"#]].assert_eq(&page.text);
    expect![[r#"
        The heron stands in the shallow water of the bay, and it does not move for a long while, so that the fish forget it. When the tide turns, it takes one step, and waits again, as its kind has done on this shore for longer than anybody has kept count.

        People who watch it say that patience is not the right word, since patience is what one has while one would rather do something else, and the heron would rather do nothing else.

        ## Where to see them

        On the [north bay][L1], *early*.

        - at low tide
        - with **good** boots

        [L1]: http://example.test/bay?view=map"#]].assert_eq(&without_port(&page, &page.markdown));
    expect![[r#"
        (
            "Herons - Shore News",
            [
                "Ada Reed",
            ],
            Some(
                "2026-03-04T05:06:07Z",
            ),
            Some(
                "en",
            ),
            [
                "Only the main part was read; navigation and asides are in the whole page.",
            ],
        )
    "#]]
    .assert_debug_eq(&(
        &page.meta.title,
        &page.meta.authors,
        &page.meta.date,
        &page.language,
        notes(&page),
    ));
}

#[tokio::test]
async fn the_whole_of_a_page_has_its_navigation_too() {
    let body =
        format!("<nav><a href=/a>Home</a></nav><main>{STORY}</main><footer>About us</footer>");
    let page = whole(&body).await;
    assert!(page.text.starts_with("Home\n\n"), "{}", page.text);
    assert!(page.text.ends_with("\n\nAbout us"), "{}", page.text);
    assert!(!page.notes.contains(&Note::MainPartOnly));
}

#[tokio::test]
async fn a_page_in_which_nothing_stands_out_is_read_whole() {
    let page = page(html(
        "<h1>Index</h1><ul><li><a href=a>One</a><li><a href=b>Two</a></ul>",
    ))
    .await;
    assert_eq!(page.text, "Index\n\nOne\nTwo");
    assert_eq!(page.meta.title, "Index");
    assert_eq!(page.links.len(), 2);
}

#[tokio::test]
async fn blocks_stand_apart_and_white_space_is_folded() {
    check_text(
        "<p> one\n  two </p>three<div>four<span> five</span></div>\
         <p>line<br>break<br></p><p>  </p><pre>\n  kept\n    as it is\n</pre>",
        expect![[r#"
            one two

            three

            four five

            line
            break

              kept
                as it is"#]],
    )
    .await;
}

#[tokio::test]
async fn lists_keep_their_order_and_their_depth() {
    let body = "<ul><li>one<li>two<ul><li>inner<p>more of it</p></ul></ul>\
        <ol start=3><li>three<li value=7>seven<li><p>eight</p><p>and a half</p></ol>\
        <dl><dt>Term<dd>what it means</dl>\
        <blockquote><p>said</p><ul><li>quoted item</ul></blockquote>";
    check_text(
        body,
        expect![[r#"
        one
        two
        inner

        more of it
        three
        seven
        eight

        and a half

        Term

        what it means

        said

        quoted item"#]],
    )
    .await;
    check_markdown(
        body,
        expect![[r#"
        - one
        - two
          - inner

            more of it
        3. three
        7. seven
        8. eight

           and a half

        Term

        - what it means

        > said
        >
        > - quoted item"#]],
    )
    .await;
}

#[tokio::test]
async fn tables_of_data_keep_their_columns() {
    let body = "<table><caption>Sightings</caption><thead><tr><th>Bird<th>Year<th>Count</thead>\
        <tr><td rowspan=2>Heron<td>2025<td>1 | 2<tr><td>2026<td>17\
        <tr><td colspan=2>All<td><b>19</b><br>about</table>";
    check_text(
        body,
        expect![[r#"
        Sightings

        Bird | Year | Count
        Heron | 2025 | 1 | 2
         | 2026 | 17
        All |  | 19 about"#]],
    )
    .await;
    check_markdown(
        body,
        expect![[r#"
        Sightings

        | Bird | Year | Count |
        | --- | --- | --- |
        | Heron | 2025 | 1 \| 2 |
        | | 2026 | 17 |
        | All | | **19** about |"#]],
    )
    .await;
}

#[tokio::test]
async fn tables_that_lay_a_page_out_are_no_tables() {
    check_markdown(
        "<table><tr><td><h2>Left</h2><p>words</p></td><td><table role=none><tr><td>a<td>b</table>\
         </td></tr></table><table><tr><td>alone</table>",
        expect![[r#"
            ## Left

            words

            a

            b

            alone"#]],
    )
    .await;
}

#[tokio::test]
async fn code_stays_as_it_was_written() {
    check_markdown(
        "<p>Call <code>a_b*c</code> or <kbd>x`y</kbd>.</p>\
         <pre><code class='hljs language-rust'>fn main() {\n    // &lt;b&gt; * _\n}\n</code></pre>\
         <pre>a ``` fence</pre><pre><div>one</div><div>two</div></pre>",
        expect![[r#"
            Call `a_b*c` or `` x`y ``.

            ```rust
            fn main() {
                // <b> * _
            }
            ```

            ````
            a ``` fence
            ````

            ```
            one
            two
            ```"#]],
    )
    .await;
}

#[tokio::test]
async fn what_markdown_would_take_for_a_mark_is_escaped_and_no_more() {
    let body = "<p># no heading</p><p>1. no item</p><p>- none</p><p>&gt; none</p>\
        <p>2 * 3 * 4, *stars*, _lines_, snake_case, a`b, [1], [a](b), &lt;b&gt; 1 &lt; 2 &amp;amp; \
        AT&amp;T \\ \\*</p>";
    check_markdown(body, expect![[r#"
        \# no heading

        1\. no item

        \- none

        \> none

        2 * 3 * 4, \*stars\*, \_lines\_, snake_case, a\`b, [1], [a\](b), \<b> 1 < 2 \&amp; AT&T \ \\\*"#]]).await;
    check_text(
        body,
        expect![[r#"
        # no heading

        1. no item

        - none

        > none

        2 * 3 * 4, *stars*, _lines_, snake_case, a`b, [1], [a](b), <b> 1 < 2 &amp; AT&T \ \*"#]],
    )
    .await;
}

#[tokio::test]
async fn links_are_numbered_and_lead_to_other_pages_only() {
    let page = whole(
        "<base href='http://example.test/dir/'>\
         <p><a href=one>One</a>, <a href='one'>one <b>again</b></a>, <a href='#part'>here</a>, \
         <a href='javascript:alert(1)'>run</a>, <a href='mailto:a@b.c'>write</a>, \
         <a>nothing</a>, <a href='HTTPS://User:Pass@Other.example/x?y#z'>other</a>, \
         <a href=/icon><img alt='A map'></a>, <a href=/empty><img></a>, \
         <a href='data:text/html,x'>data</a></p>",
    )
    .await;
    expect![[r#"
        [One][L1], [one **again**][L1], here, run, write, nothing, [other][L2], [(image: A map)][L3], , data

        [L1]: http://example.test/dir/one
        [L2]: https://other.example/x?y#z
        [L3]: http://example.test/icon"#]].assert_eq(&page.markdown);
    expect![[r#"
        [
            Link {
                number: 1,
                text: "One",
                address: "http://example.test/dir/one",
            },
            Link {
                number: 2,
                text: "other",
                address: "https://other.example/x?y#z",
            },
            Link {
                number: 3,
                text: "A map",
                address: "http://example.test/icon",
            },
        ]
    "#]]
    .assert_debug_eq(&page.links);
    assert_eq!(
        page.text,
        "One, one again, here, run, write, nothing, other, , , data"
    );
}

#[tokio::test]
async fn raised_digits_and_formulas_say_what_they_mean() {
    let body = "<p>10<sup>6</sup> m<sup>−2</sup>, H<sub>2</sub>O, n<sup>th</sup>, \
        text<sup><a href=#n1>[1]</a></sup>, \
        <math alttext='E = mc^2'><mi>E</mi><mo>=</mo></math>, \
        <math><semantics><mi>x</mi><annotation encoding='application/x-tex'>x_1</annotation>\
        </semantics></math>, <math><mi>y</mi></math>, <q>quoted</q></p>";
    check_text(
        body,
        expect!["10⁶ m⁻², H₂O, nth, text[1], E = mc^2, x_1, y, “quoted”"],
    )
    .await;
    check_markdown(
        body,
        expect!["10⁶ m⁻², H₂O, nth, text[1], $E = mc^2$, $x_1$, y, “quoted”"],
    )
    .await;
}

#[tokio::test]
async fn headings_say_where_they_stand_in_the_text() {
    let page = whole("<h1>One <i>two</i></h1><p>Words é.<h3><span>Three</span><br>four</h3>").await;
    for heading in &page.headings {
        let there = &page.text[heading.start..];
        assert!(
            there.replace('\n', " ").starts_with(&heading.text),
            "{there}"
        );
    }
    let levels: Vec<_> = page
        .headings
        .iter()
        .map(|heading| (heading.level, heading.text.as_str()))
        .collect();
    assert_eq!(levels, [(1, "One two"), (3, "Three four")]);
    assert_eq!(page.markdown, "# One *two*\n\nWords é.\n\n### Three four");
}

#[tokio::test]
async fn a_page_that_needs_scripts_says_that_it_is_empty() {
    let page = page(html(
        "<title>App</title><div id=root></div><script>go()</script>",
    ))
    .await;
    assert_eq!(page.notes, [Note::Empty]);
    assert_eq!((page.meta.title.as_str(), page.text.as_str()), ("App", ""));
}

#[tokio::test]
async fn a_page_without_a_bottom_is_read_as_far_as_it_goes() {
    let page = whole(&format!("<p>Start.{}deep", "<div>".repeat(200_000))).await;
    assert_eq!(page.text, "Start.");
    assert_eq!(page.notes, [Note::ElementsLeftOut]);
}

#[tokio::test]
async fn the_same_bytes_give_the_same_text() {
    let body = format!("<nav>n</nav><article><h1>H</h1>{STORY}<table><tr><td>a<td>b</table>");
    let (one, two) = (page(html(&body)).await, page(html(&body)).await);
    assert_eq!((&one.text, one.capture.hash), (&two.text, two.capture.hash));
}

//! Pages that are broken in every way: reading never fails, and never shows what is hidden.

use std::sync::Arc;

use longrein_protocol::body::BlobHash;

use super::page;
use crate::page::{Capture, Page, Part};

/// Every kind of element that is read in a way of its own, and words in all hidden places.
const PAGE: &str = r#"<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Tïtle</title>
<meta name="citation_author" content="A"><base href="/b/"><script type="application/ld+json">
{"@type":"Article","headline":"SECRET"}</script><style>SECRET</style></head><body>
<!-- SECRET --><nav><a href="/n">Näv</a></nav><article><h1>Héading <em>one</em></h1>
<p>Words <a href="x?y=1&amp;z=2"><b>link</b> one</a>, <code>co`de</code>, 10<sup>6</sup>.</p>
<div style="display:none">SECRET</div><p hidden>SECRET</p>
<ul><li>a<ul><li>b</ul><li>c</ul><ol start="4"><li>d</ol><dl><dt>e<dd>f</dl>
<table><caption>cap</caption><tr><th>g<th>h<tr><td rowspan="3">i<td>j|k<tr><td colspan="9">l</table>
<pre><code class="language-rs">let x = "é";
</code></pre><blockquote><p>m<br>n</p></blockquote><math alttext="x^2"><mi>x</mi></math>
<img alt="pïcture" src="p.png"><hr><q>o</q><template>SECRET</template><svg><text>SECRET</text></svg>
</article><span style="color:#fff;background:#fff">SECRET</span></body></html>"#;

fn read(content_type: &str, bytes: &[u8], part: Part) -> Page {
    let capture = Capture {
        requested: "https://example.org/a".to_owned(),
        address: "https://example.org/a".to_owned(),
        redirects: Vec::new(),
        status: 200,
        fetched_at_ms: 0,
        content_type: Some(content_type.to_owned()),
        bytes: bytes.to_vec(),
        hash: BlobHash::of(bytes),
        robots_ignored: false,
    };
    page(&Arc::new(capture), part, None, 100_000).expect("text is always read")
}

fn holds(page: &Page) {
    // Each look costs as much as the text is long.
    for heading in page.headings.iter().take(20) {
        assert!(page.text.is_char_boundary(heading.start));
        let there = page.text[heading.start..].replace('\n', " ");
        assert!(there.starts_with(&heading.text), "{}", heading.text);
    }
    for (index, link) in page.links.iter().enumerate() {
        assert_eq!(usize::try_from(link.number).unwrap(), index + 1);
        assert!(link.address.starts_with("http"));
    }
    for range in &page.not_evidence {
        assert!(range.end <= page.text.len());
    }
}

#[test]
fn a_page_that_is_cut_anywhere_is_read_and_hides_what_it_hid() {
    for end in 0..=PAGE.len() {
        let page = read(
            "text/html; charset=utf-8",
            &PAGE.as_bytes()[..end],
            Part::Whole,
        );
        holds(&page);
        assert!(!page.text.contains("SECRET"), "cut at {end}: {}", page.text);
        assert!(!page.markdown.contains("SECRET"), "cut at {end}");
    }
}

#[test]
fn the_main_part_of_a_page_that_is_cut_is_found_without_harm() {
    for end in (0..=PAGE.len()).step_by(23) {
        let page = read(
            "text/html; charset=utf-8",
            &PAGE.as_bytes()[..end],
            Part::Main,
        );
        holds(&page);
        assert!(!page.text.contains("SECRET"), "cut at {end}: {}", page.text);
    }
}

#[test]
fn a_page_with_pieces_taken_out_and_put_elsewhere_is_read() {
    // A small generator of its own: the same pieces in every run.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut below = |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % u64::try_from(limit).unwrap()).unwrap()
    };
    for round in 0..300 {
        let mut bytes = PAGE.as_bytes().to_vec();
        for _ in 0..=below(8) {
            let start = below(bytes.len());
            let end = (start + below(60)).min(bytes.len());
            let piece: Vec<u8> = bytes.drain(start..end).collect();
            let to = below(bytes.len());
            bytes.splice(to..to, piece);
        }
        for kind in ["text/html", "text/xml", "application/json", "text/plain"] {
            let part = if round % 10 == 0 {
                Part::Main
            } else {
                Part::Whole
            };
            holds(&read(kind, &bytes, part));
        }
    }
}

#[test]
fn a_page_of_nothing_but_one_tag_many_times_is_read_in_time() {
    for piece in [
        "<p>a",
        "<b>a",
        "<li>a",
        "<td>a",
        "<tr><td>a<td>b",
        "<table>",
        "<a href=x>a",
        "<sup>1",
        "<h1>a",
        "<pre>",
        "<br>",
        "<ul>",
        "<blockquote>a",
        "&amp;",
        "<!--",
        "<math>",
        "<div hidden>",
        "<ol><li>a",
        "<img alt=a>",
        "<font color=a>a",
        "<q>",
        "<select>a",
        "<form>a",
        "<div>",
        "<div><p>a",
    ] {
        let body = piece.repeat(8_000);
        holds(&read("text/html", body.as_bytes(), Part::Main));
    }
}

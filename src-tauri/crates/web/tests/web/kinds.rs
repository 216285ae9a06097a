//! Pages that are no HTML.

use std::sync::Arc;

use expect_test::expect;
use longrein_protocol::source::{PdfReceipt, SourceMeta};
use longrein_web::limits::Limits;
use longrein_web::{Cache, FetchErrorClass, Fetcher, Note, PdfText, Request, Settings, Unreadable};

use crate::server::{
    NOW_MS, Names, Server, fetch, fetcher, html, limits, notes, page, reply, settings, text,
};

#[tokio::test]
async fn plain_text_is_kept_as_it_is() {
    let page = page(text("# one\r\n  two\ttabs\r\n\r\nthree\u{202e} <b>\n")).await;
    assert_eq!(page.text, "# one\n  two\ttabs\n\nthree <b>\n");
    assert_eq!(page.markdown, page.text);
    assert_eq!(
        notes(&page),
        ["Left out because no reader sees it: 1 character."]
    );
}

#[tokio::test]
async fn json_is_laid_out_and_keeps_its_digits() {
    let page = page(reply(
        200,
        "content-type: application/json",
        r#"{"count":12345678901234567890.10,"items":[{"name":"h\u00e9ron"}]}"#,
    ))
    .await;
    expect![[r#"
        ```json
        {
          "count": 12345678901234567890.10,
          "items": [
            {
              "name": "héron"
            }
          ]
        }
        ```"#]]
    .assert_eq(&page.markdown);
    assert!(page.text.contains("\"count\": 12345678901234567890.10"));
}

#[tokio::test]
async fn broken_json_is_shown_as_it_is() {
    let page = page(reply(200, "content-type: application/json", "{\"a\": 1")).await;
    assert_eq!(page.text, "{\"a\": 1");
    assert_eq!(page.notes, [Note::NotWellFormed { format: "JSON" }]);
}

#[tokio::test]
async fn a_feed_is_read_as_what_it_announces() {
    let page = page(reply(
        200,
        "content-type: application/rss+xml",
        "<?xml version='1.0'?><!DOCTYPE rss [<!ENTITY big 'x'>]><rss><channel>\
         <title>Shore &amp; Sea</title><link>https://shore.example/</link><!-- c -->\
         <item><title>Herons &#x26; others</title><link>https://shore.example/1</link>\
         <pubDate>Mon, 02 Mar 2026</pubDate>\
         <description>&lt;p&gt;They &lt;b&gt;wait&lt;/b&gt;.&lt;p hidden&gt;SECRET</description></item>\
         <item><title><![CDATA[Gulls <3]]></title><description>Plain &big; words</description></item>\
         </channel></rss>",
    ))
    .await;
    expect![[r#"
        # Shore & Sea

        [https://shore.example/][L1]

        ## Herons & others

        [https://shore.example/1][L2]

        Mon, 02 Mar 2026

        They **wait**.

        ## Gulls <3

        Plain \&big; words

        [L1]: https://shore.example/
        [L2]: https://shore.example/1"#]]
    .assert_eq(&page.markdown);
    assert_eq!(page.meta.title, "Shore & Sea");
    expect![[r#"
        [
            "Left out because no reader sees it: 1 part with 6 letters, 1 comment.",
        ]
    "#]]
    .assert_debug_eq(&notes(&page));
}

#[tokio::test]
async fn an_atom_feed_has_its_links_in_attributes() {
    let page = page(reply(
        200,
        "content-type: application/atom+xml",
        "<feed xmlns='http://www.w3.org/2005/Atom'><title>Tides</title>\
         <link rel='self' href='https://a.example/feed'/><link href='https://a.example/'/>\
         <entry><title>High</title><link rel='alternate' href='/high?a=1&amp;b=2'/>\
         <author><name>Ada Reed</name></author>\
         <content type='html'>&lt;ul&gt;&lt;li&gt;12:00&lt;li&gt;24:00&lt;/ul&gt;</content></entry></feed>",
    ))
    .await;
    expect![[r#"
        Tides

        https://a.example/

        High

        /high?a=1&b=2

        Ada Reed

        12:00
        24:00"#]]
    .assert_eq(&page.text);
    assert_eq!(page.links.len(), 2);
    assert!(page.links[1].address.ends_with("/high?a=1&b=2"));
}

#[tokio::test]
async fn broken_xml_is_read_as_far_as_it_goes() {
    let page = page(reply(
        200,
        "content-type: text/xml",
        "<a><b>one</b><c>two</d><e>three</e>",
    ))
    .await;
    assert_eq!(page.text, "one\n\ntwo");
    assert_eq!(page.notes, [Note::NotWellFormed { format: "XML" }]);
}

#[tokio::test]
async fn entities_that_would_grow_without_end_are_never_expanded() {
    let mut bomb = "<?xml version='1.0'?><!DOCTYPE a [<!ENTITY e0 'aaaaaaaaaa'>".to_owned();
    for level in 1..10 {
        let previous = format!("&e{};", level - 1).repeat(10);
        bomb.push_str(&format!("<!ENTITY e{level} '{previous}'>"));
    }
    bomb.push_str("<!ENTITY out SYSTEM 'file:///etc/passwd'>]><a>&e9; &out;</a>");
    let page = page(reply(200, "content-type: application/xml", bomb)).await;
    assert_eq!(page.text, "&e9; &out;");
}

/// Stands in for a reader that knows two pages and one fault.
fn read_pdf(bytes: &[u8]) -> Result<PdfText, Unreadable> {
    if !bytes.ends_with(b"whole") {
        return Err(Unreadable("its end is missing".to_owned()));
    }
    Ok(PdfText {
        meta: SourceMeta {
            title: "A paper".to_owned(),
            private: true,
            file: Some("x".to_owned()),
            pdf: Some(PdfReceipt {
                pages: 2,
                read: 2,
                ..PdfReceipt::default()
            }),
            ..SourceMeta::default()
        },
        text: "one\u{c}two".to_owned(),
        not_evidence: vec![4..7, 7..900],
        notes: vec!["Page 2 is a bibliography.".to_owned()],
    })
}

#[tokio::test]
async fn a_pdf_is_read_by_the_reader_that_was_given() {
    let fetcher = Fetcher::new(Settings {
        pdf: Some(Arc::new(read_pdf)),
        ..settings(limits(), Arc::new(Names::default()))
    });
    let server = Server::with(&[
        (
            "/a.pdf",
            reply(200, "content-type: application/pdf", "%PDF-1.7 whole"),
        ),
        (
            "/b.pdf",
            reply(200, "content-type: text/html", "%PDF-1.7 whole"),
        ),
        ("/c.pdf", reply(200, "", "%PDF-1.7 cut")),
    ])
    .await;
    let cache = Cache::new();
    let request = |path: &str| Request::new(server.at(path), NOW_MS);
    let page = fetcher
        .fetch(&request("/a.pdf"), &cache)
        .await
        .unwrap()
        .page;
    assert_eq!(page.text, "one\u{c}two");
    assert_eq!(page.not_evidence, vec![4..7]);
    assert_eq!(page.meta.title, "A paper");
    assert_eq!(page.meta.media_type, "application/pdf");
    assert_eq!(page.meta.url.as_deref(), Some(server.at("/a.pdf").as_str()));
    // A page of the web is public, whatever its reader is used to.
    assert_eq!((page.meta.private, &page.meta.file), (false, &None));
    assert!(page.meta.pdf.is_some());
    assert_eq!(notes(&page), ["Page 2 is a bibliography."]);

    let page = fetcher
        .fetch(&request("/b.pdf"), &cache)
        .await
        .unwrap()
        .page;
    assert_eq!(
        page.notes[0],
        Note::TypeCorrected {
            sent: "text/html".to_owned(),
            is: "application/pdf".to_owned(),
        }
    );
    let error = fetcher.fetch(&request("/c.pdf"), &cache).await.unwrap_err();
    assert_eq!(error.class(), FetchErrorClass::Unreadable);
    assert!(
        error.to_string().ends_with("its end is missing."),
        "{error}"
    );
}

#[tokio::test]
async fn what_can_not_be_read_is_named() {
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    let server = Server::with(&[
        ("/image", reply(200, "content-type: image/png", png)),
        ("/lie", reply(200, "content-type: text/html", png)),
        ("/unsaid", reply(200, "", png)),
        (
            "/pdf",
            reply(200, "content-type: application/pdf", "%PDF-1.7"),
        ),
        (
            "/login",
            reply(200, "content-type: application/pdf", "<html>Log in"),
        ),
    ])
    .await;
    let mut said = Vec::new();
    for path in ["/image", "/lie", "/unsaid", "/pdf", "/login"] {
        let error = fetch(&server.at(path)).await.unwrap_err();
        assert_eq!(error.class(), FetchErrorClass::UnsupportedType);
        said.push(error.to_string().replace(&server.port.to_string(), "PORT"));
    }
    expect![[r#"
        [
            "http://example.test:PORT/image is image/png, which can't be read as text.",
            "http://example.test:PORT/lie is sent as text/html and is image/png, which can't be read as text.",
            "http://example.test:PORT/unsaid is image/png, which can't be read as text.",
            "http://example.test:PORT/pdf is application/pdf, which can't be read as text.",
            "http://example.test:PORT/login is called application/pdf and is none, which can't be read as text.",
        ]
    "#]].assert_debug_eq(&said);
}

#[tokio::test]
async fn a_wrong_charset_is_put_right_and_noted() {
    let page = page(reply(
        200,
        "content-type: text/html; charset=iso-8859-1",
        "<p>Zażółć gęślą jaźń",
    ))
    .await;
    assert_eq!(page.text, "Zażółć gęślą jaźń");
    assert_eq!(
        notes(&page),
        ["The page says it is written in iso-8859-1, which it is not; UTF-8 was taken."]
    );
}

#[tokio::test]
async fn a_text_beyond_the_limit_is_cut_between_characters() {
    let small = Limits {
        text_bytes: 25,
        ..limits()
    };
    let server = Server::with(&[
        ("/text", text(&"é".repeat(100))),
        (
            "/html",
            html("<p>one two three</p><p>four five six</p><p>seven</p>"),
        ),
        (
            "/json",
            reply(200, "content-type: application/json", "[1,2,3,4,5,6,7,8,9]"),
        ),
    ])
    .await;
    let (fetcher, cache) = (fetcher(small), Cache::new());
    for (path, expected) in [
        ("/text", "é".repeat(12)),
        ("/html", "one two three\n\nfour five ".to_owned()),
        ("/json", "[\n  1,\n  2,\n  3,\n  4,\n  5".to_owned()),
    ] {
        let request = Request::new(server.at(path), NOW_MS);
        let page = fetcher.fetch(&request, &cache).await.unwrap().page;
        assert!(page.text.len() <= 25);
        assert_eq!(page.text, expected, "{path}");
        assert_eq!(page.notes, [Note::Cut { limit_bytes: 25 }], "{path}");
    }
}

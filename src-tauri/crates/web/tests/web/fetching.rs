//! Redirects, limits, statuses, and what is kept.

use std::time::Duration;

use longrein_protocol::body::BlobHash;
use longrein_web::limits::Limits;
use longrein_web::{
    Cache, FetchError, FetchErrorClass, NetworkFault, Part, Redirect, Request, Stage,
};

use crate::server::{
    NOW_MS, Reply, Server, fetch, fetcher, html, limits, page, redirect, reply, text,
};

#[tokio::test]
async fn a_page_says_where_it_was_found_and_what_its_bytes_are() {
    let server = Server::with(&[
        ("/a", redirect("/b?x=1")),
        ("/b?x=1", reply(301, "location: c#part", "")),
        ("/c", text("one two")),
    ])
    .await;
    let fetched = fetch(&server.at("/a#top")).await.unwrap();
    assert!(!fetched.from_cache);
    let page = fetched.page;
    assert_eq!(page.text, "one two");
    let capture = &page.capture;
    assert_eq!(capture.requested, server.at("/a"));
    assert_eq!(capture.address, server.at("/c"));
    assert_eq!(page.meta.url.as_deref(), Some(capture.address.as_str()));
    assert_eq!(
        capture.redirects,
        [
            Redirect {
                status: 302,
                from: server.at("/a"),
                to: server.at("/b?x=1"),
            },
            Redirect {
                status: 301,
                from: server.at("/b?x=1"),
                to: server.at("/c"),
            },
        ]
    );
    assert_eq!((capture.status, capture.fetched_at_ms), (200, NOW_MS));
    assert_eq!(capture.bytes, b"one two");
    assert_eq!(capture.hash, BlobHash::of(b"one two"));
    assert_eq!(page.meta.media_type, "text/plain");
}

#[tokio::test]
async fn a_request_says_who_asks_and_carries_nothing_of_the_person() {
    let server = Server::with(&[
        (
            "/",
            reply(200, "content-type: text/plain\nset-cookie: id=1", "a"),
        ),
        ("/next", text("b")),
    ])
    .await;
    let (fetcher, cache) = (fetcher(limits()), Cache::new());
    for path in ["/", "/next"] {
        let request = Request::new(server.at(path), NOW_MS);
        fetcher.fetch(&request, &cache).await.unwrap();
    }
    for head in server.heads() {
        let head = head.to_ascii_lowercase();
        assert!(head.contains("\r\nuser-agent: longrein/"), "{head}");
        assert!(
            head.contains("\r\naccept-encoding: gzip, deflate\r\n"),
            "{head}"
        );
        for name in ["cookie:", "referer:", "authorization:"] {
            assert!(!head.contains(name), "{head}");
        }
    }
}

#[tokio::test]
async fn redirects_end_at_their_limit() {
    let server = Server::with(&[("/a", redirect("/b")), ("/b", redirect("/a"))]).await;
    let error = fetch(&server.at("/a")).await.unwrap_err();
    assert_eq!(error.class(), FetchErrorClass::TooManyRedirects);
    assert_eq!(server.paths().len(), Limits::default().redirects + 1);

    let short = Limits {
        redirects: 1,
        ..limits()
    };
    let server = Server::with(&[("/a", redirect("/b")), ("/b", text("there"))]).await;
    let request = Request::new(server.at("/a"), NOW_MS);
    let fetched = fetcher(short).fetch(&request, &Cache::new()).await.unwrap();
    assert_eq!(fetched.page.text, "there");
}

#[tokio::test]
async fn statuses_have_the_class_that_they_mean() {
    let server = Server::with(&[
        ("/gone", reply(410, "", "")),
        ("/busy", reply(429, "retry-after: 90", "")),
        ("/login", reply(403, "", "")),
        ("/broken", reply(502, "", "")),
        ("/nowhere", reply(302, "", "")),
        ("/unchanged", reply(304, "", "")),
    ])
    .await;
    let mut seen = Vec::new();
    for path in [
        "/gone",
        "/missing",
        "/busy",
        "/login",
        "/broken",
        "/nowhere",
        "/unchanged",
    ] {
        let error = fetch(&server.at(path)).await.unwrap_err();
        assert!(!error.remedy().is_empty());
        seen.push((
            error.class(),
            error.retry_after().map(|wait| wait.as_secs()),
            error.may_pass(),
        ));
    }
    assert_eq!(
        seen,
        [
            (FetchErrorClass::NotFound, None, false),
            (FetchErrorClass::NotFound, None, false),
            (FetchErrorClass::HttpStatus, Some(90), true),
            (FetchErrorClass::HttpStatus, None, false),
            (FetchErrorClass::HttpStatus, None, true),
            (FetchErrorClass::HttpStatus, None, false),
            (FetchErrorClass::HttpStatus, None, false),
        ]
    );
}

#[tokio::test]
async fn a_huge_page_is_refused_when_it_says_so_and_when_it_does_not() {
    let small = Limits {
        page_bytes: 10_000,
        ..limits()
    };
    let mut endless = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n".to_vec();
    endless.extend(vec![b'a'; 1_000_000]);
    let server = Server::with(&[
        ("/said", reply(200, "content-length: 10001", "a")),
        ("/unsaid", Reply::Whole(endless)),
        ("/fits", text(&"a".repeat(10_000))),
    ])
    .await;
    let fetcher = fetcher(small);
    for path in ["/said", "/unsaid"] {
        let request = Request::new(server.at(path), NOW_MS);
        let error = fetcher.fetch(&request, &Cache::new()).await.unwrap_err();
        assert_eq!(error.class(), FetchErrorClass::TooLarge, "{path}");
    }
    let request = Request::new(server.at("/fits"), NOW_MS);
    let fetched = fetcher.fetch(&request, &Cache::new()).await.unwrap();
    assert_eq!(fetched.page.text.len(), 10_000);
}

#[tokio::test]
async fn a_small_answer_that_would_unfold_into_a_huge_one_is_refused() {
    use std::io::Write;
    let mut bomb = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    for _ in 0..64 {
        bomb.write_all(&[b' '; 1024 * 1024]).unwrap();
    }
    let bomb = bomb.finish().unwrap();
    assert!(bomb.len() < 100_000);
    let headers = "content-type: text/html\ncontent-encoding: gzip";
    let server = Server::with(&[("/bomb", reply(200, headers, &bomb))]).await;
    let error = fetch(&server.at("/bomb")).await.unwrap_err();
    assert_eq!(error.class(), FetchErrorClass::TooLarge);
}

#[tokio::test]
async fn a_compressed_page_is_read_and_its_bytes_are_those_unfolded() {
    use std::io::Write;
    let mut zipped = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    zipped.write_all(b"plain words").unwrap();
    let headers = "content-type: text/plain\ncontent-encoding: gzip";
    let page = page(reply(200, headers, zipped.finish().unwrap())).await;
    assert_eq!(page.text, "plain words");
    assert_eq!(page.capture.bytes, b"plain words");
}

#[tokio::test]
async fn an_encoding_that_was_not_asked_for_is_named() {
    let server = Server::with(&[("/br", reply(200, "content-encoding: br", "x"))]).await;
    let error = fetch(&server.at("/br")).await.unwrap_err();
    assert_eq!(error.class(), FetchErrorClass::UnsupportedType);
    assert!(error.to_string().contains("compressed as br"), "{error}");
}

#[tokio::test]
async fn nothing_is_waited_for_without_an_end() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n".to_vec();
    let server = Server::with(&[
        ("/silent", Reply::Silence),
        ("/drip", Reply::Drip(head.clone())),
    ])
    .await;
    let short = Duration::from_millis(300);
    let long = Duration::from_secs(60);
    // Each case: limits, path, at which point it ends.
    let cases = [
        (
            Limits {
                first_byte: short,
                connect: Duration::from_millis(100),
                total: long,
                ..Limits::default()
            },
            "/silent",
            Stage::Answer,
        ),
        // Every piece comes in time, and the whole does not.
        (
            Limits {
                total: short,
                idle: long,
                ..Limits::default()
            },
            "/drip",
            Stage::Whole,
        ),
    ];
    for (limits, path, expected) in cases {
        let request = Request {
            ignore_robots: Some(longrein_web::PersonAllows::this_page()),
            ..Request::new(server.at(path), NOW_MS)
        };
        let error = fetcher(limits)
            .fetch(&request, &Cache::new())
            .await
            .unwrap_err();
        let FetchError::TimedOut { stage, .. } = error else {
            panic!("{path}: {error}");
        };
        assert_eq!(stage, expected, "{path}");
    }
}

#[tokio::test]
async fn an_answer_that_stalls_in_its_middle_times_out() {
    // The connection stays open behind a body that lacks most of what was announced.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = tokio::spawn(async move {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.read_u8().await.unwrap();
        let head = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc";
        stream.write_all(head).await.unwrap();
        std::future::pending::<()>().await;
    });
    let limits = Limits {
        idle: Duration::from_millis(200),
        ..limits()
    };
    let request = Request {
        ignore_robots: Some(longrein_web::PersonAllows::this_page()),
        ..Request::new(format!("http://127.0.0.1:{port}/"), NOW_MS)
    };
    let error = fetcher(limits)
        .fetch(&request, &Cache::new())
        .await
        .unwrap_err();
    server.abort();
    assert!(
        matches!(
            error,
            FetchError::TimedOut {
                stage: Stage::Body,
                ..
            }
        ),
        "{error}"
    );
}

#[tokio::test]
async fn an_answer_that_is_cut_off_or_no_http_is_a_fault_of_the_network() {
    let server = Server::with(&[
        ("/short", reply(200, "content-length: 100", "abc")),
        (
            "/noise",
            Reply::Whole(b"\x01\x02 what is this\r\n\r\n".to_vec()),
        ),
        ("/nothing", Reply::Whole(Vec::new())),
    ])
    .await;
    for path in ["/short", "/noise", "/nothing"] {
        let request = Request {
            ignore_robots: Some(longrein_web::PersonAllows::this_page()),
            ..Request::new(server.at(path), NOW_MS)
        };
        let error = fetcher(limits())
            .fetch(&request, &Cache::new())
            .await
            .unwrap_err();
        assert_eq!(error.class(), FetchErrorClass::Network, "{path}: {error}");
        assert!(error.may_pass());
    }
}

#[tokio::test]
async fn a_host_that_is_not_there_is_said_to_be_so() {
    let error = fetch("https://no-such-host.invalid/").await.unwrap_err();
    assert!(
        matches!(
            &error,
            FetchError::Network {
                fault: NetworkFault::NoSuchHost,
                ..
            }
        ),
        "{error}"
    );
    // A port on which nothing listens any more.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let error = fetch(&format!("http://127.0.0.1:{port}/"))
        .await
        .unwrap_err();
    assert!(
        matches!(
            &error,
            FetchError::Network {
                fault: NetworkFault::Refused,
                ..
            }
        ),
        "{error}"
    );
}

#[tokio::test]
async fn tls_is_not_spoken_to_a_server_that_has_none() {
    let server = Server::with(&[("/", text("plain"))]).await;
    let address = server.at("/").replace("http://", "https://");
    let error = fetch(&address).await.unwrap_err();
    assert!(
        matches!(
            &error,
            FetchError::Network {
                fault: NetworkFault::Secure(_),
                ..
            }
        ),
        "{error:?}"
    );
    assert!(!error.may_pass());
}

#[tokio::test]
async fn a_proxy_of_the_environment_is_spoken_of_where_it_would_have_mattered() {
    use crate::server::{Names, settings};
    use longrein_web::{Fetcher, Settings};
    let fetcher = Fetcher::new(Settings {
        proxied: true,
        ..settings(limits(), std::sync::Arc::new(Names::default()))
    });
    let request = Request::new("https://no-such-host.invalid/", NOW_MS);
    let error = fetcher.fetch(&request, &Cache::new()).await.unwrap_err();
    assert!(error.remedy().contains("proxy"), "{}", error.remedy());
}

#[tokio::test]
async fn a_page_is_fetched_once_a_run() {
    let server = Server::with(&[("/a", html("<p>one")), ("/b", html("<p>two"))]).await;
    let (fetcher, cache) = (fetcher(limits()), Cache::new());
    let first = Request::new(server.at("/a"), NOW_MS);
    let later = Request::new(server.at("/a#elsewhere"), NOW_MS + 5_000);
    let one = fetcher.fetch(&first, &cache).await.unwrap();
    let two = fetcher.fetch(&later, &cache).await.unwrap();
    assert_eq!((one.from_cache, two.from_cache), (false, true));
    assert_eq!(two.page.capture.fetched_at_ms, NOW_MS);
    assert_eq!(server.paths(), ["/a"]);

    // The other part of it is read from the same bytes.
    let whole = Request {
        part: Part::Whole,
        ..later
    };
    let three = fetcher.fetch(&whole, &cache).await.unwrap();
    assert!(three.from_cache);
    assert_eq!(three.page.part, Part::Whole);
    assert_eq!(server.paths(), ["/a"]);

    // Another run fetches for itself.
    fetcher.fetch(&first, &Cache::new()).await.unwrap();
    assert_eq!(server.paths(), ["/a", "/a"]);
}

#[tokio::test]
async fn a_failure_is_not_kept() {
    let server = Server::with(&[("/busy", reply(503, "", ""))]).await;
    let (fetcher, cache) = (fetcher(limits()), Cache::new());
    let request = Request::new(server.at("/busy"), NOW_MS);
    for _ in 0..2 {
        fetcher.fetch(&request, &cache).await.unwrap_err();
    }
    assert_eq!(server.paths(), ["/busy", "/busy"]);
    assert!(cache.is_empty());
}

#[tokio::test]
async fn a_run_keeps_no_more_than_its_bounds() {
    let server = Server::with(&[
        ("/a", text("one")),
        ("/b", text("two")),
        ("/c", text("three")),
    ])
    .await;
    let (fetcher, cache) = (fetcher(limits()), Cache::bounded(2, 1_000_000));
    for path in ["/a", "/b", "/c"] {
        let request = Request::new(server.at(path), NOW_MS);
        fetcher.fetch(&request, &cache).await.unwrap();
    }
    assert_eq!(cache.len(), 2);
    assert!(cache.weight() > 0);

    let tiny = Cache::bounded(10, 10);
    let request = Request::new(server.at("/a"), NOW_MS);
    fetcher.fetch(&request, &tiny).await.unwrap();
    assert!(tiny.is_empty());
}

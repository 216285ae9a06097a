//! Nothing but the public internet is reached, whoever asks for it and in whatever form.

use std::sync::Arc;

use longrein_web::{
    Cache, FetchError, FetchErrorClass, Fetcher, JudgeOnward, Onward, Request, Settings, Special,
};

use crate::server::{NOW_MS, Names, Server, fetcher_with, limits, redirect, text};

/// A fetcher as it ships, but for who finds hosts.
fn shipped(names: Names) -> Fetcher {
    Fetcher::new(Settings {
        resolver: Arc::new(names),
        ..Settings::default()
    })
}

async fn refused(fetcher: &Fetcher, address: &str) -> Special {
    let request = Request::new(address, NOW_MS);
    match fetcher.fetch(&request, &Cache::new()).await {
        Err(FetchError::PrivateAddress { kind, .. }) => kind,
        other => panic!("{address}: {other:?}"),
    }
}

#[tokio::test]
async fn no_form_of_an_address_of_this_network_is_reached() {
    let server = Server::with(&[("/", text("the person's own"))]).await;
    let fetcher = shipped(Names::default());
    for host in [
        "127.0.0.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "127.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "0.0.0.0",
        "10.1.2.3",
        "192.168.1.1",
        "169.254.169.254",
        "[fd00:ec2::254]",
        "[fe80::1]",
        "100.64.0.1",
    ] {
        let address = format!("http://{host}:{}/", server.port);
        let request = Request::new(address.as_str(), NOW_MS);
        let error = fetcher.fetch(&request, &Cache::new()).await.unwrap_err();
        assert_eq!(error.class(), FetchErrorClass::PrivateAddress, "{address}");
        assert!(!error.may_pass());
    }
    assert!(server.heads().is_empty());
}

#[tokio::test]
async fn a_name_that_leads_into_this_network_is_not_followed() {
    let server = Server::with(&[("/", text("the person's own"))]).await;
    let names = Names::default()
        .with("localhost", &[&["127.0.0.1", "::1"]])
        .with("inside.example", &[&["10.0.0.5"]])
        .with("both.example", &[&["93.184.215.14", "192.168.0.2"]])
        .with("cloud.example", &[&["169.254.169.254"]])
        .with("mapped.example", &[&["::ffff:127.0.0.1"]])
        .with("nat64.example", &[&["64:ff9b::a00:1"]]);
    let fetcher = shipped(names);
    for (host, expected) in [
        ("localhost", Special::Loopback),
        ("inside.example", Special::Private),
        ("both.example", Special::Private),
        ("cloud.example", Special::Metadata),
        ("mapped.example", Special::Embedded),
        ("nat64.example", Special::Private),
    ] {
        assert_eq!(
            refused(&fetcher, &server.on(host, "/")).await,
            expected,
            "{host}"
        );
    }
    assert!(server.heads().is_empty());
}

#[tokio::test]
async fn a_redirect_into_this_network_is_not_followed() {
    let names = Names::default().with("inside.test", &[&["10.0.0.5"]]);
    let fetcher = fetcher_with(limits(), Arc::new(names));
    for (target, expected) in [
        ("http://inside.test/admin", Special::Private),
        ("http://10.0.0.5/admin", Special::Private),
        ("//169.254.169.254/latest/meta-data/", Special::Metadata),
        ("http://[::ffff:10.0.0.5]/", Special::Embedded),
        ("http://0xa000005/", Special::Private),
    ] {
        let server = Server::with(&[("/", redirect("/next")), ("/next", redirect(target))]).await;
        assert_eq!(
            refused(&fetcher, &server.at("/")).await,
            expected,
            "{target}"
        );
        assert_eq!(server.paths(), ["/", "/next"]);
    }
}

#[tokio::test]
async fn a_redirect_to_something_that_is_no_page_is_refused() {
    for target in [
        "file:///etc/passwd",
        "ftp://example.test/",
        "http://a:b@example.test/",
    ] {
        let server = Server::with(&[("/", redirect(target))]).await;
        let request = Request::new(server.at("/"), NOW_MS);
        let error = fetcher_with(limits(), Arc::new(Names::default()))
            .fetch(&request, &Cache::new())
            .await
            .unwrap_err();
        assert_eq!(error.class(), FetchErrorClass::InvalidAddress, "{target}");
        assert!(!error.to_string().contains("a:b"), "{error}");
    }
}

/// The first answer of the name server is harmless, the second leads into the network. Each
/// connection is made to the answer that was checked for it, so that there is nothing between
/// the two to slip through.
#[tokio::test]
async fn a_name_that_changes_its_mind_is_held_to_each_answer() {
    let server = Server::with(&[("/", redirect("/again")), ("/again", text("never"))]).await;
    let names = Arc::new(Names::default().with(
        "rebound.test",
        &[&["127.0.0.1"], &["127.0.0.1"], &["10.0.0.5"]],
    ));
    let fetcher = fetcher_with(limits(), Arc::clone(&names));
    let kind = refused(&fetcher, &server.on("rebound.test", "/")).await;
    assert_eq!(kind, Special::Private);
    assert_eq!(server.paths(), ["/"]);
    // robots.txt, the page, and the redirect: one question for each connection, and no other.
    assert_eq!(names.asked(), ["rebound.test"; 3]);
}

#[tokio::test]
async fn a_name_is_asked_for_once_for_each_connection() {
    let server = Server::with(&[("/", text("here"))]).await;
    // A second question would lead elsewhere, where nothing answers.
    let names = Arc::new(Names::default().with("once.test", &[&["127.0.0.1"], &["10.0.0.5"]]));
    let fetcher = fetcher_with(limits(), Arc::clone(&names));
    let request = Request {
        ignore_robots: Some(longrein_web::PersonAllows::this_page()),
        ..Request::new(server.on("once.test", "/"), NOW_MS)
    };
    let fetched = fetcher.fetch(&request, &Cache::new()).await.unwrap();
    assert_eq!(fetched.page.text, "here");
    assert_eq!(names.asked(), ["once.test"]);
}

#[tokio::test]
async fn a_robots_file_does_not_lead_into_this_network_either() {
    let server = Server::with(&[
        ("/robots.txt", redirect("http://10.0.0.5/robots.txt")),
        ("/", text("here")),
    ])
    .await;
    let fetcher = fetcher_with(limits(), Arc::new(Names::default()));
    assert_eq!(refused(&fetcher, &server.at("/")).await, Special::Private);
    assert!(server.paths().is_empty());
}

/// Refuses one host and asks about all others.
struct Strict(&'static str);

impl JudgeOnward for Strict {
    fn judge(&self, address: &str) -> Onward {
        match address.contains(self.0) {
            true => Onward::Refuse("a rule".to_owned()),
            false => Onward::Ask,
        }
    }
}

#[tokio::test]
async fn no_redirect_is_followed_that_its_judge_does_not_let_pass() {
    let server = Server::with(&[
        ("/same", redirect("/page")),
        ("/page", text("here")),
        ("/robots.txt", redirect("/rules")),
    ])
    .await;
    let fetcher = fetcher_with(limits(), Arc::new(Names::default()));
    let cache = Cache::new();
    let same = Request::new(server.at("/same"), NOW_MS);
    let strict = Strict("denied.test");
    let fetched = fetcher.fetch_judged(&same, &cache, &strict).await.unwrap();
    assert_eq!(fetched.page.text, "here");
    for (host, refused) in [("denied.test", true), ("other.test", false)] {
        let to = server.on(host, "/page");
        let sends = Server::with(&[("/", redirect(&to))]).await;
        let request = Request::new(sends.at("/"), NOW_MS);
        let before = server.paths().len();
        let error = fetcher.fetch_judged(&request, &cache, &strict).await;
        match error.unwrap_err() {
            FetchError::SendsElsewhere { to: named, why, .. } => {
                assert_eq!(named, to);
                assert_eq!(why.is_some(), refused, "{host}");
            }
            other => panic!("{other}"),
        }
        assert_eq!(server.paths().len(), before, "{host}");
        // What was reached when it was allowed is not given once it is not.
        assert!(fetcher.fetch(&request, &cache).await.is_ok());
        assert!(
            fetcher
                .fetch_judged(&request, &cache, &strict)
                .await
                .is_err()
        );
    }
}

//! `robots.txt`: RFC 9309.

use longrein_web::{Cache, FetchError, FetchErrorClass, Note, PersonAllows, Request};

use crate::server::{NOW_MS, Reply, Server, fetch, fetcher, limits, redirect, reply, text};

async fn allowed(robots: Reply, paths: &[(&str, bool)]) {
    let mut replies = vec![("/robots.txt", robots)];
    replies.extend(paths.iter().map(|(path, _)| (*path, text("here"))));
    let server = Server::with(&replies).await;
    for (path, expected) in paths {
        match fetch(&server.at(path)).await {
            Ok(_) => assert!(expected, "{path} was read"),
            Err(error) => {
                assert_eq!(error.class(), FetchErrorClass::RefusedByRobots, "{path}");
                assert!(!expected, "{path}: {error}");
            }
        }
    }
}

#[tokio::test]
async fn the_rules_for_everybody_hold() {
    allowed(
        text("User-agent: *\nDisallow: /private\nAllow: /private/open\nDisallow: /*.cgi$\n"),
        &[
            ("/", true),
            ("/private", false),
            ("/private/a?b=c", false),
            ("/private/open/a", true),
            ("/do.cgi", false),
            ("/do.cgi?x", true),
        ],
    )
    .await;
}

#[tokio::test]
async fn rules_for_this_program_come_before_those_for_everybody() {
    allowed(
        text("User-agent: *\nDisallow: /\n\nuser-agent: LONGREIN\nDisallow: /mine\n"),
        &[("/", true), ("/mine", false)],
    )
    .await;
    allowed(text("User-agent: other\nDisallow: /\n"), &[("/", true)]).await;
}

#[tokio::test]
async fn a_missing_or_strange_file_allows_everything() {
    for robots in [
        reply(404, "", ""),
        reply(403, "", ""),
        reply(429, "", ""),
        text(""),
        text("<!doctype html><p>No such page"),
        reply(200, "", b"\xff\xfe\0\0garbage".as_slice()),
        redirect("/robots.txt"),
        reply(302, "", ""),
        redirect("mailto:nobody@example.test"),
    ] {
        allowed(robots, &[("/", true)]).await;
    }
}

#[tokio::test]
async fn a_file_that_is_reached_over_redirects_counts_for_the_first_host() {
    let server = Server::with(&[
        ("one.test/robots.txt", redirect("/rules")),
        ("/rules", text("User-agent: *\nDisallow: /a")),
        ("/a", text("here")),
    ])
    .await;
    let error = fetch(&server.on("one.test", "/a")).await.unwrap_err();
    assert_eq!(error.class(), FetchErrorClass::RefusedByRobots);
    assert!(fetch(&server.on("two.test", "/a")).await.is_ok());
}

#[tokio::test]
async fn a_site_whose_rules_fail_is_left_alone_until_they_can_be_read() {
    let server = Server::with(&[
        ("/robots.txt", reply(503, "retry-after: 60", "")),
        ("/a", text("here")),
    ])
    .await;
    let error = fetch(&server.at("/a")).await.unwrap_err();
    assert_eq!(error.class(), FetchErrorClass::RefusedByRobots);
    assert_eq!(error.retry_after().map(|wait| wait.as_secs()), Some(60));
    assert!(error.may_pass());
    assert!(server.paths().is_empty());
}

#[tokio::test]
async fn rules_are_fetched_once_a_run_for_each_site() {
    let server = Server::with(&[
        ("/robots.txt", text("User-agent: *\nDisallow: /no")),
        ("/a", text("one")),
        ("/b", text("two")),
    ])
    .await;
    let (fetcher, cache) = (fetcher(limits()), Cache::new());
    for host in ["one.test", "two.test"] {
        for path in ["/a", "/b", "/no"] {
            let request = Request::new(server.on(host, path), NOW_MS);
            let fetched = fetcher.fetch(&request, &cache).await;
            assert_eq!(fetched.is_ok(), path != "/no");
        }
    }
    let rules = server
        .heads()
        .iter()
        .filter(|head| head.starts_with("GET /robots.txt"))
        .count();
    assert_eq!(rules, 2);
}

#[tokio::test]
async fn every_page_on_the_way_must_be_allowed() {
    let server = Server::with(&[
        ("two.test/robots.txt", text("User-agent: *\nDisallow: /")),
        ("/b", text("here")),
    ])
    .await;
    let there = server.on("two.test", "/b");
    let server_one = Server::with(&[("/a", redirect(&there))]).await;
    let error = fetch(&server_one.on("one.test", "/a")).await.unwrap_err();
    let FetchError::RefusedByRobots { host, rule, .. } = error else {
        panic!("{error}");
    };
    assert_eq!((host.as_str(), rule.as_str()), ("two.test", "Disallow: /"));
    assert!(server.paths().is_empty());
}

#[tokio::test]
async fn the_persons_word_opens_one_page_and_is_noted() {
    let server = Server::with(&[
        ("/robots.txt", text("User-agent: *\nDisallow: /")),
        ("/a", text("here")),
    ])
    .await;
    let (fetcher, cache) = (fetcher(limits()), Cache::new());
    let obedient = Request::new(server.at("/a"), NOW_MS);
    let allowed = Request {
        ignore_robots: Some(PersonAllows::this_page()),
        ..obedient.clone()
    };
    assert!(fetcher.fetch(&obedient, &cache).await.is_err());
    let page = fetcher.fetch(&allowed, &cache).await.unwrap().page;
    assert!(page.notes.contains(&Note::RobotsIgnored));
    assert!(page.capture.robots_ignored);
    // What is kept does not answer to who may not pass.
    assert!(fetcher.fetch(&obedient, &cache).await.is_err());
}

#[tokio::test]
async fn a_file_without_end_is_read_as_far_as_it_must_be() {
    let mut long = "User-agent: *\nDisallow: /early\n".to_owned();
    while long.len() < 600 * 1024 {
        long.push_str("# filler filler filler filler filler\n");
    }
    long.push_str("Disallow: /late\n");
    allowed(text(&long), &[("/early", false), ("/late", true)]).await;
}

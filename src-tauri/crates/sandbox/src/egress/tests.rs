//! The proxy between a command that is a stream and hosts that are listeners here.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::{Egress, EgressEvent, Refusal, Resolver, serve, told_to};
use crate::session::Tunnel;

/// All but the loopback is refused here, the other way round than in an app: a test's hosts stand
/// on this machine.
fn guard(address: IpAddr) -> Option<String> {
    (!address.is_loopback()).then(|| "no address of a test".to_owned())
}

fn names(names: &[(&str, &str)]) -> Resolver {
    let names: HashMap<String, IpAddr> = names
        .iter()
        .map(|(name, address)| ((*name).to_owned(), address.parse().expect("an address")))
        .collect();
    let names = Arc::new(names);
    Arc::new(move |host, port| {
        let found = names
            .get(&host)
            .map(|address| vec![SocketAddr::new(*address, port)]);
        Box::pin(async move { found.ok_or_else(|| std::io::ErrorKind::NotFound.into()) })
    })
}

/// Sends `request` through a proxy and gives what comes back and what was said of it.
async fn ask(hosts: &[&str], resolver: Resolver, request: &str) -> (String, Vec<EgressEvent>) {
    let hosts = hosts
        .iter()
        .map(|rule| rule.parse().expect("a rule"))
        .collect();
    let (tunnels, taken) = mpsc::channel(1);
    let (events, mut said) = mpsc::channel(16);
    let proxy = tokio::spawn(serve(
        taken,
        Egress {
            hosts,
            guard,
            resolver,
        },
        told_to(events),
    ));
    let (stream, mut command) = duplex(1 << 16);
    tunnels
        .send(Tunnel {
            command: "c".to_owned(),
            stream,
        })
        .await
        .expect("it is taken");
    drop(tunnels);
    command
        .write_all(request.as_bytes())
        .await
        .expect("it is sent");
    let mut answer = String::new();
    command
        .read_to_string(&mut answer)
        .await
        .expect("it answers");
    drop(command);
    proxy.await.expect("it ends");
    let mut all = Vec::new();
    while let Some(event) = said.recv().await {
        all.push(event);
    }
    (answer, all)
}

/// A host that answers one request with what it got.
async fn echo() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("it is bound").port();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("somebody comes");
        let mut request = vec![0; 4096];
        let count = stream.read(&mut request).await.expect("it asks");
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {count}\r\n\r\n");
        stream.write_all(head.as_bytes()).await.expect("it listens");
        stream
            .write_all(&request[..count])
            .await
            .expect("it listens");
    });
    port
}

fn refused(events: &[EgressEvent]) -> Option<&Refusal> {
    match events {
        [EgressEvent::Decided { refused, .. }] => refused.as_ref(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_listed_host_is_reached_and_told_of() {
    let port = echo().await;
    let rule = format!("docs.test:{port}");
    let request = format!("GET http://docs.test:{port}/a?b=c HTTP/1.1\r\nHost: x\r\n\r\n");
    let (answer, events) = ask(&[&rule], names(&[("docs.test", "127.0.0.1")]), &request).await;
    assert!(answer.contains("GET /a?b=c HTTP/1.1"), "{answer}");
    let [
        EgressEvent::Decided {
            request: 1,
            host,
            path: Some(path),
            refused: None,
            ..
        },
        EgressEvent::Ended {
            request: 1,
            address: Some(address),
            received_bytes,
            failed: None,
            ..
        },
    ] = events.as_slice()
    else {
        panic!("{events:?}")
    };
    assert_eq!(
        (host.as_str(), path.as_str(), address.port()),
        ("docs.test", "/a", port)
    );
    assert_eq!(*received_bytes, answer.len() as u64);
}

#[tokio::test]
async fn a_tunnel_carries_what_it_is_given() {
    let port = echo().await;
    let rule = format!("docs.test:{port}");
    let request = format!("CONNECT docs.test:{port} HTTP/1.1\r\n\r\nencrypted");
    let (answer, events) = ask(&[&rule], names(&[("docs.test", "127.0.0.1")]), &request).await;
    assert!(
        answer.starts_with("HTTP/1.1 200 Connection established\r\n\r\n"),
        "{answer}"
    );
    assert!(answer.ends_with("encrypted"), "{answer}");
    assert_eq!(events.len(), 2, "{events:?}");
}

#[tokio::test]
async fn another_host_is_refused_in_words_and_never_resolved() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counting = Arc::clone(&asked);
    let resolver: Resolver = Arc::new(move |_, _| {
        counting.fetch_add(1, Ordering::SeqCst);
        Box::pin(async { Ok(Vec::new()) })
    });
    let request = "CONNECT evil.test:443 HTTP/1.1\r\n\r\n";
    let (answer, events) = ask(&["docs.test"], resolver, request).await;
    assert!(answer.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{answer}");
    assert!(
        answer.ends_with(
            "Longrein: evil.test:443 is not among the hosts that this agent may reach.\n"
        ),
        "{answer}"
    );
    assert!(
        matches!(refused(&events), Some(Refusal::NotListed { .. })),
        "{events:?}"
    );
    assert_eq!(
        asked.load(Ordering::SeqCst),
        0,
        "a name that is resolved has left"
    );
}

#[tokio::test]
async fn an_address_with_colons_is_named_in_brackets_where_a_port_follows() {
    let request = "CONNECT [2001:db8::1]:443 HTTP/1.1\r\n\r\n";
    let (answer, _) = ask(&["[2001:db8::1]:8443"], names(&[]), request).await;
    assert!(
        answer.contains("Longrein: [2001:db8::1]:443 is not among"),
        "{answer}"
    );
}

#[tokio::test]
async fn a_listed_name_that_leads_elsewhere_is_refused_by_any_of_its_addresses() {
    for address in ["10.0.0.1", "169.254.169.254", "fe80::1", "8.8.8.8"] {
        let request = "GET http://docs.test/ HTTP/1.1\r\n\r\n";
        let (answer, events) = ask(&["docs.test"], names(&[("docs.test", address)]), request).await;
        assert!(answer.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{answer}");
        assert!(
            matches!(refused(&events), Some(Refusal::Address { .. })),
            "{events:?}"
        );
    }
    let both: Resolver = Arc::new(|_, port| {
        let addresses = ["127.0.0.1", "10.0.0.1"].map(|text| text.parse().expect("an address"));
        let addresses = addresses.map(|address: IpAddr| SocketAddr::new(address, port));
        Box::pin(async move { Ok(addresses.to_vec()) })
    });
    let (answer, _) = ask(
        &["docs.test"],
        both,
        "CONNECT docs.test:443 HTTP/1.1\r\n\r\n",
    )
    .await;
    assert!(answer.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{answer}");
}

#[tokio::test]
async fn an_address_itself_is_held_to_the_same_rules() {
    let request = "CONNECT 10.0.0.1:443 HTTP/1.1\r\n\r\n";
    let (answer, _) = ask(&["10.0.0.1"], names(&[]), request).await;
    assert!(
        answer.contains("10.0.0.1 leads to 10.0.0.1, which is no address of a test"),
        "{answer}"
    );
}

#[tokio::test]
async fn what_can_not_be_resolved_or_reached_is_said() {
    let unknown = "GET http://docs.test/ HTTP/1.1\r\n\r\n";
    let (answer, events) = ask(&["docs.test"], names(&[]), unknown).await;
    assert!(
        answer.starts_with("HTTP/1.1 502 Bad Gateway\r\n"),
        "{answer}"
    );
    assert!(
        matches!(refused(&events), Some(Refusal::Unresolved { .. })),
        "{events:?}"
    );
    let closed = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = closed.local_addr().expect("it is bound").port();
    drop(closed);
    let request = format!("CONNECT docs.test:{port} HTTP/1.1\r\n\r\n");
    let rule = format!("docs.test:{port}");
    let (answer, events) = ask(&[&rule], names(&[("docs.test", "127.0.0.1")]), &request).await;
    assert!(
        answer.starts_with("HTTP/1.1 502 Bad Gateway\r\n"),
        "{answer}"
    );
    assert!(
        matches!(
            events[1],
            EgressEvent::Ended {
                failed: Some(_),
                ..
            }
        ),
        "{events:?}"
    );
}

#[tokio::test]
async fn a_body_goes_no_further_than_its_length() {
    let port = echo().await;
    let rule = format!("docs.test:{port}");
    let request = format!(
        "POST http://docs.test:{port}/ HTTP/1.1\r\nContent-Length: 4\r\n\r\nbodyGET http://evil.test/ HTTP/1.1\r\n\r\n"
    );
    let (answer, _) = ask(&[&rule], names(&[("docs.test", "127.0.0.1")]), &request).await;
    assert!(answer.contains("POST / HTTP/1.1"), "{answer}");
    assert!(!answer.contains("evil"), "{answer}");
}

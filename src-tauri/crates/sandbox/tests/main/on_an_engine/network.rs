//! The one way to the network, tried from inside.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use longrein_sandbox::egress::{Egress, EgressEvent, Resolver, serve, told_to};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::on_both;
use super::place::{Place, script, within};

/// A test's hosts stand on this machine, so the loopback is what may be reached here.
fn guard(address: IpAddr) -> Option<String> {
    (!address.is_loopback()).then(|| "no address of a test".to_owned())
}

/// `inside.test` is this machine; every other name is the machine that tells clouds their secrets.
fn resolver() -> Resolver {
    Arc::new(|host, port| {
        let address = if host == "inside.test" {
            "127.0.0.1"
        } else {
            "169.254.169.254"
        };
        let address: IpAddr = address.parse().expect("an address");
        Box::pin(async move { Ok(vec![SocketAddr::new(address, port)]) })
    })
}

async fn host() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("it is bound").port();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.expect("somebody comes");
            let mut request = vec![0; 4096];
            let _ = stream.read(&mut request).await;
            let _ = stream
                .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
                .await;
        }
    });
    port
}

async fn listed_hosts_are_reached_and_all_requests_are_told(place: Place) {
    let port = host().await;
    let mut inside = place.enter().await;
    let (events, mut said) = mpsc::channel(64);
    let (_closed, none) = mpsc::channel(1);
    let tunnels = std::mem::replace(&mut inside.incoming.tunnels, none);
    let hosts = [format!("inside.test:{port}"), "cloud.test".to_owned()];
    let hosts = hosts.map(|rule| rule.parse().expect("a rule")).to_vec();
    tokio::spawn(serve(
        tunnels,
        Egress {
            hosts,
            guard,
            resolver: resolver(),
        },
        told_to(events),
    ));

    let program = format!(
        "for u in http://inside.test:{port}/a http://other.test/b http://cloud.test/c http://127.0.0.1:{port}/d; do \
           python3 -c 'import sys, urllib.request as r\n\
         try: print(r.build_opener(r.ProxyHandler()).open(sys.argv[1]).read().decode())\n\
         except Exception as e: print(e.code, e.read().decode().strip())' $u; done"
    );
    let mut reaching = script("net", inside.container.environment(), &program);
    reaching.egress = true;
    let (_, output) = inside.run_start(reaching).await;
    let expected = format!(
        "hello\n\
         403 Longrein: other.test:80 is not among the hosts that this agent may reach.\n\
         403 Longrein: cloud.test leads to 169.254.169.254, which is no address of a test.\n\
         403 Longrein: 127.0.0.1:{port} is not among the hosts that this agent may reach.\n"
    );
    assert_eq!(output, expected);
    let mut told = Vec::new();
    while told.len() < 4 {
        let event = within(said.recv()).await.expect("it is told");
        if let EgressEvent::Decided {
            command,
            path,
            refused,
            ..
        } = event
        {
            told.push((command, path.unwrap_or_default(), refused.is_some()));
        }
    }
    let expected = [("/a", false), ("/b", true), ("/c", true), ("/d", true)];
    assert_eq!(
        told,
        expected.map(|(path, is)| ("net".to_owned(), path.to_owned(), is))
    );
    place.clear().await;
}

async fn a_command_without_egress_finds_no_proxy(place: Place) {
    let inside = place.enter().await;
    let (_, output) = inside.run("env", "env | grep -i proxy; true").await;
    assert_eq!(output, "");
    place.clear().await;
}

on_both!(
    listed_hosts_are_reached_and_all_requests_are_told,
    a_command_without_egress_finds_no_proxy
);

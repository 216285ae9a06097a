//! What commands reach of the network: the listed hosts, by way of the app, and nothing else.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use longrein_sandbox::code::Closing;
use longrein_sandbox::egress::Resolver;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::code::{Bench, on_all_benches};

/// Where the test's own host stands: an address of this machine that an app refuses as well.
const HOST: Ipv4Addr = Ipv4Addr::new(127, 77, 77, 77);

/// What an app refuses, but for the test's own host.
fn guard(address: IpAddr) -> Option<String> {
    if address == HOST {
        return None;
    }
    longrein_web::special(address).map(|special| special.to_string())
}

/// Listed names, and where a name server that means no good lets them lead.
const NAMES: [(&str, &str); 16] = [
    ("loopback", "127.0.0.1"),
    ("elsewhere-on-loopback", "127.9.9.9"),
    ("metadata", "169.254.169.254"),
    ("link", "169.254.1.1"),
    ("private-a", "10.1.2.3"),
    ("private-b", "172.16.0.1"),
    ("private-c", "192.168.1.1"),
    ("shared", "100.64.0.1"),
    ("none", "0.0.0.0"),
    ("group", "224.0.0.1"),
    ("loopback-6", "::1"),
    ("mapped", "::ffff:127.0.0.1"),
    ("link-6", "fe80::1"),
    ("private-6", "fd00::1"),
    ("translated", "64:ff9b::a00:1"),
    ("none-6", "::"),
];

/// A server on this machine, and how many came to it.
async fn host() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind((HOST, 0)).await.expect("a port");
    let port = listener.local_addr().expect("it is bound").port();
    let came = Arc::new(AtomicUsize::new(0));
    let counting = Arc::clone(&came);
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.expect("somebody comes");
            counting.fetch_add(1, Ordering::SeqCst);
            let mut request = vec![0; 4096];
            let _ = stream.read(&mut request).await;
            let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello";
            let _ = stream.write_all(answer).await;
        }
    });
    (port, came)
}

/// Tells of each name that is asked for.
fn resolver(asked: &Arc<Mutex<Vec<String>>>) -> Resolver {
    let asked = Arc::clone(asked);
    Arc::new(move |name, port| {
        asked.lock().unwrap().push(name.clone());
        let known = NAMES
            .iter()
            .find(|(known, _)| format!("{known}.test") == name);
        let mut found: Vec<IpAddr> = known
            .iter()
            .map(|(_, address)| address.parse().unwrap())
            .collect();
        match name.as_str() {
            "inside.test" => found.push(HOST.into()),
            // One that may be reached beside one that may not.
            "both.test" => found.extend([HOST.into(), IpAddr::from([127, 0, 0, 1])]),
            _ => {}
        }
        let found = found
            .into_iter()
            .map(|address| SocketAddr::new(address, port))
            .collect();
        Box::pin(async move { Ok(found) })
    })
}

/// Asks for pages by the proxy that it was told of, and goes around it.
const PROGRAM: &str = r#"
import os, socket, sys, urllib.error, urllib.request

def page(url):
    try:
        print(url, urllib.request.urlopen(url, timeout=30).read().decode())
    except urllib.error.HTTPError as error:
        print(url, error.code, error.read().decode().strip())
    except OSError as error:
        print(url, "no answer", error)

def tunnel(host, port):
    name, at = os.environ["https_proxy"].removeprefix("http://").split(":")
    with socket.create_connection((name, int(at)), 30) as proxy:
        proxy.sendall(f"CONNECT {host}:{port} HTTP/1.1\r\n\r\n".encode())
        lines = proxy.makefile("rb")
        print("CONNECT", host, lines.readline().decode().split()[1])

def around(host, port):
    try:
        socket.create_connection((host, port), 3)
        print("reached", host)
    except OSError:
        print("no way to", host)

port, address, names = int(sys.argv[1]), sys.argv[2], sys.argv[3].split(",")
page(f"http://inside.test:{port}/page?mine=1")
tunnel("inside.test", port)
page(f"http://inside.test:{port + 1}/other-port")
page("http://unlisted.test/")
for name in names + ["both"]:
    page(f"http://{name}.test/")
    tunnel(f"{name}.test", 443)
page("http://127.0.0.1/")
page("http://[::1]/")
around(address, port)
around("inside.test", port)
around("127.0.0.1", port)
"#;

/// What the program is to say.
fn expected(port: u16) -> String {
    let mut expected = format!(
        "http://inside.test:{port}/page?mine=1 hello\nCONNECT inside.test 200\n\
         http://inside.test:{0}/other-port 403 Longrein: inside.test:{0} is not among the hosts that this agent may reach.\n\
         http://unlisted.test/ 403 Longrein: unlisted.test:80 is not among the hosts that this agent may reach.\n",
        port + 1
    );
    let mut refused = |host: &str, shown: &str, address: &str, is_name: bool| {
        let why = guard(address.parse().expect("an address")).expect("it is refused");
        expected +=
            &format!("http://{shown}/ 403 Longrein: {host} leads to {address}, which is {why}.\n");
        if is_name {
            expected += &format!("CONNECT {host} 403\n");
        }
    };
    for (name, address) in NAMES.iter().chain(&[("both", "127.0.0.1")]) {
        let name = format!("{name}.test");
        refused(&name, &name, address, true);
    }
    refused("127.0.0.1", "127.0.0.1", "127.0.0.1", false);
    refused("::1", "[::1]", "::1", false);
    expected += &format!("no way to {HOST}\nno way to inside.test\nno way to 127.0.0.1\n");
    expected
}

async fn listed_hosts_are_reached_by_way_of_the_app_and_all_else_is_refused(mut bench: Bench) {
    let (port, came) = host().await;
    let asked = Arc::default();
    bench.guard = guard;
    bench.resolver = resolver(&asked);
    bench.settings.hosts = vec![
        format!("inside.test:{port}"),
        "both.test".to_owned(),
        "127.0.0.1".to_owned(),
        "[::1]".to_owned(),
    ];
    bench
        .settings
        .hosts
        .extend(NAMES.iter().map(|(name, _)| format!("{name}.test")));
    let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
    let process = bench.process();
    std::fs::write(bench.workspace().join("reach.py"), PROGRAM).expect("ours");
    let line = format!("python3 reach.py {port} {HOST} {}", names.join(","));
    let arguments = json!({"command": line, "intent": "a test"});
    let said = process.text("run_command", "A1", arguments).await;

    let (printed, _) = said.split_once("[exit status 0").unwrap_or((&said, ""));
    assert_eq!(printed, expected(port));
    assert_eq!(
        came.load(Ordering::SeqCst),
        2,
        "twice by the proxy, and never else"
    );

    // Each request is on record, and no other word of it than host, port and why not.
    let facts = process.facts();
    let requests: Vec<&String> = facts
        .iter()
        .filter(|fact| fact.starts_with("GET ") || fact.starts_with("CONNECT "))
        .collect();
    assert_eq!(
        requests.len(),
        2 + 2 + 2 * (NAMES.len() + 1) + 2,
        "{facts:?}"
    );
    let allowed = requests.iter().filter(|fact| fact.ends_with(' '));
    assert_eq!(allowed.count(), 2, "{facts:?}");
    assert!(
        facts.iter().all(|fact| !fact.contains("mine=")),
        "{facts:?}"
    );
    // A name that is asked for has left: those of the list only, and by the app alone.
    let asked = asked.lock().unwrap().clone();
    assert!(!asked.contains(&"unlisted.test".to_owned()), "{asked:?}");
    assert!(
        asked
            .iter()
            .all(|name| name == "inside.test" || bench.settings.hosts.contains(name)),
        "{asked:?}"
    );
    process.boxes.close(bench.run, Closing::Over).await;
    bench.clear().await;
}

on_all_benches!(listed_hosts_are_reached_by_way_of_the_app_and_all_else_is_refused);

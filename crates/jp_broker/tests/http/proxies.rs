//! A proxy that is named, and addresses that are checked all the same.

use std::{
    io::{Read, Write},
    net::TcpStream,
    sync::{Arc, Mutex},
    thread,
};

use crate::{
    kept::Keeper,
    server::{Names, Server, get, options, read_request},
};
use jp_broker::http::{Client, HttpError, Options, Proxy};

/// A proxy that opens tunnels to this machine, or answers something else; it remembers what it was
/// asked for.
struct Tunnels {
    server: Server,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Tunnels {
    fn answering(answer: &'static str) -> Self {
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let remembered = Arc::clone(&asked);
        let server = Server::raw(move |mut stream| {
            let head = read_request(&mut stream);
            let place = head.split(' ').nth(1).unwrap_or_default().to_owned();
            remembered.lock().unwrap().push(head);
            let _ = stream.write_all(answer.as_bytes());
            let Ok(other) = TcpStream::connect(place) else {
                return;
            };
            let back = (other.try_clone().unwrap(), stream.try_clone().unwrap());
            thread::spawn(move || copy(back.0, back.1));
            copy(stream, other);
        });
        Self { server, asked }
    }

    fn client(&self, hosts: &[&str], names: &[&str]) -> Client {
        let options = Options {
            proxy: Some(Proxy::new(&self.server.url()).unwrap()),
            ..options(hosts)
        };
        Client::with_resolver(options, Names::answering(names)).unwrap()
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn copy(mut from: TcpStream, mut to: TcpStream) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        if to.write_all(&buffer[..count]).is_err() {
            return;
        }
    }
}

const OPENED: &str = "HTTP/1.1 200 Connection established\r\n\r\n";

#[test]
fn a_tunnel_leads_to_the_checked_address_and_is_kept() {
    let (keeper, proxy) = (Keeper::start(), Tunnels::answering(OPENED));
    let client = proxy.client(&["a.example", "127.0.0.1"], &["127.0.0.1"]);
    let request = get(&format!("http://a.example:{}/x", keeper.port));
    for _ in 0..3 {
        assert_eq!(client.request(&request).unwrap().body, b"hi");
    }
    let place = format!("127.0.0.1:{}", keeper.port);
    let expected = format!("CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n");
    assert_eq!(proxy.asked(), [expected]);
    let requests = keeper.requests.lock().unwrap();
    assert!(requests[0].starts_with("GET /x HTTP/1.1\r\nHost: a.example:"));
}

#[test]
fn a_proxy_opens_no_way_around_the_grant() {
    let (keeper, proxy) = (Keeper::start(), Tunnels::answering(OPENED));
    let port = keeper.port;
    let client = proxy.client(&["a.example"], &["127.0.0.1"]);
    for url in [
        format!("http://a.example:{port}/"),
        format!("http://b.example:{port}/"),
        format!("http://127.0.0.1:{port}/"),
        proxy.server.url(),
    ] {
        let found = client.request(&get(&url));
        assert!(matches!(found, Err(HttpError::Denied { .. })), "{found:?}");
    }
    assert!(proxy.asked().is_empty());
}

#[test]
fn a_proxy_that_refuses_or_talks_is_an_error_and_nothing_goes_around_it() {
    let keeper = Keeper::start();
    let url = format!("http://127.0.0.1:{}/", keeper.port);
    for (answer, said) in [
        ("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n", "403"),
        (
            "HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
            "more than its answer",
        ),
        ("SSH-2.0-OpenSSH\r\n\r\n", "proxy"),
    ] {
        let proxy = Tunnels::answering(answer);
        let found = proxy.client(&["127.0.0.1"], &[]).request(&get(&url));
        let Err(HttpError::Connect { reason, .. }) = &found else {
            panic!("{found:?}");
        };
        assert!(reason.contains(said), "{reason}");
    }
    assert!(keeper.requests.lock().unwrap().is_empty());
}

#[test]
fn a_proxy_has_a_plain_url() {
    for wrong in [
        "proxy.example:3128",
        "https://proxy.example",
        "socks5://proxy.example:1080",
        "http://user:password@proxy.example",
        "http://proxy.example/path",
    ] {
        assert!(Proxy::new(wrong).is_err(), "{wrong}");
    }
    assert!(Proxy::new("http://proxy.example:3128").is_ok());
}

//! The small server: a registry's files and nothing else, to any client and for no longer than fair.

use std::{
    fs,
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    os::unix::fs::symlink,
    sync::Arc,
    thread,
    time::Duration,
};

use jp_publish::{Limits, Server};
use jp_registry::{Digest, Source, StaticSource};
use tokio_util::sync::CancellationToken;

use crate::{
    BYTES,
    kit::{Plain, Shop, no_progress},
    shop,
};

/// A server that stops when it is dropped.
struct Running {
    addr: SocketAddr,
    stop: CancellationToken,
    thread: Option<thread::JoinHandle<()>>,
}

impl Running {
    fn of(shop: &Shop, limits: Limits) -> Self {
        let server = Server::bind("127.0.0.1:0", &shop.dir()).unwrap();
        let server = server.with_limits(limits);
        let (addr, stop) = (server.addr(), CancellationToken::new());
        let stopped = stop.clone();
        let run = move || {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = runtime.enable_all().build().unwrap();
            runtime.block_on(server.run(stopped)).unwrap();
        };
        Self {
            addr,
            stop,
            thread: Some(thread::spawn(run)),
        }
    }

    /// Sends bytes and returns the whole answer.
    fn say(&self, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.addr).unwrap();
        let _ = stream.write_all(request);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn get(&self, path: &str, headers: &str) -> String {
        self.say(format!("GET {path} HTTP/1.1\r\nHost: x\r\n{headers}\r\n").as_bytes())
    }

    fn status(&self, path: &str) -> String {
        let answer = self.get(path, "");
        answer.split(' ').nth(1).unwrap().to_owned()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.cancel();
        self.thread.take().unwrap().join().unwrap();
    }
}

#[test]
fn a_served_registry_is_a_source() {
    let shop = shop();
    let server = Running::of(&shop, Limits::default());
    let url = format!("http://{}", server.addr);
    let source = StaticSource::at_url(&url, Arc::new(Plain)).unwrap();
    assert_eq!(source.about().unwrap(), shop.source().about().unwrap());
    let (served, local) = (source.index().unwrap(), shop.source().index().unwrap());
    assert_eq!(served.unwrap().bytes, local.unwrap().bytes);
    let manifest = shop.verified(&source, "1.0.0");
    let found = shop
        .store()
        .artifact(&manifest, &source, &mut no_progress());
    assert_eq!(found.unwrap().bytes().unwrap(), BYTES);
}

#[test]
fn parts_are_served() {
    let shop = shop();
    let server = Running::of(&shop, Limits::default());
    let path = format!("/artifacts/{}.wasm", Digest::of(BYTES));
    let answer = server.get(&path, "Range: bytes=8-\r\n");
    assert!(answer.starts_with("HTTP/1.1 206 "), "{answer}");
    assert!(answer.contains("Content-Range: bytes 8-15/16\r\n"));
    assert!(answer.contains("Content-Length: 8\r\n") && answer.ends_with("\r\n\r\nartifact"));
    let answer = server.get(&path, "Range: bytes=16-\r\n");
    assert!(answer.starts_with("HTTP/1.1 416 ") && answer.contains("bytes */16"));
    let head = server.say(format!("HEAD {path} HTTP/1.1\r\n\r\n").as_bytes());
    assert!(head.contains("Content-Length: 16\r\n") && head.ends_with("\r\n\r\n"));
    assert!(head.contains("Content-Type: application/wasm\r\n"));
}

#[test]
fn nothing_but_the_files_of_a_registry_is_served() {
    let shop = shop();
    fs::write(shop.dir().join("secret.json"), "mine").unwrap();
    fs::write(shop.dir().join("registry.key"), "mine").unwrap();
    fs::write(shop.temp.path().join("x.json"), "mine").unwrap();
    let outside = shop.temp.path().join("x.json");
    symlink(&outside, shop.dir().join("rotations.json")).unwrap();
    let server = Running::of(&shop, Limits::default());
    for path in [
        "/",
        "/secret.json",
        "/registry.key",
        "/.lock",
        "/../x.json",
        "/registry/tools/../../../x.json",
        "/%2e%2e/x.json",
        "/registry/tools/..%2f..%2fx.json",
        "//etc/passwd",
        "/rotations.json",
        "/registry/tools/",
        "/index.json?x",
        "/index.json/",
        "/artifacts",
    ] {
        assert_eq!(server.status(path), "404", "{path}");
    }
    assert_eq!(server.status("/index.json"), "200");
}

#[test]
fn anything_but_reading_is_refused() {
    let shop = shop();
    let server = Running::of(&shop, Limits::default());
    for (request, status) in [
        ("PUT /index.json HTTP/1.1\r\n\r\n", " 405 "),
        ("DELETE /index.json HTTP/1.1\r\n\r\n", " 405 "),
        ("GET http://x/ HTTP/1.1\r\n\r\n", " 400 "),
        ("hello\r\n\r\n", " 400 "),
        ("GET /index.json HTTP/3\r\n\r\n", " 400 "),
    ] {
        let answer = server.say(request.as_bytes());
        assert!(answer.contains(status), "{request:?}: {answer}");
    }
}

#[test]
fn large_and_slow_requests_end() {
    let shop = shop();
    let limits = Limits {
        request: Duration::from_millis(200),
        ..Limits::default()
    };
    let server = Running::of(&shop, limits);
    let answer = server.get("/index.json", &format!("X: {}\r\n", "y".repeat(20_000)));
    // The rest of the request may reach a closed socket, and the answer with it get lost.
    assert!(answer.is_empty() || answer.contains(" 431 "), "{answer}");
    let answer = server.say(b"GET /index.json HTTP/1.1\r\n");
    assert!(answer.contains(" 408 "), "{answer}");
}

#[test]
fn hundreds_of_silent_clients_do_not_keep_others_out() {
    let shop = shop();
    // They do not end by themselves within this test.
    let limits = Limits {
        request: Duration::from_secs(3600),
        ..Limits::default()
    };
    let server = Running::of(&shop, limits);
    let silent: Vec<TcpStream> = (0..300)
        .map(|n| {
            let mut stream = TcpStream::connect(server.addr).unwrap();
            // Some say half of something, others nothing.
            let half: &[u8] = if n % 2 == 0 { b"GET /index" } else { b"" };
            let _ = stream.write_all(half);
            stream
        })
        .collect();
    assert_eq!(server.status("/index.json"), "200");
    drop(silent);
}

#[test]
fn a_directory_without_a_registry_is_not_served() {
    let temp = tempfile::tempdir().unwrap();
    assert!(Server::bind("127.0.0.1:0", temp.path()).is_err());
}

/// Returns a header of an answer.
fn header<'a>(answer: &'a str, name: &str) -> &'a str {
    let start = format!("{name}: ");
    let line = answer.split("\r\n").find(|line| line.starts_with(&start));
    line.unwrap_or_default().trim_start_matches(&start)
}

#[test]
fn what_a_client_has_already_is_not_sent_again() {
    let shop = shop();
    let server = Running::of(&shop, Limits::default());
    let artifact = format!("/artifacts/{}.wasm", Digest::of(BYTES));
    let named = format!("\"{}\"", Digest::of(BYTES));
    assert_eq!(header(&server.get(&artifact, ""), "Etag"), named);
    for path in [artifact.as_str(), "/index.json"] {
        let answer = server.get(path, "");
        let tag = header(&answer, "Etag").to_owned();
        for known in [tag.clone(), format!("\"other\", W/{tag}"), "*".to_owned()] {
            let answer = server.get(path, &format!("If-None-Match: {known}\r\n"));
            assert!(answer.starts_with("HTTP/1.1 304 "), "{known}: {answer}");
            assert_eq!(header(&answer, "Etag"), tag);
            assert!(answer.ends_with("\r\n\r\n"), "{answer}");
        }
        let answer = server.get(path, "If-None-Match: \"other\"\r\n");
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        // A part is of the file that the client has the rest of, or it is the whole.
        let answer = server.get(path, &format!("Range: bytes=1-2\r\nIf-Range: {tag}\r\n"));
        assert!(answer.starts_with("HTTP/1.1 206 "), "{answer}");
        let answer = server.get(path, "Range: bytes=1-2\r\nIf-Range: \"other\"\r\n");
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }
    // Another document has another name.
    let before = server.get("/index.json", "");
    let before = header(&before, "Etag").to_owned();
    shop.publish("1.1.0", b"another");
    let answer = server.get("/index.json", &format!("If-None-Match: {before}\r\n"));
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

#[test]
fn too_many_headers_are_refused() {
    let shop = shop();
    let server = Running::of(&shop, Limits::default());
    let many: String = (0..80).map(|n| format!("X{n}: y\r\n")).collect();
    let answer = server.get("/index.json", &many);
    assert!(answer.contains(" 431 "), "{answer}");
}

/// Puts a large artifact into a shop; returns its path below the server.
fn large(shop: &Shop, size: usize) -> String {
    let bytes = vec![7; size];
    let sha256 = Digest::of(&bytes);
    fs::write(shop.dir().join(format!("artifacts/{sha256}")), bytes).unwrap();
    format!("/artifacts/{sha256}")
}

#[test]
fn a_reader_that_takes_nothing_is_given_up() {
    let shop = shop();
    let limits = Limits {
        write: Duration::from_millis(200),
        shutdown: Duration::from_hours(1),
        ..Limits::default()
    };
    let path = large(&shop, 64 << 20);
    let server = Running::of(&shop, limits);
    let mut stream = TcpStream::connect(server.addr).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let mut bytes = vec![0];
    stream.read_exact(&mut bytes).unwrap();
    // The server ends when nothing is under way: it has given the reader up by then. What it sent is what the
    // system keeps for a reader that is not there.
    drop(server);
    let _ = stream.read_to_end(&mut bytes);
    assert!(
        !bytes.is_empty() && bytes.len() < 64 << 20,
        "{}",
        bytes.len()
    );
}

#[test]
fn a_server_that_is_stopped_ends_what_it_began_and_closes_the_rest() {
    let shop = shop();
    let (path, size) = (large(&shop, 32 << 20), 32 << 20);
    let server = Running::of(&shop, Limits::default());
    let silent = TcpStream::connect(server.addr).unwrap();
    let mut stream = TcpStream::connect(server.addr).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let mut first = [0; 16];
    stream.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200 OK\r");
    server.stop.cancel();
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).unwrap();
    assert!(rest.len() > size, "{}", rest.len());
    let mut nothing = Vec::new();
    let _ = (&silent).read_to_end(&mut nothing);
    assert!(nothing.is_empty());
    let addr = server.addr;
    drop(server);
    assert!(TcpStream::connect(addr).is_err());
}

//! The small server: a registry's files and nothing else, to any client and for no longer than fair.

use std::{
    fs,
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    os::unix::fs::symlink,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use jp_registry::{
    Digest, HttpSource, Source,
    serve::{Limits, Server},
};

use crate::{
    BYTES,
    kit::{Plain, Shop, no_progress},
    shop,
};

/// A server that stops when it is dropped.
struct Running {
    addr: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Running {
    fn of(shop: &Shop, limits: Limits) -> Self {
        let server = Server::bind("127.0.0.1:0", &shop.dir()).unwrap();
        let server = server.with_limits(limits);
        let (addr, stop) = (server.addr(), Arc::new(AtomicBool::new(false)));
        let flag = Arc::clone(&stop);
        let run = move || server.run(&|| flag.load(Ordering::SeqCst)).unwrap();
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
        self.stop.store(true, Ordering::SeqCst);
        self.thread.take().unwrap().join().unwrap();
    }
}

#[test]
fn a_served_registry_is_a_source() {
    let shop = shop();
    let server = Running::of(&shop, Limits::default());
    let url = format!("http://{}", server.addr);
    let source = HttpSource::new(&url, Arc::new(Plain)).unwrap();
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

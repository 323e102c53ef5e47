//! How much and how long a client reads, whatever the server does.

use std::{
    io::{self, Read, Write},
    net::{IpAddr, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    time::Duration,
};

use crate::server::{Server, ask, client, get, options, read_request};
use jp_broker::http::{Client, HttpError, Request, Resolve, Response};

/// Sends `start`, then `more` until the client hangs up, and reports that it did.
fn endless(start: &'static str, more: &'static str) -> (Server, mpsc::Receiver<()>) {
    let (sender, hung_up) = mpsc::channel();
    let server = Server::raw(move |mut stream| {
        read_request(&mut stream);
        let _ = stream.write_all(start.as_bytes());
        while stream.write_all(more.as_bytes()).is_ok() {}
        let _ = sender.send(());
    });
    (server, hung_up)
}

/// Reads a request and then does nothing until the client hangs up.
fn silent_after(start: &'static str) -> Server {
    Server::raw(move |mut stream| {
        read_request(&mut stream);
        let _ = stream.write_all(start.as_bytes());
        let _ = stream.read(&mut [0]);
    })
}

fn too_large(part: &'static str, limit: usize) -> Result<Response, HttpError> {
    Err(HttpError::TooLarge { part, limit })
}

fn timed_out(milliseconds: u64) -> Result<Response, HttpError> {
    Err(HttpError::Timeout {
        limit: Duration::from_millis(milliseconds),
    })
}

/// Asks with 150 ms of time.
fn ask_in_a_hurry(server: &Server) -> Result<Response, HttpError> {
    client(&[&server.grant()]).request(&Request {
        timeout: Some(Duration::from_millis(150)),
        ..get(&server.url())
    })
}

#[test]
fn an_endless_body_is_cut_off_at_the_limit_in_every_framing() {
    for (start, more) in [
        ("HTTP/1.1 200 OK\r\n\r\n", "xxxxxxxxxx"),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            "a\r\nxxxxxxxxxx\r\n",
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n",
            "xxxxxxxxxx",
        ),
    ] {
        let (server, hung_up) = endless(start, more);
        assert_eq!(ask(&server), too_large("body", 1000), "{start}");
        hung_up.recv_timeout(Duration::from_secs(300)).unwrap();
    }
}

#[test]
fn a_body_of_exactly_the_limit_is_read() {
    let body = "x".repeat(1000);
    let server = Server::answering(format!("HTTP/1.1 200 OK\r\n\r\n{body}"));
    assert_eq!(ask(&server).unwrap().body, body.as_bytes());
}

#[test]
fn endless_headers_are_cut_off_at_the_limit() {
    // Lines so long that the bytes are over before the headers are too many, however they arrive.
    for more in ["A: bbbbbbbbbbbbbbbbbbbb\r\n", "x"] {
        let (server, hung_up) = endless("HTTP/1.1 200 OK\r\nA: ", more);
        assert_eq!(ask(&server), too_large("header bytes", 2000));
        hung_up.recv_timeout(Duration::from_secs(300)).unwrap();
    }
}

#[test]
fn more_headers_than_allowed_are_an_error() {
    let headers = "A: b\r\n".repeat(129);
    let server = Server::answering(format!("HTTP/1.1 200 OK\r\n{headers}\r\n"));
    assert_eq!(ask(&server), too_large("header count", 128));
}

#[test]
fn endless_interim_responses_end() {
    let (server, _) = endless("", "HTTP/1.1 100 Continue\r\n\r\n");
    assert!(matches!(ask(&server), Err(HttpError::Other { .. })));
}

#[test]
fn a_request_can_narrow_the_limits_and_not_widen_them() {
    let server = Server::answering(format!("HTTP/1.1 200 OK\r\n\r\n{}", "x".repeat(2000)));
    let with = |max_body| {
        client(&[&server.grant()]).request(&Request {
            max_body: Some(max_body),
            ..get(&server.url())
        })
    };
    assert_eq!(with(10), too_large("body", 10));
    assert_eq!(with(5000), too_large("body", 1000));

    let silent = silent_after("");
    let mut options = options(&[&silent.grant()]);
    options.limits.timeout = Duration::from_millis(100);
    let patient = Request {
        timeout: Some(Duration::from_secs(3600)),
        ..get(&silent.url())
    };
    let found = Client::new(options).unwrap().request(&patient);
    assert_eq!(found, timed_out(100));
}

#[test]
fn a_server_that_falls_silent_times_out() {
    for start in [
        "",
        "HTTP/1.1 200",
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc",
    ] {
        assert_eq!(
            ask_in_a_hurry(&silent_after(start)),
            timed_out(150),
            "{start:?}"
        );
    }
}

#[test]
fn a_server_that_sends_a_byte_now_and_then_gains_no_time() {
    let server = Server::raw(|mut stream| {
        read_request(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n");
        // Waits 10 ms between bytes: the client never sends any.
        let _ = stream.set_read_timeout(Some(Duration::from_millis(10)));
        while stream.write_all(b"x").is_ok() {
            let _ = stream.read(&mut [0]);
        }
    });
    assert_eq!(ask_in_a_hurry(&server), timed_out(150));
}

#[test]
fn a_server_that_does_not_read_the_body_times_out() {
    let kept: Mutex<Vec<TcpStream>> = Mutex::default();
    let server = Server::raw(move |stream| kept.lock().unwrap().push(stream));
    let found = client(&[&server.grant()]).request(&Request {
        method: "POST".to_owned(),
        body: vec![b'x'; 64 * 1024 * 1024],
        timeout: Some(Duration::from_millis(300)),
        ..get(&server.url())
    });
    assert_eq!(found, timed_out(300));
}

/// Never answers, as a broken name server does.
struct Stuck(Mutex<mpsc::Receiver<()>>);

impl Resolve for Stuck {
    fn resolve(&self, _host: &str) -> io::Result<Vec<IpAddr>> {
        let _ = self.0.lock().unwrap().recv();
        Ok(Vec::new())
    }
}

#[test]
fn a_lookup_that_hangs_times_out() {
    let (_release, stuck) = mpsc::channel();
    let resolver = Arc::new(Stuck(Mutex::new(stuck)));
    let client = Client::with_resolver(options(&["a.example"]), resolver).unwrap();
    let found = client.request(&Request {
        timeout: Some(Duration::from_millis(100)),
        ..get("http://a.example/")
    });
    assert_eq!(found, timed_out(100));
}

#[test]
fn a_request_stops_soon_after_it_is_cancelled() {
    let (sender, reached) = mpsc::channel();
    let server = Server::raw(move |mut stream| {
        read_request(&mut stream);
        let _ = sender.send(());
        let _ = stream.read(&mut [0]);
    });
    let (stop, client) = (AtomicBool::new(false), client(&[&server.grant()]));
    let request = get(&server.url());
    std::thread::scope(|scope| {
        let asking = || client.request_until(&request, &|| stop.load(Ordering::SeqCst));
        let asking = scope.spawn(asking);
        reached.recv_timeout(Duration::from_secs(300)).unwrap();
        stop.store(true, Ordering::SeqCst);
        assert_eq!(asking.join().unwrap(), Err(HttpError::Cancelled));
    });
}

#[test]
fn a_cut_off_response_is_an_error_and_never_a_short_body() {
    for answer in [
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
        "HTTP/1.1 200 OK\r\n",
        "",
    ] {
        let found = ask(&Server::answering(answer));
        assert!(
            matches!(found, Err(HttpError::Other { .. })),
            "{answer:?}: {found:?}"
        );
    }
}

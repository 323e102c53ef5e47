//! A registry on this machine, nothing else on it, and servers that do not do what they should.

use std::{
    io::{BufRead, BufReader},
    net::TcpListener,
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use jp_broker::http::Pace;

use super::*;

/// Answers one request with a text, and returns the request's first line.
fn serve(answer: &'static str) -> (String, thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let served = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
        let first = lines.next().unwrap().unwrap();
        while lines
            .next()
            .is_some_and(|line| line.is_ok_and(|line| !line.is_empty()))
        {}
        stream.write_all(answer.as_bytes()).unwrap();
        first
    });
    (url, served)
}

#[test]
fn a_registry_on_this_machine_is_reached_where_the_configuration_puts_it() {
    let (url, served) = serve("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
    let transport = DownloadTransport::new(&url, CancellationToken::new()).unwrap();
    let mut sink = Vec::new();
    let url = format!("{url}/index.json");
    let got = transport.get(&Get::document(&url, 100), &mut sink).unwrap();
    assert_eq!(
        (got.status, got.written, sink.as_slice()),
        (200, 5, &b"hello"[..])
    );
    assert_eq!(served.join().unwrap(), "GET /index.json HTTP/1.1");
}

#[test]
fn nothing_else_on_this_machine_is_reached() {
    let transport =
        DownloadTransport::new("https://registry.example", CancellationToken::new()).unwrap();
    for url in [
        "http://127.0.0.1:1/x",
        "http://localhost:1/x",
        "http://169.254.169.254/x",
    ] {
        let error = transport.get(&Get::document(url, 100), &mut Vec::new());
        let error = error.unwrap_err();
        assert!(matches!(error, FetchError::Denied { .. }), "{url}: {error}");
    }
    let (url, _served) = serve("");
    let own = DownloadTransport::new(&url, CancellationToken::new()).unwrap();
    let error = own.get(&Get::document("http://127.0.0.1:1/x", 9), &mut Vec::new());
    assert!(matches!(error, Err(FetchError::Denied { .. })));
    drop(std::net::TcpStream::connect(
        url.trim_start_matches("http://"),
    ));
}

#[test]
fn a_body_that_is_too_large_and_a_call_that_is_cancelled_are_told_apart() {
    let (url, _served) = serve("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
    let transport = DownloadTransport::new(&url, CancellationToken::new()).unwrap();
    let error = transport.get(&Get::document(&url, 4), &mut Vec::new());
    assert!(matches!(error, Err(FetchError::TooLarge { max: 4, .. })));
    let cancel = CancellationToken::new();
    cancel.cancel();
    let (url, _served) = serve("");
    let transport = DownloadTransport::new(&url, cancel).unwrap();
    let error = transport.get(&Get::document(&url, 4), &mut Vec::new());
    assert!(matches!(error, Err(FetchError::Cancelled)), "{error:?}");
    drop(std::net::TcpStream::connect(
        url.trim_start_matches("http://"),
    ));
}
#[test]
fn a_server_that_sends_nothing_is_waited_for_once_and_the_wait_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let url = format!("http://{address}/index.json");
    let pace = Pace {
        bytes: 1,
        within: Duration::from_millis(50),
    };
    let bounds = Bounds {
        pace,
        ..Bounds::default()
    };
    let told = Arc::new(Mutex::new(Vec::new()));
    let telling: Waiting = Arc::new({
        let told = Arc::clone(&told);
        move |wait: Wait<'_>| {
            told.lock().unwrap().push(match wait {
                Wait::Since { host, .. } => host.to_owned(),
                Wait::Over => "over".to_owned(),
            });
        }
    });
    let transport = DownloadTransport::bounded(&url, CancellationToken::new(), bounds).unwrap();
    let transport = transport.telling(Some(telling));
    for _ in 0..2 {
        let error = transport.get(&Get::document(&url, 9), &mut Vec::new());
        let text = format!("{url} cannot be reached: no response within 0.05 s");
        assert_eq!(error.unwrap_err().to_string(), text);
    }
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_ok());
    assert!(listener.accept().is_err(), "it was asked a second time");
    let told = told.lock().unwrap();
    assert_eq!(told.first(), Some(&address));
    assert_eq!(told.last().map(String::as_str), Some("over"));
}

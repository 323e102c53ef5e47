//! HTTP/2, spoken with a real server that offers it.

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{body::Incoming, server::conn::http2, service::service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer},
};
use tokio::{net::TcpListener, runtime::Builder};
use tokio_rustls::TlsAcceptor;

use crate::server::{Names, get, options};
use jp_broker::http::{Client, HttpError, Options, Request};

const ROOT: &[u8] = include_bytes!("certificates/root.der");
const CERTIFICATE: &[u8] = include_bytes!("certificates/server.der");
const KEY: &[u8] = include_bytes!("certificates/server-key.der");

/// A server of HTTP/2, and of nothing else.
struct Second {
    port: u16,
    connections: Arc<AtomicUsize>,
}

impl Second {
    fn start() -> Self {
        let (sender, port) = mpsc::channel();
        let connections: Arc<AtomicUsize> = Arc::default();
        let counted = Arc::clone(&connections);
        thread::spawn(move || {
            let runtime = Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                sender.send(listener.local_addr().unwrap().port()).unwrap();
                loop {
                    let (stream, _) = listener.accept().await.unwrap();
                    counted.fetch_add(1, Ordering::SeqCst);
                    tokio::spawn(async move {
                        let Ok(stream) = acceptor().accept(stream).await else {
                            return;
                        };
                        let server = http2::Builder::new(TokioExecutor::new());
                        let stream = TokioIo::new(stream);
                        let _ = server.serve_connection(stream, service_fn(answer)).await;
                    });
                }
            });
        });
        Self {
            port: port.recv().unwrap(),
            connections,
        }
    }

    fn client(&self) -> Client {
        let options = Options {
            extra_roots: vec![ROOT.to_vec()],
            ..options(&["tls.example", "127.0.0.1"])
        };
        Client::with_resolver(options, Names::answering(&["127.0.0.1"])).unwrap()
    }

    fn get(&self, path: &str) -> Request {
        get(&format!("https://tls.example:{}{path}", self.port))
    }
}

fn acceptor() -> TlsAcceptor {
    let key = PrivateKeyDer::try_from(KEY).unwrap();
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![CertificateDer::from(CERTIFICATE)], key)
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec()];
    TlsAcceptor::from(Arc::new(config))
}

/// Says what was asked, or misbehaves as the path says.
async fn answer(
    request: http::Request<Incoming>,
) -> Result<http::Response<Full<Bytes>>, Infallible> {
    let mut response = http::Response::new(Full::default());
    let many = |count: usize| (0..count).map(|n| (format!("x-{n}"), "y".repeat(10)));
    let headers: Vec<_> = match request.uri().path() {
        "/many" => many(129).collect(),
        "/long" => vec![("x-long".to_owned(), "y".repeat(3000))],
        // The same name and value take one byte each after the first.
        "/folded" => vec![("x-long".to_owned(), "y".repeat(3000)); 20],
        _ => Vec::new(),
    };
    for (name, value) in headers {
        let name: http::HeaderName = name.parse().unwrap();
        response.headers_mut().append(name, value.parse().unwrap());
    }
    let text = match request.uri().path() {
        "/silent" => std::future::pending().await,
        "/large" => "x".repeat(1001),
        "/slow" => {
            tokio::time::sleep(Duration::from_millis(200)).await;
            "slow".to_owned()
        }
        _ => {
            let (head, body) = request.into_parts();
            let body = body.collect().await.unwrap().to_bytes();
            let names = head.headers.keys().map(http::HeaderName::as_str);
            let names: Vec<&str> = names.collect();
            format!(
                "{:?} {} {} [{}] {}",
                head.version,
                head.method,
                head.uri,
                names.join(" "),
                String::from_utf8_lossy(&body)
            )
        }
    };
    *response.body_mut() = Full::from(text);
    Ok(response)
}

#[test]
fn a_server_that_offers_it_is_spoken_to_in_http_2() {
    let second = Second::start();
    let request = Request {
        method: "POST".to_owned(),
        headers: vec![("X-One".to_owned(), b"1".to_vec())],
        body: b"body".to_vec(),
        ..second.get("/a?b=c")
    };
    let response = second.client().request(&request).unwrap();
    assert_eq!((response.status, response.reason.as_str()), (200, ""));
    let said = String::from_utf8(response.body).unwrap();
    let port = second.port;
    let expected =
        format!("HTTP/2.0 POST https://tls.example:{port}/a?b=c [x-one content-length] body");
    assert_eq!(
        said, expected,
        "nothing of our own, and no `Host` beside the URL's"
    );
}

#[test]
fn requests_at_the_same_time_share_one_connection() {
    let (second, started) = (Second::start(), std::time::Instant::now());
    let client = second.client();
    client.request(&second.get("/")).unwrap();
    thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| {
                let slow = client.request(&second.get("/slow")).unwrap();
                assert_eq!(slow.body, b"slow");
            });
        }
    });
    assert_eq!(second.connections.load(Ordering::SeqCst), 1);
    assert!(started.elapsed() < Duration::from_secs(3), "not in turn");
}

#[test]
fn limits_hold_and_the_next_request_goes_on() {
    let second = Second::start();
    let client = second.client();
    let too_large = |part, limit| Err(HttpError::TooLarge { part, limit });
    let ask = |path: &str| client.request(&second.get(path));
    for _ in 0..2 {
        assert_eq!(ask("/large"), too_large("body", 1000));
        assert_eq!(ask("/many"), too_large("header count", 128));
        assert_eq!(ask("/long"), too_large("header bytes", 2000));
        // A list that unfolds from a few bytes.
        let folded = ask("/folded");
        assert!(matches!(folded, Err(HttpError::Other { .. })), "{folded:?}");
        let silent = client.request(&Request {
            timeout: Some(Duration::from_millis(150)),
            ..second.get("/silent")
        });
        let limit = Duration::from_millis(150);
        assert_eq!(silent, Err(HttpError::Timeout { limit }));
        assert_eq!(ask("/").unwrap().status, 200);
    }
}

#[test]
fn a_request_can_be_cancelled() {
    let second = Second::start();
    let (client, stop) = (second.client(), AtomicBool::new(false));
    let silent = second.get("/silent");
    thread::scope(|scope| {
        let asking = || client.request_until(&silent, &|| stop.load(Ordering::SeqCst));
        let asking = scope.spawn(asking);
        stop.store(true, Ordering::SeqCst);
        assert_eq!(asking.join().unwrap(), Err(HttpError::Cancelled));
    });
    assert_eq!(client.request(&second.get("/")).unwrap().status, 200);
}

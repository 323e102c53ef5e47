//! A secure server on loopback, and requests to it: through the client, and through the broker.
//!
//! `crates/jp_broker/examples/https_requests.rs` uses it too, to measure without building everything.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use jp_broker::{
    Broker, Caller, Services,
    http::{Client, Options, Request},
};
use jp_policy::{Brokered, Capabilities, Grant, Net, Policy, compose};
use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer},
};
use serde_json::json;

const ROOT: &[u8] = include_bytes!("../../../jp_broker/tests/http/certificates/root.der");
const CERTIFICATE: &[u8] = include_bytes!("../../../jp_broker/tests/http/certificates/server.der");
const KEY: &[u8] = include_bytes!("../../../jp_broker/tests/http/certificates/server-key.der");
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nhi";

/// A server that answers every request, and keeps its connections.
pub(crate) struct Secure {
    address: String,
}

impl Secure {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let key = PrivateKeyDer::try_from(KEY).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![CertificateDer::from(CERTIFICATE)], key)
            .unwrap();
        let config = Arc::new(config);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let config = Arc::clone(&config);
                thread::spawn(move || answer(stream, config));
            }
        });
        Self { address }
    }

    fn url(&self) -> String {
        format!("https://{}/", self.address)
    }

    fn net(&self) -> Net {
        Net::hosts([self.address.parse().unwrap()])
    }

    /// Makes requests with one client, one after the other.
    pub(crate) fn requests(&self, count: usize) -> Duration {
        let client = Client::new(Options {
            net: self.net(),
            extra_roots: vec![ROOT.to_vec()],
            ..Options::default()
        });
        let client = client.unwrap();
        let request = Request {
            method: "GET".to_owned(),
            url: self.url(),
            ..Request::default()
        };
        let started = Instant::now();
        for _ in 0..count {
            assert_eq!(client.request(&request).unwrap().body, b"hi");
        }
        started.elapsed()
    }

    /// Makes requests as a tool does, with `http.request`.
    pub(crate) fn calls(&self, count: usize) -> Duration {
        let mut services = Services::default();
        services.web.extra_roots = vec![ROOT.to_vec()];
        let broker = Broker::new(services);
        let deadline = Instant::now() + Duration::from_secs(600);
        let caller = Caller::new("someone", "probe", Arc::new(self.grant()), deadline);
        let arguments = json!({"method": "GET", "url": self.url()});
        let arguments = arguments.as_object().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let started = Instant::now();
        for _ in 0..count {
            let called = broker.call(&caller, "http.request", arguments);
            assert_eq!(runtime.block_on(called).unwrap().to_value()["text"], "hi");
        }
        started.elapsed()
    }

    fn grant(&self) -> Grant {
        let capabilities = Capabilities {
            net: self.net(),
            brokered: Brokered::new(["http.request".parse().unwrap()]),
            ..Capabilities::default()
        };
        let policy = Policy {
            capabilities: capabilities.clone(),
            ..Policy::default()
        };
        let request = jp_policy::Request {
            capabilities,
            ..jp_policy::Request::default()
        };
        compose(&policy, &policy, &request).unwrap()
    }
}

fn answer(stream: TcpStream, config: Arc<ServerConfig>) {
    let _ = stream.set_nodelay(true);
    let mut stream = StreamOwned::new(ServerConnection::new(config).unwrap(), stream);
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        bytes.extend_from_slice(&buffer[..count]);
        if bytes.ends_with(b"\r\n\r\n") {
            bytes.clear();
            if stream
                .write_all(ANSWER)
                .and_then(|()| stream.flush())
                .is_err()
            {
                return;
            }
        }
    }
}

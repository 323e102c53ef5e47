//! A broker with real services, a tool with a grant, and sites that answer what a test wants.

use std::{
    io::{Read, Write},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use jp_broker::{
    Broker, CallError, Caller, FileVault, LogSink, Secret, SecretStore, SecretValue, Services,
    VaultPaths,
};
use jp_policy::{Brokered, Capabilities, Grant, Net, Policy, Request, compose};
use jp_tool::GivenBlobs;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::server::{Server, read_request};

pub(crate) const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

/// What a tool may do.
pub(crate) fn grant(calls: &[&str], net: Net) -> Grant {
    let capabilities = Capabilities {
        net,
        brokered: Brokered::new(calls.iter().map(|call| call.parse().unwrap())),
        ..Capabilities::default()
    };
    let policy = Policy {
        capabilities: capabilities.clone(),
        ..Policy::default()
    };
    let request = Request {
        capabilities,
        ..Request::default()
    };
    compose(&policy, &policy, &request).unwrap()
}

pub(crate) fn hosts(hosts: &[&str]) -> Net {
    Net::hosts(hosts.iter().map(|host| host.parse().unwrap()))
}

/// A tool at work: what it may do, and what the host has for it.
pub(crate) struct Desk {
    pub(crate) services: Services,
    pub(crate) grant: Grant,
    pub(crate) time: Duration,
    pub(crate) cancel: CancellationToken,
    dir: tempfile::TempDir,
    pub(crate) given: Option<Arc<GivenBlobs>>,
}

impl Desk {
    pub(crate) fn new(calls: &[&str], granted: &[&str]) -> Self {
        Self {
            services: Services::default(),
            given: None,
            grant: grant(calls, hosts(granted)),
            time: Duration::from_secs(30),
            cancel: CancellationToken::new(),
            dir: tempfile::tempdir().unwrap(),
        }
    }

    /// Returns where the store of this desk keeps its files.
    pub(crate) fn paths(&self) -> VaultPaths {
        paths(self.dir.path())
    }

    /// Stores a secret in a real vault.
    pub(crate) fn with_secret(self, name: &str, value: &str, audience: &[&str]) -> Self {
        self.with(secret(name, value, audience))
    }

    pub(crate) fn with(mut self, secret: Secret) -> Self {
        let vault = Arc::new(FileVault::new(self.paths()).unwrap());
        let store = self.services.secrets.take();
        let store = store.unwrap_or_else(|| Arc::new(SecretStore::new(vault)));
        store.set(&secret).unwrap();
        self.services.secrets = Some(store);
        self
    }

    pub(crate) fn call(&self, name: &str, arguments: Value) -> Result<Value, CallError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(self.call_async(name, &arguments))
    }

    pub(crate) async fn call_async(
        &self,
        name: &str,
        arguments: &Value,
    ) -> Result<Value, CallError> {
        let grant = Arc::new(self.grant.clone());
        let caller = Caller {
            cancel: self.cancel.clone(),
            given: self.given.clone(),
            ..Caller::new("someone", "probe", grant, Instant::now() + self.time)
        };
        let broker = Broker::new(self.services.clone());
        broker
            .call(&caller, name, arguments.as_object().unwrap())
            .await
            .map(|answer| answer.to_value())
    }

    /// Makes an `http.request`.
    pub(crate) fn request(&self, arguments: Value) -> Result<Value, CallError> {
        self.call("http.request", arguments)
    }

    /// Asks a URL and returns the code of the failure.
    pub(crate) fn refusal(&self, arguments: Value) -> (&'static str, String) {
        let error = self.request(arguments).unwrap_err();
        (error.code.as_str(), error.message)
    }
}

pub(crate) fn paths(dir: &std::path::Path) -> VaultPaths {
    VaultPaths {
        secrets: dir.join("data/secrets"),
        key: dir.join("keys/secrets.key"),
    }
}

pub(crate) fn secret(name: &str, value: &str, audience: &[&str]) -> Secret {
    Secret {
        name: name.parse().unwrap(),
        value: SecretValue::new(value.into()).unwrap(),
        audience: audience.iter().map(|text| text.parse().unwrap()).collect(),
        reveal: false,
        created: 1,
    }
}

/// A server that answers each request by what stands in it, and remembers it.
pub(crate) struct Site {
    pub(crate) server: Server,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Site {
    pub(crate) fn new(answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self::over(|stream| stream, answer)
    }

    /// Serves over what `open` makes of a connection.
    pub(crate) fn over<S: Read + Write>(
        open: impl Fn(std::net::TcpStream) -> S + Send + Sync + 'static,
        answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
        let seen: Arc<Mutex<Vec<String>>> = Arc::default();
        let remembered = Arc::clone(&seen);
        let server = Server::raw(move |stream| {
            let mut stream = open(stream);
            let request = read_request(&mut stream);
            if request.is_empty() {
                return;
            }
            let answer = closing(&answer(&request));
            remembered.lock().unwrap().push(request);
            let _ = stream.write_all(&answer);
            let _ = stream.flush();
        });
        Self { server, seen }
    }

    pub(crate) fn saying(answer: impl Into<Vec<u8>>) -> Self {
        let answer = answer.into();
        Self::new(move |_| answer.clone())
    }

    /// Sends everything to another place.
    pub(crate) fn redirecting(status: u16, location: impl Into<String>) -> Self {
        let location = location.into();
        Self::saying(format!(
            "HTTP/1.1 {status} Elsewhere\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n"
        ))
    }

    /// Sends each request back as text.
    pub(crate) fn echoing() -> Self {
        Self::new(|request| body("text/plain", request))
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.server.grant())
    }

    pub(crate) fn grant(&self) -> String {
        self.server.grant()
    }

    pub(crate) fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

/// Says in an answer what this server does after it.
fn closing(answer: &[u8]) -> Vec<u8> {
    let line = answer.windows(2).position(|two| two == b"\r\n");
    let (line, rest) = answer.split_at(line.unwrap_or(answer.len()));
    [line, b"\r\nConnection: close", rest].concat()
}

/// Makes a response of a body.
pub(crate) fn body(kind: &str, text: impl AsRef<[u8]>) -> Vec<u8> {
    let text = text.as_ref();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n",
        text.len()
    );
    [head.as_bytes(), text].concat()
}

/// Keeps the lines of a log.
#[derive(Default)]
pub(crate) struct Lines(pub(crate) Mutex<Vec<String>>);

impl LogSink for Lines {
    fn emit(&self, user: &str, tool: &str, level: &str, event: &str) {
        let line = format!("{user} {tool} {level} {event}");
        self.0.lock().unwrap().push(line);
    }
}

/// Makes a desk whose tool may make requests to these hosts.
pub(crate) fn desk(granted: &[&str]) -> Desk {
    Desk::new(&["http.request"], granted)
}

/// Makes the arguments of a plain request.
pub(crate) fn get(url: impl Into<String>) -> Value {
    json!({"method": "GET", "url": url.into()})
}

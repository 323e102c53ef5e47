//! Real servers on loopback, resolvers that say what a test wants, and clients with a given grant.

use std::{
    io::{self, Read, Write},
    net::{IpAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use jp_broker::http::{Client, HttpError, Limits, Options, Request, Resolve, Response};
use jp_policy::Net;

/// A server with one behaviour for every connection.
pub(crate) struct Server {
    pub(crate) port: u16,
    requests: mpsc::Receiver<String>,
}

impl Server {
    /// Serves on 127.0.0.1; `behave` gets each connection before anything was read from it.
    pub(crate) fn raw(behave: impl Fn(TcpStream) + Send + Sync + 'static) -> Self {
        Self::on("127.0.0.1", move |stream, _| behave(stream))
    }

    /// Serves on 127.0.0.1; reads each request, then sends `answer`.
    pub(crate) fn answering(answer: impl Into<Vec<u8>>) -> Self {
        Self::answering_on("127.0.0.1", answer)
    }

    /// Serves on another address of this machine; reads each request, then sends `answer`.
    pub(crate) fn answering_on(address: &str, answer: impl Into<Vec<u8>>) -> Self {
        let answer = answer.into();
        Self::on(address, move |mut stream, requests| {
            let _ = requests.send(read_request(&mut stream));
            let _ = stream.write_all(&answer);
        })
    }

    fn on(
        address: &str,
        behave: impl Fn(TcpStream, mpsc::Sender<String>) + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind((address, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, requests) = mpsc::channel();
        let behave = Arc::new(behave);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (behave, sender) = (Arc::clone(&behave), sender.clone());
                thread::spawn(move || behave(stream, sender));
            }
        });
        Self { port, requests }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// Returns the grant of this server's address and port.
    pub(crate) fn grant(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Returns the next request that came in.
    pub(crate) fn request(&self) -> String {
        self.requests.recv_timeout(Duration::from_secs(10)).unwrap()
    }

    pub(crate) fn had_no_request(&self) -> bool {
        self.requests.try_recv().is_err()
    }
}

/// Reads one request with its body.
pub(crate) fn read_request(stream: &mut impl Read) -> String {
    let (mut bytes, mut byte) = (Vec::new(), [0]);
    while !bytes.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|count| count == 1) {
        bytes.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&bytes).into_owned();
    let length = head.split("Content-Length: ").nth(1).map_or(0, |rest| {
        rest.split("\r\n").next().unwrap().parse().unwrap()
    });
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    head + &String::from_utf8_lossy(&body)
}

/// Answers the given addresses in turn, then the last one for ever, and counts the questions.
pub(crate) struct Names {
    answers: Vec<Vec<IpAddr>>,
    pub(crate) asked: AtomicUsize,
}

impl Names {
    /// Each item is one answer: addresses with spaces between them.
    pub(crate) fn answering(answers: &[&str]) -> Arc<Self> {
        let parse = |answer: &&str| {
            let addresses = answer.split_whitespace();
            addresses.map(|address| address.parse().unwrap()).collect()
        };
        Arc::new(Self {
            answers: answers.iter().map(parse).collect(),
            asked: AtomicUsize::new(0),
        })
    }
}

impl Resolve for Names {
    fn resolve(&self, _host: &str) -> io::Result<Vec<IpAddr>> {
        let turn = self.asked.fetch_add(1, Ordering::SeqCst);
        let answer = self.answers.get(turn).or(self.answers.last());
        answer
            .cloned()
            .ok_or_else(|| io::Error::other("no such name"))
    }
}

/// Makes options with a grant of these hosts and limits small enough for tests.
pub(crate) fn options(hosts: &[&str]) -> Options {
    Options {
        net: Net::hosts(hosts.iter().map(|host| host.parse().unwrap())),
        limits: Limits {
            max_body: 1000,
            max_header_bytes: 2000,
            timeout: Duration::from_secs(10),
        },
        ..Options::default()
    }
}

/// Makes a client with a grant of these hosts.
pub(crate) fn client(hosts: &[&str]) -> Client {
    Client::new(options(hosts)).unwrap()
}

pub(crate) fn get(url: &str) -> Request {
    Request {
        method: "GET".to_owned(),
        url: url.to_owned(),
        ..Request::default()
    }
}

/// Asks a server that is granted by its address.
pub(crate) fn ask(server: &Server) -> Result<Response, HttpError> {
    client(&[&server.grant()]).request(&get(&server.url()))
}

pub(crate) fn denied(host: &str, setting: &str) -> Result<Response, HttpError> {
    Err(HttpError::Denied {
        host: host.to_owned(),
        setting: setting.to_owned(),
    })
}

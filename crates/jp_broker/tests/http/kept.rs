//! Connections that are kept: used again by their owner, and by nobody else.

use std::{
    io::{Read, Write},
    net::TcpListener,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use crate::server::{Names, Server, client, get, options, read_request};
use jp_broker::http::{Client, Clients, HttpError, Options, Owner, Request, Resolve};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

/// A server that keeps its connections, and counts them.
pub(crate) struct Keeper {
    pub(crate) port: u16,
    connections: Arc<AtomicUsize>,
    pub(crate) requests: Arc<Mutex<Vec<String>>>,
}

impl Keeper {
    pub(crate) fn start() -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").unwrap(), |_| {
            Some(OK.into())
        })
    }

    /// Answers each request; closes the connection instead where there is no answer.
    fn on(
        listener: TcpListener,
        answer: impl Fn(&str) -> Option<Vec<u8>> + Send + Sync + 'static,
    ) -> Self {
        let keeper = Self {
            port: listener.local_addr().unwrap().port(),
            connections: Arc::default(),
            requests: Arc::default(),
        };
        let connections = Arc::clone(&keeper.connections);
        let (requests, answer) = (Arc::clone(&keeper.requests), Arc::new(answer));
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                connections.fetch_add(1, Ordering::SeqCst);
                let (requests, answer) = (Arc::clone(&requests), Arc::clone(&answer));
                thread::spawn(move || {
                    loop {
                        let request = read_request(&mut stream);
                        if request.is_empty() {
                            return;
                        }
                        requests.lock().unwrap().push(request.clone());
                        let Some(answer) = answer(&request) else {
                            return;
                        };
                        let _ = stream.write_all(&answer);
                    }
                });
            }
        });
        keeper
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    fn grant(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }
}

fn listener() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").unwrap()
}

#[test]
fn one_connection_serves_many_requests() {
    let keeper = Keeper::start();
    let client = client(&[&keeper.grant()]);
    let post = Request {
        method: "POST".to_owned(),
        body: b"body".to_vec(),
        ..get(&keeper.url())
    };
    for request in [get(&keeper.url()), post].iter().cycle().take(20) {
        assert_eq!(client.request(request).unwrap().body, b"hi");
    }
    assert_eq!(keeper.connections(), 1);
}

#[test]
fn principals_tools_and_grants_never_share_a_connection() {
    let keeper = Keeper::start();
    let clients = Clients::default();
    let resolver: Arc<dyn Resolve> = Names::answering(&[]);
    let owner = |user: &str, tool: &str| Owner {
        user: user.to_owned(),
        tool: tool.to_owned(),
    };
    let ask = |owner: &Owner, options: Options| {
        let client = clients.client(owner, options, &resolver).unwrap();
        client.request(&get(&keeper.url())).unwrap();
        keeper.connections()
    };
    let grant = keeper.grant();
    let usual = || options(&[&grant]);
    assert_eq!(ask(&owner("a", "t"), usual()), 1);
    assert_eq!(ask(&owner("a", "t"), usual()), 1, "the same one");
    assert_eq!(ask(&owner("b", "t"), usual()), 2, "another principal");
    assert_eq!(ask(&owner("a", "u"), usual()), 3, "another tool");
    let wider = options(&[&grant, "other.example"]);
    assert_eq!(ask(&owner("a", "t"), wider), 4, "another grant");
    let private = Options {
        private: true,
        ..usual()
    };
    assert_eq!(ask(&owner("a", "t"), private), 5, "private addresses");
    let root = include_bytes!("certificates/root.der").to_vec();
    let trusting = Options {
        extra_roots: vec![root],
        ..usual()
    };
    assert_eq!(ask(&owner("a", "t"), trusting), 6, "other roots");
    assert_eq!(ask(&owner("a", "t"), usual()), 6, "the first one");
}

#[test]
fn the_limits_of_a_request_hold_on_a_connection_that_was_made_with_others() {
    let keeper = Keeper::start();
    let (clients, resolver) = (Clients::default(), Names::answering(&[]));
    let resolver: Arc<dyn Resolve> = resolver;
    let owner = Owner {
        user: "a".to_owned(),
        tool: "t".to_owned(),
    };
    let with = |max_body| {
        let mut options = options(&[&keeper.grant()]);
        options.limits.max_body = max_body;
        let client = clients.client(&owner, options, &resolver).unwrap();
        client.request(&get(&keeper.url()))
    };
    assert_eq!(with(10).unwrap().body, b"hi");
    let part = "body";
    assert_eq!(with(1), Err(HttpError::TooLarge { part, limit: 1 }));
    assert_eq!(with(10).unwrap().body, b"hi");
}

#[test]
fn every_request_is_checked_also_where_a_connection_is_kept() {
    let first = Keeper::start();
    let second = TcpListener::bind(("127.0.0.2", first.port)).unwrap();
    let second = Keeper::on(second, |_| Some(OK.into()));
    let names = Names::answering(&["127.0.0.1", "127.0.0.1", "127.0.0.2", "10.0.0.1"]);
    let hosts = ["a.example", "127.0.0.1", "127.0.0.2"];
    let client = Client::with_resolver(options(&hosts), names.clone()).unwrap();
    let request = get(&format!("http://a.example:{}/", first.port));
    client.request(&request).unwrap();
    client.request(&request).unwrap();
    assert_eq!((first.connections(), second.connections()), (1, 0));
    client.request(&request).unwrap();
    assert_eq!((first.connections(), second.connections()), (1, 1));
    let found = client.request(&request);
    assert!(matches!(found, Err(HttpError::Denied { .. })), "{found:?}");
    assert_eq!(names.asked.load(Ordering::SeqCst), 4);
}

#[test]
fn a_connection_that_was_closed_in_the_meantime_is_replaced() {
    // It closes after each answer, and does not say so.
    let server = Server::answering(OK);
    let client = client(&[&server.grant()]);
    for _ in 0..50 {
        assert_eq!(client.request(&get(&server.url())).unwrap().body, b"hi");
    }
}

#[test]
fn only_what_may_be_repeated_is_sent_again() {
    let asked = |method: &str| {
        let count = AtomicUsize::new(0);
        // The second request of a connection is read, and not answered.
        let keeper = Keeper::on(listener(), move |_| {
            let turn = count.fetch_add(1, Ordering::SeqCst);
            (turn != 1).then(|| OK.into())
        });
        let client = client(&[&keeper.grant()]);
        client.request(&get(&keeper.url())).unwrap();
        let request = Request {
            method: method.to_owned(),
            ..get(&keeper.url())
        };
        let found = client.request(&request);
        let requests = keeper.requests.lock().unwrap();
        (found.map(|response| response.status), requests.len())
    };
    assert_eq!(asked("GET"), (Ok(200), 3));
    assert_eq!(asked("DELETE"), (Ok(200), 3));
    for method in ["POST", "PATCH"] {
        let (found, requests) = asked(method);
        assert!(matches!(found, Err(HttpError::Other { .. })), "{found:?}");
        assert_eq!(requests, 2, "{method}");
    }
}

#[test]
fn an_answer_to_nothing_is_not_taken_for_the_next_one() {
    let twice = format!("{OK}HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil");
    let keeper = Keeper::on(listener(), move |request| {
        match request.contains("/first") {
            true => Some(twice.clone().into()),
            false => Some(OK.into()),
        }
    });
    let client = client(&[&keeper.grant()]);
    for _ in 0..10 {
        let first = client.request(&get(&(keeper.url() + "first"))).unwrap();
        let next = client.request(&get(&keeper.url())).unwrap();
        assert_eq!((first.body, next.body), (b"hi".to_vec(), b"hi".to_vec()));
    }
}

#[test]
fn a_connection_with_an_unread_body_is_not_used_again() {
    let large = format!(
        "HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n{}",
        "x".repeat(1001)
    );
    let keeper = Keeper::on(listener(), move |request| {
        match request.contains("/large") {
            true => Some(large.clone().into()),
            false => Some(OK.into()),
        }
    });
    let client = client(&[&keeper.grant()]);
    let found = client.request(&get(&(keeper.url() + "large")));
    let (part, limit) = ("body", 1000);
    assert_eq!(found, Err(HttpError::TooLarge { part, limit }));
    assert_eq!(client.request(&get(&keeper.url())).unwrap().body, b"hi");
    assert_eq!(keeper.connections(), 2);
}

#[test]
fn a_server_that_says_so_gets_a_new_connection() {
    let closing = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi";
    let keeper = Keeper::on(listener(), move |_| Some(closing.into()));
    let client = client(&[&keeper.grant()]);
    for _ in 0..3 {
        client.request(&get(&keeper.url())).unwrap();
    }
    assert_eq!(keeper.connections(), 3);
}

#[test]
fn kept_connections_are_closed_with_their_client() {
    let (sender, closed) = std::sync::mpsc::channel();
    let server = Server::raw(move |mut stream| {
        read_request(&mut stream);
        let _ = stream.write_all(OK.as_bytes());
        let _ = stream.read(&mut [0]);
        let _ = sender.send(());
    });
    let client = client(&[&server.grant()]);
    client.request(&get(&server.url())).unwrap();
    assert!(closed.try_recv().is_err());
    drop(client);
    let patience = std::time::Duration::from_secs(300);
    closed.recv_timeout(patience).unwrap();
}

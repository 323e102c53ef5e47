//! Servers on loopback that behave as a test tells them.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

/// A request, as a server sees it.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) head: String,
}

impl Asked {
    /// Returns the first byte of a `Range`, or 0.
    pub(crate) fn from(&self) -> usize {
        let range = self.head.split("Range: bytes=").nth(1);
        range.map_or(0, |rest| rest.split('-').next().unwrap().parse().unwrap())
    }
}

/// A server with one behaviour.
pub(crate) struct Web {
    port: u16,
    seen: Arc<Mutex<Vec<Asked>>>,
}

impl Web {
    /// Hands each connection to `behave`, after its request was read.
    pub(crate) fn raw(behave: impl Fn(&Asked, TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let (log, behave) = (Arc::clone(&seen), Arc::new(behave));
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let (log, behave) = (Arc::clone(&log), Arc::clone(&behave));
                thread::spawn(move || {
                    let (mut bytes, mut byte) = (Vec::new(), [0]);
                    while !bytes.ends_with(b"\r\n\r\n")
                        && stream.read(&mut byte).is_ok_and(|count| count == 1)
                    {
                        bytes.push(byte[0]);
                    }
                    let head = String::from_utf8_lossy(&bytes).into_owned();
                    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                    let asked = Asked { path, head };
                    log.lock().unwrap().push(asked.clone());
                    behave(&asked, stream);
                });
            }
        });
        Self { port, seen }
    }

    /// Answers each request with bytes.
    pub(crate) fn new(behave: impl Fn(&Asked) -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self::raw(move |asked, mut stream| {
            let _ = stream.write_all(&behave(asked));
        })
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub(crate) fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Returns the paths that were asked for so far.
    pub(crate) fn seen(&self) -> Vec<Asked> {
        self.seen.lock().unwrap().clone()
    }
}

/// Makes a response of a status line, with more headers after it if need be, and a body.
pub(crate) fn answer(status: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

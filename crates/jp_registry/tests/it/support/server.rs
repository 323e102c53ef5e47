//! A server that lies as it is told to, and otherwise serves the files of a registry.

use std::{
    collections::HashMap,
    fs,
    io::{BufRead as _, BufReader, Write},
    net::{TcpListener, TcpStream},
    path::PathBuf,
    sync::{Arc, Mutex},
    thread,
};

use jp_registry::{Source, StaticSource};

use super::http::Plain;

/// What a server answers for one path.
#[derive(Clone)]
pub(crate) enum Reply {
    /// These bytes.
    Bytes(Vec<u8>),
    /// Half of these bytes, with the length of all of them.
    Half(Vec<u8>),
    /// Zeros, without an end or a length.
    Endless,
    /// Go elsewhere.
    Redirect(String),
    /// Nothing but a status.
    Status(u16),
    /// One after the other, and the last one again and again.
    InTurn(Vec<Reply>),
}

type Replies = Arc<Mutex<HashMap<String, Reply>>>;

/// A server of this process, on a port of its own.
pub(crate) struct Server {
    pub(crate) url: String,
    replies: Replies,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Serves the files below a directory.
    pub(crate) fn new(dir: PathBuf) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let replies = Replies::default();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (ours, seen) = (replies.clone(), asked.clone());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (dir, replies, seen) = (dir.clone(), ours.clone(), seen.clone());
                thread::spawn(move || answer(stream, &dir, &replies, &seen));
            }
        });
        Self {
            url,
            replies,
            asked,
        }
    }

    /// Makes the server answer a path in another way.
    pub(crate) fn lie(&self, path: &str, reply: Reply) {
        self.replies.lock().unwrap().insert(path.to_owned(), reply);
    }

    /// Makes the server honest again.
    pub(crate) fn repent(&self) {
        self.replies.lock().unwrap().clear();
    }

    /// Returns the paths it was asked for.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    pub(crate) fn source(&self) -> Box<dyn Source> {
        Box::new(StaticSource::at_url(&self.url, Arc::new(Plain)).unwrap())
    }
}

fn answer(
    mut stream: TcpStream,
    dir: &std::path::Path,
    replies: &Mutex<HashMap<String, Reply>>,
    seen: &Mutex<Vec<String>>,
) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.trim_start_matches('/').to_owned();
    let mut from = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        if let Some(range) = header.strip_prefix("Range: bytes=") {
            from = range.trim().trim_end_matches('-').parse().ok()?;
        }
        if header.trim().is_empty() {
            break;
        }
    }
    seen.lock().ok()?.push(path.clone());
    let told = next(&mut *replies.lock().ok()?, &path);
    let reply = told.unwrap_or_else(|| match fs::read(dir.join(&path)) {
        Ok(bytes) => Reply::Bytes(bytes),
        Err(_) => Reply::Status(404),
    });
    send(&mut stream, reply, from)
}

fn next(replies: &mut HashMap<String, Reply>, path: &str) -> Option<Reply> {
    match replies.get_mut(path)? {
        Reply::InTurn(list) if list.len() > 1 => Some(list.remove(0)),
        Reply::InTurn(list) => list.first().cloned(),
        reply => Some(reply.clone()),
    }
}

fn send(stream: &mut TcpStream, reply: Reply, from: usize) -> Option<()> {
    let ok = if from > 0 { 206 } else { 200 };
    let head = |status: u16, rest: &str| format!("HTTP/1.1 {status} x\r\n{rest}\r\n\r\n");
    match reply {
        Reply::Bytes(bytes) => {
            let rest = bytes.get(from..).unwrap_or_default();
            let range = format!(
                "Content-Range: bytes {from}-{}/{}",
                bytes.len().max(1) - 1,
                bytes.len()
            );
            let length = format!("Content-Length: {}\r\n{range}", rest.len());
            stream.write_all(head(ok, &length).as_bytes()).ok()?;
            stream.write_all(rest).ok()
        }
        Reply::Half(bytes) => {
            let length = format!("Content-Length: {}", bytes.len());
            stream.write_all(head(ok, &length).as_bytes()).ok()?;
            stream.write_all(bytes.get(..bytes.len() / 2)?).ok()
        }
        Reply::Endless => {
            stream.write_all(head(ok, "X: y").as_bytes()).ok()?;
            loop {
                stream.write_all(&[0; 64 * 1024]).ok()?;
            }
        }
        Reply::Redirect(to) => {
            let to = format!("Location: {to}\r\nContent-Length: 0");
            stream.write_all(head(302, &to).as_bytes()).ok()
        }
        Reply::Status(status) => {
            let empty = "Content-Length: 0";
            stream.write_all(head(status, empty).as_bytes()).ok()
        }
        Reply::InTurn(_) => None,
    }
}

//! Where a browser comes back to after a login: one address of this machine, open while somebody waits.
//!
//! Anybody on this machine can connect to it. What they bring counts only if the waiting side says that it
//! is meant for it, and all else is answered with a refusal.

use std::{io, net::Ipv4Addr, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};
use url::form_urlencoded;

/// The path of the address.
const PATH: &str = "/callback";

/// The largest request that is read.
const MAX_REQUEST: usize = 16 * 1024;

/// Connections at once. Browsers open some that they never use.
const MAX_CONNECTIONS: usize = 16;

/// How long one may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(10);

const WELCOME: &str = "<!doctype html><title>jp</title><p>jp goes on from here. You can close this page and go back to the terminal.";
const REFUSAL: &str = "<!doctype html><title>jp</title><p>jp did not ask for this.";

/// What came with a request, by name.
pub type Query = Vec<(String, String)>;

/// An address that a browser can be sent to.
pub struct Callback {
    listener: TcpListener,
    uri: String,
}

impl Callback {
    /// Opens an address.
    ///
    /// # Errors
    ///
    /// What the system said.
    pub async fn open() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        let uri = format!("http://127.0.0.1:{port}{PATH}");
        Ok(Self { listener, uri })
    }

    /// Returns the address.
    #[must_use]
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// Waits for the request that is meant for this address.
    ///
    /// # Errors
    ///
    /// What the system said.
    pub async fn wait(self, is_meant: impl Fn(&Query) -> bool) -> io::Result<Query> {
        let mut heard = JoinSet::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept(), if heard.len() < MAX_CONNECTIONS => {
                    let (stream, _) = accepted?;
                    heard.spawn(tokio::time::timeout(PATIENCE, read(stream)));
                }
                Some(done) = heard.join_next() => {
                    let Ok(Ok(Some((query, mut stream)))) = done else {
                        continue;
                    };
                    let is_meant = is_meant(&query);
                    let (status, page) = match is_meant {
                        true => ("200 OK", WELCOME),
                        false => ("400 Bad Request", REFUSAL),
                    };
                    let answered = answer(&mut stream, status, page);
                    // Whether the browser reads it changes nothing.
                    let _ = tokio::time::timeout(PATIENCE, answered).await;
                    if is_meant {
                        return Ok(query);
                    }
                }
            }
        }
    }
}

/// Reads what a browser brings; nothing when it is something else.
async fn read(mut stream: TcpStream) -> Option<(Query, TcpStream)> {
    let mut bytes = Vec::new();
    let mut piece = [0; 1024];
    while !bytes.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = stream.read(&mut piece).await.ok()?;
        if count == 0 || bytes.len() > MAX_REQUEST {
            return None;
        }
        bytes.extend_from_slice(piece.get(..count)?);
    }
    let query = query(&bytes);
    if query.is_none() {
        let _ = answer(&mut stream, "404 Not Found", REFUSAL).await;
    }
    Some((query?, stream))
}

fn query(request: &[u8]) -> Option<Query> {
    let head = std::str::from_utf8(request).ok()?;
    let target = head.strip_prefix("GET ")?.split(' ').next()?;
    let query = target.strip_prefix(PATH)?.strip_prefix('?')?;
    Some(
        form_urlencoded::parse(query.as_bytes())
            .into_owned()
            .collect(),
    )
}

async fn answer(stream: &mut TcpStream, status: &str, page: &str) -> io::Result<()> {
    let length = page.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {length}\r\n\
         Content-Security-Policy: default-src 'none'\r\nReferrer-Policy: no-referrer\r\n\
         Cache-Control: no-store\r\nConnection: close\r\n\r\n"
    );
    stream.write_all((head + page).as_bytes()).await?;
    stream.shutdown().await
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn get(uri: &str, path: &str) -> String {
        let authority = uri.split('/').nth(2).unwrap();
        let mut stream = TcpStream::connect(authority).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: {authority}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn only_what_is_meant_ends_the_waiting() {
        let callback = Callback::open().await.unwrap();
        let uri = callback.uri().to_owned();
        let idle = TcpStream::connect(uri.split('/').nth(2).unwrap())
            .await
            .unwrap();
        let visits = async {
            assert!(get(&uri, "/favicon.ico").await.starts_with("HTTP/1.1 404"));
            assert!(get(&uri, "/callback").await.starts_with("HTTP/1.1 404"));
            let forged = get(&uri, "/callback?state=other&code=x").await;
            assert!(forged.starts_with("HTTP/1.1 400"), "{forged}");
            get(&uri, "/callback?state=s&code=a%20b").await
        };
        let wait = callback.wait(|query| query.contains(&("state".into(), "s".into())));
        let (heard, answer) = tokio::join!(wait, visits);
        let code = ("code".to_owned(), "a b".to_owned());
        assert!(heard.unwrap().contains(&code) && answer.starts_with("HTTP/1.1 200"));
        drop(idle);
    }
}

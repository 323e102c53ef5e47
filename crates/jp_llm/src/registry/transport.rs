//! Adapter: how registries are reached, through the one HTTP client of the product.
//!
//! Everything public may be fetched, since artifacts lie wherever a manifest says and are checked
//! against it. This machine and the networks behind it are out of reach, except for a registry that
//! the user's own configuration puts there.

use std::io::{self, Write};

use jp_broker::{
    Downloader, Wanted,
    http::{Bounds, DownloadError, HttpError, Options, locate},
};
use jp_policy::Net;
use jp_registry::{FetchError, Get, Got, Transport};
use tokio_util::sync::CancellationToken;

/// Makes the requests of one registry.
pub struct DownloadTransport {
    /// The registry's own place, if it is on this machine or at a literal address.
    own: Option<(String, Downloader)>,
    public: Downloader,
    cancel: CancellationToken,
}

impl DownloadTransport {
    /// Makes the transport of a registry at a URL of the user's configuration. `cancel` ends what is
    /// under way.
    ///
    /// # Errors
    ///
    /// When the URL is none, or no secure connections can be made at all.
    pub fn new(url: &str, cancel: CancellationToken) -> Result<Self, FetchError> {
        let failed = |error: HttpError| FetchError::Invalid {
            what: url.to_owned(),
            reason: error.to_string(),
        };
        let authority = locate(url).map_err(failed)?.authority;
        let own = match is_local(&authority) {
            false => None,
            true => {
                let host = authority.parse().map_err(|_| FetchError::Invalid {
                    what: url.to_owned(),
                    reason: "it has no host that could be granted".to_owned(),
                })?;
                let options = Options {
                    net: Net::hosts([host]),
                    private: true,
                    ..Options::default()
                };
                let own = Downloader::new(options, Bounds::default()).map_err(failed)?;
                Some((authority, own))
            }
        };
        let options = Options {
            net: Net::Any,
            ..Options::default()
        };
        Ok(Self {
            own,
            public: Downloader::new(options, Bounds::default()).map_err(failed)?,
            cancel,
        })
    }

    /// Chooses who makes a request: the registry's own place is reached by that name only.
    fn downloader(&self, url: &str) -> &Downloader {
        match (&self.own, locate(url)) {
            (Some((authority, own)), Ok(location)) if location.authority == *authority => own,
            _ => &self.public,
        }
    }
}

/// Tells whether an authority names this machine, or an address instead of a host.
fn is_local(authority: &str) -> bool {
    let host = authority
        .rsplit_once(':')
        .map_or(authority, |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok()
}

impl Transport for DownloadTransport {
    fn get(&self, get: &Get<'_>, sink: &mut dyn Write) -> Result<Got, FetchError> {
        let wanted = Wanted {
            url: get.url,
            from: get.from,
            max: get.max,
            headers: get.headers,
            same_origin: get.same_origin,
        };
        let stop = || self.cancel.is_cancelled();
        let done = self.downloader(get.url).get(&wanted, sink, &stop);
        let done = done.map_err(|error| translate(get, error))?;
        let text = |(name, value): (String, Vec<u8>)| Some((name, String::from_utf8(value).ok()?));
        Ok(Got {
            status: done.head.status,
            written: done.written,
            headers: done.head.headers.into_iter().filter_map(text).collect(),
        })
    }
}

fn translate(get: &Get<'_>, error: DownloadError) -> FetchError {
    let url = || get.url.to_owned();
    let unreachable = |reason: String| FetchError::Unreachable {
        from: url(),
        reason,
    };
    match error {
        DownloadError::Http(HttpError::Cancelled) => FetchError::Cancelled,
        DownloadError::Http(error @ (HttpError::Denied { .. } | HttpError::Refused { .. })) => {
            FetchError::Denied {
                url: url(),
                reason: error.to_string(),
            }
        }
        DownloadError::Http(error @ HttpError::Invalid { .. }) => FetchError::Invalid {
            what: url(),
            reason: error.to_string(),
        },
        DownloadError::TooLarge { limit } => FetchError::TooLarge {
            what: url(),
            max: limit,
        },
        DownloadError::Redirected { reason } => FetchError::Redirected {
            from: url(),
            reason,
        },
        // The server sent another part than was asked for; nobody's disk is to blame.
        DownloadError::Receiver(error) if error.kind() == io::ErrorKind::InvalidData => {
            FetchError::Invalid {
                what: url(),
                reason: error.to_string(),
            }
        }
        DownloadError::Receiver(source) => FetchError::Io {
            action: format!("keep what came from {}", get.url),
            source,
        },
        other => unreachable(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{BufRead, BufReader},
        net::TcpListener,
        thread,
    };

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
}

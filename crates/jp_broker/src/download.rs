//! Files from the network for the host itself: redirects followed with care, and downloads resumed.
//!
//! Every hop passes the client's gate: what its grant does not cover is not reached, and no private
//! address unless it is granted literally. Knows nothing of registries.

use std::{
    io::{self, Write},
    sync::Arc,
};

use crate::http::{
    Bounds, Client, DownloadError, HttpError, Options, Receive, Request, Resolve, Response,
    SystemResolver, Take, locate, redirect_target,
};

/// More redirects are an error.
const MAX_REDIRECTS: usize = 5;

/// A file to fetch.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// An absolute `http` or `https` URL.
    pub url: &'a str,
    /// The first byte that is wanted; more than 0 asks with `Range`.
    pub from: u64,
    /// The most bytes that may arrive.
    pub max: u64,
    /// Headers to send; they stay with the origin of `url`.
    pub headers: &'a [(&'a str, &'a str)],
    /// Whether a redirect to another origin is refused. Otherwise it is followed to `https`.
    pub same_origin: bool,
}

/// How the last server answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Downloaded {
    /// The response, without its body.
    pub head: Response,
    /// How many bytes were written.
    pub written: u64,
}

/// Fetches files.
pub struct Downloader {
    client: Client,
    bounds: Bounds,
}

impl Downloader {
    /// Makes a downloader that asks the system's resolver for names.
    ///
    /// # Errors
    /// [`HttpError::Tls`] if one of the extra roots is not a valid certificate.
    pub fn new(options: Options, bounds: Bounds) -> Result<Self, HttpError> {
        Self::with_resolver(options, bounds, Arc::new(SystemResolver))
    }

    /// Makes a downloader that asks `resolver` for names; what it answers is checked all the same.
    ///
    /// # Errors
    /// [`HttpError::Tls`] if one of the extra roots is not a valid certificate.
    pub fn with_resolver(
        options: Options,
        bounds: Bounds,
        resolver: Arc<dyn Resolve>,
    ) -> Result<Self, HttpError> {
        let client = Client::with_resolver(options, resolver)?;
        Ok(Self { client, bounds })
    }

    /// Fetches a file and writes it to `sink` as it arrives.
    ///
    /// Only what was asked for is written: the body of a 200 when `from` is 0, or of a 206 that
    /// begins at exactly `from`. The body of any other answer is not read, and its status tells.
    ///
    /// # Errors
    /// See [`DownloadError`]; a status of 400 and more is not an error.
    pub fn get(
        &self,
        wanted: &Wanted<'_>,
        sink: &mut dyn Write,
        stop: &dyn Fn() -> bool,
    ) -> Result<Downloaded, DownloadError> {
        let bounds = Bounds {
            max_body: wanted.max.min(self.bounds.max_body),
            ..self.bounds
        };
        let mut request = first(wanted);
        for _ in 0..=MAX_REDIRECTS {
            let mut taking = Taking {
                from: wanted.from,
                written: 0,
                sink: &mut *sink,
            };
            let head = self.client.download(&request, &bounds, &mut taking, stop)?;
            let Some(location) = redirect(&head) else {
                return Ok(Downloaded {
                    written: taking.written,
                    head,
                });
            };
            request = next(request, location, wanted)?;
        }
        let reason = format!("more than {MAX_REDIRECTS} of them");
        Err(DownloadError::Redirected { reason })
    }
}

fn first(wanted: &Wanted<'_>) -> Request {
    let own = |(name, value): &(&str, &str)| ((*name).to_owned(), value.as_bytes().to_vec());
    let mut headers: Vec<(String, Vec<u8>)> = wanted.headers.iter().map(own).collect();
    headers.extend(travelling(wanted));
    Request {
        method: "GET".to_owned(),
        url: wanted.url.to_owned(),
        headers,
        ..Request::default()
    }
}

/// The headers that every server gets.
fn travelling(wanted: &Wanted<'_>) -> Vec<(String, Vec<u8>)> {
    let mut headers = vec![("Accept-Encoding".to_owned(), b"identity".to_vec())];
    if wanted.from > 0 {
        let range = format!("bytes={}-", wanted.from);
        headers.push(("Range".to_owned(), range.into_bytes()));
    }
    headers
}

/// Returns where a response sends its reader.
fn redirect(head: &Response) -> Option<&[u8]> {
    match head.status {
        301 | 302 | 303 | 307 | 308 => head.header("location"),
        _ => None,
    }
}

/// Makes the request that a redirect asks for.
fn next(request: Request, location: &[u8], wanted: &Wanted<'_>) -> Result<Request, DownloadError> {
    let refused = |reason: String| DownloadError::Redirected { reason };
    let broken = |error: HttpError| refused(error.to_string());
    let url = redirect_target(&request.url, location).map_err(broken)?;
    let from = locate(&request.url).map_err(broken)?;
    let to = locate(&url).map_err(broken)?;
    if from.origin() == to.origin() {
        return Ok(Request { url, ..request });
    }
    if wanted.same_origin {
        return Err(refused(format!("{} is another server", to.origin())));
    }
    if to.scheme != "https" {
        return Err(refused(format!("{} is not secure", to.origin())));
    }
    Ok(Request {
        url,
        // Whatever else was sent may be a credential; it does not come back on a way home either.
        headers: travelling(wanted),
        ..request
    })
}

/// Writes what was asked for, and nothing else.
struct Taking<'a> {
    from: u64,
    written: u64,
    sink: &'a mut dyn Write,
}

impl Receive for Taking<'_> {
    fn head(&mut self, head: &Response) -> io::Result<Take> {
        match head.status {
            200 if self.from == 0 => Ok(Take::Body),
            206 if self.from > 0 && begins_at(head) == Some(self.from) => Ok(Take::Body),
            206 => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the server sent another part than the one that was asked for",
            )),
            _ => Ok(Take::Nothing),
        }
    }

    fn piece(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sink.write_all(bytes)?;
        self.written += bytes.len() as u64;
        Ok(())
    }
}

/// Returns the first byte of a partial response: `Content-Range: bytes 5-9/10`.
fn begins_at(head: &Response) -> Option<u64> {
    let range = std::str::from_utf8(head.header("content-range")?).ok()?;
    let (start, _) = range.trim().strip_prefix("bytes ")?.split_once('-')?;
    let digits = !start.is_empty() && start.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| start.parse().ok())?
}

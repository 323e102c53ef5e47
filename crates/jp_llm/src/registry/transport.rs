//! Adapter: how registries are reached, through the one HTTP client of the product.
//!
//! Everything public may be fetched, since artifacts lie wherever a manifest says and are checked
//! against it. This machine and the networks behind it are out of reach, except for a registry that
//! the user's own configuration puts there.

#[cfg(test)]
mod tests;
mod waiting;

use std::{
    cell::Cell,
    io::{self, Write},
    time::Instant,
};

use jp_broker::{
    Downloader, Wanted,
    http::{Bounds, DownloadError, HttpError, Options, locate},
};
use jp_policy::Net;
use jp_registry::{FetchError, Get, Got, Transport};
use tokio_util::sync::CancellationToken;

use self::waiting::{Arrival, Silent};
pub use self::waiting::{Wait, Waiting};

/// Makes the requests of one registry.
pub struct DownloadTransport {
    /// The registry's own place, if it is on this machine or at a literal address.
    own: Option<(String, Downloader)>,
    public: Downloader,
    cancel: CancellationToken,
    waiting: Option<Waiting>,
    /// None of these is waited for twice.
    silent: Silent,
}

impl DownloadTransport {
    /// Makes the transport of a registry at a URL of the user's configuration. `cancel` ends what is
    /// under way.
    ///
    /// # Errors
    ///
    /// When the URL is invalid, or no secure connections can be made at all.
    pub fn new(url: &str, cancel: CancellationToken) -> Result<Self, FetchError> {
        Self::bounded(url, cancel, Bounds::default())
    }

    fn bounded(url: &str, cancel: CancellationToken, bounds: Bounds) -> Result<Self, FetchError> {
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
                let own = Downloader::new(options, bounds).map_err(failed)?;
                Some((authority, own))
            }
        };
        let options = Options {
            net: Net::Any,
            ..Options::default()
        };
        Ok(Self {
            own,
            public: Downloader::new(options, bounds).map_err(failed)?,
            cancel,
            waiting: None,
            silent: Silent::default(),
        })
    }

    /// Reports how long a server keeps this one waiting.
    #[must_use]
    pub fn telling(mut self, waiting: Option<Waiting>) -> Self {
        self.waiting = waiting;
        self
    }

    fn tell(&self, wait: Wait<'_>) {
        if let Some(waiting) = &self.waiting {
            waiting(wait);
        }
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
        let host = locate(get.url).map_or_else(|_| String::new(), |found| found.authority);
        self.silent.check(&host, get.url)?;
        let (started, came) = (Instant::now(), Cell::new(false));
        let stop = || {
            let wait = match came.get() {
                true => Wait::Over,
                false => Wait::Since {
                    host: &host,
                    elapsed: started.elapsed(),
                },
            };
            self.tell(wait);
            self.cancel.is_cancelled()
        };
        let mut sink = Arrival { sink, came: &came };
        let done = self.downloader(get.url).get(&wanted, &mut sink, &stop);
        self.tell(Wait::Over);
        let done = done.map_err(|error| match error {
            DownloadError::Stalled { pace } if !came.get() => {
                self.silent.add(&host, get.url, pace.within)
            }
            error => translate(get, error),
        })?;
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
        // The server sent a different part than requested; the disk is not to blame.
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

//! Connections, as this crate is handed them, and why a fetch failed.
//!
//! A [`Transport`] makes one `GET`; who implements it decides which hosts and addresses may be
//! reached. Nothing here opens a socket, and nothing here knows what the bytes mean.

use std::io::{self, Write};

use crate::id::Digest;

/// One `GET` to make.
#[derive(Clone, Copy)]
pub struct Get<'a> {
    /// An absolute `http` or `https` URL.
    pub url: &'a str,
    /// The first byte that is wanted; more than 0 asks with `Range`.
    pub from: u64,
    /// The most bytes that may arrive; one more is [`FetchError::TooLarge`].
    pub max: u64,
    /// Headers to send. They stay behind where a redirect leaves the origin.
    pub headers: &'a [(&'a str, &'a str)],
    /// Whether a redirect to another origin is refused instead of followed.
    pub same_origin: bool,
}

impl<'a> Get<'a> {
    /// Makes a `GET` of a whole document, which stays within its origin.
    #[must_use]
    pub const fn document(url: &'a str, max: u64) -> Self {
        Self {
            url,
            from: 0,
            max,
            headers: &[],
            same_origin: true,
        }
    }
}

/// Shows no value of a header, where tokens travel.
impl std::fmt::Debug for Get<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| *name).collect();
        f.debug_struct("Get")
            .field("url", &self.url)
            .field("from", &self.from)
            .field("max", &self.max)
            .field("headers", &names)
            .field("same_origin", &self.same_origin)
            .finish()
    }
}

/// What a server answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Got {
    /// The status of the last response, such as 200.
    pub status: u16,
    /// How many bytes went to the sink.
    pub written: u64,
    /// The headers of the last response; names in any case, values that are not UTF-8 are left out.
    pub headers: Vec<(String, String)>,
}

impl Got {
    /// Returns the first value of a header, whose name is given in any case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut named = self.headers.iter();
        let named = named.find(|(key, _)| key.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value.as_str())
    }
}

/// Makes requests for this crate. Blocking; may be used from many threads.
pub trait Transport: Send + Sync {
    /// Makes one `GET` and writes what was asked for to `sink`, as it arrives.
    ///
    /// Bytes go to the sink only if they are the ones that were asked for: the body of a 200 when
    /// `from` is 0, or of a 206 that begins at exactly `from`. The body of any other answer (an error
    /// page, a 200 of a server that ignores `Range`) is not read; the caller looks at the status.
    ///
    /// # Errors
    /// If the server cannot be reached or may not be, if it redirects elsewhere, if the body is
    /// longer than allowed or ends early, or if the sink fails. A status of 400 and more is not an error.
    fn get(&self, get: &Get<'_>, sink: &mut dyn Write) -> Result<Got, FetchError>;
}

/// Why something could not be fetched. Nothing of it is visible afterwards.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The network grant or the client's rules forbid it.
    #[error("{url} may not be fetched: {reason}")]
    Denied {
        /// What was asked for.
        url: String,
        /// Which rule, and the setting that would change it.
        reason: String,
    },
    /// The server does not answer, or not in time.
    #[error("{from} cannot be reached: {reason}")]
    Unreachable {
        /// Which server, or which file.
        from: String,
        /// What went wrong.
        reason: String,
    },
    /// The server answered with an error.
    #[error("{from} answered with status {status}")]
    Status {
        /// What was asked for.
        from: String,
        /// The status.
        status: u16,
    },
    /// It is not there.
    #[error("{what} is not there")]
    NotFound {
        /// What was asked for.
        what: String,
    },
    /// The server sends its readers somewhere they may not go.
    #[error("{from} redirects elsewhere, which is not followed: {reason}")]
    Redirected {
        /// What was asked for.
        from: String,
        /// Where to, or why not.
        reason: String,
    },
    /// It is larger than it may be; reading stopped there.
    #[error("{what} is too large: expected at most {max} bytes")]
    TooLarge {
        /// What was asked for.
        what: String,
        /// The cap.
        max: u64,
    },
    /// It ended early; what arrived is kept, and the next attempt goes on from there.
    #[error("{what} ended after {found} of {expected} bytes")]
    Truncated {
        /// What was asked for.
        what: String,
        /// The size that the signed manifest states.
        expected: u64,
        /// How many bytes arrived.
        found: u64,
    },
    /// It has another size than the signed manifest states.
    #[error("{what} has the wrong size: the manifest says {expected} bytes, found {found}")]
    WrongSize {
        /// What was asked for.
        what: String,
        /// The size that the signed manifest states.
        expected: u64,
        /// The size that it has.
        found: u64,
    },
    /// It is something else than what was signed for.
    #[error("{what} has the wrong sha256: expected {expected}, found {found}")]
    WrongDigest {
        /// What was asked for.
        what: String,
        /// What was signed.
        expected: Digest,
        /// What arrived.
        found: Digest,
    },
    /// The response breaks the protocol, or the address is invalid.
    #[error("{what} is not usable: {reason}")]
    Invalid {
        /// What was asked for.
        what: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A file of this machine could not be read or written.
    #[error("cannot {action}: {source}")]
    Io {
        /// What was tried, with the path.
        action: String,
        /// What the system said.
        source: io::Error,
    },
    /// The caller ended it.
    #[error("the fetch was cancelled")]
    Cancelled,
}

impl FetchError {
    /// Tells whether the other side was merely not there, so that what is cached may be used.
    #[must_use]
    pub const fn is_unreachable(&self) -> bool {
        matches!(
            self,
            Self::Unreachable { .. } | Self::Status { status: 500.., .. }
        )
    }

    pub(crate) fn io(action: impl Into<String>, source: io::Error) -> Self {
        Self::Io {
            action: action.into(),
            source,
        }
    }

    pub(crate) fn invalid(what: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Invalid {
            what: what.into(),
            reason: reason.into(),
        }
    }
}

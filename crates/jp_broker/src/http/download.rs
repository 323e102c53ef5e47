//! Responses too large to keep in memory: the same checks, and the body handed on as it arrives.
//!
//! A download has bounds of its own, since minutes are normal for it; what holds a hanging server back
//! is the least that must arrive in each stretch of time.

use std::{io, time::Duration};

use super::{Client, HttpError, Request, Response, deadline::Deadline, message, target::Target};

/// The most that a download may use, and the least it must do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes of the body.
    pub max_body: u64,
    /// Time from the lookup of the name to the last byte.
    pub timeout: Duration,
    /// What must arrive all the while.
    pub pace: Pace,
}

/// The least number of bytes of a body in a stretch of time; the head must come in the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// How many bytes.
    pub bytes: u64,
    /// In what time.
    pub within: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            max_body: u64::MAX,
            timeout: Duration::from_hours(6),
            pace: Pace {
                bytes: 16 * 1024,
                within: Duration::from_secs(30),
            },
        }
    }
}

/// What becomes of a body, as decided by its head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Take {
    /// It is read, and handed on.
    Body,
    /// It is not read.
    Nothing,
}

/// Takes a response piece by piece.
pub trait Receive {
    /// Decides about the body; the head's own body is empty.
    ///
    /// # Errors
    /// An error that makes the whole response useless.
    fn head(&mut self, head: &Response) -> io::Result<Take>;

    /// Takes the next bytes of the body.
    ///
    /// # Errors
    /// An error of keeping them; the download ends.
    fn piece(&mut self, bytes: &[u8]) -> io::Result<()>;
}

/// Why a download failed. What was handed on before stays with its receiver.
#[derive(Debug, thiserror::Error)]
pub enum DownloadError {
    /// The exchange failed, as any can.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// The body is larger than it may be.
    #[error("response rejected: body larger than {limit} bytes")]
    TooLarge {
        /// The most it may be.
        limit: u64,
    },
    /// The server sends too little to go on waiting for it.
    #[error("download too slow: less than {} bytes in {} ms", pace.bytes, pace.within.as_millis())]
    Stalled {
        /// The least that must arrive.
        pace: Pace,
    },
    /// The receiver took no more.
    #[error("cannot keep what arrived: {0}")]
    Receiver(io::Error),
    /// The server redirects to where jp does not follow.
    #[error("cannot follow the redirect of the server: {reason}")]
    Redirected {
        /// Why not.
        reason: String,
    },
}

impl Client {
    /// Makes one request like [`Client::request_until`] and hands its body on as it arrives; nothing
    /// of it is kept. Returns the response without its body.
    ///
    /// The bounds hold in place of the client's own limits and the request's.
    ///
    /// # Errors
    /// See [`DownloadError`]; a status of 400 and more is not an error.
    pub fn download(
        &self,
        request: &Request,
        bounds: &Bounds,
        receiver: &mut dyn Receive,
        stop: &dyn Fn() -> bool,
    ) -> Result<Response, DownloadError> {
        let target = Target::parse(&request.url)?;
        let prepared = message::prepare(request, &target)?;
        let deadline = Deadline::start(bounds.timeout, stop).with_pace(bounds.pace);
        let stalled = |error: HttpError| match error {
            HttpError::Timeout { .. } if deadline.is_stalled() => {
                DownloadError::Stalled { pace: bounds.pace }
            }
            error => error.into(),
        };
        let limit = bounds.max_body;
        let opened = deadline.wait(self.open(&prepared, &target));
        let (head, mut body) = opened.map_err(stalled)?.map_err(stalled)?;
        if receiver.head(&head).map_err(DownloadError::Receiver)? == Take::Nothing {
            return Ok(head);
        }
        let mut left = limit;
        if body.announced() > left {
            return Err(DownloadError::TooLarge { limit });
        }
        loop {
            let next = deadline.wait(body.next());
            let Some(piece) = next.map_err(stalled)?.map_err(stalled)? else {
                return Ok(head);
            };
            left = left
                .checked_sub(piece.len() as u64)
                .ok_or(DownloadError::TooLarge { limit })?;
            deadline.arrived(piece.len());
            receiver.piece(&piece).map_err(DownloadError::Receiver)?;
        }
    }
}

//! Captured output: what a guest prints is kept up to its limit, and more than that stops the call.
//!
//! wasmtime's own memory pipe answers `EPIPE` at its cap and lets the call succeed, which would be
//! a silent cut.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::io::AsyncWrite;
use wasmtime_wasi::{
    async_trait,
    cli::{IsTerminal, StdoutStream},
    p2::{OutputStream, Pollable, StreamError, StreamResult},
};

use crate::error::OutputFull;

/// The most a guest may write in one go; also what one `write-zeroes` makes the host allocate.
const PERMIT: usize = 64 * 1024;

/// Both streams of a guest; made when it first has something to print to.
#[derive(Default)]
pub(crate) struct Streams {
    limit: usize,
    made: Option<Made>,
}

/// The streams themselves.
pub(crate) struct Made {
    pub(crate) stdout: Capture,
    pub(crate) stderr: Capture,
}

impl Streams {
    /// Sets how much each of them keeps; nothing until then.
    pub(crate) fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
        if let Some(Made { stdout, stderr }) = &self.made {
            stdout.lock().limit = limit;
            stderr.lock().limit = limit;
        }
    }

    /// Returns the streams.
    pub(crate) fn get(&mut self) -> &Made {
        let limit = self.limit;
        self.made.get_or_insert_with(|| Made {
            stdout: Capture::new(limit),
            stderr: Capture::new(limit),
        })
    }

    /// Takes what was printed to standard output.
    pub(crate) fn take_stdout(&self) -> Vec<u8> {
        let made = self.made.as_ref();
        made.map_or_else(Vec::new, |made| made.stdout.take())
    }

    /// Takes what was printed to standard error.
    pub(crate) fn take_stderr(&self) -> Vec<u8> {
        let made = self.made.as_ref();
        made.map_or_else(Vec::new, |made| made.stderr.take())
    }

    /// Copies what was printed to standard error so far.
    pub(crate) fn peek_stderr(&self) -> Vec<u8> {
        let made = self.made.as_ref();
        made.map_or_else(Vec::new, |made| made.stderr.lock().bytes.clone())
    }
}

/// One captured stream. Clones share what was captured.
#[derive(Clone)]
pub(crate) struct Capture(Arc<Mutex<Captured>>);

struct Captured {
    bytes: Vec<u8>,
    limit: usize,
}

impl Capture {
    fn new(limit: usize) -> Self {
        let bytes = Vec::new();
        Self(Arc::new(Mutex::new(Captured { bytes, limit })))
    }

    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.lock().bytes)
    }

    fn lock(&self) -> MutexGuard<'_, Captured> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps what fits; what does not is refused, never dropped in silence.
    pub(crate) fn keep(&self, bytes: &[u8]) -> Result<(), OutputFull> {
        let mut captured = self.lock();
        let room = captured.limit.saturating_sub(captured.bytes.len());
        captured
            .bytes
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
        if bytes.len() > room {
            Err(OutputFull)
        } else {
            Ok(())
        }
    }
}

impl IsTerminal for Capture {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Capture {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        // Only `p2_stream` is reachable: guests speak WASI 0.2. A sink keeps the trait whole.
        Box::new(tokio::io::sink())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

#[async_trait]
impl Pollable for Capture {
    async fn ready(&mut self) {}
}

impl OutputStream for Capture {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.keep(&bytes)
            .map_err(|full| StreamError::Trap(full.into()))
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(PERMIT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_kept_and_the_rest_is_refused() {
        let capture = Capture::new(5);
        assert!(capture.keep(b"abc").is_ok());
        assert!(capture.keep(b"defg").is_err());
        assert_eq!(capture.take(), b"abcde");
    }

    #[test]
    fn a_limit_holds_for_streams_made_before_and_after_it() {
        let mut streams = Streams::default();
        assert!(streams.get().stdout.keep(b"a").is_err());
        streams.set_limit(3);
        assert!(streams.get().stdout.keep(b"abc").is_ok());
        assert!(streams.get().stderr.keep(b"abcd").is_err());
        assert_eq!(streams.take_stdout(), b"abc");
        assert_eq!(streams.peek_stderr(), streams.take_stderr());
        let mut later = Streams::default();
        later.set_limit(1);
        assert!(later.get().stderr.keep(b"a").is_ok());
        assert!(later.take_stdout().is_empty());
    }
}

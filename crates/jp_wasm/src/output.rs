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

/// One captured stream. Clones share what was captured.
#[derive(Clone)]
pub(crate) struct Capture(Arc<Mutex<Captured>>);

struct Captured {
    bytes: Vec<u8>,
    limit: usize,
}

impl Capture {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(Captured {
            bytes: Vec::new(),
            limit: 0,
        })))
    }

    pub(crate) fn set_limit(&self, limit: usize) {
        self.lock().limit = limit;
    }

    pub(crate) fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.lock().bytes)
    }

    pub(crate) fn peek(&self) -> Vec<u8> {
        self.lock().bytes.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Captured> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps what fits; what does not is refused, never dropped in silence.
    fn keep(&self, bytes: &[u8]) -> Result<(), OutputFull> {
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
        let capture = Capture::new();
        capture.set_limit(5);
        assert!(capture.keep(b"abc").is_ok());
        assert!(capture.keep(b"defg").is_err());
        assert_eq!(capture.take(), b"abcde");
    }
}

//! Where the output of a call goes: kept for the result, handed to a callback, or written by the embedder.

use std::sync::{Arc, Mutex, PoisonError};

/// Which of the two streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputStream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// Gets new bytes of standard output and standard error while a script runs.
pub type OnOutput = Box<dyn FnMut(&[u8], &[u8]) + Send>;

/// Gets new text of standard output and standard error while a script runs.
pub type OutputCallback = Box<dyn FnMut(&str, &str) + Send + Sync>;

/// Where both streams go.
#[derive(Debug, Clone, Default)]
pub enum Output {
    /// Into the result.
    #[default]
    Kept,
    /// To the embedder, at once. The result holds nothing, and a write that fails fails in the script: a
    /// broken pipe is SIGPIPE, a full disk is `write error: No space left on device`.
    Writer(Writer),
}

/// Writes all bytes to a stream, or says why not.
type WriteOutput = dyn FnMut(OutputStream, &[u8]) -> std::io::Result<()> + Send;

/// An output of the embedder.
#[derive(Clone)]
pub struct Writer(Arc<Mutex<WriteOutput>>);

impl Writer {
    /// Takes what writes all bytes to a stream.
    pub fn new(
        write: impl FnMut(OutputStream, &[u8]) -> std::io::Result<()> + Send + 'static,
    ) -> Self {
        Self(Arc::new(Mutex::new(write)))
    }

    pub(crate) fn write(&self, stream: OutputStream, bytes: &[u8]) -> std::io::Result<()> {
        let mut write = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        write(stream, bytes)
    }
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Writer")
    }
}

/// Hears that a script has been read so far that its first command runs now.
#[derive(Clone)]
pub struct OnExecute(Arc<dyn Fn() + Send + Sync>);

impl OnExecute {
    /// Takes what is called, once in a call.
    pub fn new(call: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Arc::new(call))
    }

    pub(crate) fn call(&self) {
        (self.0)();
    }
}

impl std::fmt::Debug for OnExecute {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OnExecute")
    }
}

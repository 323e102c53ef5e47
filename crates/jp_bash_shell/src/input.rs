//! Standard input of a call: nothing, bytes, or what the embedder reads.

use std::sync::{Arc, Mutex, PoisonError};

use jp_bash_system::Errno;

/// Where standard input comes from.
#[derive(Debug, Clone, Default)]
pub enum Stdin {
    /// Nowhere: it is at its end.
    #[default]
    Empty,
    /// From these bytes.
    Bytes(Vec<u8>),
    /// From the embedder, asked when the script reads; the call waits for the answer.
    Reader(Input),
}

/// Fills a buffer with the next bytes; 0 is the end.
type ReadInput = dyn FnMut(&mut [u8]) -> std::io::Result<usize> + Send;

/// An input of the embedder.
#[derive(Clone)]
pub struct Input {
    read: Arc<Mutex<ReadInput>>,
    /// What was read too much and is read again.
    held: Arc<Mutex<Vec<u8>>>,
    terminal: bool,
}

impl Input {
    /// Takes what fills a buffer with the next bytes; 0 is the end.
    pub fn new(read: impl FnMut(&mut [u8]) -> std::io::Result<usize> + Send + 'static) -> Self {
        Self {
            read: Arc::new(Mutex::new(read)),
            held: Arc::default(),
            terminal: false,
        }
    }

    /// Says whether a person types here: then `read -p` prompts and `test -t 0` is true.
    #[must_use]
    pub fn terminal(mut self, terminal: bool) -> Self {
        self.terminal = terminal;
        self
    }

    pub(crate) fn is_terminal(&self) -> bool {
        self.terminal
    }

    pub(crate) fn read(&self, buf: &mut [u8]) -> Result<usize, Errno> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if !held.is_empty() {
            let n = usize::min(held.len(), buf.len());
            for (to, from) in buf.iter_mut().zip(held.drain(..n)) {
                *to = from;
            }
            return Ok(n);
        }
        drop(held);
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match read(buf) {
                Ok(n) => return Ok(n.min(buf.len())),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return Err(Errno::Io),
            }
        }
    }

    /// Gives back bytes that were read last: they come first again.
    pub(crate) fn unread(&self, bytes: &[u8]) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.splice(..0, bytes.iter().copied());
    }
}

impl std::fmt::Debug for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Input")
    }
}

//! Commands of the embedder, and what they may do.

use std::collections::BTreeMap;
use std::sync::Arc;

use jp_bash_system::{Errno, OpenHow, Stop, SysError, System};

/// A command that the embedder adds.
pub trait Builtin: Send + Sync {
    /// Runs the command and returns its exit status.
    fn run(&self, context: &mut BuiltinContext<'_>) -> i32;

    /// One line about it, for `help`.
    fn about(&self) -> &str {
        ""
    }
}

/// The embedder's commands by name.
pub(crate) type Builtins = Arc<BTreeMap<Vec<u8>, Arc<dyn Builtin>>>;

/// What a [`Builtin`] may do: read, write, look at files and environment.
pub struct BuiltinContext<'a> {
    system: &'a mut dyn System,
    args: &'a [Vec<u8>],
    stopped: Option<Stop>,
}

/// Why a call of [`BuiltinContext`] failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BuiltinError {
    /// The call failed as a system call does.
    #[error("{0}")]
    Failed(Errno),
    /// The run is over: return at once.
    #[error("{0}")]
    Stopped(Stop),
}

impl<'a> BuiltinContext<'a> {
    pub(crate) fn new(system: &'a mut dyn System, args: &'a [Vec<u8>]) -> Self {
        Self {
            system,
            args,
            stopped: None,
        }
    }

    pub(crate) fn stopped(&self) -> Option<Stop> {
        self.stopped
    }

    fn check<T>(&mut self, result: Result<T, SysError>) -> Result<T, BuiltinError> {
        result.map_err(|error| match error {
            SysError::Errno(errno) => BuiltinError::Failed(errno),
            SysError::Stop(stop) => {
                self.stopped = Some(stop);
                BuiltinError::Stopped(stop)
            }
        })
    }

    /// Returns the words of the command; the first is its name.
    pub fn args(&self) -> &[Vec<u8>] {
        self.args
    }

    /// Returns an exported variable.
    pub fn env(&self, name: &str) -> Option<Vec<u8>> {
        self.system.env(name.as_bytes())
    }

    /// Returns the working directory.
    pub fn cwd(&self) -> Vec<u8> {
        self.system.cwd()
    }

    /// Reads some bytes of standard input; 0 is the end.
    ///
    /// # Errors
    /// See [`BuiltinError`].
    pub fn read(&mut self, buf: &mut [u8]) -> Result<usize, BuiltinError> {
        let result = self.system.read(0, buf);
        self.check(result)
    }

    /// Reads standard input to its end; the memory limit holds.
    ///
    /// # Errors
    /// See [`BuiltinError`].
    pub fn read_to_end(&mut self) -> Result<Vec<u8>, BuiltinError> {
        self.read_all(0)
    }

    fn read_all(&mut self, fd: u32) -> Result<Vec<u8>, BuiltinError> {
        let mut out = Vec::new();
        let mut chunk = [0; 16 << 10];
        loop {
            let result = self.system.read(fd, &mut chunk);
            let n = self.check(result)?;
            if n == 0 {
                return Ok(out);
            }
            let reserved = self.system.reserve(n as u64).map_err(SysError::from);
            self.check(reserved)?;
            out.extend_from_slice(chunk.get(..n).unwrap_or_default());
        }
    }

    /// Writes to standard output.
    ///
    /// # Errors
    /// See [`BuiltinError`].
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), BuiltinError> {
        let result = self.system.write(1, bytes);
        self.check(result)
    }

    /// Writes to standard error.
    ///
    /// # Errors
    /// See [`BuiltinError`].
    pub fn write_error(&mut self, bytes: &[u8]) -> Result<(), BuiltinError> {
        let result = self.system.write(2, bytes);
        self.check(result)
    }

    /// Reads a whole file of the session.
    ///
    /// # Errors
    /// See [`BuiltinError`].
    pub fn read_file(&mut self, path: &[u8]) -> Result<Vec<u8>, BuiltinError> {
        let opened = self.system.open(path, OpenHow::READ);
        let fd = self.check(opened)?;
        let result = self.read_all(fd);
        self.system.close(fd);
        result
    }

    /// Writes a whole file of the session.
    ///
    /// # Errors
    /// See [`BuiltinError`].
    pub fn write_file(&mut self, path: &[u8], bytes: &[u8]) -> Result<(), BuiltinError> {
        let opened = self.system.open(path, OpenHow::WRITE);
        let fd = self.check(opened)?;
        let result = self.system.write(fd, bytes);
        self.system.close(fd);
        self.check(result)
    }
}

//! Why a guest produced no outcome, and how that is read off what wasmtime reports.

use std::{io, path::PathBuf};

use jp_policy::Limit;
use wasmtime::{Trap, WasmBacktrace};
use wasmtime_wasi::I32Exit;

use crate::capability::MAX_CALLS;

/// Why a call produced no outcome.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No file is at the path.
    #[error("no such file: {path}")]
    NotFound {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The file is there and could not be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The path leads outside the directory it must stay in.
    #[error("{path} leads outside of the directory it must stay in")]
    Outside {
        /// Which path.
        path: PathBuf,
    },
    /// The bytes are not a component this host can compile.
    #[error("{reason}")]
    Compile {
        /// What is wrong with them.
        reason: String,
    },
    /// The component cannot be brought to life: wrong imports, exports or start-up.
    #[error("{reason}")]
    Instantiate {
        /// What is missing or wrong.
        reason: String,
    },
    /// The core module cannot be brought to life: wrong imports, exports or start-up.
    #[error("{reason}")]
    InstantiateModule {
        /// What is missing or wrong.
        reason: String,
    },
    /// The guest did something it must not, or gave up.
    #[error("{reason}")]
    Trap {
        /// What it did.
        reason: String,
    },
    /// The guest used all of something it had a limit on.
    #[error("ran out of {limit}")]
    Limit {
        /// Of what.
        limit: Limit,
    },
    /// The caller did not want the result any more.
    #[error("cancelled")]
    Cancelled,
    /// The guest asked for something that is never granted to it.
    #[error("asked for {capability}, which is not granted")]
    Denied {
        /// What it asked for.
        capability: &'static str,
    },
    /// A directory of the grant cannot be opened.
    #[error("cannot open the granted directory {path}: {source}")]
    Mount {
        /// Which directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// This host failed; the guest is not to blame.
    #[error("{reason}")]
    Host {
        /// What failed.
        reason: String,
    },
}

/// Why a running guest is stopped from outside. Travels through wasmtime as a typed error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Stopped {
    #[error("the time limit is over")]
    Time,
    #[error("the call was cancelled")]
    Cancelled,
}

impl From<Stopped> for Error {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Time => Self::Limit { limit: Limit::Time },
            Stopped::Cancelled => Self::Cancelled,
        }
    }
}

/// A stream that is full. Travels through wasmtime as a typed error.
#[derive(Debug, thiserror::Error)]
#[error("the guest printed more than its output limit")]
pub(crate) struct OutputFull;

/// A capability no guest has. Travels through wasmtime as a typed error.
#[derive(Debug, thiserror::Error)]
#[error("the guest asked for {0}")]
pub(crate) struct NotGranted(pub(crate) &'static str);

/// A guest that asks for more than its share. Travels through wasmtime as a typed error.
#[derive(Debug, thiserror::Error)]
#[error("it made more than {MAX_CALLS} capability calls in one call")]
pub(crate) struct TooManyCalls;

/// What is known about a guest when it fails, beside the error itself.
pub(crate) struct Signs {
    /// Whether the limiter refused it memory.
    pub(crate) memory_refused: bool,
    /// Whether it held enough memory to hand over more than its output limit.
    pub(crate) could_exceed_output: bool,
}

/// Reads the cause off an error by its type, never by its text.
pub(crate) fn classify(error: &wasmtime::Error, signs: &Signs) -> Error {
    if let Some(stopped) = error.downcast_ref::<Stopped>() {
        return (*stopped).into();
    }
    if error.is::<OutputFull>() {
        return Error::Limit {
            limit: Limit::Output,
        };
    }
    if let Some(NotGranted(capability)) = error.downcast_ref() {
        return Error::Denied { capability };
    }
    if let Some(too_many) = error.downcast_ref::<TooManyCalls>() {
        return Error::Trap {
            reason: too_many.to_string(),
        };
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => return Error::Limit { limit: Limit::Fuel },
        // A refused `memory.grow` shows up as whatever the guest's allocator does about it.
        _ if signs.memory_refused => {
            return Error::Limit {
                limit: Limit::Memory,
            };
        }
        // What wasmtime reports when a guest hands over too much at once has no public type. It is
        // the one untyped error of an honest guest, and only a guest with that much memory can.
        None if signs.could_exceed_output && !error.is::<I32Exit>() => {
            return Error::Limit {
                limit: Limit::Output,
            };
        }
        _ => {}
    }
    Error::Trap {
        reason: describe(error),
    }
}

/// Puts a failure of the guest into words.
pub(crate) fn describe(error: &wasmtime::Error) -> String {
    if let Some(I32Exit(code)) = error.downcast_ref() {
        return format!("the tool exited with code {code} instead of answering");
    }
    let mut reason = match error.downcast_ref::<Trap>() {
        Some(trap) => trap.to_string(),
        None => causes(error),
    };
    let frames = error
        .downcast_ref::<WasmBacktrace>()
        .map_or(&[][..], WasmBacktrace::frames);
    for frame in frames.iter().take(8) {
        let name = frame.func_name().unwrap_or("an unnamed function");
        let name = jp_text::short_line(name, 120);
        reason.push_str("\n  in ");
        reason.push_str(&name);
    }
    reason
}

/// Joins an error and its causes on one line, without a backtrace.
pub(crate) fn causes(error: &wasmtime::Error) -> String {
    let mut parts: Vec<String> = Vec::new();
    for cause in error.chain() {
        let text = cause.to_string();
        let first = text.lines().next().unwrap_or_default().to_owned();
        if !first.is_empty() && !first.starts_with("error while executing") {
            parts.push(first);
        }
    }
    parts.dedup();
    parts.join(": ")
}

//! How a program ended: with a status, or by a signal. A status above 128 is not taken for a signal.

use std::fmt;

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this status.
    Exited(i32),
    /// By a signal.
    Killed(i32),
}

impl Ended {
    /// Reads what the system says of a process that was waited for.
    #[must_use]
    pub fn of(status: std::process::ExitStatus) -> Option<Self> {
        #[cfg(unix)]
        if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
            return Some(Self::Killed(signal));
        }
        status.code().map(Self::Exited)
    }

    /// Returns the status, if it ended by itself.
    #[must_use]
    pub const fn exit_code(self) -> Option<i32> {
        match self {
            Self::Exited(code) => Some(code),
            Self::Killed(_) => None,
        }
    }

    /// Returns the number of the signal that ended it, if one did.
    #[must_use]
    pub const fn signal(self) -> Option<i32> {
        match self {
            Self::Exited(_) => None,
            Self::Killed(signal) => Some(signal),
        }
    }

    /// Returns the name of the signal that ended it; real-time signals have none.
    #[must_use]
    pub fn signal_name(self) -> Option<&'static str> {
        self.signal().and_then(signal_name)
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, self.signal_name()) {
            (Self::Exited(code), _) => write!(f, "exited with status {code}"),
            (Self::Killed(signal), Some(name)) => write!(f, "killed by signal {signal} ({name})"),
            (Self::Killed(signal), None) => write!(f, "killed by signal {signal}"),
        }
    }
}

#[cfg(target_os = "linux")]
fn signal_name(number: i32) -> Option<&'static str> {
    nix::sys::signal::Signal::try_from(number)
        .ok()
        .map(nix::sys::signal::Signal::as_str)
}

#[cfg(not(target_os = "linux"))]
const fn signal_name(_: i32) -> Option<&'static str> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ending_is_said_in_words() {
        for (ended, words) in [
            (Ended::Exited(0), "exited with status 0"),
            (Ended::Exited(137), "exited with status 137"),
            (Ended::Killed(9), "killed by signal 9 (SIGKILL)"),
            (Ended::Killed(11), "killed by signal 11 (SIGSEGV)"),
            (Ended::Killed(40), "killed by signal 40"),
        ] {
            assert_eq!(ended.to_string(), words);
        }
    }
}

//! Why a keyring cannot be used, and the way out. Never holds a key.

use std::time::Duration;

/// The longest message of a service that is kept.
const MAX_REASON: usize = 200;

/// Why a keyring cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyringError {
    /// The secrets were opened without a keyring.
    #[error("the keyring is switched off")]
    Off,
    /// There is no session bus, or none that can be used.
    #[error("there is no session bus to reach the keyring by")]
    NoBus,
    /// No service keeps a keyring in this session.
    #[error("no keyring answers on the session bus ({reason})")]
    NoService {
        /// What the bus said.
        reason: String,
    },
    /// The keyring, or the part of it that matters, is locked.
    #[error("the keyring is locked")]
    Locked,
    /// What is there is forgotten at the end of the session.
    #[error("the keyring has no default collection that outlives the session")]
    NoCollection,
    /// The keyring did not answer in time.
    #[error("the keyring did not answer within {} s", waited.as_secs())]
    TimedOut {
        /// How long it was waited for.
        waited: Duration,
    },
    /// The keyring answered something else than what it was asked for.
    #[error("the keyring failed: {reason}")]
    Failed {
        /// What is wrong.
        reason: String,
    },
}

impl KeyringError {
    /// Makes an error of what a service said: the text of a stranger, on one line and shortened.
    pub(super) fn failed(reason: &str) -> Self {
        Self::Failed {
            reason: one_line(reason),
        }
    }

    /// Makes the error of a service that does not answer.
    pub(super) fn no_service(reason: &str) -> Self {
        Self::NoService {
            reason: one_line(reason),
        }
    }

    /// Returns what the user can do about it.
    #[must_use]
    pub const fn way_out(&self) -> &'static str {
        match self {
            Self::Off => "unset JP_KEYRING",
            Self::NoBus => {
                "run jp inside your desktop session, or set DBUS_SESSION_BUS_ADDRESS to its bus"
            }
            Self::NoService { .. } => {
                "start your keyring, such as gnome-keyring, or log in to the desktop"
            }
            Self::Locked => "unlock it: log in to the desktop, or open the keyring's own program",
            Self::NoCollection => "make a default keyring in the keyring's own program",
            Self::TimedOut { .. } | Self::Failed { .. } => {
                "look at the keyring in its own program, then try again"
            }
        }
    }
}

fn one_line(text: &str) -> String {
    jp_text::start(text.trim(), MAX_REASON)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_service_says_stays_on_one_line_and_has_an_end() {
        let hostile = format!("a\n\u{1b}[2Jb{}", "x".repeat(5000));
        let text = KeyringError::failed(&hostile).to_string();
        assert!(text.starts_with("the keyring failed: a\\n\\u{1b}[2Jb"));
        assert!(text.ends_with("x…") && text.len() < 300, "{text}");
    }
}

//! What `trap` has set. Running a trap is `run/trap.rs`.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::signals;

/// What happens on a signal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Action {
    /// `trap '' SIG`
    Ignore,
    /// `trap 'text' SIG`
    Run(Arc<[u8]>),
}

#[derive(Debug, Clone)]
struct Entry {
    action: Action,
    /// Not live: set by the parent of a subshell, which only shows it (`trap -p`).
    live: bool,
    /// In effect, and not shown by `trap -p`.
    secret: bool,
}

/// All traps of a shell.
#[derive(Debug, Clone, Default)]
pub(crate) struct Traps {
    entries: BTreeMap<u8, Entry>,
}

impl Traps {
    /// Tells whether there is any text to run, here or in the shell outside.
    #[inline]
    pub(crate) fn has_texts(&self) -> bool {
        // Asked before every command: most shells have no trap at all.
        !self.entries.is_empty() && self.any_text()
    }

    #[cold]
    fn any_text(&self) -> bool {
        let mut entries = self.entries.values();
        entries.any(|entry| entry.action != Action::Ignore)
    }

    /// Ignores what a terminal sends, as a command in the background does; bash shows only the first.
    pub(crate) fn ignore_keys(&mut self) {
        for (signal, secret) in [(signals::INT, false), (signals::QUIT, true)] {
            let entry = Entry {
                action: Action::Ignore,
                live: true,
                secret,
            };
            self.entries.insert(signal, entry);
        }
    }

    /// Returns the traps of a program that is started: what is ignored stays so.
    pub(crate) fn for_program(&self) -> Self {
        let mut traps = Self::default();
        for (signal, entry) in &self.entries {
            if entry.action == Action::Ignore {
                traps.set(*signal, Some(Action::Ignore));
            }
        }
        traps
    }

    /// Tells whether nothing is set.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns what is to be done.
    pub(crate) fn get(&self, signal: u8) -> Option<&Action> {
        self.entries
            .get(&signal)
            .filter(|entry| entry.live)
            .map(|entry| &entry.action)
    }

    /// Sets or (with `None`) resets a trap. The first change in a subshell forgets what it only showed.
    pub(crate) fn set(&mut self, signal: u8, action: Option<Action>) {
        self.entries.retain(|_, entry| entry.live);
        match action {
            Some(action) => {
                let entry = Entry {
                    action,
                    live: true,
                    secret: false,
                };
                self.entries.insert(signal, entry);
            }
            None => {
                self.entries.remove(&signal);
            }
        }
    }

    /// Keeps a trap from running until [`Traps::show_again`].
    pub(crate) fn hide(&mut self, signal: u8) {
        if let Some(entry) = self.entries.get_mut(&signal) {
            entry.live = false;
        }
    }

    /// Brings back what was hidden, where nothing new was set meanwhile.
    pub(crate) fn show_again(&mut self, old: &Self) {
        for signal in [signals::DEBUG, signals::RETURN, signals::ERR] {
            let Some(before) = old.entries.get(&signal).filter(|entry| entry.live) else {
                continue;
            };
            // `trap` in the function drops what is only shown, so an entry that is live now is its own.
            if self.entries.get(&signal).is_none_or(|entry| !entry.live) {
                self.entries.insert(signal, before.clone());
            }
        }
    }

    /// Turns these into the traps of a subshell: what runs is reset, what is ignored stays.
    pub(crate) fn for_subshell(&self, keep_debug: bool, keep_err: bool) -> Self {
        let entries = self
            .entries
            .iter()
            .map(|(signal, entry)| {
                let live = match *signal {
                    signals::DEBUG | signals::RETURN => keep_debug && entry.live,
                    signals::ERR => keep_err && entry.live,
                    _ => entry.live && entry.action == Action::Ignore,
                };
                (
                    *signal,
                    Entry {
                        action: entry.action.clone(),
                        live,
                        secret: entry.secret,
                    },
                )
            })
            .collect();
        Self { entries }
    }

    /// Lists all, also those only shown, in the order of `trap -p`.
    pub(crate) fn list(&self) -> impl Iterator<Item = (u8, &Action)> {
        self.entries
            .iter()
            .filter(|(_, entry)| !entry.secret)
            .map(|(signal, entry)| (*signal, &entry.action))
    }

    /// Returns the signals that have a text to run, one bit each.
    pub(crate) fn caught(&self) -> u128 {
        self.entries
            .iter()
            .filter(|(_, entry)| entry.live && entry.action != Action::Ignore)
            .fold(0, |bits, (signal, _)| bits | 1u128 << (signal & 127))
    }

    /// Returns the signals that are ignored, one bit each.
    pub(crate) fn ignored(&self) -> u128 {
        self.entries
            .iter()
            .filter(|(_, entry)| entry.action == Action::Ignore)
            .fold(0, |bits, (signal, _)| bits | 1u128 << (signal & 127))
    }
}

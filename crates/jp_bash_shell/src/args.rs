//! The positional parameters.

use std::sync::Arc;

use jp_bash_system::{Budget, PIECE, Stop};

/// How many words are copied between two asks.
pub(crate) const WORDS: usize = 1024;

/// Copies words.
pub(crate) fn copied(budget: &Budget, words: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, Stop> {
    let mut copy = Vec::with_capacity(words.len());
    for some in words.chunks(WORDS) {
        copy.extend_from_slice(some);
        if some.len() == WORDS {
            budget.work_bytes(PIECE)?;
        }
    }
    Ok(copy)
}

/// `$1`, `$2` and so on. A copy shares the texts; `shift` only moves the start.
#[derive(Debug, Clone, Default)]
pub(crate) struct Args {
    list: Arc<Vec<Vec<u8>>>,
    start: usize,
}

impl Args {
    /// Makes parameters from a list.
    pub(crate) fn new(list: Vec<Vec<u8>>) -> Self {
        Self {
            list: Arc::new(list),
            start: 0,
        }
    }

    /// Makes parameters from a command's words: the first is its name.
    pub(crate) fn of_call(words: Vec<Vec<u8>>) -> Self {
        let start = usize::min(1, words.len());
        Self {
            list: Arc::new(words),
            start,
        }
    }

    /// Returns all of them.
    pub(crate) fn as_slice(&self) -> &[Vec<u8>] {
        self.list.get(self.start..).unwrap_or_default()
    }

    /// Returns `$n` for n from 1.
    pub(crate) fn get(&self, n: usize) -> Option<&[u8]> {
        self.as_slice().get(n.checked_sub(1)?).map(Vec::as_slice)
    }

    /// Returns `$#`.
    pub(crate) fn len(&self) -> usize {
        self.list.len().saturating_sub(self.start)
    }

    /// Tells whether both come from the same list, whatever was shifted.
    pub(crate) fn same_list(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.list, &other.list)
    }

    /// Drops the first `n`; `false` if there are fewer.
    pub(crate) fn shift(&mut self, n: usize) -> bool {
        if n > self.len() {
            return false;
        }
        self.start += n;
        true
    }
}

//! Keeps the patterns that were compiled last, for callers that meet the same text again and again.

use jp_bash_system::Stop;

use super::meter::Asks;
use super::{Flags, Flavor, Regex, RegexError};

/// How many patterns are kept.
const KEPT: usize = 16;
/// The most bytes that they hold together, beside the one that is used.
const MOST_BYTES: u64 = 4 << 20;

/// The patterns compiled last, most recent first. `Send`, so a session may keep it.
#[derive(Default)]
pub struct RegexCache {
    kept: Vec<Entry>,
}

struct Entry {
    pattern: Vec<u8>,
    flavor: Flavor,
    flags: Flags,
    regex: Regex,
}

impl RegexCache {
    /// Returns the pattern compiled, from the cache if it is there. Call [`RegexCache::settle`] after its use.
    pub fn get<A: Asks + ?Sized>(
        &mut self,
        asks: &mut A,
        pattern: &[u8],
        flavor: Flavor,
        flags: Flags,
    ) -> Result<Result<&Regex, RegexError>, Stop> {
        let found = self.kept.iter().position(|entry| {
            entry.pattern == pattern && entry.flavor == flavor && entry.flags == flags
        });
        if let Some(at) = found {
            if let Some(recent) = self.kept.get_mut(..=at) {
                recent.rotate_right(1);
            }
        } else {
            let regex = match Regex::new(asks, pattern, flavor, flags)? {
                Ok(regex) => regex,
                Err(error) => return Ok(Err(error)),
            };
            self.kept.truncate(KEPT - 1);
            let entry = Entry {
                pattern: pattern.to_vec(),
                flavor,
                flags,
                regex,
            };
            self.kept.insert(0, entry);
        }
        Ok(match self.kept.first() {
            Some(entry) => Ok(&entry.regex),
            None => Err(RegexError::Invalid),
        })
    }

    /// Forgets what is too large to keep, and gives back what was reserved: so little as stays is not counted.
    pub fn settle<A: Asks + ?Sized>(&mut self, asks: &mut A) {
        // Only the pattern used last can have grown.
        let grown = self.kept.first().is_some_and(|entry| entry.regex.owes());
        if !grown {
            return;
        }
        let mut sum = 0_u64;
        self.kept.retain(|entry| {
            entry.regex.settle(asks);
            sum = sum.saturating_add(entry.regex.size());
            sum <= MOST_BYTES
        });
    }
}

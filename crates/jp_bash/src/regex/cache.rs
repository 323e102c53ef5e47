//! Keeps the patterns that were compiled last, for callers that meet the same text again and again.

use super::{Flags, Flavor, Regex, RegexError};

/// How many patterns are kept.
const KEPT: usize = 16;

/// The patterns compiled last, most recent first. `Send`, so a session may keep it.
#[derive(Default)]
pub(crate) struct RegexCache {
    kept: Vec<Entry>,
}

struct Entry {
    pattern: Vec<u8>,
    flavor: Flavor,
    flags: Flags,
    regex: Regex,
}

impl RegexCache {
    /// Returns the pattern compiled, from the cache if it is there.
    pub(crate) fn get(
        &mut self,
        pattern: &[u8],
        flavor: Flavor,
        flags: Flags,
    ) -> Result<&Regex, RegexError> {
        let found = self.kept.iter().position(|entry| {
            entry.pattern == pattern && entry.flavor == flavor && entry.flags == flags
        });
        if let Some(at) = found {
            if let Some(recent) = self.kept.get_mut(..=at) {
                recent.rotate_right(1);
            }
        } else {
            let regex = Regex::new(pattern, flavor, flags)?;
            self.kept.truncate(KEPT - 1);
            let entry = Entry {
                pattern: pattern.to_vec(),
                flavor,
                flags,
                regex,
            };
            self.kept.insert(0, entry);
        }
        match self.kept.first() {
            Some(entry) => Ok(&entry.regex),
            None => Err(RegexError::Invalid),
        }
    }
}

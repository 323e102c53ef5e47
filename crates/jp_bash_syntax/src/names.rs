//! Names of variables as small numbers, so that running a script never hashes text.

use std::sync::Arc;

use rustc_hash::FxHashMap;

/// A variable's name, as a number within one session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(pub u32);

/// All names of a session. They are never forgotten, so their bytes count as memory of the session.
#[derive(Debug, Default)]
pub struct Names {
    by_text: FxHashMap<Arc<[u8]>, Name>,
    texts: Vec<Arc<[u8]>>,
    bytes: u64,
}

impl Names {
    /// Returns the number of a name, which is new if it was not seen before.
    pub fn intern(&mut self, text: &[u8]) -> Name {
        if let Some(name) = self.by_text.get(text) {
            return *name;
        }
        let name = Name(u32::try_from(self.texts.len()).unwrap_or(u32::MAX));
        self.bytes += text.len() as u64;
        let text: Arc<[u8]> = text.into();
        self.texts.push(Arc::clone(&text));
        self.by_text.insert(text, name);
        name
    }

    /// Returns the number of a name that was seen before.
    pub fn find(&self, text: &[u8]) -> Option<Name> {
        self.by_text.get(text).copied()
    }

    /// Returns the text of a name.
    pub fn text(&self, name: Name) -> Arc<[u8]> {
        self.texts.get(name.0 as usize).cloned().unwrap_or_default()
    }

    /// Returns the bytes that all names hold.
    pub fn cost(&self) -> u64 {
        self.bytes + self.texts.len() as u64 * 96
    }

    /// Returns how many names there are.
    pub fn count(&self) -> usize {
        self.texts.len()
    }
}

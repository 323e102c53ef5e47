//! Bytes on their way into a tool: the host keeps them, and a name stands in their place in the JSON that
//! the tool gets. The tool takes them by that name (`received` of `jp:tool@0.2.0`).

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// How names start. No base64 text holds a colon, so none passes for a name.
const PREFIX: &str = "blob:";

/// The bytes that are given to a tool in one call.
#[derive(Debug)]
pub struct GivenBlobs(Mutex<State>);

#[derive(Debug)]
struct State {
    waiting: BTreeMap<String, Vec<u8>>,
    next: u64,
    /// How many more bytes may be kept.
    room: usize,
}

/// There is no room for more bytes: what the tool has of them takes all that a call may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoRoom;

impl fmt::Display for NoRoom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes that were given to the tool exceed its limit on memory")
    }
}

impl std::error::Error for NoRoom {}

impl GivenBlobs {
    /// Starts with none; together they may take so many bytes until the tool has let go of some.
    #[must_use]
    pub fn new(room: usize) -> Self {
        Self(Mutex::new(State {
            waiting: BTreeMap::new(),
            next: 0,
            room,
        }))
    }

    /// Keeps bytes, and returns the name that stands in their place.
    ///
    /// # Errors
    ///
    /// [`NoRoom`].
    pub fn keep(&self, bytes: Vec<u8>) -> Result<String, NoRoom> {
        let mut state = self.state();
        state.room = state.room.checked_sub(bytes.len()).ok_or(NoRoom)?;
        let name = format!("{PREFIX}{}", state.next);
        state.next += 1;
        state.waiting.insert(name.clone(), bytes);
        Ok(name)
    }

    /// Hands over the bytes of a name, which can be done once.
    #[must_use]
    pub fn take(self: &Arc<Self>, name: &str) -> Option<GivenBlob> {
        let bytes = self.state().waiting.remove(name)?;
        Some(GivenBlob {
            bytes,
            of: Arc::clone(self),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes that a tool has taken. Their room is free again when this is dropped.
#[derive(Debug)]
pub struct GivenBlob {
    bytes: Vec<u8>,
    of: Arc<GivenBlobs>,
}

impl GivenBlob {
    /// Returns the bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for GivenBlob {
    fn drop(&mut self) {
        let mut state = self.of.state();
        state.room = state.room.saturating_add(self.bytes.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_handed_over_once_by_their_name() {
        let given = Arc::new(GivenBlobs::new(100));
        let first = given.keep(vec![1]).unwrap();
        let second = given.keep(vec![2]).unwrap();
        assert_ne!(first, second);
        assert_eq!(given.take(&second).unwrap().as_bytes(), [2]);
        assert!(given.take(&second).is_none() && given.take("blob:9").is_none());
        assert_eq!(given.take(&first).unwrap().as_bytes(), [1]);
    }

    #[test]
    fn what_the_tool_holds_counts_until_it_lets_go() {
        let given = Arc::new(GivenBlobs::new(10));
        let name = given.keep(vec![0; 8]).unwrap();
        assert_eq!(given.keep(vec![0; 3]), Err(NoRoom));
        let held = given.take(&name).unwrap();
        assert_eq!(given.keep(vec![0; 3]), Err(NoRoom));
        drop(held);
        assert!(given.keep(vec![0; 10]).is_ok());
    }
}

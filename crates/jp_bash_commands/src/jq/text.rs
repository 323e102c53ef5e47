//! Strings of JSON: short ones inline, long ones shared; always UTF-8.

use std::borrow::Borrow;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::value::count;

/// How many bytes fit inline.
const SHORT: usize = 22;

/// A string.
#[derive(Clone)]
pub(super) struct Text(Repr);

#[derive(Clone)]
enum Repr {
    Short { len: u8, bytes: [u8; SHORT] },
    Long(Arc<Long>),
}

/// Bytes that are counted while they are held.
struct Long {
    bytes: Vec<u8>,
    counted: usize,
}

impl Long {
    fn new(bytes: Vec<u8>) -> Self {
        let counted = bytes.capacity() + 48;
        count(0, counted);
        Self { bytes, counted }
    }
}

impl Drop for Long {
    fn drop(&mut self) {
        count(self.counted, 0);
    }
}

impl Text {
    /// Copies bytes.
    pub(super) fn new(bytes: &[u8]) -> Self {
        Self::short(bytes).unwrap_or_else(|| Self(Repr::Long(Arc::new(Long::new(bytes.to_vec())))))
    }

    /// Keeps a buffer.
    pub(super) fn owned(bytes: Vec<u8>) -> Self {
        Self::short(&bytes).unwrap_or_else(|| Self(Repr::Long(Arc::new(Long::new(bytes)))))
    }

    fn short(bytes: &[u8]) -> Option<Self> {
        let mut inline = [0; SHORT];
        inline.get_mut(..bytes.len())?.copy_from_slice(bytes);
        let len = u8::try_from(bytes.len()).ok()?;
        Some(Self(Repr::Short { len, bytes: inline }))
    }

    /// Appends bytes; in place when nobody else holds the string, so that a loop of appends is linear.
    pub(super) fn append(mut self, more: &[u8]) -> Self {
        if let Repr::Long(long) = &mut self.0
            && let Some(long) = Arc::get_mut(long)
        {
            long.bytes.extend_from_slice(more);
            let now = long.bytes.capacity() + 48;
            count(long.counted, now);
            long.counted = now;
            return self;
        }
        let mut bytes = Vec::with_capacity(self.len() + more.len());
        bytes.extend_from_slice(&self);
        bytes.extend_from_slice(more);
        Self::owned(bytes)
    }

    /// Returns it as `str`. The bytes are UTF-8 by construction; what is not would show as empty.
    pub(super) fn as_str(&self) -> &str {
        std::str::from_utf8(self).unwrap_or_default()
    }
}

impl std::ops::Deref for Text {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        match &self.0 {
            Repr::Short { len, bytes } => bytes.get(..usize::from(*len)).unwrap_or_default(),
            Repr::Long(long) => &long.bytes,
        }
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl PartialEq<[u8]> for Text {
    fn eq(&self, other: &[u8]) -> bool {
        **self == *other
    }
}

impl Eq for Text {}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (**self).cmp(&**other)
    }
}

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl Borrow<[u8]> for Text {
    fn borrow(&self) -> &[u8] {
        self
    }
}

impl std::fmt::Debug for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(self))
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::new(text.as_bytes())
    }
}

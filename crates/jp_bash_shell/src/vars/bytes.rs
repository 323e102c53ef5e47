//! The text of a variable: short texts inline, longer ones shared, so that a subshell's copy costs nothing.

use std::sync::Arc;

/// The longest text that needs no allocation.
const INLINE: usize = 22;

/// Bytes that are cheap to clone and to append to.
#[derive(Clone)]
pub(crate) enum Bytes {
    /// Up to [`INLINE`] bytes.
    Inline { len: u8, buf: [u8; INLINE] },
    /// Anything longer.
    Shared(Arc<Vec<u8>>),
}

impl Bytes {
    /// The empty text.
    pub(crate) const EMPTY: Self = Self::Inline {
        len: 0,
        buf: [0; INLINE],
    };

    /// Returns the text.
    #[inline]
    pub(crate) fn as_slice(&self) -> &[u8] {
        match self {
            Self::Inline { len, buf } => buf.get(..usize::from(*len)).unwrap_or_default(),
            Self::Shared(bytes) => bytes,
        }
    }

    /// Returns the bytes it holds outside itself, as the budget counts them.
    #[inline]
    pub(crate) fn cost(&self) -> u64 {
        match self {
            Self::Inline { .. } => 0,
            Self::Shared(bytes) => bytes.capacity() as u64 + 40,
        }
    }

    /// Returns what [`Bytes::append`] of that many bytes would newly allocate.
    pub(crate) fn growth(&self, more: usize) -> u64 {
        let need = self.as_slice().len().saturating_add(more);
        match self {
            Self::Inline { .. } if need <= INLINE => 0,
            Self::Inline { .. } => usize::max(need, 64) as u64 + 40,
            Self::Shared(bytes) if Arc::strong_count(bytes) == 1 => {
                if need <= bytes.capacity() {
                    0
                } else {
                    let doubled = bytes.capacity().saturating_mul(2);
                    (usize::max(need, doubled) - bytes.capacity()) as u64
                }
            }
            Self::Shared(_) => need.saturating_add(need / 2) as u64 + 40,
        }
    }

    /// Appends in amortised linear time; a text that others share is copied first.
    pub(crate) fn append(&mut self, more: &[u8]) {
        let have = self.as_slice().len();
        let need = have.saturating_add(more.len());
        match self {
            Self::Inline { len, buf } if need <= INLINE => {
                if let Some(room) = buf.get_mut(have..need) {
                    room.copy_from_slice(more);
                }
                *len = u8::try_from(need).unwrap_or(0);
            }
            Self::Shared(bytes) if Arc::strong_count(bytes) == 1 => {
                if let Some(bytes) = Arc::get_mut(bytes) {
                    if need > bytes.capacity() {
                        let target = usize::max(need, bytes.capacity().saturating_mul(2));
                        bytes.reserve_exact(target - have);
                    }
                    bytes.extend_from_slice(more);
                }
            }
            other => {
                let room = match other {
                    Self::Inline { .. } => usize::max(need, 64),
                    Self::Shared(_) => need.saturating_add(need / 2),
                };
                let mut bytes = Vec::with_capacity(room);
                bytes.extend_from_slice(other.as_slice());
                bytes.extend_from_slice(more);
                *other = Self::Shared(Arc::new(bytes));
            }
        }
    }

    /// Makes the text of a number, without allocating.
    #[inline]
    pub(crate) fn from_int(number: i64) -> Self {
        let mut buf = [0_u8; INLINE];
        let mut at = INLINE;
        let mut rest = number.unsigned_abs();
        loop {
            at -= 1;
            if let Some(slot) = buf.get_mut(at) {
                *slot = b'0' + u8::try_from(rest % 10).unwrap_or(0);
            }
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        if number < 0 {
            at -= 1;
            if let Some(slot) = buf.get_mut(at) {
                *slot = b'-';
            }
        }
        buf.copy_within(at.., 0);
        Self::Inline {
            len: u8::try_from(INLINE - at).unwrap_or(0),
            buf,
        }
    }
}

impl From<&[u8]> for Bytes {
    #[inline]
    fn from(text: &[u8]) -> Self {
        let mut buf = [0; INLINE];
        match buf.get_mut(..text.len()) {
            Some(room) => {
                room.copy_from_slice(text);
                Self::Inline {
                    len: u8::try_from(text.len()).unwrap_or(0),
                    buf,
                }
            }
            None => Self::Shared(Arc::new(text.to_vec())),
        }
    }
}

impl From<Vec<u8>> for Bytes {
    #[inline]
    fn from(text: Vec<u8>) -> Self {
        if text.len() <= INLINE {
            Self::from(text.as_slice())
        } else {
            Self::Shared(Arc::new(text))
        }
    }
}

impl std::fmt::Debug for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(self.as_slice()))
    }
}

impl PartialEq for Bytes {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_print_as_decimal() {
        for n in [0, 7, -1, 42, i64::MAX, i64::MIN] {
            assert_eq!(Bytes::from_int(n).as_slice(), n.to_string().as_bytes());
        }
    }

    #[test]
    fn appending_keeps_what_was_there_and_leaves_clones_alone() {
        let mut text = Bytes::from(&b"ab"[..]);
        let mut want = b"ab".to_vec();
        for i in 0..100_u8 {
            let old = text.clone();
            let before = want.clone();
            text.append(&[i, i]);
            want.extend_from_slice(&[i, i]);
            assert_eq!(text.as_slice(), want);
            assert_eq!(old.as_slice(), before);
        }
    }

    #[test]
    fn growth_is_what_append_allocates() {
        let mut text = Bytes::EMPTY;
        let mut reserved = 0;
        for _ in 0..1000 {
            reserved += text.growth(3);
            text.append(b"abc");
        }
        assert!(text.cost() <= reserved, "{} <= {reserved}", text.cost());
    }
}

//! Attributes of variables, as `declare` sets and prints them.

/// A set of attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Attrs(u16);

impl Attrs {
    pub(crate) const NONE: Self = Self(0);
    /// `-a`
    pub(crate) const INDEXED: Self = Self(1);
    /// `-A`
    pub(crate) const ASSOC: Self = Self(2);
    /// `-i`
    pub(crate) const INTEGER: Self = Self(4);
    /// `-r`
    pub(crate) const READONLY: Self = Self(8);
    /// `-x`
    pub(crate) const EXPORT: Self = Self(16);
    /// `-l`
    pub(crate) const LOWER: Self = Self(32);
    /// `-u`
    pub(crate) const UPPER: Self = Self(64);
    /// `-c`
    pub(crate) const CAPITAL: Self = Self(128);
    /// `-n`
    pub(crate) const NAMEREF: Self = Self(256);
    /// `-t`
    pub(crate) const TRACE: Self = Self(512);
    /// Computed when read.
    pub(crate) const DYNAMIC: Self = Self(1024);
    /// Made by `x=1 command`: a function's `local x` inherits it.
    pub(crate) const TEMPORARY: Self = Self(2048);
    /// Declared, so it exists although it may have no value.
    pub(crate) const LOCAL: Self = Self(4096);

    /// `-i -l -u -c`: an assigned text is changed on its way in.
    pub(crate) const CONVERTS: Self = Self(4 | 32 | 64 | 128);
    /// Whatever makes a plain assignment take the slow way.
    pub(crate) const SLOW: Self = Self(4 | 8 | 32 | 64 | 128 | 256 | 1024);
    /// What `declare` shows.
    const SHOWN: u16 = 0x3ff;

    /// Tells whether any of these is set.
    #[inline]
    pub(crate) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Tells whether nothing is set.
    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Adds attributes.
    pub(crate) fn insert(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// Removes attributes.
    pub(crate) fn remove(&mut self, other: Self) {
        self.0 &= !other.0;
    }

    /// Returns both.
    pub(crate) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns only what `declare` shows.
    pub(crate) const fn shown(self) -> Self {
        Self(self.0 & Self::SHOWN)
    }

    /// Returns the letters in the order bash prints them.
    pub(crate) fn letters(self) -> Vec<u8> {
        const ORDER: [(Attrs, u8); 10] = [
            (Attrs::INDEXED, b'a'),
            (Attrs::ASSOC, b'A'),
            (Attrs::INTEGER, b'i'),
            (Attrs::NAMEREF, b'n'),
            (Attrs::READONLY, b'r'),
            (Attrs::TRACE, b't'),
            (Attrs::EXPORT, b'x'),
            (Attrs::CAPITAL, b'c'),
            (Attrs::LOWER, b'l'),
            (Attrs::UPPER, b'u'),
        ];
        ORDER
            .iter()
            .filter(|(attr, _)| self.has(*attr))
            .map(|(_, letter)| *letter)
            .collect()
    }

    /// Returns the attribute of a letter of `declare`.
    pub(crate) fn of_letter(letter: u8) -> Option<Self> {
        Some(match letter {
            b'a' => Self::INDEXED,
            b'A' => Self::ASSOC,
            b'i' => Self::INTEGER,
            b'n' => Self::NAMEREF,
            b'r' => Self::READONLY,
            b't' => Self::TRACE,
            b'x' => Self::EXPORT,
            b'c' => Self::CAPITAL,
            b'l' => Self::LOWER,
            b'u' => Self::UPPER,
            _ => return None,
        })
    }
}

//! What `IFS` and the locale say, worked out once for each change of them.

use crate::vars::{Vars, known};

/// The characters that split fields.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ifs {
    /// One bit for each byte that separates.
    set: [u64; 4],
    /// It is the default: space, tab, newline.
    default: bool,
    space: bool,
    tab: bool,
    newline: bool,
    /// What joins `"$*"`.
    join: [u8; 4],
    join_len: u8,
    /// Characters of several bytes that separate; so many of them that nobody has more.
    wide: [[u8; 4]; WIDE],
    wide_len: u8,
}

/// Characters of several bytes at most.
const WIDE: usize = 8;

impl Default for Ifs {
    fn default() -> Self {
        Self::new(None, true)
    }
}

impl Ifs {
    /// Reads the value of `IFS`; unset is the default.
    pub(crate) fn new(value: Option<&[u8]>, utf8: bool) -> Self {
        let text = value.unwrap_or(b" \t\n");
        let mut set = [0_u64; 4];
        let mut add = |byte: u8| {
            if let Some(word) = set.get_mut(usize::from(byte / 64)) {
                *word |= 1 << (byte % 64);
            }
        };
        let mut wide = [[0; 4]; WIDE];
        let mut wide_len = 0;
        for chunk in text.utf8_chunks() {
            for c in chunk.valid().chars() {
                let mut room = [0; 4];
                let bytes = c.encode_utf8(&mut room).as_bytes();
                match wide.get_mut(usize::from(wide_len)) {
                    Some(slot) if utf8 && bytes.len() > 1 => {
                        *slot = room;
                        wide_len += 1;
                    }
                    _ => bytes.iter().copied().for_each(&mut add),
                }
            }
            chunk.invalid().iter().copied().for_each(&mut add);
        }
        let first = match text
            .utf8_chunks()
            .next()
            .and_then(|c| c.valid().chars().next())
        {
            Some(c) if utf8 => c.len_utf8(),
            _ => usize::min(text.len(), 1),
        };
        let mut join = [0; 4];
        if let (Some(room), Some(first)) = (join.get_mut(..first), text.get(..first)) {
            room.copy_from_slice(first);
        }
        Self {
            set,
            default: value.is_none() || value == Some(b" \t\n"),
            space: text.contains(&b' '),
            tab: text.contains(&b'\t'),
            newline: text.contains(&b'\n'),
            join,
            join_len: u8::try_from(first).unwrap_or(0),
            wide,
            wide_len,
        }
    }

    /// Tells whether the byte separates fields.
    #[inline]
    pub(crate) fn has(&self, byte: u8) -> bool {
        self.set
            .get(usize::from(byte / 64))
            .is_some_and(|word| word >> (byte % 64) & 1 == 1)
    }

    /// Tells whether it is white space that separates.
    #[inline]
    pub(crate) fn is_space(&self, byte: u8) -> bool {
        match byte {
            b' ' => self.space,
            b'\t' => self.tab,
            b'\n' => self.newline,
            _ => false,
        }
    }

    /// Returns where the first separator is.
    #[inline]
    pub(crate) fn find(&self, text: &[u8]) -> Option<usize> {
        if self.default {
            return memchr::memchr3(b' ', b'\t', b'\n', text);
        }
        if self.wide_len == 0 {
            return text.iter().position(|byte| self.has(*byte));
        }
        (0..text.len()).find(|at| self.length(text.get(*at..).unwrap_or_default()) > 0)
    }

    /// Returns how many bytes the separator at the start of a text has; 0 if there is none.
    #[inline]
    pub(crate) fn length(&self, text: &[u8]) -> usize {
        let Some(first) = text.first() else { return 0 };
        if self.has(*first) {
            return 1;
        }
        let wide = self.wide.iter().take(usize::from(self.wide_len));
        wide.map(|c| c.split(|byte| *byte == 0).next().unwrap_or_default())
            .find(|c| text.starts_with(c))
            .map_or(0, <[u8]>::len)
    }

    /// Returns what stands between the elements of `"$*"`.
    pub(crate) fn join(&self) -> &[u8] {
        self.join
            .get(..usize::from(self.join_len))
            .unwrap_or_default()
    }
}

/// What is worked out from `IFS` and the locale.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Digest {
    at: u64,
    ifs: Ifs,
    utf8: bool,
}

impl Vars {
    fn digest(&self) -> Digest {
        let digest = self.digest.get();
        if digest.at == self.changes() + 1 {
            return digest;
        }
        let utf8 = self.locale_is_utf8();
        let digest = Digest {
            at: self.changes() + 1,
            ifs: Ifs::new(self.text(known::IFS), utf8),
            utf8,
        };
        self.digest.set(digest);
        digest
    }

    /// Returns the separators as `IFS` now says.
    pub(crate) fn ifs(&self) -> Ifs {
        self.digest().ifs
    }

    /// Tells whether the locale's characters are UTF-8.
    pub(crate) fn utf8(&self) -> bool {
        self.digest().utf8
    }

    fn locale_is_utf8(&self) -> bool {
        let locale = [known::LC_ALL, known::LC_CTYPE, known::LANG]
            .into_iter()
            .find_map(|name| self.text(name).filter(|text| !text.is_empty()));
        let Some(locale) = locale else { return false };
        let lower = locale.to_ascii_lowercase();
        lower.ends_with(b"utf-8") || lower.ends_with(b"utf8")
    }
}

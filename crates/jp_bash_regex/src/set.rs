//! Sets of characters: Unicode scalar values in UTF-8 mode, bytes otherwise.
//!
//! The names in `[[:alpha:]]` mean what glibc's C.UTF-8 locale means by them.

use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange};

/// A set of characters, and a quick answer for ASCII.
#[derive(Debug, Clone)]
pub(crate) struct Set {
    class: Class,
    /// For bytes below 128 in UTF-8 mode, for all bytes otherwise.
    quick: [u64; 4],
}

impl Set {
    /// Makes a set, with its table for single bytes.
    pub(crate) fn new(class: Class) -> Self {
        let mut quick = [0_u64; 4];
        let mut mark = |byte: u8| {
            if let Some(word) = quick.get_mut(usize::from(byte >> 6)) {
                *word |= 1 << (byte & 63);
            }
        };
        match &class {
            Class::Unicode(set) => {
                for range in set.ranges() {
                    let (low, high) = (u32::from(range.start()), u32::from(range.end()).min(127));
                    for byte in low..=high {
                        mark(u8::try_from(byte).unwrap_or(127));
                    }
                }
            }
            Class::Bytes(set) => {
                for range in set.ranges() {
                    for byte in range.start()..=range.end() {
                        mark(byte);
                    }
                }
            }
        }
        Self { class, quick }
    }

    /// Returns how many ranges the set has.
    pub(crate) fn len(&self) -> usize {
        match &self.class {
            Class::Unicode(set) => set.ranges().len(),
            Class::Bytes(set) => set.ranges().len(),
        }
    }

    /// Returns the set for the automaton.
    pub(crate) fn class(&self) -> &Class {
        &self.class
    }

    /// Returns where the character that begins at `at` ends, if it is in the set.
    #[inline]
    pub(crate) fn step(&self, text: &[u8], at: usize) -> Option<usize> {
        let byte = *text.get(at)?;
        match &self.class {
            Class::Unicode(_) if byte >= 128 => self.step_wide(text, at),
            _ => {
                let word = self.quick.get(usize::from(byte >> 6)).copied().unwrap_or(0);
                (word >> (byte & 63) & 1 == 1).then_some(at + 1)
            }
        }
    }

    fn step_wide(&self, text: &[u8], at: usize) -> Option<usize> {
        let Class::Unicode(set) = &self.class else {
            return None;
        };
        let (found, len) = decode(text.get(at..)?)?;
        let ranges = set.ranges();
        let i = ranges.partition_point(|range| range.end() < found);
        (ranges.get(i)?.start() <= found).then_some(at + len)
    }
}

/// Decodes the character at the start of the bytes; `None` when they are not UTF-8.
pub fn decode(bytes: &[u8]) -> Option<(char, usize)> {
    let first = *bytes.first()?;
    let len = match first {
        0..=0x7f => return Some((char::from(first), 1)),
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return None,
    };
    let text = std::str::from_utf8(bytes.get(..len)?).ok()?;
    text.chars().next().map(|c| (c, len))
}

/// Makes a set of one character and, if asked, its other cases.
pub(crate) fn of_char(c: char, fold: bool) -> ClassUnicode {
    let mut set = ClassUnicode::new([ClassUnicodeRange::new(c, c)]);
    if fold {
        fold_unicode(&mut set);
    }
    set
}

/// Adds the other cases of every character, as far as upper and lower are single characters.
pub(crate) fn fold_unicode(set: &mut ClassUnicode) {
    // The tables are compiled in; without them the set simply stays as it is.
    let _ = set.try_case_fold_simple();
}

/// Makes a byte set of ranges.
pub(crate) fn bytes(ranges: &[(u8, u8)]) -> ClassBytes {
    ClassBytes::new(
        ranges
            .iter()
            .map(|&(low, high)| ClassBytesRange::new(low, high)),
    )
}

fn unicode(ranges: &[(char, char)]) -> ClassUnicode {
    ClassUnicode::new(
        ranges
            .iter()
            .map(|&(low, high)| ClassUnicodeRange::new(low, high)),
    )
}

fn property(pattern: &str) -> ClassUnicode {
    match regex_syntax::parse(pattern).map(regex_syntax::hir::Hir::into_kind) {
        Ok(regex_syntax::hir::HirKind::Class(Class::Unicode(set))) => set,
        _ => ClassUnicode::empty(),
    }
}

/// Returns the bytes of a named class in the C locale.
pub(crate) fn named_bytes(name: &[u8]) -> Option<ClassBytes> {
    Some(bytes(match name {
        b"alpha" => &[(b'A', b'Z'), (b'a', b'z')],
        b"upper" => &[(b'A', b'Z')],
        b"lower" => &[(b'a', b'z')],
        b"digit" => &[(b'0', b'9')],
        b"alnum" => &[(b'0', b'9'), (b'A', b'Z'), (b'a', b'z')],
        b"punct" => &[(b'!', b'/'), (b':', b'@'), (b'[', b'`'), (b'{', b'~')],
        b"space" => &[(b'\t', b'\r'), (b' ', b' ')],
        b"blank" => &[(b'\t', b'\t'), (b' ', b' ')],
        b"cntrl" => &[(0, 31), (127, 127)],
        b"print" => &[(b' ', b'~')],
        b"graph" => &[(b'!', b'~')],
        b"xdigit" => &[(b'0', b'9'), (b'A', b'F'), (b'a', b'f')],
        _ => return None,
    }))
}

/// Returns the characters of a named class in C.UTF-8.
pub(crate) fn named_unicode(name: &[u8]) -> Option<ClassUnicode> {
    Some(match name {
        // glibc counts the digits of other scripts as letters: only 0-9 may be digits.
        b"alpha" => property(r"[\p{Alphabetic}\p{Nd}--[0-9]]"),
        b"upper" => property(r"\p{Uppercase}"),
        b"lower" => property(r"\p{Lowercase}"),
        b"alnum" => property(r"[\p{Alphabetic}\p{Nd}]"),
        b"punct" => property(r"[[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co}]--[\p{Alphabetic}\p{Nd}]]"),
        b"space" => property(r"[\p{White_Space}--[\x{85}\x{a0}\x{2007}\x{202f}]]"),
        b"blank" => property(r"[\t\p{Zs}--[\x{a0}\x{2007}\x{202f}]]"),
        b"cntrl" => property(r"[\p{Cc}\x{2028}\x{2029}]"),
        b"print" => property(r"[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}\p{Cf}\p{Co}]"),
        b"graph" => property(r"[[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co}]\x{a0}\x{2007}\x{202f}]"),
        b"digit" => unicode(&[('0', '9')]),
        b"xdigit" => unicode(&[('0', '9'), ('A', 'F'), ('a', 'f')]),
        _ => return None,
    })
}

/// Returns what `\w` matches.
pub(crate) fn word(utf8: bool) -> Class {
    if utf8 {
        let mut set = named_unicode(b"alnum").unwrap_or_else(ClassUnicode::empty);
        set.push(ClassUnicodeRange::new('_', '_'));
        Class::Unicode(set)
    } else {
        Class::Bytes(bytes(&[
            (b'0', b'9'),
            (b'A', b'Z'),
            (b'_', b'_'),
            (b'a', b'z'),
        ]))
    }
}

/// Returns what `\s` matches.
pub(crate) fn space(utf8: bool) -> Class {
    if utf8 {
        Class::Unicode(named_unicode(b"space").unwrap_or_else(ClassUnicode::empty))
    } else {
        Class::Bytes(named_bytes(b"space").unwrap_or_else(ClassBytes::empty))
    }
}

/// Returns all characters.
pub(crate) fn any(utf8: bool) -> Class {
    if utf8 {
        Class::Unicode(unicode(&[('\0', char::MAX)]))
    } else {
        Class::Bytes(bytes(&[(0, 255)]))
    }
}

/// Takes one byte out of a set.
pub(crate) fn remove(class: &mut Class, byte: u8) {
    match class {
        Class::Unicode(set) => set.difference(&unicode(&[(char::from(byte), char::from(byte))])),
        Class::Bytes(set) => set.difference(&bytes(&[(byte, byte)])),
    }
}

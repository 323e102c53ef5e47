//! Backslash escapes of `echo -e` and `printf`.

use crate::expand::transform::{digits, push_char};

/// Which escapes count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `echo -e`: octal needs `\0`.
    Echo,
    /// `printf %b`: `\0nnn` and `\nnn`.
    Argument,
    /// `printf`'s format: `\nnn`, and `\c` is text.
    Format,
}

/// Adds the text with the escapes of `echo -e`; `false` at `\c`.
pub(crate) fn echo(out: &mut Vec<u8>, text: &[u8], utf8: bool) -> bool {
    whole(out, text, Kind::Echo, utf8)
}

/// Adds the text with escapes; `false` at `\c`.
pub(crate) fn whole(out: &mut Vec<u8>, text: &[u8], kind: Kind, utf8: bool) -> bool {
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        out.extend_from_slice(rest.get(..at).unwrap_or_default());
        let escape = rest.get(at + 1..).unwrap_or_default();
        match one(out, escape, kind, utf8) {
            Some(used) => rest = escape.get(used..).unwrap_or_default(),
            None => return false,
        }
    }
    out.extend_from_slice(rest);
    true
}

/// Adds one escape, given behind its backslash; returns its length, or nothing at `\c`.
pub(crate) fn one(out: &mut Vec<u8>, escape: &[u8], kind: Kind, utf8: bool) -> Option<usize> {
    let Some(letter) = escape.first().copied() else {
        out.push(b'\\');
        return Some(0);
    };
    let rest = escape.get(1..).unwrap_or_default();
    match letter {
        b'a' => out.push(7),
        b'b' => out.push(8),
        b'c' if kind != Kind::Format => return None,
        b'e' | b'E' => out.push(27),
        b'f' => out.push(12),
        b'n' => out.push(b'\n'),
        b'r' => out.push(b'\r'),
        b't' => out.push(b'\t'),
        b'v' => out.push(11),
        b'\\' => out.push(b'\\'),
        b'"' | b'\'' | b'?' if kind != Kind::Echo => out.push(letter),
        b'0' if kind != Kind::Format => {
            let (value, used) = digits(rest, 8, 3);
            out.push(u8::try_from(value & 0xff).unwrap_or(0));
            return Some(1 + used);
        }
        b'0'..=b'7' if kind != Kind::Echo => {
            let (value, used) = digits(escape, 8, 3);
            out.push(u8::try_from(value & 0xff).unwrap_or(0));
            return Some(used);
        }
        b'x' | b'u' | b'U' => {
            let most = match letter {
                b'x' => 2,
                b'u' => 4,
                _ => 8,
            };
            let (value, used) = digits(rest, 16, most);
            if used == 0 {
                out.extend_from_slice(&[b'\\', letter]);
                return Some(1);
            }
            if letter == b'x' {
                out.push(u8::try_from(value & 0xff).unwrap_or(0));
            } else {
                push_char(out, value, utf8);
            }
            return Some(1 + used);
        }
        other => out.extend_from_slice(&[b'\\', other]),
    }
    Some(1)
}

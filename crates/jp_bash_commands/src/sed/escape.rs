//! Escapes that sed resolves before a regular expression or text sees them: `\t`, `\x41`, `\o101`, `\d065`, `\cA`.

use super::compile::Reader;

/// Reads the character that an escape stands for: its byte, and how many bytes follow the letter.
pub(super) fn byte(letter: u8, rest: &[u8]) -> Option<(u8, usize)> {
    Some(match letter {
        b'a' => (7, 0),
        b'f' => (12, 0),
        b'r' => (13, 0),
        b't' => (9, 0),
        b'v' => (11, 0),
        b'c' => (rest.first()?.to_ascii_uppercase() ^ 0x40, 1),
        b'x' => number(rest, 16, 2)?,
        b'o' => number(rest, 8, 3)?,
        b'd' => number(rest, 10, 3)?,
        _ => return None,
    })
}

fn number(rest: &[u8], base: u32, most: usize) -> Option<(u8, usize)> {
    let mut value = 0_u32;
    let mut len = 0;
    for byte in rest.iter().take(most) {
        let Some(digit) = char::from(*byte).to_digit(base) else {
            break;
        };
        value = value * base + digit;
        len += 1;
    }
    let low = u8::try_from(value & 0xff).unwrap_or(0);
    (len > 0).then_some((low, len))
}

/// Resolves escapes in a pattern; what they make is never special.
pub(super) fn in_regex(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    let mut bracket = false;
    while let Some(&here) = text.get(at) {
        let rest = text.get(at + 2..).unwrap_or_default();
        let escape = text
            .get(at + 1)
            .filter(|_| here == b'\\')
            .and_then(|letter| byte(*letter, rest));
        match escape {
            Some((made, len)) => {
                let special = b"\\.[]*^$+?(){}|/".contains(&made);
                if special && !bracket && made != b'{' && made != b'}' {
                    out.extend_from_slice(&[b'[', made, b']']);
                    if matches!(made, b'^' | b'\\') {
                        out.truncate(out.len() - 3);
                        out.extend_from_slice(&[b'\\', made]);
                    }
                } else {
                    out.push(made);
                }
                at += 2 + len;
            }
            None if here == b'\\' && !bracket => {
                out.extend(
                    text.get(at..usize::min(at + 2, text.len()))
                        .unwrap_or_default(),
                );
                at += 2;
            }
            None => {
                match here {
                    b'[' if !bracket => {
                        bracket = true;
                        out.push(here);
                        // A bracket right after the opening is a member.
                        if text.get(at + 1) == Some(&b'^') {
                            at += 1;
                            out.push(b'^');
                        }
                        if text.get(at + 1) == Some(&b']') {
                            at += 1;
                            out.push(b']');
                        }
                        at += 1;
                        continue;
                    }
                    b'[' if matches!(text.get(at + 1), Some(b':' | b'.' | b'=')) => {
                        let kind = text.get(at + 1).copied().unwrap_or(b':');
                        let close = memchr::memmem::find(rest, &[kind, b']']);
                        let len = close.map_or(2, |i| i + 4);
                        out.extend(text.get(at..at + len).unwrap_or_default());
                        at += len;
                        continue;
                    }
                    b']' if bracket => bracket = false,
                    _ => {}
                }
                out.push(here);
                at += 1;
            }
        }
    }
    out
}

/// Resolves one escape in the text of `a`, `i`, `c`; the letter is behind the reader.
pub(super) fn in_text(reader: &mut Reader<'_>, letter: u8, text: &mut Vec<u8>) {
    let rest = reader.text.get(reader.at..).unwrap_or_default();
    if letter == b'n' {
        text.push(b'\n');
        return;
    }
    match byte(letter, rest) {
        Some((made, len)) => {
            text.push(made);
            reader.at += len;
        }
        None => text.push(letter),
    }
}

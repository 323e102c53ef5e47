//! The escapes of `$'…'`.

/// Returns what `$'text'` stands for.
pub(super) fn decode_ansi_c(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        at += 1;
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let Some(&escape) = text.get(at) else {
            out.push(b'\\');
            break;
        };
        at += 1;
        let simple = match escape {
            b'a' => 7,
            b'b' => 8,
            b'e' | b'E' => 27,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 11,
            b'\\' | b'\'' | b'"' | b'?' => escape,
            _ => 0,
        };
        if simple != 0 {
            out.push(simple);
            continue;
        }
        match escape {
            b'0'..=b'7' => {
                at -= 1;
                let value = digits(text, &mut at, 8, 3).unwrap_or(0);
                // A NUL ends the text: bash keeps it in a C string.
                match u8::try_from(value & 0xff).unwrap_or(0) {
                    0 => break,
                    byte => out.push(byte),
                }
            }
            b'x' => match hex_byte(text, &mut at) {
                None => out.extend_from_slice(b"\\x"),
                Some(0) => break,
                Some(byte) => out.push(byte),
            },
            b'u' | b'U' => {
                let most = if escape == b'u' { 4 } else { 8 };
                match digits(text, &mut at, 16, most) {
                    None => out.extend([b'\\', escape]),
                    Some(0) => break,
                    Some(value) => push_utf8(&mut out, value),
                }
            }
            b'c' => {
                let Some(&byte) = text.get(at) else {
                    out.extend_from_slice(b"\\c");
                    break;
                };
                at += 1;
                // `\c\\` is one backslash made a control character.
                at += usize::from(byte == b'\\' && text.get(at) == Some(&b'\\'));
                match byte {
                    b'?' => out.push(0x7f),
                    byte => match byte.to_ascii_uppercase() & 0x1f {
                        0 => break,
                        control => out.push(control),
                    },
                }
            }
            other => out.extend([b'\\', other]),
        }
    }
    out
}

fn hex_byte(text: &[u8], at: &mut usize) -> Option<u8> {
    if text.get(*at) == Some(&b'{') {
        let mut end = *at + 1;
        let value = digits(text, &mut end, 16, 16);
        if let Some(value) = value {
            end += usize::from(text.get(end) == Some(&b'}'));
            *at = end;
            return u8::try_from(value & 0xff).ok();
        }
    }
    digits(text, at, 16, 2).and_then(|value| u8::try_from(value & 0xff).ok())
}

/// Reads up to `most` digits.
fn digits(text: &[u8], at: &mut usize, base: u32, most: usize) -> Option<u32> {
    let mut value = None;
    for _ in 0..most {
        let Some(digit) = text
            .get(*at)
            .and_then(|byte| char::from(*byte).to_digit(base))
        else {
            break;
        };
        value = Some(
            value
                .unwrap_or(0_u32)
                .wrapping_mul(base)
                .wrapping_add(digit),
        );
        *at += 1;
    }
    value
}

/// Adds a code point, also one that Unicode excludes, as bash does.
fn push_utf8(out: &mut Vec<u8>, value: u32) {
    let low = |shift: u32| u8::try_from((value >> shift) & 0x3f).unwrap_or(0) | 0x80;
    let high = |shift: u32, lead: u8| u8::try_from(value >> shift).unwrap_or(0) | lead;
    match value {
        0..=0x7f => out.push(high(0, 0)),
        0x80..=0x7ff => out.extend([high(6, 0xc0), low(0)]),
        0x800..=0xffff => out.extend([high(12, 0xe0), low(6), low(0)]),
        0x1_0000..=0x1f_ffff => out.extend([high(18, 0xf0), low(12), low(6), low(0)]),
        0x20_0000..=0x3ff_ffff => {
            out.extend([high(24, 0xf8), low(18), low(12), low(6), low(0)]);
        }
        0x400_0000..=0x7fff_ffff => {
            out.extend([high(30, 0xfc), low(24), low(18), low(12), low(6), low(0)]);
        }
        _ => {}
    }
}

//! Quoting, the four ways bash does it: `printf %q`, `${x@Q}`, `set`, `declare -p`.

/// Tells whether a character would not show as itself, so that only `$'…'` can hold it.
fn unprintable(c: char) -> bool {
    c.is_control()
        || matches!(u32::from(c), 0x200b..=0x200f | 0x2028..=0x202e | 0xfeff | 0xe000..=0xf8ff)
}

/// Tells whether the text needs `$'…'`.
pub(crate) fn needs_ansi(text: &[u8], utf8: bool) -> bool {
    if text.is_ascii() {
        return text.iter().any(|byte| byte.is_ascii_control());
    }
    if !utf8 {
        return true;
    }
    text.utf8_chunks()
        .any(|chunk| !chunk.invalid().is_empty() || chunk.valid().chars().any(unprintable))
}

/// Adds `$'text'`.
pub(crate) fn ansi(out: &mut Vec<u8>, text: &[u8], utf8: bool) {
    out.extend_from_slice(b"$'");
    for chunk in text.utf8_chunks() {
        for c in chunk.valid().chars() {
            let mut buf = [0; 4];
            let bytes = c.encode_utf8(&mut buf).as_bytes();
            if utf8 && !c.is_ascii() && !unprintable(c) {
                out.extend_from_slice(bytes);
            } else {
                bytes.iter().for_each(|byte| ansi_byte(out, *byte));
            }
        }
        chunk
            .invalid()
            .iter()
            .for_each(|byte| ansi_byte(out, *byte));
    }
    out.push(b'\'');
}

fn ansi_byte(out: &mut Vec<u8>, byte: u8) {
    let letter = match byte {
        7 => b'a',
        8 => b'b',
        27 => b'E',
        12 => b'f',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        11 => b'v',
        b'\\' | b'\'' => byte,
        0x20..=0x7e => {
            out.push(byte);
            return;
        }
        _ => {
            out.extend_from_slice(format!("\\{byte:03o}").as_bytes());
            return;
        }
    };
    out.extend_from_slice(&[b'\\', letter]);
}

/// Adds `'text'`, with `'\''` for each quote.
pub(crate) fn single(out: &mut Vec<u8>, text: &[u8]) {
    if text == b"'" {
        out.extend_from_slice(b"\\'");
        return;
    }
    out.push(b'\'');
    for byte in text {
        if *byte == b'\'' {
            out.extend_from_slice(b"'\\''");
        } else {
            out.push(*byte);
        }
    }
    out.push(b'\'');
}

/// Adds the text as `${x@Q}` gives it.
pub(crate) fn reusable(out: &mut Vec<u8>, text: &[u8], utf8: bool) {
    if needs_ansi(text, utf8) {
        ansi(out, text, utf8);
    } else {
        single(out, text);
    }
}

/// Adds the text as `declare -p` gives it.
pub(crate) fn double_or_ansi(out: &mut Vec<u8>, text: &[u8], utf8: bool) {
    if needs_ansi(text, utf8) {
        ansi(out, text, utf8);
        return;
    }
    out.push(b'"');
    for byte in text {
        if matches!(byte, b'"' | b'$' | b'`' | b'\\') {
            out.push(b'\\');
        }
        out.push(*byte);
    }
    out.push(b'"');
}

/// Adds a key of an associative array as `declare -p` gives it: quoted only where it must be.
pub(crate) fn assoc_key(out: &mut Vec<u8>, key: &[u8], utf8: bool) {
    if needs_ansi(key, utf8) {
        ansi(out, key, utf8);
    } else if has_meta(key) || key == b"@" || key == b"*" {
        double_or_ansi(out, key, utf8);
    } else {
        out.extend_from_slice(key);
    }
}

/// Tells whether a shell would not read the text back as one plain word.
pub(crate) fn has_meta(text: &[u8]) -> bool {
    let mut before = 0;
    text.iter().enumerate().any(|(at, byte)| {
        let meta = match byte {
            b' ' | b'\t' | b'\n' | b'\'' | b'"' | b'\\' | b'|' | b'&' | b';' | b'(' | b')'
            | b'<' | b'>' | b'!' | b'{' | b'}' | b'*' | b'[' | b']' | b'?' | b'^' | b'$' | b'`' => {
                true
            }
            b'~' => at == 0 || matches!(before, b'=' | b':'),
            b'#' => at == 0,
            _ => false,
        };
        before = *byte;
        meta
    })
}

/// Adds the text as `set` lists it.
pub(crate) fn if_needed(out: &mut Vec<u8>, text: &[u8], utf8: bool) {
    if needs_ansi(text, utf8) {
        ansi(out, text, utf8);
    } else if has_meta(text) {
        single(out, text);
    } else {
        out.extend_from_slice(text);
    }
}

/// Adds the text as `printf %q` gives it.
pub(crate) fn backslash(out: &mut Vec<u8>, text: &[u8], utf8: bool) {
    if text.is_empty() {
        out.extend_from_slice(b"''");
        return;
    }
    if needs_ansi(text, utf8) {
        ansi(out, text, utf8);
        return;
    }
    let mut before = 0;
    for (at, byte) in text.iter().enumerate() {
        let quote = match byte {
            b' ' | b'\t' | b'\n' | b'\'' | b'"' | b'\\' | b'|' | b'&' | b';' | b'(' | b')'
            | b'<' | b'>' | b'!' | b'{' | b'}' | b'*' | b'[' | b']' | b'?' | b'^' | b'$' | b'`'
            | b',' => true,
            b'~' => at == 0 || matches!(before, b'=' | b':'),
            b'#' => at == 0,
            _ => false,
        };
        if quote {
            out.push(b'\\');
        }
        out.push(*byte);
        before = *byte;
    }
}

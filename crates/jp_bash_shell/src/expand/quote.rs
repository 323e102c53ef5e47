//! Quoting, the four ways bash does it: `printf %q`, `${x@Q}`, `set`, `declare -p`.

use jp_bash_system::{Budget, PIECE, Stop, pieces};

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

/// The same for a text that may be long.
fn needs_ansi_long(budget: &Budget, text: &[u8], utf8: bool) -> Result<bool, Stop> {
    for piece in pieces(text) {
        budget.work_bytes(piece.len())?;
        if needs_ansi(piece, utf8) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Adds `$'text'`.
pub(crate) fn ansi(out: &mut Vec<u8>, text: &[u8], utf8: bool) {
    out.extend_from_slice(b"$'");
    ansi_inside(out, text, utf8);
    out.push(b'\'');
}

/// The same for a text that may be long.
fn ansi_long(budget: &Budget, out: &mut Vec<u8>, text: &[u8], utf8: bool) -> Result<(), Stop> {
    out.extend_from_slice(b"$'");
    for piece in pieces(text) {
        budget.work_bytes(piece.len())?;
        ansi_inside(out, piece, utf8);
    }
    out.push(b'\'');
    Ok(())
}

fn ansi_inside(out: &mut Vec<u8>, text: &[u8], utf8: bool) {
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
            let digit = |shift: u8| b'0' + ((byte >> shift) & 7);
            out.extend_from_slice(&[b'\\', digit(6), digit(3), digit(0)]);
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
    single_inside(out, text);
    out.push(b'\'');
}

fn single_inside(out: &mut Vec<u8>, text: &[u8]) {
    for byte in text {
        if *byte == b'\'' {
            out.extend_from_slice(b"'\\''");
        } else {
            out.push(*byte);
        }
    }
}

/// Adds a text that may be long as `${x@Q}` gives it.
pub(crate) fn reusable_long(
    budget: &Budget,
    out: &mut Vec<u8>,
    text: &[u8],
    utf8: bool,
) -> Result<(), Stop> {
    if text.len() <= PIECE {
        reusable(out, text, utf8);
        return Ok(());
    }
    if needs_ansi_long(budget, text, utf8)? {
        return ansi_long(budget, out, text, utf8);
    }
    out.push(b'\'');
    for piece in pieces(text) {
        budget.work_bytes(piece.len())?;
        single_inside(out, piece);
    }
    out.push(b'\'');
    Ok(())
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
pub(crate) fn backslash(
    budget: &Budget,
    out: &mut Vec<u8>,
    text: &[u8],
    utf8: bool,
) -> Result<(), Stop> {
    if text.is_empty() {
        out.extend_from_slice(b"''");
        return Ok(());
    }
    if needs_ansi_long(budget, text, utf8)? {
        return ansi_long(budget, out, text, utf8);
    }
    let mut before = None;
    for piece in pieces(text) {
        budget.work_bytes(piece.len())?;
        backslash_inside(out, piece, before);
        before = piece.last().copied();
    }
    Ok(())
}

/// Adds a piece of such a text; `before` is the byte in front of it, if there is one.
fn backslash_inside(out: &mut Vec<u8>, piece: &[u8], mut before: Option<u8>) {
    for byte in piece {
        let quote = match byte {
            b' ' | b'\t' | b'\n' | b'\'' | b'"' | b'\\' | b'|' | b'&' | b';' | b'(' | b')'
            | b'<' | b'>' | b'!' | b'{' | b'}' | b'*' | b'[' | b']' | b'?' | b'^' | b'$' | b'`'
            | b',' => true,
            b'~' => matches!(before, None | Some(b'=' | b':')),
            b'#' => before.is_none(),
            _ => false,
        };
        if quote {
            out.push(b'\\');
        }
        out.push(*byte);
        before = Some(*byte);
    }
}

//! Characters of a text that may be UTF-8, may be broken, or may be meant as bytes.

use jp_bash_system::{Stop, System, pieces};

/// Returns the length of the character that starts a text: 1 for a byte that starts none.
#[inline]
pub(super) fn len(text: &[u8]) -> usize {
    let Some(&first) = text.first() else { return 0 };
    let want = match first {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return 1,
    };
    match text.get(..want) {
        Some(piece) if std::str::from_utf8(piece).is_ok() => want,
        _ => 1,
    }
}

/// Counts characters.
pub(super) fn count(text: &[u8], utf8: bool) -> usize {
    if !utf8 || text.is_ascii() {
        return text.len();
    }
    if let Ok(text) = std::str::from_utf8(text) {
        return text.chars().count();
    }
    let mut rest = text;
    let mut chars = 0;
    while !rest.is_empty() {
        rest = rest.get(len(rest)..).unwrap_or_default();
        chars += 1;
    }
    chars
}

/// Returns the offset of the character of that number, counted from 0; the text's length if there are fewer.
pub(super) fn offset(text: &[u8], chars: usize, utf8: bool) -> usize {
    if !utf8
        || text
            .get(..usize::min(chars, text.len()))
            .is_some_and(<[u8]>::is_ascii)
    {
        return usize::min(chars, text.len());
    }
    let mut at = 0;
    for _ in 0..chars {
        match len(text.get(at..).unwrap_or_default()) {
            0 => break,
            step => at += step,
        }
    }
    at
}

/// Changes the case of all letters.
pub(super) fn change_case(
    sys: &mut dyn System,
    text: &[u8],
    upper: bool,
    utf8: bool,
) -> Result<Vec<u8>, Stop> {
    let mut out = Vec::with_capacity(text.len());
    for piece in pieces(text) {
        push_changed(&mut out, piece, upper, utf8);
        if piece.len() < text.len() {
            sys.work_bytes(piece.len())?;
        }
    }
    Ok(out)
}

fn push_changed(out: &mut Vec<u8>, text: &[u8], upper: bool, utf8: bool) {
    if !utf8 || text.is_ascii() {
        let from = out.len();
        out.extend_from_slice(text);
        let added = out.get_mut(from..).unwrap_or_default();
        if upper {
            added.make_ascii_uppercase();
        } else {
            added.make_ascii_lowercase();
        }
        return;
    }
    for chunk in text.utf8_chunks() {
        for c in chunk.valid().chars() {
            // As `towupper`: one character for one, so `ß` stays.
            let changed = if upper {
                single(c.to_uppercase(), c)
            } else {
                single(c.to_lowercase(), c)
            };
            let mut buf = [0; 4];
            out.extend_from_slice(changed.encode_utf8(&mut buf).as_bytes());
        }
        out.extend_from_slice(chunk.invalid());
    }
}

fn single(mut changed: impl Iterator<Item = char>, otherwise: char) -> char {
    match (changed.next(), changed.next()) {
        (Some(only), None) => only,
        _ => otherwise,
    }
}

//! Names in messages and listings, quoted as GNU's `quotearg` does.

use jp_bash_system::{Stop, System};

/// How a name is quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Literal,
    Shell,
    ShellAlways,
    ShellEscape,
    ShellEscapeAlways,
    C,
    Escape,
    Locale,
}

/// Quotes a value in a message: `‘x’`, or `'x'` where text is bytes.
pub(crate) fn quote(utf8: bool, text: &[u8]) -> Vec<u8> {
    quoted(utf8, text, Style::Locale)
}

/// Quotes a value that may be as long as a line of input, as [`quote`] does.
pub(crate) fn quote_long(sys: &mut dyn System, text: &[u8]) -> Result<Vec<u8>, Stop> {
    let utf8 = sys.utf8();
    let (open, close) = locale_marks(utf8);
    let mut out = Vec::with_capacity(text.len() + 6);
    out.extend_from_slice(open.as_bytes());
    for piece in jp_bash_system::pieces(text) {
        sys.work_bytes(piece.len())?;
        c_like(&mut out, piece, close.as_bytes(), utf8);
    }
    out.extend_from_slice(close.as_bytes());
    Ok(out)
}

/// Returns what stands before and behind a value in a message.
fn locale_marks(utf8: bool) -> (&'static str, &'static str) {
    if utf8 { ("‘", "’") } else { ("'", "'") }
}

/// Quotes a file name so that it can be pasted into a shell, always with quotes: `'x'`.
pub(crate) fn quote_name(utf8: bool, name: &[u8]) -> Vec<u8> {
    quoted(utf8, name, Style::ShellEscapeAlways)
}

/// Quotes a file name only where a shell would need it.
pub(crate) fn quote_name_if_odd(utf8: bool, name: &[u8]) -> Vec<u8> {
    quoted(utf8, name, Style::ShellEscape)
}

fn quoted(utf8: bool, text: &[u8], style: Style) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 6);
    append(&mut out, text, style, utf8);
    out
}

/// Appends a quoted name.
pub(crate) fn append(out: &mut Vec<u8>, name: &[u8], style: Style, utf8: bool) {
    match style {
        Style::Literal => out.extend_from_slice(name),
        Style::Shell | Style::ShellAlways => shell(out, name, style == Style::ShellAlways),
        Style::ShellEscape | Style::ShellEscapeAlways => {
            shell_escape(out, name, style == Style::ShellEscapeAlways, utf8);
        }
        Style::C => {
            out.push(b'"');
            c_like(out, name, b"\"", utf8);
            out.push(b'"');
        }
        Style::Escape => c_like(out, name, b" ", utf8),
        Style::Locale => {
            let (open, close) = locale_marks(utf8);
            out.extend_from_slice(open.as_bytes());
            c_like(out, name, close.as_bytes(), utf8);
            out.extend_from_slice(close.as_bytes());
        }
    }
}

/// Tells whether the shell would see something special in a name.
fn is_special(name: &[u8]) -> bool {
    match name {
        [] | [b'{' | b'}'] | [b'#' | b'~', ..] => return true,
        _ => {}
    }
    name.iter().any(|b| {
        matches!(
            b,
            b' ' | b'!'
                | b'"'
                | b'$'
                | b'&'
                | b'('
                | b')'
                | b'*'
                | b';'
                | b'<'
                | b'='
                | b'>'
                | b'['
                | b'^'
                | b'`'
                | b'|'
                | b'\\'
                | b'\''
                | b'?'
                | b'\t'
                | b'\n'
        )
    })
}

fn shell(out: &mut Vec<u8>, name: &[u8], always: bool) {
    if !always && !is_special(name) {
        return out.extend_from_slice(name);
    }
    if fits_double(name) {
        out.push(b'"');
        out.extend_from_slice(name);
        return out.push(b'"');
    }
    out.push(b'\'');
    for &b in name {
        if b == b'\'' {
            out.extend_from_slice(b"'\\'");
        }
        out.push(b);
    }
    out.push(b'\'');
}

fn shell_escape(out: &mut Vec<u8>, name: &[u8], always: bool, utf8: bool) {
    let strange = pieces(name, utf8).any(|(_, shown)| !shown);
    if !always && !strange && !is_special(name) {
        return out.extend_from_slice(name);
    }
    if !strange && fits_double(name) {
        out.push(b'"');
        out.extend_from_slice(name);
        return out.push(b'"');
    }
    out.push(b'\'');
    let mut escaping = false;
    for (piece, shown) in pieces(name, utf8) {
        if !shown {
            if !escaping {
                out.extend_from_slice(b"'$'");
                escaping = true;
            }
            for &b in piece {
                escape(out, b);
            }
        } else if piece == b"'" {
            out.extend_from_slice(b"'\\''");
            escaping = false;
        } else {
            if escaping {
                out.extend_from_slice(b"''");
                escaping = false;
            }
            out.extend_from_slice(piece);
        }
    }
    out.push(b'\'');
}

/// Tells whether a name with a single quote may stand in double quotes.
fn fits_double(name: &[u8]) -> bool {
    name.contains(&b'\'')
        && name.iter().enumerate().all(|(at, b)| match b {
            b'\'' | b' ' | b'%' | b'+' | b',' | b'-' | b'.' | b'/' | b':' | b'@' | b']' | b'_' => {
                true
            }
            b'#' | b'~' => at == 0,
            b => b.is_ascii_alphanumeric() || *b >= 0x80,
        })
}

fn c_like(out: &mut Vec<u8>, name: &[u8], close: &[u8], utf8: bool) {
    for (piece, shown) in pieces(name, utf8) {
        if !shown {
            piece.iter().for_each(|byte| escape(out, *byte));
        } else {
            if piece == b"\\" || piece == close {
                out.push(b'\\');
            }
            out.extend_from_slice(piece);
        }
    }
}

/// Splits a name into characters, each with whether it can be shown as it is.
pub(crate) fn pieces(name: &[u8], utf8: bool) -> impl Iterator<Item = (&[u8], bool)> {
    let mut rest = name;
    std::iter::from_fn(move || {
        let first = *rest.first()?;
        let (len, shown) = match first_char(rest) {
            _ if first < 0x80 => (1, (0x20..0x7f).contains(&first)),
            Some((ch, len)) if utf8 => {
                let hidden = ch.is_control() || matches!(ch, '\u{2028}' | '\u{2029}');
                (len, !hidden)
            }
            _ => (1, false),
        };
        let (piece, tail) = rest.split_at_checked(len)?;
        rest = tail;
        Some((piece, shown))
    })
}

/// Decodes the first character of UTF-8 text, with its length; `None` if the bytes are not one.
pub(crate) fn first_char(text: &[u8]) -> Option<(char, usize)> {
    let len = match *text.first()? {
        0..=0x7f => 1,
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return None,
    };
    let ch = std::str::from_utf8(text.get(..len)?).ok()?.chars().next()?;
    Some((ch, len))
}

fn escape(out: &mut Vec<u8>, byte: u8) {
    out.push(b'\\');
    let letter = match byte {
        7 => b'a',
        8 => b'b',
        9 => b't',
        10 => b'n',
        11 => b'v',
        12 => b'f',
        13 => b'r',
        _ => {
            let digit = |shift: u8| b'0' + ((byte >> shift) & 7);
            out.extend_from_slice(&[digit(6), digit(3), digit(0)]);
            return;
        }
    };
    out.push(letter);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_quoted_by_locale() {
        for (utf8, text, want) in [
            (true, "x", "‘x’"),
            (true, "a\nb’\\é\u{1}", "‘a\\nb\\’\\\\é\\001’"),
            (false, "a'b", "'a\\'b'"),
            (false, "é", "'\\303\\251'"),
        ] {
            assert_eq!(String::from_utf8_lossy(&quote(utf8, text.as_bytes())), want);
        }
    }

    #[test]
    fn names_are_quoted_for_a_shell() {
        for (text, always, if_odd) in [
            ("x", "'x'", "x"),
            ("", "''", "''"),
            ("a b", "'a b'", "'a b'"),
            ("it's", "\"it's\"", "\"it's\""),
            ("it's $x", "'it'\\''s $x'", "'it'\\''s $x'"),
            ("a\nb", "'a'$'\\n''b'", "'a'$'\\n''b'"),
            ("\n", "''$'\\n'", "''$'\\n'"),
            ("~a", "'~a'", "'~a'"),
            ("a~", "'a~'", "a~"),
        ] {
            assert_eq!(
                String::from_utf8_lossy(&quote_name(true, text.as_bytes())),
                always
            );
            assert_eq!(
                String::from_utf8_lossy(&quote_name_if_odd(true, text.as_bytes())),
                if_odd
            );
        }
    }

    #[test]
    fn each_style_is_gnu_s() {
        for (name, quoted) in [
            (&b"plain"[..], "'plain'"),
            (b"", "''"),
            (b"it's", "\"it's\""),
            (b"it's $x", "'it'\\''s $x'"),
            (b"a\nb", "'a'$'\\n''b'"),
            (b"\nb", "''$'\\n''b'"),
            (b"a\x01\xff", "'a'$'\\001\\377'"),
            ("é".as_bytes(), "'é'"),
            ("it's é@".as_bytes(), "\"it's é@\""),
            (b"a'{", "'a'\\''{'"),
        ] {
            let got = quote_name(true, name);
            assert_eq!(String::from_utf8(got).unwrap(), quoted);
        }
        let mut out = Vec::new();
        append(&mut out, b"a b\n", Style::Escape, true);
        append(&mut out, b"a\"b", Style::C, true);
        append(&mut out, b"x", Style::Locale, true);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "a\\ b\\n\"a\\\"b\"\u{2018}x\u{2019}"
        );
    }
}

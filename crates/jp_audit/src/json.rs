//! Writes JSON text into a reused buffer. Knows strings, numbers and lists, not records.
//!
//! Written by hand because it sits on the path of every call: no allocation, no formatting
//! machinery. What serde_json reads back is tested to be what went in.

use jp_text::{JsonEscape, is_hidden};

/// Says what stands where text was left out, so that no limit cuts silently.
fn cut_marker(out: &mut Vec<u8>, left_out: usize) {
    out.extend_from_slice("…[cut, ".as_bytes());
    number(out, u64::try_from(left_out).unwrap_or(u64::MAX));
    out.extend_from_slice(b" bytes]");
}

/// Writes `"name":` after a comma.
pub(crate) fn name(out: &mut Vec<u8>, name: &str) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
}

/// Writes a number in decimal digits.
pub(crate) fn number(out: &mut Vec<u8>, mut value: u64) {
    let mut digits = [b'0'; 20];
    let mut start = digits.len();
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + u8::try_from(value % 10).unwrap_or(0);
        value /= 10;
        start -= 1;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(digits.get(start..).unwrap_or_default());
}

/// Writes bytes as lower-case hexadecimal digits.
pub(crate) fn hex(out: &mut Vec<u8>, bytes: &[u8; 32]) {
    // Arithmetic instead of a table, which lets the compiler do many digits at once.
    let digit = |value: u8| value + if value < 10 { b'0' } else { b'a' - 10 };
    let mut text = [[0; 2]; 32];
    for (pair, byte) in text.iter_mut().zip(bytes) {
        *pair = [digit(byte >> 4), digit(byte & 15)];
    }
    out.extend_from_slice(text.as_flattened());
}

/// Writes a string of at most `limit` bytes; a longer one ends in a marker that counts the rest.
pub(crate) fn string(out: &mut Vec<u8>, text: &str, limit: usize) {
    out.push(b'"');
    if text.len() <= limit {
        escape(out, text);
    } else {
        let kept = text
            .get(..text.floor_char_boundary(limit))
            .unwrap_or_default();
        escape(out, kept);
        cut_marker(out, text.len() - kept.len());
    }
    out.push(b'"');
}

/// Writes text so that it stays inside its quotes, on its line and harmless on a terminal.
fn escape(out: &mut Vec<u8>, text: &str) {
    // Nearly every text is plain ASCII and goes through in one copy. The check looks at every byte
    // instead of stopping early, which lets the compiler look at many at once.
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~') & (byte != b'"') & (byte != b'\\');
    if text
        .bytes()
        .fold(true, |plain, byte| plain & is_plain(byte))
    {
        out.extend_from_slice(text.as_bytes());
        return;
    }
    for c in text.chars() {
        match c {
            '"' => out.extend_from_slice(b"\\\""),
            '\\' => out.extend_from_slice(b"\\\\"),
            '\n' => out.extend_from_slice(b"\\n"),
            '\t' => out.extend_from_slice(b"\\t"),
            c if is_hidden(c) => out.extend_from_slice(JsonEscape::of(c).as_str().as_bytes()),
            c => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(text: &str, limit: usize) -> String {
        let mut out = Vec::new();
        string(&mut out, text, limit);
        String::from_utf8(out).unwrap()
    }

    proptest! {
        #[test]
        fn any_text_reads_back_and_stays_on_one_line(text in "\\PC*|(?s:.*)") {
            let json = written(&text, usize::MAX);
            prop_assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
            prop_assert!(!json.chars().any(is_hidden));
        }

        #[test]
        fn any_number_reads_back(value: u64) {
            let mut out = Vec::new();
            number(&mut out, value);
            prop_assert_eq!(String::from_utf8(out).unwrap(), value.to_string());
        }

        #[test]
        fn a_cut_is_said(text in "(?s:.*)", limit in 0..40_usize) {
            let back: String = serde_json::from_str(&written(&text, limit)).unwrap();
            if text.len() <= limit {
                prop_assert_eq!(back, text);
            } else {
                let (kept, marker) = back.rsplit_once('…').unwrap();
                prop_assert!(text.starts_with(kept));
                prop_assert_eq!(marker, format!("[cut, {} bytes]", text.len() - kept.len()));
            }
        }
    }

    #[test]
    fn control_and_direction_characters_are_escaped() {
        assert_eq!(
            written("\0\x1b[2J\u{2028}\u{202e}\u{9b}", 99),
            r#""\u0000\u001b[2J\u2028\u202e\u009b""#
        );
        assert_eq!(written("\u{e0041}", 99), r#""\udb40\udc41""#);
        assert_eq!(written("naïve ✓", 99), "\"naïve ✓\"");
    }
}

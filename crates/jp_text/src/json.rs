//! Bounds on a stranger's JSON, checked on its bytes before anything is made of them.
//!
//! A reader makes about 300 bytes of `{}`, so that a few megabytes of text become gigabytes of values.
//! Code that parses what a server, a tool, a registry or a model wrote calls [`check_json`] first.

use core::fmt;

/// The most values that a text may hold, however deep they lie; a key belongs to its value.
pub(crate) const MAX_JSON_VALUES: usize = 250_000;

/// The most lists and objects inside each other; the reader itself goes no deeper.
pub(crate) const MAX_JSON_DEPTH: usize = 127;

/// What a text has too much of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonBound {
    /// It has more than 250,000 values.
    Values,
    /// It is nested more than 127 levels deep.
    Depth,
}

impl fmt::Display for JsonBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Values => write!(f, "more than {MAX_JSON_VALUES} JSON values"),
            Self::Depth => write!(f, "JSON nested deeper than {MAX_JSON_DEPTH} levels"),
        }
    }
}

impl core::error::Error for JsonBound {}

/// Checks that a text holds no more values than may be made of it. Whether it is JSON at all is for
/// the reader to say.
///
/// # Errors
///
/// Which bound it exceeds.
pub fn check_json(text: &[u8]) -> Result<(), JsonBound> {
    let (mut values, mut depth, mut is_opened) = (1_usize, 0_usize, false);
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        let closes = matches!(byte, b']' | b'}');
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => continue,
            b'"' => skip_string(&mut bytes),
            b'[' | b'{' => depth = depth.saturating_add(1),
            b']' | b'}' => depth = depth.saturating_sub(1),
            b',' => values = values.saturating_add(1),
            _ => {}
        }
        // Nothing but the bracket announces the first value.
        if is_opened && !closes {
            values = values.saturating_add(1);
        }
        is_opened = matches!(byte, b'[' | b'{');
        if depth > MAX_JSON_DEPTH {
            return Err(JsonBound::Depth);
        }
        if values > MAX_JSON_VALUES {
            return Err(JsonBound::Values);
        }
    }
    Ok(())
}

/// Goes past the end of a string whose quote was just read.
fn skip_string(bytes: &mut core::slice::Iter<'_, u8>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'"' => return,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::{format, string::String};

    use super::*;

    fn checked(text: &str) -> Result<(), JsonBound> {
        check_json(text.as_bytes())
    }

    /// Returns a list of as many values as these, itself included.
    fn list_of(value: &str, total: usize) -> String {
        let rest = format!(",{value}").repeat(total.saturating_sub(2));
        format!("[{value}{rest}]")
    }

    #[test]
    fn values_are_counted_exactly_whatever_they_are() {
        for value in ["{}", "[]", "7", "null", "\"a,b\"", r#""\",[{\\""#, " { } "] {
            assert_eq!(checked(&list_of(value, MAX_JSON_VALUES)), Ok(()), "{value}");
            let more = checked(&list_of(value, MAX_JSON_VALUES + 1));
            assert_eq!(more, Err(JsonBound::Values), "{value}");
        }
        // One pair is two values: the object and what its key names.
        let pairs = |total| list_of(r#"{"a":1}"#, total);
        assert_eq!(checked(&pairs(MAX_JSON_VALUES / 2)), Ok(()));
        assert_eq!(
            checked(&pairs(MAX_JSON_VALUES / 2 + 2)),
            Err(JsonBound::Values)
        );
    }

    #[test]
    fn depth_is_what_is_open_at_once() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(checked(&nested(MAX_JSON_DEPTH)), Ok(()));
        assert_eq!(checked(&nested(MAX_JSON_DEPTH + 1)), Err(JsonBound::Depth));
        assert_eq!(checked(&"[".repeat(100_000)), Err(JsonBound::Depth));
        assert_eq!(checked(&list_of("{}", 1000)), Ok(()));
    }

    #[test]
    fn brackets_and_commas_inside_strings_are_text() {
        let text = "[{,".repeat(200_000);
        assert_eq!(checked(&format!("[\"{text}\"]")), Ok(()));
        assert_eq!(checked(&format!("[\"\\\"{text}\"]")), Ok(()));
        // Without an end there is nothing after it.
        assert_eq!(checked(&format!("\"{text}")), Ok(()));
        assert_eq!(checked(&format!("\"{text}\\")), Ok(()));
    }

    #[test]
    fn the_limit_is_named() {
        let values = format!("{}", JsonBound::Values);
        assert_eq!(values, "more than 250000 JSON values");
        let depth = format!("{}", JsonBound::Depth);
        assert_eq!(depth, "JSON nested deeper than 127 levels");
    }
}

//! Variables as text that a shell can read back: `declare -p`, `set`, `export -p`, `${x@A}`.

use crate::expand::quote;
use crate::vars::{Attrs, Bytes, Value};

/// Adds the value as `declare -p` shows it: `="text"`, `=([0]="a")`, or nothing when it has none.
pub(crate) fn declared_value(out: &mut Vec<u8>, value: &Value, utf8: bool) {
    match value {
        Value::None => {}
        Value::Scalar(text) => {
            out.push(b'=');
            quote::double_or_ansi(out, text.as_slice(), utf8);
        }
        Value::Indexed(_) | Value::Assoc(_) => {
            out.push(b'=');
            array_literal(out, value, utf8);
        }
    }
}

/// Adds an array as `([0]="a" [1]="b")`; bash leaves a space at the end of an associative one.
pub(crate) fn array_literal(out: &mut Vec<u8>, value: &Value, utf8: bool) {
    out.push(b'(');
    match value {
        Value::Indexed(array) => {
            for (count, (index, text)) in array.iter().enumerate() {
                if count > 0 {
                    out.push(b' ');
                }
                out.push(b'[');
                out.extend_from_slice(Bytes::from_int(index).as_slice());
                out.extend_from_slice(b"]=");
                quote::double_or_ansi(out, text.as_slice(), utf8);
            }
        }
        Value::Assoc(array) => {
            for (key, text) in array.iter() {
                out.push(b'[');
                quote::assoc_key(out, key.as_slice(), utf8);
                out.extend_from_slice(b"]=");
                quote::double_or_ansi(out, text.as_slice(), utf8);
                out.push(b' ');
            }
        }
        _ => {}
    }
    out.push(b')');
}

/// Adds `declare -x name="value"` and a newline.
pub(crate) fn declaration(out: &mut Vec<u8>, name: &[u8], attrs: Attrs, value: &Value, utf8: bool) {
    out.extend_from_slice(b"declare -");
    let letters = attrs.shown().letters();
    if letters.is_empty() {
        out.push(b'-');
    }
    out.extend_from_slice(&letters);
    out.push(b' ');
    out.extend_from_slice(name);
    declared_value(out, value, utf8);
    out.push(b'\n');
}

/// Adds `name=value` as `set` lists it, and a newline.
pub(crate) fn listing(out: &mut Vec<u8>, name: &[u8], value: &Value, utf8: bool) {
    match value {
        Value::None => return,
        Value::Scalar(text) => {
            out.extend_from_slice(name);
            out.push(b'=');
            quote::if_needed(out, text.as_slice(), utf8);
        }
        Value::Indexed(_) | Value::Assoc(_) => {
            out.extend_from_slice(name);
            out.push(b'=');
            array_literal(out, value, utf8);
        }
    }
    out.push(b'\n');
}

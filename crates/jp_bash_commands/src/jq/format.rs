//! The formats of `@name`: text, JSON, CSV, TSV, HTML, URI, shell, Base64, Base32.

use super::fail::{self, Result};
use super::fuel::Fuel;
use super::print;
use super::value::Value;

/// Returns the text of a value as `tostring` gives it.
pub(super) fn text(fuel: &mut Fuel<'_>, value: &Value) -> Result<Vec<u8>> {
    match value {
        Value::String(text) => Ok(text.to_vec()),
        _ => Ok(print::to_json(fuel, value)?),
    }
}

/// Applies a format.
pub(super) fn apply(fuel: &mut Fuel<'_>, name: &[u8], value: Value) -> Result<Value> {
    if name == b"text" && matches!(value, Value::String(_)) {
        return Ok(value);
    }
    let out = match name {
        b"text" => text(fuel, &value)?,
        b"json" => print::to_json(fuel, &value)?,
        b"csv" => row(fuel, &value, Row::Csv)?,
        b"tsv" => row(fuel, &value, Row::Tsv)?,
        b"html" => html(&text(fuel, &value)?),
        b"uri" => uri(&text(fuel, &value)?),
        b"sh" => shell(fuel, &value)?,
        b"base64" => base64(&text(fuel, &value)?),
        b"base64d" => return base64_decode(fuel, &value),
        b"base32" => base32(&text(fuel, &value)?),
        b"base32d" => return base32_decode(fuel, &value),
        _ => {
            let name = String::from_utf8_lossy(name);
            return Err(fail::error(format!("{name} is not a valid format")));
        }
    };
    Ok(Value::owned(out))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Row {
    Csv,
    Tsv,
}

fn row(fuel: &mut Fuel<'_>, value: &Value, kind: Row) -> Result<Vec<u8>> {
    let (name, separator) = match kind {
        Row::Csv => ("csv", b','),
        Row::Tsv => ("tsv", b'\t'),
    };
    let Value::Array(items) = value else {
        let what = format!("cannot be {name}-formatted, only array");
        return Err(fail::about(fuel, value, &what));
    };
    let mut out = Vec::new();
    for (at, item) in items.iter().enumerate() {
        fuel.step()?;
        if at > 0 {
            out.push(separator);
        }
        match item {
            Value::Null => {}
            Value::Bool(true) => out.extend_from_slice(b"true"),
            Value::Bool(false) => out.extend_from_slice(b"false"),
            Value::Number(_) | Value::Literal(_) => out.extend(print::to_json(fuel, item)?),
            Value::String(text) if kind == Row::Csv => {
                out.push(b'"');
                for byte in text.iter() {
                    if *byte == b'"' {
                        out.push(b'"');
                    }
                    out.push(*byte);
                }
                out.push(b'"');
            }
            Value::String(text) => {
                for byte in text.iter() {
                    match byte {
                        b'\t' => out.extend_from_slice(b"\\t"),
                        b'\n' => out.extend_from_slice(b"\\n"),
                        b'\r' => out.extend_from_slice(b"\\r"),
                        b'\\' => out.extend_from_slice(b"\\\\"),
                        _ => out.push(*byte),
                    }
                }
            }
            Value::Array(_) | Value::Object(_) => {
                let what = format!("is not valid in a {name} row");
                return Err(fail::about(fuel, item, &what));
            }
        }
    }
    Ok(out)
}

fn html(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for byte in text {
        match byte {
            b'<' => out.extend_from_slice(b"&lt;"),
            b'>' => out.extend_from_slice(b"&gt;"),
            b'&' => out.extend_from_slice(b"&amp;"),
            b'\'' => out.extend_from_slice(b"&apos;"),
            b'"' => out.extend_from_slice(b"&quot;"),
            _ => out.push(*byte),
        }
    }
    out
}

fn uri(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for byte in text {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(byte) {
            out.push(*byte);
        } else {
            out.extend_from_slice(format!("%{byte:02X}").as_bytes());
        }
    }
    out
}

fn shell(fuel: &mut Fuel<'_>, value: &Value) -> Result<Vec<u8>> {
    let items = match value {
        Value::Array(items) => items.to_vec(),
        other => vec![other.clone()],
    };
    let mut out = Vec::new();
    for (at, item) in items.iter().enumerate() {
        fuel.step()?;
        if at > 0 {
            out.push(b' ');
        }
        match item {
            Value::String(text) => {
                out.push(b'\'');
                for byte in text.iter() {
                    if *byte == b'\'' {
                        out.extend_from_slice(b"'\\''");
                    } else {
                        out.push(*byte);
                    }
                }
                out.push(b'\'');
            }
            Value::Array(_) | Value::Object(_) => {
                return Err(fail::about(fuel, item, "can not be escaped for shell"));
            }
            _ => out.extend(print::to_json(fuel, item)?),
        }
    }
    Ok(out)
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// Encodes in Base64.
pub(super) fn base64(text: &[u8]) -> Vec<u8> {
    encode(text, BASE64, 6, 4)
}

fn base32(text: &[u8]) -> Vec<u8> {
    encode(text, BASE32, 5, 8)
}

/// Writes bits in groups, padded with `=` to a multiple of `block` letters.
fn encode(text: &[u8], letters: &[u8], width: u32, block: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() * 2);
    let (mut bits, mut held) = (0_u32, 0_u32);
    let letter = |n: u32| letters.get(n as usize).copied().unwrap_or(b'=');
    for byte in text {
        bits = (bits << 8) | u32::from(*byte);
        held += 8;
        while held >= width {
            held -= width;
            out.push(letter((bits >> held) & ((1 << width) - 1)));
        }
        bits &= (1 << held) - 1;
    }
    if held > 0 {
        out.push(letter((bits << (width - held)) & ((1 << width) - 1)));
    }
    while out.len() % block != 0 {
        out.push(b'=');
    }
    out
}

/// Reads letters back; `None` at one that does not belong.
fn decode(text: &[u8], letters: &[u8], width: u32) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let (mut bits, mut held) = (0_u32, 0_u32);
    for byte in text.iter().take_while(|byte| **byte != b'=') {
        let value = letters.iter().position(|letter| letter == byte)?;
        bits = (bits << width) | u32::try_from(value).ok()?;
        held += width;
        if held >= 8 {
            held -= 8;
            out.push(u8::try_from((bits >> held) & 0xff).ok()?);
        }
        bits &= (1 << held) - 1;
    }
    Some(out)
}

fn base64_decode(fuel: &mut Fuel<'_>, value: &Value) -> Result<Value> {
    let input = text(fuel, value)?;
    match decode(&input, BASE64, 6) {
        Some(out) if !out.is_empty() || input.iter().all(|byte| *byte == b'=') => {
            Ok(Value::String(super::json::lossy(&out)))
        }
        _ => {
            let shown = Value::owned(input);
            Err(fail::about(fuel, &shown, "is not valid base64 data"))
        }
    }
}

fn base32_decode(fuel: &mut Fuel<'_>, value: &Value) -> Result<Value> {
    let input = text(fuel, value)?;
    match decode(&input, BASE32, 5) {
        Some(out) => Ok(Value::String(super::json::lossy(&out))),
        None => {
            let shown = Value::owned(input);
            Err(fail::about(fuel, &shown, "is not valid base32 data"))
        }
    }
}

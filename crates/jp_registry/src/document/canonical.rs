//! The canonical form of RFC 8785.

use serde_json::{Map, Number, Value};

use super::{
    DocumentError, MAX_DEPTH,
    number::{self, MAX_SAFE},
};

/// Writes a value in the form of RFC 8785: equal values give equal bytes.
///
/// # Errors
///
/// When a number is not one that every reader keeps, or the value is nested too deeply. What was
/// [`super::parse`]d has a canonical form.
pub(crate) fn canonical(value: &Value) -> Result<Vec<u8>, DocumentError> {
    let mut out = String::new();
    write(value, 0, &mut out)?;
    Ok(out.into_bytes())
}

fn write(value: &Value, depth: usize, out: &mut String) -> Result<(), DocumentError> {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => out.push_str(&text(number)?),
        Value::String(text) => quote(text, out),
        Value::Array(items) => list(items, deeper(depth)?, out)?,
        Value::Object(object) => map(object, deeper(depth)?, out)?,
    }
    Ok(())
}

fn deeper(depth: usize) -> Result<usize, DocumentError> {
    if depth < MAX_DEPTH {
        Ok(depth + 1)
    } else {
        Err(DocumentError::TooDeep)
    }
}

fn list(items: &[Value], depth: usize, out: &mut String) -> Result<(), DocumentError> {
    out.push('[');
    for (n, item) in items.iter().enumerate() {
        if n > 0 {
            out.push(',');
        }
        write(item, depth, out)?;
    }
    out.push(']');
    Ok(())
}

fn map(object: &Map<String, Value>, depth: usize, out: &mut String) -> Result<(), DocumentError> {
    let mut entries: Vec<_> = object.iter().collect();
    // By UTF-16, as the RFC wants: that is neither the order of bytes nor of characters.
    entries.sort_unstable_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
    out.push('{');
    for (n, (key, value)) in entries.into_iter().enumerate() {
        if n > 0 {
            out.push(',');
        }
        quote(key, out);
        out.push(':');
        write(value, depth, out)?;
    }
    out.push('}');
    Ok(())
}

fn text(number: &Number) -> Result<String, DocumentError> {
    let lossy = || DocumentError::Number {
        text: number.to_string(),
    };
    if let Some(whole) = number.as_i64() {
        let safe = whole.unsigned_abs() <= MAX_SAFE.unsigned_abs();
        return safe.then(|| whole.to_string()).ok_or_else(lossy);
    }
    let float = number.as_f64().filter(|_| number.is_f64());
    float.map(number::write).ok_or_else(lossy)
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    for char in text.chars() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            '\0'..='\u{1f}' => out.push_str(&format!("\\u{:04x}", u32::from(char))),
            _ => out.push(char),
        }
    }
    out.push('"');
}

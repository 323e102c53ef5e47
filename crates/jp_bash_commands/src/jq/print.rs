//! Writes values as JSON: compact or indented, sorted, in ASCII, in colour. No recursion.

use std::sync::Arc;

use jp_bash_system::{PIECE, Stop};

use super::fuel::Fuel;
use super::number;
use super::text::Text;
use super::value::{Array, Object, Value};

/// How values are shown.
#[derive(Clone, Default)]
pub(super) struct Style {
    /// What one level is indented by; `None` for one line.
    pub(super) indent: Option<Vec<u8>>,
    pub(super) sort: bool,
    pub(super) ascii: bool,
    pub(super) colors: Option<Arc<Colors>>,
}

/// Escape sequences: null, false, true, numbers, strings, arrays, objects, names of members.
pub(super) struct Colors(pub(super) [Vec<u8>; 8]);

/// Deeper values are not shown, as in jq.
const MAX_DEPTH: usize = 10_000;
const RESET: &[u8] = b"\x1b[0m";

enum Open<'v> {
    Array(&'v Array, usize),
    Object(Vec<&'v (Text, Value)>, usize),
}

/// Writes a value.
pub(super) fn dump(
    fuel: &mut Fuel<'_>,
    value: &Value,
    style: &Style,
    out: &mut Vec<u8>,
) -> Result<(), Stop> {
    if let Some(text) = value.text() {
        room_for_text(fuel, text)?;
    }
    let mut writer = Writer { style, out };
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut counted = writer.out.len();
    writer.begin(value, &mut open);
    while let Some(top) = open.last_mut() {
        fuel.step()?;
        // A value that shares its parts may be shown far larger than it is held.
        if writer.out.len() > counted + (1 << 20) {
            fuel.room(writer.out.len())?;
            counted = writer.out.len();
        }
        let depth_now = match top {
            Open::Array(..) => 5,
            Open::Object(..) => 6,
        };
        let next = match top {
            Open::Array(items, at) => {
                let first = *at == 0;
                *at += 1;
                items.get(*at - 1).map(|item| (first, None, item))
            }
            Open::Object(members, at) => {
                let first = *at == 0;
                *at += 1;
                members
                    .get(*at - 1)
                    .map(|member| (first, Some(&member.0), &member.1))
            }
        };
        let depth = open.len();
        match next {
            None => {
                open.pop();
                writer.close(depth_now, depth - 1);
            }
            Some((first, name, item)) => {
                if let Some(text) = item.text() {
                    room_for_text(fuel, text)?;
                }
                writer.separate(depth_now, first, depth, name);
                writer.begin(item, &mut open);
            }
        }
    }
    Ok(())
}

/// Asks for what a long text takes as JSON, before it is written.
fn room_for_text(fuel: &mut Fuel<'_>, text: &[u8]) -> Result<(), Stop> {
    if text.len() <= PIECE {
        return Ok(());
    }
    let mut needed = 0_usize;
    for piece in text.chunks(PIECE) {
        fuel.pay(piece.len())?;
        let escaped = piece.iter().filter(|byte| **byte < 0x20 || **byte == 0x7f);
        needed = needed.saturating_add(piece.len() + escaped.count() * 5);
    }
    fuel.room(needed)
}

/// Returns a value as compact JSON.
pub(super) fn to_json(fuel: &mut Fuel<'_>, value: &Value) -> Result<Vec<u8>, Stop> {
    let mut out = Vec::new();
    dump(fuel, value, &Style::default(), &mut out)?;
    Ok(out)
}

struct Writer<'o, 's> {
    style: &'s Style,
    out: &'o mut Vec<u8>,
}

impl Writer<'_, '_> {
    fn color(&mut self, which: usize) {
        if let Some(color) = self
            .style
            .colors
            .as_ref()
            .and_then(|colors| colors.0.get(which))
        {
            self.out.extend_from_slice(color);
        }
    }

    fn reset(&mut self) {
        if self.style.colors.is_some() {
            self.out.extend_from_slice(RESET);
        }
    }

    fn newline(&mut self, depth: usize) {
        if let Some(indent) = &self.style.indent {
            self.out.push(b'\n');
            for _ in 0..depth {
                self.out.extend_from_slice(indent);
            }
        }
    }

    /// Writes a scalar whole, or the opening of a container.
    fn begin<'v>(&mut self, value: &'v Value, open: &mut Vec<Open<'v>>) {
        let which = match value {
            Value::Null => 0,
            Value::Bool(false) => 1,
            Value::Bool(true) => 2,
            Value::Number(_) | Value::Literal(_) => 3,
            Value::String(_) => 4,
            Value::Array(_) => 5,
            Value::Object(_) => 6,
        };
        self.color(which);
        match value {
            Value::Null => self.out.extend_from_slice(b"null"),
            Value::Bool(false) => self.out.extend_from_slice(b"false"),
            Value::Bool(true) => self.out.extend_from_slice(b"true"),
            Value::Number(number) => number::write(self.out, *number),
            Value::Literal(literal) => self.out.extend_from_slice(&literal.text),
            Value::String(text) => quote(self.out, text, self.style.ascii),
            Value::Array(_) | Value::Object(_) if open.len() > MAX_DEPTH => {
                self.out.extend_from_slice(b"<skipped: too deep>");
            }
            Value::Array(items) if items.is_empty() => self.out.extend_from_slice(b"[]"),
            Value::Object(object) if object.len() == 0 => self.out.extend_from_slice(b"{}"),
            Value::Array(items) => {
                self.out.push(b'[');
                open.push(Open::Array(items, 0));
                return;
            }
            Value::Object(object) => {
                self.out.push(b'{');
                open.push(Open::Object(members(object, self.style.sort), 0));
                return;
            }
        }
        self.reset();
    }

    /// Writes what stands before an item: a comma, a new line, the name.
    fn separate(&mut self, which: usize, first: bool, depth: usize, name: Option<&Text>) {
        if !first {
            self.color(which);
            self.out.push(b',');
        }
        self.newline(depth);
        let Some(name) = name else { return };
        self.reset();
        self.color(7);
        quote(self.out, name, self.style.ascii);
        self.reset();
        self.color(which);
        self.out.push(b':');
        if self.style.indent.is_some() {
            self.out.push(b' ');
        }
        self.reset();
    }

    fn close(&mut self, which: usize, depth: usize) {
        self.color(which);
        self.newline(depth);
        self.color(which);
        self.out.push(if which == 5 { b']' } else { b'}' });
        self.reset();
    }
}

fn members(object: &Object, sort: bool) -> Vec<&(Text, Value)> {
    if sort {
        object.sorted()
    } else {
        object.members().iter().collect()
    }
}

/// Writes a string with quotes and escapes.
pub(super) fn quote(out: &mut Vec<u8>, text: &[u8], ascii: bool) {
    out.push(b'"');
    let mut from = 0;
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' && byte != 0x7f && (byte < 0x80 || !ascii)
        {
            at += 1;
            continue;
        }
        out.extend_from_slice(text.get(from..at).unwrap_or_default());
        at += 1;
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\r' => out.extend_from_slice(b"\\r"),
            8 => out.extend_from_slice(b"\\b"),
            12 => out.extend_from_slice(b"\\f"),
            0..0x20 | 0x7f => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => {
                let rest = text.get(at - 1..).unwrap_or_default();
                let first = rest
                    .utf8_chunks()
                    .next()
                    .and_then(|chunk| chunk.valid().chars().next());
                let char = first.unwrap_or(char::REPLACEMENT_CHARACTER);
                at += char.len_utf8() - 1;
                for unit in char.encode_utf16(&mut [0; 2]) {
                    out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
                }
            }
        }
        from = at;
    }
    out.extend_from_slice(text.get(from..).unwrap_or_default());
    out.push(b'"');
}

//! Reads through the escapes of JSON, URLs and HTML, so that a value is found however its letters are
//! spelled: `\u002B`, `%2b`, `&#43;`, and JSON within JSON. Does not know what is looked for.
//!
//! Escapes are read one layer at a time. `%250A` is a line break that was escaped twice, or the text
//! `%0A` escaped once: only the value that is looked for could tell which, so every layer is searched.

use std::{borrow::Cow, rc::Rc};

use memchr::memchr3;

/// Backslashes before one letter: JSON that is written into JSON doubles them each time.
const MAX_RUN: usize = 8;

/// Layers of escapes that are read.
const LAYERS: usize = 6;

/// Letters and digits between `&` and `;`.
const MAX_ENTITY: usize = 8;

/// A text with its escapes read, and the way back to where everything stands.
pub(super) struct View<'a> {
    pub(super) bytes: Cow<'a, [u8]>,
    /// One for each layer that was read, the outermost first.
    outer: Vec<Rc<Jumps>>,
}

/// After each escape: how far the read text reaches, and how far the text it was read from.
struct Jumps(Vec<(usize, usize)>);

/// What stands at a place.
enum Spelled {
    /// No escape.
    Plain,
    /// The start of what may become one.
    Unfinished,
    /// A byte, and how long its escape is.
    Byte(u8, usize),
    /// A letter, and how long its escape is.
    Letter(char, usize),
}

use Spelled::{Byte, Letter, Plain, Unfinished};

impl<'a> View<'a> {
    /// Reads a text layer by layer: as it is, then with one layer of escapes read, and so on until
    /// nothing in it looks escaped. If more is to come, an escape that is not finished is left out.
    pub(super) fn layers(text: &'a [u8], more: bool) -> Vec<Self> {
        let mut views = vec![Self {
            bytes: Cow::Borrowed(text),
            outer: Vec::new(),
        }];
        while let Some(last) = views.last()
            && views.len() <= LAYERS
            && may_escape(&last.bytes)
        {
            let (bytes, jumps) = read_layer(&last.bytes, more);
            let mut outer = last.outer.clone();
            outer.push(Rc::new(jumps));
            views.push(Self {
                bytes: Cow::Owned(bytes),
                outer,
            });
        }
        views
    }

    /// Returns where in the original something stands.
    pub(super) fn original(&self, at: usize) -> usize {
        let outer = self.outer.iter().rev();
        outer.fold(at, |at, jumps| jumps.original(at))
    }

    /// Returns the first place here that stands at a place of the original or behind it.
    pub(super) fn place_of(&self, original: usize) -> usize {
        let (mut low, mut high) = (0, self.bytes.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.original(middle) < original {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low
    }
}

impl Jumps {
    fn original(&self, at: usize) -> usize {
        let before = self.0.partition_point(|(read, _)| *read <= at);
        let jump = before.checked_sub(1).and_then(|last| self.0.get(last));
        jump.map_or(at, |(read, original)| original + (at - read))
    }
}

/// Returns a text with all layers of escapes read.
pub(super) fn innermost(text: &[u8]) -> Vec<u8> {
    let last = View::layers(text, false).pop();
    last.map(|view| view.bytes.into_owned()).unwrap_or_default()
}

fn read_layer(text: &[u8], more: bool) -> (Vec<u8>, Jumps) {
    let (mut bytes, mut jumps, mut at) = (Vec::with_capacity(text.len()), Vec::new(), 0);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let length = match spelled(rest) {
            Unfinished if more => break,
            Plain | Unfinished => {
                let next = rest.get(1..).unwrap_or_default();
                let plain = memchr3(b'\\', b'%', b'&', next).map_or(rest.len(), |to| to + 1);
                bytes.extend_from_slice(rest.get(..plain).unwrap_or_default());
                at += plain;
                continue;
            }
            Byte(byte, length) => {
                bytes.push(byte);
                length
            }
            Letter(letter, length) => {
                bytes.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                length
            }
        };
        at += length;
        jumps.push((bytes.len(), at));
    }
    (bytes, Jumps(jumps))
}

/// Tells whether anything in a text could be an escape.
pub(super) fn may_escape(text: &[u8]) -> bool {
    memchr3(b'\\', b'%', b'&', text).is_some()
}

fn spelled(text: &[u8]) -> Spelled {
    match text.split_first() {
        Some((b'\\', _)) => backslash(text),
        Some((b'%', rest)) => percent(rest),
        Some((b'&', rest)) => entity(rest),
        _ => Plain,
    }
}

/// Reads `\u002b`, `\x2b`, `\/` and the like, with any usual number of backslashes.
fn backslash(text: &[u8]) -> Spelled {
    let run = backslashes(text);
    let Some(letter) = text.get(run) else {
        return Unfinished;
    };
    let digits = text.get(run + 1..).unwrap_or_default();
    let known = match letter {
        b'u' => match hex(digits, 4) {
            Ok(unit) => return unit_of(text, unit, run + 5),
            Err(other) => other,
        },
        b'x' => match hex(digits, 2) {
            Ok(byte) => Byte(u8::try_from(byte).unwrap_or_default(), run + 3),
            Err(other) => other,
        },
        b'n' => Byte(b'\n', run + 1),
        b'r' => Byte(b'\r', run + 1),
        b't' => Byte(b'\t', run + 1),
        b'/' | b'"' | b'\'' => Byte(*letter, run + 1),
        _ => Plain,
    };
    match known {
        Plain => Byte(b'\\', run),
        other => other,
    }
}

/// Counts the backslashes that a text starts with.
fn backslashes(text: &[u8]) -> usize {
    let run = text.iter().take(MAX_RUN);
    run.take_while(|byte| **byte == b'\\').count()
}

/// Makes a letter of a unit of UTF-16, whose other half may follow.
fn unit_of(text: &[u8], unit: u32, length: usize) -> Spelled {
    if let Some(letter) = char::from_u32(unit) {
        return Letter(letter, length);
    }
    let replaced = Letter(char::REPLACEMENT_CHARACTER, length);
    if !(0xd800..0xdc00).contains(&unit) {
        return replaced;
    }
    let rest = text.get(length..).unwrap_or_default();
    let run = backslashes(rest);
    let low = match rest.get(run) {
        None => return Unfinished,
        Some(b'u') if run > 0 => hex(rest.get(run + 1..).unwrap_or_default(), 4),
        Some(_) => return replaced,
    };
    match low {
        Ok(low @ 0xdc00..0xe000) => {
            let letter = 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
            let letter = char::from_u32(letter).unwrap_or(char::REPLACEMENT_CHARACTER);
            Letter(letter, length + run + 5)
        }
        Err(Unfinished) => Unfinished,
        _ => replaced,
    }
}

/// Reads what follows `%`: two digits.
fn percent(rest: &[u8]) -> Spelled {
    match hex(rest, 2) {
        Ok(byte) => Byte(u8::try_from(byte).unwrap_or_default(), 3),
        Err(other) => other,
    }
}

/// Reads what follows `&`: `#43;`, `#x2b;` or a name.
fn entity(rest: &[u8]) -> Spelled {
    let name = rest.iter().take(MAX_ENTITY);
    let name = name.take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'#');
    let length = name.count();
    match rest.get(length) {
        None => return Unfinished,
        Some(b';') => {}
        Some(_) => return Plain,
    }
    let length = length + 2;
    let name = rest.get(..length - 2).unwrap_or_default();
    let number = |digits: &[u8], radix| {
        let digits = std::str::from_utf8(digits).ok()?;
        let number = u32::from_str_radix(digits, radix).ok()?;
        char::from_u32(number)
    };
    let letter = match name {
        b"amp" => Some('&'),
        b"lt" => Some('<'),
        b"gt" => Some('>'),
        b"quot" => Some('"'),
        b"apos" => Some('\''),
        [b'#', b'x' | b'X', digits @ ..] => number(digits, 16),
        [b'#', digits @ ..] => number(digits, 10),
        _ => None,
    };
    letter.map_or(Plain, |letter| Letter(letter, length))
}

/// Reads hexadecimal digits; `Err` tells whether they might still come.
fn hex(text: &[u8], count: usize) -> Result<u32, Spelled> {
    let found = text.get(..count).unwrap_or(text);
    if !found.iter().all(u8::is_ascii_hexdigit) {
        return Err(Plain);
    }
    if found.len() < count {
        return Err(Unfinished);
    }
    let digits = std::str::from_utf8(found).map_err(|_| Plain)?;
    u32::from_str_radix(digits, 16).map_err(|_| Plain)
}

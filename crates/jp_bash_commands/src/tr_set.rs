//! The arrays of `tr`: `a-z`, `[:alpha:]`, `[x*3]`, `\n`, with GNU's messages.

use super::quote::quote;

type Belongs = fn(u8) -> bool;

/// Character classes, and whether a byte belongs (GNU `tr` works on bytes, in every locale).
const CLASSES: &[(&str, Belongs)] = &[
    ("alnum", |b| b.is_ascii_alphanumeric()),
    ("alpha", |b| b.is_ascii_alphabetic()),
    ("blank", |b| b == b' ' || b == b'\t'),
    ("cntrl", |b| b.is_ascii_control()),
    ("digit", |b| b.is_ascii_digit()),
    ("graph", |b| b.is_ascii_graphic()),
    ("lower", |b| b.is_ascii_lowercase()),
    ("print", |b| b.is_ascii_graphic() || b == b' '),
    ("punct", |b| b.is_ascii_punctuation()),
    ("space", |b| matches!(b, b' ' | 9..=13)),
    ("upper", |b| b.is_ascii_uppercase()),
    ("xdigit", |b| b.is_ascii_hexdigit()),
];

/// `[:lower:]` or `[:upper:]`, which pair up when translating.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    Lower,
    Upper,
}

/// A part of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Byte(u8),
    Range(u8, u8),
    Class(Vec<u8>, Option<Case>),
    Equivalence(u8),
    /// `[x*n]`; 0 stands for as many as it takes.
    Repeat(u8, u64),
}

impl Part {
    /// Returns how many bytes the part stands for.
    pub(super) fn len(&self) -> u64 {
        match self {
            Self::Byte(_) | Self::Equivalence(_) => 1,
            Self::Range(from, to) => u64::from(to - from) + 1,
            Self::Class(bytes, _) => bytes.len() as u64,
            Self::Repeat(_, n) => *n,
        }
    }

    /// Appends the bytes, up to a length of the whole.
    pub(super) fn expand(&self, out: &mut Vec<u8>, most: usize) {
        match self {
            Self::Byte(byte) | Self::Equivalence(byte) => out.push(*byte),
            Self::Range(from, to) => out.extend(*from..=*to),
            Self::Class(bytes, _) => out.extend_from_slice(bytes),
            Self::Repeat(byte, n) => {
                let room = most.saturating_sub(out.len());
                let n = usize::try_from(*n).map_or(room, |n| usize::min(n, room));
                out.resize(out.len() + n, *byte);
            }
        }
    }
}

/// An array, and the warnings it is worth.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Array {
    pub(super) parts: Vec<Part>,
    pub(super) warnings: Vec<Vec<u8>>,
}

/// A byte and whether a backslash took its meaning away.
#[derive(Debug, Clone, Copy)]
struct Sign {
    byte: u8,
    escaped: bool,
}

impl Sign {
    fn is(self, byte: u8) -> bool {
        !self.escaped && self.byte == byte
    }
}

/// Reads an array; `Err` holds the warnings met so far and then the message.
pub(super) fn read(text: &[u8], utf8: bool) -> Result<Array, Vec<Vec<u8>>> {
    let mut array = Array::default();
    let signs = unescape(text, &mut array.warnings);
    match read_parts(&signs, &mut array.parts, utf8) {
        Ok(()) => Ok(array),
        Err(message) => {
            array.warnings.push(message);
            Err(array.warnings)
        }
    }
}

fn unescape(text: &[u8], warnings: &mut Vec<Vec<u8>>) -> Vec<Sign> {
    let mut signs = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        at += 1;
        if byte != b'\\' {
            signs.push(Sign {
                byte,
                escaped: false,
            });
            continue;
        }
        let Some(&next) = text.get(at) else {
            let warning = b"warning: an unescaped backslash at end of string is not portable";
            warnings.push(warning.to_vec());
            // It stands for itself, and is not special.
            signs.push(Sign {
                byte,
                escaped: false,
            });
            break;
        };
        at += 1;
        let byte = match next {
            b'a' => 7,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 11,
            b'0'..=b'7' => {
                let (byte, used) = octal(text.get(at - 1..).unwrap_or_default(), warnings);
                at += used - 1;
                byte
            }
            other => other,
        };
        signs.push(Sign {
            byte,
            escaped: true,
        });
    }
    signs
}

/// Reads up to three octal digits that fit a byte.
fn octal(digits: &[u8], warnings: &mut Vec<Vec<u8>>) -> (u8, usize) {
    let mut value = 0u8;
    let mut used = 0;
    for digit in digits.iter().take(3) {
        if !matches!(digit, b'0'..=b'7') {
            break;
        }
        match value
            .checked_mul(8)
            .and_then(|value| value.checked_add(digit - b'0'))
        {
            Some(next) => value = next,
            None => {
                let three =
                    String::from_utf8_lossy(digits.get(..3).unwrap_or_default()).into_owned();
                let (two, last) = three.split_at(2);
                let warning = format!(
                    "warning: the ambiguous octal escape \\{three} is being\n\tinterpreted as the 2-byte sequence \\0{two}, {last}"
                );
                warnings.push(warning.into_bytes());
                break;
            }
        }
        used += 1;
    }
    (value, used)
}

fn read_parts(signs: &[Sign], parts: &mut Vec<Part>, utf8: bool) -> Result<(), Vec<u8>> {
    let mut at = 0;
    while let Some(&sign) = signs.get(at) {
        let rest = signs.get(at..).unwrap_or_default();
        if sign.is(b'[')
            && let Some((part, used)) = bracket(rest, utf8)?
        {
            parts.push(part);
            at += used;
            continue;
        }
        match (rest.get(1), rest.get(2)) {
            (Some(dash), Some(to)) if dash.is(b'-') => {
                if to.byte < sign.byte {
                    let shown = [shown(sign.byte), b"-".to_vec(), shown(to.byte)].concat();
                    let tail = b"' are in reverse collating sequence order";
                    return Err([b"range-endpoints of '", shown.as_slice(), tail].concat());
                }
                parts.push(Part::Range(sign.byte, to.byte));
                at += 3;
            }
            _ => {
                parts.push(Part::Byte(sign.byte));
                at += 1;
            }
        }
    }
    Ok(())
}

/// Reads `[:class:]`, `[=c=]` or `[c*n]`; `None` if the bracket is just one.
fn bracket(signs: &[Sign], utf8: bool) -> Result<Option<(Part, usize)>, Vec<u8>> {
    let Some(&kind) = signs.get(1) else {
        return Ok(None);
    };
    if kind.is(b':') || kind.is(b'=') {
        let inner = signs.get(2..).unwrap_or_default();
        let close = inner
            .windows(2)
            .position(|pair| matches!(pair, [a, b] if a.is(kind.byte) && b.is(b']')));
        if let Some(len) = close {
            let name: Vec<u8> = inner.iter().take(len).map(|sign| sign.byte).collect();
            // `[:*]` and `[=*3]` are repeats of that character.
            let maybe_repeat = inner.first().is_some_and(|sign| sign.is(b'*'));
            match class(kind.byte, &name, utf8) {
                Ok(part) => return Ok(Some((part, len + 4))),
                Err(message) if !maybe_repeat => return Err(message),
                Err(_) => {}
            }
        }
    }
    repeat(signs, kind, utf8)
}

fn class(kind: u8, name: &[u8], utf8: bool) -> Result<Part, Vec<u8>> {
    if kind == b'=' {
        return match name {
            [] => Err(b"missing equivalence class character '[==]'".to_vec()),
            [one] => Ok(Part::Equivalence(*one)),
            _ => Err([
                name.iter()
                    .flat_map(|byte| shown(*byte))
                    .collect::<Vec<u8>>()
                    .as_slice(),
                b": equivalence class operand must be a single character",
            ]
            .concat()),
        };
    }
    if name.is_empty() {
        return Err(b"missing character class name '[::]'".to_vec());
    }
    let found = CLASSES.iter().find(|(known, _)| known.as_bytes() == name);
    let Some((known, belongs)) = found else {
        return Err([b"invalid character class ", quote(utf8, name).as_slice()].concat());
    };
    let case = match *known {
        "lower" => Some(Case::Lower),
        "upper" => Some(Case::Upper),
        _ => None,
    };
    Ok(Part::Class(
        (0..=255).filter(|byte| belongs(*byte)).collect(),
        case,
    ))
}

fn repeat(signs: &[Sign], what: Sign, utf8: bool) -> Result<Option<(Part, usize)>, Vec<u8>> {
    if !signs.get(2).is_some_and(|star| star.is(b'*')) {
        return Ok(None);
    }
    let count = signs.get(3..).unwrap_or_default();
    let Some(len) = count.iter().position(|sign| sign.is(b']')) else {
        return Ok(None);
    };
    // An escaped sign in between makes it plain text.
    if count.iter().take(len).any(|sign| sign.escaped) {
        return Ok(None);
    }
    let digits: Vec<u8> = count.iter().take(len).map(|sign| sign.byte).collect();
    let base = if digits.first() == Some(&b'0') { 8 } else { 10 };
    let number = digits.iter().try_fold(0u64, |sum, digit| {
        let digit = char::from(*digit).to_digit(base)?;
        sum.checked_mul(u64::from(base))?
            .checked_add(u64::from(digit))
    });
    match number {
        Some(number) => Ok(Some((Part::Repeat(what.byte, number), len + 4))),
        None => Err([
            b"invalid repeat count ",
            quote(utf8, &digits).as_slice(),
            b" in [c*n] construct",
        ]
        .concat()),
    }
}

fn shown(byte: u8) -> Vec<u8> {
    if byte.is_ascii_graphic() || byte == b' ' {
        vec![byte]
    } else {
        format!("\\{byte:03o}").into_bytes()
    }
}

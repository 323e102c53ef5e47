//! `${x@Q}` and the other transformations.

use jp_bash_syntax::ast::{CaseOp, Param};
use jp_bash_system::{PIECE, System};

use crate::expand::case::{self, CaseChange};
use crate::expand::param::{Held, Subject, Target};
use crate::expand::{Shell, quote};
use crate::flow::Flow;
use crate::vars::subscript::Key;
use crate::vars::{Attrs, Bytes, Value, print};

impl Shell<'_> {
    /// Applies a transformation.
    pub(super) fn transform(
        &mut self,
        param: &Param,
        subject: Subject,
        op: u8,
    ) -> Result<Held, Flow> {
        let utf8 = self.utf8();
        let cased = |op, all| move |text: &[u8]| case::change(text, CaseChange { op, all }, utf8);
        match op {
            b'Q' => self.each(subject.held, |shell, text| {
                let mut out = Vec::with_capacity(text.len() + 2);
                quote::reusable_long(&shell.kernel.budget, &mut out, text, utf8)?;
                Ok(Some(Bytes::from(out)))
            }),
            b'E' => self.each(subject.held, |_, text| {
                Ok(Some(Bytes::from(ansi_unescape(text, utf8))))
            }),
            b'P' => self.each(subject.held, |shell, text| {
                Ok(Some(Bytes::from(shell.prompt(text)?)))
            }),
            b'U' => {
                let change = cased(CaseOp::Upper, true);
                self.each(subject.held, |_, text| Ok(Some(Bytes::from(change(text)))))
            }
            b'u' => {
                let change = cased(CaseOp::Upper, false);
                self.each(subject.held, |_, text| Ok(Some(Bytes::from(change(text)))))
            }
            b'L' => {
                let change = cased(CaseOp::Lower, true);
                self.each(subject.held, |_, text| Ok(Some(Bytes::from(change(text)))))
            }
            b'a' => Ok(self.attribute_letters(&subject)),
            b'A' => self.as_assignment(&subject),
            b'K' | b'k' => self.keys_and_values(&subject, op),
            _ => self.bad_substitution(param),
        }
    }

    fn attribute_letters(&self, subject: &Subject) -> Held {
        let Target::Place(place) = &subject.target else {
            return subject.held.clone_empty();
        };
        let letters = Bytes::from(self.vars.attrs(place.name).shown().letters());
        match &subject.held {
            Held::List { items, star } => Held::List {
                items: items.iter().map(|_| letters.clone()).collect(),
                star: *star,
            },
            _ => Held::One(letters),
        }
    }

    fn as_assignment(&mut self, subject: &Subject) -> Result<Held, Flow> {
        let utf8 = self.utf8();
        let Target::Place(place) = &subject.target else {
            if let (Target::Special(_), Held::List { items, star }) =
                (&subject.target, &subject.held)
            {
                let mut out = b"set --".to_vec();
                for item in items {
                    out.push(b' ');
                    quote::reusable(&mut out, item.as_slice(), utf8);
                }
                return Ok(Held::List {
                    items: vec![Bytes::from(out)],
                    star: *star,
                });
            }
            return Ok(subject.held.clone_empty());
        };
        let attrs = self.vars.attrs(place.name).shown();
        let name = self.name_text(place.name);
        let value = self.value_of(place.name)?;
        let mut out = Vec::new();
        let whole = matches!(place.key, Some(Key::At | Key::Star));
        if !attrs.is_empty() || (whole && !matches!(value, Value::Scalar(_))) {
            out.extend_from_slice(b"declare -");
            out.extend_from_slice(&attrs.letters());
            out.push(b' ');
        }
        out.extend_from_slice(&name);
        match &value {
            Value::Indexed(_) | Value::Assoc(_) if whole => {
                out.push(b'=');
                print::array_literal(&mut out, &value, utf8);
            }
            _ => {
                if let Held::One(text) = &subject.held {
                    out.push(b'=');
                    quote::reusable(&mut out, text.as_slice(), utf8);
                } else if let Held::List { items, .. } = &subject.held
                    && let Some(text) = items.first()
                {
                    out.push(b'=');
                    quote::reusable(&mut out, text.as_slice(), utf8);
                } else if attrs.is_empty() {
                    return Ok(Held::Nothing);
                }
            }
        }
        Ok(Held::One(Bytes::from(out)))
    }

    /// `@K` gives one text `key "value" …`, `@k` separate words.
    fn keys_and_values(&mut self, subject: &Subject, op: u8) -> Result<Held, Flow> {
        let utf8 = self.utf8();
        let quoted = |text: &Bytes| {
            let mut out = Vec::new();
            quote::reusable(&mut out, text.as_slice(), utf8);
            Bytes::from(out)
        };
        let (Target::Place(place), Held::List { star, .. }) = (&subject.target, &subject.held)
        else {
            return Ok(match &subject.held {
                Held::One(text) => Held::One(quoted(text)),
                Held::List { items, star } => Held::List {
                    items: items.iter().map(quoted).collect(),
                    star: *star,
                },
                Held::Nothing => Held::Nothing,
            });
        };
        let pairs: Vec<(Bytes, Bytes)> = match self.value_of(place.name)? {
            Value::Indexed(array) => array
                .iter()
                .map(|(at, text)| (Bytes::from_int(at), text.clone()))
                .collect(),
            Value::Assoc(array) => array
                .iter()
                .map(|(key, text)| (key.clone(), text.clone()))
                .collect(),
            Value::Scalar(text) => return Ok(Held::One(quoted(&text))),
            Value::None => Vec::new(),
        };
        if op == b'k' {
            return Ok(Held::List {
                items: pairs.into_iter().flat_map(|(k, v)| [k, v]).collect(),
                star: *star,
            });
        }
        let mut out = Vec::new();
        for (count, (key, text)) in pairs.iter().enumerate() {
            if count > 0 {
                out.push(b' ');
            }
            quote::assoc_key(&mut out, key.as_slice(), utf8);
            out.push(b' ');
            quote::double_or_ansi(&mut out, text.as_slice(), utf8);
        }
        if self.vars.attrs(place.name).has(Attrs::ASSOC) && !pairs.is_empty() {
            out.push(b' ');
        }
        Ok(Held::One(Bytes::from(out)))
    }

    /// Expands a text as a prompt: the escapes that mean something without a terminal, then as in double quotes.
    pub(crate) fn prompt(&mut self, text: &[u8]) -> Result<Vec<u8>, Flow> {
        self.kernel.budget.room(text.len())?;
        let mut out = Vec::with_capacity(text.len());
        let mut bytes = text.iter().copied();
        let mut asked = 0;
        while let Some(byte) = bytes.next() {
            if out.len() >= asked + PIECE {
                // An escape may stand for far more than itself, and growing takes the old and the new place.
                asked = out.len();
                self.kernel.budget.room(asked.saturating_mul(3))?;
            }
            if byte != b'\\' {
                out.push(byte);
                continue;
            }
            match bytes.next() {
                Some(letter) => self.prompt_escape(&mut out, letter, &mut bytes)?,
                None => out.push(b'\\'),
            }
        }
        self.expand_text(&out)
    }

    fn prompt_time(&self, format: &[u8]) -> Vec<u8> {
        let zone = self.vars.text(crate::vars::known::TZ);
        crate::builtins::time_text(format, self.now().secs, zone)
    }

    fn prompt_escape(
        &mut self,
        out: &mut Vec<u8>,
        letter: u8,
        rest: &mut dyn Iterator<Item = u8>,
    ) -> Result<(), Flow> {
        use crate::vars::known;
        match letter {
            b'a' => out.push(7),
            b'e' => out.push(27),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b's' => out.extend_from_slice(b"bash"),
            b'u' => out.extend_from_slice(&self.user()),
            b'h' => {
                let host = self.host_name();
                out.extend_from_slice(host.split(|b| *b == b'.').next().unwrap_or_default());
            }
            b'H' => out.extend_from_slice(&self.host_name()),
            b'v' => out.extend_from_slice(b"5.2"),
            b'V' => out.extend_from_slice(b"5.2.15"),
            b'w' | b'W' => {
                let pwd = self.vars.text(known::PWD).unwrap_or_default().to_vec();
                let home = self.vars.text(known::HOME).unwrap_or_default().to_vec();
                let shown = match pwd.strip_prefix(home.as_slice()) {
                    Some(tail) if home.len() > 1 && (tail.is_empty() || tail.starts_with(b"/")) => {
                        [b"~", tail].concat()
                    }
                    _ => pwd,
                };
                let last = shown.rsplit(|b| *b == b'/').next().unwrap_or_default();
                if letter == b'W' && !last.is_empty() {
                    out.extend_from_slice(last);
                } else {
                    out.extend_from_slice(&shown);
                }
            }
            b'$' => out.push(if self.uid() == 0 { b'#' } else { b'$' }),
            b'j' => {
                let jobs = self.jobs.list.iter().filter(|job| !job.hidden).count();
                out.extend_from_slice(jobs.to_string().as_bytes());
            }
            b'l' => out.extend_from_slice(b"tty"),
            b'd' => out.extend_from_slice(&self.prompt_time(b"%a %b %d")),
            b't' => out.extend_from_slice(&self.prompt_time(b"%H:%M:%S")),
            b'T' => out.extend_from_slice(&self.prompt_time(b"%I:%M:%S")),
            b'@' => out.extend_from_slice(&self.prompt_time(b"%I:%M %p")),
            b'A' => out.extend_from_slice(&self.prompt_time(b"%H:%M")),
            b'D' => match rest.next() {
                Some(b'{') => {
                    let format: Vec<u8> = rest.take_while(|byte| *byte != b'}').collect();
                    let format = if format.is_empty() {
                        b"%X".to_vec()
                    } else {
                        format
                    };
                    out.extend_from_slice(&self.prompt_time(&format));
                }
                other => out.extend(b"\\D".iter().copied().chain(other)),
            },
            b'#' | b'!' => out.push(b'1'),
            b'[' | b']' => {}
            b'\\' => out.push(b'\\'),
            b'0'..=b'7' => {
                let mut value = u32::from(letter - b'0');
                for _ in 0..2 {
                    match rest.next() {
                        Some(digit @ b'0'..=b'7') => value = value * 8 + u32::from(digit - b'0'),
                        Some(other) => {
                            out.push(u8::try_from(value & 0xff).unwrap_or(0));
                            out.push(other);
                            return Ok(());
                        }
                        None => break,
                    }
                }
                out.push(u8::try_from(value & 0xff).unwrap_or(0));
            }
            other => out.extend_from_slice(&[b'\\', other]),
        }
        Ok(())
    }
}

impl Held {
    /// Returns the same shape with empty texts.
    fn clone_empty(&self) -> Self {
        match self {
            Self::Nothing => Self::Nothing,
            Self::One(_) => Self::One(Bytes::EMPTY),
            Self::List { items, star } => Self::List {
                items: items.iter().map(|_| Bytes::EMPTY).collect(),
                star: *star,
            },
        }
    }
}

/// Reads the escapes of `$'…'`.
pub(crate) fn ansi_unescape(text: &[u8], utf8: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        at += 1;
        if *byte != b'\\' {
            out.push(*byte);
            continue;
        }
        let Some(letter) = text.get(at) else {
            out.push(b'\\');
            break;
        };
        at += 1;
        match letter {
            b'a' => out.push(7),
            b'b' => out.push(8),
            b'e' | b'E' => out.push(27),
            b'f' => out.push(12),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'v' => out.push(11),
            b'\\' | b'\'' | b'"' | b'?' => out.push(*letter),
            b'0'..=b'7' => {
                let (value, used) = digits(text.get(at - 1..).unwrap_or_default(), 8, 3);
                at += used - 1;
                out.push(u8::try_from(value & 0xff).unwrap_or(0));
            }
            b'x' | b'u' | b'U' => {
                let most = match letter {
                    b'x' => 2,
                    b'u' => 4,
                    _ => 8,
                };
                let (value, used) = digits(text.get(at..).unwrap_or_default(), 16, most);
                if used == 0 {
                    out.extend_from_slice(&[b'\\', *letter]);
                    continue;
                }
                at += used;
                if *letter == b'x' {
                    out.push(u8::try_from(value & 0xff).unwrap_or(0));
                } else {
                    push_char(&mut out, value, utf8);
                }
            }
            b'c' => {
                if let Some(c) = text.get(at) {
                    at += 1;
                    out.push(c.to_ascii_uppercase() ^ 0x40 & 0x7f);
                }
            }
            other => out.extend_from_slice(&[b'\\', *other]),
        }
    }
    // Bash's strings end at a NUL.
    if let Some(end) = memchr::memchr(0, &out) {
        out.truncate(end);
    }
    out
}

/// Adds a code point in the locale's encoding.
pub(crate) fn push_char(out: &mut Vec<u8>, value: u32, utf8: bool) {
    match char::from_u32(value) {
        Some(c) if utf8 || c.is_ascii() => {
            let mut buf = [0; 4];
            out.extend_from_slice(c.encode_utf8(&mut buf).as_bytes());
        }
        Some(c) if u32::from(c) > 0xffff => {
            out.extend_from_slice(format!("\\U{:08X}", u32::from(c)).as_bytes());
        }
        Some(c) => out.extend_from_slice(format!("\\u{:04X}", u32::from(c)).as_bytes()),
        None => {}
    }
}

/// Reads digits of a base; returns the value and how many there were.
pub(crate) fn digits(text: &[u8], base: u32, most: usize) -> (u32, usize) {
    let mut value = 0_u32;
    let mut used = 0;
    for byte in text.iter().take(most) {
        let Some(digit) = char::from(*byte).to_digit(base) else {
            break;
        };
        value = value.wrapping_mul(base).wrapping_add(digit);
        used += 1;
    }
    (value, used)
}

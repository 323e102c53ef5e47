//! Variables that mean something to the interpreter: reading and setting them.

use std::rc::Rc;

use super::super::number;
use super::super::op::{SPECIALS, Special};
use super::super::record::Splitter;
use super::super::streams::Separator;
use super::super::value::{Meter, Value};
use super::{Ran, Vm};

/// What fields are made of: whichever variable was set last.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Fs,
    Fpat,
    Widths,
}

/// Values of the special variables, and the bytes that printing needs.
pub(super) struct Specials {
    values: Vec<Value>,
    pub(super) nr: f64,
    pub(super) fnr: f64,
    pub(super) ofs: Vec<u8>,
    pub(super) ors: Vec<u8>,
    pub(super) subsep: Vec<u8>,
    pub(super) convfmt: Vec<u8>,
    pub(super) ofmt: Vec<u8>,
    mode: Mode,
}

impl Default for Specials {
    fn default() -> Self {
        let meter = Meter::default();
        let mut values = vec![Value::Uninit; SPECIALS.len()];
        let texts: [(Special, &[u8]); 10] = [
            (Special::Fs, b" "),
            (Special::Ofs, b" "),
            (Special::Ors, b"\n"),
            (Special::Rs, b"\n"),
            (Special::Rt, b""),
            (Special::Subsep, b"\x1c"),
            (Special::Convfmt, b"%.6g"),
            (Special::Ofmt, b"%.6g"),
            (Special::Filename, b""),
            (Special::Fpat, b"[^[:space:]]+"),
        ];
        for (special, text) in texts {
            if let Some(slot) = values.get_mut(special as usize) {
                *slot = Value::string(text, &meter);
            }
        }
        for (special, num) in [
            (Special::Rstart, 0.0),
            (Special::Rlength, -1.0),
            (Special::Ignorecase, 0.0),
        ] {
            if let Some(slot) = values.get_mut(special as usize) {
                *slot = Value::Num(num);
            }
        }
        Self {
            values,
            nr: 0.0,
            fnr: 0.0,
            ofs: b" ".to_vec(),
            ors: b"\n".to_vec(),
            subsep: b"\x1c".to_vec(),
            convfmt: b"%.6g".to_vec(),
            ofmt: b"%.6g".to_vec(),
            mode: Mode::Fs,
        }
    }
}

impl Specials {
    /// Sets a value that nothing else follows from.
    pub(super) fn put(&mut self, special: Special, value: Value) {
        if let Some(slot) = self.values.get_mut(special as usize) {
            *slot = value;
        }
    }

    /// Stores a string, which mostly is the one that is there.
    #[inline]
    pub(super) fn put_text(&mut self, special: Special, text: &[u8], meter: &Meter) {
        if let Some(slot) = self.values.get_mut(special as usize)
            && !matches!(slot, Value::Short(old) if old.bytes() == text)
        {
            *slot = Value::string(text, meter);
        }
    }

    fn get(&self, special: Special) -> Value {
        self.values
            .get(special as usize)
            .cloned()
            .unwrap_or_default()
    }
}

impl Vm<'_> {
    pub(super) fn special(&mut self, special: Special) -> Ran<Value> {
        Ok(match special {
            Special::Nf => {
                self.claim_fields()?;
                let count = self.record.count(self.sys)?;
                #[expect(clippy::cast_precision_loss, reason = "no record has 2^53 fields")]
                Value::Num(count as f64)
            }
            Special::Nr => Value::Num(self.specials.nr),
            Special::Fnr => Value::Num(self.specials.fnr),
            other => self.specials.get(other),
        })
    }

    pub(in crate::awk) fn set_special(&mut self, special: Special, value: Value) -> Ran<()> {
        let text = self.text(&value).into_owned();
        match special {
            Special::Nf => return self.set_count(value.num()),
            Special::Nr => self.specials.nr = value.num(),
            Special::Fnr => self.specials.fnr = value.num(),
            Special::Ofs => {
                // A record still to be joined is joined with the separator it was changed under.
                self.fresh_record()?;
                self.specials.ofs = text;
            }
            Special::Ors => self.specials.ors = text,
            Special::Subsep => self.specials.subsep = text,
            Special::Convfmt => self.specials.convfmt = text,
            Special::Ofmt => self.specials.ofmt = text,
            _ => {}
        }
        self.specials.put(special, value);
        match special {
            Special::Fs | Special::Fpat | Special::Fieldwidths => {
                self.specials.mode = match special {
                    Special::Fs => Mode::Fs,
                    Special::Fpat => Mode::Fpat,
                    _ => Mode::Widths,
                };
                self.choose_splitter()?;
            }
            Special::Rs => {
                self.choose_separator()?;
                self.choose_splitter()?;
            }
            Special::Ignorecase => {
                let on = self.specials.get(Special::Ignorecase).truth();
                self.patterns.set_ignore_case(on);
                self.choose_separator()?;
                self.choose_splitter()?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Sets `NF`: fields are cut off or added.
    fn set_count(&mut self, count: f64) -> Ran<()> {
        if count < 0.0 {
            return self.fatal(&[b"NF set to negative value"]);
        }
        let count = self.field_number(count)?;
        self.reach_fields(count)?;
        let meter = self.meter.clone();
        self.record.loosen(self.sys, count, &meter)?.truncate(count);
        self.record.recount(&meter);
        Ok(())
    }

    fn choose_separator(&mut self) -> Ran<()> {
        let value = self.specials.get(Special::Rs);
        let text = self.text(&value).into_owned();
        self.separator = match text.as_slice() {
            [] => Separator::Paragraph,
            [byte] if !(self.patterns.ignore_case() && byte.is_ascii_alphabetic()) => {
                Separator::Byte(*byte)
            }
            _ => Separator::Regex(self.regex(&value)?),
        };
        Ok(())
    }

    fn choose_splitter(&mut self) -> Ran<()> {
        let splitter = match self.specials.mode {
            Mode::Fs => {
                let value = self.specials.get(Special::Fs);
                self.splitter_of(&value)?
            }
            Mode::Fpat => {
                let value = self.specials.get(Special::Fpat);
                Splitter::Fields(self.regex(&value)?)
            }
            Mode::Widths => self.widths()?,
        };
        self.splitter = Rc::new(splitter);
        Ok(())
    }

    /// Returns how a separator cuts: `FS`, or the third argument of `split`.
    pub(super) fn splitter_of(&mut self, value: &Value) -> Ran<Splitter> {
        let newline = matches!(self.separator, Separator::Paragraph);
        if let Value::Regex(index) = value {
            return Ok(Splitter::Regex(self.regex_const(*index)?, false));
        }
        let text = self.text(value).into_owned();
        Ok(match text.as_slice() {
            b" " => Splitter::Blank,
            [] => Splitter::Chars(self.utf8),
            [byte] if !(self.patterns.ignore_case() && byte.is_ascii_alphabetic()) => {
                Splitter::Byte(*byte, newline)
            }
            _ => Splitter::Regex(self.regex(value)?, newline),
        })
    }

    /// Reads `FIELDWIDTHS`: widths, with `skip:` before and `*` for the rest.
    fn widths(&mut self) -> Ran<Splitter> {
        let value = self.specials.get(Special::Fieldwidths);
        let text = self.text(&value).into_owned();
        let mut widths = Vec::new();
        for word in text
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty())
        {
            let (skip, take) = match memchr::memchr(b':', word) {
                Some(at) => (
                    word.get(..at).unwrap_or_default(),
                    word.get(at + 1..).unwrap_or_default(),
                ),
                None => (&b"0"[..], word),
            };
            let size = |digits: &[u8]| {
                number::whole(digits)
                    .and_then(number::integer)
                    .and_then(|n| usize::try_from(n).ok())
            };
            let take = if take == b"*" {
                Some(usize::MAX)
            } else {
                size(take)
            };
            match (size(skip), take) {
                (Some(skip), Some(take)) => widths.push((skip, take)),
                _ => return self.fatal(&[b"invalid FIELDWIDTHS value, for field ", word]),
            }
        }
        Ok(Splitter::Widths(Rc::new(widths), self.utf8))
    }
}

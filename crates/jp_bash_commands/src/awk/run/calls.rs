//! Builtin functions whose arguments are all values.

use super::super::chars;
use super::super::lex::Func;
use super::super::number;
use super::super::op::Special;
use super::super::value::{SHORT, Value};
use super::cold::kind_of;
use super::{Ran, Vm};

impl Vm<'_> {
    pub(super) fn builtin(&mut self, func: Func, count: usize) -> Ran<()> {
        if func == Func::Sprintf {
            let text = self.sprintf(count)?;
            self.stack.push(Value::owned(text, &self.meter));
            return Ok(());
        }
        if let (Func::Toupper | Func::Tolower, Some(Value::Short(short))) =
            (func, self.stack.last_mut())
            && short.change_case(func == Func::Toupper)
        {
            return Ok(());
        }
        let from = self.stack.len().saturating_sub(count);
        // The arguments are looked at where they are; nothing here uses the stack.
        let mut stack = std::mem::take(&mut self.stack);
        let result = self.apply(func, stack.get(from..).unwrap_or_default());
        stack.truncate(from);
        self.stack = stack;
        self.stack.push(result?);
        Ok(())
    }

    fn apply(&mut self, func: Func, args: &[Value]) -> Ran<Value> {
        let nothing = Value::Uninit;
        let first = args.first().unwrap_or(&nothing);
        let second = args.get(1).unwrap_or(&nothing);
        Ok(match func {
            Func::Length => self.length(first),
            Func::Substr => self.substr(first, second.num(), args.get(2).map(Value::num)),
            Func::Index => self.index(first, second),
            Func::Tolower => self.change_case(first, false)?,
            Func::Toupper => self.change_case(first, true)?,
            Func::Match => {
                let (start, length) = self.match_value(first, second, None)?;
                self.set_match(start, length);
                Value::Num(start)
            }
            Func::Gensub => self.gensub(args)?,
            Func::Close => {
                let name = self.text(first).into_owned();
                Value::Num(self.close_stream(&name)?)
            }
            Func::Fflush => {
                let name = args.first().map(|value| self.text(value).into_owned());
                Value::Num(self.flush_stream(name.as_deref())?)
            }
            Func::System => {
                let command = self.text(first).into_owned();
                Value::Num(self.system(&command)?)
            }
            Func::Isarray => Value::Num(0.0),
            Func::Typeof if matches!(first, Value::Uninit) => {
                Value::string(b"unassigned", &self.meter)
            }
            Func::Typeof => Value::string(kind_of(first).as_bytes(), &self.meter),
            Func::Strtonum => Value::Num(match first {
                Value::Num(num) => *num,
                other => strtonum(&self.text(other)),
            }),
            Func::Rand => Value::Num(self.random.next()),
            Func::Srand => {
                let seed = match args.first() {
                    Some(value) => value.num(),
                    #[expect(
                        clippy::cast_precision_loss,
                        reason = "seconds since 1970 are below 2^53"
                    )]
                    None => self.sys.now().secs as f64,
                };
                Value::Num(self.random.seed(seed))
            }
            #[expect(
                clippy::cast_precision_loss,
                reason = "seconds since 1970 are below 2^53"
            )]
            Func::Systime => Value::Num(self.sys.now().secs as f64),
            Func::Mktime => Value::Num(self.mktime(first, second.truth())),
            Func::Strftime => self.strftime(args)?,
            Func::And | Func::Or | Func::Xor | Func::Compl | Func::Lshift | Func::Rshift => {
                Value::Num(self.bits(func, args)?)
            }
            _ => Value::Num(math(func, first.num(), second.num())),
        })
    }

    fn bits(&mut self, func: Func, args: &[Value]) -> Ran<f64> {
        let mut words = Vec::with_capacity(args.len());
        for value in args {
            let num = value.num();
            if num < 0.0 {
                let name = format!("{func:?}").to_ascii_lowercase();
                return self.fatal(&[
                    name.as_bytes(),
                    b": argument ",
                    &self.text(value),
                    b": negative values are not allowed",
                ]);
            }
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a float cast saturates"
            )]
            words.push(num as u64);
        }
        let first = words.first().copied().unwrap_or(0);
        let shift = u32::try_from(words.get(1).copied().unwrap_or(0)).unwrap_or(u32::MAX);
        let rest = words.iter().skip(1);
        let word = match func {
            Func::And => rest.fold(first, |sum, word| sum & word),
            Func::Or => rest.fold(first, |sum, word| sum | word),
            Func::Xor => rest.fold(first, |sum, word| sum ^ word),
            // gawk keeps as many bits as a double holds.
            Func::Compl => !first & ((1 << 53) - 1),
            Func::Lshift => first.checked_shl(shift).unwrap_or(0),
            _ => first.checked_shr(shift).unwrap_or(0),
        };
        #[expect(clippy::cast_precision_loss, reason = "awk has no other numbers")]
        Ok(word as f64)
    }

    #[expect(clippy::cast_precision_loss, reason = "no text has 2^53 characters")]
    pub(super) fn length(&self, value: &Value) -> Value {
        Value::Num(chars::count(&self.text(value), self.utf8) as f64)
    }

    /// Returns characters `start` up to `start + length`.
    fn substr(&self, value: &Value, start: f64, length: Option<f64>) -> Value {
        let text = self.text(value);
        Value::string(slice(&text, start, length, self.utf8), &self.meter)
    }

    /// The same of a field, without making the field a value.
    pub(super) fn substr_field(&mut self, number: usize, has_length: bool) -> Ran<()> {
        let length = has_length.then(|| self.pop_num());
        let start = self.pop_num();
        let value = if number == 0 {
            self.fresh_record()?;
            let text = slice(self.record.text(), start, length, self.utf8);
            Value::string(text, &self.meter)
        } else if self.record.loose().is_some() {
            let field = self.field(number)?;
            self.substr(&field, start, length)
        } else {
            self.claim_fields()?;
            let text = self.record.bytes(self.sys, number)?.unwrap_or_default();
            Value::string(slice(text, start, length, self.utf8), &self.meter)
        };
        self.stack.push(value);
        Ok(())
    }

    fn index(&self, text: &Value, wanted: &Value) -> Value {
        let (text, wanted) = (self.text(text), self.text(wanted));
        let found = if self.patterns.ignore_case() {
            memchr::memmem::find(&text.to_ascii_lowercase(), &wanted.to_ascii_lowercase())
        } else {
            memchr::memmem::find(&text, &wanted)
        };
        #[expect(clippy::cast_precision_loss, reason = "no text has 2^53 characters")]
        Value::Num(found.map_or(0.0, |at| {
            chars::count(text.get(..at).unwrap_or_default(), self.utf8) as f64 + 1.0
        }))
    }

    fn change_case(&mut self, value: &Value, upper: bool) -> Ran<Value> {
        let mut short = [0; SHORT];
        if let Some(text) = value.text()
            && text.is_ascii()
            && let Some(changed) = short.get_mut(..text.len())
        {
            changed.copy_from_slice(text);
            if upper {
                changed.make_ascii_uppercase();
            } else {
                changed.make_ascii_lowercase();
            }
            return Ok(Value::string(changed, &self.meter));
        }
        self.claim(value.text().map_or(24, <[u8]>::len))?;
        let text = self.text(value);
        let changed = chars::change_case(self.sys, &text, upper, self.utf8)?;
        Ok(Value::owned(changed, &self.meter))
    }

    /// Sets `RSTART` and `RLENGTH`.
    pub(super) fn set_match(&mut self, start: f64, length: f64) {
        self.specials.put(Special::Rstart, Value::Num(start));
        self.specials.put(Special::Rlength, Value::Num(length));
    }
}

/// Returns characters `start` up to `start + length` of a text.
fn slice(text: &[u8], start: f64, length: Option<f64>, utf8: bool) -> &[u8] {
    // As gawk: fractions are cut off, and a start before the text is its beginning, at the same length.
    let from = f64::max(start.trunc(), 1.0);
    let to = match length {
        Some(length) if length.is_nan() => return b"",
        Some(length) => from + length.trunc(),
        None => f64::INFINITY,
    };
    if to <= from || from.is_nan() {
        return b"";
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a float cast saturates"
    )]
    let (skip, take) = ((from - 1.0) as usize, (to - from) as usize);
    let start = chars::offset(text, skip, utf8);
    let rest = text.get(start..).unwrap_or_default();
    let end = chars::offset(rest, take, utf8);
    rest.get(..end).unwrap_or_default()
}

fn math(func: Func, first: f64, second: f64) -> f64 {
    match func {
        Func::Atan2 => first.atan2(second),
        Func::Cos => first.cos(),
        Func::Sin => first.sin(),
        Func::Exp => first.exp(),
        // C's library gives a negative nan here, and awk prints its sign.
        Func::Log if first < 0.0 => f64::NAN.copysign(-1.0),
        Func::Log => first.ln(),
        Func::Sqrt if first < 0.0 => f64::NAN.copysign(-1.0),
        Func::Sqrt => first.sqrt(),
        _ => first.trunc(),
    }
}

/// Reads a number that may be hexadecimal or octal.
fn strtonum(text: &[u8]) -> f64 {
    // Signs and blanks before them make the digits decimal, as in gawk.
    let (radix, digits) = match text {
        [b'0', b'x' | b'X', rest @ ..] => (16, rest),
        [b'0', rest @ ..]
            if rest
                .iter()
                .take_while(|b| b.is_ascii_digit())
                .all(|b| *b < b'8')
                && !rest.contains(&b'.')
                && !rest.contains(&b'e') =>
        {
            (8, rest)
        }
        _ => return number::prefix(text).0,
    };
    let mut value = 0.0;
    for digit in digits.iter().map_while(|b| char::from(*b).to_digit(radix)) {
        value = value * f64::from(radix) + f64::from(digit);
    }
    value
}

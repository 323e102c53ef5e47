//! Numbers in lines to sort: decimal text of any length, human sizes, floats, month names.

use std::cmp::Ordering;

/// A decimal number as `sort -n` reads it: blanks, a minus, digits, a point, digits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Decimal<'t> {
    minus: bool,
    /// Without leading zeros.
    whole: &'t [u8],
    /// Without trailing zeros.
    part: &'t [u8],
    /// What follows.
    after: &'t [u8],
}

impl<'t> Decimal<'t> {
    /// Reads the number at the beginning of a text; none is zero.
    pub(super) fn read(text: &'t [u8]) -> Self {
        let blanks = text.iter().take_while(|byte| is_blank(**byte)).count();
        let text = text.get(blanks..).unwrap_or_default();
        let (minus, text) = match text.strip_prefix(b"-") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let zeros = text.iter().take_while(|byte| **byte == b'0').count();
        let text = text.get(zeros..).unwrap_or_default();
        let (whole, rest) = digits(text);
        let (part, after) = match rest.strip_prefix(b".") {
            Some(rest) => digits(rest),
            None => (&b""[..], rest),
        };
        let zeros = part.iter().rev().take_while(|byte| **byte == b'0').count();
        let part = part.get(..part.len() - zeros).unwrap_or_default();
        Self {
            minus: minus && !(whole.is_empty() && part.is_empty()),
            whole,
            part,
            after,
        }
    }

    /// Compares by value.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        match (self.minus, other.minus) {
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => self.magnitude(other),
            (true, true) => other.magnitude(self),
        }
    }

    fn magnitude(&self, other: &Self) -> Ordering {
        self.whole
            .len()
            .cmp(&other.whole.len())
            .then_with(|| self.whole.cmp(other.whole))
            .then_with(|| self.part.cmp(other.part))
    }

    /// Returns a number whose order is the order of the values; where two are equal and odd, only
    /// [`Decimal::compare`] knows.
    pub(super) fn rank(&self) -> u64 {
        // Three digits of fraction, and the lowest bit for what did not fit.
        const MOST: u64 = 1 << 50;
        let mut whole = 0u64;
        let mut inexact = self.whole.len() > 15 || self.part.len() > 3;
        if self.whole.len() > 15 {
            whole = MOST;
        } else {
            for digit in self.whole {
                whole = whole * 10 + u64::from(digit - b'0');
            }
        }
        if whole >= MOST {
            whole = MOST;
            inexact = true;
        }
        let mut part = 0;
        if whole < MOST {
            for at in 0..3 {
                part = part * 10 + u64::from(self.part.get(at).map_or(0, |digit| digit - b'0'));
            }
        }
        let magnitude = ((whole * 1000 + part) << 1) | u64::from(inexact);
        if self.minus {
            (1 << 63) - magnitude - 1
        } else {
            (1 << 63) + magnitude
        }
    }

    /// Tells whether equal ranks mean equal values.
    pub(super) fn is_exact(rank: u64) -> bool {
        // A negative rank is turned round: its lowest bit is flipped.
        (rank >> 63 == 1) == (rank & 1 == 0)
    }

    /// Returns the power of 1024 that the suffix names, negative for negative numbers.
    pub(super) fn unit(&self) -> i64 {
        if self.whole.is_empty() && self.part.is_empty() {
            return 0;
        }
        let order = match self.after.first() {
            Some(b'K' | b'k') => 1,
            Some(b'M') => 2,
            Some(b'G') => 3,
            Some(b'T') => 4,
            Some(b'P') => 5,
            Some(b'E') => 6,
            Some(b'Z') => 7,
            Some(b'Y') => 8,
            _ => 0,
        };
        if self.minus { -order } else { order }
    }

    /// Compares sizes such as `2K` and `1G`: by suffix, then by number.
    pub(super) fn compare_human(&self, other: &Self) -> Ordering {
        let sign = |number: &Self| match (
            number.minus,
            number.whole.is_empty() && number.part.is_empty(),
        ) {
            (true, _) => -1,
            (_, true) => 0,
            _ => 1,
        };
        sign(self)
            .cmp(&sign(other))
            .then_with(|| self.unit().cmp(&other.unit()))
            .then_with(|| self.compare(other))
    }
}

fn digits(text: &[u8]) -> (&[u8], &[u8]) {
    let n = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    text.split_at_checked(n).unwrap_or((text, b""))
}

/// Tells what separates fields when `-t` does not say.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n')
}

/// Ranks a text by the float at its beginning: no number, then NaN, then numbers.
pub(super) fn float_rank(text: &[u8]) -> u64 {
    match read_float(text) {
        None => 0,
        Some(value) if value.is_nan() => 1,
        Some(value) => {
            // -0 and 0 are one number.
            let bits = (value + 0.0).to_bits();
            let ordered = if bits >> 63 == 1 {
                !bits
            } else {
                bits | (1 << 63)
            };
            ordered.saturating_add(2)
        }
    }
}

/// Reads what C's `strtod` would take from the beginning of a text.
fn read_float(text: &[u8]) -> Option<f64> {
    let text = text.trim_ascii_start();
    let (minus, body) = match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        Some((b'+', rest)) => (false, rest),
        _ => (false, text),
    };
    let lower: Vec<u8> = body.iter().take(3).map(u8::to_ascii_lowercase).collect();
    let value = match lower.as_slice() {
        b"inf" => f64::INFINITY,
        b"nan" => f64::NAN,
        [b'0', b'x', _] => read_hex(body)?,
        _ => {
            let (whole, rest) = digits(body);
            let (part, rest) = match rest.strip_prefix(b".") {
                Some(rest) => digits(rest),
                None => (&b""[..], rest),
            };
            if whole.is_empty() && part.is_empty() {
                return None;
            }
            let mut end = body.len() - rest.len();
            if let Some((b'e' | b'E', rest)) = rest.split_first() {
                let sign = usize::from(matches!(rest.first(), Some(b'+' | b'-')));
                let (exponent, _) = digits(rest.get(sign..).unwrap_or_default());
                if !exponent.is_empty() {
                    end += 1 + sign + exponent.len();
                }
            }
            std::str::from_utf8(body.get(..end)?).ok()?.parse().ok()?
        }
    };
    Some(if minus { -value } else { value })
}

fn read_hex(body: &[u8]) -> Option<f64> {
    let mut value = 0.0f64;
    let mut scale = 0i32;
    let mut point = false;
    let mut any = false;
    let mut at = 2;
    while let Some(byte) = body.get(at) {
        match char::from(*byte).to_digit(16) {
            Some(digit) => {
                value = value * 16.0 + f64::from(digit);
                scale -= if point { 4 } else { 0 };
                any = true;
            }
            None if *byte == b'.' && !point => point = true,
            None => break,
        }
        at += 1;
    }
    if !any {
        return Some(0.0);
    }
    if matches!(body.get(at), Some(b'p' | b'P')) {
        let rest = body.get(at + 1..).unwrap_or_default();
        let minus = rest.first() == Some(&b'-');
        let sign = usize::from(matches!(rest.first(), Some(b'+' | b'-')));
        let (exponent, _) = digits(rest.get(sign..).unwrap_or_default());
        let exponent = exponent.iter().fold(0i32, |sum, digit| {
            i32::min(
                sum.saturating_mul(10)
                    .saturating_add(i32::from(digit - b'0')),
                100_000,
            )
        });
        scale = scale.saturating_add(if minus { -exponent } else { exponent });
    }
    Some(value * 2f64.powi(scale))
}

/// Returns 1 to 12 for a text that begins with a month's name, 0 for any other.
pub(super) fn month(text: &[u8]) -> u64 {
    const NAMES: [&[u8; 3]; 12] = [
        b"JAN", b"FEB", b"MAR", b"APR", b"MAY", b"JUN", b"JUL", b"AUG", b"SEP", b"OCT", b"NOV",
        b"DEC",
    ];
    let blanks = text.iter().take_while(|byte| is_blank(**byte)).count();
    let Some(three) = text.get(blanks..blanks + 3) else {
        return 0;
    };
    let found = NAMES
        .iter()
        .position(|name| name.eq_ignore_ascii_case(three));
    found.map_or(0, |at| at as u64 + 1)
}

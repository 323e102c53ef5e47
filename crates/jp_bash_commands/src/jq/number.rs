//! Numbers: the shortest text of a double as jq prints it, and literals that keep their own.

use std::cmp::Ordering;
use std::sync::Arc;

use super::value::{Literal, Value};

/// Reads a JSON number (also `nan`, `Infinity`, as jq does); `None` if it is not one.
pub(super) fn parse(text: &[u8]) -> Option<Value> {
    if let Some(value) = small_integer(text) {
        return Some(value);
    }
    let body = text.strip_prefix(b"-").unwrap_or(text);
    if body.eq_ignore_ascii_case(b"nan") {
        return Some(Value::Number(f64::NAN));
    }
    let parts = Decimal::read(text)?;
    let number: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    if parts.fits_double() {
        return Some(Value::Number(number));
    }
    let canonical = parts.canonical();
    let mut shown = Vec::new();
    write(&mut shown, number);
    if shown == canonical {
        return Some(Value::Number(number));
    }
    Some(Value::Literal(Arc::new(Literal {
        number,
        text: canonical.into(),
    })))
}

/// Reads the numbers that most documents are full of.
fn small_integer(text: &[u8]) -> Option<Value> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    if digits.is_empty() || digits.len() > 15 || (digits.len() != text.len() && digits == b"0") {
        return None;
    }
    let mut sum = 0_u64;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        sum = sum * 10 + u64::from(digit - b'0');
    }
    #[expect(clippy::cast_precision_loss, reason = "at most 15 digits")]
    let number = sum as f64;
    Some(Value::Number(if digits.len() == text.len() {
        number
    } else {
        -number
    }))
}

/// A decimal number: its digits without leading zeros, and the power of ten of the last one.
struct Decimal {
    negative: bool,
    digits: Vec<u8>,
    exponent: i64,
    /// Digits after the point as written, or `None` with an exponent.
    plain: bool,
}

/// Beyond this, a power of ten overflows as it does in jq.
const MAX_EXPONENT: i64 = 999_999_999;

impl Decimal {
    /// Reads `[-+]digits[.digits][e[+-]digits]`.
    fn read(text: &[u8]) -> Option<Self> {
        let (negative, mut rest) = match text.split_first() {
            Some((b'-', rest)) => (true, rest),
            Some((b'+', rest)) => (false, rest),
            _ => (false, text),
        };
        let mut digits = Vec::new();
        let mut point = None;
        let mut seen = false;
        while let Some((&byte, tail)) = rest.split_first() {
            match byte {
                b'0'..=b'9' => {
                    seen = true;
                    if byte != b'0' || !digits.is_empty() {
                        digits.push(byte);
                    }
                    point = point.map(|n: i64| n + 1);
                }
                b'.' if point.is_none() => point = Some(0),
                b'e' | b'E' => break,
                _ => return None,
            }
            rest = tail;
        }
        let mut exponent = 0;
        let plain = rest.is_empty();
        if let Some((_, power)) = rest.split_first() {
            let (sign, power) = match power.split_first() {
                Some((b'-', rest)) => (-1, rest),
                Some((b'+', rest)) => (1, rest),
                _ => (1, power),
            };
            if power.is_empty() || !power.iter().all(u8::is_ascii_digit) {
                return None;
            }
            let power = power.iter().fold(0_i64, |sum, digit| {
                sum.saturating_mul(10)
                    .saturating_add(i64::from(digit - b'0'))
            });
            exponent = sign * power.min(MAX_EXPONENT * 4);
        }
        seen.then(|| Self {
            negative,
            digits,
            exponent: exponent - point.unwrap_or(0),
            plain,
        })
    }

    /// Tells at once that the shortest text of the double is the text as written.
    fn fits_double(&self) -> bool {
        self.plain
            && self.digits.len() <= 15
            && !self.digits.is_empty()
            && ((-10..0).contains(&self.exponent) && self.digits.last() != Some(&b'0')
                || self.exponent == 0)
            && self.exponent + i64::try_from(self.digits.len()).unwrap_or(0) > -4
    }

    /// Returns the text in the scientific form of decimal arithmetic; empty when it overflows.
    fn canonical(&self) -> Vec<u8> {
        let zero: &[u8] = b"0";
        let digits = if self.digits.is_empty() {
            zero
        } else {
            &self.digits
        };
        let count = i64::try_from(digits.len()).unwrap_or(i64::MAX);
        let adjusted = self.exponent + count - 1;
        let mut out = Vec::with_capacity(digits.len() + 16);
        if adjusted.abs() > MAX_EXPONENT {
            let huge = if adjusted > 0 && !self.digits.is_empty() {
                f64::MAX
            } else {
                0.0
            };
            write(&mut out, if self.negative { -huge } else { huge });
            return out;
        }
        if self.negative {
            out.push(b'-');
        }
        if self.exponent <= 0 && adjusted >= -6 {
            let whole = count + self.exponent;
            if whole <= 0 {
                out.extend_from_slice(b"0.");
                out.extend((whole..0).map(|_| b'0'));
                out.extend_from_slice(digits);
            } else {
                let at = usize::try_from(whole).unwrap_or(0).min(digits.len());
                let (whole, part) = digits.split_at(at);
                out.extend_from_slice(whole);
                if !part.is_empty() {
                    out.push(b'.');
                    out.extend_from_slice(part);
                }
            }
            return out;
        }
        let (first, more) = digits.split_at(1);
        out.extend_from_slice(first);
        if !more.is_empty() {
            out.push(b'.');
            out.extend_from_slice(more);
        }
        out.extend_from_slice(format!("E{adjusted:+}").as_bytes());
        out
    }

    /// Compares the magnitudes.
    fn cmp_abs(&self, other: &Self) -> Ordering {
        let top = |n: &Self| n.exponent + i64::try_from(n.digits.len()).unwrap_or(0);
        match (self.digits.is_empty(), other.digits.is_empty()) {
            (true, true) => return Ordering::Equal,
            (true, false) => return Ordering::Less,
            (false, true) => return Ordering::Greater,
            (false, false) => {}
        }
        top(self).cmp(&top(other)).then_with(|| {
            let len = self.digits.len().max(other.digits.len());
            let digit = |n: &Self, at| n.digits.get(at).copied().unwrap_or(b'0');
            (0..len)
                .map(|at| digit(self, at).cmp(&digit(other, at)))
                .find(|order| order.is_ne())
                .unwrap_or(Ordering::Equal)
        })
    }
}

/// Compares two numbers. Literals that are the same double are compared by their digits.
pub(super) fn compare(a: &Value, b: &Value) -> Ordering {
    let (x, y) = (a.number().unwrap_or(0.0), b.number().unwrap_or(0.0));
    // A NaN is below every number, itself included.
    let doubles = if x.is_nan() {
        return Ordering::Less;
    } else {
        x.partial_cmp(&y).unwrap_or(Ordering::Greater)
    };
    if doubles.is_ne() {
        return doubles;
    }
    let decimal = |value: &Value| match value {
        Value::Literal(literal) => Decimal::read(&literal.text),
        other => {
            let mut text = Vec::new();
            write(&mut text, other.number().unwrap_or(0.0));
            Decimal::read(&text)
        }
    };
    match (a, b) {
        (Value::Literal(_), Value::Literal(_)) => match (decimal(a), decimal(b)) {
            (Some(a), Some(b)) => {
                let order = a.cmp_abs(&b);
                if a.negative { order.reverse() } else { order }
            }
            _ => doubles,
        },
        _ => doubles,
    }
}

/// Writes a number as JSON.
pub(super) fn write(out: &mut Vec<u8>, number: f64) {
    if number.is_nan() {
        out.extend_from_slice(b"null");
        return;
    }
    let number = number.clamp(-f64::MAX, f64::MAX);
    if number.fract() == 0.0 && number.abs() < 1e15 && !(number == 0.0 && number.is_sign_negative())
    {
        write_integer(out, number);
        return;
    }
    // `{:e}` gives the shortest digits that read back as the same double.
    let text = format!("{:e}", number.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits: Vec<u8> = mantissa.bytes().filter(|byte| *byte != b'.').collect();
    let point = exponent.parse::<i64>().unwrap_or(0) + 1;
    let count = i64::try_from(digits.len()).unwrap_or(0);
    if number.is_sign_negative() {
        out.push(b'-');
    }
    if point <= -4 || point > count + 15 {
        let (first, more) = digits.split_at(1);
        out.extend_from_slice(first);
        if !more.is_empty() {
            out.push(b'.');
            out.extend_from_slice(more);
        }
        let power = point - 1;
        let sign = if power < 0 { '-' } else { '+' };
        out.extend_from_slice(format!("e{sign}{:02}", power.abs()).as_bytes());
    } else if point <= 0 {
        out.extend_from_slice(b"0.");
        out.extend((point..0).map(|_| b'0'));
        out.extend_from_slice(&digits);
    } else {
        let at = usize::try_from(point).unwrap_or(0);
        let (whole, part) = digits.split_at(at.min(digits.len()));
        out.extend_from_slice(whole);
        out.extend((digits.len()..at).map(|_| b'0'));
        if !part.is_empty() {
            out.push(b'.');
            out.extend_from_slice(part);
        }
    }
}

/// Writes a whole number of less than 16 digits.
fn write_integer(out: &mut Vec<u8>, number: f64) {
    #[expect(clippy::cast_possible_truncation, reason = "below 1e15 and whole")]
    let mut left = (number as i64).unsigned_abs();
    if number < 0.0 {
        out.push(b'-');
    }
    let mut digits = [0_u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        if let Some(digit) = digits.get_mut(at) {
            *digit = b'0' + u8::try_from(left % 10).unwrap_or(0);
        }
        left /= 10;
        if left == 0 || at == 0 {
            break;
        }
    }
    out.extend_from_slice(digits.get(at..).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_print_as_jq_prints_them() {
        for (number, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1e15, "1000000000000000"),
            (1e16, "1e+16"),
            (1.5e17, "1.5e+17"),
            (12_345_678_901_234_567_890.0, "12345678901234567000"),
            (123_456_789_012_345_678.0, "123456789012345680"),
            (1e-4, "0.0001"),
            (1.5e-5, "1.5e-05"),
            (0.00123, "0.00123"),
            (-1e20, "-1e+20"),
            (5e-324, "5e-324"),
            (1_234_567e20, "1.234567e+26"),
            (f64::INFINITY, "1.7976931348623157e+308"),
            (f64::NAN, "null"),
            (2.75, "2.75"),
        ] {
            let mut out = Vec::new();
            write(&mut out, number);
            assert_eq!(String::from_utf8_lossy(&out), text);
        }
    }

    #[test]
    fn literals_keep_their_canonical_text() {
        for (written, text) in [
            ("1.000", "1.000"),
            ("1e2", "1E+2"),
            ("100e-2", "1.00"),
            ("0.00001", "0.00001"),
            ("0.0000001", "1E-7"),
            ("100000000000000000000000001", "100000000000000000000000001"),
            ("1e1000", "1E+1000"),
            ("1E1234567890", "1.7976931348623157e+308"),
            ("-0", "-0"),
            ("3.14", "3.14"),
            ("000012", "12"),
            ("0.10", "0.10"),
        ] {
            let value = parse(written.as_bytes()).expect(written);
            let mut out = Vec::new();
            match &value {
                Value::Literal(literal) => out.extend_from_slice(&literal.text),
                other => write(&mut out, other.number().unwrap()),
            }
            assert_eq!(String::from_utf8_lossy(&out), text, "{written}");
        }
        for bad in [
            "", "-", "1e", ".", "1.2.3", "a", "0x1", "1e+", "inf", "infinity",
        ] {
            assert!(parse(bad.as_bytes()).is_none(), "{bad}");
        }
    }
}

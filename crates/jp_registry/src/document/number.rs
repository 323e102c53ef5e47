//! Numbers as RFC 8785 writes them, which is how ECMAScript does.

/// The largest whole number below which every reader keeps all digits (RFC 7493, section 2.2).
pub(super) const MAX_SAFE: i64 = (1 << 53) - 1;

/// Writes a finite number: the fewest digits that read back as the same one.
pub(super) fn write(number: f64) -> String {
    if number == 0.0 {
        // Zero has no sign here.
        return "0".to_owned();
    }
    let text = shortest(number.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    let point = exponent.parse::<i32>().unwrap_or_default() + 1;
    let sign = if number < 0.0 { "-" } else { "" };
    format!("{sign}{}", place(&digits, point))
}

/// Finds the fewest digits; of several the closest, and of two as close the even one.
///
/// Rust's shortest form takes the upper of two as close (1424953923781206.25 would end in .3), while
/// its rounding to a number of digits takes the even one.
fn shortest(number: f64) -> String {
    let upper = format!("{number:e}");
    let digits = upper.bytes().take_while(|b| *b != b'e');
    let decimals = digits.filter(u8::is_ascii_digit).count().saturating_sub(1);
    let even = format!("{number:.decimals$e}");
    // Beside a power of two the closest may read back as the number below.
    if even.parse() == Ok(number) {
        even
    } else {
        upper
    }
}

/// Places the point after the first `point` digits (`Number::toString` of ECMAScript).
fn place(digits: &str, point: i32) -> String {
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let zeros = |n: i32| "0".repeat(usize::try_from(n).unwrap_or_default());
    if (count..=21).contains(&point) {
        return format!("{digits}{}", zeros(point - count));
    }
    if (1..=21).contains(&point) {
        let (whole, rest) = digits.split_at(usize::try_from(point).unwrap_or_default());
        return format!("{whole}.{rest}");
    }
    if (-5..=0).contains(&point) {
        return format!("0.{}{digits}", zeros(-point));
    }
    let exponent = point - 1;
    let sign = if exponent < 0 { "-" } else { "+" };
    let (first, rest) = digits.split_at(1.min(digits.len()));
    let dot = if rest.is_empty() { "" } else { "." };
    format!("{first}{dot}{rest}e{sign}{}", exponent.unsigned_abs())
}

/// Tells whether every reader takes such a number for the same: a whole number written in full must
/// be one that a double keeps, in the form it is written back.
pub(super) fn is_kept(literal: &str) -> bool {
    let Ok(number) = literal.parse::<f64>() else {
        // Not a number at all: for the parser to say.
        return true;
    };
    if !number.is_finite() {
        return false;
    }
    let whole = literal.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    // Fifteen digits always fit; the length is looked at first because it may be a megabyte.
    !whole || literal.len() <= 15 || is_safe(literal) || write(number) == literal
}

fn is_safe(literal: &str) -> bool {
    let number = literal.parse::<i64>();
    number.is_ok_and(|n| n.unsigned_abs() <= MAX_SAFE.unsigned_abs())
}

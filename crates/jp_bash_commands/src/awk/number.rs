//! Numbers as awk reads them in text, and writes them where no format was asked for.

/// Powers of ten that a double holds exactly.
const TENS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

fn blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

/// Returns the number at the beginning of a text, and where it ends (0 if there is none).
#[inline]
pub(super) fn prefix(text: &[u8]) -> (f64, usize) {
    let mut at = text.iter().take_while(|byte| blank(**byte)).count();
    let start = at;
    let negative = match text.get(at) {
        Some(b'-') => {
            at += 1;
            true
        }
        Some(b'+') => {
            at += 1;
            false
        }
        _ => false,
    };
    let mut mantissa: u64 = 0;
    let mut digits = 0_usize;
    let mut scale = 0_i32;
    let mut exact = true;
    let mut take = |at: &mut usize, fraction: bool| {
        while let Some(digit) = text
            .get(*at)
            .map(|b| b.wrapping_sub(b'0'))
            .filter(|d| *d < 10)
        {
            digits += 1;
            *at += 1;
            if mantissa < 100_000_000_000_000_000 {
                mantissa = mantissa * 10 + u64::from(digit);
                scale -= i32::from(fraction);
            } else {
                exact = false;
            }
        }
    };
    take(&mut at, false);
    if text.get(at) == Some(&b'.') {
        at += 1;
        take(&mut at, true);
    }
    if digits == 0 {
        return magic(text, start);
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        let (power, end) = exponent(text, at);
        if end > at {
            at = end;
            scale = scale.saturating_add(power);
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "below 2^53 nothing is lost")]
    let value = match TENS.get(usize::try_from(scale.unsigned_abs()).unwrap_or(usize::MAX)) {
        Some(ten) if exact && mantissa <= 1 << 53 => {
            let whole = mantissa as f64;
            if scale < 0 { whole / ten } else { whole * ten }
        }
        _ => slow(text.get(start..at).unwrap_or_default()),
    };
    // `slow` reads the sign itself, and a product of a positive mantissa is never negative.
    (if negative { -value.abs() } else { value.abs() }, at)
}

/// Returns the exponent at `e`, and where it ends (`at` itself if there are no digits).
fn exponent(text: &[u8], at: usize) -> (i32, usize) {
    let mut end = at + 1;
    let down = text.get(end) == Some(&b'-');
    if matches!(text.get(end), Some(b'-' | b'+')) {
        end += 1;
    }
    let first = end;
    let mut power = 0_i32;
    while let Some(digit) = text.get(end).filter(|b| b.is_ascii_digit()) {
        power = power
            .saturating_mul(10)
            .saturating_add(i32::from(digit - b'0'));
        end += 1;
    }
    if end == first {
        return (0, at);
    }
    (if down { power.saturating_neg() } else { power }, end)
}

/// Reads what the exact way cannot.
#[cold]
fn slow(text: &[u8]) -> f64 {
    std::str::from_utf8(text)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(0.0)
}

/// Reads `+inf`, `-nan`: gawk takes them only with a sign and nothing behind.
fn magic(text: &[u8], start: usize) -> (f64, usize) {
    let word = text.get(start..start + 4).unwrap_or_default();
    let alone = text
        .get(start + 4)
        .is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
    if !alone {
        return (0.0, 0);
    }
    let value = match word.to_ascii_lowercase().as_slice() {
        b"+inf" => f64::INFINITY,
        b"-inf" => f64::NEG_INFINITY,
        b"+nan" => f64::NAN.copysign(1.0),
        b"-nan" => f64::NAN.copysign(-1.0),
        _ => return (0.0, 0),
    };
    (value, start + 4)
}

/// Returns the number if the whole text, blanks around it apart, is one.
#[inline]
pub(super) fn whole(text: &[u8]) -> Option<f64> {
    // Most texts are words: their first byte says no.
    if let Some(first) = text.first()
        && (first.is_ascii_alphabetic() || *first > 127)
    {
        return None;
    }
    let (value, end) = prefix(text);
    let rest = text.get(end..).unwrap_or_default();
    (end > 0 && rest.iter().all(|byte| blank(*byte))).then_some(value)
}

/// Returns the integer, if the number is one that a double holds exactly.
#[inline]
pub(super) fn integer(num: f64) -> Option<i64> {
    if num.abs() < 9_007_199_254_740_992.0 {
        #[expect(clippy::cast_possible_truncation, reason = "the range was checked")]
        let whole = num as i64;
        #[expect(clippy::cast_precision_loss, reason = "the range was checked")]
        let same = whole as f64 == num;
        same.then_some(whole)
    } else {
        None
    }
}

/// Appends a decimal integer.
#[inline]
pub(super) fn push_int(out: &mut Vec<u8>, num: i64) {
    let mut digits = [0_u8; 20];
    let mut at = digits.len();
    let mut rest = num.unsigned_abs();
    loop {
        at -= 1;
        if let Some(slot) = digits.get_mut(at) {
            // A remainder of ten always fits.
            *slot = b'0' + u8::try_from(rest % 10).unwrap_or(0);
        }
        rest /= 10;
        if rest == 0 || at == 0 {
            break;
        }
    }
    if num < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(digits.get(at..).unwrap_or_default());
}

/// Appends what is printed for a number that is no finite fraction; false if a format is needed.
pub(super) fn push_plain(out: &mut Vec<u8>, num: f64) -> bool {
    if let Some(int) = integer(num) {
        push_int(out, int);
    } else if num.is_nan() || num.is_infinite() {
        out.extend_from_slice(special(num));
    } else if num.trunc() == num {
        out.extend_from_slice(format!("{num:.0}").as_bytes());
    } else {
        return false;
    }
    true
}

/// Returns gawk's words for what is no number.
pub(super) fn special(num: f64) -> &'static [u8] {
    match (num.is_nan(), num.is_sign_negative()) {
        (true, true) => b"-nan",
        (true, false) => b"+nan",
        (false, true) => b"-inf",
        (false, false) => b"+inf",
    }
}

#[cfg(test)]
mod tests {
    use super::{prefix, push_plain, whole};

    #[test]
    fn text_is_read_as_far_as_it_is_a_number() {
        let table: &[(&str, f64, usize)] = &[
            ("12abc", 12.0, 2),
            (" -3.5e2x", -350.0, 7),
            ("1e", 1.0, 1),
            ("1e+", 1.0, 1),
            (".5", 0.5, 2),
            (".", 0.0, 0),
            ("-", 0.0, 0),
            ("0x1A", 0.0, 1),
            ("abc", 0.0, 0),
            (
                "123456789012345678901234567890",
                123_456_789_012_345_678_901_234_567_890.0,
                30,
            ),
            ("1e-400", 0.0, 6),
            ("0.1", 0.1, 3),
            ("1.7976931348623157e308", f64::MAX, 22),
        ];
        for (text, value, end) in table {
            assert_eq!(prefix(text.as_bytes()), (*value, *end), "{text}");
        }
        assert!(prefix(b"+inf").0.is_infinite());
        assert_eq!(prefix(b"infinite"), (0.0, 0));
    }

    #[test]
    fn only_a_whole_number_counts_as_one() {
        assert_eq!(whole(b" 10 "), Some(10.0));
        assert_eq!(whole(b"10x"), None);
        assert_eq!(whole(b""), None);
        assert_eq!(whole(b" "), None);
        assert_eq!(whole(b"0x10"), None);
    }

    #[test]
    fn integers_are_printed_whole() {
        let table: &[(f64, &str)] = &[
            (-0.0, "0"),
            (-12.0, "-12"),
            (1e16, "10000000000000000"),
            (1e30, "1000000000000000019884624838656"),
            (f64::INFINITY, "+inf"),
        ];
        for (num, text) in table {
            let mut out = Vec::new();
            assert!(push_plain(&mut out, *num));
            assert_eq!(String::from_utf8_lossy(&out), *text);
        }
    }
}

//! Numbers for `printf`: reading arguments, printing conversions.

use super::Spec;
use super::long::Long;

/// What was wrong with an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Problem {
    Invalid,
    Range,
}

/// Returns the code of the first character behind a quote.
pub(super) fn char_code(text: &[u8], utf8: bool) -> u32 {
    let Some(first) = text.first() else { return 0 };
    if utf8
        && let Some(c) = text
            .utf8_chunks()
            .next()
            .and_then(|chunk| chunk.valid().chars().next())
    {
        return u32::from(c);
    }
    u32::from(*first)
}

/// Reads an integer: decimal, `0x` or octal, blanks before it; takes what is valid at its start.
pub(super) fn parse_integer(text: &[u8], signed: bool) -> (i64, Option<Problem>) {
    let trimmed = text.trim_ascii_start();
    let (negative, digits) = match trimmed {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let (base, digits) = match digits {
        [b'0', b'x' | b'X', rest @ ..] if rest.first().is_some_and(u8::is_ascii_hexdigit) => {
            (16, rest)
        }
        [b'0', ..] => (8, digits),
        rest => (10, rest),
    };
    let count = digits
        .iter()
        .take_while(|byte| char::from(**byte).is_digit(base))
        .count();
    let mut value = 0_i128;
    for byte in digits.iter().take(count) {
        let digit = char::from(*byte).to_digit(base).unwrap_or(0);
        value = (value * i128::from(base) + i128::from(digit)).min(1 << 100);
    }
    if negative {
        value = -value;
    }
    let problem = if count < digits.len() || (count == 0 && !trimmed.is_empty()) {
        Some(Problem::Invalid)
    } else {
        None
    };
    match i64::try_from(value) {
        Ok(value) => (value, problem),
        // `%u` takes what fits 64 bits unsigned.
        Err(_) if !signed && value > 0 && value <= i128::from(u64::MAX) => {
            let value = u64::try_from(value).unwrap_or(u64::MAX);
            (value.cast_signed(), problem)
        }
        Err(_) if !signed => (-1, problem.or(Some(Problem::Range))),
        Err(_) => (
            if value < 0 { i64::MIN } else { i64::MAX },
            problem.or(Some(Problem::Range)),
        ),
    }
}

/// A number for `%f`: the sign and the special values are those of `value`, the digits those of `long`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Real {
    value: f64,
    long: Long,
}

impl From<f64> for Real {
    fn from(value: f64) -> Self {
        Self {
            value,
            long: Long::from_f64(value),
        }
    }
}

/// Reads a floating-point number; takes what is valid at its start.
pub(super) fn parse_float(text: &[u8]) -> (Real, Option<Problem>) {
    let trimmed = text.trim_ascii_start();
    if trimmed.is_empty() {
        return (Real::from(0.0), None);
    }
    let lower = trimmed.to_ascii_lowercase();
    let unsigned = lower
        .strip_prefix(b"-")
        .or_else(|| lower.strip_prefix(b"+"))
        .unwrap_or(&lower);
    if unsigned.starts_with(b"0x") {
        let (value, problem) = parse_hex_float(&lower);
        return (Real::from(value), problem);
    }
    let text = String::from_utf8_lossy(&lower).into_owned();
    // The longest start that is a number; only so far as characters that can be part of one go.
    let end = text
        .bytes()
        .take(400)
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'+' | b'-'))
        .count();
    for cut in (1..=end).rev() {
        let Some(part) = text.get(..cut) else {
            continue;
        };
        if part
            .ends_with(|c: char| c.is_ascii_digit() || c == '.' || c == 'f' || c == 'y' || c == 'n')
            && let Ok(value) = part.parse::<f64>()
        {
            let problem = (cut < text.len()).then_some(Problem::Invalid);
            let unsigned = part.trim_start_matches(['-', '+']);
            let long = Long::parse(unsigned);
            let real = Real {
                // What is too large for 53 bits may still be a number.
                value: match long {
                    Some(_) if value.is_infinite() => f64::MAX.copysign(value),
                    _ => value,
                },
                long: long.unwrap_or_else(|| Long::from_f64(value)),
            };
            return (real, problem);
        }
    }
    (Real::from(0.0), Some(Problem::Invalid))
}

fn parse_hex_float(text: &[u8]) -> (f64, Option<Problem>) {
    let negative = text.starts_with(b"-");
    let digits = text
        .strip_prefix(b"-")
        .or_else(|| text.strip_prefix(b"+"))
        .unwrap_or(text);
    let digits = digits.strip_prefix(b"0x").unwrap_or(digits);
    let mut value = 0.0_f64;
    let mut exponent = 0_i32;
    let mut point = false;
    let mut at = 0;
    while let Some(byte) = digits.get(at) {
        if *byte == b'.' && !point {
            point = true;
        } else if let Some(digit) = char::from(*byte).to_digit(16) {
            value = value * 16.0 + f64::from(digit);
            if point {
                exponent -= 4;
            }
        } else {
            break;
        }
        at += 1;
    }
    let mut problem = None;
    match digits.get(at..) {
        Some([b'p', rest @ ..]) => match std::str::from_utf8(rest)
            .ok()
            .and_then(|t| t.parse::<i32>().ok())
        {
            Some(power) => exponent = exponent.saturating_add(power),
            None => problem = Some(Problem::Invalid),
        },
        Some([]) | None => {}
        Some(_) => problem = Some(Problem::Invalid),
    }
    value *= 2.0_f64.powi(exponent.clamp(-2000, 2000));
    (if negative { -value } else { value }, problem)
}

/// Adds an integer.
pub(super) fn integer(out: &mut Vec<u8>, spec: Spec, value: i64) {
    let unsigned = u64::from_ne_bytes(value.to_ne_bytes());
    let (sign, mut digits) = match spec.letter {
        b'd' | b'i' => {
            let sign = if value < 0 {
                "-"
            } else if spec.plus {
                "+"
            } else if spec.space {
                " "
            } else {
                ""
            };
            (sign, value.unsigned_abs().to_string())
        }
        b'u' => ("", unsigned.to_string()),
        b'o' => ("", format!("{unsigned:o}")),
        b'x' => (
            if spec.alternate && value != 0 {
                "0x"
            } else {
                ""
            },
            format!("{unsigned:x}"),
        ),
        _ => (
            if spec.alternate && value != 0 {
                "0X"
            } else {
                ""
            },
            format!("{unsigned:X}"),
        ),
    };
    if spec.precision == Some(0) && value == 0 {
        digits.clear();
    }
    let mut digits = digits.into_bytes();
    if let Some(least) = spec.precision
        && digits.len() < least
    {
        let mut padded = vec![b'0'; least - digits.len()];
        padded.append(&mut digits);
        digits = padded;
    }
    if spec.letter == b'o' && spec.alternate && !digits.starts_with(b"0") {
        digits.insert(0, b'0');
    }
    let zero = spec.zero && spec.precision.is_none();
    pad(out, Spec { zero, ..spec }, sign.as_bytes(), &digits);
}

/// Adds sign and digits within the width.
fn pad(out: &mut Vec<u8>, spec: Spec, sign: &[u8], digits: &[u8]) {
    let fill = spec.width.saturating_sub(sign.len() + digits.len());
    if spec.left {
        out.extend_from_slice(sign);
        out.extend_from_slice(digits);
        out.resize(out.len() + fill, b' ');
    } else if spec.zero {
        out.extend_from_slice(sign);
        out.resize(out.len() + fill, b'0');
        out.extend_from_slice(digits);
    } else {
        out.resize(out.len() + fill, b' ');
        out.extend_from_slice(sign);
        out.extend_from_slice(digits);
    }
}

/// The most digits behind the point that a number of 64 bits can have.
const EXACT: usize = 1100;

/// Adds a floating-point number.
pub(super) fn float(out: &mut Vec<u8>, spec: Spec, real: Real) {
    let Real { value, long } = real;
    let sign: &[u8] = if value.is_sign_negative() {
        b"-"
    } else if spec.plus {
        b"+"
    } else if spec.space {
        b" "
    } else {
        b""
    };
    let value = value.abs();
    let upper = spec.letter.is_ascii_uppercase();
    if !value.is_finite() {
        let text: &[u8] = if value.is_nan() { b"nan" } else { b"inf" };
        let text = if upper {
            text.to_ascii_uppercase()
        } else {
            text.to_vec()
        };
        return pad(
            out,
            Spec {
                zero: false,
                ..spec
            },
            sign,
            &text,
        );
    }
    let precision = spec.precision.unwrap_or(6);
    let mut digits = match spec.letter.to_ascii_lowercase() {
        b'f' => fixed(long, precision, spec.alternate),
        b'e' => scientific(long, precision, spec.alternate),
        b'g' => general(long, precision.max(1), spec.alternate),
        _ => hexadecimal(long, spec.precision),
    };
    if upper {
        digits.make_ascii_uppercase();
    }
    pad(out, spec, sign, &digits);
}

fn fixed(value: Long, precision: usize, alternate: bool) -> Vec<u8> {
    let exact = precision.min(EXACT);
    let mut text = value.fixed(exact).into_bytes();
    if precision == 0 && alternate {
        text.push(b'.');
    }
    text.resize(text.len() + (precision - exact), b'0');
    text
}

fn scientific(value: Long, precision: usize, alternate: bool) -> Vec<u8> {
    let exact = precision.min(EXACT);
    let text = value.scientific(exact);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let mut out = mantissa.as_bytes().to_vec();
    if precision == 0 && alternate {
        out.push(b'.');
    }
    out.resize(out.len() + (precision - exact), b'0');
    let (sign, digits) = match exponent.strip_prefix('-') {
        Some(digits) => ('-', digits),
        None => ('+', exponent),
    };
    out.extend_from_slice(format!("e{sign}{digits:0>2}").as_bytes());
    out
}

fn general(value: Long, precision: usize, alternate: bool) -> Vec<u8> {
    let shown = precision.min(EXACT);
    let text = value.scientific(shown - 1);
    let exponent: i64 = text
        .split_once('e')
        .and_then(|(_, e)| e.parse().ok())
        .unwrap_or(0);
    let limit = i64::try_from(shown).unwrap_or(i64::MAX);
    let mut out = if exponent < -4 || exponent >= limit {
        scientific(value, shown - 1, alternate)
    } else {
        let behind = usize::try_from(limit - 1 - exponent).unwrap_or(0);
        fixed(value, behind, alternate)
    };
    if !alternate {
        strip_zeros(&mut out);
    }
    out
}

/// Removes zeros at the end of the digits behind a point.
fn strip_zeros(text: &mut Vec<u8>) {
    let end = text.iter().position(|b| *b == b'e').unwrap_or(text.len());
    let tail = text.split_off(end);
    if text.contains(&b'.') {
        while text.last() == Some(&b'0') {
            text.pop();
        }
        if text.last() == Some(&b'.') {
            text.pop();
        }
    }
    text.extend_from_slice(&tail);
}

/// `%a` as bash prints it, whose numbers have 64 bits of mantissa: the first digit is 8 to f.
fn hexadecimal(value: Long, precision: Option<usize>) -> Vec<u8> {
    let Some((mantissa, exponent)) = value.parts() else {
        return b"0x0p+0".to_vec();
    };
    let mut digits = format!("{mantissa:016x}");
    let power = exponent + 60;
    match precision {
        Some(most) => digits.truncate(most.saturating_add(1).min(16)),
        None => digits = digits.trim_end_matches('0').to_owned(),
    }
    let (first, rest) = digits.split_at_checked(1).unwrap_or((&digits, ""));
    let point = if rest.is_empty() { "" } else { "." };
    format!("0x{first}{point}{rest}p{power:+}").into_bytes()
}

/// Formats a time; without a known zone it is UTC.
pub(in crate::builtins) fn strftime(format: &[u8], seconds: i64, zone: Option<&[u8]>) -> Vec<u8> {
    let zone = zone
        .and_then(|zone| std::str::from_utf8(zone).ok())
        .filter(|zone| !zone.is_empty())
        .and_then(|zone| {
            jiff::tz::TimeZone::get(zone)
                .or_else(|_| jiff::tz::TimeZone::posix(zone))
                .ok()
        })
        .unwrap_or(jiff::tz::TimeZone::UTC);
    let Ok(moment) = jiff::Timestamp::from_second(seconds) else {
        return Vec::new();
    };
    let zoned = moment.to_zoned(zone);
    let mut out = Vec::new();
    let mut rest = format;
    // One conversion at a time, so that an unknown one stays as it is.
    while let Some(at) = memchr::memchr(b'%', rest) {
        out.extend_from_slice(rest.get(..at).unwrap_or_default());
        let spec = rest.get(at..).unwrap_or_default();
        let flags = spec
            .iter()
            .skip(1)
            .take_while(|b| {
                matches!(b, b'-' | b'_' | b'0' | b'^' | b'#' | b'E' | b'O' | b':')
                    || b.is_ascii_digit()
            })
            .count();
        let len = usize::min(flags + 2, spec.len());
        let one = spec.get(..len).unwrap_or_default();
        let plain: Vec<u8> = one
            .iter()
            .copied()
            .filter(|b| !matches!(b, b'E' | b'O'))
            .collect();
        match plain.as_slice() {
            b"%c" => out.extend(formatted(&zoned, b"%a %b %e %H:%M:%S %Y")),
            b"%x" => out.extend(formatted(&zoned, b"%m/%d/%y")),
            b"%X" => out.extend(formatted(&zoned, b"%H:%M:%S")),
            b"%r" => out.extend(formatted(&zoned, b"%I:%M:%S %p")),
            b"%+" => out.extend(formatted(&zoned, b"%a %b %e %H:%M:%S %Z %Y")),
            plain => match std::str::from_utf8(plain)
                .ok()
                .and_then(|text| jiff::fmt::strtime::format(text, &zoned).ok())
            {
                Some(text) => out.extend_from_slice(text.as_bytes()),
                None => out.extend_from_slice(one),
            },
        }
        rest = spec.get(len..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    out
}

fn formatted(zoned: &jiff::Zoned, format: &[u8]) -> Vec<u8> {
    std::str::from_utf8(format)
        .ok()
        .and_then(|text| jiff::fmt::strtime::format(text, zoned).ok())
        .unwrap_or_default()
        .into_bytes()
}

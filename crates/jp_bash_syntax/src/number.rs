//! Constants of arithmetic: decimal, octal, hexadecimal, any base up to 64.

/// Parses a constant, or says what is wrong in bash's words. Too large a value wraps, as in bash.
pub(super) fn parse_number(text: &[u8]) -> Result<i64, &'static str> {
    const TOO_GREAT: &str = "value too great for base";
    if let Some(at) = text.iter().position(|byte| *byte == b'#') {
        let (base, digits) = text.split_at(at);
        if base.first() == Some(&b'0') {
            return Err("invalid number");
        }
        // bash reads the base with the rules of constants without `#`.
        let base = parse_number(base)?;
        let digits = digits.get(1..).unwrap_or_default();
        if !(2..=64).contains(&base) {
            return Err("invalid arithmetic base");
        }
        if digits.is_empty() {
            return Err("invalid integer constant");
        }
        if digits.contains(&b'#') {
            return Err("invalid number");
        }
        return digits_in(digits, base).ok_or(TOO_GREAT);
    }
    let value = match text {
        [b'0', b'x' | b'X', rest @ ..] => digits_in(rest, 16),
        [b'0', rest @ ..] => digits_in(rest, 8),
        _ => digits_in(text, 10),
    };
    value.ok_or(TOO_GREAT)
}

fn digits_in(digits: &[u8], base: i64) -> Option<i64> {
    let mut value = 0_i64;
    for byte in digits {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            // Up to base 36 the case of letters does not matter.
            b'a'..=b'z' => byte - b'a' + 10,
            b'A'..=b'Z' if base <= 36 => byte - b'A' + 10,
            b'A'..=b'Z' => byte - b'A' + 36,
            b'@' => 62,
            b'_' => 63,
            _ => return None,
        };
        if i64::from(digit) >= base {
            return None;
        }
        value = value.wrapping_mul(base).wrapping_add(i64::from(digit));
    }
    Some(value)
}

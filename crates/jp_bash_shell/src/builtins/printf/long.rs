//! Numbers with 64 bits of mantissa, in which bash computes `%f`, `%e` and `%g`: 1.115 is nearer to 1.12 in
//! them, but nearer to 1.11 with 53 bits. Only reading and exact decimal digits; no arithmetic.

/// A number that is not negative: `mantissa * 2^exponent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Long {
    mantissa: u64,
    exponent: i32,
}

/// Digits of the text that count; more cannot change a result that anyone sees.
const MAX_DIGITS: usize = 400;
/// The largest power of ten.
const MAX_POWER: i32 = 4932;

impl Long {
    /// Reads `12.5e3`, without a sign; nothing if that is no number or too large.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (digits, power) = match text.split_once('e') {
            Some((digits, power)) => (digits, power.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let mut number = Vec::new();
        for byte in whole.bytes().chain(fraction.bytes()).take(MAX_DIGITS) {
            let digit = u32::from(byte.checked_sub(b'0').filter(|digit| *digit < 10)?);
            multiply_add(&mut number, 10, digit);
        }
        let left_out = (whole.len() + fraction.len()).saturating_sub(MAX_DIGITS);
        let power = power
            .checked_sub(i32::try_from(fraction.len()).ok()?)?
            .checked_add(i32::try_from(left_out).ok()?)?;
        if number.is_empty() {
            return Some(Self::default());
        }
        if power > MAX_POWER {
            return None;
        }
        if power < -2 * MAX_POWER {
            return Some(Self::default());
        }
        Some(Self::ratio(number, power))
    }

    /// Takes over a number of 53 bits.
    pub(super) fn from_f64(value: f64) -> Self {
        let bits = value.abs().to_bits();
        let raw = i32::try_from(bits >> 52).unwrap_or(0);
        let fraction = bits & ((1 << 52) - 1);
        match raw {
            0 => Self {
                mantissa: fraction,
                exponent: -1074,
            },
            raw => Self {
                mantissa: fraction | 1 << 52,
                exponent: raw - 1075,
            },
        }
    }

    /// Rounds `number * 10^power` to 64 bits, halves to the even side.
    fn ratio(mut number: Vec<u32>, power: i32) -> Self {
        let mut below = vec![1];
        let scaled = if power < 0 { &mut below } else { &mut number };
        for _ in 0..power.unsigned_abs() {
            multiply_add(scaled, 10, 0);
        }
        let shift = 66 - (bits(&number) - bits(&below));
        if shift > 0 {
            shift_left(&mut number, shift.unsigned_abs());
        } else {
            shift_left(&mut below, shift.unsigned_abs());
        }
        // Long division, bit by bit: the quotient has 66 or 67 bits.
        let mut quotient = 0_u128;
        shift_left(&mut below, 67);
        for _ in 0..=67 {
            quotient <<= 1;
            if !is_less(&number, &below) {
                subtract(&mut number, &below);
                quotient |= 1;
            }
            halve(&mut below);
        }
        let extra = (128 - quotient.leading_zeros()).saturating_sub(64);
        let rest = quotient & ((1 << extra) - 1);
        let half = 1_u128 << extra.saturating_sub(1);
        let mut mantissa = quotient >> extra;
        let sticky = !number.is_empty();
        if rest > half || (rest == half && (sticky || mantissa & 1 == 1)) {
            mantissa += 1;
        }
        let mut exponent = i32::try_from(extra).unwrap_or(0) - shift;
        if mantissa >> 64 != 0 {
            mantissa >>= 1;
            exponent += 1;
        }
        Self {
            mantissa: u64::try_from(mantissa).unwrap_or(u64::MAX),
            exponent,
        }
    }

    /// Returns the mantissa with its highest bit set, and the exponent; nothing for 0.
    pub(super) fn parts(self) -> Option<(u64, i64)> {
        if self.mantissa == 0 {
            return None;
        }
        let shift = self.mantissa.leading_zeros();
        Some((
            self.mantissa << shift,
            i64::from(self.exponent) - i64::from(shift),
        ))
    }

    /// Returns all decimal digits, and the power of ten of the last.
    fn exact(self) -> (Vec<u8>, i32) {
        let mut mantissa = self.mantissa;
        let mut exponent = self.exponent;
        while exponent < 0 && mantissa != 0 && mantissa & 1 == 0 {
            mantissa >>= 1;
            exponent += 1;
        }
        let mut number = Vec::new();
        for word in [mantissa >> 32, mantissa & 0xffff_ffff] {
            shift_left(&mut number, 32);
            multiply_add(&mut number, 1, u32::try_from(word).unwrap_or(0));
        }
        if exponent >= 0 {
            shift_left(&mut number, exponent.unsigned_abs());
            return (decimal(number), 0);
        }
        for _ in 0..exponent.unsigned_abs() {
            multiply_add(&mut number, 5, 0);
        }
        (decimal(number), exponent)
    }

    /// Writes the number with so many digits behind the point.
    pub(super) fn fixed(self, precision: usize) -> String {
        let (digits, power) = self.exact();
        let behind = usize::try_from(-power).unwrap_or(0);
        let mut digits = if behind > precision {
            rounded(&digits, behind - precision)
        } else {
            let mut digits = digits;
            digits.resize(digits.len() + precision - behind, b'0');
            digits
        };
        while digits.len() <= precision {
            digits.insert(0, b'0');
        }
        let point = digits.len() - precision;
        let mut out = String::from_utf8_lossy(digits.get(..point).unwrap_or_default()).into_owned();
        if precision > 0 {
            out.push('.');
            out.push_str(&String::from_utf8_lossy(
                digits.get(point..).unwrap_or_default(),
            ));
        }
        out
    }

    /// Writes the number as `1.25e-7`, with so many digits behind the point.
    pub(super) fn scientific(self, precision: usize) -> String {
        if self.mantissa == 0 {
            let zeros = "0".repeat(precision);
            let point = if precision > 0 { "." } else { "" };
            return format!("0{point}{zeros}e0");
        }
        let (mut digits, mut power) = self.exact();
        let wanted = precision + 1;
        if digits.len() > wanted {
            let drop = digits.len() - wanted;
            digits = rounded(&digits, drop);
            power += i32::try_from(drop).unwrap_or(0);
        }
        let exponent = power + i32::try_from(digits.len()).unwrap_or(0) - 1;
        digits.resize(wanted, b'0');
        let (first, rest) = digits.split_at_checked(1).unwrap_or((&digits, b""));
        let point = if rest.is_empty() { "" } else { "." };
        format!(
            "{}{point}{}e{exponent}",
            String::from_utf8_lossy(first),
            String::from_utf8_lossy(rest)
        )
    }
}

/// Drops digits at the end, rounding to the nearest, halves to the even side.
fn rounded(digits: &[u8], drop: usize) -> Vec<u8> {
    if drop > digits.len() {
        return Vec::new();
    }
    let (head, tail) = digits
        .split_at_checked(digits.len() - drop)
        .unwrap_or((digits, b""));
    let mut head = head.to_vec();
    let half = tail.first() == Some(&b'5') && tail.iter().skip(1).all(|digit| *digit == b'0');
    let odd = head.last().is_some_and(|digit| digit & 1 == 1);
    let up = match tail.first() {
        _ if half => odd,
        Some(first) => *first >= b'5',
        None => false,
    };
    if !up {
        return head;
    }
    for digit in head.iter_mut().rev() {
        if *digit < b'9' {
            *digit += 1;
            return head;
        }
        *digit = b'0';
    }
    head.insert(0, b'1');
    head
}

fn multiply_add(number: &mut Vec<u32>, by: u32, add: u32) {
    let mut carry = u64::from(add);
    for word in number.iter_mut() {
        let sum = u64::from(*word) * u64::from(by) + carry;
        *word = low(sum);
        carry = sum >> 32;
    }
    if carry > 0 {
        number.push(low(carry));
    }
}

fn low(value: u64) -> u32 {
    u32::try_from(value & 0xffff_ffff).unwrap_or(0)
}

fn bits(number: &[u32]) -> i32 {
    let top = number.last().map_or(0, |word| 32 - word.leading_zeros());
    let below = number.len().saturating_sub(1) * 32;
    i32::try_from(below).unwrap_or(i32::MAX) + i32::try_from(top).unwrap_or(0)
}

fn shift_left(number: &mut Vec<u32>, by: u32) {
    if number.is_empty() {
        return;
    }
    if !by.is_multiple_of(32) {
        multiply_add(number, 1 << (by % 32), 0);
    }
    let words = usize::try_from(by / 32).unwrap_or(0);
    number.splice(0..0, std::iter::repeat_n(0, words));
}

fn halve(number: &mut Vec<u32>) {
    let mut carry = 0;
    for word in number.iter_mut().rev() {
        let next = *word & 1;
        *word = *word >> 1 | carry << 31;
        carry = next;
    }
    while number.last() == Some(&0) {
        number.pop();
    }
}

fn is_less(left: &[u32], right: &[u32]) -> bool {
    left.len()
        .cmp(&right.len())
        .then_with(|| left.iter().rev().cmp(right.iter().rev()))
        .is_lt()
}

fn subtract(number: &mut Vec<u32>, other: &[u32]) {
    let mut borrow = false;
    for (at, word) in number.iter_mut().enumerate() {
        let right = other.get(at).copied().unwrap_or(0);
        let (first, under) = word.overflowing_sub(right);
        let (second, again) = first.overflowing_sub(u32::from(borrow));
        *word = second;
        borrow = under || again;
    }
    while number.last() == Some(&0) {
        number.pop();
    }
}

fn decimal(mut number: Vec<u32>) -> Vec<u8> {
    let mut groups = Vec::new();
    while !number.is_empty() {
        let mut rest = 0_u64;
        for word in number.iter_mut().rev() {
            let value = rest << 32 | u64::from(*word);
            *word = low(value / 1_000_000_000);
            rest = value % 1_000_000_000;
        }
        while number.last() == Some(&0) {
            number.pop();
        }
        groups.push(rest);
    }
    let mut out = String::new();
    for (at, group) in groups.iter().rev().enumerate() {
        if at == 0 {
            out.push_str(&group.to_string());
        } else {
            out.push_str(&format!("{group:09}"));
        }
    }
    out.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::Long;

    #[test]
    fn numbers_round_as_with_64_bits() {
        for (text, precision, want) in [
            ("1.115", 2, "1.12"),
            ("0.615", 2, "0.62"),
            ("2.675", 2, "2.67"),
            ("0.125", 2, "0.12"),
            ("0.1", 20, "0.10000000000000000000"),
            ("1e3", 0, "1000"),
            ("0", 3, "0.000"),
            ("9.999", 2, "10.00"),
        ] {
            let long = Long::parse(text);
            assert_eq!(
                long.map(|long| long.fixed(precision)).as_deref(),
                Some(want),
                "{text}"
            );
        }
    }
}

//! Counts and sizes in option arguments, as GNU's `xstrtoumax` reads them.

/// Why a number was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BadNumber {
    /// No number at all.
    Invalid,
    /// A number, then something that is no suffix of this option.
    Suffix,
    /// Larger than 64 bits.
    Overflow,
}

/// The suffixes of `head`, `tail` and `split`.
pub(crate) const SIZES: &[u8] = b"bkKmMGTPEZY0";

/// Reads an unsigned number with an optional suffix of `suffixes`; a `0` among them allows `kB` and `KiB`.
pub(crate) fn size(text: &[u8], suffixes: &[u8]) -> Result<u64, BadNumber> {
    let mut rest = text.trim_ascii_start();
    rest = rest.strip_prefix(b"+").unwrap_or(rest);
    if rest.first() == Some(&b'-') {
        return Err(BadNumber::Invalid);
    }
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, suffix) = rest.split_at_checked(digits).unwrap_or((rest, b""));
    let value = if number.is_empty() {
        // A suffix alone counts as one of it, but only when nothing stood before it.
        match text.first() {
            Some(first) if *first != b'0' && suffixes.contains(first) => Some(1),
            _ => return Err(BadNumber::Invalid),
        }
    } else {
        number.iter().try_fold(0u64, |sum, digit| {
            sum.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
        })
    };
    let scaled = scale(value, suffix, suffixes)?;
    scaled.ok_or(BadNumber::Overflow)
}

fn scale(value: Option<u64>, suffix: &[u8], suffixes: &[u8]) -> Result<Option<u64>, BadNumber> {
    let Some((&letter, tail)) = suffix.split_first() else {
        return Ok(value);
    };
    if letter == b'0' || !suffixes.contains(&letter) {
        return Err(BadNumber::Suffix);
    }
    let power = match letter.to_ascii_uppercase() {
        b'K' => 1,
        b'M' => 2,
        b'G' => 3,
        b'T' => 4,
        b'P' => 5,
        b'E' => 6,
        b'Z' => 7,
        b'Y' => 8,
        _ => 0,
    };
    if power == 0 {
        let factor = match letter {
            b'b' => 512,
            b'w' => 2,
            _ => 1,
        };
        return if tail.is_empty() {
            Ok(value.and_then(|value| value.checked_mul(factor)))
        } else {
            Err(BadNumber::Suffix)
        };
    }
    let base: u64 = match tail {
        b"" => 1024,
        b"iB" if suffixes.contains(&b'0') => 1024,
        b"B" | b"D" if suffixes.contains(&b'0') => 1000,
        _ => return Err(BadNumber::Suffix),
    };
    Ok((0..power)
        .try_fold(value, |sum, _| Some(sum?.checked_mul(base)))
        .flatten())
}

/// What follows a number that does not fit into its type, as GNU's `xdectoumax` says it.
const TOO_LARGE: &[u8] = b": Value too large for defined data type";
/// What follows a number that is smaller or larger than the option allows.
const OUT_OF_RANGE: &[u8] = b": Numerical result out of range";

/// Reads a whole number between two others, as GNU's `xdectoimax`; the error is what follows the number
/// in the message.
pub(crate) fn signed(text: &[u8], least: i64, most: i64) -> Result<i64, &'static [u8]> {
    let digits = text.trim_ascii_start();
    let (negative, digits) = match digits {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(b"");
    }
    let number = digits.iter().try_fold(0_i64, |sum, digit| {
        let digit = i64::from(digit - b'0');
        let digit = if negative { -digit } else { digit };
        sum.checked_mul(10)?.checked_add(digit)
    });
    match number {
        Some(number) if (least..=most).contains(&number) => Ok(number),
        Some(number) if number.unsigned_abs() <= u64::from(u32::MAX / 4) => Err(OUT_OF_RANGE),
        _ => Err(TOO_LARGE),
    }
}

/// Like [`signed`], as GNU's `xdectoumax`: a number below zero is none at all.
pub(crate) fn unsigned(text: &[u8], least: u64, most: u64) -> Result<u64, &'static [u8]> {
    match size(text, b"") {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        Ok(number) if number <= u64::from(u32::MAX / 4) => Err(OUT_OF_RANGE),
        Ok(_) | Err(BadNumber::Overflow) => Err(TOO_LARGE),
        Err(_) => Err(b""),
    }
}

impl BadNumber {
    /// Returns the message about the size that an option was given, as GNU's `xstrtol_fatal` writes it.
    pub(crate) fn of_option(self, option: &[u8], text: &[u8]) -> Vec<u8> {
        let (before, behind): (&[u8], &[u8]) = match self {
            Self::Invalid => (b"invalid ", b"'"),
            Self::Suffix => (b"invalid suffix in ", b"'"),
            Self::Overflow => (b"", b"' too large"),
        };
        [before, option, b" argument '", text, behind].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_as_gnu_reads_them() {
        for (text, want) in [
            ("5", Ok(5)),
            (" +5", Ok(5)),
            ("2b", Ok(1024)),
            ("1K", Ok(1024)),
            ("1kB", Ok(1000)),
            ("1KiB", Ok(1024)),
            ("M", Ok(1 << 20)),
            ("", Err(BadNumber::Invalid)),
            ("x", Err(BadNumber::Invalid)),
            ("-1", Err(BadNumber::Invalid)),
            ("5x", Err(BadNumber::Suffix)),
            ("1iB", Err(BadNumber::Suffix)),
            ("2bB", Err(BadNumber::Suffix)),
            ("0Y", Ok(0)),
            ("1Y", Err(BadNumber::Overflow)),
            ("99999999999999999999", Err(BadNumber::Overflow)),
        ] {
            assert_eq!(size(text.as_bytes(), SIZES), want, "{text}");
        }
    }
}

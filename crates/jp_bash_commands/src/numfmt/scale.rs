//! The numbers of `numfmt`: decimal digits, so that nothing is lost on the way, and their units.

use super::Wanted;

/// How a number is scaled.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Units {
    None,
    Auto,
    Si,
    Iec,
    IecI,
}

impl Units {
    pub(super) fn read(word: &str) -> Self {
        match word {
            "auto" => Self::Auto,
            "si" => Self::Si,
            "iec" => Self::Iec,
            "iec-i" => Self::IecI,
            _ => Self::None,
        }
    }
}

/// Where a number that does not fit goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Round {
    Up,
    Down,
    FromZero,
    ToZero,
    Nearest,
}

impl Round {
    pub(super) fn read(word: &str) -> Self {
        match word {
            "up" => Self::Up,
            "down" => Self::Down,
            "towards-zero" => Self::ToZero,
            "nearest" => Self::Nearest,
            _ => Self::FromZero,
        }
    }

    /// Divides, rounding as asked.
    fn divide(self, value: u128, by: u128, negative: bool) -> u128 {
        let by = u128::max(by, 1);
        match self {
            Self::Nearest => (value + by / 2) / by,
            Self::ToZero => value / by,
            Self::Up if negative => value / by,
            Self::Down if !negative => value / by,
            _ => value.div_ceil(by),
        }
    }
}

/// A number: `value` / 10^`decimals`.
pub(super) struct Number {
    negative: bool,
    value: u128,
    decimals: u32,
    /// How many of them are shown: none, once a unit was multiplied in.
    shown: usize,
}

const LETTERS: &[u8] = b"KMGTPEZY";
const INVALID: &str = "invalid number: ";
const SUFFIX: &str = "invalid suffix in input: ";
const REJECTED: &str = "rejecting suffix in input: ";
const TOO_LARGE: &str = "value too large to be converted: ";

/// Returns what follows a message.
pub(super) fn hint(why: &str) -> &'static [u8] {
    if why == REJECTED {
        b" (consider using --from)"
    } else {
        b""
    }
}

/// Reads a number.
pub(super) fn parse(text: &[u8], units: Units) -> Result<Number, &'static str> {
    let (negative, digits) = match text.strip_prefix(b"-") {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let whole = digits
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let mut rest = digits.get(whole..).unwrap_or_default();
    let mut all: Vec<u8> = digits.get(..whole).unwrap_or_default().to_vec();
    let mut decimals = 0;
    if let Some(tail) = rest.strip_prefix(b".") {
        let len = tail.iter().take_while(|byte| byte.is_ascii_digit()).count();
        all.extend_from_slice(tail.get(..len).unwrap_or_default());
        decimals = u32::try_from(len).unwrap_or(u32::MAX);
        rest = tail.get(len..).unwrap_or_default();
    }
    if all.is_empty() || all.len() > 27 {
        return Err(if all.is_empty() { INVALID } else { TOO_LARGE });
    }
    let value = all
        .iter()
        .fold(0_u128, |sum, digit| sum * 10 + u128::from(digit - b'0'));
    let factor = match (rest, units) {
        ([], _) => Some(1),
        (_, Units::None) => {
            let known = rest.first().is_some_and(|letter| LETTERS.contains(letter));
            return Err(if known { REJECTED } else { SUFFIX });
        }
        ([letter], Units::Si | Units::Auto) => power(*letter, 1000),
        ([letter], Units::Iec) => power(*letter, 1024),
        ([letter, b'i'], Units::IecI | Units::Auto) => power(*letter, 1024),
        _ => None,
    };
    let factor = factor.ok_or(SUFFIX)?;
    let value = value.checked_mul(factor).ok_or(TOO_LARGE)?;
    Ok(Number {
        negative,
        value,
        decimals,
        shown: if factor == 1 {
            usize::try_from(decimals).unwrap_or(0)
        } else {
            0
        },
    })
}

fn power(letter: u8, base: u128) -> Option<u128> {
    let letter = if letter == b'k' { b'K' } else { letter };
    let at = LETTERS.iter().position(|known| *known == letter)?;
    base.checked_pow(u32::try_from(at).ok()? + 1)
}

/// Reads a unit size: a number, or a letter for a power.
pub(super) fn unit(text: &[u8]) -> Option<u64> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = match text.get(..digits)? {
        [] if text.is_empty() => return None,
        [] => 1,
        digits => std::str::from_utf8(digits).ok()?.parse::<u64>().ok()?,
    };
    let factor = match text.get(digits..)? {
        [] => 1,
        [letter] => power(*letter, 1000)?,
        [letter, b'i'] => power(*letter, 1024)?,
        _ => return None,
    };
    number
        .checked_mul(u64::try_from(factor).ok()?)
        .filter(|n| *n > 0)
}

/// Shows a number in the units and with the digits that were asked for.
pub(super) fn show(number: &Number, wanted: &Wanted) -> String {
    let sign = if number.negative { "-" } else { "" };
    let ten = 10_u128.checked_pow(number.decimals).unwrap_or(u128::MAX);
    let value = number.value.saturating_mul(u128::from(wanted.from_unit));
    let below = ten.saturating_mul(u128::from(wanted.to_unit));
    let (base, tail) = match wanted.to {
        Units::None | Units::Auto => {
            let digits = wanted.precision.unwrap_or(number.shown);
            return format!(
                "{sign}{}",
                decimal(value, below, digits, number.negative, wanted.round)
            );
        }
        Units::Si => (1000, ""),
        Units::Iec => (1024, ""),
        Units::IecI => (1024, "i"),
    };
    if value < below.saturating_mul(base) {
        let digits = wanted.precision.unwrap_or(0);
        let shown = decimal(value, below, digits, number.negative, wanted.round);
        if shown != base.to_string() {
            return format!("{sign}{shown}");
        }
    }
    let mut unit = below;
    let mut at = 0;
    while at < LETTERS.len() && value >= unit.saturating_mul(base) {
        unit = unit.saturating_mul(base);
        at += 1;
    }
    loop {
        let letter = |at: usize| {
            at.checked_sub(1)
                .and_then(|at| LETTERS.get(at))
                .map_or(' ', |l| char::from(*l))
        };
        let small = value < unit.saturating_mul(10);
        let digits = wanted.precision.unwrap_or(usize::from(small));
        let mut shown = decimal(value, unit, digits, number.negative, wanted.round);
        if wanted.precision.is_none() && shown == "10.0" {
            shown = decimal(value, unit, 0, number.negative, wanted.round);
        }
        // Rounding may reach the next unit.
        if shown == base.to_string() && at < LETTERS.len() {
            unit = unit.saturating_mul(base);
            at += 1;
            if wanted.precision.is_none() {
                return format!("{sign}1.0{}{tail}", letter(at));
            }
            continue;
        }
        return format!("{sign}{shown}{}{tail}", letter(at));
    }
}

/// Divides and shows so many digits behind the point.
fn decimal(value: u128, by: u128, digits: usize, negative: bool, round: Round) -> String {
    let ten = u32::try_from(digits)
        .ok()
        .and_then(|digits| 10_u128.checked_pow(digits))
        .unwrap_or(1);
    let scaled = round.divide(value.saturating_mul(ten), by, negative);
    if digits == 0 {
        return scaled.to_string();
    }
    format!("{}.{:0digits$}", scaled / ten, scaled % ten)
}

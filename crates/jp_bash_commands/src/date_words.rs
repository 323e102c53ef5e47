//! Words and signs of the dates that people write: the lexer of `date -d`.

/// A piece of a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    /// A number; `signed` if a sign stood before it.
    Number {
        value: i64,
        digits: usize,
        signed: bool,
        negative: bool,
    },
    /// Seconds with a fraction: whole seconds (rounded down) and nanoseconds.
    Decimal {
        seconds: i64,
        nanos: u32,
        signed: bool,
    },
    Meridian(Meridian),
    Month(i64),
    Day(i64),
    /// An abbreviation of the local zone, with whether it is its summer time.
    LocalZone(bool),
    /// Seconds east of Greenwich.
    Zone(i64),
    /// Summer time: an hour must be added.
    DayZone(i64),
    Dst,
    /// The military zone J, local time.
    Local,
    /// The letter between date and time; also a military zone.
    T,
    Unit(Unit, i64),
    Ordinal(i64),
    Shift(i64),
    /// `ago` (-1) and `hence` (1).
    Ago(i64),
    Sign(u8),
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meridian {
    Am,
    Pm,
    Day24,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
}

/// The abbreviations of the local zone, as they hold now and in the other half of the year.
pub(super) type LocalNames = Vec<(String, bool)>;

/// Splits a text; what is no word or number becomes [`Token::Unknown`].
pub(super) fn split(text: &[u8], local: &LocalNames) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let rest = text.get(at..).unwrap_or_default();
        match byte {
            b' ' | 9..=13 => at += 1,
            b'0'..=b'9' | b'+' | b'-' => {
                let (token, used) = number(rest);
                at += used;
                tokens.extend(token);
            }
            b'(' => match comment(rest) {
                Some(used) => at += used,
                None => break,
            },
            _ if byte.is_ascii_alphabetic() => {
                let len = rest
                    .iter()
                    .take_while(|b| b.is_ascii_alphabetic() || **b == b'.')
                    .count();
                let word: String = rest
                    .iter()
                    .take(usize::min(len, 19))
                    .map(|b| char::from(b.to_ascii_uppercase()))
                    .collect();
                tokens.push(look_up(&word, local).unwrap_or(Token::Unknown));
                at += len;
            }
            _ => {
                tokens.push(Token::Sign(byte));
                at += 1;
            }
        }
    }
    tokens
}

/// Returns the length of a parenthesised remark; one that does not end takes everything.
fn comment(text: &[u8]) -> Option<usize> {
    let mut depth = 0usize;
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

fn number(text: &[u8]) -> (Option<Token>, usize) {
    let mut at = 0;
    let mut negative = false;
    let mut signed = false;
    if let Some(sign @ (b'+' | b'-')) = text.first() {
        signed = true;
        negative = *sign == b'-';
        at = 1 + text
            .iter()
            .skip(1)
            .take_while(|byte| byte.is_ascii_whitespace() || **byte == 11)
            .count();
        // A sign before anything else is skipped.
        if !text.get(at).is_some_and(u8::is_ascii_digit) {
            return (None, at);
        }
    }
    let rest = text.get(at..).unwrap_or_default();
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let value = rest.iter().take(digits).try_fold(0i64, |sum, digit| {
        let digit = i64::from(digit - b'0');
        sum.checked_mul(10)?
            .checked_add(if negative { -digit } else { digit })
    });
    let Some(value) = value else {
        return (Some(Token::Unknown), at + digits);
    };
    at += digits;
    let fraction = match rest.get(digits) {
        Some(b'.' | b',') => rest.get(digits + 1..).unwrap_or_default(),
        _ => b"",
    };
    let places = fraction
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if places == 0 {
        return (
            Some(Token::Number {
                value,
                digits,
                signed,
                negative,
            }),
            at,
        );
    }
    let sign = signed.then_some(negative);
    let token = decimal(value, sign, fraction.get(..places).unwrap_or_default());
    (Some(token), at + 1 + places)
}

/// Adds a fraction to whole seconds.
fn decimal(value: i64, sign: Option<bool>, fraction: &[u8]) -> Token {
    let digit = |place: usize| fraction.get(place).map_or(0, |byte| u32::from(byte - b'0'));
    let mut nanos = (0..9).fold(0u32, |sum, place| sum * 10 + digit(place));
    let lost = fraction.iter().skip(9).any(|digit| *digit != b'0');
    let mut seconds = value;
    if sign == Some(true) && (nanos > 0 || lost) {
        // Below zero the fraction counts up from the next lower second; what does not fit rounds down too.
        let Some(lower) = seconds.checked_sub(1) else {
            return Token::Unknown;
        };
        seconds = lower;
        nanos = 1_000_000_000 - (nanos + u32::from(lost));
    }
    Token::Decimal {
        seconds,
        nanos,
        signed: sign.is_some(),
    }
}

const NAMES: &[(&str, Token)] = &[
    ("JANUARY", Token::Month(1)),
    ("FEBRUARY", Token::Month(2)),
    ("MARCH", Token::Month(3)),
    ("APRIL", Token::Month(4)),
    ("MAY", Token::Month(5)),
    ("JUNE", Token::Month(6)),
    ("JULY", Token::Month(7)),
    ("AUGUST", Token::Month(8)),
    ("SEPTEMBER", Token::Month(9)),
    ("SEPT", Token::Month(9)),
    ("OCTOBER", Token::Month(10)),
    ("NOVEMBER", Token::Month(11)),
    ("DECEMBER", Token::Month(12)),
    ("SUNDAY", Token::Day(0)),
    ("MONDAY", Token::Day(1)),
    ("TUESDAY", Token::Day(2)),
    ("TUES", Token::Day(2)),
    ("WEDNESDAY", Token::Day(3)),
    ("WEDNES", Token::Day(3)),
    ("THURSDAY", Token::Day(4)),
    ("THUR", Token::Day(4)),
    ("THURS", Token::Day(4)),
    ("FRIDAY", Token::Day(5)),
    ("SATURDAY", Token::Day(6)),
];

const UNITS: &[(&str, Unit, i64)] = &[
    ("YEAR", Unit::Year, 1),
    ("MONTH", Unit::Month, 1),
    ("FORTNIGHT", Unit::Day, 14),
    ("WEEK", Unit::Day, 7),
    ("DAY", Unit::Day, 1),
    ("HOUR", Unit::Hour, 1),
    ("MINUTE", Unit::Minute, 1),
    ("MIN", Unit::Minute, 1),
    ("SECOND", Unit::Second, 1),
    ("SEC", Unit::Second, 1),
];

const WORDS: &[(&str, Token)] = &[
    ("TOMORROW", Token::Shift(1)),
    ("YESTERDAY", Token::Shift(-1)),
    ("TODAY", Token::Shift(0)),
    ("NOW", Token::Shift(0)),
    ("LAST", Token::Ordinal(-1)),
    ("THIS", Token::Ordinal(0)),
    ("NEXT", Token::Ordinal(1)),
    ("FIRST", Token::Ordinal(1)),
    ("THIRD", Token::Ordinal(3)),
    ("FOURTH", Token::Ordinal(4)),
    ("FIFTH", Token::Ordinal(5)),
    ("SIXTH", Token::Ordinal(6)),
    ("SEVENTH", Token::Ordinal(7)),
    ("EIGHTH", Token::Ordinal(8)),
    ("NINTH", Token::Ordinal(9)),
    ("TENTH", Token::Ordinal(10)),
    ("ELEVENTH", Token::Ordinal(11)),
    ("TWELFTH", Token::Ordinal(12)),
    ("AGO", Token::Ago(-1)),
    ("HENCE", Token::Ago(1)),
];

/// Zones that mean the same everywhere, in minutes east of Greenwich; `true` is summer time, an hour more.
const ZONES: &[(&str, i64, bool)] = &[
    ("GMT", 0, false),
    ("UT", 0, false),
    ("UTC", 0, false),
    ("WET", 0, false),
    ("WEST", 0, true),
    ("BST", 0, true),
    ("ART", -180, false),
    ("BRT", -180, false),
    ("BRST", -180, true),
    ("NST", -210, false),
    ("NDT", -210, true),
    ("AST", -240, false),
    ("ADT", -240, true),
    ("CLT", -240, false),
    ("CLST", -240, true),
    ("EST", -300, false),
    ("EDT", -300, true),
    ("CST", -360, false),
    ("CDT", -360, true),
    ("MST", -420, false),
    ("MDT", -420, true),
    ("PST", -480, false),
    ("PDT", -480, true),
    ("AKST", -540, false),
    ("AKDT", -540, true),
    ("HST", -600, false),
    ("HAST", -600, false),
    ("HADT", -600, true),
    ("SST", -720, false),
    ("WAT", 60, false),
    ("CET", 60, false),
    ("CEST", 60, true),
    ("MET", 60, false),
    ("MEZ", 60, false),
    ("MEST", 60, true),
    ("MESZ", 60, true),
    ("EET", 120, false),
    ("EEST", 120, true),
    ("CAT", 120, false),
    ("SAST", 120, false),
    ("EAT", 180, false),
    ("MSK", 180, false),
    ("MSD", 180, true),
    ("IST", 330, false),
    ("SGT", 480, false),
    ("KST", 540, false),
    ("JST", 540, false),
    ("GST", 600, false),
    ("NZST", 720, false),
    ("NZDT", 720, true),
];

/// Finds a word, in the order in which GNU's tables are asked.
fn look_up(word: &str, local: &LocalNames) -> Option<Token> {
    match word {
        "AM" | "A.M." => return Some(Token::Meridian(Meridian::Am)),
        "PM" | "P.M." => return Some(Token::Meridian(Meridian::Pm)),
        _ => {}
    }
    let short = word.len() == 3 || word.len() == 4 && word.ends_with('.');
    let named = NAMES.iter().find(|(name, _)| {
        if short {
            name.get(..3) == word.get(..3)
        } else {
            *name == word
        }
    });
    if let Some((_, token)) = named {
        return Some(*token);
    }
    if let Some(token) = zone(word, local) {
        return Some(token);
    }
    if word == "DST" {
        return Some(Token::Dst);
    }
    let unit = |word: &str| {
        UNITS
            .iter()
            .find(|(name, _, _)| *name == word)
            .map(|(_, unit, n)| Token::Unit(*unit, *n))
    };
    if let Some(token) = unit(word).or_else(|| word.strip_suffix('S').and_then(unit)) {
        return Some(token);
    }
    if let Some((_, token)) = WORDS.iter().find(|(name, _)| *name == word) {
        return Some(*token);
    }
    if let [letter] = word.as_bytes() {
        return military(*letter);
    }
    if word.contains('.') {
        return zone(&word.replace('.', ""), local);
    }
    None
}

fn zone(word: &str, local: &LocalNames) -> Option<Token> {
    // The names that are everybody's come first, then those of the local zone.
    if let Some((_, minutes, _)) = ZONES.iter().take(3).find(|(name, _, _)| *name == word) {
        return Some(Token::Zone(minutes * 60));
    }
    if let Some((_, summer)) = local.iter().find(|(name, _)| name == word) {
        return Some(Token::LocalZone(*summer));
    }
    let (_, minutes, summer) = ZONES.iter().find(|(name, _, _)| *name == word)?;
    Some(if *summer {
        Token::DayZone(minutes * 60)
    } else {
        Token::Zone(minutes * 60)
    })
}

fn military(letter: u8) -> Option<Token> {
    let hours = match letter {
        b'J' => return Some(Token::Local),
        b'T' => return Some(Token::T),
        b'A'..=b'I' => i64::from(letter - b'A') + 1,
        b'K'..=b'M' => i64::from(letter - b'K') + 10,
        b'N'..=b'Y' => -(i64::from(letter - b'N') + 1),
        b'Z' => 0,
        _ => return None,
    };
    Some(Token::Zone(hours * 3600))
}

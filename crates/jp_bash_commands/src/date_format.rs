//! The formats of `date`: every conversion of GNU's `strftime`, with flags and widths, in the C locale.

use super::calendar::{DAYS, MONTHS};
use super::date_zone::{Civil, Local};

/// A moment, ready to be written.
#[derive(Debug, Clone)]
pub(crate) struct Shown {
    pub(crate) seconds: i64,
    pub(crate) nanos: u32,
    pub(crate) civil: Civil,
    pub(crate) local: Local,
}

/// The most that one width may ask for: what a format makes us write must stay small against its text.
const WIDEST: usize = 1 << 16;

/// Flags and width of one conversion.
#[derive(Debug, Clone, Copy, Default)]
struct Spec {
    pad: Option<u8>,
    upper: bool,
    swap: bool,
    width: Option<usize>,
    modifier: Option<u8>,
    colons: usize,
}

/// Writes a moment by a format; what is no conversion stays as it is.
pub(crate) fn format(shown: &Shown, format: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(format.len() * 2);
    let writer = Writer { shown };
    writer.write(&mut out, format, Spec::default());
    out
}

struct Writer<'s> {
    shown: &'s Shown,
}

impl Writer<'_> {
    /// Writes a format; `outer` hands `^` and the padding down to the parts of `%c`, `%D` and others.
    fn write(&self, out: &mut Vec<u8>, format: &[u8], outer: Spec) {
        let mut rest = format;
        while let Some(at) = memchr::memchr(b'%', rest) {
            out.extend_from_slice(rest.get(..at).unwrap_or_default());
            rest = rest.get(at..).unwrap_or_default();
            let (spec, letter, len) = read(rest, outer);
            let raw = rest.get(..len).unwrap_or(rest);
            rest = rest.get(len..).unwrap_or_default();
            let done = letter.is_some_and(|letter| self.convert(out, letter, spec).is_some());
            if !done {
                text(out, raw, spec);
            }
        }
        out.extend_from_slice(rest);
    }

    fn convert(&self, out: &mut Vec<u8>, letter: u8, spec: Spec) -> Option<()> {
        if spec.modifier.is_some()
            && let Some(done) = self.modified(out, letter, spec)
        {
            return done;
        }
        if spec.colons > 0 && letter != b'z' {
            return None;
        }
        if self.text_part(out, letter, spec) || self.year_part(out, letter, spec) {
            return Some(());
        }
        if let Some((inner, spec)) = whole(letter, spec) {
            let mut part = Vec::new();
            let handed = Spec {
                upper: spec.upper,
                pad: spec.pad,
                width: None,
                ..Spec::default()
            };
            if letter == b'F' {
                self.iso_date(&mut part, spec);
                out.extend_from_slice(&part);
            } else {
                self.write(
                    &mut part,
                    inner,
                    Spec {
                        pad: None,
                        ..handed
                    },
                );
                text(out, &part, spec);
            }
            return Some(());
        }
        match letter {
            b'N' => self.nanos(out, spec),
            b'z' => self.zone(out, spec),
            _ => self.numeric(out, letter, spec)?,
        }
        Some(())
    }

    /// Answers for `E` and `O`, which go with some conversions only; `None` if they change nothing.
    fn modified(&self, out: &mut Vec<u8>, letter: u8, spec: Spec) -> Option<Option<()>> {
        let (allowed, by_library): (&[u8], &[u8]) = match spec.modifier {
            Some(b'E') => (b"cCnpPqrRstTuxXyYzZ", b"CyY"),
            _ => (
                b"BbhCdegGHIjklmMnNpPqrRsStTuUVwWyzZ",
                b"CdegGHIjklmMSuUVwWyz",
            ),
        };
        if !allowed.contains(&letter) {
            return Some(None);
        }
        if spec.modifier == Some(b'O') && letter == b'q' {
            text(out, b"%Oq", spec);
            return Some(Some(()));
        }
        // These come from the C library, which knows no flags: its text is padded as text.
        if by_library.contains(&letter) && spec.colons == 0 {
            let mut part = Vec::new();
            let done = self.convert(&mut part, letter, Spec::default());
            text(out, &part, spec);
            return Some(done);
        }
        None
    }

    /// Writes plain numbers.
    fn numeric(&self, out: &mut Vec<u8>, letter: u8, spec: Spec) -> Option<()> {
        let civil = self.shown.civil;
        let (digits, value, blank) = match letter {
            b'd' => (2, civil.day, false),
            b'e' => (2, civil.day, true),
            b'H' => (2, civil.hour, false),
            b'I' => (2, hour12(civil.hour), false),
            b'k' => (2, civil.hour, true),
            b'l' => (2, hour12(civil.hour), true),
            b'j' => (3, civil.year_day() + 1, false),
            b'm' => (2, civil.month, false),
            b'M' => (2, civil.minute, false),
            b'q' => (1, (civil.month - 1) / 3 + 1, false),
            b's' => (1, self.shown.seconds, false),
            b'S' => (2, civil.second, false),
            b'u' => (1, (civil.weekday() + 6) % 7 + 1, false),
            b'U' => (2, (civil.year_day() - civil.weekday() + 7) / 7, false),
            b'V' => (2, iso_week(civil).1, false),
            b'w' => (1, civil.weekday(), false),
            b'W' => (
                2,
                (civil.year_day() - (civil.weekday() + 6) % 7 + 7) / 7,
                false,
            ),
            _ => return None,
        };
        let spec = Spec {
            pad: spec.pad.or(Some(if blank { b'_' } else { b'0' })),
            ..spec
        };
        number(
            out,
            digits,
            &value.unsigned_abs().to_string(),
            sign_of(value < 0, false),
            spec,
        );
        Some(())
    }

    /// Writes names and single characters; `false` if the letter is none of them.
    fn text_part(&self, out: &mut Vec<u8>, letter: u8, spec: Spec) -> bool {
        let civil = self.shown.civil;
        let at = |n: i64| usize::try_from(n).unwrap_or(0);
        let day = DAYS.get(at(civil.weekday())).copied().unwrap_or("?");
        let month = MONTHS.get(at(civil.month - 1)).copied().unwrap_or("?");
        let noon = if civil.hour < 12 { "AM" } else { "PM" };
        let (part, lower) = match letter {
            b'%' => ("%", false),
            b'a' => (day.get(..3).unwrap_or(day), false),
            b'A' => (day, false),
            b'b' | b'h' => (month.get(..3).unwrap_or(month), false),
            b'B' => (month, false),
            b'n' => ("\n", false),
            b't' => ("\t", false),
            b'p' => (noon, spec.swap),
            b'P' => (noon, true),
            b'Z' => (self.shown.local.name.as_str(), spec.swap),
            _ => return false,
        };
        if lower {
            text(
                out,
                part.to_ascii_lowercase().as_bytes(),
                Spec {
                    upper: false,
                    ..spec
                },
            );
        } else {
            let upper = spec.upper || spec.swap;
            text(out, part.as_bytes(), Spec { upper, ..spec });
        }
        true
    }

    /// Writes years and centuries; `false` if the letter is none of them.
    fn year_part(&self, out: &mut Vec<u8>, letter: u8, spec: Spec) -> bool {
        let year = self.shown.civil.year;
        let (digits, negative, value) = match letter {
            b'Y' => (4, year < 0, year),
            b'G' => {
                let year = iso_week(self.shown.civil).0;
                (4, year < 0, year)
            }
            b'C' => (2, year < 0, year / 100),
            b'y' => (2, false, (year % 100).abs()),
            b'g' => {
                let year = iso_week(self.shown.civil).0;
                (2, false, (year % 100).abs())
            }
            _ => return false,
        };
        yearish(out, digits, value, negative, spec);
        true
    }

    /// Writes `%F`, whose width is that of its year and six more.
    fn iso_date(&self, out: &mut Vec<u8>, spec: Spec) {
        let year = match (spec.pad, spec.width) {
            (None, None) => Spec {
                pad: Some(b'+'),
                width: Some(4),
                ..Spec::default()
            },
            (pad, width) => Spec {
                pad,
                width: Some(width.unwrap_or(0).saturating_sub(6)),
                ..Spec::default()
            },
        };
        let civil = self.shown.civil;
        yearish(out, 4, civil.year, civil.year < 0, year);
        let two = Spec {
            pad: Some(b'0'),
            ..Spec::default()
        };
        for part in [civil.month, civil.day] {
            out.push(b'-');
            number(out, 2, &part.to_string(), None, two);
        }
    }

    /// Writes nanoseconds: the width cuts digits off, trailing zeros are padding.
    fn nanos(&self, out: &mut Vec<u8>, spec: Spec) {
        let width = spec.width.filter(|width| *width > 0).unwrap_or(9);
        let all = format!("{:09}", self.shown.nanos);
        let mut digits = all.get(..usize::min(width, 9)).unwrap_or(&all);
        if spec.pad == Some(b'-') && spec.width.is_none() {
            out.extend_from_slice(digits.as_bytes());
            return;
        }
        while digits.len() > 1 && digits.ends_with('0') {
            digits = digits.get(..digits.len() - 1).unwrap_or_default();
        }
        out.extend_from_slice(digits.as_bytes());
        let missing = width - digits.len();
        match spec.pad {
            Some(b'-') => {}
            Some(b'_') => out.resize(out.len() + missing, b' '),
            _ => out.resize(out.len() + missing, b'0'),
        }
    }

    fn zone(&self, out: &mut Vec<u8>, spec: Spec) {
        let offset = self.shown.local.offset;
        let size = offset.abs();
        let (hours, minutes, seconds) = (size / 3600, size / 60 % 60, size % 60);
        let colons = match spec.colons {
            3 if seconds != 0 => 2,
            3 if minutes != 0 => 1,
            colons => colons,
        };
        // Leading zeros are padding, so they are left out here.
        let (digits, value) = match colons {
            0 => (5, (hours * 100 + minutes).to_string()),
            1 => (6, format!("{hours}:{minutes:02}")),
            2 => (9, format!("{hours}:{minutes:02}:{seconds:02}")),
            _ => (3, hours.to_string()),
        };
        let spec = Spec {
            pad: spec.pad.or(Some(b'0')),
            ..spec
        };
        number(out, digits, &value, sign_of(offset < 0, true), spec);
    }
}

/// Reads `%`, flags, width and modifier; gives the letter and the length of it all.
fn read(text: &[u8], outer: Spec) -> (Spec, Option<u8>, usize) {
    let mut spec = Spec {
        width: None,
        modifier: None,
        colons: 0,
        ..outer
    };
    let mut at = 1;
    while let Some(flag) = text.get(at) {
        match flag {
            b'_' | b'-' | b'+' | b'0' => spec.pad = Some(*flag),
            b'^' => spec.upper = true,
            b'#' => spec.swap = true,
            _ => break,
        }
        at += 1;
    }
    while let Some(digit) = text.get(at).filter(|byte| byte.is_ascii_digit()) {
        let width = spec
            .width
            .unwrap_or(0)
            .saturating_mul(10)
            .saturating_add(usize::from(digit - b'0'));
        spec.width = Some(usize::min(width, WIDEST));
        at += 1;
    }
    if let Some(modifier @ (b'E' | b'O')) = text.get(at) {
        spec.modifier = Some(*modifier);
        at += 1;
    }
    let before = at;
    while text.get(at) == Some(&b':') {
        at += 1;
    }
    spec.colons = at - before;
    if spec.colons > 0 && (spec.colons > 3 || text.get(at) != Some(&b'z')) {
        // Colons that belong to no zone are plain text from the first on.
        return (spec, None, before + 1);
    }
    match text.get(at) {
        // Only `%%` is a percent sign; after flags, it begins the next conversion.
        Some(b'%') if at > 1 => (spec, None, at),
        Some(letter) => (spec, Some(*letter), at + 1),
        None => (spec, None, at),
    }
}

/// Returns the format that a conversion stands for.
fn whole(letter: u8, spec: Spec) -> Option<(&'static [u8], Spec)> {
    let inner: &[u8] = match letter {
        b'c' => b"%a %b %e %H:%M:%S %Y",
        b'D' | b'x' => b"%m/%d/%y",
        b'F' => b"",
        b'r' => b"%I:%M:%S %p",
        b'R' => b"%H:%M",
        b'T' | b'X' => b"%H:%M:%S",
        _ => return None,
    };
    Some((inner, spec))
}

fn hour12(hour: i64) -> i64 {
    match hour % 12 {
        0 => 12,
        hour => hour,
    }
}

/// Returns the ISO year and week.
fn iso_week(civil: Civil) -> (i64, i64) {
    let from_monday = (civil.weekday() + 6) % 7;
    // The week belongs to the year of its Thursday.
    let thursday = civil.year_day() - from_monday + 3;
    let length = |year: i64| {
        Civil {
            year,
            month: 12,
            day: 31,
            ..Civil::default()
        }
        .year_day()
            + 1
    };
    if thursday < 0 {
        let year = civil.year - 1;
        (year, (thursday + length(year)) / 7 + 1)
    } else if thursday >= length(civil.year) {
        (civil.year + 1, 1)
    } else {
        (civil.year, thursday / 7 + 1)
    }
}

fn sign_of(negative: bool, always: bool) -> Option<u8> {
    match (negative, always) {
        (true, _) => Some(b'-'),
        (false, true) => Some(b'+'),
        _ => None,
    }
}

/// Writes a year or a part of it; `+` marks one that is longer than usual.
fn yearish(out: &mut Vec<u8>, digits: usize, value: i64, negative: bool, spec: Spec) {
    let pad = spec.pad.unwrap_or(b'0');
    let most: u64 = if digits == 2 { 99 } else { 9999 };
    let plus = pad == b'+'
        && (value.unsigned_abs() > most || spec.width.is_some_and(|width| width > digits));
    let spec = Spec {
        pad: Some(pad),
        ..spec
    };
    number(
        out,
        digits,
        &value.unsigned_abs().to_string(),
        sign_of(negative, plus),
        spec,
    );
}

/// Writes a number with its padding: blanks before the sign, zeros after it.
fn number(out: &mut Vec<u8>, digits: usize, value: &str, sign: Option<u8>, spec: Spec) {
    let width = spec.width.unwrap_or(digits);
    let missing = width.saturating_sub(value.len() + usize::from(sign.is_some()));
    match spec.pad {
        Some(b'-') => out.extend(sign),
        Some(b'_') => {
            out.resize(out.len() + missing, b' ');
            out.extend(sign);
        }
        _ => {
            out.extend(sign);
            out.resize(out.len() + missing, b'0');
        }
    }
    out.extend_from_slice(value.as_bytes());
}

/// Writes text with its padding.
fn text(out: &mut Vec<u8>, part: &[u8], spec: Spec) {
    let missing = match spec.pad {
        Some(b'-') => 0,
        _ => spec.width.unwrap_or(0).saturating_sub(part.len()),
    };
    let fill = if matches!(spec.pad, Some(b'0' | b'+')) {
        b'0'
    } else {
        b' '
    };
    out.resize(out.len() + missing, fill);
    if spec.upper {
        out.extend(part.iter().map(u8::to_ascii_uppercase));
    } else {
        out.extend_from_slice(part);
    }
}

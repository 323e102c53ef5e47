//! The calendar: seconds to broken-down time and back, `strftime` and `strptime` in the C locale.

use jp_bash_system::System;

use crate::calendar::{DAYS, MONTHS};

/// A broken-down time as C's `struct tm` has it, with the year in full.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Broken {
    pub(super) year: i64,
    /// From 0.
    pub(super) month: i64,
    pub(super) day: i64,
    pub(super) hour: i64,
    pub(super) minute: i64,
    pub(super) seconds: f64,
    pub(super) week_day: i64,
    pub(super) year_day: i64,
    pub(super) zone: String,
    /// Seconds east of UTC.
    pub(super) offset: i32,
}

/// Times beyond this are clamped: some 30 million years.
const FAR: f64 = 1e15;

/// Counts days from 1970 to a date; the month may be out of range.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let limit = 1_000_000_000;
    let (year, month, day) = (
        year.clamp(-limit, limit),
        month.clamp(-limit, limit),
        day.clamp(-limit, limit),
    );
    let year = year + month.div_euclid(12);
    let month = month.rem_euclid(12);
    let shifted = if month < 2 { year - 1 } else { year };
    let era = shifted.div_euclid(400);
    let of_era = shifted.rem_euclid(400);
    let day_of_year = (153 * ((month + 10) % 12) + 2) / 5;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + day_of_year + day - 1 - 719_468
}

/// Returns the time of a broken-down time in UTC.
pub(super) fn seconds(broken: &Broken) -> i64 {
    let time = |n: i64| n.clamp(-1_000_000_000_000, 1_000_000_000_000);
    days(broken.year, broken.month, broken.day) * 86_400
        + time(broken.hour) * 3600
        + time(broken.minute) * 60
        + super::ops::integer(broken.seconds.clamp(-FAR, FAR).floor())
}

/// Breaks a time down, in UTC.
pub(super) fn broken(time: f64) -> Broken {
    let time = if time.is_nan() {
        0.0
    } else {
        time.clamp(-FAR, FAR)
    };
    let whole = super::ops::integer(time.floor());
    let (day, second) = (whole.div_euclid(86_400), whole.rem_euclid(86_400));
    let shifted = day + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let month = (shifted_month + 2) % 12;
    let year = year_of_era + era * 400 + i64::from(month < 2);
    #[expect(clippy::cast_precision_loss, reason = "below 60")]
    let seconds = (second % 60) as f64;
    Broken {
        year,
        month,
        day: of_year - (153 * shifted_month + 2) / 5 + 1,
        hour: second / 3600,
        minute: second / 60 % 60,
        seconds,
        week_day: (day + 4).rem_euclid(7),
        year_day: day - days(year, 0, 1),
        zone: "UTC".to_owned(),
        offset: 0,
    }
}

/// Returns the offset and name of the zone that the script's `TZ` names, at a time.
pub(super) fn zone(sys: &dyn System, time: f64) -> (i32, String) {
    let utc = (0, "UTC".to_owned());
    let Some(name) = sys.env(b"TZ") else {
        return utc;
    };
    let name = String::from_utf8_lossy(&name).into_owned();
    let name = name.strip_prefix(':').unwrap_or(&name);
    let zone = jiff::tz::TimeZone::get(name).or_else(|_| jiff::tz::TimeZone::posix(name));
    let whole = super::ops::integer(time.clamp(-3e11, 2e11).floor());
    match (zone, jiff::Timestamp::from_second(whole)) {
        (Ok(zone), Ok(at)) => {
            let info = zone.to_offset_info(at);
            (info.offset().seconds(), info.abbreviation().to_owned())
        }
        _ => utc,
    }
}

/// Formats as `strftime` does in the C locale.
pub(super) fn format(broken: &Broken, pattern: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(pattern.len() * 2);
    let mut rest = pattern.iter();
    while let Some(byte) = rest.next() {
        if *byte != b'%' {
            out.push(*byte);
            continue;
        }
        let mut flag = None;
        let mut next = rest.next().copied();
        while let Some(byte @ (b'-' | b'_' | b'0' | b'^' | b'E' | b'O' | b'#')) = next {
            if !matches!(byte, b'E' | b'O') {
                flag = Some(byte);
            }
            next = rest.next().copied();
        }
        let Some(kind) = next else {
            out.push(b'%');
            break;
        };
        directive(broken, kind, flag, &mut out);
    }
    out
}

fn directive(broken: &Broken, kind: u8, flag: Option<u8>, out: &mut Vec<u8>) {
    let nested = match kind {
        b'D' => Some(&b"%m/%d/%y"[..]),
        b'F' => Some(&b"%Y-%m-%d"[..]),
        b'T' | b'X' => Some(&b"%H:%M:%S"[..]),
        b'R' => Some(&b"%H:%M"[..]),
        b'r' => Some(&b"%I:%M:%S %p"[..]),
        b'c' => Some(&b"%a %b %e %H:%M:%S %Y"[..]),
        b'x' => Some(&b"%m/%d/%y"[..]),
        _ => None,
    };
    if let Some(nested) = nested {
        out.extend(format(broken, nested));
        return;
    }
    let name = |names: &[&str], at: i64| {
        usize::try_from(at)
            .ok()
            .and_then(|at| names.get(at).copied())
            .unwrap_or("?")
            .to_owned()
    };
    let hour12 = (broken.hour + 11).rem_euclid(12) + 1;
    let (week_year, week) = iso_week(broken);
    let monday = (broken.week_day + 6).rem_euclid(7);
    let (number, width, pad) = match kind {
        b'Y' => (broken.year, 1, '0'),
        b'C' => (broken.year.div_euclid(100), 2, '0'),
        b'y' => (broken.year.rem_euclid(100), 2, '0'),
        b'm' => (broken.month + 1, 2, '0'),
        b'd' => (broken.day, 2, '0'),
        b'e' => (broken.day, 2, ' '),
        b'H' => (broken.hour, 2, '0'),
        b'k' => (broken.hour, 2, ' '),
        b'I' => (hour12, 2, '0'),
        b'l' => (hour12, 2, ' '),
        b'M' => (broken.minute, 2, '0'),
        b'S' => (super::ops::integer(broken.seconds.floor()), 2, '0'),
        b'j' => (broken.year_day + 1, 3, '0'),
        b'u' => (monday + 1, 1, '0'),
        b'w' => (broken.week_day, 1, '0'),
        b'U' => (
            (broken.year_day + 7 - broken.week_day).div_euclid(7),
            2,
            '0',
        ),
        b'W' => ((broken.year_day + 7 - monday).div_euclid(7), 2, '0'),
        b'V' => (week, 2, '0'),
        b'G' => (week_year, 1, '0'),
        b'g' => (week_year.rem_euclid(100), 2, '0'),
        b's' => (seconds(broken) - i64::from(broken.offset), 1, '0'),
        _ => {
            let text = match kind {
                b'A' => name(&DAYS, broken.week_day),
                b'a' => name(&DAYS, broken.week_day).chars().take(3).collect(),
                b'B' => name(&MONTHS, broken.month),
                b'b' | b'h' => name(&MONTHS, broken.month).chars().take(3).collect(),
                b'p' => (if broken.hour < 12 { "AM" } else { "PM" }).to_owned(),
                b'P' => (if broken.hour < 12 { "am" } else { "pm" }).to_owned(),
                b'Z' => broken.zone.clone(),
                b'z' => {
                    let sign = if broken.offset < 0 { '-' } else { '+' };
                    let minutes = broken.offset.abs() / 60;
                    format!("{sign}{:02}{:02}", minutes / 60, minutes % 60)
                }
                b'n' => "\n".to_owned(),
                b't' => "\t".to_owned(),
                b'%' => "%".to_owned(),
                other => format!("%{}", char::from(other)),
            };
            let text = if flag == Some(b'^') {
                text.to_uppercase()
            } else {
                text
            };
            out.extend_from_slice(text.as_bytes());
            return;
        }
    };
    let text = match (flag, pad) {
        (Some(b'-'), _) => number.to_string(),
        (Some(b'_'), _) | (None, ' ') => format!("{number:>width$}"),
        _ => format!("{number:0>width$}"),
    };
    out.extend_from_slice(text.as_bytes());
}

/// Returns year and number of the ISO week.
fn iso_week(broken: &Broken) -> (i64, i64) {
    let monday = (broken.week_day + 6).rem_euclid(7);
    let week = (broken.year_day - monday + 10).div_euclid(7);
    let weeks_in = |year: i64| {
        let first = (days(year, 0, 1) + 4).rem_euclid(7);
        let leap = days(year + 1, 0, 1) - days(year, 0, 1) == 366;
        if first == 4 || (first == 3 && leap) {
            53
        } else {
            52
        }
    };
    if week < 1 {
        (broken.year - 1, weeks_in(broken.year - 1))
    } else if week > weeks_in(broken.year) {
        (broken.year + 1, 1)
    } else {
        (broken.year, week)
    }
}

/// Reads as `strptime` does; `None` if the text does not fit.
pub(super) fn parse(text: &[u8], pattern: &[u8]) -> Option<Broken> {
    let mut reader = Reader {
        text,
        broken: Broken {
            year: 1900,
            month: 0,
            day: 0,
            hour: 0,
            minute: 0,
            seconds: 0.0,
            week_day: 0,
            year_day: 0,
            zone: "UTC".to_owned(),
            offset: 0,
        },
        afternoon: None,
        epoch: None,
    };
    reader.pattern(pattern, 0)?;
    if !reader.text.is_empty() {
        return None;
    }
    if let Some(epoch) = reader.epoch {
        #[expect(clippy::cast_precision_loss, reason = "clamped by the calendar")]
        return Some(broken(epoch as f64));
    }
    let mut result = reader.broken;
    if let Some(afternoon) = reader.afternoon {
        result.hour = result.hour % 12 + if afternoon { 12 } else { 0 };
    }
    let day = days(result.year, result.month, result.day);
    result.week_day = (day + 4).rem_euclid(7);
    result.year_day = day - days(result.year, 0, 1);
    Some(result)
}

struct Reader<'a> {
    text: &'a [u8],
    broken: Broken,
    afternoon: Option<bool>,
    epoch: Option<i64>,
}

impl Reader<'_> {
    fn pattern(&mut self, pattern: &[u8], depth: u32) -> Option<()> {
        let mut rest = pattern.iter();
        while let Some(byte) = rest.next() {
            if byte.is_ascii_whitespace() {
                self.text = self.text.trim_ascii_start();
            } else if *byte != b'%' {
                self.text = self.text.strip_prefix(&[*byte])?;
            } else {
                let mut kind = *rest.next()?;
                while matches!(kind, b'E' | b'O' | b'-' | b'_' | b'0') {
                    kind = *rest.next()?;
                }
                self.directive(kind, depth)?;
            }
        }
        Some(())
    }

    fn number(&mut self, most: usize, low: i64, high: i64) -> Option<i64> {
        let text = self.text.trim_ascii_start();
        let len = text
            .iter()
            .take(most)
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let (digits, rest) = text.split_at_checked(len)?;
        let number = std::str::from_utf8(digits).ok()?.parse().ok()?;
        self.text = rest;
        (low..=high).contains(&number).then_some(number)
    }

    /// Reads a name or its first three letters, in any case.
    fn name(&mut self, names: &[&str]) -> Option<i64> {
        for (name, at) in names.iter().zip(0..) {
            for len in [name.len(), 3] {
                if let Some((head, rest)) = self.text.split_at_checked(len)
                    && name
                        .as_bytes()
                        .get(..len)
                        .is_some_and(|name| name.eq_ignore_ascii_case(head))
                {
                    self.text = rest;
                    return Some(at);
                }
            }
        }
        None
    }

    fn directive(&mut self, kind: u8, depth: u32) -> Option<()> {
        if depth > 2 {
            return None;
        }
        match kind {
            b'Y' => self.broken.year = self.number(4, 0, 9999)?,
            b'm' => self.broken.month = self.number(2, 1, 12)? - 1,
            b'd' | b'e' => self.broken.day = self.number(2, 1, 31)?,
            b'H' | b'k' => self.broken.hour = self.number(2, 0, 23)?,
            b'I' | b'l' => self.broken.hour = self.number(2, 1, 12)?,
            b'M' => self.broken.minute = self.number(2, 0, 59)?,
            #[expect(clippy::cast_precision_loss, reason = "below 62")]
            b'S' => self.broken.seconds = self.number(2, 0, 61)? as f64,
            b'y' => {
                let year = self.number(2, 0, 99)?;
                self.broken.year = if year < 69 { 2000 + year } else { 1900 + year };
            }
            b'j' => {
                let day = self.number(3, 1, 366)?;
                self.broken.month = 0;
                self.broken.day = day;
            }
            b'A' | b'a' => {
                self.name(&DAYS)?;
            }
            b'B' | b'b' | b'h' => self.broken.month = self.name(&MONTHS)?,
            b'p' | b'P' => {
                self.afternoon = Some(self.name(&["AM ", "PM "]).or_else(|| self.half())? == 1)
            }
            b'Z' => {
                let len = self
                    .text
                    .iter()
                    .take_while(|byte| byte.is_ascii_alphabetic())
                    .count();
                self.text = self.text.get(len..)?;
            }
            b'z' => self.offset()?,
            b's' => self.epoch = Some(self.number(12, 0, i64::MAX)?),
            b'u' | b'w' => {
                self.number(1, 0, 7)?;
            }
            b'U' | b'W' | b'V' => {
                self.number(2, 0, 53)?;
            }
            b'n' | b't' => self.text = self.text.trim_ascii_start(),
            b'%' => self.text = self.text.strip_prefix(b"%")?,
            b'T' => self.pattern(b"%H:%M:%S", depth + 1)?,
            b'R' => self.pattern(b"%H:%M", depth + 1)?,
            b'D' => self.pattern(b"%m/%d/%y", depth + 1)?,
            b'F' => self.pattern(b"%Y-%m-%d", depth + 1)?,
            b'c' => self.pattern(b"%a %b %e %H:%M:%S %Y", depth + 1)?,
            _ => return None,
        }
        Some(())
    }

    fn half(&mut self) -> Option<i64> {
        let (head, rest) = self.text.split_at_checked(2)?;
        let at = if head.eq_ignore_ascii_case(b"am") {
            0
        } else {
            1
        };
        (at == 0 || head.eq_ignore_ascii_case(b"pm")).then(|| {
            self.text = rest;
            at
        })
    }

    /// Reads `+hh:mm`, `+hhmm`, `+hh` or `Z`; as in C, the time is not moved by it.
    fn offset(&mut self) -> Option<()> {
        let text = self.text.trim_ascii_start();
        if let Some(rest) = text.strip_prefix(b"Z") {
            self.text = rest;
            return Some(());
        }
        self.text = match text.split_first()? {
            (b'+' | b'-', rest) => rest,
            _ => return None,
        };
        self.number(2, 0, 24)?;
        self.text = self.text.strip_prefix(b":").unwrap_or(self.text);
        if self.text.first().is_some_and(u8::is_ascii_digit) {
            self.number(2, 0, 59)?;
        }
        Some(())
    }
}

//! `strftime` and `mktime`, in the time zone of `TZ`.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::super::number;
use super::super::value::Value;
use super::{Ran, Vm};
use crate::calendar::{DAYS, MONTHS};

impl Vm<'_> {
    fn zone(&self, utc: bool) -> TimeZone {
        if utc {
            return TimeZone::UTC;
        }
        let name = self.sys.env(b"TZ").unwrap_or_default();
        let name = String::from_utf8_lossy(&name).into_owned();
        let name = name.strip_prefix(':').unwrap_or(&name);
        TimeZone::get(name)
            .or_else(|_| TimeZone::posix(name))
            .unwrap_or(TimeZone::UTC)
    }

    /// Reads `YYYY MM DD HH MM SS [DST]`; -1 if it is no date.
    pub(super) fn mktime(&self, value: &Value, utc: bool) -> f64 {
        let text = self.text(value);
        let mut parts = [0_i64; 6];
        let mut words = text
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty());
        for part in &mut parts {
            let Some(num) = words
                .next()
                .and_then(number::whole)
                .and_then(number::integer)
            else {
                return -1.0;
            };
            *part = num;
        }
        let [year, month, day, hour, minute, second] = parts;
        // Parts out of range carry over, as in C: start from the year and add.
        let months = year.saturating_mul(12).saturating_add(month - 1);
        let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
        let date = i16::try_from(year)
            .ok()
            .zip(i8::try_from(month).ok())
            .and_then(|(year, month)| DateTime::new(year, month, 1, 0, 0, 0, 0).ok());
        let span = jiff::Span::new()
            .try_days(day.saturating_sub(1))
            .and_then(|span| span.try_hours(hour))
            .and_then(|span| span.try_minutes(minute))
            .and_then(|span| span.try_seconds(second));
        let moment = date
            .zip(span.ok())
            .and_then(|(date, span)| date.checked_add(span).ok())
            .and_then(|date| date.to_zoned(self.zone(utc)).ok());
        #[expect(
            clippy::cast_precision_loss,
            reason = "seconds since 1970 are below 2^53"
        )]
        moment.map_or(-1.0, |moment| moment.timestamp().as_second() as f64)
    }

    pub(super) fn strftime(&mut self, args: &[Value]) -> Ran<Value> {
        let format = match args.first() {
            Some(value) => self.text(value).into_owned(),
            None => b"%a %b %e %H:%M:%S %Z %Y".to_vec(),
        };
        let seconds = match args.get(1) {
            #[expect(clippy::cast_possible_truncation, reason = "a float cast saturates")]
            Some(value) => value.num() as i64,
            None => self.sys.now().secs,
        };
        let utc = args.get(2).is_some_and(Value::truth);
        let Ok(moment) = Timestamp::from_second(seconds) else {
            return self.fatal(&[b"strftime: second argument out of range for time_t"]);
        };
        let zoned = moment.to_zoned(self.zone(utc));
        let mut out = Vec::new();
        self.claim(format.len().saturating_mul(8))?;
        // In UTC by the third argument the C library calls the zone GMT.
        let format = if utc { replace_zone(&format) } else { format };
        push(&mut out, &format, &zoned, 0);
        Ok(Value::owned(out, &self.meter))
    }
}

/// Writes `GMT` for `%Z`.
fn replace_zone(format: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(format.len());
    let mut rest = format;
    while let [first, tail @ ..] = rest {
        match rest {
            [b'%', b'Z', after @ ..] => {
                out.extend_from_slice(b"GMT");
                rest = after;
            }
            [b'%', next, after @ ..] => {
                out.extend_from_slice(&[b'%', *next]);
                rest = after;
            }
            _ => {
                out.push(*first);
                rest = tail;
            }
        }
    }
    out
}

/// Appends a time by a format. `depth` counts formats inside formats (`%c`).
fn push(out: &mut Vec<u8>, format: &[u8], time: &jiff::Zoned, depth: u32) {
    let mut bytes = format.iter();
    while let Some(&byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let mut conversion = bytes.next().copied();
        let mut pad = None;
        while let Some(flag @ (b'-' | b'_' | b'0' | b'^' | b'#' | b'E' | b'O')) = conversion {
            pad = Some(flag);
            conversion = bytes.next().copied();
        }
        match conversion {
            Some(conversion) => {
                if !field(out, conversion, pad, time, depth) {
                    out.extend_from_slice(&[b'%', conversion]);
                }
            }
            None => out.push(b'%'),
        }
    }
}

fn field(
    out: &mut Vec<u8>,
    conversion: u8,
    pad: Option<u8>,
    time: &jiff::Zoned,
    depth: u32,
) -> bool {
    let weekday = i64::from(time.weekday().to_sunday_zero_offset());
    let name = |names: &'static [&'static str], at: i64| -> &'static str {
        usize::try_from(at)
            .ok()
            .and_then(|at| names.get(at))
            .copied()
            .unwrap_or("")
    };
    let short = |text: &'static str| text.get(..3).unwrap_or(text);
    let month = i64::from(time.month()) - 1;
    let hour = i64::from(time.hour());
    let half = if hour % 12 == 0 { 12 } else { hour % 12 };
    let year_day = i64::from(time.day_of_year());
    let text: &str = match conversion {
        b'a' => short(name(&DAYS, weekday)),
        b'A' => name(&DAYS, weekday),
        b'b' | b'h' => short(name(&MONTHS, month)),
        b'B' => name(&MONTHS, month),
        b'p' => {
            if hour < 12 {
                "AM"
            } else {
                "PM"
            }
        }
        b'P' => {
            if hour < 12 {
                "am"
            } else {
                "pm"
            }
        }
        b'n' => "\n",
        b't' => "\t",
        b'%' => "%",
        _ => return number_field(out, conversion, pad, time, depth, [weekday, half, year_day]),
    };
    if pad == Some(b'^') {
        out.extend_from_slice(text.to_ascii_uppercase().as_bytes());
    } else {
        out.extend_from_slice(text.as_bytes());
    }
    true
}

fn number_field(
    out: &mut Vec<u8>,
    conversion: u8,
    pad: Option<u8>,
    time: &jiff::Zoned,
    depth: u32,
    [weekday, half, year_day]: [i64; 3],
) -> bool {
    let iso = time.date().iso_week_date();
    let year = i64::from(time.year());
    let (num, width, fill) = match conversion {
        b'd' => (i64::from(time.day()), 2, b'0'),
        b'e' => (i64::from(time.day()), 2, b' '),
        b'H' => (i64::from(time.hour()), 2, b'0'),
        b'k' => (i64::from(time.hour()), 2, b' '),
        b'I' => (half, 2, b'0'),
        b'l' => (half, 2, b' '),
        b'm' => (i64::from(time.month()), 2, b'0'),
        b'M' => (i64::from(time.minute()), 2, b'0'),
        b'S' => (i64::from(time.second()), 2, b'0'),
        b'j' => (year_day, 3, b'0'),
        b'u' => (if weekday == 0 { 7 } else { weekday }, 1, b'0'),
        b'w' => (weekday, 1, b'0'),
        b'U' => ((year_day + 6 - weekday) / 7, 2, b'0'),
        b'W' => ((year_day + 6 - (weekday + 6) % 7) / 7, 2, b'0'),
        b'V' => (i64::from(iso.week()), 2, b'0'),
        b'G' => (i64::from(iso.year()), 4, b'0'),
        b'g' => (i64::from(iso.year()).rem_euclid(100), 2, b'0'),
        b'Y' => (year, 1, b'0'),
        b'y' => (year.rem_euclid(100), 2, b'0'),
        b'C' => (year.div_euclid(100), 2, b'0'),
        b's' => (time.timestamp().as_second(), 1, b'0'),
        _ => return other_field(out, conversion, time, depth),
    };
    let (width, fill) = match pad {
        Some(b'-') => (1, fill),
        Some(b'_') => (width, b' '),
        Some(b'0') => (width, b'0'),
        _ => (width, fill),
    };
    let mut digits = Vec::new();
    number::push_int(&mut digits, num);
    for _ in digits.len()..width {
        out.push(fill);
    }
    out.extend_from_slice(&digits);
    true
}

fn other_field(out: &mut Vec<u8>, conversion: u8, time: &jiff::Zoned, depth: u32) -> bool {
    let nested: &[u8] = match conversion {
        b'c' => b"%a %b %e %H:%M:%S %Y",
        b'D' | b'x' => b"%m/%d/%y",
        b'F' => b"%Y-%m-%d",
        b'R' => b"%H:%M",
        b'r' => b"%I:%M:%S %p",
        b'T' | b'X' => b"%H:%M:%S",
        b'z' => {
            let offset = time.offset().seconds();
            let sign = if offset < 0 { '-' } else { '+' };
            let minutes = offset.abs() / 60;
            out.extend_from_slice(
                format!("{sign}{:02}{:02}", minutes / 60, minutes % 60).as_bytes(),
            );
            return true;
        }
        b'Z' => {
            let info = time.time_zone().to_offset_info(time.timestamp());
            out.extend_from_slice(info.abbreviation().as_bytes());
            return true;
        }
        _ => return false,
    };
    if depth == 0 {
        push(out, nested, time, depth + 1);
    }
    true
}

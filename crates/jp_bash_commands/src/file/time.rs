//! Times of files as text, and the text of `touch`.

use jiff::Zoned;
use jiff::tz::TimeZone;

use jp_bash_system::{System, Timestamp};

/// Returns the session's time zone: `TZ`, else UTC.
pub(crate) fn zone(sys: &dyn System) -> TimeZone {
    let name = sys.env(b"TZ").unwrap_or_default();
    let name = String::from_utf8_lossy(&name);
    let name = name.strip_prefix(':').unwrap_or(&name);
    if name.is_empty() {
        return TimeZone::UTC;
    }
    TimeZone::get(name)
        .or_else(|_| TimeZone::posix(name))
        .unwrap_or(TimeZone::UTC)
}

/// Returns a moment in a zone; a moment beyond what can be told is the nearest that can.
pub(crate) fn zoned(time: Timestamp, zone: &TimeZone) -> Zoned {
    let nanos = i32::try_from(time.nanos).unwrap_or(0);
    let moment = jiff::Timestamp::new(time.secs, nanos).unwrap_or(if time.secs < 0 {
        jiff::Timestamp::MIN
    } else {
        jiff::Timestamp::MAX
    });
    moment.to_zoned(zone.clone())
}

/// Writes `2023-11-14 22:13:20.000000000 +0000`.
pub(crate) fn full_iso(time: Timestamp, zone: &TimeZone) -> String {
    format(time, zone, "%Y-%m-%d %H:%M:%S.%N %z")
}

/// Formats as `strftime` does, with `%N` for nanoseconds.
pub(crate) fn format(time: Timestamp, zone: &TimeZone, text: &str) -> String {
    let at = zoned(time, zone);
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let Some(letter) = chars.next() else {
            out.push('%');
            break;
        };
        out.push_str(&field(&at, time, letter));
    }
    out
}

/// Returns one field of a date.
pub(crate) fn field(at: &Zoned, time: Timestamp, letter: char) -> String {
    match letter {
        'N' => format!("{:09}", time.nanos),
        's' => time.secs.to_string(),
        '%' => "%".to_owned(),
        'n' => "\n".to_owned(),
        't' => "\t".to_owned(),
        'h' => at.strftime("%b").to_string(),
        'D' | 'x' => at.strftime("%m/%d/%y").to_string(),
        'X' => at.strftime("%H:%M:%S").to_string(),
        'r' => at.strftime("%I:%M:%S %p").to_string(),
        'c' => at.strftime("%a %b %e %H:%M:%S %Y").to_string(),
        letter => jiff::fmt::strtime::format(format!("%{letter}"), at)
            .unwrap_or_else(|_| format!("%{letter}")),
    }
}

/// Reads `[[CC]YY]MMDDhhmm[.ss]`.
pub(crate) fn parse_stamp(text: &[u8], now: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
    let text = std::str::from_utf8(text).ok()?;
    let (main, secs) = match text.split_once('.') {
        Some((main, secs)) if secs.len() == 2 => (main, secs.parse::<i8>().ok()?),
        Some(_) => return None,
        None => (text, 0),
    };
    if !main.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let digits = |from: usize, to: usize| main.get(from..to)?.parse::<i16>().ok();
    let (year, rest) = match main.len() {
        8 => (zoned(now, zone).year(), 0),
        10 => match digits(0, 2)? {
            year @ 69..=99 => (1900 + year, 2),
            year => (2000 + year, 2),
        },
        12 => (digits(0, 4)?, 4),
        _ => return None,
    };
    let part = |at: usize| i8::try_from(digits(rest + at, rest + at + 2)?).ok();
    let leap = secs == 60;
    let civil = jiff::civil::DateTime::new(
        year,
        part(0)?,
        part(2)?,
        part(4)?,
        part(6)?,
        if leap { 59 } else { secs },
        0,
    )
    .ok()?;
    let mut time = from_zoned(&civil.to_zoned(zone.clone()).ok()?);
    time.secs += i64::from(leap);
    Some(time)
}

fn from_zoned(at: &Zoned) -> Timestamp {
    let moment = at.timestamp();
    let mut secs = moment.as_second();
    let mut nanos = moment.subsec_nanosecond();
    if nanos < 0 {
        secs -= 1;
        nanos += 1_000_000_000;
    }
    Timestamp {
        secs,
        nanos: u32::try_from(nanos).unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_read_as_touch_reads_them() {
        let now = Timestamp {
            secs: 1_700_000_000,
            nanos: 0,
        };
        for (text, secs) in [
            ("202001020304.05", Some(1_577_934_245)),
            ("2001020304", Some(1_577_934_240)),
            ("01020304", Some(1_672_628_640)),
            ("0102030", None),
            ("13020304", None),
        ] {
            let got = parse_stamp(text.as_bytes(), now, &TimeZone::UTC).map(|time| time.secs);
            assert_eq!(got, secs, "{text}");
        }
    }
}

//! Times for people: `2026-01-31 09:05:07` from milliseconds since 1970.

use std::time::{SystemTime, UNIX_EPOCH};

/// Writes a time in UTC.
pub(crate) fn utc(milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    let (year, month, day) = date(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

/// Returns the milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(u64::MAX)
}

/// Makes the id of a call.
pub(crate) fn call_id() -> String {
    format!("{:x}-{:x}", now(), std::process::id())
}

/// Returns the seconds since 1970.
pub(crate) fn unix() -> i64 {
    i64::try_from(now() / 1000).unwrap_or(i64::MAX)
}

/// Turns days since 1970 into a date of the Gregorian calendar, counted in eras of 400 years that
/// begin in March, so that the leap day comes last.
const fn date(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = era * 400 + year_of_era + if month <= 2 { 1 } else { 0 };
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        let cases = [
            (0, "1970-01-01 00:00:00"),
            (951_782_400_000, "2000-02-29 00:00:00"),
            (1_709_251_199_999, "2024-02-29 23:59:59"),
            (4_107_542_400_000, "2100-03-01 00:00:00"),
        ];
        for (milliseconds, text) in cases {
            assert_eq!(utc(milliseconds), text);
        }
        assert!(!utc(u64::MAX).is_empty());
    }
}

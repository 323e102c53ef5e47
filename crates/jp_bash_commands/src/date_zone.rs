//! Calendar and time zones for `date`, `touch -d` and `find -newermt`: zones come from the database in this
//! program, never from the host.

use jiff::tz::{TimeZone, TimeZoneDatabase};

/// A broken-down time: what the fields of `struct tm` say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Civil {
    pub(crate) year: i64,
    /// 1 to 12.
    pub(crate) month: i64,
    /// From 1.
    pub(crate) day: i64,
    pub(crate) hour: i64,
    pub(crate) minute: i64,
    pub(crate) second: i64,
}

/// The years that C's `struct tm` can hold.
const YEARS: std::ops::RangeInclusive<i64> = -2_147_481_748..=2_147_485_547;

impl Civil {
    /// Reads seconds since 1970 as a clock at Greenwich shows them; `None` beyond what C can hold.
    pub(crate) fn from_seconds(seconds: i64) -> Option<Self> {
        let days = seconds.div_euclid(86_400);
        let of_day = seconds.rem_euclid(86_400);
        // Howard Hinnant's days-to-civil: years begin in March, eras are 400 years.
        let shifted = days + 719_468;
        let era = shifted.div_euclid(146_097);
        let day_of_era = shifted.rem_euclid(146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let from_march = (5 * day_of_year + 2) / 153;
        let month = if from_march < 10 {
            from_march + 3
        } else {
            from_march - 9
        };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        YEARS.contains(&year).then_some(Self {
            year,
            month,
            day: day_of_year - (153 * from_march + 2) / 5 + 1,
            hour: of_day / 3600,
            minute: of_day / 60 % 60,
            second: of_day % 60,
        })
    }

    /// Returns seconds since 1970; fields beyond their range carry over, as `mktime` has it.
    pub(crate) fn to_seconds(self) -> Option<i64> {
        let months = self
            .year
            .checked_mul(12)?
            .checked_add(self.month.checked_sub(1)?)?;
        let year = months.div_euclid(12);
        if !YEARS.contains(&year) {
            return None;
        }
        let days = days_before(year, months.rem_euclid(12) + 1)
            .checked_add(self.day)?
            .checked_sub(1)?;
        days.checked_mul(86_400)?
            .checked_add(self.hour.checked_mul(3600)?)?
            .checked_add(self.minute.checked_mul(60)?)?
            .checked_add(self.second)
    }

    /// Returns the day of the week, 0 for Sunday.
    pub(crate) fn weekday(self) -> i64 {
        (days_before(self.year, self.month) + self.day - 1 + 4).rem_euclid(7)
    }

    /// Returns the day of the year, from 0.
    pub(crate) fn year_day(self) -> i64 {
        days_before(self.year, self.month) - days_before(self.year, 1) + self.day - 1
    }
}

/// Counts the days from 1970 to the first of a month.
fn days_before(year: i64, month: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let from_march = (month + 9) % 12;
    let day_of_year = (153 * from_march + 2) / 5;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// What a zone says about a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Local {
    /// Seconds east of Greenwich.
    pub(crate) offset: i64,
    pub(crate) summer: bool,
    pub(crate) name: String,
}

/// A time zone.
#[derive(Debug, Clone)]
pub(crate) struct Zone {
    zone: TimeZone,
    /// The name to show for a zone that nobody knows.
    unknown: Option<String>,
}

impl Zone {
    /// Returns the zone that is Greenwich all year.
    pub(crate) fn utc() -> Self {
        Self {
            zone: TimeZone::UTC,
            unknown: None,
        }
    }

    /// Finds the zone that the variable `TZ` names; one that nobody knows is UTC under that name, as in C.
    pub(crate) fn from_variable(value: Option<&[u8]>) -> Self {
        let text = value.unwrap_or_default();
        let text = text.strip_prefix(b":").unwrap_or(text);
        let Ok(text) = std::str::from_utf8(text) else {
            return Self::utc();
        };
        if text.is_empty() {
            return Self::utc();
        }
        let known = TimeZoneDatabase::bundled().get(text);
        // jiff finds names in any case, files do not.
        if let Ok(zone) = known
            && zone.iana_name() == Some(text)
        {
            return Self {
                zone,
                unknown: None,
            };
        }
        let zone =
            TimeZone::posix(text).or_else(|_| TimeZone::posix(&format!("{text},M3.2.0,M11.1.0")));
        match zone {
            Ok(zone) => Self {
                zone,
                unknown: None,
            },
            Err(_) => {
                let name: String = text.chars().take_while(char::is_ascii_alphabetic).collect();
                Self {
                    zone: TimeZone::UTC,
                    unknown: Some(if name.len() >= 3 { name } else { String::new() }),
                }
            }
        }
    }

    /// Tells what holds at a moment.
    pub(crate) fn at(&self, seconds: i64) -> Local {
        if let Some(name) = &self.unknown {
            return Local {
                offset: 0,
                summer: false,
                name: name.clone(),
            };
        }
        let moment =
            jiff::Timestamp::from_second(within(seconds)).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        let info = self.zone.to_offset_info(moment);
        Local {
            offset: i64::from(info.offset().seconds()),
            summer: info.dst().is_dst(),
            name: info.abbreviation().to_string(),
        }
    }

    /// Returns the broken-down local time of a moment.
    pub(crate) fn civil(&self, seconds: i64) -> Option<(Civil, Local)> {
        let local = self.at(seconds);
        Some((
            Civil::from_seconds(seconds.checked_add(local.offset)?)?,
            local,
        ))
    }

    /// Finds the moment of a local time. Where clocks were turned back it happens twice: `summer` chooses, and
    /// summer time is the default; where they were turned forward it is moved on.
    pub(crate) fn moment(&self, civil: Civil, summer: Option<bool>) -> Option<i64> {
        let plain = civil.to_seconds()?;
        let before = self.at(plain.checked_sub(86_400 * 2)?);
        let after = self.at(plain.checked_add(86_400 * 2)?);
        let mut found: Option<(i64, Local)> = None;
        for offset in [before.offset, after.offset] {
            let moment = plain.checked_sub(offset)?;
            let here = self.at(moment);
            if here.offset != offset {
                continue;
            }
            match &found {
                None => found = Some((moment, here)),
                Some((_, first))
                    if summer
                        .is_some_and(|summer| first.summer != summer && here.summer == summer) =>
                {
                    found = Some((moment, here));
                }
                Some(_) => {}
            }
        }
        match (found, summer) {
            // Told that it is summer time in winter: the same clock, an hour off.
            (Some((moment, here)), Some(summer)) if here.summer != summer => {
                match self.other_season(moment, summer) {
                    Some(offset) => plain.checked_sub(offset),
                    None if summer => moment.checked_sub(3600),
                    None => moment.checked_add(3600),
                }
            }
            (Some((moment, _)), _) => Some(moment),
            (None, _) => plain.checked_sub(before.offset),
        }
    }

    /// Finds the offset of the other half of the year.
    fn other_season(&self, moment: i64, summer: bool) -> Option<i64> {
        // As far as C's `mktime` looks: eight years each way.
        (1..=102)
            .flat_map(|months| [months * 2_629_746, -months * 2_629_746])
            .map(|away| self.at(moment.saturating_add(away)))
            .find(|local| local.summer == summer)
            .map(|local| local.offset)
    }
}

/// Moves a moment into the years that jiff knows; beyond them the calendar repeats every 400 years.
fn within(seconds: i64) -> i64 {
    const ERA: i64 = 146_097 * 86_400;
    const FIRST: i64 = -377_705_000_000;
    const LAST: i64 = 253_402_200_000;
    if seconds > LAST {
        LAST - ERA + (seconds - LAST).rem_euclid(ERA)
    } else {
        i64::max(seconds, FIRST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calendar_goes_both_ways() {
        for seconds in [
            0,
            -1,
            86_399,
            951_782_400,
            1_709_164_800,
            -62_135_596_801,
            99_999_999_999_999,
        ] {
            let civil = Civil::from_seconds(seconds).unwrap();
            assert_eq!(civil.to_seconds(), Some(seconds));
        }
        assert_eq!(Civil::from_seconds(i64::MAX), None);
    }

    #[test]
    fn zones_come_from_names_and_rules() {
        for (name, at, offset, shown) in [
            ("", 0, 0, "UTC"),
            ("Europe/Paris", 1_720_000_000, 7200, "CEST"),
            ("EST5EDT", 0, -18_000, "EST"),
            ("AAA5BBB", 1_720_000_000, -14_400, "BBB"),
            ("<+03>-3", 0, 10_800, "+03"),
            ("Foo/Bar", 0, 0, "Foo"),
            ("../etc", 0, 0, ""),
        ] {
            let local = Zone::from_variable(Some(name.as_bytes())).at(at);
            assert_eq!(
                (local.offset, local.name.as_str()),
                (offset, shown),
                "{name}"
            );
        }
    }
}

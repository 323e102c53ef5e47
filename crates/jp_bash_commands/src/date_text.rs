//! Dates as people write them: `2 days ago`, `next friday 10:00`, `2024-01-31 +1 month`, `@1700000000`.
//!
//! Here is what the parts of a date mean together; `date_grammar` reads them, `date_words` splits them.

use jp_bash_system::Timestamp;

use super::date_grammar::Reader;
use super::date_words::{LocalNames, Meridian, Token, Unit, split};
use super::date_zone::{Civil, Zone};

/// Reads a date, relative to a moment, in a zone. `None` if it is not one.
pub(crate) fn parse(text: &[u8], now: Timestamp, zone: &Zone) -> Option<Timestamp> {
    let text = text.trim_ascii_start();
    let (own, text) = own_zone(text)?;
    let zone = own.as_ref().unwrap_or(zone);
    if let Some(seconds) = text.strip_prefix(b"@") {
        return at_seconds(seconds);
    }
    let (civil, local) = zone.civil(now.secs)?;
    let tokens = split(text, &local_names(zone, now.secs));
    let found = Reader::new(tokens, Found::new(civil, now.nanos)).read()?;
    found.settle(zone, local.summer)
}

/// Reads `TZ="Europe/Paris"` at the beginning.
fn own_zone(text: &[u8]) -> Option<(Option<Zone>, &[u8])> {
    let Some(quoted) = text.strip_prefix(b"TZ=\"") else {
        return Some((None, text));
    };
    let mut name = Vec::new();
    let mut bytes = quoted.iter().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => {
                let rest = quoted.get(at + 1..).unwrap_or_default().trim_ascii_start();
                return Some((Some(Zone::from_variable(Some(&name))), rest));
            }
            b'\\' => match bytes.next() {
                Some((_, next @ (b'\\' | b'"'))) => name.push(*next),
                _ => return None,
            },
            byte => name.push(*byte),
        }
    }
    None
}

fn at_seconds(text: &[u8]) -> Option<Timestamp> {
    match split(text, &Vec::new()).as_slice() {
        [Token::Number { value, .. }] => Some(Timestamp {
            secs: *value,
            nanos: 0,
        }),
        [Token::Decimal { seconds, nanos, .. }] => Some(Timestamp {
            secs: *seconds,
            nanos: *nanos,
        }),
        _ => None,
    }
}

fn local_names(zone: &Zone, now: i64) -> LocalNames {
    let mut names: LocalNames = Vec::new();
    // Quarters of the year, to meet the other season's name.
    for quarter in 0..4 {
        let local = zone.at(now.saturating_add(quarter * 90 * 86_400));
        let name = local.name.to_ascii_uppercase();
        if !name.is_empty() && !names.iter().any(|(known, _)| *known == name) {
            names.push((name, local.summer));
        }
    }
    names
}

/// What was read so far.
pub(super) struct Found {
    year: i64,
    year_digits: usize,
    civil: Civil,
    nanos: i64,
    meridian: Meridian,
    pub(super) zone: i64,
    pub(super) summer: bool,
    pub(super) day_ordinal: i64,
    pub(super) day_number: i64,
    dates: u32,
    pub(super) days: u32,
    times: u32,
    pub(super) zones: u32,
    pub(super) local_zones: u32,
    pub(super) summers: u32,
    moved: bool,
    move_by: Move,
}

/// What is to be added in the end.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Move {
    pub(super) years: i64,
    pub(super) months: i64,
    pub(super) days: i64,
    pub(super) hours: i64,
    pub(super) minutes: i64,
    pub(super) seconds: i64,
    pub(super) nanos: i64,
}

impl Move {
    pub(super) fn of(unit: Unit, n: i64) -> Self {
        let mut by = Self::default();
        match unit {
            Unit::Year => by.years = n,
            Unit::Month => by.months = n,
            Unit::Day => by.days = n,
            Unit::Hour => by.hours = n,
            Unit::Minute => by.minutes = n,
            Unit::Second => by.seconds = n,
        }
        by
    }

    fn add(&mut self, other: Self, factor: i64) -> Option<()> {
        let sum = |a: i64, b: i64| a.checked_add(b.checked_mul(factor)?);
        *self = Self {
            years: sum(self.years, other.years)?,
            months: sum(self.months, other.months)?,
            days: sum(self.days, other.days)?,
            hours: sum(self.hours, other.hours)?,
            minutes: sum(self.minutes, other.minutes)?,
            seconds: sum(self.seconds, other.seconds)?,
            nanos: sum(self.nanos, other.nanos)?,
        };
        Some(())
    }
}

impl Found {
    fn new(civil: Civil, nanos: u32) -> Self {
        Self {
            year: civil.year,
            year_digits: 0,
            civil,
            nanos: i64::from(nanos),
            meridian: Meridian::Day24,
            zone: 0,
            summer: false,
            day_ordinal: 0,
            day_number: 0,
            dates: 0,
            days: 0,
            times: 0,
            zones: 0,
            local_zones: 0,
            summers: 0,
            moved: false,
            move_by: Move::default(),
        }
    }

    pub(super) fn time(
        &mut self,
        hour: i64,
        minute: i64,
        second: i64,
        nanos: u32,
        meridian: Meridian,
    ) {
        self.times += 1;
        self.civil.hour = hour;
        self.civil.minute = minute;
        self.civil.second = second;
        self.nanos = i64::from(nanos);
        self.meridian = meridian;
    }

    pub(super) fn date(&mut self, month: i64, day: i64) {
        self.dates += 1;
        self.civil.month = month;
        self.civil.day = day;
    }

    pub(super) fn set_year(&mut self, year: i64, digits: usize) {
        self.year = year;
        self.year_digits = digits;
    }

    pub(super) fn shift(&mut self, by: Move, factor: i64) -> Option<()> {
        self.moved = true;
        self.move_by.add(by, factor)
    }

    /// A bare number is a year, a date or a time, by what was there before and its length.
    pub(super) fn digits(&mut self, value: i64, digits: usize) {
        if self.dates > 0 && self.year_digits == 0 && !self.moved && (self.times > 0 || digits > 2)
        {
            self.set_year(value, digits);
        } else if digits > 4 {
            self.date(value / 100 % 100, value % 100);
            self.set_year(value / 10_000, digits - 4);
        } else if digits <= 2 {
            self.time(value, 0, 0, 0, Meridian::Day24);
        } else {
            self.time(value / 100, value % 100, 0, 0, Meridian::Day24);
        }
    }

    /// Reads `+hh`, `+hhmm` or `+hh:mm`, in seconds.
    pub(super) fn offset(
        value: i64,
        digits: usize,
        negative: bool,
        minutes: Option<i64>,
    ) -> Option<i64> {
        let value = if digits <= 2 && minutes.is_none() {
            value.checked_mul(100)?
        } else {
            value
        };
        let total = match minutes {
            None => (value / 100).checked_mul(60)?.checked_add(value % 100)?,
            Some(minutes) => {
                value
                    .checked_mul(60)?
                    .checked_add(if negative { -minutes } else { minutes })?
            }
        };
        (-24 * 60..=24 * 60).contains(&total).then_some(total * 60)
    }

    fn hour(&self) -> Option<i64> {
        let hour = self.civil.hour;
        match self.meridian {
            Meridian::Day24 => (0..24).contains(&hour).then_some(hour),
            Meridian::Am => (1..=12).contains(&hour).then_some(hour % 12),
            Meridian::Pm => (1..=12).contains(&hour).then_some(hour % 12 + 12),
        }
    }

    /// Puts everything together.
    fn settle(self, zone: &Zone, now_summer: bool) -> Option<Timestamp> {
        let twice = [
            self.times,
            self.dates,
            self.days,
            self.summers,
            self.zones + self.local_zones,
        ];
        if twice.iter().any(|seen| *seen > 1) {
            return None;
        }
        let mut wanted = self.civil;
        // Two digits are short for a year of our time; `31 Oct +13` has a sign and means the year 13.
        wanted.year = match self.year_digits {
            2 if (0..69).contains(&self.year) => self.year + 2000,
            2 if self.year >= 0 => self.year + 1900,
            0 => self.year,
            _ => self.year.checked_abs()?,
        };
        let mut nanos = self.nanos;
        if self.times > 0 || self.moved && self.dates == 0 && self.days == 0 {
            wanted.hour = self.hour()?;
        } else {
            (wanted.hour, wanted.minute, wanted.second) = (0, 0, 0);
            nanos = 0;
        }
        let mut summer = Some(now_summer);
        if self.dates + self.days + self.times > 0 {
            summer = None;
        }
        if self.local_zones > 0 {
            summer = Some(self.summer);
        }
        let mut start = zone.moment(wanted, summer)?;
        let (mut here, mut local) = zone.civil(start)?;
        if here != wanted {
            // A time that the local clocks skip still exists where the written zone applies.
            let exact = wanted.to_seconds()?;
            if self.zones == 0 || Civil::from_seconds(exact) != Some(wanted) {
                return None;
            }
            start = exact.checked_sub(self.zone)?;
            here = wanted;
            local.offset = self.zone;
        }
        if self.days > 0 && self.dates == 0 {
            let passed = i64::from(self.day_ordinal > 0 && here.weekday() != self.day_number);
            let weeks = self.day_ordinal.checked_sub(passed)?.checked_mul(7)?;
            let ahead = (self.day_number - here.weekday()).rem_euclid(7);
            here.day = here.day.checked_add(ahead.checked_add(weeks)?)?;
            start = zone.moment(here, None)?;
            (here, local) = zone.civil(start)?;
        }
        let by = self.move_by;
        if by.years != 0 || by.months != 0 || by.days != 0 {
            let moved = Civil {
                year: here.year.checked_add(by.years)?,
                month: here.month.checked_add(by.months)?,
                day: here.day.checked_add(by.days)?,
                ..wanted
            };
            start = zone.moment(moved, summer)?;
            (_, local) = zone.civil(start)?;
        }
        if self.zones > 0 {
            start = start.checked_sub(self.zone.checked_sub(local.offset)?)?;
        }
        nanos = nanos.checked_add(by.nanos)?;
        let carry = nanos.div_euclid(1_000_000_000);
        let secs = start
            .checked_add(by.hours.checked_mul(3600)?)?
            .checked_add(by.minutes.checked_mul(60)?)?
            .checked_add(by.seconds)?
            .checked_add(carry)?;
        Some(Timestamp {
            secs,
            nanos: u32::try_from(nanos.rem_euclid(1_000_000_000)).unwrap_or(0),
        })
    }
}

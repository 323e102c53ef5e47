//! The grammar of dates, that of GNU's `parse_datetime` with its quirks: `10:00 +1 day` takes `+1` for a zone.
//!
//! Where two readings are possible, the longer one is taken, as GNU's parser does.

use super::date_text::{Found, Move};
use super::date_words::{Meridian, Token, Unit};

/// Reads tokens one item at a time.
pub(super) struct Reader {
    tokens: Vec<Token>,
    at: usize,
    found: Found,
}

impl Reader {
    /// Starts at the first token.
    pub(super) fn new(tokens: Vec<Token>, found: Found) -> Self {
        Self {
            tokens,
            at: 0,
            found,
        }
    }

    /// Reads everything; `None` if it is not a date.
    pub(super) fn read(mut self) -> Option<Found> {
        while self.at < self.tokens.len() {
            self.item()?;
        }
        Some(self.found)
    }

    fn peek(&self, ahead: usize) -> Option<Token> {
        self.tokens.get(self.at + ahead).copied()
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.peek(0);
        self.at += 1;
        token
    }

    /// Takes a sign if it comes next.
    fn sign(&mut self, sign: u8) -> bool {
        let there = self.peek(0) == Some(Token::Sign(sign));
        self.at += usize::from(there);
        there
    }

    /// Takes a number without a sign.
    fn unsigned(&mut self) -> Option<(i64, usize)> {
        match self.next()? {
            Token::Number {
                value,
                digits,
                signed: false,
                ..
            } => Some((value, digits)),
            _ => None,
        }
    }

    fn signed(&mut self) -> Option<(i64, usize, bool)> {
        match self.next()? {
            Token::Number {
                value,
                digits,
                signed: true,
                negative,
            } => Some((value, digits, negative)),
            _ => None,
        }
    }

    fn is_signed(&self, ahead: usize) -> bool {
        matches!(self.peek(ahead), Some(Token::Number { signed: true, .. }))
    }

    fn is_unsigned(&self, ahead: usize) -> bool {
        matches!(self.peek(ahead), Some(Token::Number { signed: false, .. }))
    }

    /// Reads one part: a time, a date, a zone, a weekday, a shift.
    fn item(&mut self) -> Option<()> {
        match self.peek(0)? {
            Token::Number { signed: false, .. } => self.after_number(),
            Token::Number {
                value,
                signed: true,
                ..
            } => {
                self.at += 1;
                self.unit(value)
            }
            Token::Decimal { seconds, nanos, .. } => {
                self.at += 1;
                match self.next()? {
                    Token::Unit(Unit::Second, _) => {}
                    _ => return None,
                }
                self.relative(Move {
                    seconds,
                    nanos: i64::from(nanos),
                    ..Move::default()
                })
            }
            Token::Month(month) => self.after_month(month),
            Token::Day(day) => {
                self.at += 1;
                self.sign(b',');
                self.weekday(0, day)
            }
            Token::Ordinal(ordinal) => {
                self.at += 1;
                if let Some(Token::Day(day)) = self.peek(0) {
                    self.at += 1;
                    return self.weekday(ordinal, day);
                }
                self.unit(ordinal)
            }
            Token::Unit(..) => self.unit(1),
            Token::Shift(days) => {
                self.at += 1;
                self.found.shift(
                    Move {
                        days,
                        ..Move::default()
                    },
                    1,
                )
            }
            Token::LocalZone(summer) => {
                self.at += 1;
                self.found.local_zones += 1;
                self.found.summer = summer;
                if self.peek(0) == Some(Token::Dst) {
                    self.at += 1;
                    self.found.summer = true;
                    self.found.summers += 1;
                }
                Some(())
            }
            Token::Local => {
                // The letter J stands for local time and changes nothing.
                self.at += 1;
                self.found.local_zones += 1;
                self.found.summer = false;
                None
            }
            Token::T => self.zone(-7 * 3600),
            Token::Zone(offset) => self.zone(offset),
            Token::DayZone(offset) => {
                self.at += 1;
                self.found.zones += 1;
                self.found.zone = offset + 3600;
                Some(())
            }
            _ => None,
        }
    }

    fn weekday(&mut self, ordinal: i64, day: i64) -> Option<()> {
        self.found.days += 1;
        self.found.day_ordinal = ordinal;
        self.found.day_number = day;
        Some(())
    }

    /// Reads a unit after its number, and `ago`.
    fn unit(&mut self, count: i64) -> Option<()> {
        let Token::Unit(unit, size) = self.next()? else {
            return None;
        };
        self.relative(Move::of(unit, count.checked_mul(size)?))
    }

    fn relative(&mut self, by: Move) -> Option<()> {
        let factor = match self.peek(0) {
            Some(Token::Ago(factor)) => {
                self.at += 1;
                factor
            }
            _ => 1,
        };
        self.found.shift(by, factor)
    }

    /// Reads what may follow the name of a zone: a shift, an offset, `DST`.
    fn zone(&mut self, offset: i64) -> Option<()> {
        let letter_t = self.peek(0) == Some(Token::T);
        self.at += 1;
        self.found.zones += 1;
        self.found.zone = offset;
        if let Some(Token::Number {
            value,
            digits,
            signed: true,
            negative,
        }) = self.peek(0)
        {
            self.at += 1;
            if let Some(Token::Unit(unit, size)) = self.peek(0) {
                self.at += 1;
                return self
                    .found
                    .shift(Move::of(unit, value.checked_mul(size)?), 1);
            }
            if letter_t {
                return None;
            }
            let minutes = self.colon_minutes()?;
            self.found.zone =
                offset.checked_add(Found::offset(value, digits, negative, minutes)?)?;
        } else if self.peek(0) == Some(Token::Dst) && !letter_t {
            self.at += 1;
            self.found.zone = offset + 3600;
        }
        Some(())
    }

    fn colon_minutes(&mut self) -> Option<Option<i64>> {
        if !self.sign(b':') {
            return Some(None);
        }
        self.unsigned().map(|(minutes, _)| Some(minutes))
    }

    /// Reads a zone as an offset, if a signed number comes next.
    fn zone_offset(&mut self) -> Option<()> {
        if !self.is_signed(0) {
            return Some(());
        }
        let (value, digits, negative) = self.signed()?;
        let minutes = self.colon_minutes()?;
        self.found.zones += 1;
        self.found.zone = Found::offset(value, digits, negative, minutes)?;
        Some(())
    }

    fn after_number(&mut self) -> Option<()> {
        let (value, digits) = self.unsigned()?;
        match self.peek(0) {
            Some(Token::Meridian(meridian)) => {
                self.at += 1;
                self.found.time(value, 0, 0, 0, meridian);
                Some(())
            }
            Some(Token::Sign(b':')) => self.clock(value, true),
            Some(Token::Sign(b'/')) => self.slashes(value, digits),
            Some(Token::Month(month)) => {
                self.at += 1;
                self.found.date(month, value);
                if self.is_signed(0) {
                    let (year, digits, _) = self.signed()?;
                    self.found.set_year(year.checked_neg()?, digits);
                } else if self.is_unsigned(0) {
                    let (year, digits) = self.unsigned()?;
                    self.found.set_year(year, digits);
                }
                Some(())
            }
            Some(Token::Day(day)) => {
                self.at += 1;
                self.weekday(value, day)
            }
            Some(Token::Unit(..)) => self.unit(value),
            Some(Token::Number { signed: true, .. }) => self.number_and_signed(value, digits),
            _ => {
                self.found.digits(value, digits);
                Some(())
            }
        }
    }

    /// `2024-01-31`, `20240131 +1 day`, or `10+02:00`: the token after the signed number tells.
    fn number_and_signed(&mut self, value: i64, digits: usize) -> Option<()> {
        if self.is_signed(1) {
            let (month, ..) = self.signed()?;
            let (day, ..) = self.signed()?;
            self.found.date(month.checked_neg()?, day.checked_neg()?);
            self.found.set_year(value, digits);
            if self.peek(0) == Some(Token::T) {
                self.at += 1;
                let (hour, _) = self.unsigned()?;
                return self.clock(hour, false);
            }
            return Some(());
        }
        if let Some(Token::Unit(unit, size)) = self.peek(1) {
            let (count, ..) = self.signed()?;
            self.at += 1;
            self.found.digits(value, digits);
            return self
                .found
                .shift(Move::of(unit, count.checked_mul(size)?), 1);
        }
        self.found.time(value, 0, 0, 0, Meridian::Day24);
        self.zone_offset()
    }

    /// Reads `:MM[:SS[.N]]` after an hour, then AM or PM or an offset.
    fn clock(&mut self, hour: i64, meridian_allowed: bool) -> Option<()> {
        let mut minute = 0;
        let mut second = 0;
        let mut nanos = 0;
        let mut bare = true;
        if self.sign(b':') {
            bare = false;
            minute = self.unsigned()?.0;
            if self.sign(b':') {
                match self.next()? {
                    Token::Number {
                        value,
                        signed: false,
                        ..
                    } => second = value,
                    Token::Decimal {
                        seconds,
                        nanos: part,
                        signed: false,
                    } => (second, nanos) = (seconds, part),
                    _ => return None,
                }
            }
        }
        if let Some(Token::Meridian(meridian)) = self.peek(0)
            && meridian_allowed
        {
            self.at += 1;
            self.found.time(hour, minute, second, nanos, meridian);
            return Some(());
        }
        self.found
            .time(hour, minute, second, nanos, Meridian::Day24);
        // An hour alone needs its offset.
        if bare && !self.is_signed(0) {
            return None;
        }
        self.zone_offset()
    }

    fn slashes(&mut self, first: i64, digits: usize) -> Option<()> {
        self.sign(b'/');
        let (second, _) = self.unsigned()?;
        if !self.sign(b'/') {
            self.found.date(first, second);
            return Some(());
        }
        let (third, third_digits) = self.unsigned()?;
        if digits >= 4 {
            self.found.date(second, third);
            self.found.set_year(first, digits);
        } else {
            self.found.date(first, second);
            self.found.set_year(third, third_digits);
        }
        Some(())
    }

    fn after_month(&mut self, month: i64) -> Option<()> {
        self.at += 1;
        if self.is_signed(0) {
            let (day, ..) = self.signed()?;
            let (year, digits, _) = self.signed()?;
            self.found.date(month, day.checked_neg()?);
            self.found.set_year(year.checked_neg()?, digits);
            return Some(());
        }
        let (day, _) = self.unsigned()?;
        self.found.date(month, day);
        if self.peek(0) == Some(Token::Sign(b',')) {
            self.at += 1;
            let (year, digits) = self.unsigned()?;
            self.found.set_year(year, digits);
        }
        Some(())
    }
}

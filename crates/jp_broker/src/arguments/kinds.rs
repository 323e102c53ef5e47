//! The kinds of values that arguments are made of. Each checks what it reads.

use std::{fmt, marker::PhantomData, ops::Deref};

use serde::{
    Deserialize, Deserializer,
    de::{self, SeqAccess, Visitor},
};

use super::misfit;

/// The last second of the year 9999.
pub(crate) const LAST_TIME: i64 = 253_402_300_799;
/// From here on a number of seconds is one of milliseconds.
const MILLISECONDS_FROM: i64 = 1_000_000_000_000;
/// Ten years, in minutes.
pub(crate) const LONGEST_MINUTES: i64 = 10 * 365 * 24 * 60;

/// The longest text there is a use for, in bytes: as long as all arguments together may be.
pub(crate) const ANY_LENGTH: usize = 1024 * 1024;

/// A title or a name.
pub(crate) type Title = Filled<1024>;
/// A prompt or a goal.
pub(crate) type Prose = Filled<{ 64 * 1024 }>;
/// A status or a date.
pub(crate) type Word = Filled<256>;
/// Notes or a description, which may say nothing.
pub(crate) type Notes = Text<{ 64 * 1024 }>;
/// A text of any length that says something.
pub(crate) type Said = Filled<ANY_LENGTH>;

/// The most story points, far beyond any use.
pub(crate) const MOST_POINTS: i64 = 1000;

/// Story points.
pub(crate) type Points = Whole<1, MOST_POINTS>;
/// An estimate or an interval.
pub(crate) type Minutes = Whole<1, LONGEST_MINUTES>;
/// An interval, where 0 stands for none.
pub(crate) type MinutesOrOnce = Whole<0, LONGEST_MINUTES>;
/// A delay.
pub(crate) type Seconds = Whole<0, LAST_TIME>;

/// A text of at most so many bytes that says something.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filled<const MOST: usize>(String);

/// A text of at most so many bytes.
#[derive(Debug, Clone)]
pub(crate) struct Text<const MOST: usize>(String);

impl<const MOST: usize> Filled<MOST> {
    /// Checks a text.
    pub(crate) fn new<E: de::Error>(text: String) -> Result<Self, E> {
        filled(&text)?;
        bounded(&text, MOST)?;
        Ok(Self(text))
    }
}

impl<const MOST: usize> Text<MOST> {
    /// Checks a text.
    pub(crate) fn new<E: de::Error>(text: String) -> Result<Self, E> {
        bounded(&text, MOST)?;
        Ok(Self(text))
    }
}

impl<'de, const MOST: usize> Deserialize<'de> for Filled<MOST> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::new(String::deserialize(from)?)
    }
}

impl<'de, const MOST: usize> Deserialize<'de> for Text<MOST> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::new(String::deserialize(from)?)
    }
}

impl<const MOST: usize> Deref for Filled<MOST> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<const MOST: usize> Deref for Text<MOST> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

fn filled<E: de::Error>(text: &str) -> Result<(), E> {
    match text.trim().is_empty() {
        true => Err(misfit("a text that is not empty")),
        false => Ok(()),
    }
}

fn bounded<E: de::Error>(text: &str, most: usize) -> Result<(), E> {
    match text.len() > most {
        true => Err(too_long(text.len(), most, "bytes")),
        false => Ok(()),
    }
}

/// Makes the error of something with too many of its parts.
pub(crate) fn too_long<E: de::Error>(found: usize, most: usize, parts: &str) -> E {
    let expected = format!("at most {most} {parts}");
    E::invalid_length(found, &expected.as_str())
}

/// A whole number from the first to the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Whole<const LEAST: i64, const MOST: i64>(i64);

impl<const LEAST: i64, const MOST: i64> Whole<LEAST, MOST> {
    /// Returns the number.
    pub(crate) const fn get(self) -> i64 {
        self.0
    }
}

impl<'de, const LEAST: i64, const MOST: i64> Deserialize<'de> for Whole<LEAST, MOST> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        ranged(i64::deserialize(from)?, LEAST, MOST).map(Self)
    }
}

fn ranged<E: de::Error>(number: i64, least: i64, most: i64) -> Result<i64, E> {
    match (least..=most).contains(&number) {
        true => Ok(number),
        false => Err(misfit(&format!("{least} to {most}"))),
    }
}

/// A point in time in seconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Time(pub(crate) i64);

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        point(i64::deserialize(from)?).map(Self)
    }
}

/// A point in time as it was given, in seconds or milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimeOrMilliseconds(i64);

impl TimeOrMilliseconds {
    /// Checks a number.
    pub(crate) fn new<E: de::Error>(given: i64) -> Result<Self, E> {
        let time = Self(given);
        point::<E>(time.seconds())?;
        Ok(time)
    }

    /// Returns it as it was given.
    pub(crate) const fn given(self) -> i64 {
        self.0
    }

    /// Returns it in seconds.
    pub(crate) const fn seconds(self) -> i64 {
        match self.0 >= MILLISECONDS_FROM {
            true => self.0 / 1000,
            false => self.0,
        }
    }
}

impl<'de> Deserialize<'de> for TimeOrMilliseconds {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::new(i64::deserialize(from)?)
    }
}

fn point<E: de::Error>(seconds: i64) -> Result<i64, E> {
    match (0..=LAST_TIME).contains(&seconds) {
        true => Ok(seconds),
        false => Err(misfit(&format!(
            "0 to {LAST_TIME}, in seconds since 1970 (UTC)"
        ))),
    }
}

/// How many rows a list shows: `USUAL` when it is left out, and at least `LEAST`. Where 0 is
/// allowed it stands for all that fit into an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rows<const USUAL: i64, const LEAST: i64>(i64);

/// The most rows of one answer.
pub(crate) const MOST_ROWS: i64 = 1000;

impl<const USUAL: i64, const LEAST: i64> Rows<USUAL, LEAST> {
    /// Returns the number of rows.
    pub(crate) const fn get(self) -> i64 {
        match self.0 {
            0 => MOST_ROWS,
            rows => rows,
        }
    }
}

impl<const USUAL: i64, const LEAST: i64> Default for Rows<USUAL, LEAST> {
    fn default() -> Self {
        Self(USUAL)
    }
}

impl<'de, const USUAL: i64, const LEAST: i64> Deserialize<'de> for Rows<USUAL, LEAST> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match Option::deserialize(from)? {
            None => Ok(Self(USUAL)),
            Some(rows) => ranged(rows, LEAST, MOST_ROWS).map(Self),
        }
    }
}

/// A number above 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Positive(pub(crate) f64);

impl<'de> Deserialize<'de> for Positive {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let number = f64::deserialize(from)?;
        match number.is_finite() && number > 0.0 {
            true => Ok(Self(number)),
            false => Err(misfit("a number above 0")),
        }
    }
}

/// A list of at most so many entries.
#[derive(Debug, Clone)]
pub(crate) struct Many<T, const MOST: usize>(Vec<T>);

impl<T, const MOST: usize> Deref for Many<T, MOST> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<'de, T: Deserialize<'de>, const MOST: usize> Deserialize<'de> for Many<T, MOST> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_seq(Entries::<T, MOST>(PhantomData))
            .map(Self)
    }
}

/// Reads entries. Too many of them are refused before the first is read: a few bytes of JSON each
/// would become many.
struct Entries<T, const MOST: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for Entries<T, MOST> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
        let count = list.size_hint().unwrap_or(0);
        if count > MOST {
            return Err(too_long(count, MOST, "entries"));
        }
        let mut entries = Vec::with_capacity(count);
        while let Some(entry) = list.next_element()? {
            entries.push(entry);
        }
        Ok(entries)
    }
}

/// Reads a value that may be left out or be `null`, which both stand for the usual one.
pub(crate) fn or_usual<'de, D, T>(from: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Option::deserialize(from).map(Option::unwrap_or_default)
}

//! Keys of `sort`: how `-k` is read, where a key lies in a line, how two are compared.

use std::cmp::Ordering;
use std::hash::Hasher;

use super::quote::quote;
use super::sort_number::{Decimal, float_rank, is_blank, month};
use super::version_order;

/// Which bytes are left out of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Ignore {
    #[default]
    Nothing,
    /// `-d`: all but blanks, letters and digits.
    NonDictionary,
    /// `-i`
    NonPrinting,
}

/// A key with its ordering options.
#[derive(Debug, Clone, Default)]
pub(super) struct Key {
    /// Field and byte where it starts, from 0.
    start_field: usize,
    start_byte: usize,
    /// Field (from 0) and byte (from 1; 0 is the field's end) where it stops.
    end: Option<(usize, usize)>,
    skip_start_blanks: bool,
    skip_end_blanks: bool,
    ignore: Ignore,
    fold: bool,
    general: bool,
    human: bool,
    month: bool,
    numeric: bool,
    pub(super) random: bool,
    version: bool,
    pub(super) reverse: bool,
}

/// Which end of a key `b` speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Start,
    End,
    Both,
}

impl Key {
    /// Applies one ordering letter; `false` if it is none.
    pub(super) fn order(&mut self, letter: u8, side: Side) -> bool {
        match letter {
            b'b' => {
                self.skip_start_blanks |= side != Side::End;
                self.skip_end_blanks |= side != Side::Start;
            }
            b'd' => self.ignore = Ignore::NonDictionary,
            b'f' => self.fold = true,
            b'g' => self.general = true,
            b'h' => self.human = true,
            // `-d` ignores more, whatever the order they come in.
            b'i' if self.ignore == Ignore::Nothing => self.ignore = Ignore::NonPrinting,
            b'i' => {}
            b'M' => self.month = true,
            b'n' => self.numeric = true,
            b'R' => self.random = true,
            b'r' => self.reverse = true,
            b'V' => self.version = true,
            _ => return false,
        }
        true
    }

    /// Tells whether no ordering option but `-r` is set.
    pub(super) fn is_default(&self) -> bool {
        self.ignore == Ignore::Nothing
            && !(self.fold
                || self.skip_start_blanks
                || self.skip_end_blanks
                || self.general
                || self.human
                || self.month
                || self.numeric
                || self.random
                || self.version)
    }

    /// Takes over the global options, which is what a key without any of its own does.
    pub(super) fn inherit(&mut self, global: &Self) {
        *self = Self {
            start_field: self.start_field,
            start_byte: self.start_byte,
            end: self.end,
            ..global.clone()
        };
    }

    /// Returns the letters that exclude each other, if the key has such.
    pub(super) fn clash(&self) -> Option<String> {
        let ignores = self.ignore != Ignore::Nothing;
        let kinds = [
            self.numeric,
            self.general,
            self.human,
            self.month,
            self.version || self.random || ignores,
        ];
        if kinds.iter().filter(|kind| **kind).count() < 2 {
            return None;
        }
        let letters = [
            (self.ignore == Ignore::NonDictionary, 'd'),
            (self.fold, 'f'),
            (self.general, 'g'),
            (self.human, 'h'),
            (self.ignore == Ignore::NonPrinting, 'i'),
            (self.month, 'M'),
            (self.numeric, 'n'),
            (self.random, 'R'),
            (self.version, 'V'),
        ];
        Some(
            letters
                .iter()
                .filter(|(set, _)| *set)
                .map(|(_, letter)| letter)
                .collect(),
        )
    }

    /// Reads `F[.C][OPTS][,F[.C][OPTS]]`.
    pub(super) fn read(text: &[u8], utf8: bool) -> Result<Self, Vec<u8>> {
        let bad = |why: &str| {
            let shown = quote(utf8, text);
            [why.as_bytes(), b": invalid field specification ", &shown].concat()
        };
        let mut key = Self::default();
        let (field, mut rest) = count(text, "invalid number at field start", utf8)?;
        key.start_field = field
            .checked_sub(1)
            .ok_or_else(|| bad("field number is zero"))?;
        if let Some(after) = rest.strip_prefix(b".") {
            let (byte, after) = count(after, "invalid number after '.'", utf8)?;
            key.start_byte = byte
                .checked_sub(1)
                .ok_or_else(|| bad("character offset is zero"))?;
            rest = after;
        }
        rest = key.letters(rest, Side::Start);
        if let Some(after) = rest.strip_prefix(b",") {
            let (field, after) = count(after, "invalid number after ','", utf8)?;
            let field = field
                .checked_sub(1)
                .ok_or_else(|| bad("field number is zero"))?;
            let mut byte = 0;
            rest = after;
            if let Some(after) = rest.strip_prefix(b".") {
                (byte, rest) = count(after, "invalid number after '.'", utf8)?;
            }
            key.end = Some((field, byte));
            rest = key.letters(rest, Side::End);
        }
        if rest.is_empty() {
            Ok(key)
        } else {
            Err(bad("stray character in field spec"))
        }
    }

    fn letters<'t>(&mut self, mut text: &'t [u8], side: Side) -> &'t [u8] {
        while let Some((letter, rest)) = text.split_first() {
            if !self.order(*letter, side) {
                break;
            }
            text = rest;
        }
        text
    }

    /// Finds the key in a line: from where to where.
    pub(super) fn find(&self, line: &[u8], tab: Option<u8>) -> (usize, usize) {
        let start = self.start(line, tab);
        (start, usize::max(start, self.stop(line, tab)))
    }

    fn start(&self, line: &[u8], tab: Option<u8>) -> usize {
        let mut at = 0;
        let mut fields = self.start_field;
        while at < line.len() && fields > 0 {
            fields -= 1;
            at = match tab {
                Some(tab) => usize::min(field_end(line, at, tab) + 1, line.len()),
                None => word_end(line, at),
            };
        }
        if self.skip_start_blanks {
            at = skip_blanks(line, at);
        }
        usize::min(line.len(), at.saturating_add(self.start_byte))
    }

    fn stop(&self, line: &[u8], tab: Option<u8>) -> usize {
        let Some((fields, byte)) = self.end else {
            return line.len();
        };
        let mut fields = if byte == 0 {
            fields.saturating_add(1)
        } else {
            fields
        };
        let mut at = 0;
        while at < line.len() && fields > 0 {
            fields -= 1;
            at = match tab {
                Some(tab) => {
                    let end = field_end(line, at, tab);
                    // The separator belongs to the key only on the way to a later field.
                    if end < line.len() && (fields > 0 || byte > 0) {
                        end + 1
                    } else {
                        end
                    }
                }
                None => word_end(line, at),
            };
        }
        if byte > 0 {
            if self.skip_end_blanks {
                at = skip_blanks(line, at);
            }
            at = usize::min(line.len(), at.saturating_add(byte));
        }
        at
    }

    /// Returns a number whose order is the order of the keys; equal numbers decide nothing unless
    /// [`Key::decides`] says so.
    pub(super) fn rank(&self, text: &[u8], seed: &[u8]) -> u64 {
        let rank = if self.numeric {
            Decimal::read(text).rank()
        } else if self.general {
            float_rank(text)
        } else if self.human {
            human_rank(&Decimal::read(text))
        } else if self.month {
            month(text)
        } else if self.random {
            self.hash(text, seed)
        } else if self.version {
            0
        } else if self.ignore == Ignore::Nothing {
            prefix(text.iter().take(8).map(|byte| self.folded(*byte)))
        } else {
            prefix(self.visible(text).take(8))
        };
        if self.reverse { !rank } else { rank }
    }

    /// Tells whether equal ranks mean equal keys.
    pub(super) fn decides(&self, rank: u64) -> bool {
        let rank = if self.reverse { !rank } else { rank };
        self.general || self.month || self.numeric && Decimal::is_exact(rank)
    }

    /// Compares two keys.
    pub(super) fn compare(&self, a: &[u8], b: &[u8], seed: &[u8]) -> Ordering {
        let order = if self.numeric {
            Decimal::read(a).compare(&Decimal::read(b))
        } else if self.general {
            float_rank(a).cmp(&float_rank(b))
        } else if self.human {
            Decimal::read(a).compare_human(&Decimal::read(b))
        } else if self.month {
            month(a).cmp(&month(b))
        } else if self.version && self.ignore == Ignore::Nothing && !self.fold {
            version_order::compare(a, b)
        } else if self.random || self.version {
            let (left, right): (Vec<u8>, Vec<u8>) =
                (self.visible(a).collect(), self.visible(b).collect());
            if self.random {
                self.hash(a, seed)
                    .cmp(&self.hash(b, seed))
                    .then_with(|| left.cmp(&right))
            } else {
                version_order::compare(&left, &right)
            }
        } else if self.ignore != Ignore::Nothing {
            self.visible(a).cmp(self.visible(b))
        } else if self.fold {
            a.iter()
                .map(u8::to_ascii_uppercase)
                .cmp(b.iter().map(u8::to_ascii_uppercase))
        } else {
            a.cmp(b)
        };
        if self.reverse { order.reverse() } else { order }
    }

    fn folded(&self, byte: u8) -> u8 {
        if self.fold {
            byte.to_ascii_uppercase()
        } else {
            byte
        }
    }

    /// Returns the bytes that count, as they count.
    fn visible<'t>(&'t self, text: &'t [u8]) -> impl Iterator<Item = u8> + 't {
        text.iter()
            .copied()
            .filter(|byte| match self.ignore {
                Ignore::Nothing => true,
                Ignore::NonDictionary => byte.is_ascii_alphanumeric() || is_blank(*byte),
                Ignore::NonPrinting => byte.is_ascii_graphic() || *byte == b' ',
            })
            .map(|byte| self.folded(byte))
    }

    fn hash(&self, text: &[u8], seed: &[u8]) -> u64 {
        let mut hasher = std::hash::DefaultHasher::new();
        hasher.write(seed);
        for byte in self.visible(text) {
            hasher.write_u8(byte);
        }
        hasher.finish()
    }
}

fn prefix(bytes: impl Iterator<Item = u8>) -> u64 {
    let mut first = [0; 8];
    for (slot, byte) in first.iter_mut().zip(bytes) {
        *slot = byte;
    }
    u64::from_be_bytes(first)
}

/// Ranks a line as a whole, by its first bytes.
pub(super) fn line_rank(line: &[u8]) -> u64 {
    match line.first_chunk::<8>() {
        Some(first) => u64::from_be_bytes(*first),
        None => prefix(line.iter().copied()),
    }
}

fn human_rank(number: &Decimal<'_>) -> u64 {
    // Negative numbers come first, the larger units of them before the smaller.
    let sign = number.rank().cmp(&(1 << 63)) as i64;
    let unit = u64::try_from(number.unit() + 16).unwrap_or(0);
    let sign = u64::try_from(sign + 1).unwrap_or(0);
    (sign << 60) | (unit << 52)
}

fn field_end(line: &[u8], at: usize, tab: u8) -> usize {
    let rest = line.get(at..).unwrap_or_default();
    memchr::memchr(tab, rest).map_or(line.len(), |found| at + found)
}

fn word_end(line: &[u8], at: usize) -> usize {
    let at = skip_blanks(line, at);
    let rest = line.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|byte| !is_blank(**byte)).count()
}

fn skip_blanks(line: &[u8], at: usize) -> usize {
    let rest = line.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|byte| is_blank(**byte)).count()
}

/// Reads a number at the beginning of a text; one that is too large is as good as endless.
fn count<'t>(text: &'t [u8], why: &str, utf8: bool) -> Result<(usize, &'t [u8]), Vec<u8>> {
    let trimmed = text.trim_ascii_start();
    let trimmed = trimmed.strip_prefix(b"+").unwrap_or(trimmed);
    let len = trimmed
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let (number, rest) = trimmed.split_at_checked(len).unwrap_or((trimmed, b""));
    if number.is_empty() {
        let shown = quote(utf8, text);
        return Err([why.as_bytes(), b": invalid count at start of ", &shown].concat());
    }
    let value = number.iter().fold(0usize, |sum, digit| {
        sum.saturating_mul(10)
            .saturating_add(usize::from(digit - b'0'))
    });
    Ok((value, rest))
}

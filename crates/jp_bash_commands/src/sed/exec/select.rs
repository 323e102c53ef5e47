//! Which lines a command is for: addresses and ranges. Changes no text.

use jp_bash_regex::Regex;
use jp_bash_system::System;

use super::{Fault, Range, Run};
use crate::sed::script::{Address, Command, Pattern};

impl<'s> Run<'s> {
    pub(super) fn selects(
        &mut self,
        sys: &mut dyn System,
        command: &Command,
        at: usize,
    ) -> Result<bool, Fault> {
        let Some(first) = command.first else {
            return Ok(true);
        };
        let Some(second) = command.second else {
            return self.matches(sys, first);
        };
        let state = self.ranges.get(at).copied().unwrap_or(Range::Closed);
        let begins = first == Address::Zero && self.number == 1 && state == Range::Closed;
        let next = match state {
            Range::Until(Some(line)) => {
                // A line number behind us ends the range at once, and the line is not in it unless
                // it starts a range anew.
                if self.number >= line {
                    self.set_range(at, Range::Closed);
                }
                if self.number > line {
                    return self.range_start(sys, first, second, at);
                }
                return Ok(true);
            }
            Range::Until(None) => Range::Until(None),
            Range::Closed if begins => Range::Until(None),
            Range::Closed => return self.range_start(sys, first, second, at),
        };
        self.set_range(at, next);
        if self.matches(sys, second)? {
            self.set_range(at, Range::Closed);
        }
        Ok(true)
    }

    pub(super) fn range_start(
        &mut self,
        sys: &mut dyn System,
        first: Address,
        second: Address,
        at: usize,
    ) -> Result<bool, Fault> {
        if first == Address::Zero || !self.matches(sys, first)? {
            return Ok(false);
        }
        let number = self.number;
        let next = match second {
            Address::Line(line) if line <= number => Range::Closed,
            Address::Line(line) => Range::Until(Some(line)),
            Address::Plus(0) => Range::Closed,
            Address::Plus(n) => Range::Until(Some(number.saturating_add(n))),
            Address::Multiple(n) => match n {
                0 => Range::Closed,
                _ if number.is_multiple_of(n) => Range::Closed,
                _ => Range::Until(Some(number.div_ceil(n).saturating_mul(n))),
            },
            Address::Last if self.files.at_end(sys)? => Range::Closed,
            _ => Range::Until(None),
        };
        self.set_range(at, next);
        Ok(true)
    }

    pub(super) fn set_range(&mut self, at: usize, range: Range) {
        if let Some(place) = self.ranges.get_mut(at) {
            *place = range;
        }
    }

    pub(super) fn matches(
        &mut self,
        sys: &mut dyn System,
        address: Address,
    ) -> Result<bool, Fault> {
        Ok(match address {
            Address::Line(line) => self.number == line,
            Address::Step(first, step) => {
                self.number >= first && (self.number - first).is_multiple_of(step)
            }
            Address::Last => self.files.at_end(sys)?,
            Address::Match(pattern) => {
                let regex = self.regex(pattern)?;
                regex.is_match_at(sys, &self.line, 0)?
            }
            Address::Zero | Address::Plus(_) | Address::Multiple(_) => false,
        })
    }

    /// Returns a regular expression, which is then the last one used.
    pub(super) fn regex(&mut self, pattern: Pattern) -> Result<&'s Regex, Fault> {
        if let Pattern::Is(index) = pattern {
            self.last = Some(index);
        }
        self.last
            .and_then(|index| self.script.regexes.get(index))
            .ok_or_else(|| Fault::Fatal("no previous regular expression".to_owned(), 1))
    }
}

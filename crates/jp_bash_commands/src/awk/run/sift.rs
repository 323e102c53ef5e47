//! Passing over records that no rule is for, many at once, where every rule is `/regex/ { … }`.
//!
//! Such a record changes nothing but `NR`, `FNR` and, if it is the last, `$0`: so the text of many lines is searched
//! as grep does it, and only the last line of each piece is read whatever it holds.

use super::super::op::{Op, Program};
use super::super::streams::{ReadError, Separator};
use super::{Ran, Vm};

/// The most rules that are looked for together.
const MOST_RULES: usize = 8;
/// After so many searches it is judged whether they are worth while.
const TRIES: u32 = 64;
/// So many records are read one by one if they are not.
const PAUSE: u32 = 1024;

/// What to look for, and how well it goes.
pub(super) struct Sift {
    regexes: Vec<u32>,
    /// Where the action of the only rule begins.
    action: Option<usize>,
    tries: u32,
    passed: u32,
    pause: u32,
}

/// What is known of the next record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Unknown,
    /// A rule is for it.
    Matches,
}

impl Sift {
    /// Reads the rules; `None` if one of them can be for any record.
    pub(super) fn of(program: &Program) -> Option<Self> {
        let mut at = program.main?;
        let first = at;
        let mut regexes = Vec::new();
        loop {
            let [Op::MatchRecord(regex), Op::JumpUnless(by)] = *program.ops.get(at..at + 2)? else {
                return None;
            };
            regexes.push(regex);
            let behind = (at + 1).checked_add_signed(isize::try_from(by).ok()?)?;
            match *program.ops.get(behind)? {
                Op::End => break,
                Op::Jump(by) if regexes.len() < MOST_RULES => {
                    at = behind.checked_add_signed(isize::try_from(by).ok()?)?;
                }
                _ => return None,
            }
        }
        Some(Self {
            action: (regexes.len() == 1).then_some(first + 2),
            regexes,
            tries: 0,
            passed: 0,
            pause: 0,
        })
    }

    /// Tells whether to look now.
    fn due(&mut self) -> bool {
        if self.pause > 0 {
            self.pause -= 1;
            return false;
        }
        self.tries += 1;
        if self.tries > TRIES {
            if self.passed < TRIES * 2 {
                self.pause = PAUSE;
            }
            self.tries = 0;
            self.passed = 0;
        }
        true
    }
}

impl Vm<'_> {
    /// Passes over lines that no rule is for, as far as they are in the buffer.
    #[inline]
    pub(super) fn sift(&mut self) -> Ran<Next> {
        match (&self.sift, &self.separator) {
            (Some(_), Separator::Byte(b'\n')) => self.pass_over(),
            _ => Ok(Next::Unknown),
        }
    }

    fn pass_over(&mut self) -> Ran<Next> {
        let (Some(sift), Some(reader)) = (&mut self.sift, &mut self.input.reader) else {
            return Ok(Next::Unknown);
        };
        if !sift.due() {
            return Ok(Next::Unknown);
        }
        let (patterns, texts) = (&mut self.patterns, &self.program.regexes);
        let Some(regex) = patterns.lines(self.sys, &sift.regexes, texts)? else {
            self.sift = None;
            return Ok(Next::Unknown);
        };
        match reader.pass(self.sys, &regex) {
            Ok((lines, matches)) => {
                sift.passed = sift.passed.saturating_add(lines);
                self.specials.nr += f64::from(lines);
                self.specials.fnr += f64::from(lines);
                Ok(if matches {
                    Next::Matches
                } else {
                    Next::Unknown
                })
            }
            Err(ReadError::Stop(stop)) => Err(stop.into()),
            // The rules themselves will say what is wrong.
            Err(_) => Ok(Next::Unknown),
        }
    }

    /// Returns where to begin with a record.
    #[inline]
    pub(super) fn entry(&self, main: usize, next: Next) -> usize {
        match (next, &self.sift) {
            (Next::Matches, Some(sift)) => sift.action.unwrap_or(main),
            _ => main,
        }
    }
}

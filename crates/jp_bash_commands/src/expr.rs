//! `expr`: arithmetic, comparison and matching of its arguments.

use std::cmp::Ordering;

use jp_bash_regex::{Flags, Flavor, Regex};
use jp_bash_system::{Stop, System};

use super::Spec;
use super::file::Cmd;

/// The command.
pub(crate) const SPEC: Spec = Spec {
    name: "expr",
    about: "Evaluates an expression and prints the result.",
    run,
    options: &[],
};

/// Parentheses within parentheses, at most.
const MAX_DEPTH: u32 = 200;

/// Why there is no result.
enum Fault {
    /// A usage error: the message.
    Message(Vec<u8>),
    Stop(Stop),
}

impl From<Stop> for Fault {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

type Answer = Result<Vec<u8>, Fault>;

struct Reader<'a> {
    sys: &'a mut dyn System,
    words: &'a [Vec<u8>],
    at: usize,
    depth: u32,
    utf8: bool,
}

/// Runs `expr`: status 1 if the result is empty or 0.
pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    cmd.failure = 2;
    let mut words = args.get(1..).unwrap_or_default();
    if words.first().map(Vec::as_slice) == Some(b"--") {
        words = words.get(1..).unwrap_or_default();
    }
    if words.is_empty() {
        return cmd.usage(&[b"missing operand"]);
    }
    let utf8 = cmd.sys.utf8();
    let mut reader = Reader {
        sys: &mut *cmd.sys,
        words,
        at: 0,
        depth: 0,
        utf8,
    };
    let value = reader.or(true);
    let left = reader.here().map(<[u8]>::to_vec);
    let answer = value.and_then(|value| match left {
        None => Ok(value),
        Some(word) => {
            let shown = cmd.quote(&word);
            Err(Fault::Message(
                [&b"syntax error: unexpected argument "[..], &shown].concat(),
            ))
        }
    });
    match answer {
        Ok(value) => {
            cmd.status = i32::from(is_null(&value));
            cmd.put(&value)?;
            cmd.put(b"\n")?;
        }
        Err(Fault::Message(message)) => cmd.error(&[&message])?,
        Err(Fault::Stop(stop)) => return Err(stop),
    }
    cmd.finish()
}

fn is_null(value: &[u8]) -> bool {
    value.is_empty() || number(value) == Some(0)
}

fn number(text: &[u8]) -> Option<i128> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn fault(text: &[u8]) -> Fault {
    Fault::Message(text.to_vec())
}

impl Reader<'_> {
    fn here(&self) -> Option<&[u8]> {
        self.words.get(self.at).map(Vec::as_slice)
    }

    /// Passes one of these words.
    fn take(&mut self, wanted: &[&[u8]]) -> Option<Vec<u8>> {
        let word = self.here()?;
        if !wanted.contains(&word) {
            return None;
        }
        let word = word.to_vec();
        self.at += 1;
        Some(word)
    }

    /// `live` is false where the result is not needed: then nothing is computed, as in `1 | 1 / 0`.
    fn or(&mut self, live: bool) -> Answer {
        let mut left = self.and(live)?;
        while self.take(&[b"|"]).is_some() {
            let null = is_null(&left);
            let right = self.and(live && null)?;
            if null {
                left = if is_null(&right) {
                    b"0".to_vec()
                } else {
                    right
                };
            }
        }
        Ok(left)
    }

    fn and(&mut self, live: bool) -> Answer {
        let mut left = self.compare(live)?;
        while self.take(&[b"&"]).is_some() {
            let null = is_null(&left);
            let right = self.compare(live && !null)?;
            if null || is_null(&right) {
                left = b"0".to_vec();
            }
        }
        Ok(left)
    }

    fn compare(&mut self, live: bool) -> Answer {
        let mut left = self.sum(live)?;
        while let Some(op) = self.take(&[b"<", b"<=", b"=", b"==", b"!=", b">=", b">"]) {
            let right = self.sum(live)?;
            let order = match (number(&left), number(&right)) {
                (Some(left), Some(right)) => left.cmp(&right),
                _ => left.cmp(&right),
            };
            let holds = match op.as_slice() {
                b"<" => order == Ordering::Less,
                b"<=" => order != Ordering::Greater,
                b"!=" => order != Ordering::Equal,
                b">=" => order != Ordering::Less,
                b">" => order == Ordering::Greater,
                _ => order == Ordering::Equal,
            };
            left = if holds { b"1".to_vec() } else { b"0".to_vec() };
        }
        Ok(left)
    }

    fn sum(&mut self, live: bool) -> Answer {
        let mut left = self.product(live)?;
        while let Some(op) = self.take(&[b"+", b"-"]) {
            let right = self.product(live)?;
            left = calculate(live, &op, left, &right)?;
        }
        Ok(left)
    }

    fn product(&mut self, live: bool) -> Answer {
        let mut left = self.matching(live)?;
        while let Some(op) = self.take(&[b"*", b"/", b"%"]) {
            let right = self.matching(live)?;
            left = calculate(live, &op, left, &right)?;
        }
        Ok(left)
    }

    fn matching(&mut self, live: bool) -> Answer {
        let mut left = self.primary(live)?;
        while self.take(&[b":"]).is_some() {
            let pattern = self.primary(live)?;
            if live {
                left = self.matched(&left, &pattern)?;
            }
        }
        Ok(left)
    }

    fn primary(&mut self, live: bool) -> Answer {
        let Some(word) = self.here().map(<[u8]>::to_vec) else {
            let before = self
                .words
                .get(self.at.wrapping_sub(1))
                .cloned()
                .unwrap_or_default();
            let shown = super::quote::quote(self.utf8, &before);
            return Err(Fault::Message(
                [&b"syntax error: missing argument after "[..], &shown].concat(),
            ));
        };
        self.at += 1;
        match word.as_slice() {
            b"(" => {
                self.depth += 1;
                if self.depth > MAX_DEPTH {
                    return Err(fault(b"expression is nested too deeply"));
                }
                let value = self.or(live)?;
                self.depth -= 1;
                if self.take(&[b")"]).is_none() {
                    let message = match self.here() {
                        Some(word) => [
                            &b"syntax error: expecting ')' instead of "[..],
                            &super::quote::quote(self.utf8, word),
                        ]
                        .concat(),
                        None => {
                            let last = self.words.last().cloned().unwrap_or_default();
                            let shown = super::quote::quote(self.utf8, &last);
                            [&b"syntax error: expecting ')' after "[..], &shown].concat()
                        }
                    };
                    return Err(Fault::Message(message));
                }
                Ok(value)
            }
            b")" => Err(fault(b"syntax error: unexpected ')'")),
            b"+" if self.here().is_some() => {
                let word = self.here().unwrap_or_default().to_vec();
                self.at += 1;
                Ok(word)
            }
            b"length" if self.here().is_some() => {
                let text = self.primary(live)?;
                Ok(self.characters(&text).to_string().into_bytes())
            }
            b"match" if self.here().is_some() => {
                let text = self.primary(live)?;
                let pattern = self.primary(live)?;
                self.matched(&text, &pattern)
            }
            b"index" if self.here().is_some() => {
                let text = self.primary(live)?;
                let set = self.primary(live)?;
                Ok(self.index(&text, &set).to_string().into_bytes())
            }
            b"substr" if self.here().is_some() => {
                let text = self.primary(live)?;
                let from = self.primary(live)?;
                let length = self.primary(live)?;
                Ok(self.substring(&text, &from, &length))
            }
            _ => Ok(word),
        }
    }

    /// Splits a text into characters.
    fn split<'t>(&self, text: &'t [u8]) -> Vec<&'t [u8]> {
        let mut out = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let length = if self.utf8 {
                super::quote::first_char(rest).map_or(1, |(_, length)| length)
            } else {
                1
            };
            let (one, more) = rest.split_at_checked(length).unwrap_or((rest, b""));
            out.push(one);
            rest = more;
        }
        out
    }

    fn characters(&self, text: &[u8]) -> usize {
        self.split(text).len()
    }

    fn index(&self, text: &[u8], set: &[u8]) -> usize {
        let set = self.split(set);
        let found = self.split(text).iter().position(|one| set.contains(one));
        found.map_or(0, |at| at + 1)
    }

    fn substring(&self, text: &[u8], from: &[u8], length: &[u8]) -> Vec<u8> {
        let count = |text: &[u8]| {
            number(text)
                .filter(|n| *n > 0)
                .map(|n| usize::try_from(n).unwrap_or(usize::MAX))
        };
        let (Some(from), Some(length)) = (count(from), count(length)) else {
            return Vec::new();
        };
        self.split(text)
            .into_iter()
            .skip(from - 1)
            .take(length)
            .flatten()
            .copied()
            .collect()
    }

    /// `text : pattern`, anchored at the start: the group, or the length of the match.
    fn matched(&mut self, text: &[u8], pattern: &[u8]) -> Answer {
        let flags = Flags {
            utf8: self.utf8,
            ..Flags::default()
        };
        // `^` is put before, in a way that leaves alternatives and groups as they are.
        let pattern = pattern.strip_prefix(b"^").unwrap_or(pattern);
        let anchored = [b"^", pattern].concat();
        let regex = Regex::new(self.sys, &anchored, Flavor::Basic, flags)
            .map_err(Fault::Stop)?
            .map_err(|error| Fault::Message(error.to_string().into_bytes()))?;
        let mut groups = Vec::new();
        let found = regex
            .captures_at(self.sys, text, 0, &mut groups)
            .map_err(|error| Fault::Stop(error.into_stop()))?;
        let span = |group: Option<&Option<(usize, usize)>>| {
            let (from, to) = (*group?)?;
            text.get(from..to)
        };
        if regex.group_count() > 0 {
            return Ok(span(groups.get(1))
                .filter(|_| found)
                .unwrap_or_default()
                .to_vec());
        }
        let length = span(groups.first())
            .filter(|_| found)
            .map_or(0, |text| self.characters(text));
        Ok(length.to_string().into_bytes())
    }
}

fn calculate(live: bool, op: &[u8], left: Vec<u8>, right: &[u8]) -> Answer {
    if !live {
        return Ok(left);
    }
    let (Some(a), Some(b)) = (number(&left), number(right)) else {
        return Err(fault(b"non-integer argument"));
    };
    let result = match op {
        b"+" => a.checked_add(b),
        b"-" => a.checked_sub(b),
        b"*" => a.checked_mul(b),
        _ if b == 0 => return Err(fault(b"division by zero")),
        b"/" => a.checked_div(b),
        _ => a.checked_rem(b),
    };
    let result = result.ok_or_else(|| fault(b"the number is too large"))?;
    Ok(result.to_string().into_bytes())
}

//! The arguments of single tests and actions.

use jp_bash_regex::{Flags, Flavor, Regex};
use jp_bash_system::{FileKind, Follow, OpenHow, Timestamp, failed};

use super::{Bad, Parsed, Parser, Syntax, bad};
use crate::date_text;
use crate::date_zone::Zone;
use crate::file::mode::parse_mode;
use crate::find::expr::{Count, Exec, Expr, Perm, Sink, Which};

impl<'a> Parser<'a, '_> {
    pub(super) fn regex(&mut self, name: &[u8], ignore_case: bool) -> Parsed<Expr> {
        let pattern = self.argument(name)?;
        let (flavor, pattern) = match self.syntax {
            Syntax::Emacs => (Flavor::Basic, from_emacs(pattern)),
            Syntax::Basic => (Flavor::Basic, pattern.to_vec()),
            Syntax::Extended => (Flavor::Extended, pattern.to_vec()),
        };
        let flags = Flags {
            ignore_case,
            utf8: self.cmd.sys.utf8(),
            ..Flags::default()
        };
        match Regex::new(self.cmd.sys, &pattern, flavor, flags)? {
            Ok(regex) => Ok(Expr::Regex(Box::new(regex))),
            Err(error) => bad(&[
                b"failed to compile regular expression '",
                &pattern,
                b"': ",
                error.to_string().as_bytes(),
            ]),
        }
    }

    pub(super) fn kinds(&mut self, name: &[u8]) -> Parsed<Vec<FileKind>> {
        let text = self.argument(name)?;
        if text.is_empty() {
            return bad(&[
                b"Arguments to ",
                name,
                b" should contain at least one letter",
            ]);
        }
        let mut kinds = Vec::new();
        let mut rest = text;
        while let Some((&letter, tail)) = rest.split_first() {
            match letter {
                b'f' => kinds.push(FileKind::Regular),
                b'd' => kinds.push(FileKind::Directory),
                b'l' => kinds.push(FileKind::Symlink),
                b'p' => kinds.push(FileKind::Fifo),
                b'c' => kinds.push(FileKind::CharDevice),
                // Kinds that a session cannot have.
                b'b' | b's' => {}
                b'D' => {
                    return bad(&[name, b" D is not supported because Solaris doors are not supported on the platform find was compiled on."]);
                }
                other => return bad(&[b"Unknown argument to ", name, b": ", &[other]]),
            }
            rest = match tail {
                [] => tail,
                [b','] => {
                    return bad(&[
                        b"Last file type in list argument to ",
                        name,
                        b" is missing, i.e., list is ending on: ','",
                    ]);
                }
                [b',', more @ ..] => more,
                _ => {
                    return bad(&[
                        b"Must separate multiple arguments to ",
                        name,
                        b" using: ','",
                    ]);
                }
            };
        }
        Ok(kinds)
    }

    pub(super) fn size(&mut self, name: &[u8]) -> Parsed<Expr> {
        let text = self.argument(name)?;
        let (digits, unit) = match text.split_last() {
            None => return bad(&[b"invalid null argument to -size"]),
            Some((b'c', digits)) => (digits, 1),
            Some((b'w', digits)) => (digits, 2),
            Some((b'b', digits)) => (digits, 512),
            Some((b'k', digits)) => (digits, 1 << 10),
            Some((b'M', digits)) => (digits, 1 << 20),
            Some((b'G', digits)) => (digits, 1 << 30),
            Some((b'0'..=b'9', _)) => (text, 512),
            Some((letter, _)) => return bad(&[b"invalid -size type `", &[*letter], b"'"]),
        };
        match count(digits) {
            Some(count) => Ok(Expr::Size { count, unit }),
            None => bad(&[b"Invalid argument `", text, b"' to -size"]),
        }
    }

    pub(super) fn perm(&mut self, name: &[u8]) -> Parsed<Expr> {
        let text = self.argument(name)?;
        let (how, digits) = match text.split_first() {
            Some((b'-', rest)) => (Perm::All, rest),
            Some((b'/', rest)) => (Perm::Any, rest),
            _ => (Perm::Exactly, text),
        };
        match parse_mode(digits) {
            Some(mode) => Ok(Expr::Perm { mode, how }),
            None => {
                let text = self.cmd.quote(text);
                bad(&[b"invalid mode ", &text])
            }
        }
    }

    pub(super) fn owner(&mut self, name: &[u8]) -> Parsed<Expr> {
        let text = self.argument(name)?;
        let is_user = name == b"-user";
        let id = match text {
            b"root" => Some(0),
            text if text == self.cmd.sys.user() && is_user => Some(self.cmd.sys.uid()),
            text if text == self.cmd.sys.user() => Some(self.cmd.sys.gid()),
            text => number(text).and_then(|number| u32::try_from(number).ok()),
        };
        match id {
            Some(id) if is_user => Ok(Expr::User(Count::Exactly(i128::from(id)))),
            Some(id) => Ok(Expr::Group(Count::Exactly(i128::from(id)))),
            None => {
                let text = self.cmd.quote(text);
                let what: &[u8] = if is_user { b"user" } else { b"group" };
                bad(&[&text, b" is not the name of a known ", what])
            }
        }
    }

    pub(super) fn count(&mut self, name: &[u8]) -> Parsed<Count> {
        let text = self.argument(name)?;
        match count(text) {
            Some(count) => Ok(count),
            None => bad(&[b"invalid argument `", text, b"' to `", name, b"'"]),
        }
    }

    pub(super) fn time_test(&mut self, name: &'a [u8]) -> Parsed<Option<Expr>> {
        let which = |letter: u8| match letter {
            b'a' => Some(Which::Access),
            b'B' => Some(Which::Birth),
            b'c' => Some(Which::Change),
            b'm' => Some(Which::Modify),
            _ => None,
        };
        match name {
            b"-newer" | b"-anewer" | b"-cnewer" => {
                let path = self.argument(name)?;
                let than = self.stat(path)?.mtime;
                let which = match name.get(1) {
                    Some(b'a') => Which::Access,
                    Some(b'c') => Which::Change,
                    _ => Which::Modify,
                };
                return Ok(Some(Expr::Newer { which, than }));
            }
            b"-used" => {
                let text = self.argument(name)?;
                return match count(text) {
                    Some(count) => Ok(Some(Expr::Used(count))),
                    None => bad(&[b"Invalid argument ", text, b" to -used"]),
                };
            }
            _ => {}
        }
        if let Some([x, y]) = name.strip_prefix(b"-newer") {
            let Some(first) = which(*x) else {
                return Ok(None);
            };
            let value = self.argument(name)?;
            let than = if *y == b't' {
                let zone = Zone::from_variable(self.cmd.sys.env(b"TZ").as_deref());
                match date_text::parse(value, self.now, &zone) {
                    Some(time) => time,
                    None => {
                        let value = self.cmd.quote(value);
                        return bad(&[
                            b"I cannot figure out how to interpret ",
                            &value,
                            b" as a date or time",
                        ]);
                    }
                }
            } else {
                let Some(second) = which(*y) else {
                    return Ok(None);
                };
                second.of(&self.stat(value)?)
            };
            return Ok(Some(Expr::Newer { which: first, than }));
        }
        let (Some(first), Some(unit)) = (name.get(1).copied().and_then(which), name.get(2..))
        else {
            return Ok(None);
        };
        let unit = match unit {
            b"time" => 86_400,
            b"min" => 60,
            _ => return Ok(None),
        };
        let text = self.argument(name)?;
        match age(text, unit, self.now) {
            Some(count) => Ok(Some(Expr::Age {
                which: first,
                count,
                unit,
            })),
            None => bad(&[b"invalid argument `", text, b"' to `", name, b"'"]),
        }
    }

    pub(super) fn stat(&mut self, path: &[u8]) -> Parsed<jp_bash_system::Stat> {
        let follow = if self.plan.follow {
            Follow::Yes
        } else {
            Follow::No
        };
        match failed(self.cmd.sys.stat(path, follow)).map_err(Bad::Stop)? {
            Ok(stat) => Ok(stat),
            Err(errno) => {
                let name = self.cmd.quote(path);
                bad(&[&name, b": ", errno.text().as_bytes()])
            }
        }
    }

    pub(super) fn action(&mut self, name: &'a [u8]) -> Parsed<Option<Expr>> {
        let expr = match name {
            b"-print" => Expr::Print {
                sink: 0,
                end: b'\n',
            },
            b"-print0" => Expr::Print { sink: 0, end: 0 },
            b"-fprint" | b"-fprint0" => Expr::Print {
                sink: self.sink(name)?,
                end: if name == b"-fprint" { b'\n' } else { 0 },
            },
            b"-printf" => Expr::Printf {
                sink: 0,
                format: self.argument(name)?.to_vec(),
            },
            b"-fprintf" => Expr::Printf {
                sink: self.sink(name)?,
                format: self.argument(name)?.to_vec(),
            },
            b"-ls" => Expr::Ls(0),
            b"-fls" => Expr::Ls(self.sink(name)?),
            b"-delete" => {
                self.plan.depth_first = true;
                Expr::Delete
            }
            b"-prune" => return Ok(Some(Expr::Prune)),
            b"-quit" => Expr::Quit,
            b"-exec" | b"-execdir" => Expr::Exec(self.exec(name)?),
            b"-ok" | b"-okdir" => {
                self.argument(name)?;
                return bad(&[name, b" is not supported: nobody is there to be asked"]);
            }
            _ => return Ok(None),
        };
        // `-quit` alone still prints what came before it.
        if !matches!(expr, Expr::Quit) {
            self.has_action = true;
        }
        Ok(Some(expr))
    }

    pub(super) fn sink(&mut self, name: &[u8]) -> Parsed<Sink> {
        let path = self.argument(name)?;
        if let Some(known) = self.sink_names.iter().position(|known| known == path) {
            return Ok(known);
        }
        match failed(self.cmd.sys.open(path, OpenHow::WRITE)).map_err(Bad::Stop)? {
            Ok(fd) => {
                self.plan.sinks.push(fd);
                self.sink_names.push(path.to_vec());
                Ok(self.plan.sinks.len() - 1)
            }
            Err(errno) => {
                let path = self.cmd.quote(path);
                bad(&[&path, b": ", errno.text().as_bytes()])
            }
        }
    }

    pub(super) fn exec(&mut self, name: &[u8]) -> Parsed<Exec> {
        let mut words: Vec<Vec<u8>> = Vec::new();
        loop {
            let Some(word) = self.peek() else {
                return bad(&[b"missing argument to `", name, b"'"]);
            };
            self.at += 1;
            let batch = word == b"+" && words.last().is_some_and(|last| last == b"{}");
            if batch {
                words.pop();
                if words
                    .iter()
                    .any(|word| word.windows(2).any(|pair| pair == b"{}"))
                {
                    return bad(&[
                        b"only one instance of {} is supported with ",
                        name,
                        b" ... +",
                    ]);
                }
            }
            if batch || word == b";" {
                if words.is_empty() {
                    return bad(&[b"invalid argument `", word, b"' to `", name, b"'"]);
                }
                let batch = batch.then(|| {
                    self.plan.batches += 1;
                    self.plan.batches - 1
                });
                return Ok(Exec {
                    words,
                    in_dir: name == b"-execdir",
                    batch,
                });
            }
            words.push(word.to_vec());
        }
    }
}

pub(super) fn number(text: &[u8]) -> Option<usize> {
    let digits = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(text)
        .ok()?
        .parse()
        .ok()
        .filter(|_| digits)
}

pub(super) fn count(text: &[u8]) -> Option<Count> {
    let (make, digits): (fn(i128) -> Count, &[u8]) = match text.split_first()? {
        (b'+', rest) => (Count::More, rest),
        (b'-', rest) => (Count::Less, rest),
        _ => (Count::Exactly, text),
    };
    let number = number(digits)?;
    Some(make(i128::try_from(number).ok()?))
}

/// Reads `-mtime` and `-mmin`: the bounds are moments in nanoseconds, compared with a file's time.
pub(super) fn age(text: &[u8], unit: i64, now: Timestamp) -> Option<Count> {
    let (sign, digits) = match text.split_first()? {
        (b'+', rest) => (b'+', rest),
        (b'-', rest) => (b'-', rest),
        _ => (b'=', text),
    };
    let text = std::str::from_utf8(digits).ok()?;
    if !text.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let nanos: String = fraction
        .chars()
        .chain("000000000".chars())
        .take(9)
        .collect();
    let whole: i128 = if whole.is_empty() {
        0
    } else {
        whole.parse().ok()?
    };
    let units = whole
        .checked_mul(1_000_000_000)?
        .checked_add(nanos.parse().ok()?)?;
    let span = units.checked_mul(i128::from(unit))?;
    let now = i128::from(now.secs) * 1_000_000_000 + i128::from(now.nanos);
    let bound = now.checked_sub(span)?;
    Some(match sign {
        b'+' => Count::More(bound),
        b'-' => Count::Less(bound),
        _ => Count::Exactly(bound),
    })
}

/// Turns an Emacs pattern into a basic one of GNU: there `+` and `?` need a backslash to be special.
pub(super) fn from_emacs(pattern: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(pattern.len() + 8);
    let mut rest = pattern;
    let mut start = true;
    while let Some((&b, tail)) = rest.split_first() {
        rest = tail;
        match (b, tail.first()) {
            (b'\\', Some(next @ (b'+' | b'?'))) => {
                out.push(*next);
                rest = tail.get(1..).unwrap_or_default();
            }
            (b'\\', Some(next)) => {
                out.extend_from_slice(&[b, *next]);
                rest = tail.get(1..).unwrap_or_default();
                start = matches!(next, b'(' | b'|');
                continue;
            }
            (b'+' | b'?', _) if !start => out.extend_from_slice(&[b'\\', b]),
            (b'[', _) => {
                // A bracket is copied whole: nothing in it is an operator.
                let skip = 1 + usize::from(tail.first() == Some(&b'^'));
                let end = tail.iter().skip(skip).position(|b| *b == b']');
                let len = end.map_or(0, |at| at + skip + 1);
                out.push(b);
                out.extend_from_slice(tail.get(..len).unwrap_or_default());
                rest = tail.get(len..).unwrap_or_default();
            }
            _ => out.push(b),
        }
        start = false;
    }
    out
}

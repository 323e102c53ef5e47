//! `[[ ]]`, and the file and text tests it shares with `test`.

use jp_bash_regex::{Flags, Flavor, MatchError, RegexError};
use jp_bash_syntax::ast::{Test, TestOp, Word};
use jp_bash_system::{FileKind, Follow, Limit, Stat, Stop, System, failed};

use crate::Shell;
use crate::flow::Flow;
use crate::options::{self, Opt};
use crate::vars::subscript::{Key, split_target};
use crate::vars::{Attrs, Bytes, Value, known};

impl Shell<'_> {
    /// Evaluates `[[ … ]]`.
    pub(crate) fn test_expr(&mut self, test: &Test) -> Result<bool, Flow> {
        match test {
            Test::Word(word) => {
                let text = self.expand_one(word)?;
                self.trace_test(&[b"-n", &text])?;
                Ok(!text.is_empty())
            }
            Test::Unary(letter, word) => {
                let text = self.expand_one(word)?;
                self.trace_test(&[&[b'-', *letter], &text])?;
                self.test_unary(*letter, &text)
            }
            Test::Binary(op, left, right) => self.test_binary(*op, left, right),
            Test::Not(test) => {
                if self.options.has(Opt::XTrace) {
                    self.trace_not =
                        matches!(**test, Test::Word(_) | Test::Unary(..) | Test::Binary(..));
                }
                Ok(!self.test_expr(test)?)
            }
            Test::And(left, right) => Ok(self.test_expr(left)? && self.test_expr(right)?),
            Test::Or(left, right) => Ok(self.test_expr(left)? || self.test_expr(right)?),
        }
    }

    fn test_binary(&mut self, op: TestOp, left: &Word, right: &Word) -> Result<bool, Flow> {
        let text = self.expand_one(left)?;
        match op {
            TestOp::Match | TestOp::Equals | TestOp::NoMatch => {
                if self.options.has(Opt::XTrace) {
                    let shown = self.pattern_text(right)?;
                    self.trace_test(&[&text, op.text(), &shown])?;
                }
                let pattern = self.expand_pattern_for_test(right)?;
                let found = pattern.matches(&text, &self.kernel.budget)?;
                Ok(found != (op == TestOp::NoMatch))
            }
            TestOp::Regex => {
                let regex = self.expand_regex(right)?;
                self.trace_test(&[&text, b"=~", &regex])?;
                self.test_regex(&text, &regex)
            }
            TestOp::Before | TestOp::After => {
                let other = self.expand_one(right)?;
                self.trace_test(&[&text, op.text(), &other])?;
                Ok(if op == TestOp::Before {
                    text < other
                } else {
                    text > other
                })
            }
            TestOp::NewerThan | TestOp::OlderThan | TestOp::SameFile => {
                let other = self.expand_one(right)?;
                self.trace_test(&[&text, op.text(), &other])?;
                self.test_files(op, &text, &other)
            }
            _ => {
                let other = self.expand_one(right)?;
                self.trace_test(&[&text, op.text(), &other])?;
                let left = self.arith_text_as(&text, b"[[: ");
                let right = left.and_then(|left| {
                    let right = self.arith_text_as(&other, b"[[: ")?;
                    Ok(compare(op, left, right))
                });
                match right {
                    // The message is printed; the test is only false.
                    Err(Flow::Abandon(_)) => Ok(false),
                    answer => answer,
                }
            }
        }
    }

    fn test_regex(&mut self, text: &[u8], pattern: &[u8]) -> Result<bool, Flow> {
        let flags = Flags {
            ignore_case: self.options.has(Opt::NoCaseMatch),
            utf8: self.utf8(),
            ..Flags::default()
        };
        let mut groups = Vec::new();
        let mut budget = &*self.kernel.budget;
        budget.work(1)?;
        let cache = &mut self.vars.regexes;
        let answer = match cache.get(&mut budget, pattern, Flavor::Extended, flags) {
            Ok(Ok(regex)) => Ok(regex
                .captures_at(&mut budget, text, 0, &mut groups)
                .map(|found| (found, regex.group_count() + 1))),
            Ok(Err(error)) => Err(Ok(error)),
            Err(stop) => Err(Err(stop)),
        };
        cache.settle(&mut budget);
        let (found, count) = match answer {
            Ok(answer) => answer.map_err(MatchError::into_stop)?,
            Err(Err(stop)) => return Err(stop.into()),
            // A count beyond RE_DUP_MAX is refused by the C library too.
            Err(Ok(RegexError::TooBig)) if pattern.len() > 4096 => {
                return Err(Stop::Limit(Limit::Memory).into());
            }
            Err(Ok(RegexError::TooBig)) => {
                self.complain(b"[[: the regular expression is too big")?;
                return Err(Flow::Abandon(2));
            }
            // Status 2, without a message, as in bash 5.2.
            Err(Ok(_)) => return Err(Flow::Abandon(2)),
        };
        let mut texts = Vec::with_capacity(count);
        if found {
            groups.resize(count, None);
            texts.extend(groups.iter().map(|group| {
                let (start, end) = group.unwrap_or((0, 0));
                Bytes::from(text.get(start..end).unwrap_or_default())
            }));
        }
        let _ = self.set_array(known::BASH_REMATCH, texts)?;
        Ok(found)
    }

    /// Evaluates a unary test on a text that was expanded.
    pub(crate) fn test_unary(&mut self, letter: u8, text: &[u8]) -> Result<bool, Flow> {
        match letter {
            b'n' => Ok(!text.is_empty()),
            b'z' => Ok(text.is_empty()),
            b'v' => self.test_variable(text),
            b'R' => {
                let name = self.intern(text)?;
                Ok(self
                    .vars
                    .get(name)
                    .is_some_and(|var| var.attrs.has(Attrs::NAMEREF) && var.text().is_some()))
            }
            b'o' => Ok(options::by_set_name(text).is_some_and(|opt| self.options.has(opt))),
            b't' => {
                let fd = std::str::from_utf8(text)
                    .ok()
                    .and_then(|t| t.trim().parse().ok());
                Ok(fd.is_some_and(|fd| self.is_tty(fd)))
            }
            b'r' => Ok(failed(self.access(text, 4))?.is_ok()),
            b'w' => Ok(failed(self.access(text, 2))?.is_ok()),
            b'x' => Ok(failed(self.access(text, 1))?.is_ok()),
            b'h' | b'L' => Ok(self
                .stat_of(text, Follow::No)?
                .is_some_and(|stat| stat.kind == FileKind::Symlink)),
            _ => {
                let stat = self.stat_of(text, Follow::Yes)?;
                Ok(stat.is_some_and(|stat| self.test_stat(letter, &stat)))
            }
        }
    }

    fn stat_of(&mut self, path: &[u8], follow: Follow) -> Result<Option<Stat>, Stop> {
        if path.is_empty() {
            return Ok(None);
        }
        Ok(failed(self.stat(path, follow))?.ok())
    }

    fn test_stat(&self, letter: u8, stat: &Stat) -> bool {
        match letter {
            b'a' | b'e' => true,
            b'f' => stat.kind == FileKind::Regular,
            b'd' => stat.kind == FileKind::Directory,
            b'c' => stat.kind == FileKind::CharDevice,
            b'p' => stat.kind == FileKind::Fifo,
            b's' => stat.size > 0,
            b'u' => stat.mode & 0o4000 != 0,
            b'g' => stat.mode & 0o2000 != 0,
            b'k' => stat.mode & 0o1000 != 0,
            b'O' => stat.uid == self.uid(),
            b'G' => stat.gid == self.gid(),
            b'N' => stat.mtime > stat.atime,
            // No block devices and no sockets here.
            _ => false,
        }
    }

    /// `-nt`, `-ot`, `-ef`
    pub(crate) fn test_files(
        &mut self,
        op: TestOp,
        left: &[u8],
        right: &[u8],
    ) -> Result<bool, Flow> {
        let left = self.stat_of(left, Follow::Yes)?;
        let right = self.stat_of(right, Follow::Yes)?;
        Ok(match (op, left, right) {
            (TestOp::SameFile, Some(left), Some(right)) => {
                (left.dev, left.ino) == (right.dev, right.ino)
            }
            (TestOp::NewerThan, Some(left), Some(right)) => left.mtime > right.mtime,
            (TestOp::NewerThan, Some(_), None) => true,
            (TestOp::OlderThan, Some(left), Some(right)) => left.mtime < right.mtime,
            (TestOp::OlderThan, None, Some(_)) => true,
            _ => false,
        })
    }

    /// `-v name`, `-v name[subscript]`, `-v 1`
    fn test_variable(&mut self, text: &[u8]) -> Result<bool, Flow> {
        if !text.is_empty() && text.iter().all(u8::is_ascii_digit) {
            let n: Option<usize> = std::str::from_utf8(text).ok().and_then(|t| t.parse().ok());
            return Ok(n.is_some_and(|n| n == 0 || self.args.get(n).is_some()));
        }
        let Some((name, subscript)) = split_target(text) else {
            return Ok(false);
        };
        let name = self.intern(name)?;
        let place = self.resolve(name)?;
        let Some(subscript) = subscript else {
            return Ok(self.place_text(&place)?.is_some());
        };
        let key = self.key_of_text(place.name, subscript)?;
        if matches!(key, Key::At | Key::Star) {
            let value = self.value_of(place.name)?;
            return Ok(match value {
                Value::Assoc(array) => array.get(subscript).is_some() || array.len() > 0,
                Value::Indexed(array) => array.len() > 0,
                Value::Scalar(_) => true,
                Value::None => false,
            });
        }
        Ok(self.read_key(place.name, &key)?.is_some())
    }

    fn expand_pattern_for_test(
        &mut self,
        word: &Word,
    ) -> Result<std::rc::Rc<crate::pattern::Pattern>, Flow> {
        // Extended patterns always count within `[[ ]]`.
        let mut options = self.pattern_options();
        options.extglob = true;
        self.compiled(word, options)
    }
}

/// Compares numbers.
pub(crate) fn compare(op: TestOp, left: i64, right: i64) -> bool {
    match op {
        TestOp::Eq => left == right,
        TestOp::Ne => left != right,
        TestOp::Lt => left < right,
        TestOp::Le => left <= right,
        TestOp::Gt => left > right,
        TestOp::Ge => left >= right,
        _ => false,
    }
}

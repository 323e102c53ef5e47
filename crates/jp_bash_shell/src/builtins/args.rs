//! Options of builtins, as bash's own `getopt` reads them.

use crate::Shell;
use crate::flow::Flow;

/// Reads options one letter at a time; stops at the first operand.
pub(super) struct Getopt<'a> {
    args: &'a [Vec<u8>],
    /// Letters; one followed by `:` takes an argument, by `;` an optional one.
    letters: &'a [u8],
    next: usize,
    at: usize,
    plus: bool,
}

/// One option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Given<'a> {
    pub(super) letter: u8,
    pub(super) value: Option<&'a [u8]>,
    /// Written with `+`.
    pub(super) plus: bool,
}

/// Why reading stopped early.
pub(super) enum Bad {
    Unknown(u8, bool),
    Missing(u8),
}

impl<'a> Getopt<'a> {
    pub(super) fn new(args: &'a [Vec<u8>], letters: &'a str) -> Self {
        Self {
            args,
            letters: letters.as_bytes(),
            next: 1,
            at: 0,
            plus: false,
        }
    }

    /// Returns the next option; nothing at the first operand.
    pub(super) fn next(&mut self) -> Result<Option<Given<'a>>, Bad> {
        if self.at == 0 {
            let Some(arg) = self.args.get(self.next) else {
                return Ok(None);
            };
            let plus_ok = self.letters.first() == Some(&b'+');
            match arg.as_slice() {
                b"--" => {
                    self.next += 1;
                    return Ok(None);
                }
                [b'-', _, ..] => self.plus = false,
                [b'+', _, ..] if plus_ok => self.plus = true,
                _ => return Ok(None),
            }
            self.at = 1;
        }
        let arg = self.args.get(self.next).map_or(&b""[..], Vec::as_slice);
        let letter = arg.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        let known = self
            .letters
            .iter()
            .position(|known| *known == letter && !matches!(letter, b':' | b';' | b'+'));
        let Some(known) = known else {
            return Err(Bad::Unknown(letter, self.plus));
        };
        let takes = self.letters.get(known + 1).copied();
        let rest = arg.get(self.at..).unwrap_or_default();
        let mut value = None;
        if matches!(takes, Some(b':' | b';')) {
            if !rest.is_empty() {
                value = Some(rest);
                self.step();
            } else {
                self.step();
                if takes == Some(b':')
                    || self
                        .args
                        .get(self.next)
                        .is_some_and(|arg| !arg.starts_with(b"-"))
                {
                    let given = self.args.get(self.next).ok_or(Bad::Missing(letter))?;
                    value = Some(given.as_slice());
                    self.next += 1;
                }
            }
        } else if rest.is_empty() {
            self.step();
        }
        Ok(Some(Given {
            letter,
            value,
            plus: self.plus,
        }))
    }

    fn step(&mut self) {
        self.at = 0;
        self.next += 1;
    }

    /// Returns what is left: the operands.
    pub(super) fn rest(&self) -> &'a [Vec<u8>] {
        self.args.get(self.next..).unwrap_or_default()
    }
}

impl Shell<'_> {
    /// Reports a bad option with the builtin's usage; the status is 2.
    pub(super) fn bad_option(&mut self, name: &[u8], bad: &Bad, usage: &str) -> Result<i32, Flow> {
        let message = match bad {
            Bad::Unknown(letter, plus) => {
                let sign = if *plus { b'+' } else { b'-' };
                [&[sign, *letter][..], b": invalid option"].concat()
            }
            Bad::Missing(letter) => {
                [&[b'-', *letter][..], b": option requires an argument"].concat()
            }
        };
        self.complain_as(name, &message)?;
        self.usage(name, usage)
    }

    /// Prints `NAME: usage: …`; the status is 2.
    pub(super) fn usage(&mut self, name: &[u8], usage: &str) -> Result<i32, Flow> {
        let text = [name, b": usage: ", usage.as_bytes(), b"\n"].concat();
        self.print_error(&text)?;
        Ok(2)
    }
}

/// Reads a decimal number as `break`, `exit` and `shift` do: blanks around it are fine.
pub(super) fn number(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?.trim();
    let digits = text.strip_prefix('+').unwrap_or(text);
    if digits.starts_with('+') {
        return None;
    }
    digits.parse().ok()
}

/// Returns an operand or the empty text.
pub(super) fn operand(args: &[Vec<u8>], at: usize) -> &[u8] {
    args.get(at).map_or(&b""[..], Vec::as_slice)
}

/// Quotes a text in single quotes, as `alias` and `trap` print it.
pub(super) fn single_quoted(text: &[u8]) -> Vec<u8> {
    let mut out = vec![b'\''];
    for byte in text {
        if *byte == b'\'' {
            out.extend_from_slice(b"'\\''");
        } else {
            out.push(*byte);
        }
    }
    out.push(b'\'');
    out
}

//! `printf`: the format is read again while arguments are left.

mod long;
pub(super) mod number;

use jp_bash_system::{Stop, System};

use super::args::{Getopt, operand};
use crate::Shell;
use crate::expand::{escapes, quote};
use crate::flow::Flow;
use crate::vars::subscript::split_target;
use crate::vars::{Bytes, known};

const USAGE: &str = "printf [-v var] format [arguments]";

/// One conversion: `%-5.2f`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Spec {
    pub(super) left: bool,
    pub(super) plus: bool,
    pub(super) space: bool,
    pub(super) alternate: bool,
    pub(super) zero: bool,
    pub(super) group: bool,
    pub(super) width: usize,
    pub(super) precision: Option<usize>,
    pub(super) letter: u8,
}

/// What is printed so far.
struct Printing<'a> {
    out: Vec<u8>,
    args: &'a [Vec<u8>],
    used: usize,
    status: i32,
    reserved: u64,
    utf8: bool,
}

/// Whether to go on behind a conversion.
#[derive(PartialEq, Eq)]
enum Next {
    More,
    /// `\c` in `%b`, or a bad format.
    Stop,
}

/// `printf`
pub(super) fn run(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    let mut options = Getopt::new(args, "v:");
    let mut target = None;
    loop {
        match options.next() {
            Ok(Some(given)) => target = given.value.map(<[u8]>::to_vec),
            Ok(None) => break,
            Err(bad) => return shell.bad_option(b"printf", &bad, USAGE),
        }
    }
    if let Some(name) = &target
        && split_target(name).is_none()
    {
        shell.complain_as(
            b"printf",
            &[b"`", name.as_slice(), b"': not a valid identifier"].concat(),
        )?;
        return Ok(2);
    }
    let rest = options.rest();
    if rest.is_empty() {
        return shell.usage(b"printf", USAGE);
    }
    let mut printing = Printing {
        out: Vec::new(),
        args: rest.get(1..).unwrap_or_default(),
        used: 0,
        status: 0,
        reserved: 0,
        utf8: shell.utf8(),
    };
    let done = printing.all(shell, operand(rest, 0));
    shell.kernel.budget.release(printing.reserved);
    done?;
    let status = printing.status;
    match target {
        None => {
            let printed = shell.print(b"printf", &printing.out)?;
            Ok(status.max(printed))
        }
        Some(target) => {
            if let Some(end) = memchr::memchr(0, &printing.out) {
                printing.out.truncate(end);
            }
            let done = shell.set_target(&target, Bytes::from(printing.out))?;
            Ok(status.max(done.status()))
        }
    }
}

/// Complains about `\x`, `\u` and `\U` without digits; `rest` is what follows the backslash.
fn complain_escape(shell: &mut Shell<'_>, rest: &[u8]) -> Result<(), Flow> {
    let (kind, letter) = match rest {
        [b'x' | b'u' | b'U', next, ..] if next.is_ascii_hexdigit() => return Ok(()),
        [b'x', ..] => ("hex", 'x'),
        [letter @ (b'u' | b'U'), ..] => ("unicode", char::from(*letter)),
        _ => return Ok(()),
    };
    let text = format!("missing {kind} digit for \\{letter}");
    shell.complain_as(b"printf", text.as_bytes())
}

impl Printing<'_> {
    fn all(&mut self, shell: &mut Shell<'_>, format: &[u8]) -> Result<(), Flow> {
        loop {
            let before = self.used;
            if self.once(shell, format)? == Next::Stop {
                return Ok(());
            }
            if self.used >= self.args.len() || self.used == before {
                return Ok(());
            }
            shell.kernel.budget.work(1)?;
        }
    }

    /// Counts what is about to be added; nothing is allocated before.
    fn room(&mut self, shell: &Shell<'_>, more: usize) -> Result<(), Stop> {
        let need = self.out.len().saturating_add(more);
        if need > self.out.capacity() && need > 4096 {
            let target = usize::max(need, self.out.capacity().saturating_mul(2));
            let growth = (target - self.out.capacity()) as u64;
            shell.kernel.budget.reserve(growth)?;
            self.reserved += growth;
            self.out.reserve_exact(target - self.out.len());
        }
        Ok(())
    }

    fn once(&mut self, shell: &mut Shell<'_>, format: &[u8]) -> Result<Next, Flow> {
        let mut at = 0;
        while let Some(byte) = format.get(at).copied() {
            at += 1;
            match byte {
                b'\\' => {
                    let rest = format.get(at..).unwrap_or_default();
                    self.room(shell, 8)?;
                    complain_escape(shell, rest)?;
                    at += escapes::one(&mut self.out, rest, escapes::Kind::Format, self.utf8)
                        .unwrap_or(0);
                }
                b'%' if format.get(at) == Some(&b'%') => {
                    self.out.push(b'%');
                    at += 1;
                }
                b'%' => {
                    let start = at - 1;
                    let (spec, next) = self.spec(shell, format, at)?;
                    at = next;
                    match spec {
                        Some(spec) => {
                            if self.convert(shell, spec, format, &mut at)? == Next::Stop {
                                return Ok(Next::Stop);
                            }
                        }
                        None => {
                            return self.missing(
                                shell,
                                format.get(start..).unwrap_or_default(),
                                at - start,
                            );
                        }
                    }
                }
                byte => {
                    self.room(shell, 1)?;
                    self.out.push(byte);
                }
            }
        }
        Ok(Next::More)
    }

    /// Complains about a conversion, of which `at` is the letter.
    fn missing(&mut self, shell: &mut Shell<'_>, spec: &[u8], at: usize) -> Result<Next, Flow> {
        let text = match spec.get(at) {
            Some(letter) => [b"`", &[*letter][..], b"': invalid format character"].concat(),
            None => [b"`", spec, b"': missing format character"].concat(),
        };
        shell.complain_as(b"printf", &text)?;
        self.status = 1;
        Ok(Next::Stop)
    }

    fn next_arg(&mut self) -> Option<&[u8]> {
        let arg = self.args.get(self.used).map(Vec::as_slice);
        self.used += 1;
        arg
    }

    /// Reads flags, width, precision and letter; no spec if the letter is missing or unknown.
    fn spec(
        &mut self,
        shell: &mut Shell<'_>,
        format: &[u8],
        mut at: usize,
    ) -> Result<(Option<Spec>, usize), Flow> {
        let mut spec = Spec::default();
        while let Some(flag) = format.get(at) {
            match flag {
                b'-' => spec.left = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'#' => spec.alternate = true,
                b'0' => spec.zero = true,
                b'\'' => spec.group = true,
                _ => break,
            }
            at += 1;
        }
        let width = self.size(shell, format, &mut at)?;
        if width < 0 {
            spec.left = true;
        }
        spec.width = usize::try_from(width.unsigned_abs()).unwrap_or(usize::MAX);
        if format.get(at) == Some(&b'.') {
            at += 1;
            let precision = self.size(shell, format, &mut at)?;
            spec.precision = usize::try_from(precision).ok();
        }
        while format
            .get(at)
            .is_some_and(|b| matches!(b, b'h' | b'l' | b'j' | b'z' | b't' | b'L'))
        {
            at += 1;
        }
        spec.letter = format.get(at).copied().unwrap_or(0);
        let known = b"diouxXcsbqQnfFeEgGaA(".contains(&spec.letter);
        Ok((known.then_some(spec), if known { at + 1 } else { at }))
    }

    /// Reads a width or precision: digits, or `*` from an argument.
    fn size(&mut self, shell: &mut Shell<'_>, format: &[u8], at: &mut usize) -> Result<i64, Flow> {
        if format.get(*at) == Some(&b'*') {
            *at += 1;
            let text = self.next_arg().unwrap_or_default().to_vec();
            let value = self.integer(shell, &text, b'd')?;
            return Ok(value.clamp(i64::from(i32::MIN), i64::from(i32::MAX)));
        }
        let mut value = 0_i64;
        while let Some(digit) = format.get(*at).filter(|b| b.is_ascii_digit()) {
            value = (value * 10 + i64::from(*digit - b'0')).min(i64::from(i32::MAX));
            *at += 1;
        }
        Ok(value)
    }

    fn convert(
        &mut self,
        shell: &mut Shell<'_>,
        spec: Spec,
        format: &[u8],
        at: &mut usize,
    ) -> Result<Next, Flow> {
        match spec.letter {
            b's' => {
                let arg = self.args.get(self.used).map_or(&b""[..], Vec::as_slice);
                self.used += 1;
                self.text(shell, spec, arg)?;
            }
            b'c' => {
                let arg = self.next_arg().unwrap_or_default();
                let first = arg.first().copied();
                let text = [first.unwrap_or(0)];
                self.text(
                    shell,
                    Spec {
                        precision: None,
                        ..spec
                    },
                    &text,
                )?;
            }
            b'b' => {
                let arg = self.next_arg().unwrap_or_default().to_vec();
                let mut text = Vec::with_capacity(arg.len());
                let mut rest = arg.as_slice();
                while let Some(at) = memchr::memchr(b'\\', rest) {
                    rest = rest.get(at + 1..).unwrap_or_default();
                    complain_escape(shell, rest)?;
                    rest = rest.get(1..).unwrap_or_default();
                }
                let more = escapes::whole(&mut text, &arg, escapes::Kind::Argument, self.utf8);
                self.text(shell, spec, &text)?;
                if !more {
                    return Ok(Next::Stop);
                }
            }
            b'q' | b'Q' => {
                let arg = self.next_arg().unwrap_or_default().to_vec();
                let (arg, spec) = match (spec.letter, spec.precision) {
                    (b'Q', Some(most)) => (
                        arg.get(..most.min(arg.len())).unwrap_or_default().to_vec(),
                        Spec {
                            precision: None,
                            ..spec
                        },
                    ),
                    _ => (arg, spec),
                };
                let mut text = Vec::with_capacity(arg.len() + 2);
                quote::backslash(&shell.kernel.budget, &mut text, &arg, self.utf8)?;
                self.text(shell, spec, &text)?;
            }
            b'(' => return self.time(shell, spec, format, at),
            b'n' => {
                let name = self.next_arg().unwrap_or_default().to_vec();
                let count = i64::try_from(self.out.len()).unwrap_or(i64::MAX);
                if !name.is_empty() {
                    let _ = shell.set_target(&name, Bytes::from_int(count))?;
                }
            }
            b'd' | b'i' | b'o' | b'u' | b'x' | b'X' => {
                let text = self.next_arg().map(<[u8]>::to_vec);
                let value = match &text {
                    Some(text) => self.integer(shell, text, spec.letter)?,
                    None => 0,
                };
                self.room(
                    shell,
                    spec.width
                        .saturating_add(spec.precision.unwrap_or(0))
                        .saturating_add(32),
                )?;
                number::integer(&mut self.out, spec, value);
            }
            _ => {
                let text = self.next_arg().map(<[u8]>::to_vec);
                let value = match &text {
                    Some(text) => self.float(shell, text)?,
                    None => number::Real::from(0.0),
                };
                self.room(
                    shell,
                    spec.width
                        .saturating_add(spec.precision.unwrap_or(6))
                        .saturating_add(400),
                )?;
                number::float(&mut self.out, spec, value);
            }
        }
        Ok(Next::More)
    }

    /// Adds a text with width and precision, which count bytes.
    fn text(&mut self, shell: &Shell<'_>, spec: Spec, text: &[u8]) -> Result<(), Stop> {
        let text = match spec.precision {
            Some(most) => text.get(..most.min(text.len())).unwrap_or_default(),
            None => text,
        };
        self.room(shell, usize::max(text.len(), spec.width))?;
        let fill = spec.width.saturating_sub(text.len());
        if !spec.left {
            self.out.resize(self.out.len() + fill, b' ');
        }
        self.out.extend_from_slice(text);
        if spec.left {
            self.out.resize(self.out.len() + fill, b' ');
        }
        Ok(())
    }

    /// Reads an integer argument as C's `strtoimax` does, with bash's messages.
    fn integer(&mut self, shell: &mut Shell<'_>, text: &[u8], letter: u8) -> Result<i64, Flow> {
        if let [b'\'' | b'"', rest @ ..] = text {
            return Ok(i64::from(number::char_code(rest, self.utf8)));
        }
        let signed = matches!(letter, b'd' | b'i');
        let (value, problem) = number::parse_integer(text, signed);
        self.problem(shell, text, problem)?;
        Ok(value)
    }

    fn float(&mut self, shell: &mut Shell<'_>, text: &[u8]) -> Result<number::Real, Flow> {
        if let [b'\'' | b'"', rest @ ..] = text {
            let code = f64::from(number::char_code(rest, self.utf8));
            return Ok(number::Real::from(code));
        }
        let (value, problem) = number::parse_float(text);
        self.problem(shell, text, problem)?;
        Ok(value)
    }

    fn problem(
        &mut self,
        shell: &mut Shell<'_>,
        text: &[u8],
        problem: Option<number::Problem>,
    ) -> Result<(), Flow> {
        match problem {
            None => {}
            Some(number::Problem::Range) => {
                shell.complain_as(
                    b"printf",
                    &[b"warning: ", text, b": Numerical result out of range"].concat(),
                )?;
            }
            Some(number::Problem::Invalid) => {
                let kind: &[u8] = match text {
                    [b'0', b'0'..=b'9', ..] => b": invalid octal number",
                    [b'0', b'x', ..] => b": invalid hex number",
                    _ => b": invalid number",
                };
                shell.complain_as(b"printf", &[text, kind].concat())?;
                self.status = 1;
            }
        }
        Ok(())
    }

    /// `%(format)T`
    fn time(
        &mut self,
        shell: &mut Shell<'_>,
        spec: Spec,
        format: &[u8],
        at: &mut usize,
    ) -> Result<Next, Flow> {
        let rest = format.get(*at..).unwrap_or_default();
        let mut depth = 1;
        let close = rest.iter().position(|byte| {
            match byte {
                b'(' => depth += 1,
                b')' => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        let Some(close) = close.filter(|close| rest.get(close + 1) == Some(&b'T')) else {
            let letter = close
                .and_then(|close| rest.get(close + 1))
                .copied()
                .unwrap_or(b'(');
            shell.complain_as(
                b"printf",
                &[b"`", &[letter][..], b"': invalid time format specification"].concat(),
            )?;
            self.status = 1;
            return Ok(Next::Stop);
        };
        let inner = rest.get(..close).unwrap_or_default().to_vec();
        *at += close + 2;
        let arg = self.next_arg().map(<[u8]>::to_vec);
        let now = shell.now().secs;
        let seconds = match &arg {
            Some(text) => match self.integer(shell, text, b'd')? {
                -1 => now,
                -2 => now - i64::try_from(shell.since_start().as_secs()).unwrap_or(0),
                seconds => seconds,
            },
            None => now,
        };
        let zone = shell.vars.text(known::TZ).map(<[u8]>::to_vec);
        let inner = if inner.is_empty() {
            b"%X".to_vec()
        } else {
            inner
        };
        let text = number::strftime(&inner, seconds, zone.as_deref());
        self.text(shell, spec, &text)?;
        Ok(Next::More)
    }
}

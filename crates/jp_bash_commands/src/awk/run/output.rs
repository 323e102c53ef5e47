//! What goes out: `print`, `printf`, `system`, and closing and flushing.

use jp_bash_system::{SysError, failed};
use smallvec::SmallVec;

use super::super::format::{self, Args, Char};
use super::super::op::Dest;
use super::super::value::Value;
use super::cold::kind_of;
use super::{Fault, Ran, Vm};

impl Vm<'_> {
    /// Writes bytes where a `print` goes.
    fn write(&mut self, dest: Dest, name: &Value, bytes: &[u8]) -> Ran<()> {
        if dest == Dest::Stdout {
            self.out.put(self.sys, bytes)?;
            return self.check_stdout();
        }
        let name = self.text(name).into_owned();
        if name.is_empty() {
            return self.fatal(&[
                b"expression for `",
                sign(dest),
                b"' redirection has null string value",
            ]);
        }
        if !self.streams.is_writer(&name) {
            // What was printed before must come out before what the command prints.
            self.out.flush(self.sys)?;
            self.streams.flush(self.sys)?;
        }
        let opened = match self.streams.writer(self.sys, &name, dest) {
            Ok(Some(writer)) => writer.put(self.sys, bytes).map(|()| true),
            Ok(None) => Ok(false),
            Err(SysError::Stop(stop)) => Err(stop),
            Err(SysError::Errno(errno)) => {
                let what: &[u8] = if dest == Dest::Pipe {
                    b"cannot open pipe `"
                } else {
                    b"cannot redirect to `"
                };
                return self.fatal(&[what, &name, b"': ", errno.text().as_bytes()]);
            }
        };
        if !opened? {
            self.out.put(self.sys, bytes)?;
        }
        Ok(())
    }

    pub(super) fn print(&mut self, count: usize, dest: Dest) -> Ran<()> {
        if dest == Dest::Stdout {
            return self.print_values(count);
        }
        let name = self.pop();
        let mut line = std::mem::take(&mut self.scratch);
        line.clear();
        if count == 0 {
            self.fresh_record()?;
            line.extend_from_slice(self.record.text());
        }
        let from = self.stack.len().saturating_sub(count);
        for (index, value) in self
            .stack
            .get(from..)
            .unwrap_or_default()
            .iter()
            .enumerate()
        {
            if index > 0 {
                line.extend_from_slice(&self.specials.ofs);
            }
            push_output(&mut line, value, &self.specials.ofmt);
        }
        line.extend_from_slice(&self.specials.ors);
        self.stack.truncate(from);
        let written = self.write(dest, &name, &line);
        self.scratch = line;
        written
    }

    /// Prints the values on the stack to standard output.
    fn print_values(&mut self, count: usize) -> Ran<()> {
        let from = self.stack.len().saturating_sub(count);
        for (index, value) in self
            .stack
            .get(from..)
            .unwrap_or_default()
            .iter()
            .enumerate()
        {
            if index > 0 {
                self.out.put(self.sys, &self.specials.ofs)?;
            }
            match value {
                Value::Num(num) => {
                    format::push_number(self.out.buffer(), *num, &self.specials.ofmt);
                }
                other => self.out.put(self.sys, other.text().unwrap_or_default())?,
            }
        }
        self.out.buffer().extend_from_slice(&self.specials.ors);
        self.stack.truncate(from);
        self.out.settle(self.sys)?;
        self.check_stdout()
    }

    pub(super) fn printf(&mut self, count: usize, dest: Dest) -> Ran<()> {
        let name = if dest == Dest::Stdout {
            Value::Uninit
        } else {
            self.pop()
        };
        let text = self.sprintf(count)?;
        self.write(dest, &name, &text)
    }

    /// Formats the values on the stack.
    pub(super) fn sprintf(&mut self, count: usize) -> Ran<Vec<u8>> {
        let from = self.stack.len().saturating_sub(count);
        let values: SmallVec<[Value; 6]> = self.stack.drain(from..).collect();
        let Some((first, rest)) = values.split_first() else {
            return Ok(Vec::new());
        };
        let format = self.to_string(first);
        let format = format.text().unwrap_or_default();
        self.claim(format.len())?;
        let mut out = Vec::with_capacity(format.len() + 16);
        let utf8 = self.utf8;
        let mut args = Values {
            vm: self,
            rest: rest.iter(),
            format,
        };
        format::format(&mut out, format, &mut args, utf8)?;
        Ok(out)
    }

    /// Runs a command and waits for it.
    pub(super) fn system(&mut self, command: &[u8]) -> Ran<f64> {
        self.out.flush(self.sys)?;
        self.streams.flush(self.sys)?;
        let spawn = jp_bash_system::Spawn {
            argv: vec![b"sh".to_vec(), b"-c".to_vec(), command.to_vec()],
            ..Default::default()
        };
        let child = match failed(self.sys.spawn(spawn))? {
            Ok(child) => child,
            Err(_) => return Ok(-1.0),
        };
        let ended = failed(self.sys.wait(child))?;
        Ok(ended.map_or(-1.0, super::super::streams::status))
    }

    pub(super) fn close_stream(&mut self, name: &[u8]) -> Ran<f64> {
        Ok(self.streams.close(self.sys, name)?.unwrap_or(-1.0))
    }

    pub(super) fn flush_stream(&mut self, name: Option<&[u8]>) -> Ran<f64> {
        self.out.flush(self.sys)?;
        match name {
            None | Some(b"") => {
                self.streams.flush(self.sys)?;
                Ok(0.0)
            }
            Some(b"/dev/stdout" | b"/dev/stderr") => Ok(0.0),
            Some(name) => Ok(if self.streams.flush_one(self.sys, name)? {
                0.0
            } else {
                -1.0
            }),
        }
    }
}

fn sign(dest: Dest) -> &'static [u8] {
    match dest {
        Dest::Append => b">>",
        Dest::Pipe => b"|",
        _ => b">",
    }
}

/// Appends what `print` shows for a value.
pub(super) fn push_output(out: &mut Vec<u8>, value: &Value, ofmt: &[u8]) {
    match value {
        Value::Num(num) => format::push_number(out, *num, ofmt),
        other => out.extend_from_slice(other.text().unwrap_or_default()),
    }
}

/// The values of a `printf`.
struct Values<'v, 'm, 'a> {
    vm: &'m mut Vm<'a>,
    rest: std::slice::Iter<'v, Value>,
    format: &'v [u8],
}

impl<'v> Values<'v, '_, '_> {
    fn next(&mut self) -> Ran<&'v Value> {
        self.rest.next().ok_or_else(|| {
            Fault::Fatal(
                [
                    b"not enough arguments to satisfy format string\n\t`",
                    self.format,
                    b"'",
                ]
                .concat(),
            )
        })
    }
}

impl Args for Values<'_, '_, '_> {
    type Error = Fault;

    fn num(&mut self) -> Ran<f64> {
        Ok(self.next()?.num())
    }

    fn char(&mut self) -> Ran<Char> {
        let value = self.next()?;
        Ok(match value {
            Value::Num(num) => Char::Code(*num),
            Value::ShortInput(_) | Value::LongInput(_) if kind_of(value) == "strnum" => {
                Char::Code(value.num())
            }
            other => Char::Text(self.vm.text(other).into_owned()),
        })
    }

    fn text(&mut self, out: &mut Vec<u8>) -> Ran<()> {
        let value = self.next()?;
        self.vm.claim(
            value
                .text()
                .map_or(24, <[u8]>::len)
                .saturating_add(out.len()),
        )?;
        self.vm.push_text(out, value);
        Ok(())
    }

    fn claim(&mut self, bytes: usize) -> Ran<()> {
        if bytes > 64 {
            // Far from all memory in one number: refused without being tried.
            let bytes = usize::min(bytes, usize::MAX / 8);
            self.vm.claim(bytes.saturating_mul(2))?;
        }
        Ok(())
    }
}

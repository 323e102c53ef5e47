//! What the file commands share: their context, messages, quoting and modes.

pub(crate) mod backup;
pub(crate) mod canon;
pub(crate) mod copy;
pub(crate) mod glob;
pub(crate) mod mode;
pub(crate) mod name;
pub(crate) mod size;
pub(crate) mod target;
pub(crate) mod time;

use jp_bash_system::io::{Output, complain};
use jp_bash_system::{Errno, Stop, System, failed};

pub(crate) use super::options::{HELP, VERSION};
use super::options::{Opt, Order, Parsed, Takes, hint, parse};
use super::quote;

/// A running command: its name for messages, its output and the status it will return.
pub(crate) struct Cmd<'s> {
    pub(crate) sys: &'s mut dyn System,
    pub(crate) name: Vec<u8>,
    pub(crate) out: Output,
    pub(crate) status: i32,
    /// The status of a failure.
    pub(crate) failure: i32,
}

impl<'s> Cmd<'s> {
    pub(crate) fn new(sys: &'s mut dyn System, args: &[Vec<u8>]) -> Self {
        Self {
            sys,
            name: args.first().cloned().unwrap_or_default(),
            out: Output::new(1),
            status: 0,
            failure: 1,
        }
    }

    /// Reads the options; `Err` is the status to return at once (a usage error, `--help`, `--version`).
    pub(crate) fn options(
        &mut self,
        args: &[Vec<u8>],
        table: &[Opt],
        usage: &str,
    ) -> Result<Result<Parsed, i32>, Stop> {
        let Ok(parsed) = parse(self.sys, args, table, Order::Permute)? else {
            return Ok(Err(self.failure));
        };
        let asked = parsed
            .options
            .iter()
            .find(|(id, _)| *id == HELP.id || *id == VERSION.id);
        let Some((id, _)) = asked else {
            return Ok(Ok(parsed));
        };
        let text = if *id == HELP.id {
            help(&self.name, table, usage)
        } else {
            [&self.name, &b" (jp, like GNU "[..], &self.name, b")\n"].concat()
        };
        self.out.put(self.sys, &text)?;
        let done = std::mem::replace(&mut self.out, Output::new(1)).finish(self.sys)?;
        Ok(Err(if done.is_ok() { 0 } else { self.failure }))
    }

    /// Writes to standard output.
    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        self.out.put(self.sys, bytes)
    }

    /// Prints `NAME: MESSAGE` without changing the status.
    pub(crate) fn note(&mut self, parts: &[&[u8]]) -> Result<(), Stop> {
        // As GNU's `error`: what was printed before comes before.
        self.out.flush(self.sys)?;
        complain(self.sys, &self.name, &parts.concat())
    }

    /// Prints `NAME: MESSAGE`; the command fails.
    pub(crate) fn error(&mut self, parts: &[&[u8]]) -> Result<(), Stop> {
        self.status = self.failure;
        self.note(parts)
    }

    /// Prints `NAME: MESSAGE: REASON`; the command fails.
    pub(crate) fn fail(&mut self, parts: &[&[u8]], errno: Errno) -> Result<(), Stop> {
        let mut all = parts.to_vec();
        all.push(b": ");
        all.push(errno.text().as_bytes());
        self.error(&all)
    }

    /// Prints a usage error with the hint at `--help`, and returns the status.
    pub(crate) fn usage(&mut self, parts: &[&[u8]]) -> Result<i32, Stop> {
        self.note(parts)?;
        self.hint()
    }

    /// Prints the hint at `--help`, and returns the status.
    pub(crate) fn hint(&mut self) -> Result<i32, Stop> {
        hint(self.sys, &self.name)?;
        Ok(self.failure)
    }

    /// Quotes a file name for a message, as GNU's `quoteaf`.
    pub(crate) fn q(&self, name: &[u8]) -> Vec<u8> {
        quote::quote_name(self.sys.utf8(), name)
    }

    /// Quotes a file name for a message only where that is needed, as GNU's `quotef`.
    pub(crate) fn qf(&self, name: &[u8]) -> Vec<u8> {
        quote::quote_name_if_odd(self.sys.utf8(), name)
    }

    /// Quotes other text for a message, as GNU's `quote`.
    pub(crate) fn quote(&self, text: &[u8]) -> Vec<u8> {
        quote::quote(self.sys.utf8(), text)
    }

    /// Ends the command: writes the rest and returns the status.
    pub(crate) fn finish(self) -> Result<i32, Stop> {
        let Self {
            sys,
            name,
            out,
            status,
            failure,
        } = self;
        if let Err(errno) = out.finish(sys)? {
            let message = [b"write error: ", errno.text().as_bytes()].concat();
            complain(sys, &name, &message)?;
            return Ok(failure);
        }
        Ok(status)
    }

    /// Asks on standard error and reads an answer from standard input; only a `y` or `Y` agrees.
    pub(crate) fn ask(&mut self, parts: &[&[u8]]) -> Result<bool, Stop> {
        let question = [&self.name[..], b": ", &parts.concat(), b" "].concat();
        failed(self.sys.write(2, &question))?.ok();
        let mut first = None;
        let mut byte = [0];
        loop {
            // Byte by byte: the rest of standard input belongs to the next question or command.
            match failed(self.sys.read(0, &mut byte))? {
                Ok(1) if byte != *b"\n" => {
                    first.get_or_insert(byte);
                }
                _ => return Ok(matches!(first, Some([b'y' | b'Y']))),
            }
        }
    }
}

/// Makes the text of `--help` from the table.
fn help(name: &[u8], table: &[Opt], usage: &str) -> Vec<u8> {
    let mut text = [b"Usage: ", name, b" ", usage.as_bytes(), b"\n\nOptions:\n"].concat();
    for opt in table {
        let mut line = b"  ".to_vec();
        if let Some(short) = opt.short {
            line.extend_from_slice(&[b'-', short]);
        }
        if let Some(long) = opt.long {
            line.extend_from_slice(if opt.short.is_some() {
                b", --"
            } else {
                b"    --"
            });
            line.extend_from_slice(long.as_bytes());
        }
        match (opt.takes, opt.long) {
            (Takes::Nothing, _) => {}
            (Takes::Required, Some(_)) => line.extend_from_slice(b"=ARG"),
            (Takes::Required, None) => line.extend_from_slice(b" ARG"),
            (Takes::Optional, _) => line.extend_from_slice(b"[=ARG]"),
        }
        if let super::options::Support::Refused(why) = opt.support {
            line.extend_from_slice(b"   (not supported: ");
            line.extend_from_slice(why.as_bytes());
            line.push(b')');
        }
        line.push(b'\n');
        text.extend_from_slice(&line);
    }
    text
}

/// Finds an argument in a list, by its name or an unambiguous beginning, as GNU's `argmatch`.
pub(crate) fn argmatch<T: Copy + PartialEq>(
    cmd: &mut Cmd<'_>,
    option: &str,
    value: &[u8],
    list: &[(&str, T)],
) -> Result<Option<T>, Stop> {
    if let Some((_, found)) = list.iter().find(|(name, _)| name.as_bytes() == value) {
        return Ok(Some(*found));
    }
    let mut near: Vec<T> = Vec::new();
    for (name, found) in list {
        if name.as_bytes().starts_with(value) && !near.contains(found) {
            near.push(*found);
        }
    }
    if let ([found], false) = (near.as_slice(), value.is_empty()) {
        return Ok(Some(*found));
    }
    let what: &[u8] = if near.is_empty() {
        b"invalid"
    } else {
        b"ambiguous"
    };
    let (value, option) = (cmd.quote(value), cmd.quote(option.as_bytes()));
    cmd.note(&[what, b" argument ", &value, b" for ", &option])?;
    let mut text = b"Valid arguments are:".to_vec();
    let mut last: Option<T> = None;
    for (name, found) in list {
        let name = cmd.quote(name.as_bytes());
        text.extend_from_slice(if last == Some(*found) {
            b", "
        } else {
            b"\n  - "
        });
        text.extend_from_slice(&name);
        last = Some(*found);
    }
    text.push(b'\n');
    failed(cmd.sys.write(2, &text))?.ok();
    cmd.hint()?;
    // GNU's `argmatch` always exits with 1, whatever the command's own status for trouble is.
    cmd.status = 1;
    Ok(None)
}

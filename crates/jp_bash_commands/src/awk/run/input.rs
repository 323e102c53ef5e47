//! The main input: operands one after the other, assignments among them, records; and `getline` in all its forms.

use std::rc::Rc;

use jp_bash_system::io::complain;
use jp_bash_system::{Errno, FileKind, Follow, OpenHow, PIECE, Stop, SysError, System, failed};

use super::super::array::Key;
use super::super::lex::{Dialect, unescape};
use super::super::op::{ARGC, ARGV, SPECIALS, Source, Special, Target};
use super::super::streams::{ReadError, Reader};
use super::super::value::Value;
use super::{Done, Fault, Ran, Vm};

/// Where reading the operands has come to.
#[derive(Default)]
pub(super) struct Input {
    pub(super) reader: Option<Reader>,
    /// The next operand.
    next: i64,
    /// A file was read: without one, standard input is.
    any: bool,
    ended: bool,
}

impl Input {
    pub(super) fn close(&mut self, sys: &mut dyn System) -> Result<(), Stop> {
        match self.reader.take() {
            Some(reader) => reader.close(sys).map(|_| ()),
            None => Ok(()),
        }
    }
}

/// Tells whether an operand is `name=value`.
pub(in crate::awk) fn assignment(operand: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = memchr::memchr(b'=', operand)?;
    let (name, value) = (operand.get(..at)?, operand.get(at + 1..)?);
    let first = name.first()?;
    let fits = (first.is_ascii_alphabetic() || *first == b'_')
        && name.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_');
    fits.then_some((name, value))
}

impl Vm<'_> {
    /// Sets a variable by its name; one that the program never mentions is forgotten.
    pub(in crate::awk) fn assign(
        &mut self,
        name: &[u8],
        value: &[u8],
        dialect: Dialect,
    ) -> Ran<()> {
        let value = Value::owned(unescape(value, dialect), &self.meter).into_input();
        if let Some((_, special)) = SPECIALS.iter().find(|(word, _)| word.as_bytes() == name) {
            return self.set_special(*special, value);
        }
        let slot = self.program.globals.iter().position(|known| known == name);
        if let Some(slot) = slot.and_then(|slot| u32::try_from(slot).ok()) {
            self.set(Target::Global(slot), &Value::Uninit, value)?;
        }
        Ok(())
    }

    /// Runs the rules on every record.
    pub(super) fn records(&mut self) -> Ran<Done> {
        loop {
            let next = self.sift()?;
            match self.next_record(true)? {
                None => return Ok(Done::End),
                Some(Done::End) => {}
                Some(other) => return Ok(other),
            }
            let Some(entry) = self.program.main else {
                continue;
            };
            self.claim(0)?;
            let done = self.run(self.entry(entry, next))?;
            match done {
                Done::End => {}
                Done::Next => self.unwind(),
                Done::NextFile => {
                    self.unwind();
                    if self.end_file()? == Done::Exit {
                        return Ok(Done::Exit);
                    }
                }
                Done::Exit => {
                    self.unwind();
                    return Ok(Done::Exit);
                }
            }
        }
    }

    /// Reads the next record into `$0`; `None` at the end of all input. A `BEGINFILE` or `ENDFILE` may exit.
    fn next_record(&mut self, hooks: bool) -> Ran<Option<Done>> {
        loop {
            if self.input.reader.is_none() {
                match self.open_next(hooks)? {
                    Some(Done::End) => {}
                    other => return Ok(other),
                }
            }
            let Some(reader) = &mut self.input.reader else {
                continue;
            };
            match reader.record(self.sys, &self.separator) {
                Ok(Some(found)) => {
                    let text = reader.slice(found.start, found.end);
                    if text.len() > PIECE {
                        // The copy is counted as soon as it is there.
                        self.sys.reserve(text.len() as u64)?;
                        self.sys.release(text.len() as u64);
                    }
                    self.record.set_counted(text, &self.splitter, &self.meter);
                    let terminator = reader.slice(found.end, found.after);
                    self.specials.put_text(Special::Rt, terminator, &self.meter);
                    self.specials.nr += 1.0;
                    self.specials.fnr += 1.0;
                    return Ok(Some(Done::End));
                }
                Ok(None) => {
                    if hooks && self.end_file()? == Done::Exit {
                        return Ok(Some(Done::Exit));
                    }
                    self.input.close(self.sys)?;
                }
                Err(ReadError::Stop(stop)) => return Err(stop.into()),
                Err(ReadError::Regex(error)) => return Err(error.into()),
                Err(ReadError::Errno(errno)) => {
                    let name = self.special(Special::Filename)?;
                    let name = self.text(&name).into_owned();
                    return self.fatal(&[
                        b"error reading input file `",
                        &name,
                        b"': ",
                        errno.text().as_bytes(),
                    ]);
                }
            }
        }
    }

    /// Ends the current file and runs `ENDFILE`.
    fn end_file(&mut self) -> Ran<Done> {
        let had = self.input.reader.is_some();
        self.input.close(self.sys)?;
        if had {
            self.section(self.program.end_file)
        } else {
            Ok(Done::End)
        }
    }

    fn arg(&mut self, index: i64) -> Ran<Option<Vec<u8>>> {
        let argv = self.array(super::super::op::Place::Global(ARGV))?;
        let value = argv.borrow().get(&Key::Int(index)).cloned();
        Ok(value.map(|value| self.text(&value).into_owned()))
    }

    /// Opens the next operand that is a file; `None` if there is none left.
    fn open_next(&mut self, hooks: bool) -> Ran<Option<Done>> {
        if self.input.ended {
            return Ok(None);
        }
        loop {
            self.input.next = i64::max(self.input.next + 1, 1);
            let index = self.input.next;
            let count = self.globals.get(ARGC as usize).map_or(0.0, Value::num);
            #[expect(clippy::cast_precision_loss, reason = "no command has 2^53 words")]
            let over = index as f64 >= count;
            if over {
                self.input.ended = self.input.any;
                if self.input.any {
                    return Ok(None);
                }
                self.input.any = true;
                self.input.ended = true;
                let name: &[u8] = b"-";
                return self.opened(name, Ok(Reader::new(0, None, false)), hooks);
            }
            self.sys.turns(1)?;
            let Some(operand) = self.arg(index)? else {
                continue;
            };
            if operand.is_empty() {
                continue;
            }
            if let Some((name, value)) = assignment(&operand) {
                let (name, value) = (name.to_vec(), value.to_vec());
                self.assign(&name, &value, Dialect::Plain)?;
                continue;
            }
            self.input.any = true;
            #[expect(clippy::cast_precision_loss, reason = "no command has 2^53 words")]
            self.specials.put(Special::Argind, Value::Num(index as f64));
            if operand == b"-" || operand == b"/dev/stdin" {
                return self.opened(&operand, Ok(Reader::new(0, None, false)), hooks);
            }
            if let Ok(stat) = failed(self.sys.stat(&operand, Follow::Yes))?
                && stat.kind == FileKind::Directory
            {
                let message = [
                    b"warning: command line argument `",
                    operand.as_slice(),
                    b"' is a directory: skipped",
                ]
                .concat();
                self.warn(&message)?;
                continue;
            }
            let reader = match self.sys.open(&operand, OpenHow::READ) {
                Ok(fd) => Ok(Reader::new(fd, None, true)),
                Err(SysError::Stop(stop)) => return Err(stop.into()),
                Err(SysError::Errno(errno)) => Err(errno),
            };
            return self.opened(&operand, reader, hooks);
        }
    }

    fn warn(&mut self, message: &[u8]) -> Ran<()> {
        self.out.flush(self.sys)?;
        let name = self.arg(0)?.unwrap_or_default();
        complain(self.sys, &name, message)?;
        Ok(())
    }

    /// Starts a file: counters, names, `BEGINFILE`.
    fn opened(
        &mut self,
        name: &[u8],
        reader: Result<Reader, Errno>,
        hooks: bool,
    ) -> Ran<Option<Done>> {
        self.specials.fnr = 0.0;
        self.specials
            .put(Special::Filename, Value::input(name, &self.meter));
        let errno = match reader {
            Ok(reader) => {
                self.input.reader = Some(reader);
                None
            }
            Err(errno) => Some(errno),
        };
        let text = errno.map_or("", Errno::text);
        self.specials
            .put(Special::Errno, Value::string(text.as_bytes(), &self.meter));
        let begin_file = self.program.begin_file.filter(|_| hooks);
        match (begin_file, errno) {
            (None, Some(errno)) => Err(Fault::Fatal(
                [
                    b"cannot open file `",
                    name,
                    b"' for reading: ",
                    errno.text().as_bytes(),
                ]
                .concat(),
            )),
            (begin_file, errno) => {
                let done = self.section(begin_file)?;
                match done {
                    Done::Exit => return Ok(Some(Done::Exit)),
                    Done::NextFile => self.input.close(self.sys)?,
                    // Without `nextfile`, a file that cannot be opened is still an error.
                    _ => {
                        if let Some(errno) = errno {
                            return Err(Fault::Fatal(
                                [
                                    b"cannot open file `",
                                    name,
                                    b"' for reading: ",
                                    errno.text().as_bytes(),
                                ]
                                .concat(),
                            ));
                        }
                    }
                }
                Ok(Some(Done::End))
            }
        }
    }

    pub(super) fn getline(&mut self, source: Source, target: Option<Target>) -> Ran<()> {
        self.sys.turns(1)?;
        let result = match source {
            Source::Main => self.getline_main(target)?,
            Source::File => {
                let name = self.pop();
                let index = target.map_or(Value::Uninit, |target| self.index_of(target));
                self.getline_stream(&name, target, &index, false)?
            }
            Source::Command => {
                let index = target.map_or(Value::Uninit, |target| self.index_of(target));
                let name = self.pop();
                self.getline_stream(&name, target, &index, true)?
            }
        };
        self.claim(0)?;
        self.stack.push(Value::Num(result));
        Ok(())
    }

    fn getline_main(&mut self, target: Option<Target>) -> Ran<f64> {
        let Some(target) = target else {
            return Ok(match self.next_record(false)? {
                Some(_) => 1.0,
                None => 0.0,
            });
        };
        let index = self.index_of(target);
        // The record is read in place and `$0` put back: its fields may have been changed.
        let splitter = Rc::clone(&self.splitter);
        let kept = std::mem::replace(&mut self.record, super::Record::new(splitter));
        let read = self.next_record(false);
        let new = std::mem::replace(&mut self.record, kept);
        if read?.is_none() {
            return Ok(0.0);
        }
        let value = Value::input(new.text(), &self.meter);
        self.set(target, &index, value)?;
        Ok(1.0)
    }

    fn getline_stream(
        &mut self,
        name: &Value,
        target: Option<Target>,
        index: &Value,
        command: bool,
    ) -> Ran<f64> {
        let name = self.text(name).into_owned();
        if !self.streams.readers.contains_key(&name) {
            self.out.flush(self.sys)?;
            self.streams.flush(self.sys)?;
        }
        let reader = match self.streams.reader(self.sys, &name, command) {
            Ok(reader) => reader,
            Err(SysError::Stop(stop)) => return Err(stop.into()),
            Err(SysError::Errno(errno)) => {
                self.specials.put(
                    Special::Errno,
                    Value::string(errno.text().as_bytes(), &self.meter),
                );
                return Ok(-1.0);
            }
        };
        let found = match reader.record(self.sys, &self.separator) {
            Ok(Some(found)) => found,
            Ok(None) => return Ok(0.0),
            Err(ReadError::Errno(_)) => return Ok(-1.0),
            Err(ReadError::Regex(error)) => return Err(error.into()),
            Err(ReadError::Stop(stop)) => return Err(stop.into()),
        };
        let text = reader.slice(found.start, found.end);
        let terminator = Value::string(reader.slice(found.end, found.after), &self.meter);
        match target {
            Some(target) => {
                let value = Value::input(text, &self.meter);
                self.specials.put(Special::Rt, terminator);
                self.set(target, index, value)?;
            }
            None => {
                self.record.set_counted(text, &self.splitter, &self.meter);
                self.specials.put(Special::Rt, terminator);
            }
        }
        Ok(1.0)
    }
}

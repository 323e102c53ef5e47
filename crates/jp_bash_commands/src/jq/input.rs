//! Where a program's inputs come from: files or standard input, read as needed, as values, lines or events.

use std::collections::VecDeque;

use jp_bash_system::io::complain;
use jp_bash_system::{Fd, OpenHow, SysError, failed};

use super::fail::{Fail, Result};
use super::fuel::Fuel;
use super::json::{self, Parser, Step};
use super::stream::Events;
use super::value::Value;

/// How much is read at first; a text that does not fit makes the pieces grow.
const CHUNK: usize = 64 * 1024;

/// How the texts are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mode {
    /// `-R`: lines as strings.
    pub(super) raw: bool,
    /// `-s`: everything at once.
    pub(super) slurp: bool,
    /// `--stream`: events instead of values.
    pub(super) stream: bool,
    /// `--stream-errors`: a text that does not parse is a last event.
    pub(super) stream_errors: bool,
    /// `--seq`: texts begin with a record separator.
    pub(super) seq: bool,
}

/// Why there is no next input.
pub(super) enum Trouble {
    /// The text is not JSON; jq ends with status 2.
    Parse(String),
    Fail(Fail),
}

impl From<Fail> for Trouble {
    fn from(fail: Fail) -> Self {
        Self::Fail(fail)
    }
}

pub(super) struct Inputs {
    mode: Mode,
    files: VecDeque<Vec<u8>>,
    /// The file that is open, or standard input.
    fd: Option<Fd>,
    name: Option<Vec<u8>>,
    buf: Vec<u8>,
    at: usize,
    /// Lines and bytes of the last line before the buffer.
    lines: usize,
    column: usize,
    parser: Parser,
    events: Events,
    started: bool,
    done: bool,
    /// Some file could not be read: the status is 2 in the end.
    pub(super) unreadable: bool,
}

impl Inputs {
    pub(super) fn new(mode: Mode, files: Vec<Vec<u8>>) -> Self {
        let stdin = files.is_empty();
        Self {
            mode,
            files: files.into(),
            fd: stdin.then_some(0),
            name: None,
            buf: Vec::new(),
            at: 0,
            lines: 0,
            column: 0,
            parser: Parser::default(),
            events: Events::default(),
            started: false,
            done: false,
            unreadable: false,
        }
    }

    /// Returns the name of the file that is being read.
    pub(super) fn file_name(&self) -> Option<&[u8]> {
        self.name.as_deref()
    }

    /// Returns how many lines were read, counting the one that the last value ends in.
    pub(super) fn lines(&self) -> usize {
        let used = self.buf.get(..self.at).unwrap_or_default();
        let lines = self.lines + memchr::memchr_iter(b'\n', used).count();
        let rest = self.buf.get(self.at..).unwrap_or_default();
        let middle = used.last().map_or(self.column > 0, |byte| *byte != b'\n');
        lines + usize::from(middle && memchr::memchr(b'\n', rest).is_some())
    }

    /// Returns where the current input comes from, for messages.
    pub(super) fn place(&self) -> String {
        if !self.started {
            return "<unknown>".to_owned();
        }
        let name = self.name.as_deref().map_or_else(
            || "<stdin>".to_owned(),
            |name| String::from_utf8_lossy(name).into_owned(),
        );
        format!("{name}:{}", self.lines())
    }

    /// Returns the next input.
    pub(super) fn next(
        &mut self,
        fuel: &mut Fuel<'_>,
    ) -> std::result::Result<Option<Value>, Trouble> {
        self.started = true;
        if self.done {
            return Ok(None);
        }
        let Mode { raw, slurp, .. } = self.mode;
        let next = match (raw, slurp) {
            (true, true) => {
                self.done = true;
                while self.more(fuel)? {}
                Ok(Some(Value::String(json::lossy(&self.buf))))
            }
            (true, false) => Ok(self.line(fuel)?),
            (false, true) => {
                self.done = true;
                let mut all = Vec::new();
                while let Some(value) = self.value(fuel)? {
                    fuel.step().map_err(Fail::from)?;
                    if all.len() == all.capacity() {
                        fuel.room(all.len() * 48).map_err(Fail::from)?;
                    }
                    all.push(value);
                }
                Ok(Some(Value::array(all)))
            }
            (false, false) => self.value(fuel),
        };
        if !matches!(next, Ok(Some(_))) {
            self.done = true;
        }
        next
    }

    fn line(&mut self, fuel: &mut Fuel<'_>) -> Result<Option<Value>> {
        let mut from = self.at;
        loop {
            let rest = self.buf.get(from..).unwrap_or_default();
            if let Some(end) = memchr::memchr(b'\n', rest) {
                let line = self.buf.get(self.at..from + end).unwrap_or_default();
                let value = Value::String(json::lossy(line));
                self.at = from + end + 1;
                return Ok(Some(value));
            }
            let held = self.buf.len() - self.at;
            if !self.more(fuel)? {
                let line = self.buf.get(self.at..).unwrap_or_default();
                if line.is_empty() {
                    return Ok(None);
                }
                let value = Value::String(json::lossy(line));
                self.at = self.buf.len();
                return Ok(Some(value));
            }
            from = self.at + held;
        }
    }

    fn value(&mut self, fuel: &mut Fuel<'_>) -> std::result::Result<Option<Value>, Trouble> {
        let mut last = false;
        loop {
            fuel.step().map_err(Fail::from)?;
            let step = if self.mode.stream || self.mode.stream_errors {
                self.events.read(&self.buf, &mut self.at, last)
            } else {
                self.parser.read(&self.buf, &mut self.at, last)
            };
            match step {
                Ok(Step::Value(value)) => return Ok(Some(value)),
                Ok(Step::End) => return Ok(None),
                Ok(Step::More) => {
                    // An array that is still open may double with the next piece.
                    fuel.room(self.parser.held().saturating_mul(2))
                        .map_err(Fail::from)?;
                    last = !self.more(fuel)?;
                }
                Err(message) => {
                    let message = self.complaint(message);
                    if self.mode.stream_errors {
                        let event = self.events.failed(&message);
                        self.at = self.buf.len();
                        return Ok(Some(event));
                    }
                    return Err(Trouble::Parse(message));
                }
            }
        }
    }

    /// Says what is wrong with the text, and where.
    fn complaint(&self, message: &str) -> String {
        let used = self.buf.get(..self.at).unwrap_or(&self.buf);
        let newlines = memchr::memchr_iter(b'\n', used).count();
        let column = match memchr::memrchr(b'\n', used) {
            Some(at) => used.len() - at - 1,
            None => self.column + used.len(),
        };
        format!(
            "{message} at line {}, column {column}",
            self.lines + newlines + 1
        )
    }

    /// Reads on; `false` at the end of the last file.
    fn more(&mut self, fuel: &mut Fuel<'_>) -> Result<bool> {
        self.forget();
        fuel.sync()?;
        loop {
            let Some(fd) = self.fd else {
                if !self.open(fuel)? {
                    return Ok(false);
                }
                continue;
            };
            let held = self.buf.len();
            if held + CHUNK > self.buf.capacity() {
                fuel.room(usize::max(held + CHUNK, self.buf.capacity() * 2))?;
            }
            self.buf
                .try_reserve(CHUNK)
                .map_err(|_| super::fail::memory())?;
            // A pipe gives no more at once, however much is held.
            self.buf.resize(held + CHUNK, 0);
            let room = self.buf.get_mut(held..).unwrap_or_default();
            let got = fuel.sys.read(fd, room);
            let got = match got {
                Ok(got) => got,
                Err(SysError::Stop(stop)) => return Err(stop.into()),
                Err(SysError::Errno(errno)) => {
                    let name = self.name.clone().unwrap_or_else(|| b"<stdin>".to_vec());
                    let name = String::from_utf8_lossy(&name).into_owned();
                    let message = format!("error: Could not read {name}: {errno}");
                    complain(fuel.sys, b"jq", message.as_bytes())?;
                    self.unreadable = true;
                    0
                }
            };
            self.buf.truncate(held + got);
            if held == 0
                && self.lines == 0
                && self.column == 0
                && self.buf.starts_with(b"\xef\xbb\xbf")
            {
                self.at = 3;
            }
            if got > 0 {
                // They are about to be parsed.
                fuel.pay(got.saturating_mul(4))?;
                return Ok(true);
            }
            if fd != 0 {
                fuel.sys.close(fd);
            }
            self.fd = None;
        }
    }

    /// Opens the next file; one that cannot be opened is reported and passed over.
    fn open(&mut self, fuel: &mut Fuel<'_>) -> Result<bool> {
        while let Some(name) = self.files.pop_front() {
            match failed(fuel.sys.open(&name, OpenHow::READ))? {
                Ok(fd) => {
                    self.fd = Some(fd);
                    self.name = Some(name);
                    if !self.parser.inside() {
                        self.forget();
                        (self.lines, self.column) = (0, 0);
                    }
                    return Ok(true);
                }
                Err(errno) => {
                    let shown = String::from_utf8_lossy(&name).into_owned();
                    let message = format!("error: Could not open file {shown}: {errno}");
                    complain(fuel.sys, b"jq", message.as_bytes())?;
                    self.unreadable = true;
                }
            }
        }
        Ok(false)
    }

    /// Drops what was used, keeping count of its lines.
    fn forget(&mut self) {
        let used = self.buf.get(..self.at).unwrap_or_default();
        self.lines += memchr::memchr_iter(b'\n', used).count();
        self.column = match memchr::memrchr(b'\n', used) {
            Some(at) => used.len() - at - 1,
            None => self.column + used.len(),
        };
        self.buf.drain(..self.at);
        self.at = 0;
    }
}

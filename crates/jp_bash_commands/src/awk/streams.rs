//! Files and commands that a program reads and writes, by the names it uses; and records out of bytes.

use std::rc::Rc;

use jp_bash_system::io::{CHUNK, Output};
use jp_bash_system::{
    Ended, Errno, Fd, Limit, OpenHow, Pid, Spawn, Stop, SysError, SysResult, System, failed,
};
use rustc_hash::FxHashMap;

use jp_bash_regex::{MatchError, Regex};

use super::op::Dest;

/// What ends a record.
#[derive(Clone)]
pub(super) enum Separator {
    Byte(u8),
    /// Blank lines.
    Paragraph,
    Regex(Rc<Regex>),
}

/// Why no record came.
pub(super) enum ReadError {
    Errno(Errno),
    Stop(Stop),
    Regex(MatchError),
}

impl From<MatchError> for ReadError {
    fn from(error: MatchError) -> Self {
        match error {
            MatchError::Stop(stop) => Self::Stop(stop),
            error => Self::Regex(error),
        }
    }
}

impl From<SysError> for ReadError {
    fn from(error: SysError) -> Self {
        match error {
            SysError::Errno(errno) => Self::Errno(errno),
            SysError::Stop(stop) => Self::Stop(stop),
        }
    }
}

/// A record in the buffer of its reader: where it is, and where its terminator ends.
pub(super) struct Found {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) after: usize,
}

/// So many lines are counted as work at once.
const LINES: u32 = 16;

/// Reads records from a descriptor.
pub(super) struct Reader {
    fd: Fd,
    buf: Vec<u8>,
    start: usize,
    end: usize,
    ended: bool,
    held: u64,
    child: Option<Pid>,
    owned: bool,
    /// Lines that are not counted as work yet.
    lines: u32,
    /// Where the last complete line in the buffer ends, once somebody asked.
    complete: usize,
}

impl Reader {
    pub(super) fn new(fd: Fd, child: Option<Pid>, owned: bool) -> Self {
        Self {
            fd,
            buf: Vec::new(),
            start: 0,
            end: 0,
            ended: false,
            held: 0,
            child,
            owned,
            lines: 0,
            complete: 0,
        }
    }

    /// Returns bytes of the buffer.
    pub(super) fn slice(&self, start: usize, end: usize) -> &[u8] {
        self.buf.get(start..end).unwrap_or_default()
    }

    fn rest(&self) -> &[u8] {
        self.slice(self.start, self.end)
    }

    /// Finds the next record and moves behind it; `None` at the end.
    #[inline]
    pub(super) fn record(
        &mut self,
        sys: &mut dyn System,
        separator: &Separator,
    ) -> Result<Option<Found>, ReadError> {
        match separator {
            Separator::Byte(byte) => self.line(sys, *byte),
            Separator::Paragraph => self.paragraph(sys),
            Separator::Regex(regex) => self.regex_record(sys, regex),
        }
    }

    fn take(&mut self, end: usize, after: usize) -> Option<Found> {
        let start = self.start;
        self.start = after;
        Some(Found { start, end, after })
    }

    fn line(&mut self, sys: &mut dyn System, byte: u8) -> Result<Option<Found>, ReadError> {
        let mut scanned = 0;
        loop {
            let unseen = self.slice(self.start + scanned, self.end);
            if let Some(at) = memchr::memchr(byte, unseen) {
                let end = self.start + scanned + at;
                self.lines += 1;
                if self.lines == LINES {
                    self.lines = 0;
                    sys.work(LINES).map_err(ReadError::Stop)?;
                }
                return Ok(self.take(end, end + 1));
            }
            scanned = self.end - self.start;
            if self.ended {
                return Ok(if scanned == 0 {
                    None
                } else {
                    self.take(self.end, self.end)
                });
            }
            self.more(sys)?;
        }
    }

    /// Passes over lines that do not match, as far as they are in the buffer; the last one stays. Returns how many
    /// they were, and whether the next line matches.
    pub(super) fn pass(
        &mut self,
        sys: &mut dyn System,
        regex: &Regex,
    ) -> Result<(u32, bool), ReadError> {
        if self.complete <= self.start {
            let Some(last) = memchr::memrchr(b'\n', self.rest()) else {
                return Ok((0, false));
            };
            self.complete = self.start + last + 1;
        }
        let text = self.slice(0, self.complete);
        let at_once = regex
            .literal()
            .and_then(|literal| literal.find_at_once(text, self.start));
        let found = match at_once {
            // The lines that are passed are paid for below, and the one that stays by its reader.
            Some(found) => found,
            None => regex.line_at(sys, text, self.start, b'\n')?,
        };
        // Behind the last newline there is no line, though `^$` matches there.
        let found = found.filter(|at| *at < self.complete);
        // Without a match the last line begins behind the newline before its own.
        let upto = usize::min(found.unwrap_or(usize::MAX), self.complete - 1);
        let passed = self.slice(self.start, upto);
        let Some(last) = memchr::memrchr(b'\n', passed) else {
            return Ok((0, found.is_some()));
        };
        let lines = memchr::memchr_iter(b'\n', passed).count();
        let lines = u32::try_from(lines).unwrap_or(u32::MAX);
        self.start += last + 1;
        sys.work(lines).map_err(ReadError::Stop)?;
        Ok((lines, found.is_some()))
    }

    fn paragraph(&mut self, sys: &mut dyn System) -> Result<Option<Found>, ReadError> {
        // Newlines before a paragraph belong to nothing.
        loop {
            let skip = self.rest().iter().take_while(|b| **b == b'\n').count();
            self.start += skip;
            if self.start < self.end {
                break;
            }
            if self.ended {
                return Ok(None);
            }
            self.more(sys)?;
        }
        let mut scanned = 0;
        loop {
            let found = memchr::memmem::find(self.slice(self.start + scanned, self.end), b"\n\n");
            if let Some(at) = found {
                let end = self.start + scanned + at;
                let gap = self
                    .slice(end, self.end)
                    .iter()
                    .take_while(|b| **b == b'\n')
                    .count();
                if end + gap < self.end || self.ended {
                    sys.work(1).map_err(ReadError::Stop)?;
                    return Ok(self.take(end, end + gap));
                }
                scanned += at;
            } else {
                scanned = (self.end - self.start).saturating_sub(1);
            }
            if self.ended {
                let end = self.end - usize::from(self.rest().last() == Some(&b'\n'));
                return Ok(self.take(end, self.end));
            }
            self.more(sys)?;
        }
    }

    fn regex_record(
        &mut self,
        sys: &mut dyn System,
        regex: &Regex,
    ) -> Result<Option<Found>, ReadError> {
        let mut looked = 0;
        loop {
            // Searching again from the start for every piece read would be quadratic: wait for twice as much.
            if self.end - self.start >= looked * 2 || self.ended {
                looked = self.end - self.start;
                let mut from = 0;
                while let Some((start, end)) = regex
                    .find_at(sys, self.rest(), from)
                    .map_err(ReadError::from)?
                {
                    if start == end {
                        from = end + 1;
                        continue;
                    }
                    // A match at the end of the buffer might go on.
                    if self.start + end < self.end || self.ended {
                        sys.work(1).map_err(ReadError::Stop)?;
                        return Ok(self.take(self.start + start, self.start + end));
                    }
                    break;
                }
            }
            if self.ended {
                if self.start == self.end {
                    return Ok(None);
                }
                return Ok(self.take(self.end, self.end));
            }
            self.more(sys)?;
        }
    }

    /// Reads one more piece behind what is in the buffer.
    fn more(&mut self, sys: &mut dyn System) -> Result<(), ReadError> {
        self.complete = 0;
        if self.start > 0 && self.end + CHUNK > self.buf.len() {
            self.buf.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end + CHUNK > self.buf.len() {
            let grown = usize::max(self.end + CHUNK, self.buf.len() * 2);
            let more = (grown - self.buf.len()) as u64;
            if !self.buf.is_empty() {
                sys.reserve(more).map_err(ReadError::Stop)?;
                self.held += more;
            }
            self.buf
                .try_reserve_exact(grown - self.buf.len())
                .map_err(|_| ReadError::Stop(Stop::Limit(Limit::Memory)))?;
            self.buf.resize(grown, 0);
        }
        let room = self.buf.get_mut(self.end..).unwrap_or_default();
        let got = sys.read(self.fd, room)?;
        self.end += got;
        self.ended = got == 0;
        Ok(())
    }

    /// Closes what is read; returns how a command ended.
    pub(super) fn close(self, sys: &mut dyn System) -> Result<f64, Stop> {
        sys.release(self.held);
        if self.owned {
            sys.close(self.fd);
        }
        match self.child {
            Some(child) => Ok(failed(sys.wait(child))?.map_or(-1.0, status)),
            None => Ok(0.0),
        }
    }
}

/// Returns what `system` and `close` say about how a command ended.
pub(super) fn status(ended: Ended) -> f64 {
    match ended {
        Ended::Exit(status) => f64::from(status),
        Ended::Signal(signal) => f64::from(signal) + 256.0,
    }
}

/// Something written to.
pub(super) struct Writer {
    pub(super) output: Output,
    fd: Fd,
    child: Option<Pid>,
    owned: bool,
    /// Standard error is not buffered.
    direct: bool,
}

/// All open streams.
#[derive(Default)]
pub(super) struct Streams {
    pub(super) readers: FxHashMap<Vec<u8>, Reader>,
    writers: FxHashMap<Vec<u8>, Writer>,
    /// Writers as they were opened, to be closed in that order.
    order: Vec<Vec<u8>>,
}

/// Starts `sh -c command`, with one of its descriptors on a pipe; returns our end of it.
fn spawn_shell(sys: &mut dyn System, command: &[u8], theirs: Fd) -> SysResult<(Fd, Pid)> {
    let (read, write) = sys.pipe()?;
    let (ours, given) = if theirs == 0 {
        (write, read)
    } else {
        (read, write)
    };
    let spawned = sys.spawn(Spawn {
        argv: vec![b"sh".to_vec(), b"-c".to_vec(), command.to_vec()],
        fds: vec![(theirs, given)],
        ..Spawn::default()
    });
    sys.close(given);
    match spawned {
        Ok(child) => Ok((ours, child)),
        Err(error) => {
            sys.close(ours);
            Err(error)
        }
    }
}

/// Returns the descriptor that a special name means.
fn special(name: &[u8]) -> Option<Fd> {
    match name {
        b"/dev/stdin" => Some(0),
        b"/dev/stdout" | b"-" => Some(1),
        b"/dev/stderr" => Some(2),
        _ => None,
    }
}

impl Streams {
    /// Opens a command or file for reading, if it is not open yet.
    pub(super) fn reader(
        &mut self,
        sys: &mut dyn System,
        name: &[u8],
        command: bool,
    ) -> SysResult<&mut Reader> {
        if !self.readers.contains_key(name) {
            let reader = if command {
                let (fd, child) = spawn_shell(sys, name, 1)?;
                Reader::new(fd, Some(child), true)
            } else if matches!(name, b"-" | b"/dev/stdin") {
                Reader::new(0, None, false)
            } else {
                Reader::new(sys.open(name, OpenHow::READ)?, None, true)
            };
            self.readers.insert(name.to_vec(), reader);
        }
        self.readers.get_mut(name).ok_or_else(|| Errno::BadF.into())
    }

    /// Opens a file or command for writing, if it is not open yet. `None` stands for our own standard output.
    pub(super) fn writer(
        &mut self,
        sys: &mut dyn System,
        name: &[u8],
        dest: Dest,
    ) -> SysResult<Option<&mut Writer>> {
        if dest != Dest::Pipe && special(name) == Some(1) {
            return Ok(None);
        }
        if !self.writers.contains_key(name) {
            let (fd, child, owned, direct) = match (dest, special(name)) {
                (Dest::Pipe, _) => {
                    let (fd, child) = spawn_shell(sys, name, 0)?;
                    (fd, Some(child), true, false)
                }
                (_, Some(fd)) => (fd, None, false, true),
                (Dest::Append, None) => (sys.open(name, OpenHow::APPEND)?, None, true, false),
                (_, None) => (sys.open(name, OpenHow::WRITE)?, None, true, false),
            };
            let output = Output::new(fd);
            let writer = Writer {
                output,
                fd,
                child,
                owned,
                direct,
            };
            self.writers.insert(name.to_vec(), writer);
            self.order.push(name.to_vec());
        }
        Ok(self.writers.get_mut(name))
    }

    pub(super) fn is_writer(&self, name: &[u8]) -> bool {
        self.writers.contains_key(name)
    }

    /// Writes out what all writers have collected.
    pub(super) fn flush(&mut self, sys: &mut dyn System) -> Result<(), Stop> {
        for writer in self.writers.values_mut() {
            writer.output.flush(sys)?;
        }
        Ok(())
    }

    pub(super) fn flush_one(&mut self, sys: &mut dyn System, name: &[u8]) -> Result<bool, Stop> {
        match self.writers.get_mut(name) {
            Some(writer) => writer.output.flush(sys).map(|()| true),
            None => Ok(false),
        }
    }

    /// Closes a stream; `None` if there is none of that name.
    pub(super) fn close(&mut self, sys: &mut dyn System, name: &[u8]) -> Result<Option<f64>, Stop> {
        let mut result = None;
        if let Some(reader) = self.readers.remove(name) {
            result = Some(reader.close(sys)?);
        }
        if let Some(writer) = self.writers.remove(name) {
            self.order.retain(|open| open != name);
            result = Some(writer.close(sys)?);
        }
        Ok(result)
    }

    /// Closes everything, at the end.
    pub(super) fn close_all(&mut self, sys: &mut dyn System) -> Result<bool, Stop> {
        let mut clean = true;
        for name in std::mem::take(&mut self.order) {
            if let Some(writer) = self.writers.remove(&name) {
                // -1 is a write that failed; the status of a command is its own affair.
                clean &= writer.close(sys)? >= 0.0;
            }
        }
        // A command that still writes gets SIGPIPE: nobody waits for what it has to say.
        for (_, reader) in self.readers.drain() {
            reader.close(sys)?;
        }
        Ok(clean)
    }
}

impl Writer {
    pub(super) fn put(&mut self, sys: &mut dyn System, bytes: &[u8]) -> Result<(), Stop> {
        self.output.put(sys, bytes)?;
        if self.direct {
            self.output.flush(sys)?;
        }
        Ok(())
    }

    fn close(self, sys: &mut dyn System) -> Result<f64, Stop> {
        let (fd, child, owned) = (self.fd, self.child, self.owned);
        let written = self.output.finish(sys)?;
        if owned {
            sys.close(fd);
        }
        match child {
            Some(child) => Ok(failed(sys.wait(child))?.map_or(-1.0, status)),
            None => Ok(if written.is_ok() { 0.0 } else { -1.0 }),
        }
    }
}

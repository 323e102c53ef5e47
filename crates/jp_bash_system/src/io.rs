//! Buffered streams over descriptors: lines in, bytes out, messages on standard error.

use crate::budget::PIECE;
use crate::budget::units;
use crate::errno::Errno;
use crate::meter;
use crate::stop::{Limit, Stop};
use crate::system::{Fd, OpenHow, SysError, SysResult, System, Whence};

/// How much is written at once.
pub const CHUNK: usize = 32 * 1024;

/// The room for the first read.
const FIRST: usize = 8 * 1024;

/// The room that reading uses without counting it: more than that is one long line.
const MOST: usize = 64 * 1024;

/// Reads a descriptor by pieces or by lines. Does not close it.
pub struct Input {
    fd: Fd,
    /// As much as was ever read into; it grows to `size`.
    buf: Vec<u8>,
    size: usize,
    start: usize,
    end: usize,
    ended: bool,
    /// The failure that the first read reports.
    broken: Option<Errno>,
    /// Whether the last read took all the room there was.
    filled: bool,
    held: Held,
}

impl Input {
    /// Makes a reader; nothing is read yet.
    pub fn new(fd: Fd) -> Self {
        Self {
            fd,
            buf: Vec::new(),
            size: FIRST,
            start: 0,
            end: 0,
            ended: false,
            broken: None,
            filled: false,
            held: Held::default(),
        }
    }

    /// Opens a file for reading; `-` is standard input. A directory opens, and fails when it is read, whatever
    /// the file system below says about opening it.
    pub fn open(sys: &mut dyn System, path: &[u8]) -> SysResult<Self> {
        if path == b"-" {
            return Ok(Self::new(0));
        }
        match sys.open(path, OpenHow::READ) {
            Ok(fd) => Ok(Self::new(fd)),
            Err(SysError::Errno(Errno::IsDir)) => Ok(Self {
                broken: Some(Errno::IsDir),
                ..Self::new(Fd::MAX)
            }),
            Err(error) => Err(error),
        }
    }

    /// Returns the descriptor, to ask about the file behind it.
    pub fn fd(&self) -> Fd {
        self.fd
    }

    /// Gives back the memory of a long line, and closes the file unless it is one of the three standard streams.
    pub fn close(mut self, sys: &mut dyn System) {
        self.held.end(sys);
        if self.fd > 2 && self.broken.is_none() {
            sys.close(self.fd);
        }
    }

    /// Returns what is in the buffer, after reading if it was empty; empty at the end.
    pub fn fill(&mut self, sys: &mut dyn System) -> SysResult<&[u8]> {
        if self.start == self.end && !self.ended {
            self.start = 0;
            self.end = 0;
            self.more(sys)?;
        }
        Ok(self.buf.get(self.start..self.end).unwrap_or_default())
    }

    /// As [`Input::fill`], but never takes more than that from the descriptor.
    pub fn fill_at_most(&mut self, sys: &mut dyn System, most: usize) -> SysResult<&[u8]> {
        if self.start == self.end && !self.ended {
            self.start = 0;
            self.end = 0;
            self.read_up_to(sys, most)?;
        }
        let stop = usize::min(self.end, self.start.saturating_add(most));
        Ok(self.buf.get(self.start..stop).unwrap_or_default())
    }

    /// Marks bytes of [`Input::fill`] as used.
    pub fn consume(&mut self, bytes: usize) {
        self.start = usize::min(self.start + bytes, self.end);
    }

    /// Returns the next record with its delimiter (the last one may lack it); `None` at the end.
    /// A record that does not fit the memory limit is `Stop::Limit(Memory)`.
    pub fn record(&mut self, sys: &mut dyn System, delimiter: u8) -> SysResult<Option<&[u8]>> {
        let mut scanned = 0;
        loop {
            let found = self
                .buf
                .get(self.start + scanned..self.end)
                .and_then(|rest| memchr::memchr(delimiter, rest));
            if let Some(at) = found {
                let from = self.start;
                self.start += scanned + at + 1;
                meter::handed(self.start - from);
                // A longer record is paid for by whoever goes through it.
                sys.work(units(usize::min(self.start - from, MOST)))?;
                return Ok(self.buf.get(from..self.start));
            }
            if self.ended {
                let from = self.start;
                self.start = self.end;
                meter::handed(self.end - from);
                return Ok(
                    (from < self.end).then(|| self.buf.get(from..self.end).unwrap_or_default())
                );
            }
            scanned = self.end - self.start;
            self.more(sys)?;
        }
    }

    /// Gives unread bytes back to a file that can seek, so that the next reader of the same descriptor sees them.
    pub fn give_back(&mut self, sys: &mut dyn System) {
        let unread = i64::try_from(self.end - self.start).unwrap_or(0);
        if unread > 0 && sys.seek(self.fd, Whence::Current(-unread)).is_ok() {
            self.start = self.end;
        }
    }

    /// Reads one more piece behind what is in the buffer.
    fn more(&mut self, sys: &mut dyn System) -> SysResult<()> {
        if self.start > 0 && self.size - self.end < self.size / 2 {
            self.buf.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        // Most inputs are short: the buffer starts small and grows once a read has filled it.
        let full = self.end > 0 && self.size - self.end < self.size / 4;
        if full || (self.filled && self.size < MOST) {
            self.grow(sys)?;
        }
        self.read_up_to(sys, MOST)
    }

    fn grow(&mut self, sys: &mut dyn System) -> SysResult<()> {
        let grown = usize::max(self.size * 2, usize::min(self.size * 8, MOST));
        // What a guest's line makes us hold is counted; the usual buffer is ours.
        if grown > MOST {
            self.held.more(sys, grown - self.size)?;
        }
        self.buf
            .try_reserve_exact(grown - self.buf.len())
            .map_err(|_| SysError::Stop(Stop::Limit(Limit::Memory)))?;
        self.size = grown;
        Ok(())
    }

    /// Reads once into the room behind what is in the buffer.
    fn read_up_to(&mut self, sys: &mut dyn System, most: usize) -> SysResult<()> {
        if let Some(errno) = self.broken {
            return Err(errno.into());
        }
        let stop = usize::min(self.size, self.end.saturating_add(usize::min(most, MOST)));
        if self.buf.len() < stop {
            self.buf.resize(stop, 0);
        }
        let room = self.buf.get_mut(self.end..stop).unwrap_or_default();
        let got = usize::min(sys.read(self.fd, room)?, room.len());
        self.filled = got == room.len();
        self.end += got;
        self.ended = got == 0;
        Ok(())
    }
}

/// Counts memory that a command holds, so that all of it is given back however the command ends.
#[derive(Debug, Default)]
pub struct Held(u64);

impl Held {
    /// Counts more bytes, before they are allocated.
    pub fn more(&mut self, sys: &mut dyn System, bytes: usize) -> Result<(), Stop> {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        sys.reserve(bytes)?;
        self.0 = self.0.saturating_add(bytes);
        Ok(())
    }

    /// Makes `to` a copy of `from`.
    #[inline]
    pub fn copy(
        &mut self,
        sys: &mut dyn System,
        to: &mut Vec<u8>,
        from: &[u8],
    ) -> Result<(), Stop> {
        if from.len() <= usize::min(to.capacity(), PIECE) {
            to.clear();
            to.extend_from_slice(from);
            return Ok(());
        }
        self.copy_much(sys, to, from)
    }

    fn copy_much(
        &mut self,
        sys: &mut dyn System,
        to: &mut Vec<u8>,
        from: &[u8],
    ) -> Result<(), Stop> {
        to.clear();
        if from.len() > to.capacity() {
            self.more(sys, from.len() - to.capacity())?;
            to.try_reserve_exact(from.len())
                .map_err(|_| Stop::Limit(Limit::Memory))?;
        }
        for piece in from.chunks(PIECE) {
            sys.work_bytes(piece.len())?;
            to.extend_from_slice(piece);
        }
        Ok(())
    }

    /// Makes room for that many items more.
    pub fn room<T>(
        &mut self,
        sys: &mut dyn System,
        list: &mut Vec<T>,
        items: usize,
    ) -> Result<(), Stop> {
        let need = list.len().saturating_add(items);
        if need > list.capacity() {
            let grown = usize::max(need, list.capacity() + list.capacity() / 2);
            let more = grown - list.capacity();
            self.more(sys, more.saturating_mul(size_of::<T>()))?;
            list.try_reserve_exact(grown - list.len())
                .map_err(|_| Stop::Limit(Limit::Memory))?;
        }
        Ok(())
    }

    /// Gives some bytes back.
    pub fn less(&mut self, sys: &mut dyn System, bytes: usize) {
        let bytes = u64::min(u64::try_from(bytes).unwrap_or(u64::MAX), self.0);
        sys.release(bytes);
        self.0 -= bytes;
    }

    /// Gives everything back.
    pub fn end(&mut self, sys: &mut dyn System) {
        sys.release(std::mem::take(&mut self.0));
    }
}

/// Collects output and writes it in large pieces. Call [`Output::finish`] at the end.
pub struct Output {
    fd: Fd,
    buf: Vec<u8>,
    /// The first failure, after which everything is dropped.
    failed: Option<Errno>,
}

impl Output {
    /// Makes a writer.
    pub fn new(fd: Fd) -> Self {
        Self {
            fd,
            buf: Vec::new(),
            failed: None,
        }
    }

    /// Writes bytes. A failure is remembered for [`Output::finish`].
    pub fn put(&mut self, sys: &mut dyn System, bytes: &[u8]) -> Result<(), Stop> {
        if self.buf.len() + bytes.len() > CHUNK {
            self.flush(sys)?;
            if bytes.len() >= CHUNK {
                return self.write(sys, bytes);
            }
        }
        self.buf.extend_from_slice(bytes);
        Ok(())
    }

    /// Returns the buffer, to format straight into it; follow with [`Output::settle`].
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buf
    }

    /// Writes the buffer out if it has grown large.
    pub fn settle(&mut self, sys: &mut dyn System) -> Result<(), Stop> {
        if self.buf.len() >= CHUNK {
            meter::collected(self.buf.len());
            self.flush(sys)
        } else {
            Ok(())
        }
    }

    /// Writes the same byte many times.
    pub fn repeat(&mut self, sys: &mut dyn System, byte: u8, mut times: usize) -> Result<(), Stop> {
        while times > 0 {
            let now = usize::min(times, CHUNK);
            self.buf.resize(self.buf.len() + now, byte);
            self.settle(sys)?;
            times -= now;
        }
        Ok(())
    }

    /// Writes out what was collected.
    pub fn flush(&mut self, sys: &mut dyn System) -> Result<(), Stop> {
        let bytes = std::mem::take(&mut self.buf);
        let done = if bytes.is_empty() {
            Ok(())
        } else {
            self.write(sys, &bytes)
        };
        self.buf = bytes;
        self.buf.clear();
        done
    }

    /// Tells whether a write has failed, so that a command may stop early.
    pub fn failed(&self) -> bool {
        self.failed.is_some()
    }

    /// Writes out the rest; the error is the first failure of any write (`NAME: write error: TEXT` is the command's to say).
    pub fn finish(mut self, sys: &mut dyn System) -> Result<Result<(), Errno>, Stop> {
        self.flush(sys)?;
        Ok(self.failed.map_or(Ok(()), Err))
    }

    fn write(&mut self, sys: &mut dyn System, bytes: &[u8]) -> Result<(), Stop> {
        if self.failed.is_some() {
            // What is dropped has been made all the same.
            return sys.work(1);
        }
        match sys.write(self.fd, bytes) {
            Ok(()) => Ok(()),
            Err(SysError::Errno(errno)) => {
                self.failed = Some(errno);
                Ok(())
            }
            Err(SysError::Stop(stop)) => Err(stop),
        }
    }
}

/// Prints text on standard error, as it is.
pub fn say(sys: &mut dyn System, parts: &[&[u8]]) -> Result<(), Stop> {
    match sys.write(2, &parts.concat()) {
        Err(SysError::Stop(stop)) => Err(stop),
        _ => Ok(()),
    }
}

/// Prints `NAME: PARTS` on standard error and gives back the status to end with.
pub fn fail(
    sys: &mut dyn System,
    args: &[Vec<u8>],
    status: i32,
    parts: &[&[u8]],
) -> Result<i32, Stop> {
    complain(sys, called(args), &parts.concat())?;
    Ok(status)
}

/// Returns the name that a command was called by.
pub fn called(args: &[Vec<u8>]) -> &[u8] {
    args.first().map_or(&b""[..], Vec::as_slice)
}

/// Prints `NAME: MESSAGE` on standard error.
pub fn complain(sys: &mut dyn System, name: &[u8], message: &[u8]) -> Result<(), Stop> {
    let mut line = Vec::with_capacity(name.len() + message.len() + 3);
    line.extend_from_slice(name);
    line.extend_from_slice(b": ");
    line.extend_from_slice(message);
    line.push(b'\n');
    match sys.write(2, &line) {
        Err(SysError::Stop(stop)) => Err(stop),
        _ => Ok(()),
    }
}

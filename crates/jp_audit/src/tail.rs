//! Reads the last lines of log files, from the end. Does not know which files there are.

use std::{
    collections::VecDeque,
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

use crate::{
    AuditError, Entry,
    frame::MAX_LINE,
    reader::{parse, too_long},
};

/// How much is read at once.
const BLOCK: u64 = 1 << 16;
/// Lines that are not records and are reported, whatever number of records is wanted.
const BAD_LINES: usize = 100;

/// The newest records, as far as they have been found.
pub(crate) struct Tail<'w> {
    /// What was found, oldest first.
    pub(crate) entries: VecDeque<Result<Entry, AuditError>>,
    count: usize,
    wanted: &'w dyn Fn(&Entry) -> bool,
    bad: usize,
}

impl<'w> Tail<'w> {
    pub(crate) const fn new(count: usize, wanted: &'w dyn Fn(&Entry) -> bool) -> Self {
        Self {
            entries: VecDeque::new(),
            count,
            wanted,
            bad: 0,
        }
    }

    /// Returns whether nothing more is wanted.
    pub(crate) fn is_full(&self) -> bool {
        let good = self.entries.len().saturating_sub(self.bad);
        good >= self.count || self.bad >= self.count.max(BAD_LINES)
    }

    fn put(&mut self, entry: Result<Entry, AuditError>) {
        if entry.as_ref().is_ok_and(|entry| !(self.wanted)(entry)) {
            return;
        }
        self.bad += usize::from(entry.is_err());
        self.entries.push_front(entry);
    }
}

/// Reads a file backwards and puts its last lines in front, until there are enough.
pub(crate) fn last_lines(mut file: File, path: &Path, tail: &mut Tail<'_>) -> io::Result<()> {
    let end = file.seek(SeekFrom::End(0))?;
    let before = tail.entries.len();
    from_end(&mut file, end, path, tail)?;
    let put = tail.entries.len().saturating_sub(before);
    let is_bad = |entry: &Result<Entry, AuditError>| entry.is_err();
    if !tail.entries.iter().take(put).any(is_bad) {
        return Ok(());
    }
    // Lines were counted from the end; people and `verify` count from the start.
    let lines = newlines(&mut file, end)?;
    for entry in tail.entries.iter_mut().take(put) {
        if let Err(AuditError::BadLine { line, .. }) = entry {
            *line = (lines + 1).saturating_sub(*line);
        }
    }
    Ok(())
}

/// Reads lines from the end and numbers them from there.
fn from_end(file: &mut File, end: u64, path: &Path, tail: &mut Tail<'_>) -> io::Result<()> {
    let mut start = end;
    // What has been read of the line whose start is still to be found, last byte first.
    let mut reversed: Vec<u8> = Vec::new();
    let (mut finished, mut overlong, mut number) = (false, false, 0);
    let mut end_line = |reversed: &mut Vec<u8>, overlong: bool| {
        number += 1;
        reversed.reverse();
        tail.put(if overlong {
            Err(too_long(path, number))
        } else {
            parse(reversed, path, number)
        });
        reversed.clear();
        tail.is_full()
    };
    while start > 0 {
        let size = start.min(BLOCK);
        start -= size;
        file.seek(SeekFrom::Start(start))?;
        let mut block = Vec::new();
        file.take(size).read_to_end(&mut block)?;
        for byte in block.into_iter().rev() {
            if byte != b'\n' {
                overlong |= reversed.len() >= MAX_LINE;
                if !overlong {
                    reversed.push(byte);
                }
                continue;
            }
            // The bytes after the last newline are a line still being written, or torn.
            if finished && end_line(&mut reversed, overlong) {
                return Ok(());
            }
            reversed.clear();
            (finished, overlong) = (true, false);
        }
    }
    if finished {
        end_line(&mut reversed, overlong);
    }
    Ok(())
}

/// Counts the lines of the first `end` bytes.
fn newlines(file: &mut File, end: u64) -> io::Result<u64> {
    file.seek(SeekFrom::Start(0))?;
    let mut rest = file.take(end);
    let mut count = 0;
    loop {
        let mut block = Vec::new();
        if rest.by_ref().take(BLOCK).read_to_end(&mut block)? == 0 {
            return Ok(count);
        }
        count += block
            .iter()
            .map(|byte| u64::from(*byte == b'\n'))
            .sum::<u64>();
    }
}

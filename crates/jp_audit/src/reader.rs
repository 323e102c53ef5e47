//! Reads records back for people and programs. Does not check them: that is `verify`.

use std::{
    collections::VecDeque,
    fs::File,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use crate::{
    AuditError, files,
    frame::MAX_LINE,
    lines::{Line, Lines},
    tail::{Tail, last_lines},
};

/// A record read back. Fields that a later version adds end up in `other`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
#[expect(
    missing_docs,
    reason = "the fields are those of `Record`, where they are described"
)]
pub struct Entry {
    /// The record's number, from 1.
    pub seq: u64,
    /// The MAC of the record before.
    pub prev: String,
    /// What the log itself says happened (`rotated`, `repaired`, `head_lost`); `None` for a call.
    pub event: Option<String>,
    pub time: u64,
    pub principal: String,
    pub call_id: String,
    pub traceparent: Option<String>,
    pub tool: String,
    pub source: String,
    pub capability: Option<String>,
    pub sha256: Option<String>,
    pub arguments_hash: String,
    pub grant: String,
    pub decision: String,
    pub decided_by: Option<String>,
    pub outcome: String,
    pub detail: Option<String>,
    pub duration_us: u64,
    pub fuel: Option<u64>,
    pub stdout_bytes: u64,
    pub stderr_bytes: u64,
    pub trace: Vec<String>,
    pub transient: Option<bool>,
    /// The MAC of this record.
    pub mac: String,
    /// The whole line as it stands in the file. In a file that was tampered with it may hold
    /// anything JSON can: escape it before it goes to a terminal.
    #[serde(skip)]
    pub raw: String,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub other: serde_json::Map<String, serde_json::Value>,
}

/// Iterates over the records of a directory, oldest first, without locking the log. A line that is
/// no record is an error in its place; a half-written last line is passed over.
#[derive(Debug)]
pub struct Reader {
    dir: PathBuf,
    waiting: VecDeque<u64>,
    current: Option<Open>,
    buffer: Vec<u8>,
}

#[derive(Debug)]
struct Open {
    path: PathBuf,
    lines: Lines<File>,
    line: u64,
}

impl Reader {
    /// Opens the log of a directory; one that is not there has no records.
    pub fn open(dir: &Path) -> Result<Self, AuditError> {
        let waiting = files::list(dir)?.into();
        Ok(Self {
            dir: dir.to_owned(),
            waiting,
            current: None,
            buffer: Vec::new(),
        })
    }

    /// Reads the newest `count` records that are wanted, oldest first, without reading the files from
    /// the start. Lines among them that are not records are errors in their place and do not count, but
    /// a hundred of them, or `count` if that is more, end the search.
    pub fn tail(
        &self,
        count: usize,
        wanted: impl Fn(&Entry) -> bool,
    ) -> Result<Vec<Result<Entry, AuditError>>, AuditError> {
        let mut tail = Tail::new(count, &wanted);
        for number in files::list(&self.dir)?.into_iter().rev() {
            if tail.is_full() {
                break;
            }
            let path = files::log_path(&self.dir, number);
            let Some(file) = files::open_existing(&path)? else {
                continue;
            };
            last_lines(file, &path, &mut tail)
                .map_err(|error| AuditError::io("read", &path, error))?;
        }
        Ok(tail.entries.into())
    }

    fn next_line(&mut self) -> Result<Option<Entry>, AuditError> {
        loop {
            if self.current.is_none() {
                let Some(number) = self.waiting.pop_front() else {
                    return Ok(None);
                };
                let path = files::log_path(&self.dir, number);
                // A file that was pruned meanwhile is no longer part of the log.
                let Some(file) = files::open_existing(&path)? else {
                    continue;
                };
                self.current = Some(Open {
                    path,
                    lines: Lines::new(file),
                    line: 0,
                });
            }
            let Some(open) = &mut self.current else {
                continue;
            };
            open.line += 1;
            let read = open.lines.next_into(&mut self.buffer);
            match read.map_err(|error| AuditError::io("read", &open.path, error)) {
                Ok(Some(Line::Whole)) => {
                    return parse(&self.buffer, &open.path, open.line).map(Some);
                }
                Ok(Some(Line::TooLong)) => return Err(too_long(&open.path, open.line)),
                Ok(Some(Line::Unfinished) | None) => self.current = None,
                Err(error) => {
                    self.current = None;
                    return Err(error);
                }
            }
        }
    }
}

impl Iterator for Reader {
    type Item = Result<Entry, AuditError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_line().transpose()
    }
}

/// Reads a line, which stands in this file under this number.
pub(crate) fn parse(line: &[u8], file: &Path, number: u64) -> Result<Entry, AuditError> {
    let bad = |reason: String| AuditError::BadLine {
        file: file.to_owned(),
        line: number,
        reason,
    };
    let text = std::str::from_utf8(line).map_err(|error| bad(error.to_string()))?;
    let entry: Entry = serde_json::from_str(text).map_err(|error| bad(error.to_string()))?;
    Ok(Entry {
        raw: text.to_owned(),
        ..entry
    })
}

/// Makes the error of a line that is longer than any record may be.
pub(crate) fn too_long(file: &Path, line: u64) -> AuditError {
    let reason = format!("longer than {MAX_LINE} bytes");
    AuditError::BadLine {
        file: file.to_owned(),
        line,
        reason,
    }
}

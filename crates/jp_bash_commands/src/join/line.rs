//! A file of `join`: its lines, taken apart into fields, and whether they are in order.

use jp_bash_system::io::{Held, Input};
use jp_bash_system::{PIECE, Stop, System, failed};

use super::{Wanted, compare};
use crate::file::Cmd;

/// A line and where its fields are. Its memory is counted until [`Line::free`].
pub(super) struct Line {
    text: Vec<u8>,
    fields: Vec<(usize, usize)>,
    held: Held,
}

impl Line {
    fn new(sys: &mut dyn System, text: &[u8], separator: Option<u8>) -> Result<Self, Stop> {
        let mut line = Self {
            text: Vec::new(),
            fields: Vec::new(),
            held: Held::default(),
        };
        line.held.copy(sys, &mut line.text, text)?;
        match separator {
            Some(separator) => line.split_at(sys, separator)?,
            None => line.split_at_blanks(sys)?,
        }
        Ok(line)
    }

    /// Makes another one like it.
    pub(super) fn copy(&self, sys: &mut dyn System) -> Result<Self, Stop> {
        let mut line = Self {
            text: Vec::new(),
            fields: Vec::new(),
            held: Held::default(),
        };
        line.held.copy(sys, &mut line.text, &self.text)?;
        line.held.room(sys, &mut line.fields, self.fields.len())?;
        for piece in self.fields.chunks(PIECE) {
            sys.work_bytes(piece.len())?;
            line.fields.extend_from_slice(piece);
        }
        Ok(line)
    }

    /// Gives the memory back.
    pub(super) fn free(mut self, sys: &mut dyn System) {
        self.held.end(sys);
    }

    fn split_at(&mut self, sys: &mut dyn System, separator: u8) -> Result<(), Stop> {
        let mut start = 0;
        for (number, piece) in self.text.chunks(PIECE).enumerate() {
            if number > 0 {
                sys.work_bytes(piece.len())?;
            }
            for at in memchr::memchr_iter(separator, piece) {
                let end = number * PIECE + at;
                self.held.room(sys, &mut self.fields, 1)?;
                self.fields.push((start, end));
                start = end + 1;
            }
        }
        self.held.room(sys, &mut self.fields, 1)?;
        self.fields.push((start, self.text.len()));
        Ok(())
    }

    fn split_at_blanks(&mut self, sys: &mut dyn System) -> Result<(), Stop> {
        let text = &self.text;
        // Where the field began that the text is in, if it is in one.
        let mut start = None;
        for (number, piece) in text.chunks(PIECE).enumerate() {
            if number > 0 {
                sys.work_bytes(piece.len())?;
            }
            for (at, byte) in piece.iter().enumerate() {
                let at = number * PIECE + at;
                match (start, matches!(byte, b' ' | b'\t')) {
                    (None, false) => start = Some(at),
                    (Some(from), true) => {
                        self.held.room(sys, &mut self.fields, 1)?;
                        self.fields.push((from, at));
                        start = None;
                    }
                    _ => {}
                }
            }
        }
        // Blanks at the end have an empty field behind them.
        let last = match start {
            Some(from) => Some((from, text.len())),
            None if self.fields.is_empty() => None,
            None => Some((text.len(), text.len())),
        };
        if let Some(last) = last {
            self.held.room(sys, &mut self.fields, 1)?;
            self.fields.push(last);
        }
        Ok(())
    }

    pub(super) fn count(&self) -> usize {
        self.fields.len()
    }

    pub(super) fn field(&self, at: usize) -> Option<&[u8]> {
        let (start, end) = *self.fields.get(at)?;
        self.text.get(start..end)
    }

    /// Returns the field to join on; a missing one is empty.
    pub(super) fn key(&self, on: usize) -> &[u8] {
        self.field(on).unwrap_or_default()
    }
}

/// One of the two files.
pub(super) struct Side {
    input: Input,
    name: Vec<u8>,
    number: u64,
    pub(super) line: Option<Line>,
    /// Whether a line found no partner; only then does disorder matter.
    pub(super) unpaired: bool,
    /// Whether disorder was reported.
    pub(super) told: bool,
    /// Whether it ends the run.
    pub(super) fatal: bool,
}

impl Side {
    /// Opens a file; nothing after a message.
    pub(super) fn open(cmd: &mut Cmd<'_>, path: &[u8]) -> Result<Option<Self>, Stop> {
        match failed(Input::open(cmd.sys, path))? {
            Ok(input) => Ok(Some(Self {
                input,
                name: path.to_vec(),
                number: 0,
                line: None,
                unpaired: false,
                told: false,
                fatal: false,
            })),
            Err(errno) => {
                let name = cmd.qf(path);
                cmd.fail(&[&name], errno)?;
                Ok(None)
            }
        }
    }

    pub(super) fn close(self, cmd: &mut Cmd<'_>) {
        self.input.close(cmd.sys);
    }

    /// Forgets the header, which needs no order.
    pub(super) fn start_over(&mut self) {
        self.line = None;
    }

    /// Reads the next line, and looks whether it is in order.
    pub(super) fn next(
        &mut self,
        cmd: &mut Cmd<'_>,
        wanted: &Wanted,
        file: usize,
    ) -> Result<(), Stop> {
        let old = self.line.take();
        let record = match failed(self.input.record(cmd.sys, wanted.end))? {
            Ok(record) => record,
            Err(errno) => {
                let name = cmd.qf(&self.name);
                return cmd.fail(&[&name], errno);
            }
        };
        let Some(record) = record else {
            if let Some(old) = old {
                old.free(cmd.sys);
            }
            return Ok(());
        };
        let text = record.strip_suffix(&[wanted.end]).unwrap_or(record);
        let line = Line::new(cmd.sys, text, wanted.separator)?;
        self.number += 1;
        let on = wanted.on.get(file).copied().unwrap_or(0);
        let due = wanted.check == Some(true) || (wanted.check.is_none() && self.unpaired);
        let wrong = match &old {
            Some(old) if due && !self.told && (wanted.check.is_none() || cmd.status == 0) => {
                compare(cmd.sys, old.key(on), line.key(on), wanted.ignore_case)?.is_gt()
            }
            _ => false,
        };
        if let Some(old) = old {
            old.free(cmd.sys);
        }
        if wrong {
            self.told = true;
            let place = format!(":{}: is not sorted: ", self.number);
            cmd.out.flush(cmd.sys)?;
            cmd.error(&[&self.name, place.as_bytes(), &line.text])?;
            if wanted.check == Some(true) {
                self.fatal = true;
                return Ok(());
            }
        }
        self.line = Some(line);
        Ok(())
    }
}

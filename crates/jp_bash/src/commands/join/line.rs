//! A file of `join`: its lines, taken apart into fields, and whether they are in order.

use super::{Wanted, compare};
use crate::commands::file::Cmd;
use crate::commands::io::Input;
use crate::stop::Stop;
use crate::system::failed;

/// A line and where its fields are.
#[derive(Clone)]
pub(super) struct Line {
    text: Vec<u8>,
    fields: Vec<(usize, usize)>,
}

impl Line {
    fn new(text: &[u8], separator: Option<u8>) -> Self {
        let mut fields = Vec::new();
        match separator {
            Some(separator) => {
                let mut start = 0;
                for at in memchr::memchr_iter(separator, text) {
                    fields.push((start, at));
                    start = at + 1;
                }
                fields.push((start, text.len()));
            }
            None => {
                let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
                let mut at = text.iter().take_while(|byte| blank(byte)).count();
                while at < text.len() {
                    let rest = text.get(at..).unwrap_or_default();
                    let end = at + rest.iter().take_while(|byte| !blank(byte)).count();
                    fields.push((at, end));
                    let rest = text.get(end..).unwrap_or_default();
                    let blanks = rest.iter().take_while(|byte| blank(byte)).count();
                    // Blanks at the end have an empty field behind them.
                    if blanks > 0 && end + blanks == text.len() {
                        fields.push((text.len(), text.len()));
                    }
                    at = end + blanks;
                }
            }
        }
        Self {
            text: text.to_vec(),
            fields,
        }
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

    /// Returns the bytes that the line takes in memory.
    pub(super) fn weight(&self) -> u64 {
        u64::try_from(self.text.len() + self.fields.len() * 16 + 64).unwrap_or(u64::MAX)
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
        let Some(record) = record else { return Ok(()) };
        let text = record.strip_suffix(&[wanted.end]).unwrap_or(record);
        let line = Line::new(text, wanted.separator);
        self.number += 1;
        let on = wanted.on.get(file).copied().unwrap_or(0);
        let due = wanted.check == Some(true) || (wanted.check.is_none() && self.unpaired);
        if let Some(old) = old
            && due
            && !self.told
            && cmd.status == 0
            && compare(old.key(on), line.key(on), wanted.ignore_case).is_gt()
        {
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

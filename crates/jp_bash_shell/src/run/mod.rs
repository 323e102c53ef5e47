//! Running a script's tree: lists, pipelines, commands.

mod background;
mod command;
mod compound;
mod ended;
mod function;
pub(crate) mod lookup;
mod missing;
mod nested;
mod pipeline;
pub(crate) mod script;
mod select;
mod simple;
mod subshell;
mod substitution;
mod trace;
mod trap;

use std::sync::Arc;

use jp_bash_syntax::ast::{AndOr, Item, List, Pipeline};
use jp_bash_system::{PIECE, SysError, System};

use crate::Shell;
use crate::flow::Flow;

pub(crate) use lookup::Found;
pub use missing::known_missing;
pub(crate) use trace::word_text;

impl Shell<'_> {
    /// Runs commands one after the other; the status is the last one's.
    pub(crate) fn run_list(&mut self, list: &List) -> Result<i32, Flow> {
        let mut status = 0;
        for item in list {
            status = self.run_item(item)?;
            self.kernel.sinks.emit();
        }
        Ok(status)
    }

    fn run_item(&mut self, item: &Item) -> Result<i32, Flow> {
        if item.background {
            return self.start_background(item);
        }
        if item.rest.is_empty() {
            return self.run_pipeline(&item.first);
        }
        let mut status = self.run_tolerant(&item.first)?;
        let last = item.rest.len() - 1;
        for (at, (how, pipeline)) in item.rest.iter().enumerate() {
            let wanted = match how {
                AndOr::And => status == 0,
                AndOr::Or => status != 0,
            };
            if !wanted {
                continue;
            }
            self.kernel.sinks.emit();
            status = if at == last {
                self.run_pipeline(pipeline)?
            } else {
                self.run_tolerant(pipeline)?
            };
        }
        Ok(status)
    }

    fn run_tolerant(&mut self, pipeline: &Arc<Pipeline>) -> Result<i32, Flow> {
        self.tolerant += 1;
        let result = self.run_pipeline(pipeline);
        self.tolerant -= 1;
        result
    }

    /// Runs a condition: its failure is an answer, not an error.
    pub(super) fn run_condition(&mut self, list: &List) -> Result<i32, Flow> {
        self.tolerant += 1;
        let result = self.run_list(list);
        self.tolerant -= 1;
        result
    }

    /// Prints `NAME: line N: MESSAGE` on standard error.
    pub(crate) fn complain(&mut self, message: &[u8]) -> Result<(), Flow> {
        let prefix = self.error_prefix();
        if message.len() > PIECE {
            // Text of the script, of any length: not copied once more.
            self.print_error(&prefix)?;
            self.print_error(message)?;
            return self.print_error(b"\n");
        }
        self.print_error(&[&prefix, message, b"\n"].concat())
    }

    /// Prints `NAME: line N: BUILTIN: MESSAGE`, as builtins do.
    pub(crate) fn complain_as(&mut self, builtin: &[u8], message: &[u8]) -> Result<(), Flow> {
        self.complain(&[builtin, b": ", message].concat())
    }

    /// Returns `NAME: line N: `.
    pub(crate) fn error_prefix(&self) -> Vec<u8> {
        let name = self
            .frames
            .last()
            .map(|frame| &frame.source)
            .filter(|source| !source.is_empty())
            .unwrap_or(&self.arg0);
        [&**name, format!(": line {}: ", self.line).as_bytes()].concat()
    }

    /// Writes to standard error; a failure to do so is nobody's business.
    pub(crate) fn print_error(&mut self, text: &[u8]) -> Result<(), Flow> {
        match self.write(2, text) {
            Err(SysError::Stop(stop)) => Err(stop.into()),
            _ => Ok(()),
        }
    }

    /// Writes to standard output for a builtin; a failed write is reported and gives status 1.
    pub(crate) fn print(&mut self, builtin: &[u8], text: &[u8]) -> Result<i32, Flow> {
        if text.is_empty() {
            return Ok(0);
        }
        match self.write(1, text) {
            Ok(()) => Ok(0),
            Err(SysError::Stop(stop)) => Err(stop.into()),
            Err(SysError::Errno(errno)) => {
                self.complain_as(builtin, format!("write error: {errno}").as_bytes())?;
                Ok(1)
            }
        }
    }
}

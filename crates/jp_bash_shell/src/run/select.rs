//! `select`: a menu on standard error, answers from standard input.

use jp_bash_syntax::ast::{Command, List, Word};
use jp_bash_syntax::names::Name;
use jp_bash_system::{SysError, System};

use crate::Shell;
use crate::flow::Flow;
use crate::vars::{Bytes, known};

impl Shell<'_> {
    pub(super) fn run_select(
        &mut self,
        command: &Command,
        name: Name,
        words: Option<&[Word]>,
        body: &List,
    ) -> Result<i32, Flow> {
        self.line = self.line_of(command);
        let items = match words {
            Some(words) => self.expand_words(words)?,
            None => self.args.as_slice().to_vec(),
        };
        self.trace_select(name, words)?;
        if items.is_empty() {
            return self.leave_status(0);
        }
        let mut show = true;
        let status = loop {
            self.kernel.budget.turns(1)?;
            if show {
                let menu = menu(&items);
                self.print_error(&menu)?;
            }
            let prompt = self
                .var_text(known::PS3)?
                .map_or(b"#? ".to_vec(), |text| text.as_slice().to_vec());
            self.print_error(&prompt)?;
            let Some(line) = self.read_answer()? else {
                self.print(b"select", b"\n")?;
                break 1;
            };
            if line.is_empty() {
                show = true;
                continue;
            }
            show = false;
            let choice: Option<usize> = std::str::from_utf8(line.trim_ascii())
                .ok()
                .and_then(|text| text.parse().ok());
            let value = choice
                .and_then(|n| n.checked_sub(1))
                .and_then(|n| items.get(n))
                .cloned()
                .unwrap_or_default();
            let _refused = self.set_var(known::REPLY, Bytes::from(line))?;
            self.set_var(name, Bytes::from(value))?.or_abandon()?;
            self.loops += 1;
            let result = self.run_list(body);
            self.loops -= 1;
            match result {
                Ok(_) => {}
                Err(Flow::Break(levels)) => {
                    if levels > 1 && self.loops > 0 {
                        return Err(Flow::Break(levels - 1));
                    }
                    break self.status;
                }
                Err(Flow::Continue(levels)) => {
                    if levels > 1 && self.loops > 0 {
                        return Err(Flow::Continue(levels - 1));
                    }
                }
                Err(flow) => return Err(flow),
            }
            self.kernel.sinks.emit();
            if self
                .var_text(known::REPLY)?
                .is_none_or(|text| text.as_slice().is_empty())
            {
                show = true;
            }
        };
        self.status = status;
        Ok(status)
    }

    fn read_answer(&mut self) -> Result<Option<Vec<u8>>, Flow> {
        let mut line = Vec::new();
        loop {
            let mut byte = [0];
            match self.read(0, &mut byte) {
                Ok(0) | Err(SysError::Errno(_)) => {
                    return Ok((!line.is_empty()).then_some(line));
                }
                Ok(_) if byte == *b"\n" => return Ok(Some(line)),
                Ok(_) => line.extend_from_slice(&byte),
                Err(SysError::Stop(stop)) => return Err(stop.into()),
            }
        }
    }
}

/// Lays the menu out in columns, as bash does for a terminal of 80 columns.
fn menu(items: &[Vec<u8>]) -> Vec<u8> {
    let digits = items.len().to_string().len();
    let widest = items.iter().map(Vec::len).max().unwrap_or(0);
    let width = widest + digits + 2 + 2;
    let columns = usize::max(1, usize::min(80 / width, items.len()));
    let rows = items.len().div_ceil(columns);
    let columns = items.len().div_ceil(rows);
    // One column only when all fits in one, as bash prefers.
    let (rows, columns) = if columns > 1 && rows == 1 {
        (items.len(), 1)
    } else {
        (rows, columns)
    };
    let mut out = Vec::new();
    for row in 0..rows {
        let mut at = 0;
        for column in 0..columns {
            let Some(item) = items.get(column * rows + row) else {
                break;
            };
            let number = column * rows + row + 1;
            // The first column is as wide as its own numbers, the others as the last number.
            let digits = if column == 0 {
                rows.to_string().len()
            } else {
                digits
            };
            let cell = format!("{number:>digits$}) ");
            out.extend_from_slice(cell.as_bytes());
            out.extend_from_slice(item);
            at += cell.len() + item.len();
            if column + 1 < columns && (column + 1) * rows + row < items.len() {
                let target = (column + 1) * width;
                while at < target {
                    // bash fills with tabs up to the next column where it can.
                    let next_tab = (at / 8 + 1) * 8;
                    if next_tab <= target {
                        out.push(b'\t');
                        at = next_tab;
                    } else {
                        out.push(b' ');
                        at += 1;
                    }
                }
            }
        }
        out.push(b'\n');
    }
    out
}

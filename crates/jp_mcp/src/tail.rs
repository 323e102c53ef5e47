//! The last lines that a server wrote beside the protocol, for error messages.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use crate::hidden;

/// Lines that are kept.
const MAX_LINES: usize = 100;

/// Bytes that are kept of each.
const MAX_LINE: usize = 1000;

/// The last lines of a server; clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tail(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    lines: VecDeque<String>,
    dropped: u64,
}

/// What a server wrote beside the protocol: its last lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Said {
    lines: Vec<String>,
    dropped: u64,
}

impl Tail {
    /// Keeps a line; `from` says where it was written.
    pub(crate) fn push(&self, from: &str, line: &[u8]) {
        let cut = line.get(..MAX_LINE).unwrap_or(line);
        let text = String::from_utf8_lossy(cut);
        let (text, _) = hidden::clean(text.trim_end());
        let more = line.len().saturating_sub(cut.len());
        let more = match more {
            0 => String::new(),
            more => format!("… [{more} bytes left out]"),
        };
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.lines.len() == MAX_LINES {
            kept.lines.pop_front();
            kept.dropped = kept.dropped.saturating_add(1);
        }
        kept.lines.push_back(format!("{from}: {text}{more}"));
    }

    /// Returns what is kept.
    pub(crate) fn said(&self) -> Said {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Said {
            lines: kept.lines.iter().cloned().collect(),
            dropped: kept.dropped,
        }
    }
}

impl Said {
    /// Returns the lines, each with the stream it was written to.
    #[must_use]
    pub fn lines(&self) -> &[String] {
        &self.lines
    }
}

/// Nothing if the server wrote nothing, else the lines after a heading.
impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.lines.is_empty() {
            return Ok(());
        }
        f.write_str("; it wrote:")?;
        if self.dropped > 0 {
            write!(f, "\n[{} earlier lines left out]", self.dropped)?;
        }
        self.lines.iter().try_for_each(|line| write!(f, "\n{line}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_hundred_lines_are_kept_and_the_rest_is_counted() {
        let tail = Tail::default();
        for number in 0..150 {
            tail.push("stderr", format!("line {number}\n").as_bytes());
        }
        let said = tail.said();
        assert_eq!(said.lines().len(), 100);
        assert_eq!(
            said.lines().first().map(String::as_str),
            Some("stderr: line 50")
        );
        assert!(said.to_string().contains("[50 earlier lines left out]"));
    }

    #[test]
    fn a_line_cannot_fill_memory_or_colour_a_terminal() {
        let tail = Tail::default();
        tail.push("stderr", &[b"\x1b[31m".as_slice(), &[b'x'; 5000]].concat());
        let line = tail.said().lines()[0].clone();
        assert!(line.len() < 1100 && !line.contains('\u{1b}'), "{line}");
        assert!(line.ends_with("[4005 bytes left out]"), "{line}");
    }
}

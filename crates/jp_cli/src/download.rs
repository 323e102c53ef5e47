//! How far a download is, on a terminal.

use std::{
    cell::Cell,
    time::{Duration, Instant},
};

use crate::{
    text,
    ui::{Style, Ui},
};

/// Nothing is shown for what is there by then.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often the line is drawn.
const INTERVAL: Duration = Duration::from_millis(100);

/// Draws the progress of one download after the other.
pub(crate) struct Download<'a> {
    ui: &'a Ui,
    started: Cell<Option<Instant>>,
    drawn: Cell<Option<Instant>>,
}

impl<'a> Download<'a> {
    pub(crate) const fn new(ui: &'a Ui) -> Self {
        Self {
            ui,
            started: Cell::new(None),
            drawn: Cell::new(None),
        }
    }

    /// Says how much of something is there.
    pub(crate) fn show(&self, what: &str, done: u64, all: Option<u64>) {
        if !self.ui.err_is_terminal {
            return;
        }
        let now = Instant::now();
        let started = self.started.get().unwrap_or(now);
        self.started.set(Some(started));
        if all == Some(done) {
            self.clear();
            return;
        }
        let recent = self.drawn.get().is_some_and(|at| now - at < INTERVAL);
        if now - started < PATIENCE || recent {
            return;
        }
        self.drawn.set(Some(now));
        let of = all.map_or_else(String::new, |all| format!(" of {}", mebibytes(all)));
        let line = format!("fetching {}: {}{of}", text::one_line(what), mebibytes(done));
        let line = self.ui.paint(Style::Faint, line);
        self.ui.write(&format!("\r\u{1b}[2K{line}"));
    }

    fn clear(&self) {
        self.started.set(None);
        if self.drawn.take().is_some() {
            self.ui.write("\r\u{1b}[2K");
        }
    }
}

/// A failure ends a download too: what is said next starts on a line of its own.
impl Drop for Download<'_> {
    fn drop(&mut self) {
        self.clear();
    }
}

fn mebibytes(bytes: u64) -> String {
    let tenths = bytes.saturating_mul(10) / (1 << 20);
    format!("{}.{} MiB", tenths / 10, tenths % 10)
}

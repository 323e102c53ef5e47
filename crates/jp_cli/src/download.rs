//! How far a download is, on a terminal, and whom it waits for.

use std::{
    cell::Cell,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use jp_llm::registry::{Wait, Waiting};

use crate::{
    progress::{CLEAR, INTERVAL, PATIENCE, spin},
    text,
    ui::{Style, Ui},
};

/// Says on a terminal that a server lets us wait.
pub(crate) fn waiting(ui: &Ui) -> Option<Waiting> {
    if !ui.err_is_terminal {
        return None;
    }
    let ui = ui.clone();
    let drawn: Mutex<Option<(Instant, usize)>> = Mutex::default();
    Some(Arc::new(move |wait: Wait<'_>| {
        let mut drawn = drawn.lock().unwrap_or_else(PoisonError::into_inner);
        match wait {
            Wait::Since { host, elapsed } if elapsed >= PATIENCE => {
                let (at, frame) = drawn.unzip();
                if at.is_some_and(|at| at.elapsed() < INTERVAL) {
                    return;
                }
                let frame = frame.map_or(0, |frame| frame + 1);
                *drawn = Some((Instant::now(), frame));
                let host = text::one_line(host);
                spin(&ui, frame, &format!("waiting for {host}"), elapsed);
            }
            Wait::Since { .. } => {}
            Wait::Over => {
                if drawn.take().is_some() {
                    ui.write(CLEAR);
                }
            }
        }
    }))
}

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
        self.ui.write(&format!("{CLEAR}{line}"));
    }

    fn clear(&self) {
        self.started.set(None);
        if self.drawn.take().is_some() {
            self.ui.write(CLEAR);
        }
    }
}

/// A failure ends a download too: the next message starts on a line of its own.
impl Drop for Download<'_> {
    fn drop(&mut self) {
        self.clear();
    }
}

fn mebibytes(bytes: u64) -> String {
    let tenths = bytes.saturating_mul(10) / (1 << 20);
    format!("{}.{} MiB", tenths / 10, tenths % 10)
}

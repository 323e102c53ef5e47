//! Progress on the terminal, for whatever takes longer than a second.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use jp_llm::Events;
use jp_tool::ToolStatus;

use crate::{
    text,
    ui::{Style, Ui},
};

/// Nothing is shown for what is done by then.
pub(crate) const PATIENCE: Duration = Duration::from_secs(1);

/// How often the line is drawn.
pub(crate) const INTERVAL: Duration = Duration::from_millis(100);

/// Wipes the line that was drawn.
pub(crate) const CLEAR: &str = "\r\u{1b}[2K";

const FRAMES: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/// Draws the line of something that takes its time, over the one before.
pub(crate) fn spin(ui: &Ui, frame: usize, doing: &str, took: Duration) {
    let frame = FRAMES[frame % FRAMES.len()];
    let line = format!("{frame} {doing}… {} s (Ctrl-C stops it)", took.as_secs());
    ui.write(&format!("{CLEAR}{}", ui.paint(Style::Faint, line)));
}

/// What the call is doing, and the line that says so.
#[derive(Default)]
pub(crate) struct Progress(Mutex<State>);

#[derive(Default)]
struct State {
    doing: Option<(String, Instant)>,
    frame: usize,
    drawn: bool,
}

impl Progress {
    /// Says what is being done, or that nothing is.
    pub(crate) fn set(&self, doing: Option<String>) {
        let shown = |text: String| text::shorten(&text::one_line(&text), 60).into_owned();
        let mut state = self.lock();
        // What speaks often would otherwise never be shown.
        let since = state.doing.take().map_or_else(Instant::now, |(_, at)| at);
        state.doing = doing.map(|doing| (shown(doing), since));
    }

    /// Runs a future, drawing progress meanwhile if anybody can see it.
    pub(crate) async fn show<T>(&self, ui: &Ui, work: impl Future<Output = T>) -> T {
        if !ui.err_is_terminal {
            return work.await;
        }
        tokio::pin!(work);
        let mut ticks = tokio::time::interval(INTERVAL);
        let result = loop {
            tokio::select! {
                biased;
                result = &mut work => break result,
                _ = ticks.tick() => self.draw(ui),
            }
        };
        self.clear(ui);
        result
    }

    /// Makes room for a question.
    pub(crate) fn pause(&self, ui: &Ui) {
        self.set(None);
        self.clear(ui);
    }

    /// Goes on after a question.
    pub(crate) fn resume(&self, tool: &str) {
        self.set(Some(running(tool)));
    }

    fn draw(&self, ui: &Ui) {
        let mut state = self.lock();
        let Some((doing, since)) = &state.doing else {
            return;
        };
        let took = since.elapsed();
        if took < PATIENCE {
            return;
        }
        spin(ui, state.frame, doing, took);
        state.frame += 1;
        state.drawn = true;
    }

    fn clear(&self, ui: &Ui) {
        let mut state = self.lock();
        if std::mem::take(&mut state.drawn) {
            ui.write(CLEAR);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn running(tool: &str) -> String {
    format!("running {tool}")
}

impl Events for Progress {
    fn report(&self, _: &str, tool: &str, status: ToolStatus) {
        let doing = match (status.phase.as_str(), status.message) {
            // While arguments are checked a person may be asked, and afterwards nothing happens.
            ("validate" | "complete", _) => None,
            (_, Some(message)) => Some(message),
            ("execute", None) => Some(running(tool)),
            (_, None) => return,
        };
        self.set(doing);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_message_does_not_start_the_waiting_anew() {
        let progress = Progress::default();
        let since = |progress: &Progress| progress.lock().doing.as_ref().map(|(_, at)| *at);
        progress.set(Some("one".to_owned()));
        let first = since(&progress);
        std::thread::sleep(Duration::from_millis(2));
        progress.set(Some("two".to_owned()));
        assert_eq!(since(&progress), first);
        progress.set(None);
        progress.set(Some("three".to_owned()));
        assert_ne!(since(&progress), first);
    }
}

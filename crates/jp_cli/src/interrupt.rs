//! Ctrl-C: the first one cancels the call, the second one ends this program.

use std::{
    io,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::exit::Exit;

/// Stops work that no token can reach.
type Stop = Box<dyn Fn() + Send>;

/// Hears signals for one call.
#[derive(Clone, Default)]
pub(crate) struct Interrupts {
    /// Cancelled by the first signal.
    pub(crate) cancel: CancellationToken,
    /// Set while an editor has the terminal: its Ctrl-C is not meant for us.
    pub(crate) editing: Arc<AtomicBool>,
    stop: Arc<Mutex<Option<Stop>>>,
    leave: Arc<Mutex<Option<Stop>>>,
}

impl Interrupts {
    /// Starts to listen, on a thread of its own: the second Ctrl-C must work whatever the first
    /// thread is busy with.
    pub(crate) fn listen() -> io::Result<Self> {
        let interrupts = Self::default();
        let heard = interrupts.clone();
        thread::Builder::new()
            .name("jp-signals".to_owned())
            .spawn(move || heard.hear())?;
        Ok(interrupts)
    }

    /// Calls this when the first signal comes, for work that no token can reach.
    pub(crate) fn on_cancel(&self, stop: Stop) {
        *self.stop.lock().unwrap_or_else(PoisonError::into_inner) = Some(stop);
    }

    /// Calls this before the second signal ends the program.
    pub(crate) fn on_leave(&self, last: Stop) {
        *self.leave.lock().unwrap_or_else(PoisonError::into_inner) = Some(last);
    }

    fn hear(&self) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build();
        // Without a listener the system's own way holds: a signal ends the process.
        let Ok(runtime) = runtime else { return };
        runtime.block_on(async {
            let made = (
                signal(SignalKind::interrupt()),
                signal(SignalKind::terminate()),
            );
            let (Ok(mut interrupt), Ok(mut terminate)) = made else {
                return;
            };
            loop {
                let terminated = tokio::select! {
                    _ = interrupt.recv() => false,
                    _ = terminate.recv() => true,
                };
                if self.editing.load(Ordering::Relaxed) && !terminated {
                    continue;
                }
                if self.cancel.is_cancelled() {
                    call(&self.leave);
                    leave();
                }
                self.cancel.cancel();
                call(&self.stop);
            }
        });
    }
}

fn call(stop: &Mutex<Option<Stop>>) {
    if let Some(stop) = &*stop.lock().unwrap_or_else(PoisonError::into_inner) {
        stop();
    }
}

#[expect(
    clippy::exit,
    reason = "the person insists, and the main thread may be stuck"
)]
fn leave() -> ! {
    std::process::exit(i32::from(Exit::Cancelled.code()))
}

//! Ctrl-C: the first one cancels the call, the second one ends this program.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::exit::Exit;

/// Hears signals for one call.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interrupts {
    /// Cancelled by the first signal.
    pub(crate) cancel: CancellationToken,
    /// Set while an editor has the terminal: its Ctrl-C is not meant for us.
    pub(crate) editing: Arc<AtomicBool>,
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
                    leave();
                }
                self.cancel.cancel();
            }
        });
    }
}

#[expect(
    clippy::exit,
    reason = "the person insists, and the main thread may be stuck"
)]
fn leave() -> ! {
    std::process::exit(i32::from(Exit::Cancelled as u8))
}

//! Where the run's own output is kept, and handed to the embedder piece by piece.

use std::cell::{Cell, RefCell};

use crate::bash::OnOutput;
use crate::budget::Budget;
use crate::stop::Stop;

/// Which of the two streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Out,
    Err,
}

/// Both streams of one run.
#[derive(Default)]
pub(crate) struct Sinks {
    out: RefCell<Vec<u8>>,
    err: RefCell<Vec<u8>>,
    /// How much of each was handed over.
    sent: Cell<(usize, usize)>,
    callback: RefCell<Option<OnOutput>>,
}

impl Sinks {
    /// Makes sinks that hand their bytes to a callback too.
    pub(crate) fn with_callback(callback: Option<OnOutput>) -> Self {
        Self {
            callback: RefCell::new(callback),
            ..Self::default()
        }
    }

    /// Keeps bytes; at the limit, as many as fit.
    pub(crate) fn write(&self, stream: Stream, data: &[u8], budget: &Budget) -> Result<(), Stop> {
        let mut buf = match stream {
            Stream::Out => self.out.borrow_mut(),
            Stream::Err => self.err.borrow_mut(),
        };
        match budget.output(data.len()) {
            Ok(()) => {
                buf.extend_from_slice(data);
                Ok(())
            }
            Err(stop) => {
                let left = usize::try_from(budget.output_left()).unwrap_or(usize::MAX);
                let part = data.get(..left).unwrap_or(data);
                buf.extend_from_slice(part);
                // The rest of the limit is used up: a second writer must not slip in behind.
                let _used = budget.output(part.len());
                Err(stop)
            }
        }
    }

    /// Adds a message of ours, outside the limit.
    pub(crate) fn note(&self, message: &[u8]) {
        self.err.borrow_mut().extend_from_slice(message);
    }

    /// Hands over what is new since the last time.
    pub(crate) fn emit(&self) {
        // Taken out while it runs, so that a callback can never meet itself.
        let Some(mut callback) = self.callback.borrow_mut().take() else {
            return;
        };
        let (out_sent, err_sent) = self.sent.get();
        let (out, err) = (self.out.borrow(), self.err.borrow());
        if out.len() > out_sent || err.len() > err_sent {
            self.sent.set((out.len(), err.len()));
            callback(
                out.get(out_sent..).unwrap_or_default(),
                err.get(err_sent..).unwrap_or_default(),
            );
        }
        *self.callback.borrow_mut() = Some(callback);
    }

    /// Takes both streams.
    pub(crate) fn take(&self) -> (Vec<u8>, Vec<u8>) {
        (self.out.take(), self.err.take())
    }
}

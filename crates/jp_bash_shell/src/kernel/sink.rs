//! Where the run's own output is kept, handed to the embedder piece by piece, or written by it.

use std::cell::{Cell, RefCell};

use jp_bash_system::{Budget, SysError};

use crate::output::{OnExecute, OnOutput, Output, Writer};
use crate::vfs::host_errno;

pub(crate) use crate::output::OutputStream as Stream;

/// Both streams of one run.
#[derive(Default)]
pub(crate) struct Sinks {
    out: RefCell<Vec<u8>>,
    err: RefCell<Vec<u8>>,
    /// How much of each was handed over.
    sent: Cell<(usize, usize)>,
    callback: RefCell<Option<OnOutput>>,
    /// Takes the bytes instead.
    writer: Option<Writer>,
    on_execute: Cell<Option<OnExecute>>,
}

impl Sinks {
    /// Makes sinks that hand their bytes to a callback too, or to a writer instead.
    pub(crate) fn new(
        callback: Option<OnOutput>,
        output: &Output,
        on_execute: Option<OnExecute>,
    ) -> Self {
        Self {
            callback: RefCell::new(callback),
            writer: match output {
                Output::Kept => None,
                Output::Writer(writer) => Some(writer.clone()),
            },
            on_execute: Cell::new(on_execute),
            ..Self::default()
        }
    }

    /// Takes bytes; at the limit, as many as fit.
    pub(crate) fn write(
        &self,
        stream: Stream,
        data: &[u8],
        budget: &Budget,
    ) -> Result<(), SysError> {
        match budget.output(data.len()) {
            Ok(()) => self.put(stream, data),
            Err(stop) => {
                let left = usize::try_from(budget.output_left()).unwrap_or(usize::MAX);
                let part = data.get(..left).unwrap_or(data);
                // The rest of the limit is used up: a second writer must not slip in behind.
                let _used = budget.output(part.len());
                self.put(stream, part)?;
                Err(stop.into())
            }
        }
    }

    fn put(&self, stream: Stream, data: &[u8]) -> Result<(), SysError> {
        if let Some(writer) = &self.writer {
            let written = writer.write(stream, data);
            return written.map_err(|error| host_errno(&error).into());
        }
        match stream {
            Stream::Out => self.out.borrow_mut().extend_from_slice(data),
            Stream::Err => self.err.borrow_mut().extend_from_slice(data),
        }
        Ok(())
    }

    /// Adds a message of ours, outside the limit.
    pub(crate) fn note(&self, message: &[u8]) {
        // Nobody is left to tell that standard error is closed.
        let _written = self.put(Stream::Err, message);
    }

    /// Says, once, that the first command runs.
    pub(crate) fn executing(&self) {
        if let Some(hear) = self.on_execute.take() {
            hear.call();
        }
    }

    /// Hands over what is new since the last time.
    #[inline]
    pub(crate) fn emit(&self) {
        if self.callback.borrow().is_some() {
            self.emit_new();
        }
    }

    fn emit_new(&self) {
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

//! Open-file descriptions: what a descriptor stands for, shared by all its copies.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use jp_bash_system::{Budget, Stop};

use crate::input::Input;
use crate::kernel::Kernel;
use crate::kernel::pipe::{Pipe, Ready, Waiters};
use crate::kernel::sink::Stream;
use crate::vfs::{Handle, Vfs};

/// What is open.
pub(crate) enum Object {
    /// A file or directory of the file system.
    File(Handle),
    /// One end, or (a FIFO opened with `<>`) both ends of a pipe.
    Pipe(Rc<Pipe>),
    /// What `$( )` collects.
    Capture(Rc<Capture>),
    /// The run's own output.
    Sink(Stream),
    /// Bytes that are read once: here-documents, the run's standard input.
    Text(Rc<[u8]>),
    /// The embedder's own input, asked when it is read.
    Input(Input),
    Null,
    Zero,
    Full,
    Random,
}

/// The bytes of a command substitution.
#[derive(Default)]
pub(crate) struct Capture {
    pub(crate) bytes: RefCell<Vec<u8>>,
    /// Nobody can write to it any more.
    pub(crate) closed: Cell<bool>,
    pub(crate) waiters: Waiters,
}

/// An open-file description.
pub(crate) struct OpenFile {
    pub(crate) object: Object,
    pub(crate) read: bool,
    pub(crate) write: bool,
    pub(crate) append: bool,
    pub(crate) offset: Cell<u64>,
    vfs: Rc<RefCell<Vfs>>,
    ready: Rc<Ready>,
    open: Rc<Cell<u64>>,
    budget: Rc<Budget>,
}

/// How a description may be used.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mode {
    pub(crate) read: bool,
    pub(crate) write: bool,
    pub(crate) append: bool,
}

impl Mode {
    pub(crate) const READ: Self = Self {
        read: true,
        write: false,
        append: false,
    };
    pub(crate) const WRITE: Self = Self {
        read: false,
        write: true,
        append: false,
    };
}

impl Kernel {
    /// Makes a description, counted against the limit `files`.
    pub(crate) fn describe(&self, object: Object, mode: Mode) -> Result<Rc<OpenFile>, Stop> {
        let held = match &object {
            Object::Text(text) => text.len() as u64,
            _ => 0,
        };
        self.budget.reserve(held)?;
        if let Err(stop) = self.count_open() {
            self.budget.release(held);
            return Err(stop);
        }
        if let Object::Pipe(pipe) = &object {
            pipe.opened(mode.read, mode.write);
        }
        Ok(Rc::new(OpenFile {
            object,
            read: mode.read,
            write: mode.write,
            append: mode.append,
            offset: Cell::new(0),
            vfs: Rc::clone(&self.vfs),
            ready: Rc::clone(&self.ready),
            open: Rc::clone(&self.open),
            budget: Rc::clone(&self.budget),
        }))
    }

    /// Makes a pipe: its read end and its write end.
    pub(crate) fn pipe(&self) -> Result<(Rc<OpenFile>, Rc<OpenFile>), Stop> {
        let pipe = Pipe::new(Rc::clone(&self.ready));
        let read = self.describe(Object::Pipe(Rc::clone(&pipe)), Mode::READ)?;
        let write = self.describe(Object::Pipe(pipe), Mode::WRITE)?;
        Ok((read, write))
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        self.open.set(self.open.get().saturating_sub(1));
        match &self.object {
            Object::File(handle) => self.vfs.borrow_mut().close(*handle, &*self.budget),
            Object::Pipe(pipe) => pipe.closed(self.read, self.write),
            Object::Capture(capture) => {
                capture.closed.set(true);
                capture.waiters.wake(&self.ready);
            }
            Object::Text(text) => self.budget.release(text.len() as u64),
            _ => {}
        }
    }
}

//! Pipes: bounded rings of bytes between processes.
//!
//! Knows nothing of the shell: who waits is a list of process numbers, and waking is putting them in a queue.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use smallvec::SmallVec;

use jp_bash_system::Pid;

/// How much a pipe holds, as on Linux.
pub(crate) const CAPACITY: usize = 64 << 10;

/// Processes that can go on, in the order in which they were woken.
#[derive(Default)]
pub(crate) struct Ready {
    queue: RefCell<VecDeque<Pid>>,
}

impl Ready {
    /// Adds a process, once.
    pub(crate) fn push(&self, pid: Pid) {
        let mut queue = self.queue.borrow_mut();
        if !queue.contains(&pid) {
            queue.push_back(pid);
        }
    }

    /// Takes the first one.
    pub(crate) fn pop(&self) -> Option<Pid> {
        self.queue.borrow_mut().pop_front()
    }

    /// Returns how many there are.
    pub(crate) fn len(&self) -> usize {
        self.queue.borrow().len()
    }
}

/// Processes waiting for one thing to change.
#[derive(Default)]
pub(crate) struct Waiters(RefCell<SmallVec<[Pid; 2]>>);

impl Waiters {
    /// Adds a process, which then suspends and looks again when it was woken.
    pub(crate) fn add(&self, pid: Pid) {
        let mut list = self.0.borrow_mut();
        if !list.contains(&pid) {
            list.push(pid);
        }
    }

    /// Wakes all of them.
    pub(crate) fn wake(&self, ready: &Ready) {
        let mut list = self.0.borrow_mut();
        if !list.is_empty() {
            for pid in list.drain(..) {
                ready.push(pid);
            }
        }
    }
}

/// A pipe. Its two ends are counted; each open-file description of an end is one.
pub(crate) struct Pipe {
    bytes: RefCell<VecDeque<u8>>,
    readers: Cell<u32>,
    writers: Cell<u32>,
    /// How often each end was ever opened, so that one who waits for the other cannot miss it.
    opens: Cell<(u64, u64)>,
    /// Waits for any change: data, room, an end opened or closed.
    pub(crate) waiters: Waiters,
    ready: Rc<Ready>,
}

/// What a read or write could do at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transfer {
    Done(usize),
    /// The other end is gone.
    Closed,
    /// Nothing for now.
    Wait,
}

impl Pipe {
    /// Makes a pipe without ends.
    pub(crate) fn new(ready: Rc<Ready>) -> Rc<Self> {
        Rc::new(Self {
            bytes: RefCell::new(VecDeque::new()),
            readers: Cell::new(0),
            writers: Cell::new(0),
            opens: Cell::new((0, 0)),
            waiters: Waiters::default(),
            ready,
        })
    }

    /// Takes bytes.
    pub(crate) fn read(&self, buf: &mut [u8]) -> Transfer {
        self.take(buf, None)
    }

    /// Takes bytes up to this one, and none behind it: what follows may be for another reader.
    pub(crate) fn read_until(&self, buf: &mut [u8], last: u8) -> Transfer {
        self.take(buf, Some(last))
    }

    #[inline]
    fn take(&self, buf: &mut [u8], last: Option<u8>) -> Transfer {
        let mut bytes = self.bytes.borrow_mut();
        if buf.is_empty() {
            return Transfer::Done(0);
        }
        if bytes.is_empty() {
            return if self.writers.get() == 0 {
                Transfer::Closed
            } else {
                Transfer::Wait
            };
        }
        let (front, back) = bytes.as_slices();
        let mut n = usize::min(buf.len(), bytes.len());
        if let Some(last) = last {
            let ahead = front.get(..n).unwrap_or(front);
            n = memchr::memchr(last, ahead).map_or(ahead.len(), |at| at + 1);
        }
        let first = usize::min(n, front.len());
        if let (Some(to), Some(from)) = (buf.get_mut(..first), front.get(..first)) {
            to.copy_from_slice(from);
        }
        if let (Some(to), Some(from)) = (buf.get_mut(first..n), back.get(..n - first)) {
            to.copy_from_slice(from);
        }
        bytes.drain(..n);
        drop(bytes);
        self.waiters.wake(&self.ready);
        Transfer::Done(n)
    }

    /// Adds as many bytes as there is room for.
    pub(crate) fn write(&self, data: &[u8]) -> Transfer {
        if self.readers.get() == 0 {
            return Transfer::Closed;
        }
        let mut bytes = self.bytes.borrow_mut();
        let n = usize::min(data.len(), CAPACITY.saturating_sub(bytes.len()));
        if n == 0 && !data.is_empty() {
            return Transfer::Wait;
        }
        bytes.extend(data.get(..n).unwrap_or_default());
        drop(bytes);
        self.waiters.wake(&self.ready);
        Transfer::Done(n)
    }

    /// Tells whether a read would give bytes or the end at once.
    pub(crate) fn readable(&self) -> bool {
        !self.bytes.borrow().is_empty() || self.writers.get() == 0
    }

    pub(crate) fn readers(&self) -> u32 {
        self.readers.get()
    }

    pub(crate) fn writers(&self) -> u32 {
        self.writers.get()
    }

    /// Returns how often the read end and the write end were ever opened.
    pub(crate) fn opens(&self) -> (u64, u64) {
        self.opens.get()
    }

    /// Counts a new end.
    pub(crate) fn opened(&self, read: bool, write: bool) {
        let (reads, writes) = self.opens.get();
        self.opens
            .set((reads + u64::from(read), writes + u64::from(write)));
        self.readers.set(self.readers.get() + u32::from(read));
        self.writers.set(self.writers.get() + u32::from(write));
        self.waiters.wake(&self.ready);
    }

    /// Counts an end that is gone.
    pub(crate) fn closed(&self, read: bool, write: bool) {
        self.readers
            .set(self.readers.get().saturating_sub(u32::from(read)));
        self.writers
            .set(self.writers.get().saturating_sub(u32::from(write)));
        self.waiters.wake(&self.ready);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_holds_64_kib_and_no_more() {
        let pipe = Pipe::new(Rc::default());
        pipe.opened(true, true);
        assert_eq!(pipe.write(&[7; 70_000]), Transfer::Done(CAPACITY));
        assert_eq!(pipe.write(b"x"), Transfer::Wait);
        let mut buf = [0; 100];
        assert_eq!(pipe.read(&mut buf), Transfer::Done(100));
        assert_eq!(pipe.write(&[8; 200]), Transfer::Done(100));
    }

    #[test]
    fn ends_that_go_away_are_seen_by_the_other_side() {
        let pipe = Pipe::new(Rc::default());
        pipe.opened(true, true);
        assert_eq!(pipe.read(&mut [0; 4]), Transfer::Wait);
        assert_eq!(pipe.write(b"ab"), Transfer::Done(2));
        pipe.closed(false, true);
        assert_eq!(pipe.read(&mut [0; 4]), Transfer::Done(2));
        assert_eq!(pipe.read(&mut [0; 4]), Transfer::Closed);
        pipe.closed(true, false);
        assert_eq!(pipe.write(b"c"), Transfer::Closed);
    }

    #[test]
    fn a_change_wakes_each_waiter_once() {
        let ready = Rc::new(Ready::default());
        let pipe = Pipe::new(Rc::clone(&ready));
        pipe.opened(true, true);
        pipe.waiters.add(3);
        pipe.waiters.add(3);
        pipe.waiters.add(5);
        pipe.write(b"x");
        assert_eq!(
            (ready.pop(), ready.pop(), ready.pop()),
            (Some(3), Some(5), None)
        );
    }
}

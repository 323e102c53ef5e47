//! The descriptors of one process.
//!
//! A descriptor is a place in this table; what is open there, with its offset, may be shared with others.

use std::rc::Rc;

use jp_bash_system::{Errno, Fd};

use crate::kernel::file::OpenFile;

/// The first descriptor that `{name}>` and internal copies use.
pub(crate) const FIRST_FREE: Fd = 10;

/// Where the ends of a coprocess are put.
pub(crate) const COPROC: Fd = 60;

/// The highest number a script may name.
const MAX_FD: Fd = 65_535;

/// The table.
#[derive(Clone, Default)]
pub(crate) struct Fds {
    table: Vec<Option<Rc<OpenFile>>>,
}

impl Fds {
    /// Returns what is open there.
    #[inline]
    pub(crate) fn get(&self, fd: Fd) -> Option<&Rc<OpenFile>> {
        self.table.get(fd as usize)?.as_ref()
    }

    /// Opens something there; what was open before is returned.
    pub(crate) fn set(
        &mut self,
        fd: Fd,
        file: Option<Rc<OpenFile>>,
    ) -> Result<Option<Rc<OpenFile>>, Errno> {
        let at = fd as usize;
        if fd > MAX_FD {
            return if file.is_none() {
                Ok(None)
            } else {
                Err(Errno::BadF)
            };
        }
        if at >= self.table.len() {
            if file.is_none() {
                return Ok(None);
            }
            self.table.resize(at + 1, None);
        }
        Ok(self
            .table
            .get_mut(at)
            .and_then(|slot| std::mem::replace(slot, file)))
    }

    /// Opens something at the lowest free place from `from` on.
    pub(crate) fn add(&mut self, from: Fd, file: Rc<OpenFile>) -> Result<Fd, Errno> {
        let mut fd = from;
        while self.get(fd).is_some() {
            fd += 1;
        }
        if fd > MAX_FD {
            return Err(Errno::MFile);
        }
        self.set(fd, Some(file))?;
        Ok(fd)
    }

    /// Closes everything from `from` on that is not in `keep`, as the end of a command does.
    pub(crate) fn close_all_but(&mut self, keep: &Fds) {
        for (at, slot) in self.table.iter_mut().enumerate() {
            if slot.is_some() && keep.table.get(at).is_none_or(Option::is_none) {
                *slot = None;
            }
        }
    }
}

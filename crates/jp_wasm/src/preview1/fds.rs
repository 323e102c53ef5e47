//! The numbers a guest knows its streams, files and directories by.

use std::collections::BTreeMap;

use wasmtime::component::Resource;
use wasmtime_wasi::{
    filesystem::Descriptor,
    p2::bindings::filesystem::types::{DirectoryEntry, DirectoryEntryStream},
};

use super::errno::{Answer, Errno};

/// What stands for an open file or directory in the guest's table.
pub(super) type Handle = Resource<Descriptor>;

/// What a number stands for.
pub(super) enum Fd {
    Stdin,
    Stdout,
    Stderr,
    Directory(Directory),
    File(File),
}

/// An open directory.
pub(super) struct Directory {
    pub(super) handle: Handle,
    /// The path that the guest sees, when it did not open the directory itself.
    pub(super) granted: Option<String>,
    pub(super) listing: Option<Listing>,
}

/// How far a directory has been listed.
pub(super) struct Listing {
    pub(super) stream: Resource<DirectoryEntryStream>,
    /// The number of the entry that comes next.
    pub(super) next: u64,
    /// That entry, when it came before and there was too little room for it.
    pub(super) cut: Option<DirectoryEntry>,
}

/// An open file.
pub(super) struct File {
    pub(super) handle: Handle,
    pub(super) position: u64,
    /// Of the flags of preview 1 those that were set and can be changed: append, do not block.
    pub(super) flags: u16,
}

/// Everything a guest has open.
pub(super) struct Fds(BTreeMap<u32, Fd>);

impl Fds {
    /// Numbers the streams and then, in their order, the granted directories: that is how guests
    /// find them.
    pub(super) fn new(granted: Vec<(Handle, String)>) -> Self {
        let directories = granted.into_iter().map(|(handle, path)| {
            Fd::Directory(Directory {
                handle,
                granted: Some(path),
                listing: None,
            })
        });
        let all = [Fd::Stdin, Fd::Stdout, Fd::Stderr].into_iter();
        Self((0..).zip(all.chain(directories)).collect())
    }

    pub(super) fn get(&mut self, fd: u32) -> Answer<&mut Fd> {
        Ok(self.0.get_mut(&fd).ok_or(Errno::BADF)?)
    }

    pub(super) fn file(&mut self, fd: u32) -> Answer<&mut File> {
        match self.get(fd)? {
            Fd::File(file) => Ok(file),
            Fd::Directory(_) => Err(Errno::ISDIR.into()),
            _ => Err(Errno::SPIPE.into()),
        }
    }

    pub(super) fn directory(&mut self, fd: u32) -> Answer<&mut Directory> {
        match self.get(fd)? {
            Fd::Directory(directory) => Ok(directory),
            _ => Err(Errno::NOTDIR.into()),
        }
    }

    /// Gives something the lowest free number.
    pub(super) fn insert(&mut self, fd: Fd) -> u32 {
        let used = self.0.keys().copied();
        // As many are in use as are counted, so some number is free.
        let free = (0..).zip(used).find(|(free, used)| free != used);
        let free = free.map_or_else(|| self.next(), |(free, _)| free);
        self.0.insert(free, fd);
        free
    }

    fn next(&self) -> u32 {
        let last = self.0.last_key_value();
        last.map_or(0, |(last, _)| last.saturating_add(1))
    }

    pub(super) fn remove(&mut self, fd: u32) -> Answer<Fd> {
        Ok(self.0.remove(&fd).ok_or(Errno::BADF)?)
    }

    /// Gives something another number and returns what had it; both numbers must be in use.
    pub(super) fn renumber(&mut self, from: u32, to: u32) -> Answer<Option<Fd>> {
        self.get(to)?;
        let moved = self.remove(from)?;
        Ok(self.0.insert(to, moved))
    }
}

/// Lends a handle to the functions of `wasi:filesystem`.
pub(super) fn lend(handle: &Handle) -> Handle {
    Resource::new_borrow(handle.rep())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_free_number_is_taken() {
        let mut fds = Fds::new(vec![(Resource::new_own(7), "/tmp".to_owned())]);
        assert!(fds.directory(3).is_ok());
        assert_eq!(fds.insert(Fd::Stdin), 4);
        assert!(fds.remove(1).is_ok() && fds.remove(1).is_err());
        assert_eq!(fds.insert(Fd::Stdin), 1);
        assert_eq!(fds.insert(Fd::Stdin), 5);
    }

    #[test]
    fn only_numbers_in_use_can_be_changed() {
        let mut fds = Fds::new(vec![(Resource::new_own(7), "/tmp".to_owned())]);
        for (from, to) in [(3, 9), (9, 3), (u32::MAX, 0)] {
            assert!(fds.renumber(from, to).is_err(), "{from} {to}");
        }
        assert!(fds.renumber(3, 3).unwrap().is_none());
        assert!(matches!(fds.renumber(3, 0), Ok(Some(Fd::Stdin))));
        assert!(fds.directory(0).is_ok() && fds.get(3).is_err());
    }
}

//! The staging area inside the directory: what is going to be there, what was there, and the journal.
//!
//! ```text
//! .jp-apply/new/N      what comes to the path of switch N, or what it was exchanged for
//! .jp-apply/old/N      what was at the path of switch N
//! .jp-apply/journal    the paths are being switched: undo it
//! .jp-apply/committed  the paths were switched: only the area is left to remove
//! ```
//! Without either file nothing outside the area was touched.

use std::io;

use cap_std::fs::Dir;

use super::AREA;
use super::disk::{Disk, is_missing};
use super::journal::Journal;
use super::survey::join;

pub(super) const JOURNAL: &[u8] = b"journal";
pub(super) const COMMITTED: &[u8] = b"committed";
const PART: &[u8] = b"journal.part";
const NEW: &[u8] = b"new";
const OLD: &[u8] = b"old";

/// The largest journal that is read.
const MAX_JOURNAL: u64 = 1 << 30;

/// From so many on, all is synced at once instead of one by one.
pub(super) const MANY: usize = 64;

/// The area, open.
pub(super) struct Area<'a> {
    pub(super) disk: Disk<'a>,
    pub(super) root: &'a Dir,
    pub(super) dir: Dir,
    pub(super) new: Dir,
    pub(super) old: Dir,
}

impl<'a> Area<'a> {
    /// Makes the area, which must not be there.
    pub(super) fn make(disk: Disk<'a>, root: &'a Dir) -> io::Result<Self> {
        disk.make_dir(root, AREA)?;
        let dir = disk.enter(root, AREA)?;
        disk.make_dir(&dir, NEW)?;
        disk.make_dir(&dir, OLD)?;
        Self::open(disk, root, dir)
    }

    /// Opens an area that has both directories.
    pub(super) fn open(disk: Disk<'a>, root: &'a Dir, dir: Dir) -> io::Result<Self> {
        Ok(Self {
            new: disk.enter(&dir, NEW)?,
            old: disk.enter(&dir, OLD)?,
            disk,
            root,
            dir,
        })
    }

    /// Puts the journal where a later run finds it. From here on paths may be switched.
    pub(super) fn write_journal(&self, journal: &Journal) -> io::Result<()> {
        let file = self.disk.create(&self.dir, PART)?;
        self.disk.write(&file, 0, &journal.to_text())?;
        self.disk.sync_file(&file)?;
        self.disk.sync_dir(&self.new)?;
        self.disk.rename((&self.dir, PART), (&self.dir, JOURNAL))?;
        self.disk.sync_dir(&self.dir)?;
        self.disk.sync_dir(self.root)
    }

    /// Says that all is switched: from here on nothing is undone.
    pub(super) fn commit(&self) -> io::Result<()> {
        self.disk
            .rename((&self.dir, JOURNAL), (&self.dir, COMMITTED))?;
        self.disk.sync_dir(&self.dir)
    }

    /// Takes a commit back that may or may not have happened.
    pub(super) fn uncommit(&self) -> io::Result<()> {
        match self.disk.look(&self.dir, COMMITTED)? {
            None => Ok(()),
            Some(_) => self
                .disk
                .rename((&self.dir, COMMITTED), (&self.dir, JOURNAL)),
        }
    }

    /// Says that nothing is switched (any more).
    pub(super) fn forget_journal(&self) -> io::Result<()> {
        for name in [JOURNAL, PART] {
            if self.disk.look(&self.dir, name)?.is_some() {
                self.disk.remove_file(&self.dir, name)?;
            }
        }
        self.disk.sync_dir(&self.dir)
    }
}

/// Reads a journal.
pub(super) fn read(disk: &Disk<'_>, area: &Dir, name: &[u8]) -> io::Result<Option<Vec<u8>>> {
    disk.read_all(area, name, MAX_JOURNAL)
}

/// Removes the area. Old content goes only if `committed`; else there must be none.
pub(super) fn remove(disk: &Disk<'_>, root: &Dir, committed: bool) -> io::Result<()> {
    let area = disk.enter(root, AREA)?;
    if committed {
        remove_tree(disk, &area, OLD)?;
    } else if disk.look(&area, OLD)?.is_some() {
        disk.remove_dir(&area, OLD)?;
    }
    remove_tree(disk, &area, NEW)?;
    remove_tree(disk, &area, PART)?;
    remove_tree(disk, &area, COMMITTED)?;
    disk.remove_dir(root, AREA)
}

/// Removes a file or a tree; nothing there is fine.
fn remove_tree(disk: &Disk<'_>, at: &Dir, name: &[u8]) -> io::Result<()> {
    let mut todo = vec![(name.to_vec(), false)];
    while let Some((path, emptied)) = todo.pop() {
        let Some(mark) = disk.look(at, &path)? else {
            continue;
        };
        if !mark.is_dir() {
            disk.remove_file(at, &path)?;
            continue;
        }
        if emptied {
            disk.remove_dir(at, &path)?;
            continue;
        }
        if mark.mode & 0o700 != 0o700 {
            disk.set_mode(at, &path, 0o700)?;
        }
        let names = match disk.names(at, &path) {
            Err(error) if is_missing(&error) => continue,
            names => names?,
        };
        todo.push((path.clone(), true));
        todo.extend(names.iter().map(|name| (join(&path, name), false)));
    }
    Ok(())
}

//! Carrying a journal out, and undoing it from wherever it stopped.
//!
//! Undoing looks at inodes, not at how far the journal came: every state between two calls is recognised, so it can
//! itself be interrupted and begun again.

use std::collections::BTreeSet;
use std::io;

use cap_std::fs::Dir;

use super::area::{Area, MANY};
use super::disk::{Mark, is_missing};
use super::journal::{Journal, Marking, Marks, Switch};
use super::survey::{Print, Survey, join, parent_path};

/// Which path could not be changed, and why.
#[derive(Debug)]
pub(in crate::vfs) struct Fault {
    pub(in crate::vfs) path: Vec<u8>,
    pub(in crate::vfs) error: io::Error,
}

/// Why the journal was not carried out.
#[derive(Debug)]
pub(super) enum Trouble {
    Fault(Fault),
    /// Somebody else changed what was checked before.
    Changed(Vec<u8>),
}

/// Why it was not undone.
#[derive(Debug)]
pub(super) enum Stuck {
    Fault(Fault),
    /// Somebody changed these paths after they were switched; undoing would lose that.
    Changed(Vec<Vec<u8>>),
}

/// What stands at the path of a switch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Here {
    Nothing,
    Old,
    New,
}

/// Where the old tree of a switch is in the area.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    /// It was exchanged with the new one.
    New,
    Old,
    No,
}

fn fault(path: &[u8]) -> impl FnOnce(io::Error) -> Fault + '_ {
    |error| Fault {
        path: path.to_vec(),
        error,
    }
}

impl Area<'_> {
    /// Changes everything, and checks that what was replaced still was what had been checked.
    pub(super) fn carry_out(&self, journal: &Journal) -> Result<(), Trouble> {
        for marking in &journal.opening {
            self.mark(marking)?;
        }
        for switch in &journal.switches {
            self.switch(switch)
                .map_err(fault(&switch.path))
                .map_err(Trouble::Fault)?;
        }
        for switch in &journal.switches {
            let kept = self
                .kept_is_unchanged(switch)
                .map_err(fault(&switch.path))
                .map_err(Trouble::Fault)?;
            if !kept {
                return Err(Trouble::Changed(switch.path.clone()));
            }
        }
        for marking in &journal.closing {
            self.mark(marking)?;
        }
        self.sync(journal).map_err(Trouble::Fault)
    }

    fn switch(&self, switch: &Switch) -> io::Result<()> {
        let (parent, name) = self.disk.parent(self.root, &switch.path)?;
        let slot = slot(switch.slot);
        let place = (&parent, name);
        let both = switch.old.is_some() && switch.new.is_some();
        if both && self.disk.swap((&self.new, &slot), place)? {
            return Ok(());
        }
        if switch.old.is_some() {
            self.disk.rename(place, (&self.old, &slot))?;
        }
        if switch.new.is_some() {
            self.disk.rename((&self.new, &slot), place)?;
        }
        Ok(())
    }

    fn kept_is_unchanged(&self, switch: &Switch) -> io::Result<bool> {
        let Some(old) = &switch.old else {
            return Ok(true);
        };
        let place = match self.kept(switch, old)? {
            Kept::New => &self.new,
            Kept::Old => &self.old,
            Kept::No => return Ok(false),
        };
        let now = Survey::of(&self.disk, place, &slot(switch.slot))?;
        Ok(now.is_some_and(|now| now.print() == *old))
    }

    /// Sets a mode and a time, if the path still is what was checked.
    fn mark(&self, marking: &Marking) -> Result<(), Trouble> {
        let set = || -> io::Result<bool> {
            let (parent, name) = self.disk.parent(self.root, &marking.path)?;
            let now = self.disk.look(&parent, name)?;
            if now.is_none_or(|now| now.ino != marking.ino) {
                return Ok(false);
            }
            self.set_marks(&parent, name, marking.to)?;
            Ok(true)
        };
        match set() {
            Ok(true) => Ok(()),
            Ok(false) => Err(Trouble::Changed(marking.path.clone())),
            Err(error) => Err(Trouble::Fault(fault(&marking.path)(error))),
        }
    }

    fn set_marks(&self, parent: &Dir, name: &[u8], to: Marks) -> io::Result<()> {
        if let Some(mode) = to.mode {
            self.disk.set_mode(parent, name, mode)?;
        }
        match to.mtime {
            Some(time) => self.disk.set_mtime(parent, name, time),
            None => Ok(()),
        }
    }

    /// Waits until the switched names are safe.
    fn sync(&self, journal: &Journal) -> Result<(), Fault> {
        let paths = journal.switches.iter().map(|switch| &switch.path);
        let parents: BTreeSet<&[u8]> = paths.map(|path| parent_path(path)).collect();
        if parents.len() > MANY {
            return self.disk.sync_all(self.root).map_err(fault(b""));
        }
        for path in parents {
            // A parent that was closed meanwhile cannot be opened, and loses nothing without a power cut.
            let synced = self
                .disk
                .parent(self.root, &join(path, b"x"))
                .and_then(|(dir, _)| self.disk.sync_dir(&dir));
            match synced {
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
                synced => synced.map_err(fault(path))?,
            }
        }
        Ok(())
    }

    /// Puts everything back, whatever was done of the journal.
    pub(super) fn undo(&self, journal: &Journal) -> Result<(), Stuck> {
        for marking in &journal.opening {
            self.remark(marking, marking.from, marking.to)?;
        }
        for marking in journal.closing.iter().rev() {
            self.remark(marking, marking.to, marking.from)?;
        }
        let mut changed = Vec::new();
        let mut found = Vec::new();
        for switch in journal.switches.iter().rev() {
            let here = self.find(switch).map_err(fault(&switch.path));
            match here.map_err(Stuck::Fault)? {
                Some(here) => found.push((switch, here)),
                None => changed.push(switch.path.clone()),
            }
        }
        if !changed.is_empty() {
            changed.reverse();
            return Err(Stuck::Changed(changed));
        }
        for (switch, (here, kept)) in found {
            self.put_back(switch, here, kept)
                .map_err(fault(&switch.path))
                .map_err(Stuck::Fault)?;
        }
        for marking in journal.opening.iter().rev() {
            self.remark(marking, marking.to, marking.from)?;
        }
        self.sync(journal).map_err(Stuck::Fault)
    }

    /// Sets what is as it was set back; what is neither is somebody else's and stays.
    fn remark(&self, marking: &Marking, is: Marks, to: Marks) -> Result<(), Stuck> {
        let set = || -> io::Result<()> {
            let (parent, name) = match self.disk.parent(self.root, &marking.path) {
                Err(error) if is_missing(&error) => return Ok(()),
                found => found?,
            };
            let Some(now) = self.disk.look(&parent, name)? else {
                return Ok(());
            };
            if now.ino != marking.ino {
                return Ok(());
            }
            let to = Marks {
                mode: to.mode.filter(|_| is.mode == Some(now.mode)),
                mtime: to.mtime.filter(|_| is.mtime == Some(now.mtime)),
            };
            self.set_marks(&parent, name, to)
        };
        set().map_err(fault(&marking.path)).map_err(Stuck::Fault)
    }

    /// Finds out how far a switch came; `None` if somebody else was there since.
    fn find(&self, switch: &Switch) -> io::Result<Option<(Here, Kept)>> {
        let here = match self.disk.parent(self.root, &switch.path) {
            Err(error) if is_missing(&error) => Some(Here::Nothing),
            Err(error) => return Err(error),
            Ok((parent, name)) => self.here(switch, &parent, name)?,
        };
        let kept = match &switch.old {
            None => Kept::No,
            Some(old) => self.kept(switch, old)?,
        };
        let lost = switch.old.is_some() && kept == Kept::No && here != Some(Here::Old);
        Ok(here.filter(|_| !lost).map(|here| (here, kept)))
    }

    fn here(&self, switch: &Switch, parent: &Dir, name: &[u8]) -> io::Result<Option<Here>> {
        let is = |print: Option<Print>, now: Mark| print.is_some_and(|print| print.ino == now.ino);
        let Some(now) = self.disk.look(parent, name)? else {
            return Ok(Some(Here::Nothing));
        };
        if is(switch.old, now) {
            return Ok(Some(Here::Old));
        }
        if !is(switch.new, now) {
            return Ok(None);
        }
        let now = Survey::of(&self.disk, parent, name)?.map(|now| now.print());
        Ok((now == switch.new).then_some(Here::New))
    }

    fn kept(&self, switch: &Switch, old: &Print) -> io::Result<Kept> {
        let slot = slot(switch.slot);
        for (dir, kept) in [(&self.new, Kept::New), (&self.old, Kept::Old)] {
            if self
                .disk
                .look(dir, &slot)?
                .is_some_and(|mark| mark.ino == old.ino)
            {
                return Ok(kept);
            }
        }
        Ok(Kept::No)
    }

    fn put_back(&self, switch: &Switch, here: Here, kept: Kept) -> io::Result<()> {
        let slot = slot(switch.slot);
        let from = match kept {
            Kept::New => Some((&self.new, slot.as_slice())),
            Kept::Old => Some((&self.old, slot.as_slice())),
            Kept::No => None,
        };
        if here == Here::Old || (here == Here::Nothing && from.is_none()) {
            return Ok(());
        }
        let (parent, name) = self.disk.parent(self.root, &switch.path)?;
        let place = (&parent, name);
        if here == Here::New {
            if kept == Kept::New && self.disk.swap((&self.new, &slot), place)? {
                return Ok(());
            }
            // A name that no switch has, for the place of its own may be taken.
            let aside = [slot.as_slice(), b".undone"].concat();
            self.disk.rename(place, (&self.new, &aside))?;
        }
        match from {
            Some(from) => self.disk.rename(from, place),
            None => Ok(()),
        }
    }
}

/// The name of a switch in the area.
pub(super) fn slot(number: u32) -> Vec<u8> {
    number.to_string().into_bytes()
}

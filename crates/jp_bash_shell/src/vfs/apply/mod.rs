//! Writing the changes of an overlay to the host: all of them or none.
//!
//! Everything is checked first, then written into a staging area inside the directory, then switched by renames
//! under a journal. What fails is undone at once; what is killed is undone by the next run ([`HostDir::recover`]).

mod area;
mod check;
mod disk;
mod error;
mod journal;
mod plan;
mod recover;
mod settle;
mod stage;
mod survey;
mod switch;

#[cfg(test)]
mod tests;

pub use error::{ApplyError, Refusal};
pub use recover::{RecoverError, Recovered};

pub(in crate::vfs) use disk::{Disk, Gate, Through};

use cap_std::fs::Dir;

use area::Area;
use check::{Checked, failed, is_opening};
use journal::{Journal, Marking, Marks, Switch};
use plan::Plan;
use stage::{Stage, plain_mode};
use switch::Trouble;

use jp_bash_system::FileKind;

use super::diff::Change;
use super::host::errno;
use super::tree::Tree;
use super::{Caller, HostDir, Quota, Vfs};

/// The name of the staging area. No script sees it, in whatever directory it is.
pub(in crate::vfs) const AREA: &[u8] = b".jp-apply";

/// What may be applied beside contents, names and plain permissions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ApplyOptions {
    /// Set-user-ID and set-group-ID bits that a script gave to files.
    pub set_id: bool,
}

/// What was applied.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Applied {
    /// The changes, by path.
    pub changes: Vec<Change>,
    /// The paths whose set-user-ID and set-group-ID bits were left out.
    pub without_set_id: Vec<Vec<u8>>,
    /// What became of an earlier apply that had been interrupted.
    pub recovered: Option<Recovered>,
}

impl Vfs {
    /// Writes the changes of the overlay at a path to the host, through a directory that may be written.
    pub(crate) fn apply(
        &mut self,
        caller: &Caller<'_>,
        path: &[u8],
        host: &HostDir,
        options: ApplyOptions,
    ) -> Result<Applied, ApplyError> {
        self.apply_through(&Through, caller, path, host, options)
    }

    pub(in crate::vfs) fn apply_through(
        &mut self,
        gate: &dyn Gate,
        caller: &Caller<'_>,
        path: &[u8],
        host: &HostDir,
        options: ApplyOptions,
    ) -> Result<Applied, ApplyError> {
        let tree = self.overlay(caller, path)?;
        let disk = Disk::new(gate);
        let root = host.dir();
        let Some(_lock) = disk.lock(root).map_err(failed(b""))? else {
            return Err(ApplyError::Busy);
        };
        let recovered = recover::recover_locked(&disk, root)?;
        let plan = tree.plan(&disk, root)?;
        let changes = tree.list_changes(&disk, root, &plan, caller.quota)?;
        let mut applied = Applied {
            changes,
            recovered,
            ..Applied::default()
        };
        if applied.changes.is_empty() && plan.switches.is_empty() {
            return Ok(applied);
        }
        let checked = tree.check(&disk, root, &plan, caller.quota)?;
        applied.without_set_id =
            tree.switch_all(disk, root, &plan, &checked, options, caller.quota)?;
        tree.settle(host, &plan, caller.quota);
        Ok(applied)
    }

    /// Checks whether the changes of the overlay at a path could be applied now.
    pub(crate) fn check_apply(
        &mut self,
        caller: &Caller<'_>,
        path: &[u8],
        host: &HostDir,
    ) -> Result<(), ApplyError> {
        let tree = self.overlay(caller, path)?;
        let disk = Disk::new(&Through);
        let plan = tree.plan(&disk, host.dir())?;
        if plan.switches.is_empty() && plan.markings.is_empty() && plan.conflicts.is_empty() {
            return Ok(());
        }
        tree.check(&disk, host.dir(), &plan, caller.quota)
            .map(|_| ())
    }
}

impl Tree {
    /// Stages, switches and commits; whatever fails before the commit leaves the host as it was.
    fn switch_all(
        &mut self,
        disk: Disk<'_>,
        root: &Dir,
        plan: &Plan,
        checked: &Checked,
        options: ApplyOptions,
        quota: &dyn Quota,
    ) -> Result<Vec<Vec<u8>>, ApplyError> {
        let staged = match Area::make(disk, root) {
            Ok(area) => self
                .stage(&area, plan, checked, options, quota)
                .map(|staged| (area, staged)),
            Err(error) => Err(failed(AREA)(error)),
        };
        let (area, (journal, dropped)) = match staged {
            Ok(staged) => staged,
            Err(error) => {
                // Nothing was switched; what is not removed now is removed by the next run.
                let _ = area::remove(&disk, root, false);
                return Err(error);
            }
        };
        let done = match area.write_journal(&journal) {
            Ok(()) => area.carry_out(&journal),
            Err(error) => Err(Trouble::Fault(switch::Fault {
                path: AREA.to_vec(),
                error,
            })),
        };
        let done = done.and_then(|()| {
            area.commit().map_err(|error| {
                let path = AREA.to_vec();
                Trouble::Fault(switch::Fault { path, error })
            })
        });
        if let Err(trouble) = done {
            return Err(take_back(&area, &journal, trouble));
        }
        // All is there; what is not removed now is removed by the next run.
        let _ = area::remove(&disk, root, true);
        Ok(dropped)
    }

    fn stage(
        &mut self,
        area: &Area<'_>,
        plan: &Plan,
        checked: &Checked,
        options: ApplyOptions,
        quota: &dyn Quota,
    ) -> Result<(Journal, Vec<Vec<u8>>), ApplyError> {
        let ino = |dir| -> Result<u64, ApplyError> {
            let mark = area.disk.look(dir, b"").map_err(failed(AREA))?;
            Ok(mark.map_or(0, |mark| mark.ino))
        };
        let mut journal = Journal {
            root: ino(area.root)?,
            area: ino(&area.dir)?,
            ..Journal::default()
        };
        let mut stage = Stage::new(area, options.set_id, checked.names);
        for ((planned, old), slot) in plan.switches.iter().zip(&checked.old).zip(0..) {
            let new = stage.write(self, planned, slot, quota)?;
            journal.switches.push(Switch {
                slot,
                path: planned.path.clone(),
                old: *old,
                new,
            });
        }
        if !stage.sync_each {
            area.disk.sync_all(area.root).map_err(failed(AREA))?;
        }
        let Stage {
            closing,
            mut dropped,
            ..
        } = stage;
        journal.closing = closing;
        self.add_markings(plan, options, &mut journal, &mut dropped)?;
        // What is inside is closed before what is around it.
        journal.closing.sort_by(|a, b| b.path.cmp(&a.path));
        dropped.sort();
        Ok((journal, dropped))
    }

    fn add_markings(
        &self,
        plan: &Plan,
        options: ApplyOptions,
        journal: &mut Journal,
        dropped: &mut Vec<Vec<u8>>,
    ) -> Result<(), ApplyError> {
        for marked in &plan.markings {
            let kind = self.get(marked.index)?.kind();
            let set_id = marked.mode & 0o6000;
            // What the host has already is nothing that the script gives.
            let allowed = match options.set_id {
                true => set_id,
                false => set_id & marked.now.mode,
            };
            if allowed != set_id {
                dropped.push(marked.path.clone());
            }
            let mode = plain_mode(marked.mode, kind) | allowed;
            let has_mode = kind != FileKind::Symlink;
            let marking = Marking {
                path: marked.path.clone(),
                ino: marked.now.ino,
                from: Marks {
                    mode: has_mode.then_some(marked.now.mode),
                    mtime: marked.mtime.map(|_| marked.now.mtime),
                },
                to: Marks {
                    mode: has_mode.then_some(mode),
                    mtime: marked.mtime,
                },
            };
            match kind == FileKind::Directory && is_opening(marked.now.mode, mode) {
                true => journal.opening.push(marking),
                false => journal.closing.push(marking),
            }
        }
        Ok(())
    }
}

/// Undoes what was done of a journal, and says what was wrong.
fn take_back(area: &Area<'_>, journal: &Journal, trouble: Trouble) -> ApplyError {
    let undone = area
        .uncommit()
        .map_err(RecoverError::from)
        .and_then(|()| Ok(area.undo(journal)?))
        .and_then(|()| Ok(area.forget_journal()?));
    let (path, errno) = match trouble {
        Trouble::Changed(path) => match undone {
            Ok(()) => {
                let _ = area::remove(&area.disk, area.root, false);
                return ApplyError::Conflict { paths: vec![path] };
            }
            Err(_) => (path, jp_bash_system::Errno::Busy),
        },
        Trouble::Fault(fault) => (fault.path, errno(&fault.error)),
    };
    match undone {
        Ok(()) => {
            let _ = area::remove(&area.disk, area.root, false);
            ApplyError::Failed { path, errno }
        }
        Err(undo) => ApplyError::Unfinished { path, errno, undo },
    }
}

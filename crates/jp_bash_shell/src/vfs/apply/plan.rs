//! What an overlay changes: which trees are switched, which modes and times are set.
//!
//! Only what was loaded is walked; the rest is as it was. Whatever no longer stands where it stood on the host is
//! one switch, with everything below it.

use std::collections::{BTreeMap, BTreeSet};

use cap_std::fs::Dir;
use jp_bash_system::{Errno, FileKind, SysError, SysResult, Timestamp};

use super::disk::{Disk, Mark};
use super::survey::{Survey, join};
use crate::vfs::Quota;
use crate::vfs::data::Data;
use crate::vfs::diff::{Change, ChangeKind};
use crate::vfs::host::errno;
use crate::vfs::tree::{Body, Inode, Tree};

/// Everything an overlay changes, by path.
#[derive(Default)]
pub(in crate::vfs) struct Plan {
    pub(super) switches: Vec<Planned>,
    pub(super) markings: Vec<Marked>,
    /// Directories that stay.
    pub(super) homes: Vec<(Vec<u8>, u32)>,
    /// Paths that are no longer what the script saw.
    pub(super) conflicts: BTreeSet<Vec<u8>>,
}

/// A path at which something else is to be.
pub(super) struct Planned {
    pub(super) path: Vec<u8>,
    /// What the overlay has there.
    pub(super) index: Option<u32>,
    /// What the host has there.
    pub(super) now: Option<Mark>,
}

/// A path whose mode or time is to be another.
pub(super) struct Marked {
    pub(super) path: Vec<u8>,
    pub(super) index: u32,
    pub(super) now: Mark,
    pub(super) mode: u32,
    /// `None` for a directory.
    pub(super) mtime: Option<Timestamp>,
}

fn looked(disk: &Disk<'_>, root: &Dir, path: &[u8]) -> Result<Option<Mark>, Errno> {
    disk.look(root, path).map_err(|error| errno(&error))
}

impl Tree {
    /// Finds what the overlay changes.
    pub(in crate::vfs) fn plan(&mut self, disk: &Disk<'_>, root: &Dir) -> SysResult<Plan> {
        let mut plan = Plan::default();
        self.plan_home(disk, root, 0, Vec::new(), &mut plan)?;
        let mut next = 0;
        while let Some((path, dir)) = plan.homes.get(next).cloned() {
            next += 1;
            let known = self.dir(dir)?;
            let names: BTreeSet<Box<[u8]>> =
                known.entries.keys().chain(&known.hidden).cloned().collect();
            for name in names {
                let index = self.dir(dir)?.entries.get(&name).copied();
                self.plan_name(disk, root, join(&path, &name), index, &mut plan)?;
            }
        }
        plan.switches.sort_by(|a, b| a.path.cmp(&b.path));
        plan.markings.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(plan)
    }

    fn plan_name(
        &self,
        disk: &Disk<'_>,
        root: &Dir,
        path: Vec<u8>,
        index: Option<u32>,
        plan: &mut Plan,
    ) -> SysResult<()> {
        let Some(index) = index else {
            if let Some(now) = looked(disk, root, &path)? {
                plan.switches.push(Planned {
                    path,
                    index: None,
                    now: Some(now),
                });
            }
            return Ok(());
        };
        let inode = self.get(index)?;
        let home = inode.below.as_ref().filter(|below| *below.path == *path);
        let Some(home) = home else {
            let now = looked(disk, root, &path)?;
            let index = Some(index);
            plan.switches.push(Planned { path, index, now });
            return Ok(());
        };
        if matches!(inode.body, Body::Dir(_)) {
            return self.plan_home(disk, root, index, path, plan);
        }
        if home.clean {
            return Ok(());
        }
        let now = looked(disk, root, &path)?;
        if matches!(inode.body, Body::File(ref data) if !matches!(data, Data::Below)) {
            let index = Some(index);
            plan.switches.push(Planned { path, index, now });
            return Ok(());
        }
        let seen = home.seen;
        if (inode.mode, inode.mtime) == (seen.mode, seen.mtime) {
            return Ok(());
        }
        match now.filter(|now| now.kind == Some(inode.kind())) {
            None => {
                plan.conflicts.insert(path);
            }
            Some(now) => plan.markings.push(Marked {
                path,
                index,
                now,
                mode: inode.mode,
                mtime: Some(inode.mtime),
            }),
        }
        Ok(())
    }

    /// A directory that stands where it stood.
    fn plan_home(
        &self,
        disk: &Disk<'_>,
        root: &Dir,
        index: u32,
        path: Vec<u8>,
        plan: &mut Plan,
    ) -> SysResult<()> {
        let inode = self.get(index)?;
        let Some(below) = &inode.below else {
            return Err(SysError::Errno(Errno::Io));
        };
        if !below.clean {
            let now = looked(disk, root, &path)?;
            let Some(now) = now.filter(|now| now.is_dir() && now.ino == below.seen.ino) else {
                plan.conflicts.insert(path);
                return Ok(());
            };
            if inode.mode != below.seen.mode {
                plan.markings.push(Marked {
                    path: path.clone(),
                    index,
                    now,
                    mode: inode.mode,
                    mtime: None,
                });
            }
        }
        plan.homes.push((path, index));
        Ok(())
    }

    /// Visits an inode and everything below it, parents first; what lies below on the host is loaded on the way.
    /// An index is good until the visit returns.
    pub(super) fn visit<E: From<SysError>>(
        &mut self,
        top: u32,
        path: &[u8],
        quota: &dyn Quota,
        mut visit: impl FnMut(&Self, u32, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        visit(self, top, path)?;
        let mut todo = Vec::new();
        if self.dir(top).is_ok() {
            todo.push((top, path.to_vec()));
        }
        while let Some((dir, path)) = todo.pop() {
            let listed = self.list(dir).map_err(SysError::Errno)?;
            for entry in listed {
                let Some(index) = self.lookup(dir, &entry.name, quota)? else {
                    continue;
                };
                let inner = join(&path, &entry.name);
                visit(self, index, &inner)?;
                if self.dir(index).is_ok() {
                    todo.push((index, inner));
                }
            }
        }
        Ok(())
    }

    /// Lists the changes of a plan path by path, in order.
    pub(in crate::vfs) fn list_changes(
        &mut self,
        disk: &Disk<'_>,
        root: &Dir,
        plan: &Plan,
        quota: &dyn Quota,
    ) -> SysResult<Vec<Change>> {
        let mut changes: Vec<Change> = Vec::new();
        for path in &plan.conflicts {
            changes.push(change(path, ChangeKind::Modified, FileKind::Regular));
        }
        for marked in &plan.markings {
            let kind = self.get(marked.index)?.kind();
            changes.push(change(&marked.path, ChangeKind::Modified, kind));
        }
        for planned in &plan.switches {
            let mut both: BTreeMap<Vec<u8>, Sides> = BTreeMap::new();
            let old = Survey::of(disk, root, &planned.path);
            let old = old.map_err(|error| SysError::Errno(errno(&error)))?;
            for (inner, mark) in old.into_iter().flat_map(|old| old.found) {
                let kind = mark.kind.unwrap_or(FileKind::CharDevice);
                both.entry(join(&planned.path, &inner)).or_default().0 = Some((kind, mark.mode));
            }
            if let Some(index) = planned.index {
                self.visit::<SysError>(index, &planned.path, quota, |tree, index, path| {
                    let inode = tree.get(index).map_err(SysError::Errno)?;
                    both.entry(path.to_vec()).or_default().1 = Some((inode.kind(), inode.mode));
                    Ok(())
                })?;
            }
            for (path, sides) in both {
                sides.changes(&path, &mut changes);
            }
        }
        changes.sort_by(|a, b| (&a.path, a.kind).cmp(&(&b.path, b.kind)));
        Ok(changes)
    }

    /// Returns what the script knew of a host path: what it read or removed last, or else what it changed.
    pub(super) fn expected(
        &self,
        path: &[u8],
        index: Option<u32>,
    ) -> Option<crate::vfs::host::Seen> {
        let at_home = |inode: &Inode| {
            let below = inode.below.as_ref()?;
            (*below.path == *path).then_some(below.seen)
        };
        let witnessed = self.witness.get(path).copied();
        witnessed.or_else(|| at_home(self.get(index?).ok()?))
    }
}

/// Kind and mode of a path on the host and in the overlay.
#[derive(Default)]
struct Sides(Option<(FileKind, u32)>, Option<(FileKind, u32)>);

impl Sides {
    fn changes(&self, path: &[u8], changes: &mut Vec<Change>) {
        match (self.0, self.1) {
            (Some((old, old_mode)), Some((new, new_mode))) if old == new => {
                if new != FileKind::Directory || old_mode != new_mode {
                    changes.push(change(path, ChangeKind::Modified, new));
                }
            }
            (old, new) => {
                let gone = old.map(|(kind, _)| change(path, ChangeKind::Deleted, kind));
                let come = new.map(|(kind, _)| change(path, ChangeKind::Added, kind));
                changes.extend(gone.into_iter().chain(come));
            }
        }
    }
}

fn change(path: &[u8], kind: ChangeKind, file: FileKind) -> Change {
    Change {
        path: path.to_vec(),
        kind,
        file,
    }
}

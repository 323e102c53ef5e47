//! Everything that is checked before anything is touched: kinds, permissions, space, and whether the host still is
//! what the script saw.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use cap_std::fs::Dir;
use jp_bash_system::{Errno, FileKind};

use super::AREA;
use super::disk::{Disk, Mark, own_uid};
use super::error::{ApplyError, Refusal};
use super::plan::{Plan, Planned};
use super::survey::{Print, Survey, join, parent_path};
use crate::vfs::Quota;
use crate::vfs::data::Data;
use crate::vfs::host::{Seen, errno};
use crate::vfs::tree::{Body, Tree};

/// What a name costs on disk beside its content.
const NAME_COST: u64 = 4096;

/// What was found.
#[derive(Default)]
pub(super) struct Checked {
    /// What stands at the paths of the switches, in their order.
    pub(super) old: Vec<Option<Print>>,
    /// How many names are going to be made.
    pub(super) names: usize,
    conflicts: BTreeSet<Vec<u8>>,
    refused: BTreeMap<Vec<u8>, &'static str>,
    bytes: u64,
    /// Host paths whose content is taken along to another place.
    moved: BTreeSet<Vec<u8>>,
}

/// Tells whether a file of the host still is what the script saw. Of a directory only its identity counts: what is
/// in it is compared for itself.
pub(super) fn is_same(seen: &Seen, now: &Mark) -> bool {
    let same = (Some(seen.kind), seen.ino) == (now.kind, now.ino);
    let content = (seen.size, seen.mtime, seen.ctime) == (now.size, now.mtime, now.ctime);
    same && (seen.kind == FileKind::Directory || content)
}

/// Turns a failure before anything was changed into ours.
pub(super) fn failed(path: &[u8]) -> impl FnOnce(io::Error) -> ApplyError + '_ {
    |error| ApplyError::Failed {
        path: path.to_vec(),
        errno: errno(&error),
    }
}

impl Checked {
    fn refuse(&mut self, path: &[u8], reason: &'static str) {
        self.refused.entry(path.to_vec()).or_insert(reason);
    }
}

impl Tree {
    /// Checks a plan completely.
    pub(super) fn check(
        &mut self,
        disk: &Disk<'_>,
        root: &Dir,
        plan: &Plan,
        quota: &dyn Quota,
    ) -> Result<Checked, ApplyError> {
        let mut checked = Checked {
            conflicts: plan.conflicts.clone(),
            ..Checked::default()
        };
        let top = disk.look(root, b"").map_err(failed(b""))?;
        let top = top.ok_or(ApplyError::Overlay(Errno::NoEnt))?;
        if self
            .expected(b"", Some(0))
            .is_none_or(|seen| seen.ino != top.ino)
        {
            return Err(ApplyError::Conflict {
                paths: vec![Vec::new()],
            });
        }
        if !disk.may_change(root).map_err(failed(b""))? {
            checked.refuse(b"", "is not writable");
        }
        for planned in &plan.switches {
            self.check_new(disk, root, planned, quota, &mut checked)?;
        }
        for planned in &plan.switches {
            self.check_old(disk, root, planned, &mut checked)?;
            check_place(disk, root, &top, planned, plan, &mut checked)?;
        }
        for marked in &plan.markings {
            let seen = self.expected(&marked.path, Some(marked.index));
            let is_dir = marked.now.is_dir();
            let same = |seen: Seen| {
                is_same(&seen, &marked.now) && (!is_dir || seen.mode == marked.now.mode)
            };
            if !seen.is_some_and(same) {
                checked.conflicts.insert(marked.path.clone());
            }
            if own_uid() != 0 && marked.now.uid != own_uid() {
                checked.refuse(&marked.path, "belongs to somebody else");
            }
        }
        checked.verdict(disk, root)
    }

    /// Looks at what is going to be there: its kinds, its size, and where its content comes from.
    fn check_new(
        &mut self,
        disk: &Disk<'_>,
        root: &Dir,
        planned: &Planned,
        quota: &dyn Quota,
        checked: &mut Checked,
    ) -> Result<(), ApplyError> {
        let Some(top) = planned.index else {
            return Ok(());
        };
        self.visit::<ApplyError>(top, &planned.path, quota, |tree, index, path| {
            let inode = tree.get(index)?;
            checked.names += 1;
            checked.bytes = checked.bytes.saturating_add(match &inode.body {
                Body::File(Data::Below) => inode.size_below,
                Body::File(data) => data.held().min(data.size()),
                _ => 0,
            });
            if matches!(inode.body, Body::Fifo) {
                checked.refuse(path, "is a FIFO");
            }
            if path.split(|byte| *byte == b'/').any(|part| part == AREA) {
                checked.refuse(path, "has a name that is reserved for applying");
            }
            let Some(below) = inode.below.as_ref().filter(|below| *below.path != *path) else {
                return Ok(());
            };
            let source = &below.path;
            let now = disk.look(root, source).map_err(failed(source))?;
            let seen = tree.expected(source, Some(index));
            if !matches!((seen, now), (Some(seen), Some(now)) if is_same(&seen, &now)) {
                checked.conflicts.insert(source.to_vec());
            }
            checked.moved.insert(source.to_vec());
            Ok(())
        })
    }

    /// Looks at what is going to be removed or replaced: all of it must be what the script saw.
    fn check_old(
        &self,
        disk: &Disk<'_>,
        root: &Dir,
        planned: &Planned,
        checked: &mut Checked,
    ) -> Result<(), ApplyError> {
        let path = &planned.path;
        let found = Survey::of(disk, root, path).map_err(failed(path))?;
        checked.old.push(found.as_ref().map(Survey::print));
        let Some(found) = found else {
            if self.expected(path, planned.index).is_some() {
                checked.conflicts.insert(path.clone());
            }
            return Ok(());
        };
        let dev = found.found.first().map(|(_, top)| top.dev);
        for (inner, now) in &found.found {
            let inner = join(path, inner);
            if now.kind.is_none() {
                checked.refuse(
                    &inner,
                    "on the host is neither a file, a directory nor a link",
                );
            }
            if Some(now.dev) != dev {
                checked.refuse(&inner, "is on another file system");
            }
            if inner.split(|byte| *byte == b'/').any(|part| part == AREA) {
                checked.refuse(&inner, "belongs to an apply that was interrupted");
            }
            let index = planned.index.filter(|_| inner == *path);
            let known = self.expected(&inner, index);
            let known = known.is_some_and(|seen| is_same(&seen, now));
            if !known && !checked.moved.contains(&inner) {
                checked.conflicts.insert(inner);
            }
        }
        Ok(())
    }
}

/// Looks at the directory in which a path is switched.
fn check_place(
    disk: &Disk<'_>,
    root: &Dir,
    top: &Mark,
    planned: &Planned,
    plan: &Plan,
    checked: &mut Checked,
) -> Result<(), ApplyError> {
    let path = &planned.path;
    let above = parent_path(path);
    let opened = |above: &[u8]| {
        let marked = plan.markings.iter().find(|marked| marked.path == above);
        marked.is_some_and(|marked| is_opening(marked.now.mode, marked.mode))
    };
    let (parent, _) = match disk.parent(root, path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let mut ancestors = std::iter::successors(Some(above), |path| {
                (!path.is_empty()).then(|| parent_path(path))
            });
            if !ancestors.any(opened) {
                checked.refuse(path, "is in a directory that may not be entered");
            }
            return Ok(());
        }
        // What vanished is a conflict, and was found to be one.
        Err(_) if !checked.conflicts.is_empty() => return Ok(()),
        found => found.map_err(failed(path))?,
    };
    let Some(dir) = disk.look(&parent, b"").map_err(failed(path))? else {
        return Ok(());
    };
    if dir.dev != top.dev {
        checked.refuse(path, "is on another file system");
    }
    if !opened(above) && !disk.may_change(&parent).map_err(failed(path))? {
        checked.refuse(path, "is in a directory that may not be written");
    }
    let me = own_uid();
    if let Some(now) = planned.now.filter(|_| me != 0) {
        if dir.mode & 0o1000 != 0 && dir.uid != me && now.uid != me {
            checked.refuse(path, "belongs to somebody else");
        }
        if now.is_dir() && now.uid == me && now.mode & 0o200 == 0 {
            checked.refuse(path, "is a directory that may not be written");
        }
    }
    Ok(())
}

/// Tells whether a directory that could not be changed can be once it has its new mode.
pub(super) fn is_opening(from: u32, to: u32) -> bool {
    from & 0o300 != 0o300 && to & 0o300 == 0o300
}

impl Checked {
    fn verdict(self, disk: &Disk<'_>, root: &Dir) -> Result<Self, ApplyError> {
        if !self.refused.is_empty() {
            let refused = self.refused.into_iter();
            return Err(ApplyError::Refused {
                refused: refused
                    .map(|(path, reason)| Refusal { path, reason })
                    .collect(),
            });
        }
        if !self.conflicts.is_empty() {
            return Err(ApplyError::Conflict {
                paths: self.conflicts.into_iter().collect(),
            });
        }
        let names = (self.names as u64)
            .saturating_add(4)
            .saturating_mul(NAME_COST);
        let needed = self.bytes.saturating_add(names);
        match disk.free(root).map_err(failed(b""))? {
            Some(free) if free < needed => Err(ApplyError::Space { needed, free }),
            _ => Ok(self),
        }
    }
}

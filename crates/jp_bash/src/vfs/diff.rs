//! What a guest changed in an overlay, and writing it to the host.
//!
//! Applying checks first that the host still is what the guest saw; a failure later says what was done and what not.

use super::data::Data;
use super::host::{HostDir, HostOpen, Seen};
use super::tree::{Below, Body, Inode, Tree};
use super::{Caller, Fs, HostMode, Node, Quota, Vfs};
use crate::errno::Errno;
use crate::stop::Stop;
use crate::system::{FileKind, SetTime, SysError, SysResult};

/// What happened to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// It is gone.
    Deleted,
    /// It is new.
    Added,
    /// It is another, or was changed.
    Modified,
}

/// One difference between an overlay and what lies below.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Relative to the mounted directory.
    pub path: Vec<u8>,
    /// What happened to it.
    pub kind: ChangeKind,
    /// What it is, or was.
    pub file: FileKind,
}

/// Why changes were not applied, or not all of them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// The host changed since the guest saw it; nothing was written.
    #[error("{} path(s) changed on the host in the meantime; nothing was written", paths.len())]
    Conflict {
        /// The paths that changed.
        paths: Vec<Vec<u8>>,
    },
    /// Writing failed; what is in `done` was written, the rest was not.
    #[error("failed to apply a change ({errno}); {} of {total} changes were written", done.len())]
    Failed {
        /// The change that failed.
        change: Change,
        /// Why.
        errno: Errno,
        /// What was written before.
        done: Vec<Change>,
        /// How many changes there are.
        total: usize,
    },
    /// There is no overlay there, or it could not be read.
    #[error("{0}")]
    Overlay(Errno),
    /// The run ended first; nothing was written.
    #[error(transparent)]
    Stop(#[from] Stop),
}

impl From<SysError> for ApplyError {
    fn from(error: SysError) -> Self {
        match error {
            SysError::Errno(errno) => Self::Overlay(errno),
            SysError::Stop(stop) => Self::Stop(stop),
        }
    }
}

/// A change with what it needs to be applied.
struct Found {
    change: Change,
    /// The inode that holds the new content.
    index: Option<u32>,
    /// What the guest saw there before.
    seen: Option<Seen>,
}

impl Vfs {
    /// Lists what was changed in the overlay at a path, sorted by path.
    pub(crate) fn diff(&mut self, caller: &Caller<'_>, path: &[u8]) -> SysResult<Vec<Change>> {
        let tree = self.overlay(caller, path)?;
        let found = tree.changes(caller.quota)?;
        Ok(found.into_iter().map(|found| found.change).collect())
    }

    /// Writes the changes of the overlay at a path to the host, through a directory that may be written.
    pub(crate) fn apply(
        &mut self,
        caller: &Caller<'_>,
        path: &[u8],
        host: &HostDir,
    ) -> Result<Vec<Change>, ApplyError> {
        let tree = self.overlay(caller, path)?;
        let found = tree.changes(caller.quota)?;
        let conflicts: Vec<Vec<u8>> = found
            .iter()
            .filter(|found| conflicts(host, found))
            .map(|found| found.change.path.clone())
            .collect();
        if !conflicts.is_empty() {
            return Err(ApplyError::Conflict { paths: conflicts });
        }
        // What was moved is still read from its old place, which may be about to go.
        for index in found.iter().filter_map(|found| found.index) {
            tree.own(index, caller.quota)?;
        }
        tree.write_out(host, &found, caller.quota)
    }

    fn overlay(&mut self, caller: &Caller<'_>, path: &[u8]) -> SysResult<&mut Tree> {
        let root: Node = self.directory(caller, path)?;
        match self
            .mounts
            .get_mut(root.mount as usize)
            .map(|mounted| &mut mounted.fs)
        {
            Some(Fs::Tree(tree))
                if root.index == 0 && matches!(tree.host, Some((_, HostMode::Overlay))) =>
            {
                Ok(tree)
            }
            _ => Err(Errno::Inval.into()),
        }
    }
}

/// Tells whether the host is no longer what the guest saw.
fn conflicts(host: &HostDir, found: &Found) -> bool {
    let now = host.look(&found.change.path).ok();
    match (found.change.kind, found.seen, now) {
        (ChangeKind::Added, _, now) => now.is_some() && found.seen.is_none(),
        (_, Some(seen), Some(now)) => {
            let same_content = seen.kind == FileKind::Directory
                || (seen.mtime, seen.size) == (now.mtime, now.size);
            (seen.kind, seen.ino) != (now.kind, now.ino) || !same_content
        }
        (_, Some(_), None) => true,
        (_, None, _) => false,
    }
}

impl Tree {
    /// Collects changes by walking only what was loaded: the rest is as it was.
    fn changes(&mut self, quota: &dyn Quota) -> SysResult<Vec<Found>> {
        let Some((host, _)) = self.host.clone() else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        let mut todo: Vec<(u32, Vec<u8>)> = vec![(0, Vec::new())];
        while let Some((dir, path)) = todo.pop() {
            let home = self.home(dir, &path)?;
            self.deletions(&host, dir, &path, home, &mut found)?;
            // A directory that stands where it stood: what was never looked at is unchanged.
            let names: Vec<Box<[u8]>> = if home {
                self.dir(dir)?.entries.keys().cloned().collect()
            } else {
                let listed = self.list(dir)?;
                listed.into_iter().map(|entry| entry.name.into()).collect()
            };
            for name in names {
                let Some(index) = self.lookup(dir, &name, quota)? else {
                    continue;
                };
                let inner = join(&path, &name);
                self.compare(&host, index, &inner, &mut found)?;
                if self.dir(index).is_ok() {
                    todo.push((index, inner));
                }
            }
        }
        found.sort_by(|a, b| (&a.change.path, a.change.kind).cmp(&(&b.change.path, b.change.kind)));
        Ok(found)
    }

    fn home(&self, index: u32, path: &[u8]) -> Result<bool, Errno> {
        let below = &self.get(index)?.below;
        Ok(below.as_ref().is_some_and(|below| *below.path == *path))
    }

    /// Finds what is below but no longer here.
    fn deletions(
        &self,
        host: &HostDir,
        dir: u32,
        path: &[u8],
        home: bool,
        found: &mut Vec<Found>,
    ) -> SysResult<()> {
        let inode = self.dir(dir)?;
        let gone: Vec<(Vec<u8>, Option<Seen>)> = if home {
            let hidden = inode.hidden.iter();
            hidden.map(|(name, seen)| (name.to_vec(), *seen)).collect()
        } else {
            let listed = host.list(path).unwrap_or_default();
            listed.into_iter().map(|(name, ..)| (name, None)).collect()
        };
        for (name, seen) in gone {
            let inner = join(path, &name);
            let Ok(now) = host.look(&inner) else { continue };
            let here = inode.entries.get(name.as_slice());
            let kind = here
                .and_then(|index| self.get(*index).ok())
                .map(Inode::kind);
            if kind.is_none_or(|kind| kind != now.kind) {
                found.push(Found {
                    change: Change {
                        path: inner,
                        kind: ChangeKind::Deleted,
                        file: now.kind,
                    },
                    index: None,
                    seen,
                });
            }
        }
        Ok(())
    }

    /// Compares one inode with what is below its path.
    fn compare(
        &self,
        host: &HostDir,
        index: u32,
        path: &[u8],
        found: &mut Vec<Found>,
    ) -> SysResult<()> {
        let inode = self.get(index)?;
        let home = self.home(index, path)?;
        if home && inode.clean() {
            return Ok(());
        }
        let file = inode.kind();
        let now = host.look(path).ok().filter(|now| now.kind == file);
        let seen = inode
            .below
            .as_ref()
            .filter(|_| home)
            .map(|below| below.seen);
        let kind = match (now, seen) {
            (None, None) => ChangeKind::Added,
            // The guest changed what the host has removed: a conflict for `apply` to find.
            (None, Some(_)) => ChangeKind::Modified,
            (Some(now), _) if file == FileKind::Directory && now.mode == inode.mode => {
                return Ok(());
            }
            (Some(now), Some(seen)) => {
                let touched = !matches!(inode.body, Body::File(Data::Below))
                    || (inode.mode, inode.mtime) != (seen.mode, seen.mtime);
                if !touched && now == seen {
                    return Ok(());
                }
                ChangeKind::Modified
            }
            (Some(_), None) => ChangeKind::Modified,
        };
        found.push(Found {
            change: Change {
                path: path.to_vec(),
                kind,
                file,
            },
            index: Some(index),
            seen: seen.or(now.filter(|_| kind == ChangeKind::Added)),
        });
        Ok(())
    }

    /// Writes changes: what is gone first, then what is new, directories before what is in them.
    fn write_out(
        &mut self,
        host: &HostDir,
        found: &[Found],
        quota: &dyn Quota,
    ) -> Result<Vec<Change>, ApplyError> {
        let mut done: Vec<Change> = Vec::with_capacity(found.len());
        let deletes = found
            .iter()
            .filter(|one| one.change.kind == ChangeKind::Deleted);
        let writes = found
            .iter()
            .filter(|one| one.change.kind != ChangeKind::Deleted);
        for one in deletes.chain(writes) {
            let written = match one.index {
                None => remove_all(host, &one.change.path),
                Some(index) => self.write_one(host, index, &one.change, quota),
            };
            if let Err(errno) = written {
                return Err(ApplyError::Failed {
                    change: one.change.clone(),
                    errno,
                    done,
                    total: found.len(),
                });
            }
            done.push(one.change.clone());
        }
        for inode in self.inodes.iter_mut().flatten() {
            if let Body::Dir(dir) = &mut inode.body {
                dir.hidden.clear();
            }
        }
        Ok(done)
    }

    fn write_one(
        &mut self,
        host: &HostDir,
        index: u32,
        change: &Change,
        quota: &dyn Quota,
    ) -> Result<(), Errno> {
        let path = &change.path;
        let inode = self.get(index)?;
        let modify = SetTime::At(inode.mtime);
        match &inode.body {
            Body::Dir(_) => {
                if host.look(path).is_err() {
                    host.mkdir(path, inode.mode)?;
                }
                host.chmod(path, inode.mode)?;
            }
            Body::Link(target) => {
                if host.look(path).is_ok() {
                    host.unlink(path)?;
                }
                host.symlink(target, path)?;
            }
            Body::File(data) => {
                write_file(host, path, data, inode.mode)?;
                host.set_times(path, SetTime::Keep, modify)?;
            }
            // A FIFO has no place on the host.
            Body::Fifo => return Err(Errno::NotSup),
        }
        let seen = host.look(path)?;
        self.settle(index, path, seen, quota)
    }

    /// Lets an inode mirror the host again.
    fn settle(
        &mut self,
        index: u32,
        path: &[u8],
        seen: Seen,
        quota: &dyn Quota,
    ) -> Result<(), Errno> {
        let inode = self.get_mut(index)?;
        let mut freed = 0;
        // An open handle goes on reading from memory.
        let clean = inode.opens == 0 || !matches!(inode.body, Body::File(_));
        if clean && let Body::File(data) = &mut inode.body {
            freed = data.held();
            *data = Data::Below;
        }
        inode.size_below = seen.size;
        inode.below = Some(Box::new(Below {
            path: path.into(),
            seen,
            clean,
        }));
        self.give(freed, quota);
        Ok(())
    }
}

/// Writes a file beside its place and moves it there, so that nobody sees half of it.
fn write_file(host: &HostDir, path: &[u8], data: &Data, mode: u32) -> Result<(), Errno> {
    let temporary = [path, b".jp-apply"].concat();
    let how = HostOpen {
        read: false,
        write: true,
        create: true,
        mode: mode & 0o777,
    };
    let mut file = host.open_file(&temporary, how)?;
    let mut buf = vec![0; 256 * 1024];
    let mut at = 0;
    let written = loop {
        let got = data.read_at(at, &mut buf);
        if got == 0 {
            break Ok(());
        }
        if let Err(errno) = file.write_at(at, buf.get(..got).unwrap_or_default()) {
            break Err(errno);
        }
        at += got as u64;
    };
    let moved = written
        .and_then(|()| host.chmod(&temporary, mode))
        .and_then(|()| host.rename(&temporary, path));
    if moved.is_err() {
        // The failure itself is what gets reported.
        host.unlink(&temporary).ok();
    }
    moved
}

/// Removes a file or a tree of the host.
fn remove_all(host: &HostDir, path: &[u8]) -> Result<(), Errno> {
    let mut todo = vec![(path.to_vec(), false)];
    while let Some((path, emptied)) = todo.pop() {
        match host.look(&path) {
            Ok(seen) if seen.kind != FileKind::Directory => host.unlink(&path)?,
            Ok(_) if emptied => host.rmdir(&path)?,
            Ok(_) => {
                let names = host.list(&path)?;
                todo.push((path.clone(), true));
                todo.extend(
                    names
                        .into_iter()
                        .map(|(name, ..)| (join(&path, &name), false)),
                );
            }
            Err(Errno::NoEnt) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

fn join(dir: &[u8], name: &[u8]) -> Vec<u8> {
    if dir.is_empty() {
        return name.to_vec();
    }
    [dir, b"/", name].concat()
}

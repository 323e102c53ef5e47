//! The part of a tree that stands on a directory of the host.

use jp_bash_system::{Errno, FileKind, SysResult, Timestamp};

use super::links::{Make, Spot};
use super::{Below, Body, Dir, Inode, Tree};
use crate::vfs::data::Data;
use crate::vfs::host::{HostDir, HostOpen, Listed, Seen};
use crate::vfs::{HostMode, Quota};

/// When more clean inodes than this are known, those nobody uses are forgotten.
const MANY_CLEAN: usize = 50_000;

/// How much of a host file is read at once when it becomes our own.
const COPY: usize = 256 * 1024;

/// The host and the path of a file in it.
type Through = (HostDir, Box<[u8]>);

impl Tree {
    /// Refuses changes of a read-only mount.
    pub(in crate::vfs) fn writable(&self) -> Result<(), Errno> {
        match self.host {
            Some((_, HostMode::ReadOnly)) => Err(Errno::RoFs),
            _ => Ok(()),
        }
    }

    /// Finds a name in a directory.
    pub(in crate::vfs) fn lookup(
        &mut self,
        dir: u32,
        name: &[u8],
        quota: &dyn Quota,
    ) -> SysResult<Option<u32>> {
        let known = self.dir(dir)?.entries.get(name).copied();
        if self.host.is_none() || self.get(dir)?.below.is_none() {
            return Ok(known);
        }
        if let Some(index) = known
            && !self.get(index)?.clean()
        {
            return Ok(known);
        }
        let hidden = self.dir(dir)?.hidden.contains(name);
        let Some((host, _)) = self.host.as_ref().filter(|_| !hidden || known.is_some()) else {
            return Ok(known);
        };
        let path = match known {
            Some(index) => self.own_path(index)?,
            None => self.path_below(Spot { dir, name })?,
        };
        let seen = match host.look(&path) {
            Ok(seen) => Some(seen),
            Err(Errno::NoEnt | Errno::NotDir) => None,
            Err(errno) => return Err(errno.into()),
        };
        match (known, seen) {
            (Some(index), Some(seen)) if self.get(index)?.kind() == seen.kind => {
                self.refresh(index, &seen, &path)?;
                Ok(Some(index))
            }
            // What the guest made beneath a directory that the host removed is not lost.
            (Some(index), _) if self.dir(index).is_ok_and(|dir| !dir.entries.is_empty()) => {
                Ok(Some(index))
            }
            (Some(index), seen) => {
                self.forget(Spot { dir, name }, index, quota);
                match seen {
                    Some(seen) => self.adopt(Spot { dir, name }, path, seen, quota).map(Some),
                    None => Ok(None),
                }
            }
            (None, Some(seen)) => self.adopt(Spot { dir, name }, path, seen, quota).map(Some),
            (None, None) => Ok(None),
        }
    }

    /// Makes an inode for a host file that was found.
    fn adopt(
        &mut self,
        at: Spot<'_>,
        path: Box<[u8]>,
        seen: Seen,
        quota: &dyn Quota,
    ) -> SysResult<u32> {
        if self.clean_files > MANY_CLEAN {
            self.forget_unused(quota);
        }
        let body = match seen.kind {
            FileKind::Directory => Body::Dir(Box::new(Dir {
                parent: at.dir,
                name: at.name.into(),
                ..Dir::default()
            })),
            FileKind::Symlink => {
                let Some((host, _)) = &self.host else {
                    return Err(Errno::Io.into());
                };
                Body::Link(host.read_link(&path)?.into_boxed_slice())
            }
            _ => Body::File(Data::Below),
        };
        let mut inode = self.fresh(body, seen.mode, seen.mtime);
        mirror(&mut inode, &seen);
        inode.below = Some(Box::new(Below {
            path,
            seen,
            clean: true,
        }));
        let index = self.store(inode, quota)?;
        self.take(at.name.len() as u64, quota)?;
        self.dir_mut(at.dir)?.entries.insert(at.name.into(), index);
        Ok(index)
    }

    /// Brings a clean inode up to date.
    fn refresh(&mut self, index: u32, seen: &Seen, path: &[u8]) -> SysResult<()> {
        let target = match (&self.host, seen.kind) {
            (Some((host, _)), FileKind::Symlink) => Some(host.read_link(path)?),
            _ => None,
        };
        let inode = self.get_mut(index)?;
        mirror(inode, seen);
        if let (Body::Link(old), Some(target)) = (&mut inode.body, target)
            && **old != *target
        {
            *old = target.into_boxed_slice();
        }
        if let Some(below) = &mut inode.below {
            below.seen = *seen;
        }
        Ok(())
    }

    /// Looks at the host file of a clean inode that was not found by its name.
    pub(in crate::vfs) fn look_again(&mut self, index: u32) -> SysResult<()> {
        if !self.get(index)?.clean() {
            return Ok(());
        }
        let path = self.own_path(index)?;
        let Some((host, _)) = &self.host else {
            return Ok(());
        };
        let seen = host.look(&path)?;
        self.refresh(index, &seen, &path)
    }

    /// Lists the directory below, without what is hidden by name.
    pub(super) fn list_below(&self, index: u32) -> Result<Option<Vec<Listed>>, Errno> {
        match (&self.host, &self.get(index)?.below) {
            (Some((host, mode)), Some(below)) => match host.list(&below.path) {
                Ok(found) => Ok(Some(found)),
                // A directory that the host removed under an overlay is just no longer there below.
                Err(Errno::NoEnt | Errno::NotDir) if *mode == HostMode::Overlay => {
                    Ok(Some(Vec::new()))
                }
                Err(errno) => Err(errno),
            },
            _ => Ok(None),
        }
    }

    /// Tells whether an inode stands under the name that its host file has.
    pub(super) fn is_at_home(&self, dir: u32, name: &[u8], inode: &Inode) -> bool {
        match (&inode.below, self.path_below(Spot { dir, name })) {
            (Some(below), Ok(home)) => below.path == home,
            _ => false,
        }
    }

    /// Returns the host path that a name in a directory has below.
    pub(in crate::vfs) fn path_below(&self, at: Spot<'_>) -> Result<Box<[u8]>, Errno> {
        let Some(below) = &self.get(at.dir)?.below else {
            return Err(Errno::NoEnt);
        };
        let mut path = Vec::with_capacity(below.path.len() + 1 + at.name.len());
        path.extend_from_slice(&below.path);
        if !path.is_empty() {
            path.push(b'/');
        }
        path.extend_from_slice(at.name);
        Ok(path.into_boxed_slice())
    }

    /// Returns the host path of an inode.
    pub(in crate::vfs) fn own_path(&self, index: u32) -> Result<Box<[u8]>, Errno> {
        let below = self.get(index)?.below.as_ref().ok_or(Errno::NoEnt)?;
        Ok(below.path.clone())
    }

    /// Returns the host and the path of an inode whose changes go to the host at once.
    pub(in crate::vfs) fn written_through(&self, index: u32) -> Result<Option<Through>, Errno> {
        match &self.host {
            Some((_, HostMode::ReadOnly)) => Err(Errno::RoFs),
            Some((host, HostMode::ReadWrite)) => Ok(Some((host.clone(), self.own_path(index)?))),
            _ => Ok(None),
        }
    }

    /// Makes mode and times of an inode our own; its content may stay below.
    pub(super) fn own_metadata(&mut self, index: u32) -> Result<(), Errno> {
        self.writable()?;
        let is_file = matches!(self.get(index)?.body, Body::File(_));
        let inode = self.get_mut(index)?;
        if let Some(below) = &mut inode.below
            && below.clean
        {
            below.clean = false;
            // Names of the same file elsewhere on the host are none of ours.
            if is_file {
                inode.nlink = 1;
            }
            if inode.kind() != FileKind::Directory {
                self.clean_files = self.clean_files.saturating_sub(1);
            }
        }
        Ok(())
    }

    /// Makes an inode with its content our own (copy-up).
    pub(in crate::vfs) fn own(&mut self, index: u32, quota: &dyn Quota) -> SysResult<()> {
        self.own_metadata(index)?;
        if !matches!(self.get(index)?.body, Body::File(Data::Below)) {
            return Ok(());
        }
        let path = self.own_path(index)?;
        let Some((host, _)) = &self.host else {
            return Err(Errno::Io.into());
        };
        let mut file = host.open_file(&path, HostOpen::READ)?;
        let mut data = Data::empty();
        let mut buf = vec![0; COPY];
        let mut at = 0;
        loop {
            let got = file.read_at(at, &mut buf)?;
            if got == 0 {
                break;
            }
            let copied = data.write_at(at, buf.get(..got).unwrap_or_default(), quota);
            if let Err(error) = copied {
                quota.release(data.held());
                return Err(error);
            }
            at += got as u64;
        }
        self.held += data.held();
        self.get_mut(index)?.body = Body::File(data);
        Ok(())
    }

    /// Makes a file our own without its content, which is about to be cut to nothing.
    pub(in crate::vfs) fn discard(&mut self, index: u32) -> SysResult<()> {
        self.own_metadata(index)?;
        let inode = self.get_mut(index)?;
        if matches!(inode.body, Body::File(Data::Below)) {
            inode.body = Body::File(Data::empty());
        }
        Ok(())
    }

    /// Makes something on the host, then knows it.
    pub(super) fn make_on_host(
        &mut self,
        at: Spot<'_>,
        what: Make<'_>,
        mode: u32,
        quota: &dyn Quota,
    ) -> SysResult<u32> {
        let path = self.path_below(at)?;
        let Some((host, _)) = &self.host else {
            return Err(Errno::Io.into());
        };
        match what {
            Make::File => {
                let how = HostOpen {
                    read: false,
                    write: true,
                    create: true,
                    mode,
                };
                host.open_file(&path, how)?;
                // The umask of the host's process is not the session's.
                host.chmod(&path, mode)?;
            }
            Make::Dir => host.mkdir(&path, mode)?,
            Make::Link(target) => host.symlink(target, &path)?,
            Make::Fifo => return Err(Errno::Perm.into()),
        }
        match self.lookup(at.dir, at.name, quota)? {
            Some(index) => Ok(index),
            None => Err(Errno::NoEnt.into()),
        }
    }

    /// Forgets a name and everything known beneath it.
    pub(in crate::vfs) fn forget(&mut self, at: Spot<'_>, index: u32, quota: &dyn Quota) {
        if let Ok(dir) = self.dir_mut(at.dir)
            && dir.entries.get(at.name) == Some(&index)
        {
            dir.entries.remove(at.name);
            self.give(at.name.len() as u64, quota);
        }
        let mut doomed = vec![index];
        while let Some(index) = doomed.pop() {
            if let Ok(dir) = self.dir_mut(index) {
                doomed.extend(std::mem::take(&mut dir.entries).into_values());
            }
            if let Ok(inode) = self.get_mut(index) {
                inode.nlink = 0;
            }
            self.drop_unused(index, quota);
        }
    }

    /// Moves what is known of a renamed host file or directory.
    pub(super) fn moved_below(
        &mut self,
        from: Spot<'_>,
        index: u32,
        to: Spot<'_>,
        path: &[u8],
    ) -> SysResult<()> {
        self.dir_mut(from.dir)?.entries.remove(from.name);
        self.dir_mut(to.dir)?.entries.insert(to.name.into(), index);
        if let Ok(dir) = self.dir_mut(index) {
            dir.parent = to.dir;
            dir.name = to.name.into();
        }
        let mut moved = vec![(index, path.to_vec().into_boxed_slice())];
        while let Some((index, path)) = moved.pop() {
            if let Ok(dir) = self.dir(index) {
                for (name, &child) in &dir.entries {
                    moved.push((child, [&path, &b"/"[..], name].concat().into_boxed_slice()));
                }
            }
            if let Some(below) = &mut self.get_mut(index)?.below {
                below.path = path;
            }
        }
        Ok(())
    }

    /// Forgets clean files and symlinks that nobody has open: they are found again by name.
    fn forget_unused(&mut self, quota: &dyn Quota) {
        let unused: Vec<bool> = self
            .inodes
            .iter()
            .map(|slot| {
                slot.as_ref().is_some_and(|inode| {
                    inode.clean() && inode.opens == 0 && inode.kind() != FileKind::Directory
                })
            })
            .collect();
        let is_unused = |index: u32| unused.get(index as usize).copied().unwrap_or(false);
        let mut bytes = 0;
        for inode in self.inodes.iter_mut().flatten() {
            if let Body::Dir(dir) = &mut inode.body {
                dir.entries.retain(|name, index| {
                    let keep = !is_unused(*index);
                    bytes += if keep { 0 } else { name.len() as u64 };
                    keep
                });
            }
        }
        self.give(bytes, quota);
        for index in 0..u32::try_from(unused.len()).unwrap_or(0) {
            if is_unused(index) {
                if let Ok(inode) = self.get_mut(index) {
                    inode.nlink = 0;
                }
                self.drop_unused(index, quota);
            }
        }
    }
}

/// Copies what the host says into an inode.
pub(in crate::vfs) fn mirror(inode: &mut Inode, seen: &Seen) {
    inode.mode = seen.mode;
    inode.nlink = u32::max(seen.nlink, 1);
    inode.size_below = seen.size;
    inode.atime = seen.atime;
    inode.mtime = seen.mtime;
    inode.ctime = seen.ctime;
    inode.btime = if seen.btime == Timestamp::default() {
        seen.mtime
    } else {
        seen.btime
    };
}

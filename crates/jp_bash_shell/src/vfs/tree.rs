//! Inodes and names of one mount: a tree in memory, on top of a directory of the host where there is one.
//!
//! A host mount is the same tree with its inodes standing for host files. A *clean* inode mirrors the host and
//! is looked at again whenever it is found; in an overlay it becomes our own when it is changed.
//! Path resolution, permissions and handles are the callers'.

mod below;
mod links;
mod witness;

pub(super) use below::mirror;
pub(super) use links::{Make, Spot};

use jp_bash_system::{DirEntry, Errno, FileKind, SetTime, Stat, SysResult, Timestamp};
use rustc_hash::{FxHashMap, FxHashSet};

use super::data::Data;
use super::host::{HostDir, Seen};
use super::{HostMode, MAX_INODES, Quota};

/// What an inode costs beside its name and content, counted against the memory limit.
const INODE_COST: u64 = 320;

/// The names of a directory.
#[derive(Debug, Default)]
pub(super) struct Dir {
    pub(super) entries: FxHashMap<Box<[u8]>, u32>,
    /// Names of the directory below that are gone here (whiteouts).
    pub(super) hidden: FxHashSet<Box<[u8]>>,
    pub(super) parent: u32,
    pub(super) name: Box<[u8]>,
}

#[derive(Debug)]
pub(super) enum Body {
    File(Data),
    Dir(Box<Dir>),
    Link(Box<[u8]>),
    Fifo,
}

/// The host file that an inode stands for or came from.
#[derive(Debug)]
pub(super) struct Below {
    /// Relative to the mounted directory; empty for that directory itself.
    pub(super) path: Box<[u8]>,
    /// What it was like when it was last looked at, or when it became our own.
    pub(super) seen: Seen,
    pub(super) clean: bool,
}

#[derive(Debug)]
pub(super) struct Inode {
    pub(super) serial: u64,
    pub(super) body: Body,
    pub(super) mode: u32,
    pub(super) nlink: u32,
    pub(super) opens: u32,
    pub(super) size_below: u64,
    pub(super) atime: Timestamp,
    pub(super) mtime: Timestamp,
    pub(super) ctime: Timestamp,
    pub(super) btime: Timestamp,
    pub(super) below: Option<Box<Below>>,
}

impl Inode {
    pub(super) fn kind(&self) -> FileKind {
        match self.body {
            Body::File(_) => FileKind::Regular,
            Body::Dir(_) => FileKind::Directory,
            Body::Link(_) => FileKind::Symlink,
            Body::Fifo => FileKind::Fifo,
        }
    }

    pub(super) fn clean(&self) -> bool {
        self.below.as_ref().is_some_and(|below| below.clean)
    }
}

/// One tree.
pub(super) struct Tree {
    pub(super) inodes: Vec<Option<Inode>>,
    free: Vec<u32>,
    next_serial: u64,
    uid: u32,
    gid: u32,
    held: u64,
    /// Clean inodes that are no directories: forgotten again when there are very many.
    clean_files: usize,
    /// What the script knew of host files it read or removed, by host path; of an overlay only.
    pub(super) witness: FxHashMap<Box<[u8]>, Seen>,
    pub(super) host: Option<(HostDir, HostMode)>,
}

impl Tree {
    /// Makes a tree with a root.
    pub(super) fn new(
        uid: u32,
        gid: u32,
        now: Timestamp,
        host: Option<(HostDir, HostMode)>,
    ) -> Self {
        let mut tree = Self {
            inodes: Vec::new(),
            free: Vec::new(),
            next_serial: 1,
            uid,
            gid,
            held: 0,
            clean_files: 0,
            witness: FxHashMap::default(),
            host,
        };
        let mut root = tree.fresh(Body::Dir(Box::default()), 0o755, now);
        root.nlink = 2;
        if let Some((host, _)) = &tree.host
            && let Ok(seen) = host.look(b"")
        {
            root.below = Some(Box::new(Below {
                path: Box::default(),
                seen,
                clean: true,
            }));
            mirror(&mut root, &seen);
        }
        tree.inodes.push(Some(root));
        tree
    }

    /// Returns how many bytes are held.
    pub(super) fn held(&self) -> u64 {
        self.held
    }

    pub(super) fn get(&self, index: u32) -> Result<&Inode, Errno> {
        self.inodes
            .get(index as usize)
            .and_then(Option::as_ref)
            .ok_or(Errno::NoEnt)
    }

    pub(super) fn get_mut(&mut self, index: u32) -> Result<&mut Inode, Errno> {
        self.inodes
            .get_mut(index as usize)
            .and_then(Option::as_mut)
            .ok_or(Errno::NoEnt)
    }

    /// Returns the serial number of an inode, 0 when there is none.
    pub(super) fn serial(&self, index: u32) -> u64 {
        self.get(index).map_or(0, |inode| inode.serial)
    }

    pub(super) fn dir(&self, index: u32) -> Result<&Dir, Errno> {
        match &self.get(index)?.body {
            Body::Dir(dir) => Ok(dir),
            _ => Err(Errno::NotDir),
        }
    }

    pub(super) fn dir_mut(&mut self, index: u32) -> Result<&mut Dir, Errno> {
        match &mut self.get_mut(index)?.body {
            Body::Dir(dir) => Ok(dir),
            _ => Err(Errno::NotDir),
        }
    }

    /// Makes an inode that has no name yet.
    pub(super) fn fresh(&mut self, body: Body, mode: u32, now: Timestamp) -> Inode {
        let serial = self.next_serial;
        self.next_serial += 1;
        Inode {
            serial,
            body,
            mode: mode & 0o7777,
            nlink: 1,
            opens: 0,
            size_below: 0,
            atime: now,
            mtime: now,
            ctime: now,
            btime: now,
            below: None,
        }
    }

    /// Counts and stores an inode.
    pub(super) fn store(&mut self, inode: Inode, quota: &dyn Quota) -> SysResult<u32> {
        if self.inodes.len() - self.free.len() >= MAX_INODES {
            return Err(Errno::NoSpc.into());
        }
        self.take(INODE_COST, quota)?;
        if inode.clean() && inode.kind() != FileKind::Directory {
            self.clean_files += 1;
        }
        if let Some(index) = self.free.pop()
            && let Some(slot) = self.inodes.get_mut(index as usize)
        {
            *slot = Some(inode);
            return Ok(index);
        }
        let index = u32::try_from(self.inodes.len()).map_err(|_| Errno::NoSpc)?;
        self.inodes.push(Some(inode));
        Ok(index)
    }

    /// Drops an inode that has no name and no handle.
    pub(super) fn drop_unused(&mut self, index: u32, quota: &dyn Quota) {
        let Ok(inode) = self.get(index) else {
            return;
        };
        if inode.nlink > 0 || inode.opens > 0 || index == 0 {
            return;
        }
        let mut bytes = INODE_COST;
        if let Body::File(data) = &inode.body {
            bytes += data.held();
        }
        if inode.clean() && inode.kind() != FileKind::Directory {
            self.clean_files = self.clean_files.saturating_sub(1);
        }
        self.give(bytes, quota);
        if let Some(slot) = self.inodes.get_mut(index as usize) {
            *slot = None;
            self.free.push(index);
        }
    }

    pub(super) fn take(&mut self, bytes: u64, quota: &dyn Quota) -> SysResult<()> {
        quota.reserve(bytes)?;
        self.held += bytes;
        Ok(())
    }

    pub(super) fn give(&mut self, bytes: u64, quota: &dyn Quota) {
        quota.release(bytes);
        self.held = self.held.saturating_sub(bytes);
    }

    /// Returns what `stat` shows, without the device.
    pub(super) fn stat(&self, index: u32) -> Result<Stat, Errno> {
        let inode = self.get(index)?;
        let size = match &inode.body {
            Body::File(Data::Below) => inode.size_below,
            Body::File(data) => data.size(),
            Body::Dir(_) => 4096,
            Body::Link(target) => target.len() as u64,
            Body::Fifo => 0,
        };
        Ok(Stat {
            dev: 0,
            ino: inode
                .below
                .as_ref()
                .map_or(inode.serial, |below| below.seen.ino),
            kind: inode.kind(),
            mode: inode.mode,
            nlink: u64::from(inode.nlink),
            uid: self.uid,
            gid: self.gid,
            size,
            atime: inode.atime,
            mtime: inode.mtime,
            ctime: inode.ctime,
            btime: inode.btime,
        })
    }

    /// Lists a directory by name.
    pub(super) fn list(&self, index: u32) -> Result<Vec<DirEntry>, Errno> {
        let dir = self.dir(index)?;
        let mut found = Vec::with_capacity(dir.entries.len());
        let merged = self.list_below(index)?;
        for (name, &at) in &dir.entries {
            let inode = self.get(at)?;
            // A clean inode is listed by the directory below, if it is still there.
            if inode.clean() && merged.is_some() && self.is_at_home(index, name, inode) {
                continue;
            }
            found.push(DirEntry {
                name: name.to_vec(),
                kind: inode.kind(),
                ino: inode
                    .below
                    .as_ref()
                    .map_or(inode.serial, |below| below.seen.ino),
            });
        }
        for (name, kind, ino) in merged.unwrap_or_default() {
            let covered = dir.hidden.contains(name.as_slice())
                || dir
                    .entries
                    .get(name.as_slice())
                    .and_then(|at| self.get(*at).ok())
                    .is_some_and(|inode| !(inode.clean() && self.is_at_home(index, &name, inode)));
            if !covered {
                found.push(DirEntry { name, kind, ino });
            }
        }
        found.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    }

    /// Tells whether a directory has no names.
    pub(super) fn is_empty(&self, index: u32) -> Result<bool, Errno> {
        match &self.get(index)?.below {
            Some(_) => Ok(self.list(index)?.is_empty()),
            None => Ok(self.dir(index)?.entries.is_empty()),
        }
    }

    pub(super) fn chmod(&mut self, index: u32, mode: u32, now: Timestamp) -> SysResult<()> {
        if let Some((host, path)) = self.written_through(index)? {
            host.chmod(&path, mode)?;
            return self.look_again(index);
        }
        self.own_metadata(index)?;
        let inode = self.get_mut(index)?;
        inode.mode = mode & 0o7777;
        inode.ctime = now;
        Ok(())
    }

    pub(super) fn set_times(
        &mut self,
        index: u32,
        access: SetTime,
        modify: SetTime,
        now: Timestamp,
    ) -> SysResult<()> {
        if let Some((host, path)) = self.written_through(index)? {
            host.set_times(&path, access, modify)?;
            return self.look_again(index);
        }
        self.own_metadata(index)?;
        let inode = self.get_mut(index)?;
        for (time, to) in [(access, &mut inode.atime), (modify, &mut inode.mtime)] {
            match time {
                SetTime::Keep => {}
                SetTime::Now => *to = now,
                SetTime::At(at) => *to = at,
            }
        }
        inode.ctime = now;
        Ok(())
    }

    /// Reads content that is in memory, updating the access time as `relatime` does.
    pub(super) fn read_at(
        &mut self,
        index: u32,
        offset: u64,
        buf: &mut [u8],
        now: Timestamp,
    ) -> Result<usize, Errno> {
        let inode = self.get_mut(index)?;
        if inode.atime <= inode.mtime || inode.atime <= inode.ctime {
            inode.atime = now;
        }
        match &inode.body {
            Body::File(data) => Ok(data.read_at(offset, buf)),
            Body::Dir(_) => Err(Errno::IsDir),
            _ => Err(Errno::Inval),
        }
    }

    /// Changes content in memory by a function of the data, keeping the count of what is held.
    pub(super) fn change(
        &mut self,
        index: u32,
        now: Timestamp,
        quota: &dyn Quota,
        change: impl FnOnce(&mut Data, &dyn Quota) -> SysResult<()>,
    ) -> SysResult<()> {
        self.own(index, quota)?;
        let inode = self.get_mut(index)?;
        let Body::File(data) = &mut inode.body else {
            return Err(Errno::Inval.into());
        };
        let before = data.held();
        let done = change(data, quota);
        let after = data.held();
        if done.is_ok() {
            inode.mtime = now;
            inode.ctime = now;
        }
        self.held = (self.held + after).saturating_sub(before);
        done
    }
}

//! Looking at files: `stat`, listings, symlinks and who may do what.

use jp_bash_system::{DirEntry, Errno, FileKind, Follow, Stat, SysResult, Timestamp};

use super::fixed::{Fixed, Item, PROGRAM};
use super::tree::Body;
use super::{Caller, Device, Fs, Node, Vfs};

/// May be searched or run.
pub(super) const EXECUTE: u32 = 1;
/// May be written.
pub(super) const WRITE: u32 = 2;
/// May be read.
pub(super) const READ: u32 = 4;

impl Vfs {
    /// Tells about a file.
    pub(crate) fn stat(
        &mut self,
        caller: &Caller<'_>,
        path: &[u8],
        follow: Follow,
    ) -> SysResult<Stat> {
        let node = self.find(caller, path, follow)?;
        Ok(self.stat_node(node)?)
    }

    /// Lists a directory by name, without `.` and `..`.
    pub(crate) fn read_dir(
        &mut self,
        caller: &Caller<'_>,
        path: &[u8],
    ) -> SysResult<Vec<DirEntry>> {
        let dir = self.directory(caller, path)?;
        self.permit(dir, READ)?;
        let mut found = match &self.mounted(dir)?.fs {
            Fs::Tree(tree) if tree.serial(dir.index) != dir.serial => Vec::new(),
            Fs::Tree(tree) => tree.list(dir.index)?,
            Fs::Fixed(fixed) => fixed.list(dir.index)?,
        };
        // A covered directory shows the inode of the mount's root, as `stat` does.
        for over in self.mounts.iter().filter_map(|mounted| mounted.over) {
            if over.mount != dir.mount {
                continue;
            }
            let name = self
                .tree(over)
                .and_then(|tree| tree.dir(over.index).ok())
                .filter(|covered| covered.parent == dir.index);
            if let (Some(covered), Some(root)) = (name, self.covered(over))
                && let Some(entry) = found.iter_mut().find(|entry| entry.name == *covered.name)
                && let Ok(stat) = self.stat_node(root)
            {
                entry.ino = stat.ino;
            }
        }
        Ok(found)
    }

    /// Returns where a symlink points.
    pub(crate) fn readlink(&mut self, caller: &Caller<'_>, path: &[u8]) -> SysResult<Vec<u8>> {
        let node = self.find(caller, path, Follow::No)?;
        match self.tree(node).map(|tree| tree.get(node.index)) {
            Some(Ok(inode)) => match &inode.body {
                Body::Link(target) => Ok(target.to_vec()),
                _ => Err(Errno::Inval.into()),
            },
            _ => Err(Errno::Inval.into()),
        }
    }

    /// Tells whether the user may read (4), write (2) and execute (1) a file.
    pub(crate) fn access(&mut self, caller: &Caller<'_>, path: &[u8], mode: u32) -> SysResult<()> {
        let node = self.find(caller, path, Follow::Yes)?;
        if mode & WRITE != 0 {
            self.writable(node)?;
        }
        Ok(self.permit(node, mode & 7)?)
    }

    /// Returns the device that a path names, if it is one.
    pub(crate) fn device(&mut self, caller: &Caller<'_>, path: &[u8]) -> SysResult<Option<Device>> {
        let node = self.find(caller, path, Follow::Yes)?;
        Ok(self.device_of(node))
    }

    /// Returns the name of the program that a path leads to, if it is one of ours.
    pub(crate) fn program(&mut self, caller: &Caller<'_>, path: &[u8]) -> Option<&'static [u8]> {
        let node = self.find(caller, path, Follow::Yes).ok()?;
        match &self.mounted(node).ok()?.fs {
            Fs::Fixed(Fixed::Programs(names)) => {
                let at = usize::try_from(node.index).ok()?.checked_sub(1)?;
                names.get(at).map(|name| name.as_bytes())
            }
            _ => None,
        }
    }

    /// Checks a new working directory and returns it.
    pub(crate) fn change_dir(&mut self, caller: &Caller<'_>, path: &[u8]) -> SysResult<Node> {
        let node = self.directory(caller, path)?;
        self.search(node)?;
        Ok(node)
    }

    pub(super) fn device_of(&self, node: Node) -> Option<Device> {
        match &self.mounted(node).ok()?.fs {
            Fs::Fixed(fixed) => match fixed.item(node.index) {
                Item::Device(device) => Some(device),
                _ => None,
            },
            Fs::Tree(_) => None,
        }
    }

    pub(super) fn kind(&self, node: Node) -> Result<FileKind, Errno> {
        Ok(self.stat_node(node)?.kind)
    }

    /// Tells about a node. A removed directory is still one, without links.
    pub(super) fn stat_node(&self, node: Node) -> Result<Stat, Errno> {
        let mounted = self.mounted(node)?;
        let mut stat = match &mounted.fs {
            Fs::Tree(tree) if tree.serial(node.index) == node.serial => tree.stat(node.index)?,
            Fs::Tree(_) => Stat {
                ino: node.serial,
                nlink: 0,
                uid: self.user.uid,
                gid: self.user.gid,
                ..fixed_stat(FileKind::Directory, 0o755, 0)
            },
            Fs::Fixed(fixed) => {
                let (kind, mode, size) = match fixed.item(node.index) {
                    Item::Dir => (FileKind::Directory, 0o755, 4096),
                    Item::Program => (FileKind::Regular, 0o755, PROGRAM.len() as u64),
                    Item::Device(Device::Fd(_) | Device::Tty) => (FileKind::CharDevice, 0o620, 0),
                    Item::Device(_) => (FileKind::CharDevice, 0o666, 0),
                };
                Stat {
                    ino: u64::from(node.index) + 1,
                    ..fixed_stat(kind, mode, size)
                }
            }
        };
        stat.dev = mounted.device;
        Ok(stat)
    }

    /// Refuses changes of a read-only mount.
    pub(super) fn writable(&self, node: Node) -> Result<(), Errno> {
        match &self.mounted(node)?.fs {
            Fs::Tree(tree) => tree.writable(),
            // Devices are written to, programs are not.
            Fs::Fixed(_) if self.device_of(node).is_some() => Ok(()),
            Fs::Fixed(_) => Err(Errno::RoFs),
        }
    }

    /// Checks the permission bits that hold for the user.
    pub(super) fn permit(&self, node: Node, want: u32) -> Result<(), Errno> {
        let stat = self.stat_node(node)?;
        let ours = stat.uid == self.user.uid;
        let bits = match () {
            () if self.user.uid == 0 => {
                let runs = stat.kind == FileKind::Directory || stat.mode & 0o111 != 0;
                READ | WRITE | if runs { EXECUTE } else { 0 }
            }
            () if self.device_of(node).is_some() => READ | WRITE,
            () if ours => stat.mode >> 6,
            () if stat.gid == self.user.gid => stat.mode >> 3,
            () => stat.mode,
        };
        if bits & want == want {
            Ok(())
        } else {
            Err(Errno::Access)
        }
    }

    /// Checks that a directory may be searched.
    pub(super) fn search(&self, dir: Node) -> Result<(), Errno> {
        // The usual case, without a whole `Stat`.
        if let Some(tree) = self.tree(dir)
            && let Ok(inode) = tree.get(dir.index)
            && inode.serial == dir.serial
        {
            return match inode.body {
                Body::Dir(_) if inode.mode & 0o100 != 0 || self.user.uid == 0 => Ok(()),
                Body::Dir(_) => Err(Errno::Access),
                _ => Err(Errno::NotDir),
            };
        }
        match self.kind(dir)? {
            FileKind::Directory => self.permit(dir, EXECUTE),
            _ => Err(Errno::NotDir),
        }
    }
}

/// What `stat` tells of something that is the same in every session: it belongs to root and has no age.
fn fixed_stat(kind: FileKind, mode: u32, size: u64) -> Stat {
    let time = Timestamp::default();
    Stat {
        dev: 0,
        ino: 0,
        kind,
        mode,
        nlink: if kind == FileKind::Directory { 2 } else { 1 },
        uid: 0,
        gid: 0,
        size,
        atime: time,
        mtime: time,
        ctime: time,
        btime: time,
    }
}

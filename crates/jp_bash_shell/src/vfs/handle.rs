//! Open files: an inode or a host file that stays readable as long as the handle is open.

use jp_bash_system::{Errno, FileKind, Follow, OpenHow, Stat, SysResult, Timestamp};

use super::access::{READ, WRITE};
use super::data::Data;
use super::fixed::PROGRAM;
use super::host::{HostFile, HostOpen};
use super::tree::{Body, Make};
use super::{Caller, Device, HostMode, Node, Quota, Vfs};

/// A file that is open. Closed exactly once, by [`Vfs::close`]; copies of a descriptor share one handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Handle(u32);

/// What opening a path gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opened {
    /// A regular file, or a directory opened for reading.
    File(Handle),
    /// The kernel joins everyone who opened the same FIFO: compare `id`.
    Fifo {
        handle: Handle,
        id: (u64, u64),
    },
    Device(Device),
}

pub(super) struct OpenFile {
    node: Node,
    host: Option<HostFile>,
    read: bool,
    write: bool,
}

impl Vfs {
    /// Opens a file. The mode in `how` has the umask applied.
    pub(crate) fn open(
        &mut self,
        caller: &Caller<'_>,
        path: &[u8],
        how: OpenHow,
    ) -> SysResult<Opened> {
        let follow = if how.no_follow || (how.create && how.exclusive) {
            Follow::No
        } else {
            Follow::Yes
        };
        let found = self.walk(caller, path, follow)?;
        let (node, made) = match found.node {
            Some(_) if how.create && how.exclusive => return Err(Errno::Exist.into()),
            Some(node) => (node, false),
            None if !how.create => return Err(Errno::NoEnt.into()),
            None if found.slash => return Err(Errno::IsDir.into()),
            None => (self.make(caller, &found, Make::File, how.mode)?, true),
        };
        if let Some(device) = self.device_of(node) {
            return match found.slash {
                true => Err(Errno::NotDir.into()),
                false => Ok(Opened::Device(device)),
            };
        }
        let stat = self.stat_node(node)?;
        match stat.kind {
            FileKind::Directory if how.write || how.create => return Err(Errno::IsDir.into()),
            FileKind::Symlink => return Err(Errno::Loop.into()),
            kind if found.slash && kind != FileKind::Directory => {
                return Err(Errno::NotDir.into());
            }
            _ => {}
        }
        if !made {
            let want = if how.read { READ } else { 0 } | if how.write { WRITE } else { 0 };
            self.permit(node, want)?;
            if how.write {
                self.writable(node)?;
            }
        }
        self.open_node(caller, node, how, stat)
    }

    fn open_node(
        &mut self,
        caller: &Caller<'_>,
        node: Node,
        how: OpenHow,
        stat: Stat,
    ) -> SysResult<Opened> {
        let host = self.open_below(caller, node, how)?;
        if let Ok(tree) = self.tree_mut(node)
            && let Ok(inode) = tree.get_mut(node.index)
            && inode.serial == node.serial
        {
            inode.opens += 1;
        }
        let file = OpenFile {
            node,
            host,
            read: how.read,
            write: how.write,
        };
        let handle = match self.free.pop() {
            Some(at) => {
                if let Some(slot) = self.open.get_mut(at as usize) {
                    *slot = Some(file);
                }
                Handle(at)
            }
            None => {
                let at = u32::try_from(self.open.len()).map_err(|_| Errno::MFile)?;
                self.open.push(Some(file));
                Handle(at)
            }
        };
        if how.truncate && how.write && stat.kind == FileKind::Regular && stat.size > 0 {
            let cut = self.truncate(caller, handle, 0);
            if cut.is_err() {
                self.close(handle, caller.quota);
                cut?;
            }
        }
        if stat.kind == FileKind::Fifo {
            return Ok(Opened::Fifo {
                handle,
                id: (stat.dev, node.serial),
            });
        }
        Ok(Opened::File(handle))
    }

    /// Opens the host file of an inode whose content is not in memory.
    fn open_below(
        &mut self,
        caller: &Caller<'_>,
        node: Node,
        how: OpenHow,
    ) -> SysResult<Option<HostFile>> {
        let Some(tree) = self.tree(node) else {
            return Ok(None);
        };
        let Some((host, mode)) = &tree.host else {
            return Ok(None);
        };
        if !matches!(
            tree.get(node.index).map(|inode| &inode.body),
            Ok(Body::File(Data::Below))
        ) {
            return Ok(None);
        }
        // In an overlay a writer never touches the host: its first write copies the file up.
        let write = how.write && *mode == HostMode::ReadWrite;
        let open = HostOpen {
            read: how.read || !write,
            write,
            create: false,
            mode: 0,
        };
        let path = tree.own_path(node.index)?;
        let file = host.open_file(&path, open)?;
        if how.read && *mode == HostMode::Overlay {
            let seen = file.look()?;
            self.tree_mut(node)?.saw_read(&path, seen, caller.quota)?;
        }
        Ok(Some(file))
    }

    /// Reads at an offset; 0 is the end.
    pub(crate) fn read_at(
        &mut self,
        handle: Handle,
        offset: u64,
        buf: &mut [u8],
        now: Timestamp,
    ) -> SysResult<usize> {
        let file = self.file_mut(handle)?;
        if !file.read {
            return Err(Errno::BadF.into());
        }
        let node = file.node;
        if self.content_below(node) {
            let host = self.file_mut(handle)?.host.as_mut().ok_or(Errno::Io)?;
            return Ok(host.read_at(offset, buf)?);
        }
        let kind = self.kind(node)?;
        match self.tree_mut(node) {
            Ok(tree) => Ok(tree.read_at(node.index, offset, buf, now)?),
            Err(_) if kind == FileKind::Directory => Err(Errno::IsDir.into()),
            Err(_) => {
                let from = usize::try_from(offset).unwrap_or(usize::MAX);
                let rest = PROGRAM.get(from..).unwrap_or_default();
                let n = usize::min(rest.len(), buf.len());
                if let (Some(to), Some(from)) = (buf.get_mut(..n), rest.get(..n)) {
                    to.copy_from_slice(from);
                }
                Ok(n)
            }
        }
    }

    /// Writes all bytes at an offset.
    pub(crate) fn write_at(
        &mut self,
        caller: &Caller<'_>,
        handle: Handle,
        offset: u64,
        data: &[u8],
    ) -> SysResult<()> {
        let node = self.writer(handle)?;
        if self.goes_to_host(node) {
            let host = self.file_mut(handle)?.host.as_mut().ok_or(Errno::Io)?;
            return Ok(host.write_at(offset, data)?);
        }
        self.tree_mut(node)?
            .change(node.index, caller.now, caller.quota, |content, quota| {
                content.write_at(offset, data, quota)
            })
    }

    /// Writes all bytes at the end, wherever that is now, and returns the new end.
    pub(crate) fn append(
        &mut self,
        caller: &Caller<'_>,
        handle: Handle,
        data: &[u8],
    ) -> SysResult<u64> {
        let end = self.size(handle)?;
        self.write_at(caller, handle, end, data)?;
        Ok(end.saturating_add(data.len() as u64))
    }

    /// Cuts or extends a file.
    pub(crate) fn truncate(
        &mut self,
        caller: &Caller<'_>,
        handle: Handle,
        size: u64,
    ) -> SysResult<()> {
        let node = self.writer(handle)?;
        if self.goes_to_host(node) {
            let host = self.file_mut(handle)?.host.as_mut().ok_or(Errno::Io)?;
            return Ok(host.truncate(size)?);
        }
        let tree = self.tree_mut(node)?;
        if size == 0 {
            // What is going to be thrown away need not be copied up first.
            tree.discard(node.index)?;
        }
        tree.change(node.index, caller.now, caller.quota, |content, quota| {
            content.truncate(size, quota)
        })
    }

    /// Returns the size of an open file.
    pub(crate) fn size(&self, handle: Handle) -> SysResult<u64> {
        Ok(self.fstat(handle)?.size)
    }

    /// Tells about an open file.
    pub(crate) fn fstat(&self, handle: Handle) -> SysResult<Stat> {
        let file = self.file(handle)?;
        let mut stat = self.stat_node(file.node)?;
        if let Some(host) = &file.host
            && self.content_below(file.node)
        {
            let seen = host.look()?;
            stat.size = seen.size;
            stat.nlink = u64::from(seen.nlink);
            stat.mtime = seen.mtime;
            stat.ctime = seen.ctime;
        }
        Ok(stat)
    }

    /// Closes a handle; a file without names goes away with its last one.
    pub(crate) fn close(&mut self, handle: Handle, quota: &dyn Quota) {
        let Some(file) = self.open.get_mut(handle.0 as usize).and_then(Option::take) else {
            return;
        };
        self.free.push(handle.0);
        if let Ok(tree) = self.tree_mut(file.node)
            && let Ok(inode) = tree.get_mut(file.node.index)
            && inode.serial == file.node.serial
        {
            inode.opens = inode.opens.saturating_sub(1);
            tree.drop_unused(file.node.index, quota);
        }
    }

    /// Closes every handle: what a run leaves open ends with it.
    pub(crate) fn close_all(&mut self, quota: &dyn Quota) {
        for at in 0..u32::try_from(self.open.len()).unwrap_or(0) {
            self.close(Handle(at), quota);
        }
        self.open.clear();
        self.free.clear();
    }

    fn file(&self, handle: Handle) -> Result<&OpenFile, Errno> {
        self.open
            .get(handle.0 as usize)
            .and_then(Option::as_ref)
            .ok_or(Errno::BadF)
    }

    fn file_mut(&mut self, handle: Handle) -> Result<&mut OpenFile, Errno> {
        self.open
            .get_mut(handle.0 as usize)
            .and_then(Option::as_mut)
            .ok_or(Errno::BadF)
    }

    fn writer(&self, handle: Handle) -> Result<Node, Errno> {
        let file = self.file(handle)?;
        match file.write {
            true => Ok(file.node),
            false => Err(Errno::BadF),
        }
    }

    fn content_below(&self, node: Node) -> bool {
        self.tree(node).is_some_and(|tree| {
            matches!(
                tree.get(node.index).map(|inode| &inode.body),
                Ok(Body::File(Data::Below))
            )
        })
    }

    fn goes_to_host(&self, node: Node) -> bool {
        self.tree(node)
            .is_some_and(|tree| matches!(tree.host, Some((_, HostMode::ReadWrite))))
    }
}

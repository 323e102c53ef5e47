//! Names: making, moving and removing them.

use jp_bash_system::{Errno, FileKind, SysResult, Timestamp};

use super::{Body, Dir, Inode, Tree};
use crate::vfs::{HostMode, Quota};

/// The most names of one inode, as on ext4.
const MAX_LINKS: u32 = 65_000;

/// A name in a directory.
#[derive(Debug, Clone, Copy)]
pub(in crate::vfs) struct Spot<'a> {
    pub(in crate::vfs) dir: u32,
    pub(in crate::vfs) name: &'a [u8],
}

/// What is to be made.
#[derive(Debug, Clone, Copy)]
pub(in crate::vfs) enum Make<'a> {
    File,
    Dir,
    Link(&'a [u8]),
    Fifo,
}

impl Tree {
    /// Makes something new under a name that is free.
    pub(in crate::vfs) fn make(
        &mut self,
        at: Spot<'_>,
        what: Make<'_>,
        mode: u32,
        now: Timestamp,
        quota: &dyn Quota,
    ) -> SysResult<u32> {
        self.writable()?;
        if self.removed(at.dir)? {
            return Err(Errno::NoEnt.into());
        }
        if matches!(self.host, Some((_, HostMode::ReadWrite))) {
            return self.make_on_host(at, what, mode, quota);
        }
        let body = match what {
            Make::File => Body::File(crate::vfs::data::Data::empty()),
            Make::Dir => Body::Dir(Box::new(Dir {
                parent: at.dir,
                name: at.name.into(),
                ..Dir::default()
            })),
            Make::Link(target) => {
                self.take(target.len() as u64, quota)?;
                Body::Link(target.into())
            }
            Make::Fifo => Body::Fifo,
        };
        let mut inode = self.fresh(body, mode, now);
        let is_dir = matches!(what, Make::Dir);
        if is_dir {
            inode.nlink = 2;
        }
        let index = self.store(inode, quota)?;
        self.name(at, index, now, quota)?;
        if is_dir && let Ok(parent) = self.get_mut(at.dir) {
            parent.nlink = parent.nlink.saturating_add(1);
        }
        Ok(index)
    }

    /// Adds another name to an inode.
    pub(in crate::vfs) fn link(
        &mut self,
        index: u32,
        at: Spot<'_>,
        now: Timestamp,
        quota: &dyn Quota,
    ) -> SysResult<()> {
        self.writable()?;
        if let Some((host, from)) = self.written_through(index)? {
            return Ok(host.link(&from, &self.path_below(at)?)?);
        }
        if self.get(index)?.nlink >= MAX_LINKS {
            return Err(Errno::MLink.into());
        }
        self.own(index, quota)?;
        self.name(at, index, now, quota)?;
        let inode = self.get_mut(index)?;
        inode.nlink += 1;
        inode.ctime = now;
        Ok(())
    }

    /// Removes a name of what is no directory.
    pub(in crate::vfs) fn unlink(
        &mut self,
        at: Spot<'_>,
        index: u32,
        now: Timestamp,
        quota: &dyn Quota,
    ) -> SysResult<()> {
        self.writable()?;
        if let Some((host, path)) = self.written_through(index)? {
            host.unlink(&path)?;
            self.forget(at, index, quota);
            return Ok(());
        }
        self.unname(at, now, quota)?;
        let inode = self.get_mut(index)?;
        inode.nlink = inode.nlink.saturating_sub(1);
        inode.ctime = now;
        // The host's other names of a file below are other files to an overlay.
        if inode.clean() {
            inode.nlink = 0;
        }
        self.drop_unused(index, quota);
        Ok(())
    }

    /// Removes an empty directory.
    pub(in crate::vfs) fn rmdir(
        &mut self,
        at: Spot<'_>,
        index: u32,
        now: Timestamp,
        quota: &dyn Quota,
    ) -> SysResult<()> {
        self.writable()?;
        if !self.is_empty(index)? {
            return Err(Errno::NotEmpty.into());
        }
        if let Some((host, path)) = self.written_through(index)? {
            host.rmdir(&path)?;
            self.forget(at, index, quota);
            return Ok(());
        }
        self.unname(at, now, quota)?;
        self.get_mut(index)?.nlink = 0;
        self.drop_unused(index, quota);
        if let Ok(parent) = self.get_mut(at.dir) {
            parent.nlink = parent.nlink.saturating_sub(1);
        }
        Ok(())
    }

    /// Moves a name; whatever stands at the new place was checked and is replaced.
    pub(in crate::vfs) fn rename(
        &mut self,
        from: Spot<'_>,
        index: u32,
        to: Spot<'_>,
        replaced: Option<u32>,
        now: Timestamp,
        quota: &dyn Quota,
    ) -> SysResult<()> {
        self.writable()?;
        if self.removed(to.dir)? {
            return Err(Errno::NoEnt.into());
        }
        if let Some((host, path)) = self.written_through(index)? {
            let target = self.path_below(to)?;
            host.rename(&path, &target)?;
            if let Some(old) = replaced {
                self.forget(to, old, quota);
            }
            return self.moved_below(from, index, to, &target);
        }
        if let Some(old) = replaced {
            match self.get(old)?.kind() {
                FileKind::Directory => self.rmdir(to, old, now, quota)?,
                _ => self.unlink(to, old, now, quota)?,
            }
        }
        // Content below is found by the inode's own path, so a moved directory keeps it.
        self.own_metadata(index)?;
        self.unname(from, now, quota)?;
        self.name(to, index, now, quota)?;
        self.get_mut(index)?.ctime = now;
        if let Ok(dir) = self.dir_mut(index) {
            dir.parent = to.dir;
            dir.name = to.name.into();
            if from.dir != to.dir {
                let less = self.get_mut(from.dir)?;
                less.nlink = less.nlink.saturating_sub(1);
                let more = self.get_mut(to.dir)?;
                more.nlink = more.nlink.saturating_add(1);
            }
        }
        Ok(())
    }

    /// Tells whether a directory is `inner` itself or lies above it.
    pub(in crate::vfs) fn is_above(&self, outer: u32, inner: u32) -> bool {
        let mut at = inner;
        loop {
            if at == outer {
                return true;
            }
            match self.dir(at) {
                Ok(dir) if at != 0 => at = dir.parent,
                _ => return false,
            }
        }
    }

    /// Tells whether a directory has been removed while someone still stands in it.
    fn removed(&self, index: u32) -> Result<bool, Errno> {
        Ok(self.get(index)?.nlink == 0)
    }

    fn name(
        &mut self,
        at: Spot<'_>,
        index: u32,
        now: Timestamp,
        quota: &dyn Quota,
    ) -> SysResult<()> {
        let counted = self.take(at.name.len() as u64, quota);
        if let Err(error) = counted {
            self.drop_nameless(index, quota);
            return Err(error);
        }
        self.own_metadata(at.dir)?;
        self.dir_mut(at.dir)?.entries.insert(at.name.into(), index);
        let parent = self.get_mut(at.dir)?;
        parent.mtime = now;
        parent.ctime = now;
        Ok(())
    }

    fn unname(&mut self, at: Spot<'_>, now: Timestamp, quota: &dyn Quota) -> SysResult<()> {
        self.own_metadata(at.dir)?;
        let merged = self.get(at.dir)?.below.is_some();
        if merged {
            self.take(at.name.len() as u64, quota)?;
        }
        if let Some(index) = self.dir(at.dir)?.entries.get(at.name).copied() {
            self.saw_removed(index, quota)?;
        }
        let dir = self.dir_mut(at.dir)?;
        if merged {
            dir.hidden.insert(at.name.into());
        }
        if dir.entries.remove(at.name).is_some() {
            self.give(at.name.len() as u64, quota);
        }
        let parent = self.get_mut(at.dir)?;
        parent.mtime = now;
        parent.ctime = now;
        Ok(())
    }

    /// Drops an inode that was made but could not be named.
    fn drop_nameless(&mut self, index: u32, quota: &dyn Quota) {
        if let Ok(inode @ Inode { opens: 0, .. }) = self.get_mut(index)
            && inode.below.is_none()
        {
            inode.nlink = inode.nlink.saturating_sub(1);
            if inode.nlink <= 1 && matches!(inode.body, Body::Dir(_)) {
                inode.nlink = 0;
            }
            self.drop_unused(index, quota);
        }
    }
}

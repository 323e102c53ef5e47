//! Changing names and attributes by path.

use jp_bash_system::{Errno, FileKind, Follow, SetTime, SysResult};

use super::access::WRITE;
use super::tree::{Make, Spot};
use super::walk::Found;
use super::{Caller, Node, Vfs};

impl Vfs {
    /// Makes a directory; the mode has the umask applied.
    pub(crate) fn mkdir(&mut self, caller: &Caller<'_>, path: &[u8], mode: u32) -> SysResult<()> {
        let found = self.walk(caller, path, Follow::No)?;
        self.make(caller, &found, Make::Dir, mode).map(|_| ())
    }

    /// Makes a symlink.
    pub(crate) fn symlink(
        &mut self,
        caller: &Caller<'_>,
        target: &[u8],
        path: &[u8],
    ) -> SysResult<()> {
        if target.is_empty() {
            return Err(Errno::NoEnt.into());
        }
        if target.len() >= 4096 {
            return Err(Errno::NameTooLong.into());
        }
        let found = self.walk(caller, path, Follow::No)?;
        no_slash(&found)?;
        self.make(caller, &found, Make::Link(target), 0o777)
            .map(|_| ())
    }

    /// Makes a FIFO; the kernel makes it a pipe when it is opened.
    pub(crate) fn mkfifo(&mut self, caller: &Caller<'_>, path: &[u8], mode: u32) -> SysResult<()> {
        let found = self.walk(caller, path, Follow::No)?;
        no_slash(&found)?;
        self.make(caller, &found, Make::Fifo, mode).map(|_| ())
    }

    /// Makes another name for a file.
    pub(crate) fn link(
        &mut self,
        caller: &Caller<'_>,
        target: &[u8],
        new: &[u8],
        follow: Follow,
    ) -> SysResult<()> {
        let node = self.find(caller, target, follow)?;
        let found = self.walk(caller, new, Follow::No)?;
        no_slash(&found)?;
        self.free_name(&found)?;
        if self.kind(node)? == FileKind::Directory {
            return Err(Errno::Perm.into());
        }
        if node.mount != found.dir.mount {
            return Err(Errno::XDev.into());
        }
        self.permit_change(found.dir)?;
        let at = spot(&found);
        self.tree_mut(node)?
            .link(node.index, at, caller.now, caller.quota)
    }

    /// Removes a name of what is no directory.
    pub(crate) fn unlink(&mut self, caller: &Caller<'_>, path: &[u8]) -> SysResult<()> {
        let found = self.walk(caller, path, Follow::No)?;
        let node = found.node.ok_or(Errno::NoEnt)?;
        if self.kind(node)? == FileKind::Directory {
            return Err(Errno::IsDir.into());
        }
        if found.slash {
            return Err(Errno::NotDir.into());
        }
        self.permit_change(found.dir)?;
        self.tree_mut(node)?
            .unlink(spot(&found), node.index, caller.now, caller.quota)
    }

    /// Removes an empty directory.
    pub(crate) fn rmdir(&mut self, caller: &Caller<'_>, path: &[u8]) -> SysResult<()> {
        let found = self.walk(caller, path, Follow::No)?;
        let node = found.node.ok_or(Errno::NoEnt)?;
        if self.kind(node)? != FileKind::Directory {
            return Err(Errno::NotDir.into());
        }
        match found.name.as_slice() {
            b"." => return Err(Errno::Inval.into()),
            b".." => return Err(Errno::NotEmpty.into()),
            _ => {}
        }
        if node.index == 0 {
            return Err(Errno::Busy.into());
        }
        self.permit_change(found.dir)?;
        self.tree_mut(node)?
            .rmdir(spot(&found), node.index, caller.now, caller.quota)
    }

    /// Moves a name, replacing what is there if its kind allows.
    pub(crate) fn rename(&mut self, caller: &Caller<'_>, from: &[u8], to: &[u8]) -> SysResult<()> {
        let old = self.walk(caller, from, Follow::No)?;
        let new = self.walk(caller, to, Follow::No)?;
        if !old.is_entry() || !new.is_entry() {
            return Err(Errno::Busy.into());
        }
        let node = old.node.ok_or(Errno::NoEnt)?;
        let is_dir = self.kind(node)? == FileKind::Directory;
        if !is_dir && (old.slash || new.slash) {
            return Err(Errno::NotDir.into());
        }
        if old.dir.mount != new.dir.mount || node.mount != old.dir.mount {
            return Err(if node.index == 0 {
                Errno::Busy.into()
            } else {
                Errno::XDev.into()
            });
        }
        if new.node == Some(node) {
            return Ok(());
        }
        self.permit_change(old.dir)?;
        self.permit_change(new.dir)?;
        self.rename_checks(node, is_dir, &new)?;
        self.tree_mut(node)?.rename(
            spot(&old),
            node.index,
            spot(&new),
            new.node.map(|node| node.index),
            caller.now,
            caller.quota,
        )
    }

    /// Sets the permission bits of what a path leads to.
    pub(crate) fn chmod(&mut self, caller: &Caller<'_>, path: &[u8], mode: u32) -> SysResult<()> {
        let node = self.find(caller, path, Follow::Yes)?;
        self.own_check(node)?;
        self.tree_mut(node)?.chmod(node.index, mode, caller.now)
    }

    /// Sets times.
    pub(crate) fn set_times(
        &mut self,
        caller: &Caller<'_>,
        path: &[u8],
        access: SetTime,
        modify: SetTime,
        follow: Follow,
    ) -> SysResult<()> {
        let node = self.find(caller, path, follow)?;
        if self.device_of(node).is_some() {
            return Ok(());
        }
        self.own_check(node)?;
        self.tree_mut(node)?
            .set_times(node.index, access, modify, caller.now)
    }

    /// Makes the directories of a path that are missing.
    pub(crate) fn make_dirs(&mut self, caller: &Caller<'_>, path: &[u8]) -> SysResult<()> {
        let ends = (1..=path.len()).filter(|at| path.get(*at).is_none_or(|b| *b == b'/'));
        for end in ends {
            let part = path.get(..end).unwrap_or_default();
            match self.mkdir(caller, part, 0o755) {
                Err(error)
                    if error != Errno::Exist.into() && self.directory(caller, part).is_err() =>
                {
                    return Err(error);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Makes something where a walk ended.
    pub(super) fn make(
        &mut self,
        caller: &Caller<'_>,
        found: &Found,
        what: Make<'_>,
        mode: u32,
    ) -> SysResult<Node> {
        self.free_name(found)?;
        self.permit_change(found.dir)?;
        let index =
            self.tree_mut(found.dir)?
                .make(spot(found), what, mode, caller.now, caller.quota)?;
        Ok(self.node(found.dir.mount, index))
    }

    fn free_name(&self, found: &Found) -> Result<(), Errno> {
        if found.node.is_some() {
            return Err(Errno::Exist);
        }
        Ok(())
    }

    /// Checks that names may be made and removed in a directory.
    fn permit_change(&self, dir: Node) -> Result<(), Errno> {
        // A removed directory takes no new names.
        if let Some(tree) = self.tree(dir)
            && tree.serial(dir.index) != dir.serial
        {
            return Err(Errno::NoEnt);
        }
        self.writable(dir)?;
        self.permit(dir, WRITE | super::access::EXECUTE)
    }

    /// Checks that attributes may be changed: only the owner may.
    fn own_check(&self, node: Node) -> Result<(), Errno> {
        self.writable(node)?;
        match self.stat_node(node)?.uid == self.user.uid || self.user.uid == 0 {
            true => Ok(()),
            false => Err(Errno::Perm),
        }
    }

    fn rename_checks(&self, node: Node, is_dir: bool, new: &Found) -> SysResult<()> {
        if self.mounts.iter().any(|mounted| mounted.over == Some(node)) {
            return Err(Errno::Busy.into());
        }
        let tree = self.tree(node).ok_or(Errno::RoFs)?;
        if is_dir && tree.is_above(node.index, new.dir.index) {
            return Err(Errno::Inval.into());
        }
        let Some(target) = new.node else {
            return Ok(());
        };
        let target_is_dir = self.kind(target)? == FileKind::Directory;
        match (is_dir, target_is_dir) {
            (true, false) => Err(Errno::NotDir.into()),
            (false, true) => Err(Errno::IsDir.into()),
            (true, true) if target.index == 0 => Err(Errno::Busy.into()),
            (true, true) if !tree.is_empty(target.index)? => Err(Errno::NotEmpty.into()),
            _ => Ok(()),
        }
    }
}

/// Refuses to make what is no directory under a path that ends with a slash.
fn no_slash(found: &Found) -> Result<(), Errno> {
    match (found.slash, found.node) {
        (true, Some(_)) => Err(Errno::Exist),
        (true, None) => Err(Errno::NoEnt),
        _ => Ok(()),
    }
}

pub(super) fn spot(found: &Found) -> Spot<'_> {
    Spot {
        dir: found.dir.index,
        name: &found.name,
    }
}

//! From a path to an inode: components, `.`, `..`, symlinks and mounts, one after another, never by recursion.

use std::borrow::Cow;

use jp_bash_system::{Errno, FileKind, Follow, SysResult};

use super::{Caller, Fs, Node, Vfs};

/// The most symlinks on the way to one file.
const MAX_LINKS: u32 = 40;

/// The longest path, with the NUL that C would put behind it.
const MAX_PATH: usize = 4096;

/// The longest name.
const MAX_NAME: usize = 255;

/// Where a path leads.
#[derive(Debug)]
pub(super) struct Found {
    /// The directory of the last component.
    pub(super) dir: Node,
    /// The last component; `.`, `..` or empty (for `/`) when it names no entry of `dir`.
    pub(super) name: Vec<u8>,
    pub(super) node: Option<Node>,
    /// The path ended with a slash, so it must be a directory.
    pub(super) slash: bool,
}

impl Found {
    /// Tells whether the last component is a name that can be made or removed.
    pub(super) fn is_entry(&self) -> bool {
        !matches!(self.name.as_slice(), b"" | b"." | b"..")
    }
}

impl Vfs {
    /// Walks a path. A missing last component is not an error.
    pub(super) fn walk(
        &mut self,
        caller: &Caller<'_>,
        path: &[u8],
        follow: Follow,
    ) -> SysResult<Found> {
        if path.is_empty() {
            return Err(Errno::NoEnt.into());
        }
        if path.len() >= MAX_PATH {
            return Err(Errno::NameTooLong.into());
        }
        if memchr::memchr(0, path).is_some() {
            return Err(Errno::Inval.into());
        }
        let mut text = Cow::Borrowed(path);
        let mut at = 0;
        let mut dir = self.start(caller, path);
        let mut links = 0;
        loop {
            let (from, to) = component(&text, at);
            let name = text.get(from..to).unwrap_or_default();
            let rest = text.get(to..).unwrap_or_default();
            let last = rest.iter().all(|b| *b == b'/');
            let slash = !rest.is_empty();
            self.search(dir)?;
            if name.len() > MAX_NAME {
                return Err(Errno::NameTooLong.into());
            }
            let node = match name {
                b"" | b"." => Some(dir),
                b".." => Some(self.above(dir)),
                _ => self.child(caller, dir, name)?,
            };
            let link = match node {
                Some(node) if !last || slash || follow == Follow::Yes => self.link_target(node)?,
                _ => None,
            };
            if let Some(target) = link {
                links += 1;
                if links > MAX_LINKS {
                    return Err(Errno::Loop.into());
                }
                dir = if target.starts_with(b"/") {
                    self.root()
                } else {
                    dir
                };
                if target.is_empty() {
                    return Err(Errno::NoEnt.into());
                }
                let mut next = target;
                next.extend_from_slice(rest);
                text = Cow::Owned(next);
                at = 0;
                continue;
            }
            if last {
                return Ok(Found {
                    dir,
                    name: name.to_vec(),
                    node,
                    slash,
                });
            }
            dir = node.ok_or(Errno::NoEnt)?;
            at = to;
        }
    }

    /// Walks to something that exists.
    pub(super) fn find(
        &mut self,
        caller: &Caller<'_>,
        path: &[u8],
        follow: Follow,
    ) -> SysResult<Node> {
        let found = self.walk(caller, path, follow)?;
        let node = found.node.ok_or(Errno::NoEnt)?;
        if found.slash && self.kind(node)? != FileKind::Directory {
            return Err(Errno::NotDir.into());
        }
        // A directory that was not found by name (a mount, `.`) may have changed on the host.
        if (!found.is_entry() || node.index == 0)
            && let Ok(tree) = self.tree_mut(node)
            && tree.serial(node.index) == node.serial
        {
            tree.look_again(node.index)?;
        }
        Ok(node)
    }

    /// Walks to a directory.
    pub(super) fn directory(&mut self, caller: &Caller<'_>, path: &[u8]) -> SysResult<Node> {
        let node = self.find(caller, path, Follow::Yes)?;
        match self.kind(node)? {
            FileKind::Directory => Ok(node),
            _ => Err(Errno::NotDir.into()),
        }
    }

    /// Returns the absolute path of a directory, without symlinks.
    pub(crate) fn path_of(&self, node: Node) -> Result<Vec<u8>, Errno> {
        let mut names: Vec<&[u8]> = Vec::new();
        let mut at = node;
        while at != self.root() {
            if at.index == 0 {
                at = self.mounted(at)?.over.ok_or(Errno::NoEnt)?;
                continue;
            }
            let (name, parent) = match &self.mounted(at)?.fs {
                Fs::Tree(tree) => {
                    if tree.serial(at.index) != at.serial {
                        return Err(Errno::NoEnt);
                    }
                    let dir = tree.dir(at.index)?;
                    (&*dir.name, dir.parent)
                }
                Fs::Fixed(fixed) => (
                    fixed.name(at.index).ok_or(Errno::NotDir)?,
                    fixed.parent(at.index),
                ),
            };
            names.push(name);
            at = self.node(at.mount, parent);
        }
        let mut path = Vec::new();
        for name in names.into_iter().rev() {
            path.push(b'/');
            path.extend_from_slice(name);
        }
        if path.is_empty() {
            path.push(b'/');
        }
        Ok(path)
    }

    fn start(&self, caller: &Caller<'_>, path: &[u8]) -> Node {
        if path.first() == Some(&b'/') {
            self.root()
        } else {
            caller.cwd
        }
    }

    /// Returns a node by its place in a mount.
    pub(super) fn node(&self, mount: u32, index: u32) -> Node {
        let serial = match self.mounts.get(mount as usize).map(|mounted| &mounted.fs) {
            Some(Fs::Tree(tree)) => tree.serial(index),
            _ => u64::from(index) + 1,
        };
        Node {
            mount,
            index,
            serial,
        }
    }

    fn child(&mut self, caller: &Caller<'_>, dir: Node, name: &[u8]) -> SysResult<Option<Node>> {
        let Some(mounted) = self.mounts.get_mut(dir.mount as usize) else {
            return Ok(None);
        };
        let index = match &mut mounted.fs {
            Fs::Tree(tree) if tree.serial(dir.index) != dir.serial => None,
            Fs::Tree(tree) => tree.lookup(dir.index, name, caller.quota)?,
            Fs::Fixed(fixed) => fixed.lookup(dir.index, name),
        };
        Ok(index.map(|index| {
            let node = self.node(dir.mount, index);
            self.covered(node).unwrap_or(node)
        }))
    }

    /// Returns the directory above one, out of a mount if need be.
    fn above(&self, dir: Node) -> Node {
        let mut at = dir;
        while at.index == 0 {
            match self.mounted(at).map(|mounted| mounted.over) {
                Ok(Some(over)) => at = over,
                _ => return self.root(),
            }
        }
        let parent = match self.mounted(at).map(|mounted| &mounted.fs) {
            Ok(Fs::Tree(tree)) if tree.serial(at.index) == at.serial => {
                tree.dir(at.index).map_or(0, |dir| dir.parent)
            }
            // A removed directory: nobody knows any more where it was.
            Ok(Fs::Tree(_)) => return dir,
            Ok(Fs::Fixed(fixed)) => fixed.parent(at.index),
            Err(_) => 0,
        };
        let node = self.node(at.mount, parent);
        self.covered(node).unwrap_or(node)
    }

    fn link_target(&self, node: Node) -> SysResult<Option<Vec<u8>>> {
        Ok(match self.tree(node).map(|tree| tree.get(node.index)) {
            Some(Ok(inode)) => match &inode.body {
                super::tree::Body::Link(target) => Some(target.to_vec()),
                _ => None,
            },
            _ => None,
        })
    }
}

/// Returns where the next component begins and ends.
fn component(path: &[u8], at: usize) -> (usize, usize) {
    let tail = path.get(at..).unwrap_or_default();
    let from = at + tail.iter().take_while(|b| **b == b'/').count();
    let tail = path.get(from..).unwrap_or_default();
    let len = memchr::memchr(b'/', tail).unwrap_or(tail.len());
    (from, from + len)
}

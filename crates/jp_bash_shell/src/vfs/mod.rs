//! The files of a session: a tree in memory with mounts, every path of a script is resolved here.
//!
//! Knows inodes, names, permissions and open handles. It must not know descriptors, pipes or processes
//! (the kernel's), no clock (the caller passes the time) and no host path (the embedder hands over a directory).

mod access;
mod apply;
mod change;
mod data;
mod diff;
mod fixed;
mod handle;
mod host;
mod skeleton;
mod tree;
mod walk;

#[cfg(test)]
mod tests;

pub use apply::{Applied, ApplyError, ApplyOptions, RecoverError, Recovered, Refusal};
pub use diff::{Change, ChangeKind, Side};
pub(crate) use fixed::Device;
pub(crate) use handle::{Handle, Opened};
pub use host::HostDir;
pub(crate) use host::errno as host_errno;
pub(crate) use skeleton::User;

use fixed::Fixed;
use handle::OpenFile;
use tree::Tree;

use jp_bash_system::{Budget, Errno, Stop, SysResult, Timestamp};

/// Counts what files make the host hold, before it is held.
pub(crate) trait Quota {
    fn reserve(&self, bytes: u64) -> Result<(), Stop>;
    fn release(&self, bytes: u64);
}

impl Quota for Budget {
    fn reserve(&self, bytes: u64) -> Result<(), Stop> {
        Budget::reserve_kept(self, bytes)
    }
    fn release(&self, bytes: u64) {
        Budget::release(self, bytes);
    }
}

/// Counts nothing: for what the embedder itself puts into a session.
pub(crate) struct NoQuota;

impl Quota for NoQuota {
    fn reserve(&self, _bytes: u64) -> Result<(), Stop> {
        Ok(())
    }
    fn release(&self, _bytes: u64) {}
}

/// A directory or file, by identity. It may be stale: a removed directory that is still someone's working
/// directory behaves as an empty one in which nothing can be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Node {
    mount: u32,
    index: u32,
    serial: u64,
}

/// Who makes a call: from which directory, when, and what counts the memory it takes.
#[derive(Clone, Copy)]
pub(crate) struct Caller<'a> {
    pub(crate) cwd: Node,
    pub(crate) now: Timestamp,
    pub(crate) quota: &'a dyn Quota,
}

/// How a directory of the host is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostMode {
    /// Nothing is written.
    ReadOnly,
    /// Everything is written through.
    ReadWrite,
    /// Writes stay in memory; [`Session::diff`](crate::Session::diff) lists them and
    /// [`Session::apply`](crate::Session::apply) writes them to the host.
    Overlay,
}

/// What can be mounted.
pub(crate) enum Mount {
    /// A directory of the commands; the names are sorted.
    Programs(&'static [&'static str]),
    Devices,
    Host(HostDir, HostMode),
}

/// One file system of the mount table.
enum Fs {
    Tree(Box<Tree>),
    Fixed(Fixed),
}

struct Mounted {
    fs: Fs,
    /// The directory it covers; the first mount covers nothing.
    over: Option<Node>,
    device: u64,
}

/// The virtual file system.
pub(crate) struct Vfs {
    mounts: Vec<Mounted>,
    open: Vec<Option<OpenFile>>,
    free: Vec<u32>,
    user: User,
}

/// The most inodes of one mount; an inode costs memory of its own, so the memory limit is usually nearer.
const MAX_INODES: usize = 4_000_000;

impl Vfs {
    /// Makes an empty root that belongs to the user.
    pub(crate) fn empty(user: User, now: Timestamp) -> Self {
        let tree = Tree::new(user.uid, user.gid, now, None);
        Self {
            mounts: vec![Mounted {
                fs: Fs::Tree(Box::new(tree)),
                over: None,
                device: 1,
            }],
            open: Vec::new(),
            free: Vec::new(),
            user,
        }
    }

    /// Returns the root directory.
    pub(crate) fn root(&self) -> Node {
        self.mount_root(0)
    }

    /// Returns whose session this is.
    pub(crate) fn user(&self) -> &User {
        &self.user
    }

    /// Returns how many bytes the session holds: a new run's budget starts with them.
    pub(crate) fn held(&self) -> u64 {
        self.mounts
            .iter()
            .map(|mounted| match &mounted.fs {
                Fs::Tree(tree) => tree.held(),
                Fs::Fixed(_) => 0,
            })
            .sum()
    }

    /// Mounts something at a path; directories on the way that are missing are made.
    pub(crate) fn mount(&mut self, caller: &Caller<'_>, path: &[u8], what: Mount) -> SysResult<()> {
        self.make_dirs(caller, path)?;
        let over = self.directory(caller, path)?;
        // The root of a mount is covered already: another one there would never be seen.
        if over.index == 0 {
            return Err(Errno::Busy.into());
        }
        let (uid, gid) = (self.user.uid, self.user.gid);
        let fs = match what {
            Mount::Programs(names) => Fs::Fixed(Fixed::Programs(names)),
            Mount::Devices => Fs::Fixed(Fixed::Devices),
            Mount::Host(dir, mode) => {
                Fs::Tree(Box::new(Tree::new(uid, gid, caller.now, Some((dir, mode)))))
            }
        };
        let device = self.mounts.len() as u64 + 1;
        self.mounts.push(Mounted {
            fs,
            over: Some(over),
            device,
        });
        Ok(())
    }

    fn mount_root(&self, mount: usize) -> Node {
        let serial = match self.mounts.get(mount).map(|mounted| &mounted.fs) {
            Some(Fs::Tree(tree)) => tree.serial(0),
            _ => 1,
        };
        Node {
            mount: u32::try_from(mount).unwrap_or(0),
            index: 0,
            serial,
        }
    }

    /// Returns the root of the mount that covers a directory.
    fn covered(&self, node: Node) -> Option<Node> {
        // Sessions have a handful of mounts: a scan is faster than a map.
        let at = self
            .mounts
            .iter()
            .rposition(|mounted| mounted.over == Some(node))?;
        Some(self.mount_root(at))
    }

    fn mounted(&self, node: Node) -> Result<&Mounted, Errno> {
        self.mounts.get(node.mount as usize).ok_or(Errno::NoEnt)
    }

    /// Returns the tree of a node, for a change: a fixed mount is read-only.
    fn tree_mut(&mut self, node: Node) -> Result<&mut Tree, Errno> {
        match self.mounts.get_mut(node.mount as usize) {
            Some(Mounted {
                fs: Fs::Tree(tree), ..
            }) => Ok(tree),
            _ => Err(Errno::RoFs),
        }
    }

    fn tree(&self, node: Node) -> Option<&Tree> {
        match self.mounts.get(node.mount as usize) {
            Some(Mounted {
                fs: Fs::Tree(tree), ..
            }) => Some(tree),
            _ => None,
        }
    }
}

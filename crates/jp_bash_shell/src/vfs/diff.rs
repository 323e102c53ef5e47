//! What a script changed in an overlay: the paths, and both sides of one.

use jp_bash_system::{Errno, FileKind, SysResult};

use super::apply::{ApplyError, Disk, Through};
use super::data::Data;
use super::tree::{Body, Tree};
use super::{Caller, Fs, HostMode, Node, Vfs};

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

/// What is at a path: on the host, or in the overlay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side {
    /// What it is; a socket counts as a device.
    pub file: FileKind,
    /// Permission bits, set-ID and sticky bits.
    pub mode: u32,
    /// Bytes of a file.
    pub size: u64,
    /// Where a link points, or what a file holds up to the limit that was asked for.
    pub content: Vec<u8>,
}

impl Vfs {
    /// Lists what was changed in the overlay at a path, sorted by path.
    pub(crate) fn diff(
        &mut self,
        caller: &Caller<'_>,
        path: &[u8],
    ) -> Result<Vec<Change>, ApplyError> {
        let tree = self.overlay(caller, path)?;
        let Some((host, _)) = tree.host.clone() else {
            return Ok(Vec::new());
        };
        let disk = Disk::new(&Through);
        let plan = tree.plan(&disk, host.dir())?;
        Ok(tree.list_changes(&disk, host.dir(), &plan, caller.quota)?)
    }

    /// Returns what is at a path on the host and in the overlay that is mounted at `mount`, with at most `most`
    /// bytes of content each.
    pub(crate) fn sides(
        &mut self,
        caller: &Caller<'_>,
        mount: &[u8],
        path: &[u8],
        most: usize,
    ) -> Result<[Option<Side>; 2], ApplyError> {
        let tree = self.overlay(caller, mount)?;
        Ok([
            tree.host_side(path, most)?,
            tree.own_side(caller, path, most)?,
        ])
    }

    pub(super) fn overlay(&mut self, caller: &Caller<'_>, path: &[u8]) -> SysResult<&mut Tree> {
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

impl Tree {
    fn host_side(&self, path: &[u8], most: usize) -> Result<Option<Side>, Errno> {
        let Some((host, _)) = &self.host else {
            return Ok(None);
        };
        let disk = Disk::new(&Through);
        let looked = disk.look(host.dir(), path);
        let Some(mark) = looked.map_err(|error| super::host::errno(&error))? else {
            return Ok(None);
        };
        let file = mark.kind.unwrap_or(FileKind::CharDevice);
        let content = match file {
            FileKind::Symlink => host.read_link(path)?,
            FileKind::Regular => read_below(host, path, most)?,
            _ => Vec::new(),
        };
        Ok(Some(Side {
            file,
            mode: mark.mode,
            size: mark.size,
            content,
        }))
    }

    fn own_side(
        &mut self,
        caller: &Caller<'_>,
        path: &[u8],
        most: usize,
    ) -> SysResult<Option<Side>> {
        let mut index = 0;
        for name in path
            .split(|byte| *byte == b'/')
            .filter(|name| !name.is_empty())
        {
            if self.dir(index).is_err() {
                return Ok(None);
            }
            match self.lookup(index, name, caller.quota)? {
                Some(inner) => index = inner,
                None => return Ok(None),
            }
        }
        let stat = self.stat(index)?;
        let content = match &self.get(index)?.body {
            Body::Link(target) => target.to_vec(),
            Body::File(Data::Below) => match &self.host {
                Some((host, _)) => read_below(host, &self.own_path(index)?, most)?,
                None => Vec::new(),
            },
            Body::File(data) => {
                let size = usize::try_from(data.size()).unwrap_or(usize::MAX);
                let mut bytes = vec![0; usize::min(size, most)];
                let got = data.read_at(0, &mut bytes);
                bytes.truncate(got);
                bytes
            }
            _ => Vec::new(),
        };
        Ok(Some(Side {
            file: stat.kind,
            mode: stat.mode,
            size: stat.size,
            content,
        }))
    }
}

fn read_below(host: &super::HostDir, path: &[u8], most: usize) -> Result<Vec<u8>, Errno> {
    let mut file = host.open_file(path, super::host::HostOpen::READ)?;
    let mut bytes = Vec::new();
    let mut buf = vec![0; usize::min(most, 64 * 1024)];
    while bytes.len() < most {
        let got = file.read_at(bytes.len() as u64, &mut buf)?;
        if got == 0 {
            break;
        }
        bytes.extend_from_slice(buf.get(..got).unwrap_or_default());
    }
    bytes.truncate(most);
    Ok(bytes)
}

//! What a tree of the host is like, and a digest that tells whether it still is.

use std::io;

use cap_std::fs::Dir;
use jp_bash_system::FileKind;
use sha2::{Digest, Sha256};

use super::disk::{Disk, Mark};

/// The most names of one tree that is removed or replaced.
const MAX_NAMES: usize = 2_000_000;

/// The names of a tree with what is under them, parents first; the top is the empty name.
pub(in crate::vfs) struct Survey {
    pub(in crate::vfs) found: Vec<(Vec<u8>, Mark)>,
}

/// Names a tree: it is where its top's inode is, and unchanged if the digest is the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::vfs) struct Print {
    pub(in crate::vfs) ino: u64,
    pub(in crate::vfs) digest: [u8; 32],
}

impl Survey {
    /// Looks at everything at and below a name; nothing there is `None`.
    pub(in crate::vfs) fn of(disk: &Disk<'_>, at: &Dir, name: &[u8]) -> io::Result<Option<Self>> {
        let Some(top) = disk.look(at, name)? else {
            return Ok(None);
        };
        let mut found = vec![(Vec::new(), top)];
        let mut next = 0;
        while let Some((path, mark)) = found.get(next) {
            next += 1;
            if !mark.is_dir() {
                continue;
            }
            let path = path.clone();
            for inner in disk.names(at, &join(name, &path))? {
                let inner = join(&path, &inner);
                // What vanishes while we look is not there.
                if let Some(mark) = disk.look(at, &join(name, &inner))? {
                    found.push((inner, mark));
                }
            }
            if found.len() > MAX_NAMES {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
        }
        Ok(Some(Self { found }))
    }

    /// Names the tree. What a move changes (`ctime`) and what others may change (`atime`, the names a file has
    /// elsewhere) is not part of it.
    pub(in crate::vfs) fn print(&self) -> Print {
        let mut hash = Sha256::new();
        for (path, mark) in &self.found {
            hash.update((path.len() as u64).to_le_bytes());
            hash.update(path);
            hash.update([letter(mark.kind)]);
            hash.update(mark.ino.to_le_bytes());
            hash.update(mark.mode.to_le_bytes());
            if !mark.is_dir() {
                hash.update(mark.size.to_le_bytes());
                hash.update(mark.mtime.secs.to_le_bytes());
                hash.update(mark.mtime.nanos.to_le_bytes());
            }
        }
        Print {
            ino: self.found.first().map_or(0, |(_, top)| top.ino),
            digest: hash.finalize().into(),
        }
    }
}

fn letter(kind: Option<FileKind>) -> u8 {
    match kind {
        Some(FileKind::Regular) => b'f',
        Some(FileKind::Directory) => b'd',
        Some(FileKind::Symlink) => b'l',
        _ => b'?',
    }
}

/// Joins a directory and what is in it; either may be empty.
pub(in crate::vfs) fn join(dir: &[u8], name: &[u8]) -> Vec<u8> {
    match (dir, name) {
        (b"", name) => name.to_vec(),
        (dir, b"") => dir.to_vec(),
        (dir, name) => [dir, b"/", name].concat(),
    }
}

/// Returns the directory of a path; that of a single name is empty.
pub(in crate::vfs) fn parent_path(path: &[u8]) -> &[u8] {
    let end = path.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
    path.get(..end).unwrap_or_default()
}

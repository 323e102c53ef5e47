//! Writing what is going to be there into the staging area, complete and safe on disk.

use std::fs::File;
use std::io;

use cap_std::fs::Dir;
use jp_bash_system::FileKind;
use rustc_hash::FxHashMap;

use super::area::{Area, MANY};
use super::check::{failed, is_same};
use super::disk::{Mark, own_uid};
use super::error::ApplyError;
use super::journal::{Marking, Marks};
use super::plan::Planned;
use super::survey::{Print, Survey, join};
use super::switch::slot;
use crate::vfs::Quota;
use crate::vfs::data::Data;
use crate::vfs::tree::{Body, Inode, Tree};

/// How much is written or copied at once; tests want several pieces of small files.
const PIECE: usize = if cfg!(test) { 8 } else { 1 << 20 };

/// Set-user-ID and set-group-ID.
const SET_ID: u32 = 0o6000;
const SET_GID: u32 = 0o2000;

/// Writes new trees.
pub(super) struct Stage<'a> {
    pub(super) area: &'a Area<'a>,
    /// Whether the script may give files the set-ID bits.
    pub(super) set_id: bool,
    /// Whether each file is synced for itself.
    pub(super) sync_each: bool,
    /// Where a file that has several names lies already.
    written: FxHashMap<u32, Vec<u8>>,
    /// Modes that close a directory, to be set when it is in its place.
    pub(super) closing: Vec<Marking>,
    /// Paths whose set-ID bits were left out.
    pub(super) dropped: Vec<Vec<u8>>,
}

/// The directory around a new tree hands its group on, if it has the bit.
type Group = Option<u32>;

impl<'a> Stage<'a> {
    pub(super) fn new(area: &'a Area<'a>, set_id: bool, names: usize) -> Self {
        Self {
            area,
            set_id,
            sync_each: names <= MANY,
            written: FxHashMap::default(),
            closing: Vec::new(),
            dropped: Vec::new(),
        }
    }

    /// Writes the tree of one switch and returns what it looks like.
    pub(super) fn write(
        &mut self,
        tree: &mut Tree,
        planned: &Planned,
        number: u32,
        quota: &dyn Quota,
    ) -> Result<Option<Print>, ApplyError> {
        let Some(top) = planned.index else {
            return Ok(None);
        };
        let slot = slot(number);
        let group = self.group(planned)?;
        let mut dirs: Vec<(Vec<u8>, Vec<u8>, u32)> = Vec::new();
        tree.visit::<ApplyError>(top, &planned.path, quota, |tree, index, path| {
            let inner = path.get(planned.path.len()..).unwrap_or_default();
            let inner = inner.strip_prefix(b"/").unwrap_or(inner);
            let at = join(&slot, inner);
            let inode = tree.get(index)?;
            let mode = self.mode(path, inode);
            match &inode.body {
                Body::Dir(_) => {
                    self.dir(&at, group).map_err(failed(path))?;
                    let set_gid = group.map_or(0, |_| SET_GID);
                    dirs.push((at, path.to_vec(), mode | set_gid));
                }
                Body::Link(target) => self.link(&at, target, inode).map_err(failed(path))?,
                Body::File(data) => {
                    let replaced = planned.now.filter(|_| inner.is_empty());
                    self.file(tree, (index, data, mode), &at, path, replaced, group)?;
                }
                Body::Fifo => return Err(failed(path)(io::ErrorKind::Unsupported.into())),
            }
            Ok(())
        })?;
        self.close(dirs)?;
        let print = Survey::of(&self.area.disk, &self.area.new, &slot);
        let print = print.map_err(failed(&planned.path))?;
        Ok(print.map(|print| print.print()))
    }

    fn group(&self, planned: &Planned) -> Result<Group, ApplyError> {
        let disk = &self.area.disk;
        let parent = disk.parent(self.area.root, &planned.path);
        // A directory that is opened later hands nothing on.
        let Ok((parent, _)) = parent else {
            return Ok(None);
        };
        let mark = disk.look(&parent, b"").map_err(failed(&planned.path))?;
        let mark = mark.filter(|mark| planned.now.is_none() && mark.mode & SET_GID != 0);
        Ok(mark.map(|mark| mark.gid))
    }

    /// Returns the mode that a new file or directory gets.
    fn mode(&mut self, path: &[u8], inode: &Inode) -> u32 {
        let wanted = inode.mode & SET_ID;
        if wanted != 0 && !self.set_id && inode.kind() != FileKind::Symlink {
            self.dropped.push(path.to_vec());
        }
        plain_mode(inode.mode, inode.kind()) | if self.set_id { wanted } else { 0 }
    }

    fn dir(&self, at: &[u8], group: Group) -> io::Result<()> {
        let area = self.area;
        area.disk.make_dir(&area.new, at)?;
        if let Some(gid) = group {
            let dir = area.disk.enter(&area.new, at)?;
            // Without the right to do so it stays ours.
            let _ = area.disk.set_dir_owner(&dir, own_uid(), gid);
        }
        Ok(())
    }

    fn link(&self, at: &[u8], target: &[u8], inode: &Inode) -> io::Result<()> {
        let area = self.area;
        area.disk.symlink(&area.new, target, at)?;
        area.disk.set_mtime(&area.new, at, inode.mtime)
    }

    fn file(
        &mut self,
        tree: &Tree,
        (index, data, mode): (u32, &Data, u32),
        at: &[u8],
        path: &[u8],
        replaced: Option<Mark>,
        group: Group,
    ) -> Result<(), ApplyError> {
        let (disk, new) = (&self.area.disk, &self.area.new);
        if let Some(first) = self.written.get(&index) {
            return disk.link(new, first, at).map_err(failed(path));
        }
        let inode = tree.get(index)?;
        let file = disk.create(new, at).map_err(failed(path))?;
        match data {
            Data::Below => self.copy(tree, index, &file)?,
            data => self.fill(data, &file).map_err(failed(path))?,
        }
        self.finish(&file, replaced, group)
            .and_then(|()| disk.set_mode(new, at, mode))
            .and_then(|()| disk.set_mtime(new, at, inode.mtime))
            .and_then(|()| match self.sync_each {
                true => disk.sync_file(&file),
                false => Ok(()),
            })
            .map_err(failed(path))?;
        if inode.nlink > 1 && !inode.clean() {
            self.written.insert(index, at.to_vec());
        }
        Ok(())
    }

    /// Gives a file to whom the file in its place belongs, where that is allowed.
    fn finish(&self, file: &File, replaced: Option<Mark>, group: Group) -> io::Result<()> {
        let disk = &self.area.disk;
        let now = disk.look_at(file)?;
        let replaced = replaced.filter(|old| old.kind == Some(FileKind::Regular));
        let wanted = match replaced {
            Some(old) => (old.uid, old.gid),
            None => (now.uid, group.unwrap_or(now.gid)),
        };
        if wanted != (now.uid, now.gid) {
            // Without the right to do so it stays ours.
            let _ = disk.set_owner(file, wanted.0, wanted.1);
        }
        Ok(())
    }

    /// Writes what is in memory; holes stay holes.
    fn fill(&self, data: &Data, file: &File) -> io::Result<()> {
        let disk = &self.area.disk;
        for (start, bytes) in data.pieces() {
            let mut at = start;
            for piece in bytes.chunks(PIECE) {
                disk.write(file, at, piece)?;
                at += piece.len() as u64;
            }
        }
        disk.set_len(file, data.size())
    }

    /// Copies a file of the host that the script moved, if it still is what was checked.
    fn copy(&self, tree: &Tree, index: u32, to: &File) -> Result<(), ApplyError> {
        let disk = &self.area.disk;
        let source = tree.own_path(index)?;
        let changed = || ApplyError::Conflict {
            paths: vec![source.to_vec()],
        };
        let seen = tree.expected(&source, Some(index)).ok_or_else(changed)?;
        let from = disk
            .open(self.area.root, &source)
            .map_err(failed(&source))?;
        let mut buf = vec![0; PIECE];
        let mut at = 0;
        loop {
            let got = disk.read(&from, at, &mut buf).map_err(failed(&source))?;
            let piece = buf.get(..got).unwrap_or_default();
            if piece.is_empty() {
                break;
            }
            if piece.iter().any(|byte| *byte != 0) {
                disk.write(to, at, piece).map_err(failed(&source))?;
            }
            at += got as u64;
        }
        disk.set_len(to, at).map_err(failed(&source))?;
        let now = disk.look_at(&from).map_err(failed(&source))?;
        match is_same(&seen, &now) {
            true => Ok(()),
            false => Err(changed()),
        }
    }

    /// Sets the modes of directories, the inner ones first. A directory that would shut us out stays open until it
    /// is in its place.
    fn close(&mut self, dirs: Vec<(Vec<u8>, Vec<u8>, u32)>) -> Result<(), ApplyError> {
        for (at, path, mode) in dirs.into_iter().rev() {
            self.close_one(&at, &path, mode).map_err(failed(&path))?;
        }
        Ok(())
    }

    fn close_one(&mut self, at: &[u8], path: &[u8], mode: u32) -> io::Result<()> {
        let (disk, new): (_, &Dir) = (&self.area.disk, &self.area.new);
        if self.sync_each {
            disk.sync_dir(&disk.enter(new, at)?)?;
        }
        let open = mode | 0o700;
        disk.set_mode(new, at, open)?;
        if open != mode
            && let Some(now) = disk.look(new, at)?
        {
            let marks = |mode| Marks {
                mode: Some(mode),
                mtime: None,
            };
            self.closing.push(Marking {
                path: path.to_vec(),
                ino: now.ino,
                from: marks(open),
                to: marks(mode),
            });
        }
        Ok(())
    }
}

/// Returns the bits of a mode that need no asking: of the special ones the sticky bit of a directory.
pub(super) fn plain_mode(mode: u32, kind: FileKind) -> u32 {
    match kind {
        FileKind::Directory => mode & 0o1777,
        _ => mode & 0o777,
    }
}

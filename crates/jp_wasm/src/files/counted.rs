//! Changes below a directory with a quota: each takes its room first, and gives back what it frees.
//!
//! Everything happens on the calling thread while the count is held.

use std::{fs::File as StdFile, io, os::unix::fs::FileExt, path::Path, sync::Arc};

use bytes::Bytes;
use cap_primitives::fs::{self, DirOptions, FollowSymlinks, MetadataExt, OpenOptions};
use wasmtime::component::Resource;
use wasmtime_wasi::{
    OpenMode, async_trait,
    filesystem::{Descriptor, Dir, File},
    p2::{
        DynOutputStream, FsResult, OutputStream, Pollable, StreamError, StreamResult,
        bindings::filesystem::types::{ErrorCode, OpenFlags},
    },
};

use super::{
    GuestFiles, as_descriptor,
    quota::{Quota, Used, Victim},
};

/// The most a guest may write in one go; also what one `write-zeroes` makes the host allocate.
const PERMIT: usize = 64 * 1024;

impl Quota {
    pub(super) fn open(
        &self,
        dir: &Dir,
        path: &str,
        options: &OpenOptions,
        oflags: OpenFlags,
        mode: OpenMode,
    ) -> FsResult<Descriptor> {
        let mut used = self.lock();
        let mut options = options.clone();
        // What is cut off is given back, so it has to be seen first.
        options.truncate(false);
        let opened = open_or_create(&mut used, &dir.dir, path.as_ref(), &options, oflags)?;
        let directory = oflags.contains(OpenFlags::DIRECTORY);
        let descriptor = as_descriptor(opened, dir, mode, directory)?;
        if let Descriptor::File(file) = &descriptor {
            let found = file.file.metadata()?;
            if oflags.contains(OpenFlags::TRUNCATE) {
                file.file.set_len(0)?;
                used.give_back(found.len(), 0);
            }
            used.note_open(&file.file, &found);
        }
        Ok(descriptor)
    }

    pub(super) fn write(&self, file: &File, bytes: &[u8], at: u64) -> io::Result<usize> {
        put(&mut self.lock(), &file.file, Some(at), bytes)?;
        Ok(bytes.len())
    }

    pub(super) fn set_size(&self, file: &File, size: u64) -> io::Result<()> {
        let mut used = self.lock();
        let before = file.file.metadata()?.len();
        let more = size.saturating_sub(before);
        used.take(more, 0)?;
        file.file
            .set_len(size)
            .inspect_err(|_| used.give_back(more, 0))?;
        used.give_back(before.saturating_sub(size), 0);
        Ok(())
    }

    pub(super) fn create_dir(&self, dir: &Dir, path: &str) -> io::Result<()> {
        self.with_new_name(0, || {
            fs::create_dir(&dir.dir, path.as_ref(), &DirOptions::new())
        })
    }

    pub(super) fn symlink(&self, target: &str, dir: &Dir, path: &str) -> io::Result<()> {
        let bytes = target.len() as u64;
        self.with_new_name(bytes, || {
            fs::symlink(target.as_ref(), &dir.dir, path.as_ref())
        })
    }

    pub(super) fn link(&self, old: (&Dir, &str), new: (&Dir, &str)) -> io::Result<()> {
        self.with_new_name(0, || {
            fs::hard_link(&old.0.dir, old.1.as_ref(), &new.0.dir, new.1.as_ref())
        })
    }

    pub(super) fn remove_file(&self, dir: &Dir, path: &str) -> io::Result<()> {
        let mut used = self.lock();
        let victim = victim(dir, path)?;
        fs::remove_file(&dir.dir, path.as_ref())?;
        used.note_removed(&victim);
        Ok(())
    }

    pub(super) fn remove_dir(&self, dir: &Dir, path: &str) -> io::Result<()> {
        let mut used = self.lock();
        fs::remove_dir(&dir.dir, path.as_ref())?;
        used.give_back(0, 1);
        Ok(())
    }

    pub(super) fn rename(&self, old: (&Dir, &str), new: (&Dir, &str)) -> io::Result<()> {
        let mut used = self.lock();
        let moved = victim(old.0, old.1)?;
        let replaced = match victim(new.0, new.1) {
            Ok(replaced) => Some(replaced),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        fs::rename(&old.0.dir, old.1.as_ref(), &new.0.dir, new.1.as_ref())?;
        // Two names of one file both stay.
        if let Some(replaced) = replaced.filter(|replaced| !replaced.is_same(&moved)) {
            used.note_removed(&replaced);
        }
        Ok(())
    }

    fn with_new_name(&self, bytes: u64, make: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        let mut used = self.lock();
        used.take(bytes, 1)?;
        make().inspect_err(|_| used.give_back(bytes, 1))
    }
}

/// Opens a file; one that does not exist yet takes its room before it is made.
fn open_or_create(
    used: &mut Used,
    dir: &StdFile,
    path: &Path,
    options: &OpenOptions,
    oflags: OpenFlags,
) -> io::Result<StdFile> {
    if !oflags.contains(OpenFlags::CREATE) {
        return fs::open(dir, path, options);
    }
    if !oflags.contains(OpenFlags::EXCLUSIVE) {
        let mut existing = options.clone();
        existing.create(false);
        match fs::open(dir, path, &existing) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            done => return done,
        }
    }
    used.take(0, 1)?;
    fs::open(dir, path, options).inspect_err(|_| used.give_back(0, 1))
}

/// Writes at a place, by default at the end; returns where the last byte went.
fn put(used: &mut Used, file: &StdFile, at: Option<u64>, bytes: &[u8]) -> io::Result<u64> {
    let before = file.metadata()?.len();
    let at = at.unwrap_or(before);
    if bytes.is_empty() {
        return Ok(at);
    }
    // No disk is larger than that either.
    let end = at.saturating_add(bytes.len() as u64);
    used.take(end.saturating_sub(before), 0)?;
    file.write_all_at(bytes, at).inspect_err(|_| {
        let after = file.metadata().map_or(end, |found| found.len());
        used.give_back(end.saturating_sub(after.max(before)), 0);
    })?;
    Ok(end)
}

fn victim(dir: &Dir, path: &str) -> io::Result<Victim> {
    let found = fs::stat(&dir.dir, path.as_ref(), FollowSymlinks::No)?;
    let identity = (found.dev(), found.ino());
    Ok(Victim::new(
        identity,
        found.nlink(),
        found.len(),
        found.is_dir(),
    ))
}

/// A stream into a file that is counted.
pub(super) struct CountedStream {
    file: File,
    quota: Arc<Quota>,
    /// Where the next byte goes; at the end, wherever that is then, by default.
    at: Option<u64>,
    closed: bool,
}

#[async_trait]
impl Pollable for CountedStream {
    async fn ready(&mut self) {}
}

impl OutputStream for CountedStream {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.check_write()?;
        let end = put(&mut self.quota.lock(), &self.file.file, self.at, &bytes);
        match end {
            Ok(end) => {
                self.at = self.at.map(|_| end);
                Ok(())
            }
            Err(error) => {
                self.closed = true;
                Err(StreamError::LastOperationFailed(error.into()))
            }
        }
    }

    fn flush(&mut self) -> StreamResult<()> {
        self.check_write().map(drop)
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        if self.closed {
            return Err(StreamError::Closed);
        }
        Ok(PERMIT)
    }
}

impl GuestFiles<'_> {
    pub(super) fn writable(&self, fd: &Resource<Descriptor>) -> FsResult<&File> {
        let file = self.file(fd)?;
        if file.perms.write_not_permitted() {
            return Err(ErrorCode::NotPermitted.into());
        }
        Ok(file)
    }

    /// Makes a stream into a file that is counted; none when it is not.
    pub(super) fn counted_stream(
        &mut self,
        fd: &Resource<Descriptor>,
        at: Option<u64>,
    ) -> FsResult<Option<Resource<DynOutputStream>>> {
        let Some(quota) = self.quota(fd) else {
            return Ok(None);
        };
        let stream = CountedStream {
            file: self.writable(fd)?.clone(),
            quota,
            at,
            closed: false,
        };
        let stream: DynOutputStream = Box::new(stream);
        Ok(Some(self.wasi.table.push(stream)?))
    }
}

#[cfg(test)]
mod tests;

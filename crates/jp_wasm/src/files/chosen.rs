//! One chosen file, seen as the only entry of a directory of its own.
//!
//! There is no such directory on the host, and none is opened: whatever a guest asks for is
//! compared with the one name, so nothing beside the file can be reached. What the guest holds as
//! the directory is a handle of the file, so that a function that were forgotten here would find
//! no directory to work on.

use std::{fs::File as StdFile, io, sync::Arc};

use wasmtime::component::Resource;
use wasmtime_wasi::{
    FsPerms, OpenMode,
    filesystem::{Descriptor, File},
    p2::{
        FsResult,
        bindings::filesystem::types::{
            DescriptorStat, DescriptorType, ErrorCode, HostDescriptor as _, MetadataHashValue,
            OpenFlags,
        },
    },
};

use super::{Behind, GuestFiles};

/// A file that somebody chose for a guest.
pub(crate) struct Chosen {
    name: String,
    perms: FsPerms,
    file: File,
}

/// What a path below the directory leads to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Directory,
    File,
}

impl Chosen {
    pub(crate) fn new(name: String, file: StdFile, perms: FsPerms) -> Self {
        let file = File::new(file, FsPerms::ReadOnly, OpenMode::READ, true);
        Self { name, perms, file }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the file, to be read.
    pub(crate) fn file(&self) -> Arc<StdFile> {
        Arc::clone(&self.file.file)
    }

    /// Returns what stands for the directory in a guest's table.
    pub(crate) fn descriptor(&self) -> Descriptor {
        Descriptor::File(self.file.clone())
    }

    /// Finds what a path means. `..` is refused even where it would lead back.
    pub(crate) fn find(&self, path: &str) -> Result<Found, ErrorCode> {
        if path.starts_with('/') {
            return Err(ErrorCode::NotPermitted);
        }
        if path.is_empty() {
            return Err(ErrorCode::NoEntry);
        }
        let mut found = Found::Directory;
        for part in path.split('/') {
            match (&found, part) {
                (_, "..") => return Err(ErrorCode::NotPermitted),
                (Found::Directory, "" | ".") => {}
                (Found::Directory, name) if name == self.name => found = Found::File,
                (Found::Directory, _) => return Err(ErrorCode::NoEntry),
                (Found::File, _) => return Err(ErrorCode::NotDirectory),
            }
        }
        Ok(found)
    }

    /// Opens the file or the directory; true beside it when it is the directory.
    fn open(&self, path: &str, oflags: OpenFlags, mode: OpenMode) -> FsResult<(Descriptor, bool)> {
        let write = mode.contains(OpenMode::WRITE);
        if write && self.perms.write_not_permitted() {
            return Err(ErrorCode::NotPermitted.into());
        }
        let found = self.find(path)?;
        if oflags.contains(OpenFlags::EXCLUSIVE) {
            return Err(ErrorCode::Exist.into());
        }
        // A handle for each opening, since each is counted for itself.
        let copy = self.file.file.try_clone()?;
        if found == Found::Directory {
            if write {
                return Err(ErrorCode::IsDirectory.into());
            }
            let held = File::new(copy, FsPerms::ReadOnly, OpenMode::READ, true);
            return Ok((Descriptor::File(held), true));
        }
        if oflags.contains(OpenFlags::DIRECTORY) {
            return Err(ErrorCode::NotDirectory.into());
        }
        if oflags.contains(OpenFlags::TRUNCATE) {
            copy.set_len(0)?;
        }
        // The handle may be able to write where the guest asked to read only.
        let perms = if write { self.perms } else { FsPerms::ReadOnly };
        Ok((Descriptor::File(File::new(copy, perms, mode, true)), false))
    }
}

/// What the directory says about itself.
pub(super) const DIRECTORY: DescriptorStat = DescriptorStat {
    type_: DescriptorType::Directory,
    link_count: 1,
    size: 0,
    data_access_timestamp: None,
    data_modification_timestamp: None,
    status_change_timestamp: None,
};

impl GuestFiles<'_> {
    pub(super) fn open_chosen(
        &mut self,
        chosen: &Arc<Chosen>,
        path: &str,
        oflags: OpenFlags,
        mode: OpenMode,
    ) -> FsResult<Resource<Descriptor>> {
        let (descriptor, directory) = chosen.open(path, oflags, mode)?;
        self.files.count(&descriptor);
        let behind = directory.then(|| Behind::Chosen(Arc::clone(chosen)));
        self.push(descriptor, behind)
    }

    pub(super) async fn stat_chosen(
        &mut self,
        chosen: &Arc<Chosen>,
        path: &str,
    ) -> FsResult<DescriptorStat> {
        if chosen.find(path)? == Found::Directory {
            return Ok(DIRECTORY);
        }
        let file = self.wasi.table.push(chosen.descriptor())?;
        let stat = self.wasi.stat(Resource::new_borrow(file.rep())).await;
        self.wasi.table.delete(file)?;
        stat
    }

    /// Hashes the file's identity; the directory is known by another hash than its file.
    pub(super) async fn hash_chosen(
        &mut self,
        chosen: &Arc<Chosen>,
        path: &str,
    ) -> FsResult<MetadataHashValue> {
        let found = chosen.find(path)?;
        let file = self.wasi.table.push(chosen.descriptor())?;
        let hash = self.wasi.metadata_hash(Resource::new_borrow(file.rep()));
        let hash = hash.await;
        self.wasi.table.delete(file)?;
        let mut hash = hash?;
        if found == Found::Directory {
            hash.lower = !hash.lower;
        }
        Ok(hash)
    }
}

/// Returns the error for something that is not a file a guest can be given.
pub(crate) fn no_file() -> io::Error {
    io::Error::other("it is not a regular file")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_one_name_leads_anywhere() {
        let file = tempfile::tempfile().unwrap();
        let chosen = Chosen::new("x.pdf".into(), file, FsPerms::ReadOnly);
        for path in ["x.pdf", "./x.pdf", ".//x.pdf"] {
            assert_eq!(chosen.find(path), Ok(Found::File), "{path}");
        }
        for path in [".", "./", "././"] {
            assert_eq!(chosen.find(path), Ok(Found::Directory), "{path}");
        }
        for (path, why) in [
            ("", ErrorCode::NoEntry),
            ("y.pdf", ErrorCode::NoEntry),
            ("X.PDF", ErrorCode::NoEntry),
            ("x.pdf\0", ErrorCode::NoEntry),
            ("x.pdf/", ErrorCode::NotDirectory),
            ("x.pdf/y", ErrorCode::NotDirectory),
            ("x.pdf/..", ErrorCode::NotPermitted),
            ("..", ErrorCode::NotPermitted),
            ("./../x.pdf", ErrorCode::NotPermitted),
            ("/x.pdf", ErrorCode::NotPermitted),
            ("/etc/passwd", ErrorCode::NotPermitted),
        ] {
            assert_eq!(chosen.find(path), Err(why), "{path:?}");
        }
    }
}

//! Listing directories: of the host's, not too many entries at once; of a chosen file, its name.

use std::{fs::File as StdFile, io};

use rustix::fs::{Mode, OFlags};
use wasmtime::component::Resource;
use wasmtime_wasi::{
    filesystem::Descriptor,
    p2::{
        FsError, FsResult,
        bindings::filesystem::types::{
            self, DescriptorType, DirectoryEntry, ErrorCode, HostDescriptor as _,
            HostDirectoryEntryStream,
        },
    },
};

use super::{Chosen, GuestFiles};

/// Entries of one directory that are read at once. wasmtime reads and stats them all before the
/// guest sees the first, so this bounds both memory and time.
const MAX_ENTRIES: usize = 200_000;

/// Directories smaller than this cannot hold [`MAX_ENTRIES`] entries and are not counted first.
const COUNT_FROM_BYTES: u64 = 1024 * 1024;

/// The listing of the directory of a chosen file, in the guest's table.
struct Listing(Option<String>);

impl GuestFiles<'_> {
    pub(super) async fn list(
        &mut self,
        fd: Resource<Descriptor>,
    ) -> FsResult<Resource<types::DirectoryEntryStream>> {
        if self.files.listings >= self.files.limit {
            return Err(ErrorCode::Quota.into());
        }
        let listing = if let Some(chosen) = self.chosen(&fd) {
            self.list_chosen(&chosen)?
        } else {
            check_entries(&self.dir(&fd)?.dir)?;
            self.wasi.read_directory(fd).await?
        };
        self.files.listings += 1;
        Ok(listing)
    }

    fn drop_listing(
        &mut self,
        listing: Resource<types::DirectoryEntryStream>,
    ) -> wasmtime::Result<()> {
        self.files.listings = self.files.listings.saturating_sub(1);
        let ours = Resource::<Listing>::new_own(listing.rep());
        // Asked first: the table drops whatever it is asked to, and reports only then that it was
        // something else.
        if self.wasi.table.get(&ours).is_ok() {
            self.wasi.table.delete(ours)?;
            return Ok(());
        }
        HostDirectoryEntryStream::drop(&mut self.wasi, listing)
    }

    fn list_chosen(&mut self, chosen: &Chosen) -> FsResult<Resource<types::DirectoryEntryStream>> {
        let listing = Listing(Some(chosen.name().to_owned()));
        let listing = self.wasi.table.push(listing)?;
        Ok(Resource::new_own(listing.rep()))
    }

    /// Returns the next entry when the listing is one of a chosen file.
    fn next_chosen(
        &mut self,
        listing: &Resource<types::DirectoryEntryStream>,
    ) -> Option<Option<DirectoryEntry>> {
        let ours = Resource::<Listing>::new_borrow(listing.rep());
        let listing = self.wasi.table.get_mut(&ours).ok()?;
        Some(listing.0.take().map(|name| DirectoryEntry {
            type_: DescriptorType::RegularFile,
            name,
        }))
    }
}

impl HostDirectoryEntryStream for GuestFiles<'_> {
    async fn read_directory_entry(
        &mut self,
        stream: Resource<types::DirectoryEntryStream>,
    ) -> FsResult<Option<types::DirectoryEntry>> {
        if let Some(next) = self.next_chosen(&stream) {
            return Ok(next);
        }
        self.wasi.read_directory_entry(stream).await
    }

    fn drop(&mut self, stream: Resource<types::DirectoryEntryStream>) -> wasmtime::Result<()> {
        self.drop_listing(stream)
    }
}

/// Refuses a directory with too many entries.
fn check_entries(dir: &StdFile) -> Result<(), FsError> {
    if dir.metadata()?.len() >= COUNT_FROM_BYTES && count(dir, MAX_ENTRIES + 1)? > MAX_ENTRIES {
        return Err(ErrorCode::Overflow.into());
    }
    Ok(())
}

/// Counts the entries of a directory, at most so many.
fn count(dir: &StdFile, most: usize) -> io::Result<usize> {
    // The handle of a granted directory leads somewhere, but cannot be read itself.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let listed = rustix::fs::openat(dir, ".", flags, Mode::empty())?;
    let mut entries = rustix::fs::Dir::new(listed)?.take(most);
    entries.try_fold(0, |count, entry| {
        entry.map(|_| count + 1).map_err(Into::into)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entries_of_a_granted_directory_are_counted() {
        let dir = tempfile::tempdir().unwrap();
        for number in 0..20 {
            StdFile::create(dir.path().join(number.to_string())).unwrap();
        }
        let granted = crate::host::open_dir(dir.path()).unwrap();
        // With `.` and `..`.
        assert_eq!(count(&granted, 100).unwrap(), 22);
        assert_eq!(count(&granted, 10).unwrap(), 10);
    }
}

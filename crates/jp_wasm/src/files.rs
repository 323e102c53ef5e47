//! The guest's view of files: WASI's own, with the holes closed.
//!
//! wasmtime's implementation opens FIFOs (and then waits for ever), lets a guest hold as many
//! descriptors as its table has room for, and reads directories of any size at once. This view
//! stands before it, opens without blocking, refuses everything but files and directories, counts
//! what is open, and hands the rest on.

use std::{
    any::Any,
    fs::File as StdFile,
    os::unix::fs::FileTypeExt,
    sync::{Arc, Weak},
};

use cap_fs_ext::{OpenOptionsFollowExt, OpenOptionsMaybeDirExt, OpenOptionsSyncExt};
use cap_primitives::fs::{FollowSymlinks, OpenOptions};
use wasmtime::component::{HasData, Resource};
use wasmtime_wasi::{
    FsPerms, OpenMode,
    filesystem::{Descriptor, Dir, File, WasiFilesystemCtxView},
    p2::{
        FsError, FsResult,
        bindings::filesystem::types::{
            self, DescriptorFlags, ErrorCode, HostDescriptor as _, HostDirectoryEntryStream,
            OpenFlags, PathFlags,
        },
    },
};

mod delegate;

/// Entries of one directory that are read at once. wasmtime reads and stats them all before the
/// guest sees the first, so this bounds both memory and time.
const MAX_ENTRIES: usize = 200_000;

/// Directories smaller than this cannot hold [`MAX_ENTRIES`] entries and are not counted first.
const COUNT_FROM_BYTES: u64 = 1024 * 1024;

/// A directory of the host that a guest sees, opened once and shared by calls.
#[derive(Clone)]
pub(crate) struct Mount {
    pub(crate) guest_path: String,
    pub(crate) dir: Dir,
}

impl Mount {
    pub(crate) fn new(guest_path: String, handle: StdFile, perms: FsPerms) -> Self {
        let mode = match perms {
            FsPerms::ReadOnly => OpenMode::READ,
            FsPerms::ReadWrite => OpenMode::READ | OpenMode::WRITE,
        };
        Self {
            guest_path,
            dir: Dir::new(handle, perms, mode, true),
        }
    }
}

/// What a guest may open and how much of it is open.
#[derive(Default)]
pub(crate) struct OpenFiles {
    pub(crate) mounts: Vec<Mount>,
    pub(crate) limit: usize,
    // Streams keep a file open after its descriptor is gone, so the files themselves are counted.
    open: Vec<Weak<dyn Any + Send + Sync>>,
    // A listing holds no file open, but all of its entries in the host's memory.
    listings: usize,
}

impl OpenFiles {
    fn check_room(&mut self) -> Result<(), ErrorCode> {
        if self.open.len() >= self.limit {
            self.open.retain(|file| file.strong_count() > 0);
        }
        if self.open.len() >= self.limit {
            Err(ErrorCode::Quota)
        } else {
            Ok(())
        }
    }

    fn count(&mut self, descriptor: &Descriptor) {
        let handle = match descriptor {
            Descriptor::File(file) => Arc::downgrade(&file.file),
            Descriptor::Dir(dir) => Arc::downgrade(&dir.dir),
        };
        self.open.push(handle);
    }
}

/// Says what the file functions of the linker work on.
pub(crate) struct HasGuestFiles;

impl HasData for HasGuestFiles {
    type Data<'a> = GuestFiles<'a>;
}

/// The files of one guest during one host call.
pub(crate) struct GuestFiles<'a> {
    pub(crate) wasi: WasiFilesystemCtxView<'a>,
    pub(crate) files: &'a mut OpenFiles,
}

impl GuestFiles<'_> {
    fn preopens(&mut self) -> wasmtime::Result<Vec<(Resource<Descriptor>, String)>> {
        let mut all = Vec::with_capacity(self.files.mounts.len());
        for mount in &self.files.mounts {
            let descriptor = self.wasi.table.push(Descriptor::Dir(mount.dir.clone()))?;
            all.push((descriptor, mount.guest_path.clone()));
        }
        Ok(all)
    }

    fn open(
        &mut self,
        fd: &Resource<Descriptor>,
        path: &str,
        follow: PathFlags,
        oflags: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<Resource<Descriptor>> {
        let (options, mode) = open_options(follow, oflags, flags)?;
        self.files.check_room()?;
        let directory = oflags.contains(OpenFlags::DIRECTORY);
        let descriptor = open_in(self.dir(fd)?, path, &options, mode, directory)?;
        self.files.count(&descriptor);
        Ok(self.wasi.table.push(descriptor)?)
    }

    fn dir(&self, fd: &Resource<Descriptor>) -> FsResult<&Dir> {
        match self.wasi.table.get(fd)? {
            Descriptor::Dir(dir) => Ok(dir),
            Descriptor::File(_) => Err(ErrorCode::NotDirectory.into()),
        }
    }

    async fn read_directory(
        &mut self,
        fd: Resource<Descriptor>,
    ) -> FsResult<Resource<types::DirectoryEntryStream>> {
        if self.files.listings >= self.files.limit {
            return Err(ErrorCode::Quota.into());
        }
        check_entries(&self.dir(&fd)?.dir)?;
        let listing = self.wasi.read_directory(fd).await?;
        self.files.listings += 1;
        Ok(listing)
    }

    fn drop_listing(
        &mut self,
        listing: Resource<types::DirectoryEntryStream>,
    ) -> wasmtime::Result<()> {
        self.files.listings = self.files.listings.saturating_sub(1);
        HostDirectoryEntryStream::drop(&mut self.wasi, listing)
    }
}

/// Opens a path below a directory: never outside it, never blocking, only files and directories.
fn open_in(
    dir: &Dir,
    path: &str,
    options: &OpenOptions,
    mode: OpenMode,
    directory: bool,
) -> Result<Descriptor, FsError> {
    if dir.perms.write_not_permitted() && mode.contains(OpenMode::WRITE) {
        return Err(ErrorCode::NotPermitted.into());
    }
    let opened = cap_primitives::fs::open(&dir.dir, path.as_ref(), options)?;
    let kind = opened.metadata()?.file_type();
    if kind.is_dir() {
        return Ok(Descriptor::Dir(Dir::new(opened, dir.perms, mode, true)));
    }
    if directory {
        return Err(ErrorCode::NotDirectory.into());
    }
    if kind.is_file() {
        return Ok(Descriptor::File(File::new(opened, dir.perms, mode, true)));
    }
    // A FIFO could keep a worker waiting for ever; a device is not the workspace's to give.
    debug_assert!(
        kind.is_fifo() || kind.is_socket() || kind.is_char_device() || kind.is_block_device()
    );
    Err(ErrorCode::NotPermitted.into())
}

/// Translates the flags of `open-at`, as wasmtime does, and adds "do not block".
fn open_options(
    follow: PathFlags,
    oflags: OpenFlags,
    flags: DescriptorFlags,
) -> Result<(OpenOptions, OpenMode), ErrorCode> {
    let sync = DescriptorFlags::FILE_INTEGRITY_SYNC
        | DescriptorFlags::DATA_INTEGRITY_SYNC
        | DescriptorFlags::REQUESTED_WRITE_SYNC;
    if flags.intersects(sync) {
        return Err(ErrorCode::Unsupported);
    }
    let changing = OpenFlags::CREATE | OpenFlags::EXCLUSIVE | OpenFlags::TRUNCATE;
    if oflags.contains(OpenFlags::DIRECTORY) && oflags.intersects(changing) {
        return Err(ErrorCode::Invalid);
    }
    let write = flags.contains(DescriptorFlags::WRITE)
        || oflags.intersects(OpenFlags::CREATE | OpenFlags::TRUNCATE);
    let read = flags.contains(DescriptorFlags::READ) || !flags.contains(DescriptorFlags::WRITE);
    let mut options = OpenOptions::new();
    options
        .read(read)
        .write(write)
        .maybe_dir(true)
        .nonblock(true);
    options.truncate(oflags.contains(OpenFlags::TRUNCATE));
    if oflags.contains(OpenFlags::CREATE) {
        let new = oflags.contains(OpenFlags::EXCLUSIVE);
        options.create(!new).create_new(new);
    }
    options.follow(if follow.contains(PathFlags::SYMLINK_FOLLOW) {
        FollowSymlinks::Yes
    } else {
        FollowSymlinks::No
    });
    let mut mode = OpenMode::empty();
    mode.set(OpenMode::READ, read);
    mode.set(OpenMode::WRITE, write);
    Ok((options, mode))
}

/// Refuses a directory with too many entries.
fn check_entries(dir: &StdFile) -> Result<(), FsError> {
    if dir.metadata()?.len() < COUNT_FROM_BYTES {
        return Ok(());
    }
    let entries = rustix::fs::Dir::read_from(dir).map_err(std::io::Error::from)?;
    if entries.take(MAX_ENTRIES + 1).count() > MAX_ENTRIES {
        return Err(ErrorCode::Overflow.into());
    }
    Ok(())
}

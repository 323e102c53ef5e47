//! The guest's view of files: WASI's own, with the holes closed.
//!
//! wasmtime's implementation opens FIFOs (and then waits for ever), lets a guest hold as many
//! descriptors as its table has room for, and reads directories of any size at once. This view
//! stands before it, opens without blocking, refuses everything but files and directories, counts
//! what is open, and hands the rest on.

use std::{
    any::Any,
    collections::BTreeMap,
    fs::File as StdFile,
    sync::{Arc, Weak},
};

use wasmtime::component::{HasData, Resource};
use wasmtime_wasi::{
    FsPerms, OpenMode,
    filesystem::{Descriptor, Dir, File, WasiFilesystemCtxView},
    p2::{
        FsResult,
        bindings::filesystem::types::{
            DescriptorFlags, DescriptorStat, ErrorCode, OpenFlags, PathFlags,
        },
    },
};

mod chosen;
mod counted;
mod delegate;
mod listing;
mod open;
mod quota;

use self::open::{as_descriptor, open_options};
pub(crate) use chosen::{Chosen, no_file};
pub(crate) use quota::Quota;
pub use quota::TempQuota;

/// A directory that a guest sees, opened once and shared by calls.
#[derive(Clone)]
pub(crate) struct Mount {
    pub(crate) guest_path: String,
    pub(crate) descriptor: Descriptor,
    pub(crate) behind: Option<Behind>,
}

/// What makes a directory other than one of the host's, as it is.
#[derive(Clone)]
pub(crate) enum Behind {
    /// It holds one chosen file.
    Chosen(Arc<Chosen>),
    /// What it holds is counted.
    Counted(Arc<Quota>),
}

impl Mount {
    pub(crate) fn new(guest_path: String, handle: StdFile, perms: FsPerms) -> Self {
        let mode = match perms {
            FsPerms::ReadOnly => OpenMode::READ,
            FsPerms::ReadWrite => OpenMode::READ | OpenMode::WRITE,
        };
        Self {
            guest_path,
            descriptor: Descriptor::Dir(Dir::new(handle, perms, mode, true)),
            behind: None,
        }
    }

    pub(crate) fn perms(&self) -> FsPerms {
        match &self.descriptor {
            Descriptor::Dir(dir) => dir.perms,
            Descriptor::File(file) => file.perms,
        }
    }

    pub(crate) fn into_handle(self) -> Arc<StdFile> {
        match self.descriptor {
            Descriptor::Dir(dir) => dir.dir,
            Descriptor::File(file) => file.file,
        }
    }
}

/// What a guest may open and how much of it is open.
#[derive(Default)]
pub(crate) struct OpenFiles {
    pub(crate) mounts: Vec<Mount>,
    pub(crate) limit: usize,
    /// Whether the guest may have changed a file or a directory of the host.
    pub(crate) changed: bool,
    /// Whether the guest has no clocks, so that files must not tell it the time either.
    pub(crate) timeless: bool,
    // By the number of the descriptor; those of plain directories are not in here. Most guests have
    // none, and an empty map of this kind needs no random numbers.
    behind: BTreeMap<u32, Behind>,
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
            let descriptor = self.wasi.table.push(mount.descriptor.clone())?;
            if let Some(behind) = &mount.behind {
                let behind = behind.clone();
                self.files.behind.insert(descriptor.rep(), behind);
            }
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
        self.files.changed |= mode.contains(OpenMode::WRITE);
        let behind = self.files.behind.get(&fd.rep()).cloned();
        if let Some(Behind::Chosen(chosen)) = &behind {
            return self.open_chosen(chosen, path, oflags, mode);
        }
        let dir = self.dir(fd)?;
        if dir.perms.write_not_permitted() && mode.contains(OpenMode::WRITE) {
            return Err(ErrorCode::NotPermitted.into());
        }
        let descriptor = if let Some(Behind::Counted(quota)) = &behind {
            quota.open(dir, path, &options, oflags, mode)?
        } else {
            let opened = cap_primitives::fs::open(&dir.dir, path.as_ref(), &options)?;
            as_descriptor(opened, dir, mode, oflags.contains(OpenFlags::DIRECTORY))?
        };
        self.files.count(&descriptor);
        self.push(descriptor, behind)
    }

    fn push(
        &mut self,
        descriptor: Descriptor,
        behind: Option<Behind>,
    ) -> FsResult<Resource<Descriptor>> {
        let fd = self.wasi.table.push(descriptor)?;
        if let Some(behind) = behind {
            self.files.behind.insert(fd.rep(), behind);
        }
        Ok(fd)
    }

    /// Returns the chosen file when a descriptor is the directory it is in.
    fn chosen(&self, fd: &Resource<Descriptor>) -> Option<Arc<Chosen>> {
        match self.files.behind.get(&fd.rep()) {
            Some(Behind::Chosen(chosen)) => Some(Arc::clone(chosen)),
            _ => None,
        }
    }

    /// Refuses what cannot be done with the directory of a chosen file.
    fn refuse_chosen(&self, fd: &Resource<Descriptor>, why: ErrorCode) -> FsResult<()> {
        match self.chosen(fd) {
            Some(_) => Err(why.into()),
            None => Ok(()),
        }
    }

    fn quota(&self, fd: &Resource<Descriptor>) -> Option<Arc<Quota>> {
        match self.files.behind.get(&fd.rep()) {
            Some(Behind::Counted(quota)) => Some(Arc::clone(quota)),
            _ => None,
        }
    }

    /// Returns the quota that both directories share, if any. Between others nothing can be moved
    /// or linked, as between two disks: it would be counted wrong.
    fn shared_quota(
        &mut self,
        old: &Resource<Descriptor>,
        new: &Resource<Descriptor>,
    ) -> FsResult<Option<Arc<Quota>>> {
        self.files.changed = true;
        for fd in [old, new] {
            self.refuse_chosen(fd, ErrorCode::NotPermitted)?;
        }
        match (self.quota(old), self.quota(new)) {
            (None, None) => Ok(None),
            (Some(old), Some(new)) if Arc::ptr_eq(&old, &new) => Ok(Some(old)),
            _ => Err(ErrorCode::CrossDevice.into()),
        }
    }

    /// Returns what the guest may know about a file.
    fn told(&self, mut stat: DescriptorStat) -> DescriptorStat {
        if self.files.timeless {
            stat.data_access_timestamp = None;
            stat.data_modification_timestamp = None;
            stat.status_change_timestamp = None;
        }
        stat
    }

    fn file(&self, fd: &Resource<Descriptor>) -> FsResult<&File> {
        match self.wasi.table.get(fd)? {
            Descriptor::File(file) => Ok(file),
            Descriptor::Dir(_) => Err(ErrorCode::BadDescriptor.into()),
        }
    }

    fn dir(&self, fd: &Resource<Descriptor>) -> FsResult<&Dir> {
        match self.wasi.table.get(fd)? {
            Descriptor::Dir(dir) => Ok(dir),
            Descriptor::File(_) => Err(ErrorCode::NotDirectory.into()),
        }
    }
}

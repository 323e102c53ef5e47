//! The functions of `wasi:filesystem`, each sent to what answers it: a chosen file, a quota, or
//! straight to wasmtime.
//!
//! Behaviour belongs into `files.rs` and beside this file; this one only translates.

use std::sync::Arc;

use wasmtime::component::Resource;
use wasmtime_wasi::{
    filesystem::Descriptor,
    p2::{
        DynInputStream, DynOutputStream, FsError, FsResult,
        bindings::filesystem::{
            preopens,
            types::{self, ErrorCode, Filesize, HostDescriptor, NewTimestamp},
        },
    },
};

use super::{GuestFiles, chosen::DIRECTORY};

type Fd = Resource<Descriptor>;

impl preopens::Host for GuestFiles<'_> {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Fd, String)>> {
        self.preopens()
    }
}

impl types::Host for GuestFiles<'_> {
    fn convert_error_code(&mut self, error: FsError) -> wasmtime::Result<ErrorCode> {
        self.wasi.convert_error_code(error)
    }

    fn filesystem_error_code(
        &mut self,
        error: Resource<wasmtime::Error>,
    ) -> wasmtime::Result<Option<ErrorCode>> {
        self.wasi.filesystem_error_code(error)
    }
}

impl HostDescriptor for GuestFiles<'_> {
    async fn open_at(
        &mut self,
        fd: Fd,
        path_flags: types::PathFlags,
        path: String,
        oflags: types::OpenFlags,
        flags: types::DescriptorFlags,
    ) -> FsResult<Fd> {
        self.open(&fd, &path, path_flags, oflags, flags)
    }

    async fn read_directory(&mut self, fd: Fd) -> FsResult<Resource<types::DirectoryEntryStream>> {
        self.list(fd).await
    }

    async fn advise(
        &mut self,
        fd: Fd,
        offset: Filesize,
        len: Filesize,
        advice: types::Advice,
    ) -> FsResult<()> {
        self.refuse_chosen(&fd, ErrorCode::BadDescriptor)?;
        self.wasi.advise(fd, offset, len, advice).await
    }

    async fn sync_data(&mut self, fd: Fd) -> FsResult<()> {
        if self.chosen(&fd).is_some() {
            return Ok(());
        }
        self.wasi.sync_data(fd).await
    }

    async fn get_flags(&mut self, fd: Fd) -> FsResult<types::DescriptorFlags> {
        if self.chosen(&fd).is_some() {
            return Ok(types::DescriptorFlags::READ);
        }
        self.wasi.get_flags(fd).await
    }

    async fn get_type(&mut self, fd: Fd) -> FsResult<types::DescriptorType> {
        if self.chosen(&fd).is_some() {
            return Ok(types::DescriptorType::Directory);
        }
        self.wasi.get_type(fd).await
    }

    async fn set_size(&mut self, fd: Fd, size: Filesize) -> FsResult<()> {
        self.refuse_chosen(&fd, ErrorCode::BadDescriptor)?;
        if let Some(quota) = self.quota(&fd) {
            let file = self.writable(&fd)?;
            return Ok(quota.set_size(file, size)?);
        }
        self.wasi.set_size(fd, size).await
    }

    async fn set_times(&mut self, fd: Fd, atim: NewTimestamp, mtim: NewTimestamp) -> FsResult<()> {
        self.files.changed = true;
        self.refuse_chosen(&fd, ErrorCode::NotPermitted)?;
        self.wasi.set_times(fd, atim, mtim).await
    }

    async fn read(&mut self, fd: Fd, len: Filesize, offset: Filesize) -> FsResult<(Vec<u8>, bool)> {
        self.refuse_chosen(&fd, ErrorCode::BadDescriptor)?;
        self.wasi.read(fd, len, offset).await
    }

    async fn write(&mut self, fd: Fd, buf: Vec<u8>, offset: Filesize) -> FsResult<Filesize> {
        self.refuse_chosen(&fd, ErrorCode::BadDescriptor)?;
        if let Some(quota) = self.quota(&fd) {
            let file = self.writable(&fd)?;
            return Ok(quota.write(file, &buf, offset)? as u64);
        }
        self.wasi.write(fd, buf, offset).await
    }

    async fn sync(&mut self, fd: Fd) -> FsResult<()> {
        if self.chosen(&fd).is_some() {
            return Ok(());
        }
        self.wasi.sync(fd).await
    }

    async fn create_directory_at(&mut self, fd: Fd, path: String) -> FsResult<()> {
        self.files.changed = true;
        self.refuse_chosen(&fd, ErrorCode::NotPermitted)?;
        if let Some(quota) = self.quota(&fd) {
            return Ok(quota.create_dir(self.dir(&fd)?, &path)?);
        }
        self.wasi.create_directory_at(fd, path).await
    }

    async fn stat(&mut self, fd: Fd) -> FsResult<types::DescriptorStat> {
        if self.chosen(&fd).is_some() {
            return Ok(DIRECTORY);
        }
        let stat = self.wasi.stat(fd).await?;
        Ok(self.told(stat))
    }

    async fn stat_at(
        &mut self,
        fd: Fd,
        flags: types::PathFlags,
        path: String,
    ) -> FsResult<types::DescriptorStat> {
        let stat = match self.chosen(&fd) {
            Some(chosen) => self.stat_chosen(&chosen, &path).await?,
            None => self.wasi.stat_at(fd, flags, path).await?,
        };
        Ok(self.told(stat))
    }

    async fn set_times_at(
        &mut self,
        fd: Fd,
        flags: types::PathFlags,
        path: String,
        atim: NewTimestamp,
        mtim: NewTimestamp,
    ) -> FsResult<()> {
        self.files.changed = true;
        self.refuse_chosen(&fd, ErrorCode::NotPermitted)?;
        self.wasi.set_times_at(fd, flags, path, atim, mtim).await
    }

    async fn link_at(
        &mut self,
        fd: Fd,
        flags: types::PathFlags,
        old: String,
        new_fd: Fd,
        new: String,
    ) -> FsResult<()> {
        if let Some(quota) = self.shared_quota(&fd, &new_fd)? {
            if flags.contains(types::PathFlags::SYMLINK_FOLLOW) {
                return Err(ErrorCode::Invalid.into());
            }
            let (old_dir, new_dir) = (self.dir(&fd)?, self.dir(&new_fd)?);
            return Ok(quota.link((old_dir, &old), (new_dir, &new))?);
        }
        self.wasi.link_at(fd, flags, old, new_fd, new).await
    }

    async fn readlink_at(&mut self, fd: Fd, path: String) -> FsResult<String> {
        if let Some(chosen) = self.chosen(&fd) {
            chosen.find(&path)?;
            return Err(ErrorCode::Invalid.into());
        }
        self.wasi.readlink_at(fd, path).await
    }

    async fn remove_directory_at(&mut self, fd: Fd, path: String) -> FsResult<()> {
        self.files.changed = true;
        self.refuse_chosen(&fd, ErrorCode::NotPermitted)?;
        if let Some(quota) = self.quota(&fd) {
            return Ok(quota.remove_dir(self.dir(&fd)?, &path)?);
        }
        self.wasi.remove_directory_at(fd, path).await
    }

    async fn rename_at(&mut self, fd: Fd, old: String, new_fd: Fd, new: String) -> FsResult<()> {
        if let Some(quota) = self.shared_quota(&fd, &new_fd)? {
            let (old_dir, new_dir) = (self.dir(&fd)?, self.dir(&new_fd)?);
            return Ok(quota.rename((old_dir, &old), (new_dir, &new))?);
        }
        self.wasi.rename_at(fd, old, new_fd, new).await
    }

    async fn symlink_at(&mut self, fd: Fd, src: String, dest: String) -> FsResult<()> {
        self.files.changed = true;
        self.refuse_chosen(&fd, ErrorCode::NotPermitted)?;
        if let Some(quota) = self.quota(&fd) {
            return Ok(quota.symlink(&src, self.dir(&fd)?, &dest)?);
        }
        self.wasi.symlink_at(fd, src, dest).await
    }

    async fn unlink_file_at(&mut self, fd: Fd, path: String) -> FsResult<()> {
        self.files.changed = true;
        self.refuse_chosen(&fd, ErrorCode::NotPermitted)?;
        if let Some(quota) = self.quota(&fd) {
            return Ok(quota.remove_file(self.dir(&fd)?, &path)?);
        }
        self.wasi.unlink_file_at(fd, path).await
    }

    fn read_via_stream(&mut self, fd: Fd, offset: Filesize) -> FsResult<Resource<DynInputStream>> {
        self.refuse_chosen(&fd, ErrorCode::IsDirectory)?;
        self.wasi.read_via_stream(fd, offset)
    }

    fn write_via_stream(
        &mut self,
        fd: Fd,
        offset: Filesize,
    ) -> FsResult<Resource<DynOutputStream>> {
        self.refuse_chosen(&fd, ErrorCode::BadDescriptor)?;
        match self.counted_stream(&fd, Some(offset))? {
            Some(stream) => Ok(stream),
            None => self.wasi.write_via_stream(fd, offset),
        }
    }

    fn append_via_stream(&mut self, fd: Fd) -> FsResult<Resource<DynOutputStream>> {
        self.refuse_chosen(&fd, ErrorCode::BadDescriptor)?;
        match self.counted_stream(&fd, None)? {
            Some(stream) => Ok(stream),
            None => self.wasi.append_via_stream(fd),
        }
    }

    async fn is_same_object(&mut self, a: Fd, b: Fd) -> wasmtime::Result<bool> {
        match (self.chosen(&a), self.chosen(&b)) {
            (None, None) => {}
            (Some(a), Some(b)) => return Ok(Arc::ptr_eq(&a, &b)),
            _ => return Ok(false),
        }
        self.wasi.is_same_object(a, b).await
    }

    async fn metadata_hash(&mut self, fd: Fd) -> FsResult<types::MetadataHashValue> {
        match self.chosen(&fd) {
            Some(chosen) => self.hash_chosen(&chosen, ".").await,
            None => self.wasi.metadata_hash(fd).await,
        }
    }

    async fn metadata_hash_at(
        &mut self,
        fd: Fd,
        flags: types::PathFlags,
        path: String,
    ) -> FsResult<types::MetadataHashValue> {
        match self.chosen(&fd) {
            Some(chosen) => self.hash_chosen(&chosen, &path).await,
            None => self.wasi.metadata_hash_at(fd, flags, path).await,
        }
    }

    fn drop(&mut self, fd: Fd) -> wasmtime::Result<()> {
        self.files.behind.remove(&fd.rep());
        HostDescriptor::drop(&mut self.wasi, fd)
    }
}

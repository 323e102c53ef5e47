//! The functions that take a path, which always leads from a directory that the guest holds.

use wasmtime_wasi::p2::bindings::filesystem::types::{
    DescriptorFlags, DescriptorType, HostDescriptor, OpenFlags, PathFlags,
};

use super::{
    Call,
    errno::Answer,
    fds::{Directory, Fd, File, Handle, lend},
    status::{APPEND, FD_READ, FD_WRITE, Filestat, NONBLOCK, new_times},
};

impl Call<'_> {
    fn directory(&mut self, fd: u32) -> Answer<Handle> {
        Ok(lend(&self.fds()?.directory(fd)?.handle))
    }

    /// Reads a directory and a path that leads on from there.
    fn from(&mut self, fd: u32, path: u32, len: u32) -> Answer<(Handle, String)> {
        Ok((self.directory(fd)?, self.memory.path(path, len)?))
    }

    #[expect(clippy::too_many_arguments, reason = "preview 1 has them")]
    pub(super) async fn path_open(
        &mut self,
        fd: u32,
        lookup: u32,
        path: u32,
        len: u32,
        how: u32,
        rights: u64,
        _inheriting: u64,
        flags: u32,
        at: u32,
    ) -> Answer {
        let (directory, path) = self.from(fd, path, len)?;
        let (how, wanted) = (open_flags(how), descriptor_flags(rights, flags));
        let mut files = self.state.guest_files();
        let opened = files.open_at(directory, follow(lookup), path, how, wanted);
        let handle = opened.await?;
        let opened = match files.get_type(lend(&handle)).await? {
            DescriptorType::Directory => Fd::Directory(Directory {
                handle,
                granted: None,
                listing: None,
            }),
            _ => Fd::File(File {
                handle,
                position: 0,
                flags: u16::try_from(flags).unwrap_or_default() & (APPEND | NONBLOCK),
            }),
        };
        let number = self.fds()?.insert(opened);
        self.memory.put_u32(at, number)
    }

    pub(super) async fn path_create_directory(&mut self, fd: u32, path: u32, len: u32) -> Answer {
        let (directory, path) = self.from(fd, path, len)?;
        let mut files = self.state.guest_files();
        Ok(files.create_directory_at(directory, path).await?)
    }

    pub(super) async fn path_remove_directory(&mut self, fd: u32, path: u32, len: u32) -> Answer {
        let (directory, path) = self.from(fd, path, len)?;
        let mut files = self.state.guest_files();
        Ok(files.remove_directory_at(directory, path).await?)
    }

    pub(super) async fn path_unlink_file(&mut self, fd: u32, path: u32, len: u32) -> Answer {
        let (directory, path) = self.from(fd, path, len)?;
        let mut files = self.state.guest_files();
        Ok(files.unlink_file_at(directory, path).await?)
    }

    pub(super) async fn path_filestat_get(
        &mut self,
        fd: u32,
        flags: u32,
        path: u32,
        len: u32,
        at: u32,
    ) -> Answer {
        let (directory, path) = self.from(fd, path, len)?;
        let mut files = self.state.guest_files();
        let stat = files.stat_at(lend(&directory), follow(flags), path.clone());
        let stat = stat.await?;
        let hash = files.metadata_hash_at(directory, follow(flags), path).await;
        let found = Filestat::new(&stat, hash?.lower)?;
        self.memory.put(at, found.bytes())
    }

    #[expect(clippy::too_many_arguments, reason = "preview 1 has them")]
    pub(super) async fn path_filestat_set_times(
        &mut self,
        fd: u32,
        flags: u32,
        path: u32,
        len: u32,
        accessed: u64,
        modified: u64,
        set: u32,
    ) -> Answer {
        let (accessed, modified) = new_times(accessed, modified, set)?;
        let (directory, path) = self.from(fd, path, len)?;
        let mut files = self.state.guest_files();
        let done = files.set_times_at(directory, follow(flags), path, accessed, modified);
        Ok(done.await?)
    }

    #[expect(clippy::too_many_arguments, reason = "preview 1 has them")]
    pub(super) async fn path_link(
        &mut self,
        fd: u32,
        flags: u32,
        path: u32,
        len: u32,
        new_fd: u32,
        new_path: u32,
        new_len: u32,
    ) -> Answer {
        let (old, old_path) = self.from(fd, path, len)?;
        let (new, new_path) = self.from(new_fd, new_path, new_len)?;
        let mut files = self.state.guest_files();
        let done = files.link_at(old, follow(flags), old_path, new, new_path);
        Ok(done.await?)
    }

    pub(super) async fn path_rename(
        &mut self,
        fd: u32,
        path: u32,
        len: u32,
        new_fd: u32,
        new_path: u32,
        new_len: u32,
    ) -> Answer {
        let (old, old_path) = self.from(fd, path, len)?;
        let (new, new_path) = self.from(new_fd, new_path, new_len)?;
        let mut files = self.state.guest_files();
        Ok(files.rename_at(old, old_path, new, new_path).await?)
    }

    pub(super) async fn path_symlink(
        &mut self,
        target: u32,
        target_len: u32,
        fd: u32,
        path: u32,
        len: u32,
    ) -> Answer {
        let target = self.memory.path(target, target_len)?;
        let (directory, path) = self.from(fd, path, len)?;
        let mut files = self.state.guest_files();
        Ok(files.symlink_at(directory, target, path).await?)
    }

    pub(super) async fn path_readlink(
        &mut self,
        fd: u32,
        path: u32,
        len: u32,
        at: u32,
        room: u32,
        size: u32,
    ) -> Answer {
        let (directory, path) = self.from(fd, path, len)?;
        let target = self
            .state
            .guest_files()
            .readlink_at(directory, path)
            .await?;
        // As everywhere, what does not fit is left out, and a guest with a full buffer asks again.
        let part = target.as_bytes();
        let part = part.get(..room as usize).unwrap_or(part);
        self.memory.put(at, part)?;
        // No more than `room`.
        let done = u32::try_from(part.len()).unwrap_or(room);
        self.memory.put_u32(size, done)
    }
}

fn follow(flags: u32) -> PathFlags {
    if flags & 1 == 1 {
        PathFlags::SYMLINK_FOLLOW
    } else {
        PathFlags::empty()
    }
}

fn open_flags(how: u32) -> OpenFlags {
    let known = [
        OpenFlags::CREATE,
        OpenFlags::DIRECTORY,
        OpenFlags::EXCLUSIVE,
        OpenFlags::TRUNCATE,
    ];
    let set = (0..).zip(known).filter(|(bit, _)| how >> bit & 1 == 1);
    set.fold(OpenFlags::empty(), |all, (_, one)| all | one)
}

/// Returns what a descriptor is for. Whatever else the rights say is decided when it is done.
fn descriptor_flags(rights: u64, flags: u32) -> DescriptorFlags {
    let known = [
        (rights & FD_READ != 0, DescriptorFlags::READ),
        (rights & FD_WRITE != 0, DescriptorFlags::WRITE),
        (flags & 2 != 0, DescriptorFlags::DATA_INTEGRITY_SYNC),
        (flags & 8 != 0, DescriptorFlags::REQUESTED_WRITE_SYNC),
        (flags & 16 != 0, DescriptorFlags::FILE_INTEGRITY_SYNC),
    ];
    let set = known.into_iter().filter(|(set, _)| *set);
    set.fold(DescriptorFlags::empty(), |all, (_, one)| all | one)
}

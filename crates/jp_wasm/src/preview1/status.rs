//! What is known about open files and directories, and what can be set; and closing them.

use wasmtime_wasi::p2::bindings::filesystem::types::{
    Advice, Datetime, DescriptorFlags, DescriptorStat, HostDescriptor, HostDirectoryEntryStream,
    NewTimestamp,
};

use super::{
    Call,
    errno::{Answer, DIRECTORY, Errno, filetype},
    fds::{Directory, Fd, File, Handle, lend},
};
use crate::files::GuestFiles;

/// The flags of a descriptor that can be changed.
pub(super) const APPEND: u16 = 1;
pub(super) const NONBLOCK: u16 = 4;

/// The rights to read and to write.
pub(super) const FD_READ: u64 = 1 << 1;
pub(super) const FD_WRITE: u64 = 1 << 6;

/// All rights that have to do with files: `fd_datasync` to `fd_allocate`, the three of
/// `fd_filestat` and `poll_fd_readwrite`.
const FILE_RIGHTS: u64 = 0x1ff | 0x7 << 21 | 1 << 27;

/// All rights that have to do with directories: `path_create_directory` to `path_filestat_get` and
/// the like. C libraries ask for no more than these say; what is allowed is decided when something
/// is done.
const DIRECTORY_RIGHTS: u64 = 0x3ff << 9 | 1 << 20 | 1 << 21 | 1 << 23 | 0x7 << 24;

/// What preview 1 reports about a file, as bytes.
pub(super) struct Filestat([u8; 64]);

impl Filestat {
    pub(super) fn new(stat: &DescriptorStat, identity: u64) -> Answer<Self> {
        let mut bytes = [0; 64];
        let (words, _) = bytes.as_chunks_mut::<8>();
        let values = [
            1,
            identity,
            filetype(stat.type_).into(),
            stat.link_count,
            stat.size,
            nanoseconds(stat.data_access_timestamp)?,
            nanoseconds(stat.data_modification_timestamp)?,
            nanoseconds(stat.status_change_timestamp)?,
        ];
        for (word, value) in words.iter_mut().zip(values) {
            *word = value.to_le_bytes();
        }
        Ok(Self(bytes))
    }

    pub(super) const fn bytes(&self) -> &[u8] {
        &self.0
    }
}

fn nanoseconds(time: Option<Datetime>) -> Answer<u64> {
    let Some(time) = time else { return Ok(0) };
    let whole = time.seconds.checked_mul(1_000_000_000);
    let all = whole.and_then(|n| n.checked_add(time.nanoseconds.into()));
    Ok(all.ok_or(Errno::OVERFLOW)?)
}

/// Reads which time to set: the one given, the one it is, or none.
pub(super) fn new_times(
    accessed: u64,
    modified: u64,
    flags: u32,
) -> Answer<(NewTimestamp, NewTimestamp)> {
    let one = |time: u64, flags: u32| match flags & 3 {
        0 => Ok(NewTimestamp::NoChange),
        1 => Ok(NewTimestamp::Timestamp(Datetime {
            seconds: time / 1_000_000_000,
            nanoseconds: u32::try_from(time % 1_000_000_000).unwrap_or_default(),
        })),
        2 => Ok(NewTimestamp::Now),
        _ => Err(Errno::INVAL),
    };
    Ok((one(accessed, flags)?, one(modified, flags >> 2)?))
}

impl Call<'_> {
    /// Returns the handle of a file or directory.
    fn handle(&mut self, fd: u32) -> Answer<Handle> {
        match self.fds()?.get(fd)? {
            Fd::File(File { handle, .. }) | Fd::Directory(Directory { handle, .. }) => {
                Ok(lend(handle))
            }
            _ => Err(Errno::BADF.into()),
        }
    }

    pub(super) async fn fd_fdstat_get(&mut self, fd: u32, at: u32) -> Answer {
        let file = match self.fds()?.get(fd)? {
            Fd::Stdin => return self.put_fdstat(at, 0, 0, (FD_READ, FD_READ)),
            Fd::Stdout | Fd::Stderr => return self.put_fdstat(at, 0, 0, (FD_WRITE, FD_WRITE)),
            Fd::Directory(_) => {
                let rights = (DIRECTORY_RIGHTS, DIRECTORY_RIGHTS | FILE_RIGHTS);
                return self.put_fdstat(at, DIRECTORY, 0, rights);
            }
            Fd::File(file) => file,
        };
        let (handle, flags) = (lend(&file.handle), file.flags);
        let mut files = self.state.guest_files();
        let kind = filetype(files.get_type(lend(&handle)).await?);
        let can = files.get_flags(handle).await?;
        let mut rights = FILE_RIGHTS;
        if !can.contains(DescriptorFlags::READ) {
            rights &= !FD_READ;
        }
        if !can.contains(DescriptorFlags::WRITE) {
            rights &= !FD_WRITE;
        }
        self.put_fdstat(at, kind, flags, (rights, rights))
    }

    fn put_fdstat(&mut self, at: u32, kind: u8, flags: u16, rights: (u64, u64)) -> Answer {
        let place = self.memory.get_mut(at, 24)?;
        let first = u64::from(kind) | u64::from(flags) << 16;
        let words = [first, rights.0, rights.1];
        for (word, value) in place.as_chunks_mut::<8>().0.iter_mut().zip(words) {
            *word = value.to_le_bytes();
        }
        Ok(())
    }

    pub(super) fn fd_fdstat_set_flags(&mut self, fd: u32, flags: u32) -> Answer {
        let file = self.fds()?.file(fd)?;
        let flags = u16::try_from(flags).map_err(|_| Errno::INVAL)?;
        if flags & !(APPEND | NONBLOCK) != 0 {
            return Err(Errno::INVAL.into());
        }
        file.flags = flags;
        Ok(())
    }

    pub(super) fn fd_fdstat_set_rights(&mut self, fd: u32, _: u64, _: u64) -> Answer {
        self.handle(fd)?;
        Err(Errno::NOTSUP.into())
    }

    pub(super) async fn fd_filestat_get(&mut self, fd: u32, at: u32) -> Answer {
        if let Fd::Stdin | Fd::Stdout | Fd::Stderr = self.fds()?.get(fd)? {
            return self.memory.put(at, &[0; 64]);
        }
        let handle = self.handle(fd)?;
        let mut files = self.state.guest_files();
        let stat = files.stat(lend(&handle)).await?;
        let identity = files.metadata_hash(handle).await?.lower;
        let found = Filestat::new(&stat, identity)?;
        self.memory.put(at, found.bytes())
    }

    pub(super) async fn fd_filestat_set_size(&mut self, fd: u32, size: u64) -> Answer {
        let handle = lend(&self.fds()?.file(fd)?.handle);
        Ok(self.state.guest_files().set_size(handle, size).await?)
    }

    pub(super) async fn fd_filestat_set_times(
        &mut self,
        fd: u32,
        accessed: u64,
        modified: u64,
        flags: u32,
    ) -> Answer {
        let (accessed, modified) = new_times(accessed, modified, flags)?;
        let handle = self.handle(fd)?;
        let mut files = self.state.guest_files();
        Ok(files.set_times(handle, accessed, modified).await?)
    }

    pub(super) async fn fd_datasync(&mut self, fd: u32) -> Answer {
        let handle = self.handle(fd)?;
        Ok(self.state.guest_files().sync_data(handle).await?)
    }

    pub(super) async fn fd_sync(&mut self, fd: u32) -> Answer {
        let handle = self.handle(fd)?;
        Ok(self.state.guest_files().sync(handle).await?)
    }

    pub(super) async fn fd_advise(
        &mut self,
        fd: u32,
        offset: u64,
        len: u64,
        advice: u32,
    ) -> Answer {
        let advice = match advice {
            0 => Advice::Normal,
            1 => Advice::Sequential,
            2 => Advice::Random,
            3 => Advice::WillNeed,
            4 => Advice::DontNeed,
            5 => Advice::NoReuse,
            _ => return Err(Errno::INVAL.into()),
        };
        let handle = lend(&self.fds()?.file(fd)?.handle);
        let mut files = self.state.guest_files();
        Ok(files.advise(handle, offset, len, advice).await?)
    }

    pub(super) fn fd_allocate(&mut self, fd: u32, _: u64, _: u64) -> Answer {
        self.fds()?.file(fd)?;
        Err(Errno::NOTSUP.into())
    }

    pub(super) fn fd_prestat_get(&mut self, fd: u32, at: u32) -> Answer {
        let len = self.granted(fd)?.len();
        // The tag of a directory is 0.
        self.memory.put_u64(at, (len as u64) << 32)
    }

    pub(super) fn fd_prestat_dir_name(&mut self, fd: u32, at: u32, len: u32) -> Answer {
        let path = self.granted(fd)?;
        if path.len() > len as usize {
            return Err(Errno::NAMETOOLONG.into());
        }
        self.memory.put(at, path.as_bytes())
    }

    /// Returns the path of a granted directory. Guests ask for one number after the other until
    /// this is refused.
    fn granted(&mut self, fd: u32) -> Answer<String> {
        match self.fds()?.get(fd)? {
            Fd::Directory(Directory {
                granted: Some(path),
                ..
            }) => Ok(path.clone()),
            _ => Err(Errno::BADF.into()),
        }
    }

    pub(super) fn fd_close(&mut self, fd: u32) -> Answer {
        let closed = self.fds()?.remove(fd)?;
        close(&mut self.state.guest_files(), closed)
    }

    pub(super) fn fd_renumber(&mut self, from: u32, to: u32) -> Answer {
        match self.fds()?.renumber(from, to)? {
            Some(replaced) => close(&mut self.state.guest_files(), replaced),
            None => Ok(()),
        }
    }
}

fn close(files: &mut GuestFiles<'_>, closed: Fd) -> Answer {
    let handle = match closed {
        Fd::Stdin | Fd::Stdout | Fd::Stderr => return Ok(()),
        Fd::File(file) => file.handle,
        Fd::Directory(Directory {
            handle, listing, ..
        }) => {
            if let Some(listing) = listing {
                HostDirectoryEntryStream::drop(files, listing.stream)?;
            }
            handle
        }
    };
    Ok(HostDescriptor::drop(files, handle)?)
}

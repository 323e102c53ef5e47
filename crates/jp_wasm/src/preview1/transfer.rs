//! Bytes in and out of streams and files, and the place in a file where that happens.

use bytes::Bytes;
use wasmtime_wasi::p2::bindings::filesystem::types::HostDescriptor;

use super::{
    Call,
    errno::{Answer, Errno},
    fds::{Fd, Handle, lend},
    memory::Pieces,
    status::APPEND,
};

/// Bytes that one call reads from a file or writes to one; it says how many it did.
const MAX_TRANSFER: usize = 1024 * 1024;

impl Call<'_> {
    pub(super) async fn fd_read(&mut self, fd: u32, list: u32, count: u32, size: u32) -> Answer {
        let pieces = self.memory.pieces(list, count)?;
        let read = match self.fds()?.get(fd)? {
            Fd::Stdin => {
                let stdin = &mut self.state.preview1.stdin;
                stdin.split_to(stdin.len().min(pieces.len()))
            }
            Fd::File(file) => {
                let (handle, position) = (lend(&file.handle), file.position);
                let read = self.read_file(handle, &pieces, position).await?;
                let file = self.fds()?.file(fd)?;
                file.position = position.saturating_add(read.len() as u64);
                read
            }
            Fd::Directory(_) => return Err(Errno::ISDIR.into()),
            Fd::Stdout | Fd::Stderr => return Err(Errno::BADF.into()),
        };
        let done = self.memory.scatter(&pieces, &read);
        self.memory.put_u32(size, done)
    }

    pub(super) async fn fd_pread(
        &mut self,
        fd: u32,
        list: u32,
        count: u32,
        offset: u64,
        size: u32,
    ) -> Answer {
        let pieces = self.memory.pieces(list, count)?;
        let handle = lend(&self.fds()?.file(fd)?.handle);
        let read = self.read_file(handle, &pieces, offset).await?;
        let done = self.memory.scatter(&pieces, &read);
        self.memory.put_u32(size, done)
    }

    async fn read_file(&mut self, handle: Handle, pieces: &Pieces, at: u64) -> Answer<Bytes> {
        let most = pieces.len().min(MAX_TRANSFER) as u64;
        let (read, _end) = self.state.guest_files().read(handle, most, at).await?;
        Ok(read.into())
    }

    pub(super) async fn fd_write(&mut self, fd: u32, list: u32, count: u32, size: u32) -> Answer {
        let pieces = self.memory.pieces(list, count)?;
        let done = match self.fds()?.get(fd)? {
            Fd::Stdout => self.print(&pieces, |made| &made.stdout)?,
            Fd::Stderr => self.print(&pieces, |made| &made.stderr)?,
            Fd::Stdin => return Err(Errno::BADF.into()),
            Fd::Directory(_) => return Err(Errno::ISDIR.into()),
            Fd::File(file) => {
                let (handle, position) = (lend(&file.handle), file.position);
                let appends = file.flags & APPEND != 0;
                let end = self.write_file(handle, &pieces, at(appends, position));
                let (done, end) = end.await?;
                self.fds()?.file(fd)?.position = end;
                done
            }
        };
        self.memory.put_u32(size, done)
    }

    pub(super) async fn fd_pwrite(
        &mut self,
        fd: u32,
        list: u32,
        count: u32,
        offset: u64,
        size: u32,
    ) -> Answer {
        let pieces = self.memory.pieces(list, count)?;
        let file = self.fds()?.file(fd)?;
        let (handle, appends) = (lend(&file.handle), file.flags & APPEND != 0);
        // As on Linux, a file that is appended to is appended to.
        let written = self.write_file(handle, &pieces, at(appends, offset));
        let (done, _end) = written.await?;
        self.memory.put_u32(size, done)
    }

    /// Writes at a place, by default at the end; returns how much, and where that ended.
    async fn write_file(
        &mut self,
        handle: Handle,
        pieces: &Pieces,
        at: Option<u64>,
    ) -> Answer<(u32, u64)> {
        let bytes = self.memory.gather(pieces, MAX_TRANSFER);
        let len = bytes.len() as u64;
        let mut files = self.state.guest_files();
        let (done, end) = match at {
            Some(at) => {
                let done = files.write(handle, bytes, at).await?;
                (done, at.saturating_add(done))
            }
            None => {
                let stream = files.append_via_stream(lend(&handle))?;
                let written = files.wasi.table.get_mut(&stream)?;
                let written = written.blocking_write_and_flush(bytes.into()).await;
                files.wasi.table.delete(stream)?;
                written?;
                (len, files.stat(handle).await?.size)
            }
        };
        Ok((u32::try_from(done).map_err(|_| Errno::OVERFLOW)?, end))
    }

    /// Keeps what is printed; more than the limit stops the call.
    fn print(
        &mut self,
        pieces: &Pieces,
        stream: fn(&crate::output::Made) -> &crate::output::Capture,
    ) -> Answer<u32> {
        if self.state.surroundings.has_stdio() {
            let stream = stream(self.state.streams.get());
            for piece in self.memory.each(pieces) {
                stream.keep(piece).map_err(wasmtime::Error::from)?;
            }
        }
        Ok(u32::try_from(pieces.len()).map_err(|_| Errno::OVERFLOW)?)
    }

    pub(super) async fn fd_seek(&mut self, fd: u32, offset: i64, whence: u32, at: u32) -> Answer {
        let file = self.fds()?.file(fd)?;
        let from = match whence {
            0 => 0,
            1 => file.position,
            2 => {
                let handle = lend(&file.handle);
                self.state.guest_files().stat(handle).await?.size
            }
            _ => return Err(Errno::INVAL.into()),
        };
        let position = from.checked_add_signed(offset).ok_or(Errno::INVAL)?;
        self.fds()?.file(fd)?.position = position;
        self.memory.put_u64(at, position)
    }

    pub(super) fn fd_tell(&mut self, fd: u32, at: u32) -> Answer {
        let position = self.fds()?.file(fd)?.position;
        self.memory.put_u64(at, position)
    }
}

const fn at(appends: bool, position: u64) -> Option<u64> {
    if appends { None } else { Some(position) }
}

//! The entries of a directory, as many as fit.
//!
//! A guest says which entry it wants next. Usually that is the one after those it was given, so
//! the listing is kept open for it; otherwise it starts anew.

use wasmtime::component::Resource;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    DirectoryEntry, HostDescriptor, HostDirectoryEntryStream, PathFlags,
};

use super::{
    Call,
    errno::{Answer, DIRECTORY, Errno, Refused, filetype},
    fds::{Handle, Listing, lend},
};

/// What every directory has before its entries; no file system says so here.
const DOTS: [&str; 2] = [".", ".."];

/// Bytes before the name of an entry.
const HEAD: usize = 24;

/// An entry as a guest sees it.
struct Entry {
    bytes: Vec<u8>,
}

impl Entry {
    fn new(number: u64, identity: u64, kind: u8, name: &str) -> Answer<Self> {
        let len = u32::try_from(name.len()).map_err(|_| Errno::OVERFLOW)?;
        let mut bytes = Vec::with_capacity(HEAD + name.len());
        // Where to go on after it.
        bytes.extend(number.saturating_add(1).to_le_bytes());
        bytes.extend(identity.to_le_bytes());
        bytes.extend(len.to_le_bytes());
        bytes.extend([kind, 0, 0, 0]);
        bytes.extend(name.as_bytes());
        Ok(Self { bytes })
    }
}

/// Where entries are written, and how much of it is used.
struct Room {
    at: u32,
    len: u32,
    used: u32,
}

impl Call<'_> {
    pub(super) async fn fd_readdir(
        &mut self,
        fd: u32,
        at: u32,
        len: u32,
        cookie: u64,
        size: u32,
    ) -> Answer {
        self.memory.get(at, len)?;
        let handle = lend(&self.fds()?.directory(fd)?.handle);
        let mut room = Room { at, len, used: 0 };
        self.list_dots(&handle, cookie, &mut room).await?;
        let kept = self.fds()?.directory(fd)?.listing.take();
        let mut listing = self.listing(&handle, kept, cookie).await?;
        let ended = self.list(&handle, &mut listing, cookie, &mut room).await;
        if matches!(ended, Ok(true)) {
            HostDirectoryEntryStream::drop(&mut self.state.guest_files(), listing.stream)?;
        } else {
            self.fds()?.directory(fd)?.listing = Some(listing);
        }
        ended?;
        self.memory.put_u32(size, room.used)
    }

    /// Returns the listing that was kept, or a new one when the guest wants to begin elsewhere.
    async fn listing(
        &mut self,
        handle: &Handle,
        kept: Option<Listing>,
        cookie: u64,
    ) -> Answer<Listing> {
        let mut files = self.state.guest_files();
        match kept {
            Some(kept) if kept.next == cookie => return Ok(kept),
            Some(other) => HostDirectoryEntryStream::drop(&mut files, other.stream)?,
            None => {}
        }
        Ok(Listing {
            stream: files.read_directory(lend(handle)).await?,
            next: DOTS.len() as u64,
            cut: None,
        })
    }

    async fn list_dots(&mut self, handle: &Handle, cookie: u64, room: &mut Room) -> Answer {
        let mut files = self.state.guest_files();
        let identity = files.metadata_hash(lend(handle)).await?.lower;
        for (number, name) in (0..).zip(DOTS) {
            if number >= cookie {
                self.put_entry(&Entry::new(number, identity, DIRECTORY, name)?, room)?;
            }
        }
        Ok(())
    }

    /// Writes entries from a number on; true when there are no more.
    async fn list(
        &mut self,
        handle: &Handle,
        listing: &mut Listing,
        cookie: u64,
        room: &mut Room,
    ) -> Answer<bool> {
        while room.used < room.len {
            // A directory may have very many, and nothing else asks meanwhile.
            if let Some(reason) = self.state.stop.reason() {
                return Err(Refused::Stop(reason.into()));
            }
            let Some(found) = self.next_entry(listing).await? else {
                return Ok(true);
            };
            let number = listing.next;
            listing.next = number.saturating_add(1);
            if number < cookie {
                continue;
            }
            let (name, kind) = (found.name.clone(), filetype(found.type_));
            let mut files = self.state.guest_files();
            let hash = files.metadata_hash_at(lend(handle), PathFlags::empty(), name);
            // One that is gone already has no identity any more.
            let identity = hash.await.map_or(0, |hash| hash.lower);
            let entry = Entry::new(number, identity, kind, &found.name)?;
            if !self.put_entry(&entry, room)? {
                listing.next = number;
                listing.cut = Some(found);
            }
        }
        Ok(false)
    }

    async fn next_entry(&mut self, listing: &mut Listing) -> Answer<Option<DirectoryEntry>> {
        if let Some(cut) = listing.cut.take() {
            return Ok(Some(cut));
        }
        let stream = Resource::new_borrow(listing.stream.rep());
        let mut files = self.state.guest_files();
        Ok(files.read_directory_entry(stream).await?)
    }

    /// Writes as much of an entry as there is room for; false when that is not all of it.
    fn put_entry(&mut self, entry: &Entry, room: &mut Room) -> Answer<bool> {
        let left = (room.len - room.used) as usize;
        let all = &entry.bytes;
        let part = all.get(..left).unwrap_or(all);
        let at = room.at.checked_add(room.used).ok_or(Errno::OVERFLOW)?;
        self.memory.put(at, part)?;
        // No more than there was room for, which is counted in 32 bits.
        room.used += u32::try_from(part.len()).map_err(|_| Errno::OVERFLOW)?;
        Ok(part.len() == all.len())
    }
}

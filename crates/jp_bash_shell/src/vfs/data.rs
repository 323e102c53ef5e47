//! The bytes of a file in memory: dense while that is cheap, in chunks once a hole would cost memory.
//!
//! Knows nothing of inodes. Every byte that is going to be held is counted first.

use std::collections::BTreeMap;

use jp_bash_system::{Errno, Limit, Stop, SysError, SysResult};

use super::Quota;

/// Bytes of one chunk of a file with holes.
const CHUNK: usize = 64 * 1024;

/// The largest hole that is filled with zeros instead of turning the file into chunks.
const SMALL_HOLE: u64 = 1 << 20;

/// The largest size of a file, as on Linux.
pub(super) const MAX_SIZE: u64 = i64::MAX as u64;

/// What a file holds.
#[derive(Debug)]
pub(super) enum Data {
    /// All bytes up to the end of the vector; what lies behind it, up to `size`, is zero.
    Dense { bytes: Vec<u8>, size: u64 },
    /// Chunks by number; a missing one is zero.
    Sparse {
        chunks: BTreeMap<u64, Box<[u8]>>,
        size: u64,
    },
    /// Still on the host, below an overlay or in a host mount.
    Below,
}

impl Data {
    /// Makes an empty file.
    pub(super) const fn empty() -> Self {
        Self::Dense {
            bytes: Vec::new(),
            size: 0,
        }
    }

    /// Makes a file of bytes that were already counted.
    #[cfg(test)]
    pub(super) fn of(bytes: Vec<u8>) -> Self {
        let size = bytes.len() as u64;
        Self::Dense { bytes, size }
    }

    /// Returns the size as `stat` shows it.
    pub(super) fn size(&self) -> u64 {
        match self {
            Self::Dense { size, .. } | Self::Sparse { size, .. } => *size,
            Self::Below => 0,
        }
    }

    /// Returns how many bytes of memory the content takes.
    pub(super) fn held(&self) -> u64 {
        match self {
            Self::Dense { bytes, .. } => bytes.capacity() as u64,
            Self::Sparse { chunks, .. } => (chunks.len() * CHUNK) as u64,
            Self::Below => 0,
        }
    }

    /// Reads at an offset; 0 is the end.
    pub(super) fn read_at(&self, offset: u64, buf: &mut [u8]) -> usize {
        let left = self.size().saturating_sub(offset);
        let want = usize::try_from(left).map_or(buf.len(), |left| usize::min(left, buf.len()));
        let Some(buf) = buf.get_mut(..want) else {
            return 0;
        };
        match self {
            Self::Dense { bytes, .. } => {
                let from = usize::try_from(offset).unwrap_or(usize::MAX);
                let have = bytes.get(from..).unwrap_or_default();
                let n = usize::min(have.len(), want);
                if let (Some(to), Some(from)) = (buf.get_mut(..n), have.get(..n)) {
                    to.copy_from_slice(from);
                }
                buf.get_mut(n..).unwrap_or_default().fill(0);
            }
            Self::Sparse { chunks, .. } => {
                let mut at = offset;
                let mut rest = buf;
                while !rest.is_empty() {
                    let (number, skip) = place(at);
                    let n = usize::min(rest.len(), CHUNK - skip);
                    let (now, later) = rest.split_at_mut(n);
                    match chunks
                        .get(&number)
                        .and_then(|chunk| chunk.get(skip..skip + n))
                    {
                        Some(chunk) => now.copy_from_slice(chunk),
                        None => now.fill(0),
                    }
                    at += n as u64;
                    rest = later;
                }
            }
            Self::Below => return 0,
        }
        want
    }

    /// Returns what is held, piece by piece with the offset; everything between is zero.
    pub(super) fn pieces(&self) -> Box<dyn Iterator<Item = (u64, &[u8])> + '_> {
        match self {
            Self::Dense { bytes, .. } => Box::new(std::iter::once((0, bytes.as_slice()))),
            Self::Sparse { chunks, size } => Box::new(chunks.iter().map(|(number, chunk)| {
                let start = number * CHUNK as u64;
                let left = usize::try_from(size.saturating_sub(start)).unwrap_or(usize::MAX);
                let piece = chunk.get(..usize::min(left, CHUNK)).unwrap_or_default();
                (start, piece)
            })),
            Self::Below => Box::new(std::iter::empty()),
        }
    }

    /// Writes at an offset, growing the file.
    pub(super) fn write_at(
        &mut self,
        offset: u64,
        data: &[u8],
        quota: &dyn Quota,
    ) -> SysResult<()> {
        let end = offset
            .checked_add(data.len() as u64)
            .filter(|end| *end <= MAX_SIZE)
            .ok_or(Errno::FBig)?;
        if let Self::Dense { bytes, size } = self {
            if offset <= bytes.len() as u64 + SMALL_HOLE {
                write_dense(bytes, offset, end, data, quota)?;
                *size = u64::max(*size, end);
                return Ok(());
            }
            self.make_sparse(quota)?;
        }
        let Self::Sparse { chunks, size } = self else {
            return Err(Errno::Io.into());
        };
        let mut at = offset;
        let mut rest = data;
        while !rest.is_empty() {
            let (number, skip) = place(at);
            let n = usize::min(rest.len(), CHUNK - skip);
            let (now, later) = rest.split_at(n);
            let chunk = match chunks.entry(number) {
                std::collections::btree_map::Entry::Occupied(chunk) => chunk.into_mut(),
                std::collections::btree_map::Entry::Vacant(gap) => {
                    quota.reserve(CHUNK as u64)?;
                    gap.insert(vec![0; CHUNK].into_boxed_slice())
                }
            };
            if let Some(to) = chunk.get_mut(skip..skip + n) {
                to.copy_from_slice(now);
            }
            at += n as u64;
            rest = later;
            *size = u64::max(*size, at);
        }
        Ok(())
    }

    /// Cuts or extends the file; extending holds nothing.
    pub(super) fn truncate(&mut self, to: u64, quota: &dyn Quota) -> SysResult<()> {
        if to > MAX_SIZE {
            return Err(Errno::FBig.into());
        }
        let before = self.held();
        match self {
            Self::Dense { bytes, size } => {
                if to < bytes.len() as u64 {
                    bytes.truncate(usize::try_from(to).unwrap_or(usize::MAX));
                    bytes.shrink_to(bytes.len().saturating_mul(2));
                }
                *size = to;
            }
            Self::Sparse { chunks, size } => {
                let (number, skip) = place(to);
                chunks.split_off(&(if skip == 0 { number } else { number + 1 }));
                if let Some(chunk) = chunks.get_mut(&number) {
                    chunk.get_mut(skip..).unwrap_or_default().fill(0);
                }
                *size = to;
            }
            Self::Below => return Err(Errno::Io.into()),
        }
        if to == 0 {
            *self = Self::empty();
        }
        quota.release(before.saturating_sub(self.held()));
        Ok(())
    }

    fn make_sparse(&mut self, quota: &dyn Quota) -> SysResult<()> {
        let Self::Dense { bytes, size } = self else {
            return Ok(());
        };
        let mut chunks = BTreeMap::new();
        quota.reserve((bytes.len().div_ceil(CHUNK) * CHUNK) as u64)?;
        for (number, piece) in bytes.chunks(CHUNK).enumerate() {
            let mut chunk = vec![0; CHUNK].into_boxed_slice();
            if let Some(to) = chunk.get_mut(..piece.len()) {
                to.copy_from_slice(piece);
            }
            chunks.insert(number as u64, chunk);
        }
        quota.release(bytes.capacity() as u64);
        *self = Self::Sparse {
            chunks,
            size: *size,
        };
        Ok(())
    }
}

/// Returns the chunk of an offset and the place in it.
fn place(offset: u64) -> (u64, usize) {
    let skip = usize::try_from(offset % CHUNK as u64).unwrap_or(0);
    (offset / CHUNK as u64, skip)
}

fn write_dense(
    bytes: &mut Vec<u8>,
    offset: u64,
    end: u64,
    data: &[u8],
    quota: &dyn Quota,
) -> SysResult<()> {
    let (Ok(offset), Ok(end)) = (usize::try_from(offset), usize::try_from(end)) else {
        return Err(Errno::FBig.into());
    };
    if end > bytes.capacity() {
        let wanted = usize::max(end, bytes.capacity() + bytes.capacity() / 2);
        quota.reserve((wanted - bytes.capacity()) as u64)?;
        let before = bytes.capacity();
        bytes
            .try_reserve_exact(wanted - bytes.len())
            .map_err(|_| SysError::Stop(Stop::Limit(Limit::Memory)))?;
        // The allocator may give more than was asked for; what is counted must match `held`.
        let extra = (bytes.capacity() - before).saturating_sub(wanted - before);
        quota.reserve(extra as u64)?;
    }
    if offset == bytes.len() {
        bytes.extend_from_slice(data);
        return Ok(());
    }
    if bytes.len() < end {
        bytes.resize(end, 0);
    }
    if let Some(to) = bytes.get_mut(offset..end) {
        to.copy_from_slice(data);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::NoQuota;
    use super::*;

    fn read(data: &Data, offset: u64, n: usize) -> Vec<u8> {
        let mut buf = vec![1; n];
        let got = data.read_at(offset, &mut buf);
        buf.truncate(got);
        buf
    }

    #[test]
    fn a_hole_of_terabytes_holds_only_what_was_written() {
        let mut data = Data::empty();
        data.write_at(0, b"start", &NoQuota).unwrap();
        data.write_at(1 << 40, b"end", &NoQuota).unwrap();
        assert_eq!(data.size(), (1 << 40) + 3);
        assert_eq!(data.held(), 2 * CHUNK as u64);
        assert_eq!(read(&data, 0, 6), b"start\0");
        assert_eq!(read(&data, (1 << 40) - 1, 10), b"\0end");
        data.truncate(3, &NoQuota).unwrap();
        assert_eq!(read(&data, 0, 10), b"sta");
    }

    #[test]
    fn extending_by_truncate_reads_as_zeros() {
        let mut data = Data::of(b"abc".to_vec());
        data.truncate(1, &NoQuota).unwrap();
        data.truncate(100 << 30, &NoQuota).unwrap();
        assert!(data.held() < 100);
        assert_eq!(read(&data, 0, 4), b"a\0\0\0");
        data.write_at(3, b"x", &NoQuota).unwrap();
        assert_eq!(read(&data, 0, 5), b"a\0\0x\0");
        assert_eq!(data.size(), 100 << 30);
    }

    #[test]
    fn a_size_past_the_largest_is_refused() {
        let mut data = Data::empty();
        assert_eq!(
            data.write_at(u64::MAX - 1, b"xxx", &NoQuota),
            Err(Errno::FBig.into())
        );
        assert_eq!(data.truncate(u64::MAX, &NoQuota), Err(Errno::FBig.into()));
    }
}

//! A guest's memory, as the functions of preview 1 read and write it. Every pointer and length is
//! the guest's; one that leads outside ends the call, as the standard says.

use std::ops::Range;

use super::errno::{Answer, Errno, Refused};

/// Buffers of one call; what POSIX calls `IOV_MAX`.
const MAX_PIECES: u32 = 1024;

/// Bytes of a path or of the target of a link.
const MAX_PATH: u32 = 4096;

/// The memory of a guest during one host call.
pub(super) struct Memory<'a>(pub(super) &'a mut [u8]);

impl Memory<'_> {
    pub(super) fn get(&self, at: u32, len: u32) -> Answer<&[u8]> {
        let range = range(at, len);
        self.0.get(range).ok_or_else(out_of_bounds)
    }

    pub(super) fn get_mut(&mut self, at: u32, len: u32) -> Answer<&mut [u8]> {
        let range = range(at, len);
        self.0.get_mut(range).ok_or_else(out_of_bounds)
    }

    pub(super) fn u16(&self, at: u32) -> Answer<u16> {
        self.array(at).map(u16::from_le_bytes)
    }

    pub(super) fn u32(&self, at: u32) -> Answer<u32> {
        self.array(at).map(u32::from_le_bytes)
    }

    pub(super) fn u64(&self, at: u32) -> Answer<u64> {
        self.array(at).map(u64::from_le_bytes)
    }

    fn array<const N: usize>(&self, at: u32) -> Answer<[u8; N]> {
        let from = at as usize;
        let found = self.0.get(from..).and_then(|rest| rest.first_chunk());
        found.copied().ok_or_else(out_of_bounds)
    }

    pub(super) fn put(&mut self, at: u32, bytes: &[u8]) -> Answer {
        let from = at as usize;
        let place = self.0.get_mut(from..).and_then(|rest| {
            let len = bytes.len();
            rest.get_mut(..len)
        });
        place.ok_or_else(out_of_bounds)?.copy_from_slice(bytes);
        Ok(())
    }

    pub(super) fn put_u32(&mut self, at: u32, value: u32) -> Answer {
        self.put(at, &value.to_le_bytes())
    }

    pub(super) fn put_u64(&mut self, at: u32, value: u64) -> Answer {
        self.put(at, &value.to_le_bytes())
    }

    /// Reads a path.
    pub(super) fn path(&self, at: u32, len: u32) -> Answer<String> {
        if len > MAX_PATH {
            return Err(Errno::NAMETOOLONG.into());
        }
        let text = std::str::from_utf8(self.get(at, len)?);
        text.map(str::to_owned).map_err(|_| Errno::ILSEQ.into())
    }

    /// Reads where the buffers of a call lie; all of them are inside.
    pub(super) fn pieces(&self, at: u32, count: u32) -> Answer<Pieces> {
        if count > MAX_PIECES {
            return Err(Errno::INVAL.into());
        }
        let list = self.get(at, count * 8)?;
        let mut pieces = Vec::with_capacity(count as usize);
        for entry in list.as_chunks::<8>().0 {
            let [a, b, c, d, e, f, g, h] = *entry;
            let (at, len) = (
                u32::from_le_bytes([a, b, c, d]),
                u32::from_le_bytes([e, f, g, h]),
            );
            self.get(at, len)?;
            pieces.push(range(at, len));
        }
        Ok(Pieces(pieces))
    }

    /// Collects what lies in buffers, at most so many bytes.
    pub(super) fn gather(&self, pieces: &Pieces, most: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(pieces.len().min(most));
        for piece in self.each(pieces) {
            let room = most - bytes.len();
            bytes.extend_from_slice(piece.get(..room).unwrap_or(piece));
        }
        bytes
    }

    /// Returns what lies in buffers, one after the other.
    pub(super) fn each<'a>(&'a self, pieces: &'a Pieces) -> impl Iterator<Item = &'a [u8]> {
        pieces.0.iter().filter_map(|r| self.0.get(r.clone()))
    }

    /// Spreads bytes over buffers, and says how many found a place.
    pub(super) fn scatter(&mut self, pieces: &Pieces, mut bytes: &[u8]) -> u32 {
        let mut done = 0;
        for range in &pieces.0 {
            let Some(place) = self.0.get_mut(range.clone()) else {
                continue;
            };
            let (now, later) = bytes.split_at(place.len().min(bytes.len()));
            place.split_at_mut(now.len()).0.copy_from_slice(now);
            done += now.len();
            bytes = later;
        }
        u32::try_from(done).unwrap_or(u32::MAX)
    }
}

/// Where the buffers of a call lie.
pub(super) struct Pieces(Vec<Range<usize>>);

impl Pieces {
    /// Bytes in all of them; they may overlap, so this may be more than the memory has.
    pub(super) fn len(&self) -> usize {
        let lens = self.0.iter().map(ExactSizeIterator::len);
        lens.fold(0, usize::saturating_add)
    }
}

fn range(at: u32, len: u32) -> Range<usize> {
    let at = at as usize;
    at..at.saturating_add(len as usize)
}

fn out_of_bounds() -> Refused {
    Refused::Stop(wasmtime::Error::msg(
        "it handed WASI a pointer out of the bounds of its memory",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_outside<T>(answer: Answer<T>) -> bool {
        matches!(answer, Err(Refused::Stop(_)))
    }

    #[test]
    fn nothing_outside_is_read_or_written() {
        let mut bytes = [0; 64];
        let mut memory = Memory(&mut bytes);
        assert!(memory.get(0, 64).is_ok() && memory.get(64, 0).is_ok());
        for (at, len) in [(0, 65), (64, 1), (u32::MAX, u32::MAX), (65, 0)] {
            assert!(is_outside(memory.get(at, len).map(drop)), "{at} {len}");
            assert!(is_outside(memory.get_mut(at, len).map(drop)), "{at} {len}");
        }
        for at in [57, 64, u32::MAX] {
            assert!(is_outside(memory.u64(at)), "{at}");
            assert!(is_outside(memory.put_u64(at, 1)), "{at}");
        }
        assert!(memory.put_u64(56, 1).is_ok());
    }

    #[test]
    fn buffers_are_checked_before_any_is_used() {
        let mut bytes = [0; 64];
        let mut memory = Memory(&mut bytes);
        for (at, value) in [(0, 32), (4, 2), (8, 40), (12, 3)] {
            memory.put_u32(at, value).unwrap();
        }
        let pieces = memory.pieces(0, 2).unwrap();
        assert_eq!(memory.scatter(&pieces, b"abcdefgh"), 5);
        assert_eq!(memory.get(32, 2).ok(), Some(&b"ab"[..]));
        assert_eq!(memory.gather(&pieces, 100), b"abcde");
        assert_eq!(memory.gather(&pieces, 3), b"abc");
        memory.put_u32(12, 60).unwrap();
        assert!(is_outside(memory.pieces(0, 2).map(drop)));
        assert!(is_outside(memory.pieces(0, 9).map(drop)));
        assert!(matches!(
            memory.pieces(0, u32::MAX),
            Err(Refused::Errno(Errno::INVAL))
        ));
    }
}

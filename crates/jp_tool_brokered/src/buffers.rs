//! The buffers that cross the border between a module and its host.
//!
//! The host knows a buffer by its address. Each stays in this table, owned by a `Vec`, until the
//! host gives it back; an address is only ever looked up and never made into a pointer.

use std::hint;

/// All buffers that are lent to the host.
#[derive(Debug, Default)]
pub(crate) struct Buffers(Vec<Vec<u8>>);

impl Buffers {
    /// Makes an empty table.
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }

    /// Makes a buffer that the host may write to, and returns its address; nothing if there is no
    /// room for it.
    pub(crate) fn lend(&mut self, len: usize) -> Option<usize> {
        let mut buffer = Vec::new();
        // An empty `Vec` has no place of its own, and two of them would share one address.
        buffer.try_reserve_exact(len.max(1)).ok()?;
        buffer.resize(len, 0);
        Some(self.keep(buffer))
    }

    /// Keeps what the host is about to read, and returns its address.
    pub(crate) fn keep(&mut self, mut buffer: Vec<u8>) -> usize {
        // From here on somebody outside may write there; the compiler is told so.
        let address = buffer.as_mut_ptr().expose_provenance();
        self.0.push(buffer);
        address
    }

    /// Returns the first `len` bytes of the buffer at `address`, as the host has left them.
    pub(crate) fn read(&self, address: usize, len: usize) -> Option<&[u8]> {
        let index = self.find(address)?;
        // No code of the module wrote to it, so nothing may be concluded from what it last held.
        hint::black_box(self.0.get(index)?.get(..len))
    }

    /// Frees the buffer at `address`. One that is not lent is ignored: a double free frees nothing.
    pub(crate) fn free(&mut self, address: usize) {
        if let Some(index) = self.find(address) {
            self.0.swap_remove(index);
        }
    }

    fn find(&self, address: usize) -> Option<usize> {
        self.0
            .iter()
            .position(|buffer| buffer.as_ptr().addr() == address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_found_by_its_address_until_it_is_freed() {
        let mut buffers = Buffers::new();
        let first = buffers.lend(4).unwrap();
        let second = buffers.keep(b"hello".to_vec());
        assert_ne!(first, second);
        assert_eq!(buffers.read(first, 4), Some([0; 4].as_slice()));
        assert_eq!(buffers.read(second, 4), Some(b"hell".as_slice()));
        buffers.free(first);
        buffers.free(first);
        assert_eq!(buffers.read(first, 4), None);
        assert_eq!(buffers.read(second, 5), Some(b"hello".as_slice()));
    }

    #[test]
    fn nothing_outside_of_a_buffer_can_be_read() {
        let mut buffers = Buffers::new();
        let address = buffers.lend(4).unwrap();
        assert_eq!(buffers.read(address, 5), None);
        assert_eq!(buffers.read(address + 1, 1), None);
        assert_eq!(buffers.read(0, 0), None);
        assert_eq!(buffers.read(usize::MAX, usize::MAX), None);
    }

    #[test]
    fn empty_buffers_have_addresses_of_their_own() {
        let mut buffers = Buffers::new();
        assert_ne!(buffers.lend(0).unwrap(), buffers.lend(0).unwrap());
    }

    #[test]
    fn a_size_that_no_memory_holds_is_refused() {
        assert_eq!(Buffers::new().lend(usize::MAX), None);
    }
}

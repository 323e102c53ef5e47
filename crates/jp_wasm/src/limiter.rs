//! The memory limiter: one sum over all memories and tables of a guest.
//!
//! wasmtime's own limits are per memory; a guest with many memories would get many times its limit.

use wasmtime::ResourceLimiter;

/// What one table element costs the host.
const TABLE_ELEMENT: usize = 16;

/// How many instances, tables and memories one guest may have. Large engines (CPython with all its
/// extension modules) stay under a hundred.
const INSTANCES: usize = 512;
const TABLES: usize = 512;
const MEMORIES: usize = 64;

/// Counts what a guest holds and refuses more than its limit.
pub(crate) struct Limiter {
    held: usize,
    limit: usize,
    refused: bool,
}

impl Limiter {
    pub(crate) const fn new(limit: usize) -> Self {
        Self {
            held: 0,
            limit,
            refused: false,
        }
    }

    /// Bytes the guest holds.
    pub(crate) const fn held(&self) -> usize {
        self.held
    }

    /// Whether the guest was refused memory.
    pub(crate) const fn refused(&self) -> bool {
        self.refused
    }

    /// Sets the limit of the call; false when the guest already holds more.
    pub(crate) fn set_limit(&mut self, limit: usize) -> bool {
        self.limit = limit;
        self.held <= limit
    }

    fn grow(&mut self, current: usize, desired: usize, unit: usize) -> bool {
        let more = desired.saturating_sub(current).saturating_mul(unit);
        let held = self.held.saturating_add(more);
        if held > self.limit {
            self.refused = true;
            return false;
        }
        self.held = held;
        true
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        // Growing past the memory's own maximum fails anyway and is not a refusal of ours.
        Ok(maximum.is_some_and(|maximum| desired > maximum) || self.grow(current, desired, 1))
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        Ok(maximum.is_some_and(|maximum| desired > maximum)
            || self.grow(current, desired, TABLE_ELEMENT))
    }

    fn instances(&self) -> usize {
        INSTANCES
    }

    fn tables(&self) -> usize {
        TABLES
    }

    fn memories(&self) -> usize {
        MEMORIES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memories_are_summed() {
        let mut limiter = Limiter::new(100);
        assert!(limiter.memory_growing(0, 60, None).unwrap());
        assert!(!limiter.memory_growing(0, 60, None).unwrap());
        assert!(limiter.refused() && limiter.held() == 60);
        assert!(limiter.memory_growing(0, 40, None).unwrap());
    }

    #[test]
    fn a_guest_that_holds_more_than_its_limit_is_noticed() {
        let mut limiter = Limiter::new(100);
        assert!(limiter.memory_growing(0, 60, None).unwrap());
        assert!(limiter.set_limit(60));
        assert!(!limiter.set_limit(59));
    }

    #[test]
    fn huge_tables_cannot_wrap_the_sum() {
        let mut limiter = Limiter::new(usize::MAX - 1);
        assert!(!limiter.table_growing(0, usize::MAX, None).unwrap());
    }
}

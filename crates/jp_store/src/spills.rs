//! Large results that are kept for later reading, in ranges.

use crate::{Millis, SpillId, StoreError};

/// Large results that are kept for later reading, until they expire.
pub trait Spills: Send + Sync {
    /// Keeps a result of an owner; it is safe on the disk when this returns.
    ///
    /// # Errors
    ///
    /// When it is larger than [`MAX_SPILL`](crate::MAX_SPILL), does not fit the quota once what has expired
    /// is gone, or cannot be written. Nothing of it is kept then.
    fn keep(
        &self,
        owner: &str,
        spill: &NewSpill<'_>,
        quota: &Quota,
        now: Millis,
    ) -> Result<SpillId, StoreError>;

    /// Reads up to `length` bytes of an owner's result, from `offset` on: fewer where it ends, and at most
    /// [`MAX_SLICE`](crate::MAX_SLICE). `None` when there is no such result, or not any more.
    ///
    /// # Errors
    ///
    /// When the store fails.
    fn read(
        &self,
        owner: &str,
        id: &SpillId,
        offset: u64,
        length: u64,
        now: Millis,
    ) -> Result<Option<Slice>, StoreError>;

    /// Removes the results that have expired, gives their room back, and says how many there were.
    ///
    /// # Errors
    ///
    /// When the store fails.
    fn sweep_spills(&self, now: Millis) -> Result<u64, StoreError>;
}

/// A result to be kept.
#[derive(Debug, Clone, Copy)]
pub struct NewSpill<'a> {
    /// What the bytes are.
    pub mime_type: &'a str,
    /// The bytes.
    pub bytes: &'a [u8],
    /// When it expires.
    pub expires: Millis,
}

/// How many bytes of results may be kept. Each result counts as 4 KiB at least, so that many small ones are
/// bounded too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// For the owner.
    pub owner: u64,
    /// For all owners together.
    pub total: u64,
}

/// A part of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slice {
    /// The bytes; none when the offset lies behind the end.
    pub bytes: Vec<u8>,
    /// How many bytes the whole result has.
    pub total: u64,
    /// What the bytes are.
    pub mime_type: String,
}

//! One-time states: each is used once, by whoever comes first.

use crate::{Millis, StoreError};

/// One-time states that were used.
///
/// The state itself travels with the client, and its issuer vouches for it: the nonce and the time it
/// expires at come from what was authenticated, and are the same each time the state is shown.
pub trait Spent: Send + Sync {
    /// Spends a nonce of an owner; true exactly once per nonce, over all servers of the store, also at the
    /// same time and after a crash. A state that has expired by `now`, or that may have been spent and
    /// [forgotten](Self::sweep_spent) because another clock is ahead of this one, cannot be spent.
    ///
    /// # Errors
    ///
    /// When it could not be found out or not be noted: the state must then not be used.
    fn spend(
        &self,
        owner: &str,
        nonce: &[u8; 16],
        expires: Millis,
        now: Millis,
    ) -> Result<bool, StoreError>;

    /// Forgets the nonces that have expired, and says how many.
    ///
    /// # Errors
    ///
    /// When the store fails.
    fn sweep_spent(&self, now: Millis) -> Result<u64, StoreError>;
}

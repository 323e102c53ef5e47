//! Due work: claimed once, answered for, tried again, given up.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

#[path = "../kv/host.rs"]
#[expect(
    dead_code,
    reason = "shared with the tests of `kv`, which use all of it"
)]
mod host;

mod claims;
mod many;
mod recurring;

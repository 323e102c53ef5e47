//! Files on disk that must not be lost, read by others or changed by two at once.
//!
//! - [`Disk`] replaces files whole, under a lock, and can be made to fail anywhere for tests.
//! - [`update`] reads, changes and writes a file while nobody else does; [`Held`] is the same in steps.
//! - [`private`] reads what only its owner may change, and says why it did not.
//! - [`Temporary`] is a file that is gone with its owner, also when that was killed.
//! - [`key_file`] holds random bytes that are made once.
//! - [`Sha256`] names bytes.
//!
//! All of it exists only here; `cargo xtask tidy` refuses a second one. This crate knows nothing of
//! what the files hold.

mod disk;
mod key;
pub mod private;
mod sha256;
mod temporary;
mod update;

pub use disk::{Disk, PRIVATE, SHARED, Torn, create_dir, parent, read};
pub use key::key_file;
pub use sha256::{Sha256, Sha256Error, Sha256Hasher};
pub use temporary::{
    Present, Temporary, create_private, replace_private, store_private, sweep_new,
};
pub use update::{Held, update};

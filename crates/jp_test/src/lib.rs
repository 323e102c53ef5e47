//! The test kit: built guests and probes, components written as text, and a workspace to call
//! them in.
//!
//! For tests only, so it fails by panicking. What a guest must not manage is said in the tests;
//! the kit only lets it try.

pub mod abi;
mod host;
mod kit;
pub mod text;

use std::path::Path;

pub use host::Host;
pub use kit::{Access, Kit, ROOT};

/// Every built guest: its name and where it lies.
pub const GUESTS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/guests.rs"));

/// Returns the `.wasm` file of a guest (`jp_tool_learn`, `jp_tool_test`) or a probe (`spin`, …).
///
/// # Panics
///
/// When there is no such guest.
#[must_use]
#[expect(clippy::panic, reason = "a test kit fails by panicking")]
pub fn guest(name: &str) -> &'static Path {
    match GUESTS.iter().find(|(known, _)| *known == name) {
        Some((_, path)) => Path::new(path),
        None => panic!("no guest is called `{name}`"),
    }
}

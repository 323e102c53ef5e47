//! Text of strangers: which characters deceive, and the one way to show such text.
//!
//! Whatever a tool, a server, a file or a model wrote is shown through this crate: what nobody can
//! see, what reorders text and what a terminal obeys is written as an escape. The table comes from
//! Unicode's own properties and exists only here; `cargo xtask tidy` refuses a second one. Before such
//! text is read as JSON, [`check_json`] bounds what would be made of it.
//!
//! Pure: no files, terminals or locale. `no_std` lets the compiler hold that wall.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod bytes;
mod escape;
mod hidden;
mod json;
mod quote;
mod shorten;
mod table;

pub use bytes::{line_of_bytes, path_word};
pub use escape::{
    JsonEscape, escape, escape_line, file_name, json_escape, mask, message, one_line, short_line,
};
pub use hidden::{is_hidden, is_variation_selector, lacks_fixed_shape};
pub use json::{JsonBound, check_json};
pub use quote::{Inline, inline, start};
pub use shorten::{shorten, shorten_and_count};

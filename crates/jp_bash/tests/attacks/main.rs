//! Attacks: scripts, arguments and files that try to crash, hang, flood, escape or leak.
//!
//! The number in a name (`a07_…`) is that of the attack list the suite was written from; the point of
//! each test is its name. Whatever happens, the result says so and the session goes on.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]
#![expect(clippy::print_stderr, reason = "sizes are shown beside a failure")]

mod address_space;
mod embedding;
mod expansion;
mod files;
mod languages;
mod memory;
mod recursion;
mod regex;
mod state;
mod streams;
mod support;

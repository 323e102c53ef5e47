//! The HTTP client against real servers on loopback.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod addresses;
mod exchange;
mod grants;
mod limits;
mod server;
mod tls;

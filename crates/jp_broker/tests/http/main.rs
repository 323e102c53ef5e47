//! The HTTP client against real servers on loopback.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod addresses;
mod download;
mod download_redirects;
mod exchange;
mod grants;
mod kept;
mod limits;
mod proxies;
mod second;
mod server;
mod tls;

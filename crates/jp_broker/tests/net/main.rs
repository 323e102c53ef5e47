//! What leaves the machine on a tool's behalf, against real servers on loopback; and the secrets that
//! go with it.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod desk;
mod drawer;
mod key_moves;
mod keyring;
mod models;
mod network_hosts;
mod network_wire;
mod packing;
mod redirects;
mod request;
mod secrets;
mod secrets_seen;
mod secrets_sent;
#[path = "../http/server.rs"]
#[expect(dead_code, reason = "the tests of the plain client use the rest")]
mod server;
mod speech_and_search;
mod vault;
mod weaknesses;

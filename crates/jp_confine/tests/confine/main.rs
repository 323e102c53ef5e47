//! Real processes behind real walls: each test starts one and looks at what it could do.
#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "helpers of tests fail like tests"
)]

mod bench;
mod changes;
mod files;
mod launching;
mod limits;
mod network;
mod probe;
mod processes;
mod support;
mod unprivileged;

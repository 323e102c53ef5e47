//! What every engine behind the traits must do (`conformance`), and what SQLite does besides.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    reason = "helpers of tests fail like tests"
)]

mod answers;
mod conformance;
mod files;
mod grants;
mod limits;
mod orphans;
mod owners;
mod processes;
mod requests;
mod spent;
mod spills;
mod tasks;

//! The `jp` command: reads the command line, sets up a host and shows what came of it.
//!
//! The only crate that knows terminals, environment variables, the home directory and exit codes.

mod answers;
mod approve;
mod arguments;
mod cli;
mod clock;
mod commands;
mod download;
mod edit;
mod error;
mod exit;
mod interrupt;
mod page;
mod places;
mod progress;
mod prompt;
mod recover;
mod registry;
mod session;
mod table;
mod ui;
mod view;
mod words;

use std::process::ExitCode;

use jp_text as text;

/// Instances are freed on another thread than they are made on, which the system's allocator takes
/// long for: a call with one write to the store is 6 % quicker with this one.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // First of all: a confined command starts as this very program, before any thread exists.
    if let Some(code) = jp_confine::enter_if_asked() {
        return code;
    }
    cli::main()
}

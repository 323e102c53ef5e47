//! Loads a built `jp serve` and says what came of it: `cargo xtask load` runs this.
//!
//! Calls from many connections, connections that do nothing, lists while tools are busy, and servers
//! that are killed at any moment. Stops where something is lost; prints the figures, and fails in the
//! end where one misses what it must show.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a measurement that fails may panic"
)]

mod calls;
mod client;
mod dice;
mod idle;
mod kills;
mod lists;
mod site;

use std::process::ExitCode;

/// How often something is done.
#[derive(Clone, Copy)]
struct Scale(usize);

impl Scale {
    fn of(self, full: usize) -> usize {
        full.div_ceil(self.0)
    }
}

/// What was said of the figures.
#[derive(Default)]
struct Verdict {
    missed: Vec<String>,
}

impl Verdict {
    /// Prints a figure, and remembers where it misses what it must show.
    fn figure(&mut self, text: String, is_met: bool) {
        println!("{text}{}", if is_met { "" } else { "   MISSED" });
        if !is_met {
            self.missed.push(text);
        }
    }
}

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let jp = words
        .next()
        .unwrap_or_else(|| panic!("expected the path of jp"));
    let (mut scale, mut seed, mut parts) = (Scale(1), dice::seed(), Vec::new());
    while let Some(word) = words.next() {
        match word.as_str() {
            "--quick" => scale = Scale(20),
            "--seed" => seed = words.next().unwrap().parse().unwrap(),
            _ => parts.push(word),
        }
    }
    let wants = |part: &str| parts.is_empty() || parts.iter().any(|wanted| wanted == part);
    let mut verdict = Verdict::default();
    if wants("calls") {
        calls::run(&jp, scale, &mut verdict);
    }
    if wants("idle") {
        idle::run(&jp, scale, &mut verdict);
    }
    if wants("lists") {
        lists::run(&jp, scale, &mut verdict);
    }
    if wants("kills") {
        kills::run(&jp, scale, seed);
    }
    if verdict.missed.is_empty() {
        ExitCode::SUCCESS
    } else {
        println!("missed: {}", verdict.missed.join("; "));
        ExitCode::FAILURE
    }
}

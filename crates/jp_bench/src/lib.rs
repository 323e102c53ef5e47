//! Measuring: samples, percentiles and the lines that benches print.
//!
//! Every bench compares side by side in one run and reports ratios, because this kind of hardware
//! is shared and noisy. With `--test` each case runs once, which is what CI does.

use std::time::{Duration, Instant};

/// The allocator of the `jp` command, for both sides of every comparison.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measured times of one case.
pub struct Samples {
    name: &'static str,
    times: Vec<Duration>,
}

impl Samples {
    /// Starts a case, named `layer/case/size`.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self {
            name,
            times: Vec::new(),
        }
    }

    /// Adds a measured time.
    pub fn add(&mut self, time: Duration) {
        self.times.push(time);
    }

    /// Times a piece of work and adds it.
    pub fn time<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let result = work();
        self.add(started.elapsed());
        result
    }

    /// Returns the time that a share of all samples stays under, in microseconds.
    #[must_use]
    pub fn percentile(&self, share: f64) -> f64 {
        let mut times = self.times.clone();
        times.sort_unstable();
        let last = times.len().saturating_sub(1);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "an index into a few thousand samples"
        )]
        let index = (share * last as f64).round() as usize;
        times
            .get(index.min(last))
            .map_or(0.0, |time| time.as_secs_f64() * 1e6)
    }

    /// Prints the case; with `base`, also how many times its figures are.
    pub fn report(&self, base: Option<&Self>) {
        let (p50, p99) = (self.percentile(0.5), self.percentile(0.99));
        let ratio = base.map_or_else(String::new, |base| {
            format!(
                "   {:5.2} x p50  {:5.2} x p99 of {}",
                p50 / base.percentile(0.5),
                p99 / base.percentile(0.99),
                base.name
            )
        });
        line(&format!(
            "{:<34} p50 {p50:>9.2} us  p99 {p99:>9.2} us  n {:>6}{ratio}",
            self.name,
            self.times.len()
        ));
    }
}

/// Prints a line of a report.
#[expect(clippy::print_stdout, reason = "printing is what a bench is for")]
pub fn line(text: &str) {
    println!("{text}");
}

/// Returns how often a case runs: once in CI, `full` times otherwise.
#[must_use]
pub fn rounds(full: usize) -> usize {
    if std::env::args().any(|arg| arg == "--test") {
        1
    } else {
        full
    }
}

/// Tells whether a case is to be run: all of them unless some are named on the command line.
#[must_use]
pub fn wanted(case: &str) -> bool {
    let mut named = std::env::args()
        .skip(1)
        .filter(|arg| !arg.starts_with('-'))
        .peekable();
    named.peek().is_none() || named.any(|name| name == case)
}

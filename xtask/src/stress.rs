//! `cargo xtask stress`: the tests on a machine that is busy with something else.
//!
//! A test that passes on an idle machine alone waits for a time instead of for what happened.

use std::hint;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::{Context, Result, bail};

use crate::metadata::Metadata;
use crate::process::{Run, is_installed};
use crate::report::Steps;
use crate::test::{exclude_probes, without_probes};

pub(crate) const HELP: &str = "\
runs the tests on a busy machine, on one core and in random order

All of them three times beside two spinning threads per core, once on one core,
and once by cargo test in random order; then those that use threads, processes
or clocks 50 times beside four spinning threads per core. Takes hours; fails at
the first test that fails. Needs cargo-nextest and taskset.

  --times N   runs the last part N times instead of 50
  --only PART busy, one-core, shuffled or repeated";

/// The tests whose outcome could depend on who runs first: whole binaries, and what is named for it.
const TIMED: &str = "binary(/^(it|cli|net|http|mcp|kv|due|fetch|confine|session|attacks)$/) \
    | package(jp_test) | test(/cancel|time|parallel|concurrent|kill|thread|process|at_once/)";

/// Which parts to run, and how often.
struct Plan<'a> {
    only: Option<&'a str>,
    times: u32,
}

/// Runs the chore.
pub(crate) fn run(root: &Path, words: &[&str]) -> Result<()> {
    let plan = Plan::read(words)?;
    for (program, argument) in [("cargo-nextest", "--version"), ("taskset", "--version")] {
        if !is_installed(program, argument) {
            bail!("`{program}` is not installed");
        }
    }
    let metadata = Metadata::read(root)?;
    let tests = || without_probes("nextest run --workspace --locked", &metadata, root);
    let mut steps = Steps::default();
    steps.run("build", || tests().arg("--no-run").run())?;
    if plan.has("busy") {
        for turn in 1..=3 {
            steps.run(&format!("busy machine, {turn} of 3"), || {
                beside_spinners(2, || tests().run())
            })?;
        }
    }
    if plan.has("one-core") {
        steps.run("one core", || {
            let line = "--cpu-list 0 cargo nextest run --workspace --locked";
            exclude_probes(Run::new("taskset", root).args(line.split(' ')), &metadata).run()
        })?;
    }
    if plan.has("shuffled") {
        steps.run("random order", || {
            without_probes(
                "test --workspace --lib --bins --tests --locked",
                &metadata,
                root,
            )
            // The harness prints its seed, with which an order can be had again.
            .env("RUSTC_BOOTSTRAP", "1")
            .args(["--", "-Zunstable-options", "--shuffle"])
            .run()
        })?;
    }
    if plan.has("repeated") {
        steps.run(&format!("timed tests, {} times", plan.times), || {
            let times = plan.times.to_string();
            beside_spinners(4, || {
                tests().args(["--stress-count", &times, "-E", TIMED]).run()
            })
        })?;
    }
    steps.summary();
    Ok(())
}

impl<'a> Plan<'a> {
    fn read(words: &[&'a str]) -> Result<Self> {
        let mut plan = Self {
            only: None,
            times: 50,
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let value = words
                .next()
                .with_context(|| format!("`{word}` needs a value"))?;
            match *word {
                "--times" => {
                    plan.times = value.parse().with_context(|| {
                        format!("invalid value `{value}` for `--times`: expected a whole number")
                    })?;
                }
                "--only" if ["busy", "one-core", "shuffled", "repeated"].contains(value) => {
                    plan.only = Some(value);
                }
                "--only" => bail!(
                    "invalid value `{value}` for `--only`: expected busy, one-core, shuffled or repeated"
                ),
                other => bail!("unknown option `{other}`; try: cargo xtask stress --help"),
            }
        }
        Ok(plan)
    }

    fn has(&self, part: &str) -> bool {
        self.only.is_none_or(|only| only == part)
    }
}

/// Does something while that many threads for each core compute for nothing.
fn beside_spinners<T>(per_core: usize, work: impl FnOnce() -> T) -> T {
    let stop = Arc::new(AtomicBool::new(false));
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let spinners: Vec<_> = (0..cores * per_core)
        .map(|_| {
            let stop = Arc::clone(&stop);
            thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    hint::spin_loop();
                }
            })
        })
        .collect();
    let done = work();
    stop.store(true, Ordering::Relaxed);
    for spinner in spinners {
        // A spinner cannot panic, and nothing would depend on it.
        let _ = spinner.join();
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_mean_nothing_are_refused() {
        for words in [
            &["--times", "often"][..],
            &["--times"],
            &["--only", "sometimes"],
            &["--quick", "1"],
        ] {
            assert!(Plan::read(words).is_err(), "{words:?}");
        }
        let plan = Plan::read(&["--only", "busy", "--times", "3"]).unwrap();
        assert!(plan.has("busy") && !plan.has("shuffled") && plan.times == 3);
    }

    #[test]
    fn spinners_end_with_the_work() {
        assert_eq!(beside_spinners(1, || 7), 7);
    }
}

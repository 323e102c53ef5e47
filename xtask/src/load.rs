//! `cargo xtask load`: what `jp serve` bears. Calls, idle connections, busy tools and kills against the built server.

use std::path::Path;

use anyhow::{Result, bail};

use crate::metadata::Metadata;
use crate::process::Run;

pub(crate) const HELP: &str = "\
loads jp serve: many calls, idle connections, busy tools, kills

Builds jp with optimisations and runs crates/jp_serve/examples/load with it:
10,000 calls from 64 connections (none lost, memory flat, the log intact), 1,000
idle connections (under 64 KiB each), tools/list beside tools that spin, flood,
trap and ask (p99 within 2 x of idle), and 200 kills at random moments (no task
vanishes, the log is intact, no process survives). Prints the figures, and fails
where one is missed. Takes minutes, and wants a machine that does nothing else.

  --quick                   a twentieth of it, with the development profile
  --seed N                  the moments of the kills, as another run printed it
  calls idle lists kills    only these";

/// The parts of a run, each of which can be had alone.
const PARTS: &[&str] = &["calls", "idle", "lists", "kills"];

/// Runs the chore.
pub(crate) fn run(root: &Path, words: &[&str]) -> Result<()> {
    let wanted = Wanted::read(words)?;
    let (profile, dir) = match wanted.is_quick {
        true => ("dev", "debug"),
        false => ("release", "release"),
    };
    // In one build, so that what both need is compiled once.
    let build =
        "build --locked --package jp_cli --bin jp --package jp_serve --example load --profile";
    Run::cargo(build, root).arg(profile).run()?;
    let built = Metadata::read(root)?.target_directory.join(dir);
    Run::new(built.join("examples/load"), root)
        .arg(built.join("jp"))
        .args(wanted.words)
        .run()
}

/// What is wanted of a run.
#[derive(Debug, Default, PartialEq, Eq)]
struct Wanted<'a> {
    is_quick: bool,
    /// What the example is told.
    words: Vec<&'a str>,
}

impl<'a> Wanted<'a> {
    fn read(words: &[&'a str]) -> Result<Self> {
        let mut wanted = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--quick" => {
                    wanted.is_quick = true;
                    wanted.words.push("--quick");
                }
                "--seed" => match words.next() {
                    Some(seed) if seed.parse::<u64>().is_ok() => {
                        wanted.words.extend(["--seed", seed]);
                    }
                    _ => bail!("expected a number after `--seed`"),
                },
                part if PARTS.contains(&part) => wanted.words.push(part),
                other => bail!("`load` takes no `{other}`; try: cargo xtask load --help"),
            }
        }
        Ok(wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wanted_reaches_the_example() {
        let wanted = Wanted::read(&["--quick", "kills", "--seed", "7"]).unwrap();
        assert!(wanted.is_quick);
        assert_eq!(wanted.words, ["--quick", "kills", "--seed", "7"]);
        assert_eq!(Wanted::read(&[]).unwrap(), Wanted::default());
        for words in [&["--seed"][..], &["--seed", "x"], &["kill"], &["--fast"]] {
            assert!(Wanted::read(words).is_err(), "{words:?}");
        }
    }
}

//! `cargo xtask compare REV`: instructions of the virtual bash here and at another commit, case by case.
//!
//! Both commits are built with this tree's `benches/peers`, so that only the shell differs. Instructions are counted
//! by valgrind: unlike times they repeat, whatever else the machine does.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::process::{Run, is_installed};
use crate::report::{data, say};

pub(crate) const HELP: &str = "\
counts what the virtual bash executes, here and at another commit

Builds benches/peers against this tree and against REV, runs each script at two
sizes under `valgrind --tool=callgrind`, and prints the instructions of one turn
on both sides with their ratio. Fails if a ratio is above 1.02. Needs valgrind.

  cargo xtask compare REV              all cases, about half an hour
  cargo xtask compare REV cut grep-regex   the cases of these names";

/// The largest ratio that passes.
const MOST: f64 = 1.02;

/// Cases are this much smaller than in the timed runs: counts need no length to be exact.
const SMALLER: u64 = 10;

/// Runs the chore.
pub(crate) fn run(root: &Path, words: &[&str]) -> Result<()> {
    let [revision, wanted @ ..] = words else {
        bail!("`compare` needs a commit; try: cargo xtask compare --help");
    };
    if !is_installed("valgrind", "--version") {
        bail!("`valgrind` is not installed");
    }
    let dir = root.join("target/compare");
    fs::create_dir_all(&dir)?;
    let base = build_base(root, &dir, revision)?;
    let here = build(&root.join("benches/peers"), &dir, "here")?;
    let cases = cases(&here, root)?;
    if let Some(unknown) = wanted
        .iter()
        .find(|name| cases.iter().all(|case| case.name != **name))
    {
        bail!("unknown case `{unknown}`; the names are in benches/peers/src/cases.rs");
    }
    let mut above = Vec::new();
    data(&format!(
        "{:<16} {:>12} {:>12} {:>7}",
        "case", revision, "here", "ratio"
    ));
    for case in cases
        .iter()
        .filter(|case| wanted.is_empty() || wanted.contains(&&*case.name))
    {
        let before = each(&base, case, &dir)?;
        let after = each(&here, case, &dir)?;
        let ratio = after / before;
        data(&format!(
            "{:<16} {before:>12.0} {after:>12.0} {ratio:>7.3}",
            case.name
        ));
        if ratio > MOST {
            above.push(format!("{} {ratio:.3}", case.name));
        }
    }
    if !above.is_empty() {
        bail!("above {MOST}: {}", above.join(", "));
    }
    Ok(())
}

/// A script of benches/peers and its smaller size.
struct Case {
    name: String,
    n: u64,
}

fn cases(binary: &Path, root: &Path) -> Result<Vec<Case>> {
    let list = Run::new(binary, root).arg("--list").stdout()?;
    list.lines().map(Case::read).collect()
}

impl Case {
    fn read(line: &str) -> Result<Self> {
        let (name, n) = line
            .split_once(' ')
            .with_context(|| format!("`{line}` has no size"))?;
        let n: u64 = n.parse().with_context(|| format!("`{line}` has no size"))?;
        let n = if n < 100 { n } else { n / SMALLER };
        Ok(Self {
            name: name.to_owned(),
            n,
        })
    }
}

/// Checks the other commit out and builds it with this tree's `benches/peers`.
fn build_base(root: &Path, dir: &Path, revision: &str) -> Result<PathBuf> {
    let tree = dir.join("base");
    if tree.exists() {
        Run::new("git", root)
            .args(["worktree", "remove", "--force"])
            .arg(&tree)
            .run()?;
    }
    say(&format!("checking out {revision}"));
    Run::new("git", root)
        .args(["worktree", "add", "--quiet", "--force", "--detach"])
        .arg(&tree)
        .arg(revision)
        .run()?;
    let peers = tree.join("benches/peers");
    for file in ["Cargo.toml", "Cargo.lock"] {
        fs::copy(root.join("benches/peers").join(file), peers.join(file))?;
    }
    for entry in fs::read_dir(root.join("benches/peers/src"))? {
        let entry = entry?;
        fs::copy(entry.path(), peers.join("src").join(entry.file_name()))?;
    }
    build(&peers, dir, "base")
}

/// Builds `benches/peers` there and returns a copy of the binary: both sides share one target directory.
fn build(peers: &Path, dir: &Path, name: &str) -> Result<PathBuf> {
    let target = dir.join("target");
    Run::cargo("build --release --quiet --target-dir", peers)
        .arg(&target)
        .run()?;
    let binary = dir.join(name).with_extension("bin");
    fs::copy(target.join("release/peers"), &binary)?;
    Ok(binary)
}

/// The instructions of one turn: the slope between N and 2N, less that of a script that only finds its files there.
fn each(binary: &Path, case: &Case, dir: &Path) -> Result<f64> {
    let cost = |n: u64| -> Result<f64> {
        let whole = instructions(binary, &["--once", &case.name, &n.to_string()], dir)?;
        let files = instructions(binary, &["--files", &case.name, &n.to_string()], dir)?;
        Ok(whole - files)
    };
    #[expect(clippy::cast_precision_loss, reason = "sizes are small")]
    let n = case.n as f64;
    Ok((cost(case.n * 2)? - cost(case.n)?) / n)
}

fn instructions(binary: &Path, words: &[&str], dir: &Path) -> Result<f64> {
    let counted = Run::new("valgrind", dir)
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(binary)
        .args(words);
    let output = counted.output()?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!(
            "{}\n{stderr}\nto repeat it alone:\n  {counted}",
            output.status
        );
    }
    collected(&stderr).with_context(|| format!("valgrind counted nothing: {counted}"))
}

/// Reads the total from what callgrind says at the end.
fn collected(stderr: &str) -> Option<f64> {
    let line = stderr
        .lines()
        .rev()
        .find_map(|line| line.split_once("Collected :"))?;
    line.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_read_from_callgrinds_last_lines() {
        let said = "==7== Events    : Ir\n==7== Collected : 1234567\n==7== \n";
        assert_eq!(collected(said), Some(1_234_567.0));
        assert_eq!(collected("==7== ERROR SUMMARY"), None);
    }

    #[test]
    fn sizes_are_a_tenth_but_for_tiny_ones() {
        let case = Case::read("cut 50000").unwrap();
        assert_eq!((case.name.as_str(), case.n), ("cut", 5_000));
        assert_eq!(Case::read("fib-12 1").unwrap().n, 1);
        assert!(Case::read("cut").is_err());
    }
}

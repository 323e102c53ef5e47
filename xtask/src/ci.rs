//! `cargo xtask ci`: everything a change must pass, in the order that fails soonest.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use jp_guest_build::Target;

use crate::metadata::Metadata;
use crate::process::Run;
use crate::report::Steps;
use crate::{ceilings, deny, dist, guests, interop, test, tidy};

pub(crate) const HELP: &str = "\
runs everything a change must pass

Format, tidy, licences, guests, clippy, tests, jp without Wasm, benches once, docs,
tools in other languages, the dist chore in its quick form, and the pages of
docs/how-to, typed as printed. Stops at the first failure and says how to
repeat it alone. Ends with a table of times.";

/// Runs the chore.
pub(crate) fn run(root: &Path) -> Result<()> {
    let mut steps = Steps::default();
    let result = all(root, &mut steps);
    steps.summary();
    result
}

fn all(root: &Path, steps: &mut Steps) -> Result<()> {
    let metadata = Metadata::read(root)?;
    steps.run("format", || Run::cargo("fmt --all --check", root).run())?;
    steps.run("tidy", || tidy::run(root, &[]))?;
    steps.run_partly("deny", || deny::check(root))?;
    steps.run("guests", || guests::run(root))?;
    steps.run("clippy", || {
        let line = "clippy --workspace --all-targets --locked";
        deny_warnings(test::without_probes(line, &metadata, root)).run()
    })?;
    steps.run("clippy for guests", || {
        let components: Vec<&str> = guests::TOOLS
            .iter()
            .chain([&guests::PROBES])
            .copied()
            .collect();
        for (target, packages) in [
            (Target::Component, &components[..]),
            (Target::Module, guests::MODULES),
            (Target::Preview1, &[guests::PREVIEW1]),
        ] {
            deny_warnings(guest_clippy(target, packages, &metadata, root)).run()?;
        }
        Ok(())
    })?;
    test::add_steps(root, steps)?;
    without_wasm(root, &metadata, steps)?;
    if metadata.has("jp_bench") {
        // The dev profile and the whole workspace, as in the tests: the wasmtime that is there serves,
        // and another would take minutes.
        let line = "bench --workspace --bench * --profile dev --locked";
        steps.run("benches once", || {
            test::without_probes(line, &metadata, root)
                .args(["--", "--test"])
                .run()
        })?;
    } else {
        steps.skip("benches once", "the workspace has no package jp_bench yet");
    }
    steps.run("docs", || {
        test::without_probes("doc --workspace --no-deps --locked", &metadata, root)
            .env("RUSTDOCFLAGS", "-Dwarnings")
            .run()
    })?;
    steps.run_partly("interop", || interop::check(root))?;
    dist::add_quick_steps(root, steps)?;
    pages(root, &metadata, steps)
}

fn deny_warnings(run: Run) -> Run {
    run.args(["--", "-D", "warnings"])
}

/// Code that only exists in a guest is invisible to clippy on the host.
fn guest_clippy(target: Target, packages: &[&str], metadata: &Metadata, root: &Path) -> Run {
    let line = format!(
        "clippy --target {} --lib --examples --locked",
        target.triple()
    );
    let run = packages
        .iter()
        .filter(|name| metadata.has(name))
        .fold(Run::cargo(&line, root), |run, name| {
            run.args(["--package", name])
        });
    match target.feature() {
        Some(feature) => run.args(["--features", feature]),
        None => run,
    }
}

/// Checks that `jp` builds without Wasm, and then really without wasmtime.
fn without_wasm(root: &Path, metadata: &Metadata, steps: &mut Steps) -> Result<()> {
    if !metadata.has("jp_cli") {
        steps.skip("jp without wasm", "the workspace has no package jp_cli yet");
        return Ok(());
    }
    steps.run("jp without wasm", || {
        let check = "check --package jp_cli --no-default-features --locked";
        Run::cargo(check, root).run()?;
        // Wasm without the compiler: what is precompiled still runs.
        Run::cargo(check, root).args(["--features", "wasm-tools"]).run()?;
        let tree = "tree --package jp_cli --edges normal --prefix none --locked";
        let whole = Run::cargo(tree, root).stdout()?;
        if !has_wasmtime(&whole) {
            bail!("`cargo {tree}` shows no wasmtime, so this check would see nothing");
        }
        ceilings::check_packages(&whole)?;
        if has_wasmtime(&Run::cargo(tree, root).arg("--no-default-features").stdout()?) {
            bail!("jp without default features still has wasmtime; see: cargo {tree} --no-default-features");
        }
        Ok(())
    })
}

fn has_wasmtime(tree: &str) -> bool {
    tree.lines().any(|line| line.starts_with("wasmtime v"))
}

/// Follows README and the pages of docs to the letter, with the built `jp` first in `PATH`.
fn pages(root: &Path, metadata: &Metadata, steps: &mut Steps) -> Result<()> {
    let jp = metadata.target_directory.join("debug/jp");
    let pages = pages_with_steps(root)?;
    if pages.is_empty() {
        bail!("no page of docs has a block with `step=`, so this check would see nothing");
    }
    for page in pages {
        let name = page
            .strip_prefix(root)
            .unwrap_or(&page)
            .display()
            .to_string();
        steps.run(&name, || {
            Run::new("bash", root)
                .arg(root.join("docs/follow-page.sh"))
                .arg(&page)
                .arg(&jp)
                .run()
        })?;
    }
    Ok(())
}

/// Returns the pages that have something to type, in the order of their names: README, the tutorial, how-tos.
fn pages_with_steps(root: &Path) -> Result<Vec<PathBuf>> {
    let mut pages = Vec::new();
    for dir in [".", "docs", "docs/how-to"] {
        for entry in fs::read_dir(root.join(dir))? {
            let path = entry?.path();
            if path.extension().is_some_and(|end| end == "md")
                && fs::read_to_string(&path)?.contains("```console step=")
            {
                pages.push(path);
            }
        }
    }
    pages.sort();
    Ok(pages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wasmtime_is_seen_in_a_tree_and_its_helpers_are_not_it() {
        assert!(has_wasmtime("jp_cli v0.1.0\nwasmtime v48.0.8\n"));
        assert!(!has_wasmtime("jp_cli v0.1.0\nwasmparser v0.254.2\n"));
    }

    #[test]
    fn only_pages_with_something_to_type_are_followed_and_in_order() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("docs/how-to");
        fs::create_dir_all(&dir).unwrap();
        for (name, text) in [
            ("b.md", "```console step=x\ntrue\n```\n"),
            ("a.md", "```console step=y\ntrue\n```\n"),
            ("c.md", "nothing to type\n"),
            ("d.sh", "```console step=z\n"),
        ] {
            fs::write(dir.join(name), text).unwrap();
        }
        assert_eq!(
            pages_with_steps(root.path()).unwrap(),
            [dir.join("a.md"), dir.join("b.md")]
        );
    }
}

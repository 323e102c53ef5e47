//! `cargo xtask dist`: the binary people install, with its builtins compiled ahead of time, and the packages that
//! carry it.

mod archive;
mod installed;
mod mcpb;
mod needs;
mod npm;
mod packages;
mod release;
mod server;
mod wheel;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use flate2::Compression;

use self::packages::Packages;
use self::release::Publisher;
use crate::metadata::Metadata;
use crate::process::Run;
use crate::report::{self, Steps};
use crate::{ceilings, guests, test};

pub(crate) const HELP: &str = "\
builds the jp that people install, with precompiled builtins, and packages of it

A development build of jp, made first unless it is there, compiles the builtins:
code depends on wasmtime's version and settings, not on how jp itself was
optimised. Then jp is built once, with the result embedded, and asked whether
it accepts it. Fails above the ceiling in xtask/src/ceilings.rs.

From that jp it makes a bundle (.mcpb), a package of npm, a wheel of Python and a
server.json that names them, in `packages` beside it. Each is installed in an
empty directory and used. What node, npm, python3 or the package registries
cannot give is skipped and said.

  --quick            the same with the development profile: for trying the chore, as CI does
  --sizes            also builds a jp without Wasm, to compare
  --namespace NAME   whose server it is in the registry of MCP servers, such as
                     io.github.NAME (default: com.example, which nobody can publish)
  --releases URL     the directory that the packages will be downloaded from";

/// What the chore is run for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// A binary to install.
    Install,
    /// Seeing that the chore works, in little time.
    Trial,
}

/// What the command line asks for.
struct Asked {
    purpose: Purpose,
    compare: bool,
    publisher: Publisher,
}

impl Asked {
    fn read(words: &[&str]) -> Result<Self> {
        let mut asked = Self {
            purpose: Purpose::Install,
            compare: false,
            publisher: Publisher::default(),
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || -> Result<String> {
                let value = words
                    .next()
                    .with_context(|| format!("missing value of {word}"))?;
                Ok((*value).to_owned())
            };
            match *word {
                "--quick" => asked.purpose = Purpose::Trial,
                "--sizes" => asked.compare = true,
                "--namespace" => asked.publisher.namespace = value()?,
                "--releases" => asked.publisher.releases = value()?,
                other => bail!("unknown option `{other}`; try: cargo xtask dist --help"),
            }
        }
        // Before minutes are spent on a build.
        asked.publisher.check()?;
        Ok(asked)
    }
}

/// Runs the chore.
pub(crate) fn run(root: &Path, words: &[&str]) -> Result<()> {
    let Asked {
        purpose,
        compare,
        publisher,
    } = Asked::read(words)?;
    let mut steps = Steps::default();
    steps.run("targets", || guests::ensure_targets(root))?;
    let binary = add_steps(root, purpose, &mut steps)?;
    let packages = add_packages(root, (purpose, &binary), &publisher, &mut steps)?;
    let without_wasm = if compare {
        Some(size_without_wasm(root, &mut steps)?)
    } else {
        None
    };
    steps.summary();
    let bytes = size(&binary)?;
    report::data(&format!("jp           {bytes:>12} bytes"));
    if let Some(bytes) = without_wasm {
        report::data(&format!("without wasm {bytes:>12} bytes"));
    }
    report::data(&binary.display().to_string());
    packages.show();
    match purpose {
        Purpose::Install => ceilings::check_binary(bytes),
        Purpose::Trial => Ok(()),
    }
}

/// Tries the chore with the development profile, as steps of a longer run.
pub(crate) fn add_quick_steps(root: &Path, steps: &mut Steps) -> Result<()> {
    let binary = add_steps(root, Purpose::Trial, steps)?;
    let publisher = Publisher::default();
    add_packages(root, (Purpose::Trial, &binary), &publisher, steps).map(|_| ())
}

/// Packs a binary, and installs and uses the packages.
fn add_packages(
    root: &Path,
    (purpose, binary): (Purpose, &Path),
    publisher: &Publisher,
    steps: &mut Steps,
) -> Result<Packages> {
    let packed = steps.yielding("packages", || match purpose {
        Purpose::Install => packages::make(root, binary, publisher, Compression::best()),
        Purpose::Trial => {
            let binary = packages::stripped(root, binary)?;
            packages::make(root, &binary, publisher, Compression::fast())
        }
    })?;
    steps.run_partly("packages, installed", || installed::check(root, &packed))?;
    Ok(packed)
}

/// Builds jp with its builtins precompiled, and returns where it lies.
fn add_steps(root: &Path, purpose: Purpose, steps: &mut Steps) -> Result<PathBuf> {
    let metadata = Metadata::read(root)?;
    if !metadata.has("jp_cli") {
        bail!("the workspace has no package jp_cli yet");
    }
    let target = &metadata.target_directory;
    let precompiled = target.join("precompiled");
    let development = target.join("debug/jp");
    let (compiles, embeds, binary) = match purpose {
        Purpose::Install => (
            build(root, "dev"),
            build(root, DIST),
            target.join("dist/jp"),
        ),
        Purpose::Trial => (
            test::jp_as_tested(&metadata, root),
            test::jp_as_tested(&metadata, root),
            development.clone(),
        ),
    };
    steps.run("precompile builtins", || {
        compiles.run()?;
        fs::create_dir_all(&precompiled)?;
        Run::new(&development, root)
            .arg("__precompile")
            .arg(&precompiled)
            .run()
    })?;
    steps.run("jp with precompiled builtins", || {
        embeds.env("JP_PRECOMPILED_DIR", &precompiled).run()
    })?;
    steps.run("its builtins are accepted", || {
        Run::new(&binary, root)
            .args(["__precompile", "--check"])
            .run()
    })?;
    Ok(binary)
}

fn size_without_wasm(root: &Path, steps: &mut Steps) -> Result<u64> {
    // A directory of its own, so that the binary cannot be taken for the one that is installed.
    let target = Metadata::read(root)?.target_directory.join("without-wasm");
    steps.run("jp without wasm", || {
        build(root, DIST)
            .arg("--no-default-features")
            .arg("--target-dir")
            .arg(&target)
            .run()
    })?;
    size(&target.join("dist/jp"))
}

/// The cargo profile of what people install.
const DIST: &str = "dist";

fn build(root: &Path, profile: &str) -> Run {
    let line = format!("build --package jp_cli --profile {profile} --locked");
    Run::cargo(&line, root)
}

fn size(path: &Path) -> Result<u64> {
    let metadata = fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(metadata.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_option_is_refused_before_anything_is_built() {
        let error = run(Path::new("/nonexistent"), &["--fast"]).unwrap_err();
        assert!(error.to_string().contains("`--fast`"), "{error}");
        for (words, part) in [
            (&["--namespace"][..], "missing value of --namespace"),
            (&["--namespace", "me"], "invalid namespace `me`"),
            (&["--releases", "ftp://x"], "invalid URL `ftp://x`"),
        ] {
            let error = run(Path::new("/nonexistent"), words).unwrap_err();
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}

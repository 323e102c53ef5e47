//! The packages, installed where there was nothing, and used: a version, and a server that is talked to.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::packages::Packages;
use super::release::{GRANT, PACKAGE};
use crate::interop::{install_from_npm, interop_dir};
use crate::process::{Run, is_installed};
use crate::report::{Ran, say};
use crate::sample::Sample;
use crate::talk::Talk;

/// What bundles are checked and unpacked with, by those who made the format.
const MCPB: &str = "@anthropic-ai/mcpb@2.1.2";
const MCPB_MAIN: &str = "node_modules/@anthropic-ai/mcpb/dist/cli/cli.js";

/// Prints the command of a bundle, with the directory in the place of its variable.
const MCPB_COMMAND: &str = "crates/jp_test/interop/mcpb_command.mjs";

/// A word that only a tool that reads the workspace can know.
const WORD: &str = "in-the-workspace";

/// Installs and uses what can be installed here.
pub(super) fn check(root: &Path, packages: &Packages) -> Result<Ran> {
    let sample = Sample::fresh(root, "installed")?;
    sample.write("notes.txt", &format!("{WORD}\n"))?;
    let mut skipped = Vec::new();
    let all: [(&str, Check, &Path); 3] = [
        ("npm", npm, &packages.npm),
        ("pypi", pypi, &packages.wheel),
        ("mcpb", mcpb, &packages.bundle),
    ];
    for (name, check, package) in all {
        let dir = fresh(&sample, name)?;
        match check(root, &sample, &dir, package).with_context(|| name)? {
            Ok(()) => say(&format!("{name}: installed and used")),
            Err(why) => {
                say(&format!("{name}: skipped: {why}"));
                skipped.push(format!("{name}: {why}"));
            }
        }
        // Each holds a copy of the binary.
        fs::remove_dir_all(&dir).with_context(|| dir.display().to_string())?;
    }
    Ok(if skipped.is_empty() {
        Ran::Fully
    } else {
        Ran::Partly(skipped.join("; "))
    })
}

/// Installs a package into a directory and uses it, or says why that cannot be.
type Check = fn(&Path, &Sample, &Path, &Path) -> Result<Result<(), String>>;

fn fresh(sample: &Sample, name: &str) -> Result<PathBuf> {
    let dir = sample.workspace().with_file_name(name);
    if dir.exists() {
        fs::remove_dir_all(&dir).with_context(|| dir.display().to_string())?;
    }
    fs::create_dir_all(&dir).with_context(|| dir.display().to_string())?;
    Ok(dir)
}

fn npm(_: &Path, sample: &Sample, dir: &Path, package: &Path) -> Result<Result<(), String>> {
    for program in ["node", "npm"] {
        if !is_installed(program, "--version") {
            return Ok(Err(format!("{program} is not installed")));
        }
    }
    fs::write(dir.join("package.json"), "{ \"private\": true }\n")?;
    Run::new("npm", dir)
        .args(["install", "--offline", "--no-audit", "--no-fund"])
        .arg(package)
        .stdout()?;
    // npx starts what a package names as its only program, whatever its name.
    let shown = Run::new("npx", dir).args(["--offline", PACKAGE, "--version"]);
    check_version(&shown)?;
    used(sample, &dir.join("node_modules/.bin/jp")).map(Ok)
}

fn pypi(_: &Path, sample: &Sample, dir: &Path, package: &Path) -> Result<Result<(), String>> {
    if !is_installed("python3", "--version") {
        return Ok(Err("python3 is not installed".to_owned()));
    }
    let venv = dir.join("venv");
    let made = Run::new("python3", dir).args(["-m", "venv"]).arg(&venv);
    if let Err(error) = made.stdout() {
        return Ok(Err(format!("cannot make a venv: {error:#}")));
    }
    let bin = venv.join("bin");
    Run::new(bin.join("pip"), dir)
        .args(["install", "--quiet", "--no-index"])
        .arg(package)
        .stdout()?;
    check_version(&Run::new(bin.join(PACKAGE), dir).arg("--version"))?;
    used(sample, &bin.join("jp")).map(Ok)
}

fn mcpb(root: &Path, sample: &Sample, dir: &Path, package: &Path) -> Result<Result<(), String>> {
    let modules = interop_dir(root)?.join("mcpb");
    if let Err(why) = install_from_npm(&modules, MCPB) {
        return Ok(Err(why));
    }
    let modules = modules.canonicalize()?;
    let tool = |words: &[&str]| {
        Run::new("node", dir)
            .arg(modules.join(MCPB_MAIN))
            .args(words)
    };
    tool(&["unpack"]).arg(package).arg(dir).stdout()?;
    tool(&["validate", "manifest.json"]).stdout()?;
    // A module finds its packages beside itself.
    let script = modules.join("command.mjs");
    fs::copy(root.join(MCPB_COMMAND), &script)?;
    let printed = Run::new("node", dir)
        .arg(&script)
        .arg(dir)
        .arg(sample.workspace())
        .stdout()?;
    let command: Vec<String> = serde_json::from_str(&printed).context(printed)?;
    let (program, words) = command
        .split_first()
        .context("a bundle without a command")?;
    check_version(&Run::new(program, dir).arg("--version"))?;
    let serve = sample.places(Run::new(program, dir)).args(words);
    handshake(&serve).map(Ok)
}

/// Uses a program as its server's description in the registry says.
fn used(sample: &Sample, program: &Path) -> Result<()> {
    check_version(&Run::new(program, &sample.workspace()).arg("--version"))?;
    let directory = format!("--directory={}", sample.workspace().display());
    let serve = sample.places(Run::new(program, &sample.workspace()));
    let serve = GRANT
        .iter()
        .fold(serve.args(["serve", &directory]), |serve, assignment| {
            serve.arg(format!("--cfg={assignment}"))
        });
    handshake(&serve)
}

fn check_version(run: &Run) -> Result<()> {
    let version = run.stdout()?;
    let expected = concat!("jp ", env!("CARGO_PKG_VERSION"));
    ensure!(
        version.trim() == expected,
        "expected `{expected}`, found `{}`\n\nto repeat it alone:\n  {run}",
        version.trim()
    );
    Ok(())
}

/// Talks to a server as a client does that starts it: it lists its tools, and one of them reads the workspace.
fn handshake(serve: &Run) -> Result<()> {
    let mut talk = Talk::start(serve)?;
    let client = json!({"name": "installed", "version": "1"});
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let server = talk.ask("initialize", &hello)?;
    ensure!(
        server["serverInfo"]["name"] == "jp",
        "another server: {server}"
    );
    talk.tell("notifications/initialized")?;
    let listed = talk.ask("tools/list", &json!({}))?;
    let has_bash = |tools: &Vec<Value>| tools.iter().any(|tool| tool["name"] == "bash");
    if !listed["tools"].as_array().is_some_and(has_bash) {
        bail!("`bash` is not listed: {listed}");
    }
    let script = json!({"commands": "cat notes.txt"});
    let read = talk.ask("tools/call", &json!({"name": "bash", "arguments": script}))?;
    ensure!(
        read.to_string().contains(WORD),
        "the workspace is not readable: {read}"
    );
    let script = json!({"commands": "echo lost > notes.txt"});
    let written = talk.ask("tools/call", &json!({"name": "bash", "arguments": script}))?;
    ensure!(
        written["isError"] == true,
        "the workspace was changed: {written}"
    );
    talk.end()
}

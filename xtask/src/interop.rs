//! `cargo xtask interop`: tools that others' toolchains built, run by the built `jp`; MCP servers and a
//! keyring that others wrote, talked to by ours; MCP clients that others wrote, served by it.

mod inspector;
mod keyring;
mod mcp;
mod node;
mod serve;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

pub(crate) use self::node::newer_node;
use crate::metadata::Metadata;
use crate::process::{Run, is_installed};
use crate::report::{Ran, Steps, say};
use crate::sample::{Call, Sample};

pub(crate) const HELP: &str = "\
builds a Python and a JavaScript tool and runs them with jp; talks to MCP servers, lets clients of others
talk to `jp serve`, and uses a keyring

Installs pinned componentize-py, componentize-js, two MCP servers (one for
node, one on the Python SDK), two MCP clients and the inspector of MCP, with a node that is
new enough for it, into target/interop; dbus and gnome-keyring with
apt-get, if they are missing and root asks. What python3, node, npm, apt-get or
the package registries cannot give is skipped and said.";

const COMPONENTIZE_PY: &str = "componentize-py==0.25.1";
const COMPONENTIZE_JS: &str = "@bytecodealliance/componentize-js@0.23.0";

/// The contract that both tools are built against.
const WIT: &str = "crates/jp_tool/wit/tool.wit";

/// A language: where its tool comes from and how a call of it must end.
struct Language {
    name: &'static str,
    source: &'static str,
    component: &'static str,
    build: fn(&Path, &Language) -> Result<Built>,
    calls: &'static [Call],
}

/// A component, or why there is none.
enum Built {
    Component(PathBuf),
    Skipped(String),
}

const LANGUAGES: &[Language] = &[
    Language {
        name: "python",
        source: "crates/jp_test/interop/tool.py",
        component: "python.wasm",
        build: build_python,
        calls: &[
            Call {
                title: "A Python tool reads a file of the workspace.",
                words: &["python", "path=notes.txt"],
                exit: 0,
                contains: "second note",
            },
            Call {
                title: "It cannot read a file outside.",
                words: &["python", "path=../outside.txt"],
                exit: 1,
                contains: "cannot read ../outside.txt",
            },
        ],
    },
    Language {
        name: "javascript",
        source: "crates/jp_test/interop/tool.js",
        component: "javascript.wasm",
        build: build_javascript,
        calls: &[Call {
            title: "A JavaScript tool answers with its arguments and the root it was given.",
            words: &["javascript", "word=hello"],
            exit: 0,
            contains: "\"HELLO\"} /workspace",
        }],
    },
];

/// Runs the chore.
pub(crate) fn run(root: &Path) -> Result<()> {
    let mut steps = Steps::default();
    let result = steps.run_partly("interop", || check(root));
    steps.summary();
    result
}

/// Builds what can be built here, runs it, and says what was left out.
pub(crate) fn check(root: &Path) -> Result<Ran> {
    let mut skipped = mcp::check(root)?;
    skipped.extend(serve::check(root)?);
    skipped.extend(keyring::check(root)?);
    let mut built = Vec::new();
    for language in LANGUAGES {
        match (language.build)(root, language).with_context(|| language.name)? {
            Built::Component(path) => {
                let size = fs::metadata(&path)?.len();
                say(&format!(
                    "{}: {} bytes, {}",
                    language.name,
                    size,
                    path.display()
                ));
                built.push((language, path));
            }
            Built::Skipped(why) => {
                say(&format!("{}: skipped: {why}", language.name));
                skipped.push(format!("{}: {why}", language.name));
            }
        }
    }
    if !Metadata::read(root)?.has("jp_cli") {
        skipped.push("running them: the workspace has no package jp_cli yet".to_owned());
    } else if !built.is_empty() {
        run_all(root, &built)?;
    }
    Ok(if skipped.is_empty() {
        Ran::Fully
    } else {
        Ran::Partly(skipped.join("; "))
    })
}

fn run_all(root: &Path, built: &[(&Language, PathBuf)]) -> Result<()> {
    let sample = Sample::of_tests(root, "interop")?;
    let mut config = String::new();
    for (language, component) in built {
        let path = format!(".jp/tools/{}", language.component);
        sample.copy(component, &path)?;
        config.push_str(&tool_config(language.name, &path));
    }
    sample.write(".jp/config.toml", &config)?;
    sample.write("notes.txt", "first note\nsecond note\n")?;
    sample.write("../outside.txt", "not for tools\n")?;
    sample.jp(&["trust"]).run()?;
    for call in built.iter().flat_map(|(language, _)| language.calls) {
        sample.call(call)?;
    }
    Ok(())
}

fn tool_config(name: &str, path: &str) -> String {
    let parameter = if name == "python" { "path" } else { "word" };
    format!(
        "[conversation.tools.{name}]\nsource = \"local\"\nwasm = \"{path}\"\nrun = \"unattended\"\n\
         parameters.{parameter} = {{ type = \"string\", required = true }}\n\n"
    )
}

fn build_python(root: &Path, language: &Language) -> Result<Built> {
    let dir = interop_dir(root)?;
    let venv = dir.join("venv");
    let tool = venv.join("bin").join("componentize-py");
    if !is_installed("python3", "--version") {
        return Ok(Built::Skipped("python3 is not installed".to_owned()));
    }
    let installed = install(&venv, COMPONENTIZE_PY, || {
        Run::new("python3", &dir)
            .args(["-m", "venv", "--clear"])
            .arg(&venv)
            .stdout()?;
        let pip = Run::new(venv.join("bin").join("pip"), &dir);
        pip.args(["install", "--quiet", COMPONENTIZE_PY]).stdout()
    });
    if let Err(error) = installed {
        return Ok(Built::Skipped(first_line(&format!(
            "cannot install {COMPONENTIZE_PY}: {error:#}"
        ))));
    }
    let (source, output) = (root.join(language.source), dir.join(language.component));
    if is_stale(&output, &[&source, &root.join(WIT), &venv.join(STAMP)]) {
        // It writes the imported module's compiled form beside the source, so it gets a copy.
        let copy = dir.join("python");
        fs::create_dir_all(&copy)?;
        fs::copy(&source, copy.join("tool.py"))?;
        Run::new(tool, &copy)
            .arg("--wit-path")
            .arg(root.join(WIT))
            .args(["--world", "tool", "componentize", "tool", "--output"])
            .arg(&output)
            .stdout()?;
    }
    Ok(Built::Component(output))
}

/// Installs a package of npm into a directory of its own, or says why that cannot be.
pub(crate) fn install_from_npm(modules: &Path, package: &str) -> Result<(), String> {
    for program in ["node", "npm"] {
        if !is_installed(program, "--version") {
            return Err(format!("{program} is not installed"));
        }
    }
    let installed = install(modules, package, || {
        fs::create_dir_all(modules)?;
        fs::write(modules.join("package.json"), "{ \"private\": true }\n")?;
        let words = [
            "install",
            "--save-exact",
            "--no-audit",
            "--no-fund",
            "--ignore-scripts",
        ];
        Run::new("npm", modules).args(words).arg(package).stdout()
    });
    installed
        .map(|_| ())
        .map_err(|error| first_line(&format!("cannot install {package}: {error:#}")))
}

fn build_javascript(root: &Path, language: &Language) -> Result<Built> {
    let dir = interop_dir(root)?;
    let modules = dir.join("javascript");
    if let Err(why) = install_from_npm(&modules, COMPONENTIZE_JS) {
        return Ok(Built::Skipped(why));
    }
    let (source, output) = (root.join(language.source), dir.join(language.component));
    if is_stale(&output, &[&source, &root.join(WIT), &modules.join(STAMP)]) {
        Run::new(modules.join("node_modules/.bin/componentize-js"), &modules)
            .arg(&source)
            .arg("--wit")
            .arg(root.join(WIT))
            .args(["--world-name", "tool", "--out"])
            .arg(&output)
            .stdout()?;
    }
    Ok(Built::Component(output))
}

/// Returns the directory that everything is installed into.
pub(crate) fn interop_dir(root: &Path) -> Result<PathBuf> {
    let dir = root.join("target").join("interop");
    fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
    Ok(dir)
}

/// The file that says which version a directory was installed with.
const STAMP: &str = "installed-by-xtask";

/// Installs into `dir` unless that very package is there already.
fn install(dir: &Path, package: &str, install: impl FnOnce() -> Result<String>) -> Result<()> {
    let stamp = dir.join(STAMP);
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == package) {
        return Ok(());
    }
    say(&format!("installing {package} into {}", dir.display()));
    install()?;
    fs::write(stamp, package)?;
    Ok(())
}

/// Returns whether `output` is missing or older than any of `inputs`.
fn is_stale(output: &Path, inputs: &[&Path]) -> bool {
    let modified = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified());
    let Ok(made) = modified(output) else {
        return true;
    };
    inputs
        .iter()
        .any(|input| modified(input).map_or(true, |changed| changed > made))
}

/// An installer's complaint may be long; the first line that is not empty names the cause.
fn first_line(text: &str) -> String {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .take(2)
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_tools_are_configured_as_toml() {
        for language in LANGUAGES {
            let config: toml::Table = tool_config(language.name, "x.wasm").parse().unwrap();
            let tool = &config["conversation"]["tools"][language.name];
            let (parameter, _) = language.calls[0].words[1].split_once('=').unwrap();
            assert!(tool["parameters"].get(parameter).is_some(), "{tool}");
        }
    }

    #[test]
    fn another_pinned_version_is_installed_again() {
        let dir = tempfile::tempdir().unwrap();
        let install_counted = |package: &str| {
            let mut ran = false;
            install(dir.path(), package, || {
                ran = true;
                Ok(String::new())
            })
            .unwrap();
            ran
        };
        assert!(install_counted("a==1"));
        assert!(!install_counted("a==1"));
        assert!(install_counted("a==2"));
    }

    #[test]
    fn a_failed_installation_is_tried_again() {
        let dir = tempfile::tempdir().unwrap();
        assert!(install(dir.path(), "a==1", || anyhow::bail!("no network")).is_err());
        assert!(!dir.path().join(STAMP).exists());
    }
}

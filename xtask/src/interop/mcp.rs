//! MCP servers that others wrote, or that stand on others' frameworks, talked to by our client.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::{first_line, install, install_from_npm, interop_dir};
use crate::process::{Run, is_installed};
use crate::report::say;

const EVERYTHING: &str = "@modelcontextprotocol/server-everything@2026.8.31";
const EVERYTHING_MAIN: &str = "node_modules/@modelcontextprotocol/server-everything/dist/index.js";
const PYTHON_SDK: &str = "mcp==2.3.0";

/// The server on the Python SDK's framework, which was called FastMCP before its version 2.
const PYTHON_SERVER: &str = "crates/jp_test/interop/mcp_server.py";

/// Talks to a program on its standard streams.
const STDIO: &str = "--package jp_mcp --example talk";

/// Talks to a program that serves a URL.
const HTTP: &str = "--package jp_broker --example talk_http";

/// A server: how it gets here, who talks to it, and what is asked of it.
struct Server {
    name: &'static str,
    client: &'static str,
    plan: fn(&Path) -> Result<Planned>,
}

/// What to ask, or why the server is not there.
enum Planned {
    Plan(Value),
    Skipped(String),
}

const SERVERS: &[Server] = &[
    Server {
        name: "everything (node)",
        client: STDIO,
        plan: everything,
    },
    Server {
        name: "everything (node, HTTP)",
        client: HTTP,
        plan: everything_http,
    },
    Server {
        name: "python-sdk",
        client: STDIO,
        plan: python,
    },
];

/// Talks to all servers and returns what was left out.
pub(super) fn check(root: &Path) -> Result<Vec<String>> {
    let mut skipped = Vec::new();
    for server in SERVERS {
        match (server.plan)(root).with_context(|| server.name)? {
            Planned::Skipped(why) => {
                say(&format!("mcp {}: skipped: {why}", server.name));
                skipped.push(format!("mcp {}: {why}", server.name));
            }
            Planned::Plan(plan) => {
                say(&format!("mcp {}", server.name));
                let path = interop_dir(root)?.join("plan.json");
                fs::write(&path, plan.to_string())?;
                Run::cargo(&format!("run --quiet {} --", server.client), root)
                    .arg(&path)
                    .run()
                    .with_context(|| server.name)?;
            }
        }
    }
    Ok(skipped)
}

/// Installs the server, and returns where; or why it cannot be.
fn install_everything(root: &Path) -> Result<Result<PathBuf, String>> {
    let modules = interop_dir(root)?.join("everything");
    Ok(match install_from_npm(&modules, EVERYTHING) {
        Ok(()) => Ok(modules.canonicalize()?),
        Err(why) => Err(why),
    })
}

fn everything(root: &Path) -> Result<Planned> {
    let modules = match install_everything(root)? {
        Ok(modules) => modules,
        Err(why) => return Ok(Planned::Skipped(why)),
    };
    Ok(Planned::Plan(json!({
        "program": "node",
        "arguments": [modules.join(EVERYTHING_MAIN), "stdio"],
        "read": [modules],
        "calls": [
            {"tool": "echo", "arguments": {"message": "héllo"}, "contains": "Echo: héllo"},
            {"tool": "get-sum", "arguments": {"a": 2, "b": 40}, "contains": "42"},
            {"tool": "get-tiny-image", "contains": "[image: image/png, "},
            {"tool": "get-structured-content", "arguments": {"location": "Chicago"}, "contains": "temperature"},
            {"tool": "get-resource-reference", "arguments": {"resourceType": "Text", "resourceId": 1}, "contains": "resource"},
            {"tool": "get-sum", "arguments": {"a": "two"}, "contains": "Invalid arguments"},
            {"tool": "get-env", "contains": "\"HOME\": \"/tmp\""},
            {"tool": "trigger-long-running-operation", "arguments": {"duration": 1, "steps": 4},
             "contains": "completed", "progress": 3},
            {"tool": "trigger-long-running-operation", "arguments": {"duration": 60, "steps": 4},
             "cancel_ms": 500, "contains": "cancelled", "within_ms": 5000},
            {"tool": "echo", "arguments": {"message": "still here"}, "contains": "still here"},
        ],
    })))
}

/// Over HTTP it answers with streams of events: what counts is that they are read as they come.
fn everything_http(root: &Path) -> Result<Planned> {
    let modules = match install_everything(root)? {
        Ok(modules) => modules,
        Err(why) => return Ok(Planned::Skipped(why)),
    };
    Ok(Planned::Plan(json!({
        "program": "node",
        "arguments": [modules.join(EVERYTHING_MAIN), "streamableHttp"],
        "calls": [
            {"tool": "echo", "arguments": {"message": "héllo"}, "contains": "Echo: héllo"},
            {"tool": "get-sum", "arguments": {"a": "two"}, "contains": "Invalid arguments"},
            {"tool": "trigger-long-running-operation", "arguments": {"duration": 2, "steps": 4},
             "contains": "completed", "progress": 3, "ahead_ms": 1000},
            {"tool": "trigger-long-running-operation", "arguments": {"duration": 60, "steps": 4},
             "cancel_ms": 500, "contains": "cancelled", "within_ms": 5000},
            {"tool": "echo", "arguments": {"message": "still here"}, "contains": "still here"},
        ],
    })))
}

/// Installs the Python SDK, and returns the interpreter that has it; or why it cannot be had.
pub(super) fn python_sdk(root: &Path) -> Result<Result<PathBuf, String>> {
    let dir = interop_dir(root)?;
    let venv = dir.join("python-sdk");
    if !is_installed("python3", "--version") {
        return Ok(Err("python3 is not installed".to_owned()));
    }
    let installed = install(&venv, PYTHON_SDK, || {
        Run::new("python3", &dir)
            .args(["-m", "venv", "--clear"])
            .arg(&venv)
            .stdout()?;
        let pip = Run::new(venv.join("bin").join("pip"), &dir);
        pip.args(["install", "--quiet", PYTHON_SDK]).stdout()
    });
    if let Err(error) = installed {
        let why = format!("cannot install {PYTHON_SDK}: {error:#}");
        return Ok(Err(first_line(&why)));
    }
    Ok(Ok(venv.canonicalize()?.join("bin").join("python")))
}

fn python(root: &Path) -> Result<Planned> {
    let dir = interop_dir(root)?;
    let python = match python_sdk(root)? {
        Ok(python) => python,
        Err(why) => return Ok(Planned::Skipped(why)),
    };
    let venv = dir.join("python-sdk").canonicalize()?;
    // The interpreter itself may live outside the directories of the system.
    let base = Run::new(&python, &dir).args(["-c", "import sys; print(sys.base_prefix)"]);
    let base = PathBuf::from(base.stdout()?.trim()).canonicalize()?;
    let source = root.join(PYTHON_SERVER).canonicalize()?;
    let mut read = vec![venv, source.clone()];
    if !base.starts_with("/usr") {
        read.push(base);
    }
    Ok(Planned::Plan(json!({
        "program": python,
        "arguments": ["-u", source],
        "read": read,
        "calls": [
            {"tool": "add", "arguments": {"a": 2, "b": 40}, "contains": "42"},
            {"tool": "add", "arguments": {"a": "two", "b": 1}, "contains": "validation error"},
            {"tool": "read", "arguments": {"path": root.join("Cargo.toml")}, "contains": "Error executing tool read"},
            {"tool": "environment", "contains": "HOME LANG PATH TMPDIR"},
            {"tool": "count", "arguments": {"steps": 3, "seconds": 0.2}, "contains": "counted to 3", "progress": 2},
            {"tool": "count", "arguments": {"steps": 60, "seconds": 1}, "cancel_ms": 500,
             "contains": "cancelled", "within_ms": 5000},
            {"tool": "add", "arguments": {"a": 1, "b": 1}, "contains": "2"},
        ],
    })))
}

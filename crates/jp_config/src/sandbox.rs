//! A third way to write a configuration: the sandbox JSON (`tools.settings.sandbox.tools.<tool>`),
//! turned into the one model before anything else looks at it.
//!
//! Fails closed: a key that would be ignored is an error, apart from the two that are known to have
//! no effect, which are said to have none.

use serde_json::{Map, Value, json};

use crate::{
    diagnose::Finding,
    error::Problem,
    front::{At, Translated},
};

/// The key that tells this format from our own, which has no such section.
const MARK: &str = "tools";
/// Versions of the calling convention that a module can be configured for.
const ABI_VERSIONS: [u64; 2] = [1, 2];

/// Tells whether a tree is written in this format.
pub(crate) fn is_sandbox(tree: &Value) -> bool {
    tree.get(MARK).is_some()
}

/// Translates a file.
pub(crate) fn translate(tree: &Value) -> Result<Translated, Finding> {
    let mut at = At::default();
    let mut tools = Map::new();
    let root = at.table(tree, &[MARK])?;
    if let Some(section) = root.get(MARK) {
        at.inside(MARK, |at| {
            let section = at.table(section, &["settings"])?;
            at.child(section, "settings", |at, settings| {
                let settings = at.table(settings, &["sandbox"])?;
                at.child(settings, "sandbox", |at, sandbox| {
                    sandbox_tools(at, sandbox, &mut tools)
                })
            })
        })?;
    }
    Ok(Translated {
        tree: json!({ "conversation": { "tools": tools } }),
        remarks: at.remarks,
        origins: Vec::new(),
    })
}

fn sandbox_tools(
    at: &mut At,
    sandbox: &Value,
    tools: &mut Map<String, Value>,
) -> Result<(), Finding> {
    let sandbox = at.table(sandbox, &["mode", "tools"])?;
    if sandbox.contains_key("mode") {
        at.remark("mode", "ignored: tools always run in the sandbox");
    }
    at.child(sandbox, "tools", |at, entries| {
        let entries = entries
            .as_object()
            .ok_or_else(|| at.invalid("expected a table of tools"))?;
        for (name, entry) in entries {
            let tool = at.inside(name, |at| tool(at, entry))?;
            tools.insert(name.clone(), tool);
        }
        Ok(())
    })
}

fn tool(at: &mut At, entry: &Value) -> Result<Value, Finding> {
    let known = ["wasm", "capabilities", "runtime"];
    if let Some(key) = ["filesystem", "network"]
        .into_iter()
        .find(|key| entry.get(key).is_some())
    {
        // Their policies were never held by anything; ours are, under other names.
        let message = "not enforced in this format; write `grant.files` or `grant.net` of the tool in `.jp/config.toml`".to_owned();
        return Err(at.wrong(key, Problem::Invalid { message }));
    }
    let entry = at.table(entry, &known)?;
    if entry.contains_key("runtime") {
        at.remark("runtime", "ignored: tools always run as Wasm");
    }
    // Modules of this format are isolated from the host: no files, and calls only as allowed.
    let mut grant = Map::from_iter([("workspace".to_owned(), json!("none"))]);
    let mut tool = Map::from_iter([
        ("source".to_owned(), json!("local")),
        ("abi".to_owned(), json!(1)),
    ]);
    at.child(entry, "wasm", |at, wasm| {
        let wasm = at.table(wasm, &["module", "entrypoint", "timeout_ms", "fuel"])?;
        let mut limits = Map::new();
        for (key, ours) in [("timeout_ms", "time"), ("fuel", "fuel")] {
            at.child(wasm, key, |at, value| {
                let number = value.as_u64().filter(|number| *number > 0);
                let number = number.ok_or_else(|| at.invalid("expected a number above zero"))?;
                limits.insert(ours.to_owned(), number.into());
                Ok(())
            })?;
        }
        if !limits.is_empty() {
            tool.insert("limits".to_owned(), Value::Object(limits));
        }
        at.text(wasm, "module", |path| {
            let path = path.strip_prefix("./").unwrap_or(path);
            tool.insert("wasm".to_owned(), path.into());
        })?;
        at.text(wasm, "entrypoint", |name| {
            tool.insert("entrypoint".to_owned(), name.into());
        })
    })?;
    at.child(entry, "capabilities", |at, capabilities| {
        let capabilities = at.table(capabilities, &["abi_version", "allow"])?;
        at.child(capabilities, "abi_version", |at, version| {
            let known = version.as_u64().filter(|v| ABI_VERSIONS.contains(v));
            let version = known.ok_or_else(|| {
                at.invalid("unsupported capability ABI version (supported: 1 and 2)")
            })?;
            tool.insert("abi".to_owned(), version.into());
            Ok(())
        })?;
        if let Some(allow) = capabilities.get("allow") {
            grant.insert("calls".to_owned(), allow.clone());
        }
        Ok(())
    })?;
    tool.insert("grant".to_owned(), Value::Object(grant));
    Ok(Value::Object(tool))
}

#[cfg(test)]
#[path = "sandbox_tests.rs"]
mod tests;

//! A third way to write a configuration: the sandbox JSON (`tools.settings.sandbox.tools.<tool>`),
//! turned into the one model before anything else looks at it.
//!
//! Fails closed: a key that would be ignored is an error, apart from the two that are known to have
//! no effect, which are reported as such.

use jp_policy::HostPattern;
use serde_json::{Map, Value, json};

use crate::{
    diagnose::Finding,
    error::Problem,
    front::{At, Origins, Translated},
};

/// The key that distinguishes this format from our own, which has no such section.
const MARK: &str = "tools";
/// Versions of the calling convention that a module can be configured for.
const ABI_VERSIONS: [u64; 2] = [1, 2];
/// The key of what a tool may do with files, which nothing here can hold.
const FILES: &str = "filesystem";

/// Returns whether a tree is written in this format.
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
        origins: Origins::Sandbox,
    })
}

/// Returns where in the file the value of a key of ours is; nothing for a key that does not belong to a tool.
pub(crate) fn original(path: &[String]) -> Option<Vec<String>> {
    /// Keys below a tool, ours and theirs, the most exact first.
    const KEYS: [(&[&str], &[&str]); 8] = [
        (&["wasm"], &["wasm", "module"]),
        (&["entrypoint"], &["wasm", "entrypoint"]),
        (&["limits", "time"], &["wasm", "timeout_ms"]),
        (&["limits", "fuel"], &["wasm", "fuel"]),
        (&["abi"], &["capabilities", "abi_version"]),
        (&["grant", "calls"], &["capabilities", "allow"]),
        (&["grant", "net"], &["network"]),
        (&[], &[]),
    ];
    let [section, table, name, rest @ ..] = path else {
        return None;
    };
    if section != "conversation" || table != "tools" {
        return None;
    }
    let is_at = |ours: &[&str]| {
        rest.iter()
            .map(String::as_str)
            .take(ours.len())
            .eq(ours.iter().copied())
    };
    let (_, theirs) = KEYS.into_iter().find(|(ours, _)| is_at(ours))?;
    let start = [MARK, "settings", "sandbox", "tools", name.as_str()];
    Some(
        start
            .into_iter()
            .chain(theirs.iter().copied())
            .map(str::to_owned)
            .collect(),
    )
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
            let tool = at.inside(name, |at| tool(at, name, entry))?;
            tools.insert(name.clone(), tool);
        }
        Ok(())
    })
}

/// Says where a tool of this format can be given files. `.jp.toml` is read beside every other file,
/// and `.jp/config.toml` is not read beside `.jp/config.json`.
fn no_files(name: &str) -> String {
    let key = crate::tree::dotted(&["conversation", "tools", name].map(ToString::to_string));
    format!(
        "nothing in this format grants files; write `grant.files = [\"/workspace/DIR:read\"]` under `[{key}]` in `.jp.toml` of the workspace"
    )
}

/// Reads the hosts that a tool may have reached on its behalf.
fn hosts(at: &mut At, network: &Value) -> Result<Value, Finding> {
    let network = at.table(network, &["allow", "default_deny"])?;
    at.child(network, "default_deny", |at, deny| match deny {
        Value::Bool(true) => Ok(()),
        _ => Err(at.invalid("expected `true`: a tool reaches the hosts of `allow` and no others")),
    })?;
    let mut hosts = Vec::new();
    at.child(network, "allow", |at, allow| {
        at.each(allow, |at, host| {
            let text = at.str(host)?;
            let pattern: HostPattern = text.parse().map_err(|_| {
                at.invalid("expected a host such as `api.example.com`, `*.example.com` or `example.com:8443`")
            })?;
            hosts.push(Value::String(pattern.to_string()));
            Ok(())
        })
    })?;
    Ok(Value::Array(hosts))
}

fn tool(at: &mut At, name: &str, entry: &Value) -> Result<Value, Finding> {
    let known = ["wasm", "capabilities", "network", "runtime"];
    if entry.get(FILES).is_some() {
        let message = no_files(name);
        return Err(at.wrong(FILES, Problem::Invalid { message }));
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
    at.child(entry, "network", |at, network| {
        grant.insert("net".to_owned(), hosts(at, network)?);
        Ok(())
    })?;
    tool.insert("grant".to_owned(), Value::Object(grant));
    Ok(Value::Object(tool))
}

#[cfg(test)]
#[path = "sandbox_tests.rs"]
mod tests;

//! The manifest of an app, `locara.json`: another way to write a configuration, turned into the one
//! model before anything else looks at it.
//!
//! `capabilities`, `tooling` and `models` become the sections of the same names; modalities become
//! calls that the app allows. What only describes the app is checked and otherwise left alone.

mod fields;

use semver::VersionReq;
use serde_json::{Map, Value, json};

use crate::{
    capabilities,
    diagnose::Finding,
    error::Problem,
    front::{At, Origins, Translated},
    tooling::{ModelPin, is_tool_id, not_an_id, versions},
};

/// The name of the file.
pub(crate) const FILE: &str = "locara.json";
/// The version of the format.
const SCHEMA: &str = "locara/v1";

/// Sections about building, storing and starting an app.
const WITHOUT_EFFECT: [&str; 4] = ["profiles", "storage", "entry", "build"];
/// What such a section does here.
const NO_EFFECT: &str = "has no effect here: this host runs the app's tools, not the app";

/// What a modality needs of the host, if the host has it.
const MODALITIES: [(&str, Option<&str>); 8] = [
    ("text-to-text", Some("llm.generate")),
    ("text-to-text-thinking", Some("llm.generate")),
    ("speech-to-text", Some("stt.transcribe")),
    ("text-to-speech", None),
    ("voice-to-voice", None),
    ("image-to-text", None),
    ("text-to-image", None),
    ("text-to-embedding", None),
];

/// Names that some apps use for tools of other names.
const ALIASES: [(&str, &str); 2] = [
    ("code-exec.javascript", "code-exec.js"),
    ("browser.fetch", "web.fetch"),
];

/// Returns whether a tree says that it is such a manifest.
pub(crate) fn is_manifest(tree: &Value) -> bool {
    let schema = tree.get("schema").and_then(Value::as_str);
    schema.is_some_and(|schema| schema.starts_with("locara/"))
}

/// Translates a manifest.
pub(crate) fn translate(tree: &Value) -> Result<Translated, Finding> {
    let mut at = At::default();
    // Before all else: the keys of another version would be called unknown.
    let Some(schema) = tree.get("schema") else {
        let field = "schema".to_owned();
        return Err((Vec::new(), Problem::Missing { field }));
    };
    if schema != SCHEMA {
        let message = format!("expected `{SCHEMA}`, the only supported version");
        return Err(at.wrong("schema", Problem::Invalid { message }));
    }
    let ours = [capabilities::KEY, "modalities", "tooling", "models"];
    let known = [&["schema"], &fields::KEYS[..], &WITHOUT_EFFECT, &ours].concat();
    let root = at.table(tree, &known)?;
    fields::check(&mut at, root)?;
    for key in WITHOUT_EFFECT {
        at.child(root, key, |at, section| {
            if !section.is_object() {
                return Err(at.invalid("expected a table"));
            }
            at.remark_here(NO_EFFECT);
            Ok(())
        })?;
    }
    let (mut tree, mut origins) = (Map::new(), Vec::new());
    allowed(&mut at, root, &mut tree)?;
    at.child(root, "models", |at, models| {
        at.each(models, |at, model| {
            let read = ModelPin::try_from(model.clone());
            read.map(drop)
                .map_err(|error| at.invalid(error.to_string()))
        })?;
        tree.insert("models".to_owned(), models.clone());
        Ok(())
    })?;
    at.child(root, "tooling", |at, entries| {
        let mut tools = Map::new();
        at.each(entries, |at, entry| {
            let (name, tool) = tool(at, entry)?;
            if tools.contains_key(&name) {
                return Err(at.invalid(format!("`{name}` occurs twice")));
            }
            let ours = vec!["tooling".to_owned(), name.clone()];
            origins.push((ours, at.path().to_vec()));
            tools.insert(name, tool);
            Ok(())
        })?;
        tree.insert("tooling".to_owned(), Value::Object(tools));
        Ok(())
    })?;
    Ok(Translated {
        tree: Value::Object(tree),
        remarks: at.remarks,
        origins: Origins::Listed(origins),
    })
}

/// Reads `capabilities`, and what the modalities add to them.
fn allowed(
    at: &mut At,
    root: &Map<String, Value>,
    tree: &mut Map<String, Value>,
) -> Result<(), Finding> {
    at.child(root, capabilities::KEY, |at, stated| {
        let table = stated
            .as_object()
            .ok_or_else(|| at.invalid("expected a table"))?;
        let device = |key: &&String| {
            let family = key.split('.').next();
            matches!(family, Some("device" | "audio"))
        };
        if let Some(key) = table.keys().find(device) {
            let message =
                "not available: this host has no microphone, speaker or other device".to_owned();
            return Err(at.wrong(key, Problem::Invalid { message }));
        }
        tree.insert(capabilities::KEY.to_owned(), stated.clone());
        Ok(())
    })?;
    let (mut calls, mut seen): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    at.child(root, "modalities", |at, modalities| {
        at.each(modalities, |at, modality| {
            let name = at.str(modality)?;
            let Some((name, call)) = MODALITIES.iter().find(|(known, _)| *known == name) else {
                let known = MODALITIES.map(|(known, _)| known).join("`, `");
                return Err(at.invalid(format!("unknown modality: expected one of `{known}`")));
            };
            if seen.contains(name) {
                return Err(at.invalid("occurs twice"));
            }
            seen.push(name);
            match call {
                Some(call) if calls.contains(call) => {}
                Some(call) => calls.push(call),
                None => at.remark_here("not available on this host: tools that need it do not run"),
            }
            Ok(())
        })
    })?;
    if calls.is_empty() {
        return Ok(());
    }
    let stated = tree.entry(capabilities::KEY).or_insert_with(|| json!({}));
    let stated = stated.as_object_mut().map(|stated| {
        let calls = stated.entry("calls").or_insert_with(|| json!([]));
        calls.as_array_mut()
    });
    // Calls that are not a list are reported by the reader of the section.
    if let Some(Some(stated)) = stated {
        stated.extend(calls.into_iter().map(Value::from));
    }
    Ok(())
}

/// Reads one tool: its name, and what `[tooling]` says of it.
fn tool(at: &mut At, entry: &Value) -> Result<(String, Value), Finding> {
    let Value::String(text) = entry else {
        return custom(at, entry);
    };
    let (name, version) = match text.split_once('@') {
        Some((name, text)) => (
            name,
            versions(text).map_err(|error| at.invalid(error.to_string()))?,
        ),
        None => (text.as_str(), VersionReq::STAR),
    };
    let version = version.to_string();
    if !is_tool_id(name) {
        return Err(at.invalid(not_an_id(name)));
    }
    // The app goes on calling it by the name it wrote.
    let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
    let tool = match alias {
        Some((_, id)) => json!({ "id": id, "version": version }),
        None => Value::String(version),
    };
    Ok((name.to_owned(), tool))
}

/// Reads a tool that comes with the app.
fn custom(at: &mut At, entry: &Value) -> Result<(String, Value), Finding> {
    const KEYS: [&str; 4] = ["name", "path", "manifest", "signature"];
    if !entry.is_object() {
        return Err(at.invalid("expected a text such as `ocr` or `ocr@1.2.0`, or a table"));
    }
    let entry = at.table(entry, &KEYS)?;
    if let Some(field) = KEYS.into_iter().find(|key| !entry.contains_key(*key)) {
        let field = field.to_owned();
        return Err((at.path().to_vec(), Problem::Missing { field }));
    }
    let mut name = String::new();
    at.child(entry, "name", |at, value| {
        name.push_str(at.str(value)?);
        if is_tool_id(&name) {
            return Ok(());
        }
        Err(at.invalid(not_an_id(&name)))
    })?;
    let mut tool = Map::new();
    for key in ["path", "manifest"] {
        at.child(entry, key, |at, value| {
            let path = fields::inside(at, value)?;
            tool.insert(key.to_owned(), String::from(path).into());
            Ok(())
        })?;
    }
    at.text(entry, "signature", |signature| {
        tool.insert("signature".to_owned(), signature.into());
    })?;
    Ok((name, Value::Object(tool)))
}

#[cfg(test)]
#[path = "locara/tests.rs"]
mod tests;

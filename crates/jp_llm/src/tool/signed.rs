//! Signed tools: those that the lock file pins, and those that come signed with the workspace. What
//! they are their verified manifests say, and what they may do is bounded by what the workspace allows
//! its tooling.

use std::{path::Path, sync::Arc};

use jp_config::{
    CustomTool, Layer, Loaded, SignatureSource, ToolingConfig, Undeclared, tool::ToolSource,
};
use jp_policy::{Capabilities, Form};
use jp_registry::{LockedTool, ToolManifest, schema_for_callers};

use super::{
    ToolDefinition, ToolDocs, ToolError, arguments::SchemaBy, body::Body, stamp::ReadFrom,
};
use crate::{
    Host,
    registry::{Found, RegistryTools, SignedProblem},
    wasm::Entry,
};

/// Tells whether a name belongs to a signed tool, whether or not that can be used.
pub(super) fn is_signed(name: &str, loaded: &Loaded, host: &Host) -> bool {
    let locked = |tools: &Arc<RegistryTools>| tools.lock.get(name).is_some();
    loaded.config.tooling.contains_key(name) || host.registry().is_some_and(locked)
}

/// Returns the names of all signed tools, each once.
pub(super) fn names(loaded: &Loaded, host: &Host) -> Vec<String> {
    let locked = host
        .registry()
        .into_iter()
        .flat_map(|tools| tools.lock.tools());
    let mut names: Vec<String> = locked.map(|tool| tool.name.to_string()).collect();
    names.extend(loaded.config.tooling.keys().cloned());
    names.sort_unstable();
    names.dedup();
    names
}

/// Refuses a locked tool that the app does not declare: what a lock file names is a pin, and not a
/// word of the app.
pub(crate) fn refuse_undeclared(
    locked: &LockedTool,
    loaded: &Loaded,
    root: &Path,
) -> Result<(), SignedProblem> {
    let (name, version) = (locked.name.as_str(), locked.version.to_string());
    match loaded.undeclared(name, locked.id.as_str(), &version) {
        None => Ok(()),
        Some(undeclared) => Err(SignedProblem::Undeclared {
            name: name.to_owned(),
            file: below(root, &undeclared.file),
            hint: declare(root, &undeclared),
        }),
    }
}

/// Says what to write where for an app to use a tool.
#[must_use]
pub fn declare(root: &Path, undeclared: &Undeclared) -> String {
    let Undeclared {
        into,
        section,
        line,
        ..
    } = undeclared;
    format!("add `{line}` to {section} in `{}`", below(root, into))
}

fn below(root: &Path, file: &Path) -> String {
    let file = file.strip_prefix(root).unwrap_or(file);
    file.display().to_string()
}

impl ToolDefinition {
    /// Makes the definition of a signed tool that only `[tooling]` or the lock file names.
    pub(super) fn declared(name: &str, loaded: &Loaded, host: &Host) -> Result<Self, ToolError> {
        let tools = host.registry();
        let locked = tools.and_then(|tools| tools.lock.get(name));
        let checked = locked.map(|locked| refuse_undeclared(locked, loaded, host.root()));
        if let Some(Err(problem)) = checked {
            return Err(ToolError::signed(name, problem));
        }
        Self::signed(name, loaded, host)
    }

    /// Makes the definition of a signed tool from its manifest, once that is verified.
    pub(super) fn signed(name: &str, loaded: &Loaded, host: &Host) -> Result<Self, ToolError> {
        let refused = |problem: SignedProblem| ToolError::signed(name, problem);
        let Some(tools) = host.registry() else {
            let source = "this host has no signed tools".into();
            return Err(refused(SignedProblem::Unreadable { source }));
        };
        let wanted = loaded.config.tooling.get(name);
        let read_from = match wanted {
            Some(ToolingConfig::Custom(custom)) => files_of(custom, host.root()),
            _ => Vec::new(),
        };
        let found = match wanted {
            Some(ToolingConfig::Custom(custom)) => tools.custom(name, custom, host.root()),
            wanted => tools.locked(name, wanted),
        };
        let found = found.map_err(refused)?;
        // What was installed before this was known is looked at here.
        let request = found.manifest.request();
        if let Some(unbacked) = request.unbacked(Form::Wasm, &jp_broker::is_known) {
            return Err(refused(SignedProblem::Unbacked(Box::new(unbacked))));
        }
        refuse_other_models(&found.manifest, loaded).map_err(refused)?;
        Ok(Self {
            read_from,
            ..Self::of_manifest(name, found, loaded)
        })
    }

    fn of_manifest(name: &str, found: Found, loaded: &Loaded) -> Self {
        let manifest = &found.manifest;
        let docs = ToolDocs {
            summary: None,
            description: Some(manifest.description.clone()),
            examples: None,
        };
        let id = (manifest.id.as_str() != name).then(|| manifest.id.to_string());
        let source = ToolSource::Registry { tool: id };
        let (schema, request) = (manifest.input_schema.clone(), manifest.request());
        let mut callers_schema = schema.clone();
        schema_for_callers(&mut callers_schema);
        let stated = request.clone();
        let (output_schema, app) = (manifest.output_schema.clone(), app(manifest, loaded));
        let entry = Entry {
            // The guest knows itself by the name it was published under.
            name: manifest.id.to_string(),
            function: manifest.entrypoint.clone(),
            abi: manifest.abi,
        };
        let models = manifest.model_dependencies.clone();
        let body = Body::Signed(name.to_owned(), Box::new(found.stored), entry);
        Self {
            output_schema,
            stated,
            app: Some(app),
            models,
            // That the workspace uses it is the workspace's word; who made it was checked.
            defined_by: Layer::Workspace,
            schema_by: SchemaBy::Manifest,
            callers_schema: Some(callers_schema),
            ..Self::bare(name, docs, schema, source, request, body)
        }
    }
}

/// Returns the files of a tool that comes with the workspace, as they look before they are read.
fn files_of(custom: &CustomTool, root: &Path) -> Vec<ReadFrom> {
    let signature = match &custom.signature {
        SignatureSource::Inline(_) => None,
        SignatureSource::File(path) => Some(path),
    };
    let files = [&custom.path, &custom.manifest]
        .into_iter()
        .chain(signature);
    let files = files.map(|path| ReadFrom::new(path.to_path(root)));
    files.collect()
}

/// Refuses a tool that reads other bytes of a model than those that the app names.
fn refuse_other_models(manifest: &ToolManifest, loaded: &Loaded) -> Result<(), SignedProblem> {
    for model in &manifest.model_dependencies {
        let (id, pinned) = (model.id.to_string(), model.to_string());
        let mut named = loaded.config.models.iter().filter(|pin| pin.id() == id);
        if let Some(other) = named.clone().next()
            && named.all(|pin| pin.as_str() != pinned)
        {
            return Err(SignedProblem::OtherModel {
                model: pinned,
                named: other.as_str().to_owned(),
            });
        }
    }
    Ok(())
}

/// What the workspace allows the tool: what it allows all of its tooling, and the models that the
/// tool's own manifest pins.
fn app(manifest: &ToolManifest, loaded: &Loaded) -> Capabilities {
    manifest.with_models(loaded.config.app_capabilities())
}

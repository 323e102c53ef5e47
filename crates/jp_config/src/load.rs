//! Loading: which files there are, in which order they win, and what comes of them.
//!
//! Reads the files it is pointed at. Environment variables, the home directory and the command line
//! are handed in.

use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::{Map, Value};

use crate::{
    app::AppConfig,
    assign::Assignment,
    blame::Blame,
    capabilities,
    collect::{Collector, Found},
    conversation::tool::{ToolSource, paths},
    declaring::{self, Declaring},
    document::Index,
    env,
    error::{ConfigError, Origin, Place, Problem, Warning, user_only},
    partial,
    tree::{self, Spot},
    validate,
    written::Written,
};

/// What a configuration is loaded from.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// The user's configuration directory, which holds `config.toml`.
    pub user_config_dir: Option<PathBuf>,
    /// The root of the workspace, which holds `.jp/config.toml`.
    pub workspace_root: Option<PathBuf>,
    /// The directory the command was started in.
    pub cwd: PathBuf,
    /// Files named on the command line; they win over all others.
    pub files: Vec<PathBuf>,
    /// The user's home directory, which `~/` stands for in paths of grants.
    pub home: Option<PathBuf>,
    /// The environment; only names that start with `JP_CFG_` are looked at.
    pub env: Vec<(String, String)>,
    /// The assignments of the command line, in order.
    pub assignments: Vec<String>,
}

/// Who wrote a part of the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// The user: their own files, environment and command line.
    User,
    /// The workspace, which may come from a stranger.
    Workspace,
}

/// A loaded configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// The configuration.
    pub config: AppConfig,
    /// Warnings for its authors.
    pub warnings: Vec<Warning>,
    /// The files that were read, lowest layer first.
    pub files: Vec<PathBuf>,
    /// The hash of everything the workspace says, for pinning trust to it; `None` if it says
    /// nothing.
    pub workspace_digest: Option<[u8; 32]>,
    touched: HashSet<String>,
    touched_servers: HashSet<String>,
    named_in: HashMap<String, (PathBuf, String)>,
    pub(crate) declaring: Option<Declaring>,
    pub(crate) written: Arc<Written>,
}

impl Loaded {
    /// Returns who a tool's entry comes from: the workspace if it had any part in it.
    #[must_use]
    pub fn defined_by(&self, tool: &str) -> Layer {
        let tools = &self.config.conversation.tools;
        let entry = tools.tools.get(tool);
        let family = tools.family_of(tool).filter(|_| entry.is_none());
        let server = match (entry.map(|entry| &entry.source), family) {
            (Some(ToolSource::Mcp { server, .. }), _) => self.touched_servers.contains(server),
            (None, Some(family)) => {
                self.touched_servers.contains(family.server) || self.touched.contains(family.key)
            }
            _ => false,
        };
        if server || self.touched.contains(tool) || self.touched.contains("*") {
            Layer::Workspace
        } else {
            Layer::User
        }
    }

    /// Returns the file that names a tool under `[tooling]` last, and the key there; `None` when a
    /// variable or the command line does.
    #[must_use]
    pub fn named_in(&self, tool: &str) -> Option<(&Path, &str)> {
        let (file, key) = self.named_in.get(tool)?;
        Some((file, key))
    }

    /// Returns who an MCP server's entry comes from: the workspace if it had any part in it.
    #[must_use]
    pub fn server_defined_by(&self, server: &str) -> Layer {
        if self.touched_servers.contains(server) {
            Layer::Workspace
        } else {
            Layer::User
        }
    }
}

/// Loads the configuration.
///
/// # Errors
///
/// When a file, variable or assignment is not what it must be; the error says where.
pub fn load(sources: &Sources) -> Result<Loaded, ConfigError> {
    let mut layers = Collector::default().collect(sources)?;
    let workspace_digest = digest(&layers, sources.workspace_root.as_deref());
    let mut merged = Value::Object(Map::new());
    let (mut touched, mut touched_servers) = (HashSet::new(), HashSet::new());
    let (mut statements, mut named_in) = (Vec::new(), HashMap::new());
    let declaring = declaring::find(&layers);
    for layer in &mut layers {
        let mut tree = core::mem::take(&mut layer.tree);
        statements.extend(take_capabilities(&mut tree));
        if layer.layer == Layer::Workspace {
            touched.extend(keys(&tree, &["conversation", "tools"]));
            touched.extend(keys(&tree, &["tooling"]));
            touched_servers.extend(keys(&tree, &["providers", "mcp"]));
        }
        for name in keys(&tree, &["tooling"]) {
            let path = ["tooling".to_owned(), name.clone()];
            let key = tree::dotted(&layer.original(&path));
            named_in.insert(name, (layer.document.path.clone(), key));
        }
        tree::merge(&mut merged, tree, Spot::Root);
    }
    let mut assigned = assign_all(&mut merged, sources)?;
    assigned.reverse();
    statements.extend(take_capabilities(&mut merged));
    if let (Some(all), Some(merged)) = (capabilities::together(statements), merged.as_object_mut())
    {
        merged.insert(capabilities::KEY.to_owned(), all);
    }
    if let Some(home) = sources.home.as_deref().and_then(Path::to_str) {
        paths::expand(&mut merged, home);
    }
    let blame = Blame::new(&layers, &assigned);
    let config = partial::complete(merged).map_err(|finding| blame.error(finding))?;
    let mut warnings = remarks(&layers);
    warnings.extend(validate::validate(&config, &blame)?);
    Ok(Loaded {
        config,
        warnings,
        files: layers
            .iter()
            .map(|layer| layer.document.path.clone())
            .collect(),
        workspace_digest,
        touched,
        touched_servers,
        named_in,
        declaring,
        written: Arc::new(Written { layers, assigned }),
    })
}

/// Returns the warnings about keys without effect.
fn remarks(layers: &[Found]) -> Vec<Warning> {
    let all = || layers.iter().flat_map(|found| &found.remarks);
    let mut warnings = Vec::new();
    for found in layers.iter().filter(|found| !found.remarks.is_empty()) {
        let index = Index::new(&found.document);
        let left = validate::MAX_WARNINGS.saturating_sub(warnings.len());
        let remarks = found.remarks.iter().take(left);
        warnings.extend(remarks.map(|(path, message)| Warning {
            place: Some(index.place(path)),
            key: tree::dotted(path),
            message: (*message).to_string(),
        }));
    }
    let more = all().count() - warnings.len();
    if more > 0 {
        warnings.push(Warning {
            place: None,
            key: "conversation.tools".to_string(),
            message: format!("and {more} more keys without effect"),
        });
    }
    warnings
}

/// Applies the environment and then the command line; returns which keys they set.
fn assign_all(
    merged: &mut Value,
    sources: &Sources,
) -> Result<Vec<(Vec<String>, Origin)>, ConfigError> {
    let mut assigned = Vec::new();
    let mut apply = |assignment: Assignment, origin: Origin, merged: &mut Value| {
        let place = Place::of(origin.clone());
        let paths = assignment.paths();
        if let Some(section) = paths.iter().find_map(|path| user_only(path)) {
            let problem = Problem::OutsideUser { section };
            return Err(ConfigError::at(place, Some(section.to_string()), problem));
        }
        assignment.apply(merged).map_err(|error| ConfigError {
            place: Some(Box::new(place.clone())),
            ..error
        })?;
        assigned.extend(paths.into_iter().map(|path| (path, origin.clone())));
        Ok(())
    };
    for (name, value) in env::ours(&sources.env) {
        let origin = Origin::Environment(name.to_string());
        let assignment = env::assignment(name, value, merged).map_err(|error| ConfigError {
            place: Some(Box::new(Place::of(origin.clone()))),
            ..error
        })?;
        apply(assignment, origin, merged)?;
    }
    for text in &sources.assignments {
        let origin = Origin::Assignment(text.clone());
        let assignment = Assignment::parse(text).map_err(|error| ConfigError {
            place: Some(Box::new(Place::of(origin.clone()))),
            ..error
        })?;
        apply(assignment, origin, merged)?;
    }
    Ok(assigned)
}

/// Takes out what a layer says about capabilities: it stands beside what others say and replaces
/// none of it. That a layer says `null` about them unsets nothing.
fn take_capabilities(tree: &mut Value) -> Option<Value> {
    let said = tree.as_object_mut()?.shift_remove(capabilities::KEY)?;
    let mut said = Some(said).filter(|said| !said.is_null())?;
    tree::strip_nulls(&mut said);
    Some(said)
}

fn keys<'t>(tree: &'t Value, path: &[&str]) -> impl Iterator<Item = String> + use<'t> {
    let table = path.iter().try_fold(tree, |tree, part| tree.get(part));
    let entries = table.and_then(Value::as_object);
    entries
        .into_iter()
        .flat_map(|entries| entries.keys().cloned())
}

/// Hashes the workspace's files, each with its path in the workspace and its length, so that
/// nothing can be moved from one file into another unseen.
fn digest(layers: &[Found], root: Option<&Path>) -> Option<[u8; 32]> {
    let mut hasher = blake3::Hasher::new();
    let mut any = false;
    for found in layers
        .iter()
        .filter(|found| found.layer == Layer::Workspace)
    {
        any = true;
        let document = &found.document;
        let path = root.and_then(|root| document.path.strip_prefix(root).ok());
        let path = path.unwrap_or(&document.path);
        for part in [
            path.as_os_str().as_encoded_bytes(),
            document.text.as_bytes(),
        ] {
            hasher.update(&part.len().to_le_bytes());
            hasher.update(part);
        }
    }
    any.then(|| *hasher.finalize().as_bytes())
}

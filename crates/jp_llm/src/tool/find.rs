//! Where tools are looked for: in the configuration, among the builtins, in the lock file, and by
//! convention in the workspace.

use std::collections::HashSet;

use jp_config::Loaded;

use super::{
    Call, Cause, Misconfigured, Missing, ToolDefinition, ToolError, convention, kinds::BASH,
    record, signed,
};
use crate::{Host, registry::SignedProblem, wasm};

impl ToolDefinition {
    /// Finds a tool by its id: in the configuration, among the builtins, in the lock file, or by
    /// convention in the workspace.
    ///
    /// # Errors
    ///
    /// When there is no such tool, or its configuration cannot work.
    pub fn new(name: &str, loaded: &Loaded, host: &Host) -> Result<Self, ToolError> {
        let mut found = Self::find(name, loaded, host)?;
        let owners = jp_broker::owners(&found.request.capabilities.brokered);
        found.others = owners
            .into_iter()
            .filter(|owner| *owner != name)
            .filter_map(|owner| {
                let other = Self::find(owner, loaded, host).ok()?;
                Some((owner.to_owned(), other.request))
            })
            .collect();
        Ok(found)
    }

    fn find(name: &str, loaded: &Loaded, host: &Host) -> Result<Self, ToolError> {
        if let Some(config) = loaded.config.conversation.tools.get(name) {
            return Self::configured(name, &config, loaded, host);
        }
        let builtin = find_builtin(name, name, host).ok();
        if signed::is_signed(name, loaded, host) {
            // A name models know as ours must not come to mean something else.
            return match builtin {
                Some(_) => Err(shadows(name, loaded)),
                None => Self::declared(name, loaded, host),
            };
        }
        let brought = convention::path_of(name, host.root());
        let builtin = match (builtin, brought) {
            // A file of the workspace must not pass for a builtin, nor be passed over in silence.
            (Some(_), Some(path)) => {
                return Err(shadowed(name, path.into_string()));
            }
            (None, Some(path)) => Some(Self::brought(name, path, host)),
            (builtin, None) => builtin,
        };
        if let Some(builtin) = builtin {
            return Ok(builtin);
        }
        // Last, so that no server gives one of its tools the name of another.
        match loaded.config.conversation.tools.get_of_family(name) {
            Some(config) => Self::configured(name, &config, loaded, host),
            None => Err(unknown(name, loaded, host)),
        }
    }

    /// Finds a tool for a call. The manifest of a locked tool that this machine has never verified is
    /// fetched for it, if a registry may be asked. A call of a tool that does not exist, or cannot work,
    /// leaves a record too.
    ///
    /// # Errors
    ///
    /// When there is no such tool, or its configuration cannot work.
    pub async fn for_call(
        name: &str,
        call: &Call,
        loaded: &Loaded,
        host: &Host,
    ) -> Result<Self, ToolError> {
        let found = match (Self::new(name, loaded, host), host.registry()) {
            (Err(error), Some(tools))
                if matches!(error.cause(), Cause::Signed(SignedProblem::NotInstalled)) =>
            {
                match tools.verify_first(error.tool(), &call.cancel).await {
                    Ok(()) => Self::new(name, loaded, host),
                    Err(problem) => Err(ToolError::signed(error.tool(), problem)),
                }
            }
            (found, _) => found,
        };
        found.map_err(|error| {
            let written = record::write_unmade(name, call, host, &error);
            written.err().unwrap_or(error)
        })
    }

    /// Returns all tools there are: the configured ones, the builtins that have something to offer,
    /// and the signed ones, whose manifests are read for it. A tool whose configuration cannot work is
    /// an error in its place.
    pub fn all(loaded: &Loaded, host: &Host) -> Vec<(String, Result<Self, ToolError>)> {
        Self::made(Self::names(loaded, host), loaded, host)
    }

    /// Returns the names of all tools there are, each once. No manifest is read for it.
    pub fn names(loaded: &Loaded, host: &Host) -> Vec<String> {
        let mut names = unsigned_names(loaded, host);
        for name in signed::names(loaded, host) {
            // A name that is taken is an error in its place already.
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Returns all tools but the signed ones that the configuration does not speak of:
    /// [`RegistryTools::list`] lists those without reading their manifests.
    ///
    /// [`RegistryTools::list`]: crate::registry::RegistryTools::list
    pub fn unsigned(loaded: &Loaded, host: &Host) -> Vec<(String, Result<Self, ToolError>)> {
        Self::made(unsigned_names(loaded, host), loaded, host)
    }

    fn made(
        names: Vec<String>,
        loaded: &Loaded,
        host: &Host,
    ) -> Vec<(String, Result<Self, ToolError>)> {
        let made = names.into_iter().map(|name| {
            let found = Self::new(&name, loaded, host);
            (name, found)
        });
        made.collect()
    }
}

/// Returns the names of all tools but the signed ones that the configuration does not speak of.
fn unsigned_names(loaded: &Loaded, host: &Host) -> Vec<String> {
    let tools = &loaded.config.conversation.tools;
    let names = tools
        .tools
        .keys()
        .filter(|name| !stands_for_others(name, loaded, host));
    let names = names.cloned();
    let builtins = wasm::TOOLS.builtins().into_iter().filter(|builtin| {
        !tools.tools.contains_key(*builtin) && wasm::TOOLS.is_offered(builtin, host)
    });
    let names = names.chain(builtins.map(str::to_owned));
    let bash = (!tools.tools.contains_key(BASH)).then(|| BASH.to_owned());
    let names = names.chain(bash);
    let names = names.chain(brought_names(loaded, host));
    let mut names: Vec<String> = names.collect();
    let mut taken: HashSet<String> = names.iter().cloned().collect();
    for name in family_names(loaded, host) {
        // A name that is taken means the other tool.
        if !signed::is_signed(&name, loaded, host) && taken.insert(name.clone()) {
            names.push(name);
        }
    }
    names
}

/// Says that there is no such tool, and which one may have been meant.
fn unknown(name: &str, loaded: &Loaded, host: &Host) -> ToolError {
    let names = ToolDefinition::names(loaded, host);
    let error = ToolError::not_found(name);
    match jp_policy::nearest(name, names.iter().map(String::as_str)) {
        Some(near) => error.with_hint(format!(
            "did you mean `{}`? `jp tool list` shows the tools there are",
            jp_text::inline(near)
        )),
        None => error,
    }
}

/// Tells whether an entry stands for all tools of a server that has told which there are. One of a
/// server that has not is an error in its place.
fn stands_for_others(name: &str, loaded: &Loaded, host: &Host) -> bool {
    let mut families = loaded.config.conversation.tools.families();
    let family = families.find(|family| family.key == name);
    let told = |server: &str| host.mcp().is_some_and(|mcp| mcp.told(server).is_some());
    family.is_some_and(|family| told(family.server))
}

/// Returns the names of the tools that one entry for all tools of their server configures, as far as the
/// server has told them.
fn family_names(loaded: &Loaded, host: &Host) -> Vec<String> {
    let tools = &loaded.config.conversation.tools;
    let mut names = Vec::new();
    for family in tools.families() {
        let told = host.mcp().and_then(|mcp| mcp.told(family.server));
        for tool in told.iter().flat_map(|told| &told.tools) {
            let id = family.id(&tool.name);
            let is_ours = || {
                tools
                    .family_of(&id)
                    .is_some_and(|other| other.key == family.key)
            };
            if !tools.names(family.server, &tool.name) && is_ours() {
                names.push(id);
            }
        }
    }
    names
}

/// Says who gave a signed tool the name of a builtin.
fn shadows(name: &str, loaded: &Loaded) -> ToolError {
    let place = match loaded.named_in(name) {
        Some((file, key)) => format!("{}: {key}", file.display()),
        None if loaded.config.tooling.contains_key(name) => format!("tooling.{name}"),
        None => {
            return ToolError::new(name, Misconfigured::LockShadows).with_hint(format!(
                "`jp tool remove {name}`, then install it under another name"
            ));
        }
    };
    ToolError::new(name, Misconfigured::ToolingShadows { place }).with_hint(format!(
        "give it another name there, such as `my-{name}`, whose `id` says which tool of a registry is \
         meant; or remove it to use the builtin"
    ))
}

/// Says that a file of the workspace has the name of a builtin.
fn shadowed(name: &str, path: String) -> ToolError {
    let hint = format!(
        "say which one is meant: `source = \"builtin\"` under `[conversation.tools.{name}]`, or \
         `source = \"local\"` and `wasm = \"{path}\"`"
    );
    ToolError::new(name, Misconfigured::Shadowed { path }).with_hint(hint)
}

pub(super) fn find_builtin(
    name: &str,
    builtin: &str,
    host: &Host,
) -> Result<ToolDefinition, ToolError> {
    if let Some(found) = wasm::TOOLS.builtin(name, builtin, host) {
        return Ok(found);
    }
    if builtin == BASH {
        return Ok(ToolDefinition::bash(name));
    }
    let missing = Missing::UnknownBuiltin(builtin.to_owned());
    Err(ToolError::new(name, missing))
}

/// Returns the tools a workspace brings by convention, without those that are configured.
fn brought_names(loaded: &Loaded, host: &Host) -> impl Iterator<Item = String> {
    let tools = &loaded.config.conversation.tools.tools;
    convention::all(host.root())
        .into_iter()
        .filter(|name| !tools.contains_key(name) && find_builtin(name, name, host).is_err())
        .filter(|name| !signed::is_signed(name, loaded, host))
}

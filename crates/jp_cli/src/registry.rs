//! Registries as the configuration names them, and what this user keeps of them.

mod decide;

use jp_config::{Loaded, ToolingConfig};
use jp_disk::Disk;
use jp_registry::{CustomTool, Installer, Lock, Mode, Places, Registry, Spec, Store, Versions};
use tokio_util::sync::CancellationToken;

use crate::{
    clock,
    download::{self, Download},
    error::CliError,
    places,
    session::Session,
    ui::Ui,
};

/// Who accepts a change that a person must see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Accept {
    /// The person at the terminal.
    Ask,
    /// It was accepted on the command line.
    Yes,
}

/// Returns where the tools of a workspace are kept.
pub(crate) fn places(session: &Session) -> Result<Places, CliError> {
    Ok(places::own().registry(&session.location().root)?)
}

/// Makes the installer of a workspace.
pub(crate) fn installer<'a>(
    session: &'a Session,
    mode: Mode,
    accept: Accept,
    cancel: &CancellationToken,
    ui: &'a Ui,
) -> Result<Installer<'a>, CliError> {
    let places = places(session)?;
    jp_host::keep_keys(session.loaded(), &places)?;
    let registries = jp_host::sources(session.loaded(), cancel, download::waiting(ui))
        .map(|(name, source)| {
            Ok(Registry {
                name,
                source: source?,
            })
        })
        .collect::<Result<Vec<_>, CliError>>()?;
    let download = Download::new(ui);
    Ok(Installer {
        places,
        disk: Disk::real(),
        store: store()?,
        registries,
        host: session.host().policy().clone(),
        app: session.app_policy(),
        is_known: jp_llm::is_known_call,
        form: jp_llm::form_of,
        builtins: builtins(),
        // A name that no registry can have is an error when it is installed, not for every command.
        wanted: specs(session.loaded()).filter_map(Result::ok).collect(),
        now: clock::now() / 1000,
        mode,
        decide: Box::new({
            let cancel = cancel.clone();
            move |change| decide::decide(change, accept, &cancel, ui)
        }),
        progress: Box::new(move |what, done, all| download.show(what, done, all)),
    })
}

/// Returns what the workspace wants of registries, in the words of the installer.
pub(crate) fn wanted(loaded: &Loaded) -> Result<Vec<Spec>, CliError> {
    specs(loaded).collect()
}

fn specs(loaded: &Loaded) -> impl Iterator<Item = Result<Spec, CliError>> {
    let tools = loaded.config.tooling.iter();
    tools.filter_map(|(name, tool)| spec(name, tool))
}

/// Returns what the workspace wants of a registry under a name, if it wants anything.
pub(crate) fn wanted_as(name: &str, loaded: &Loaded) -> Option<Spec> {
    let tool = loaded.config.tooling.get(name)?;
    spec(name, tool)?.ok()
}

fn spec(name: &str, tool: &ToolingConfig) -> Option<Result<Spec, CliError>> {
    let ToolingConfig::Registry(tool) = tool else {
        return None;
    };
    let spec = || -> Result<Spec, jp_registry::FormatError> {
        Ok(Spec {
            name: name.parse()?,
            id: tool.id.as_deref().unwrap_or(name).parse()?,
            versions: Versions::Range(tool.version.clone()),
            registry: tool.registry.clone(),
        })
    };
    Some(spec().map_err(|error| CliError::usage(error.to_string())))
}

/// Returns the tools that come with the workspace, in the words of the installer.
pub(crate) fn brought(loaded: &Loaded) -> Result<Vec<CustomTool>, CliError> {
    let tools = loaded.config.tooling.iter();
    let custom = tools.filter_map(|(name, tool)| match tool {
        ToolingConfig::Custom(tool) => Some(jp_llm::registry::brought(name, tool)),
        ToolingConfig::Registry(_) => None,
    });
    let custom: Result<_, _> = custom.collect();
    custom.map_err(|error| CliError::usage(error.to_string()))
}

/// Returns whether a name is that of a tool that comes with the workspace.
pub(crate) fn is_brought(name: &str, loaded: &Loaded) -> bool {
    matches!(
        loaded.config.tooling.get(name),
        Some(ToolingConfig::Custom(_))
    )
}

/// Returns whether `jp.lock` has tools of registries.
pub(crate) fn has_locked(session: &Session) -> Result<bool, CliError> {
    let lock = Lock::open(&places(session)?.lock);
    let lock = lock.map_err(CliError::install)?;
    Ok(lock.tools().len() > 0)
}

/// Refuses to ask registries where the user has named none.
pub(crate) fn refuse_without(installer: &Installer<'_>) -> Result<(), CliError> {
    match !installer.registries.is_empty() || installer.mode == Mode::Offline {
        true => Ok(()),
        false => Err(no_registries()),
    }
}

/// Says what to write where, to have a registry.
pub(crate) fn no_registries() -> CliError {
    let file = places::own()
        .config_dir()
        .map(|dir| dir.join("config.toml"));
    let file = file.map_or_else(String::new, |file| format!(", {}", file.display()));
    CliError::Usage {
        message: "your configuration names no registry".to_owned(),
        hint: Some(format!(
            "add a table `[registries.main]` with `url = \"https://tools.example.com/\"` and `key = \
             \"ed25519:…\"` to your own configuration{file}; or type: `jp config set --user \
             'registries.main:={{\"url\": \"URL\", \"key\": \"PUBLIC-KEY\"}}'`"
        )),
    }
}

/// Opens the store that all workspaces share.
pub(crate) fn store() -> Result<Store, CliError> {
    Store::open(&places::own().store_dir()?).map_err(CliError::registry)
}

/// Returns the names that tools of registries may not take.
pub(crate) fn builtins() -> Vec<String> {
    let names = ["bash"].into_iter();
    names
        .chain(jp_llm::wasm_builtins())
        .map(str::to_owned)
        .collect()
}

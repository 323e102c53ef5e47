//! Registries as the configuration names them, and what this user keeps of them.

mod decide;

use std::{path::PathBuf, sync::Arc};

use jp_config::{Loaded, RegistryConfig, RegistryPlace, ToolingConfig};
use jp_llm::registry::{DownloadTransport, RegistryTools, Waiting};
use jp_registry::{
    Disk, Lock, Source, Store,
    install::{CustomTool, Installer, Mode, Places, Registry, Spec, Versions},
    source::{DirSource, HttpSource, OciSource},
    trust::{TrustRoots, TrustedRegistry},
};
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
    /// Whoever is at the terminal.
    Ask,
    /// It was accepted on the command line.
    Yes,
}

/// Returns where the tools of a workspace are kept.
pub(crate) fn places(session: &Session) -> Result<Places, CliError> {
    Ok(Places::new(&session.workspace.root, &places::data_dir()?))
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
    keep_keys(&session.loaded, &places)?;
    let registries = sources(&session.loaded, cancel, download::waiting(ui))?
        .map(|(name, source)| source.map(|source| Registry { name, source }))
        .collect::<Result<Vec<_>, CliError>>()?;
    let download = Download::new(ui);
    Ok(Installer {
        places,
        disk: Disk::real(),
        store: store()?,
        registries,
        host: session.host.policy.clone(),
        app: session.app_policy(),
        is_known: jp_llm::is_known_call,
        builtins: builtins(),
        // A name that no registry can have is an error to whoever installs it, not to all.
        wanted: specs(&session.loaded).filter_map(Result::ok).collect(),
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
    let spec = || -> Result<Spec, jp_registry::IdError> {
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

/// Tells whether a name is that of a tool that comes with the workspace.
pub(crate) fn is_brought(name: &str, loaded: &Loaded) -> bool {
    matches!(
        loaded.config.tooling.get(name),
        Some(ToolingConfig::Custom(_))
    )
}

/// Tells whether `jp.lock` has tools of registries.
pub(crate) fn has_locked(session: &Session) -> Result<bool, CliError> {
    let lock = Lock::open(&places(session)?.lock);
    let lock = lock.map_err(|error| CliError::install(error.into()))?;
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
    let file = places::config_dir().map(|dir| dir.join("config.toml"));
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

/// Makes what calls need of signed tools; `None` in a workspace that has none.
pub(crate) fn tools(session: &Session) -> Result<Option<RegistryTools>, CliError> {
    let places = places(session)?;
    let config = &session.loaded.config;
    if config.tooling.is_empty() && !places.lock.exists() {
        return Ok(None);
    }
    let mut tools = RegistryTools::open(&places, store()?).map_err(CliError::install)?;
    for (name, registry) in &config.registries {
        // A key that was revoked counts for nothing, and is told of when it is needed.
        drop(know_key(name, registry, &mut tools.known.roots));
    }
    // Nothing is asked before an artifact is missing.
    let cancel = CancellationToken::new();
    for (name, source) in sources(&session.loaded, &cancel, None)? {
        tools.sources.insert(name, Arc::from(source?));
    }
    Ok(Some(tools))
}

/// Opens the store that all workspaces share.
pub(crate) fn store() -> Result<Store, CliError> {
    Store::open(&store_dir()?).map_err(CliError::registry)
}

/// Returns the directory of the store.
pub(crate) fn store_dir() -> Result<PathBuf, CliError> {
    let cache = places::cache_dir().ok_or(CliError::NoHome {
        variable: "JP_CACHE_DIR",
        what: "cache",
    })?;
    Ok(cache.join("store"))
}

type Named = (String, Result<Box<dyn Source>, CliError>);

/// Makes the sources of the configured registries, the default ones first.
fn sources<'a>(
    loaded: &'a Loaded,
    cancel: &'a CancellationToken,
    waiting: Option<Waiting>,
) -> Result<impl Iterator<Item = Named> + 'a, CliError> {
    let all = &loaded.config.registries;
    let first = all.iter().filter(|(_, registry)| registry.default);
    let rest = all.iter().filter(|(_, registry)| !registry.default);
    Ok(first
        .chain(rest)
        .map(move |(name, registry)| (name.clone(), source(registry, cancel, waiting.clone()))))
}

fn source(
    registry: &RegistryConfig,
    cancel: &CancellationToken,
    waiting: Option<Waiting>,
) -> Result<Box<dyn Source>, CliError> {
    let transport = move |url: &str| -> Result<Arc<DownloadTransport>, CliError> {
        let made = DownloadTransport::new(url, cancel.clone());
        let made = made.map(|made| Arc::new(made.telling(waiting)));
        made.map_err(CliError::registry)
    };
    match &registry.place {
        RegistryPlace::Dir(dir) => Ok(Box::new(DirSource::new(dir))),
        RegistryPlace::Url(url) => {
            let made = HttpSource::new(url, transport(url)?);
            made.map(|source| Box::new(source) as _)
                .map_err(CliError::registry)
        }
        RegistryPlace::Oci(place) => {
            let reference = place.parse().map_err(CliError::registry)?;
            let transport = transport(&format!("https://{place}"))?;
            Ok(Box::new(OciSource::new(reference, transport)))
        }
    }
}

/// Writes the keys of the user's configuration into the trust file, where they are looked up.
fn keep_keys(loaded: &Loaded, places: &Places) -> Result<(), CliError> {
    if loaded
        .config
        .registries
        .values()
        .all(|one| one.key.is_none())
    {
        return Ok(());
    }
    let changed = TrustRoots::change(&places.keys, |roots| {
        let mut registries = loaded.config.registries.iter();
        registries.try_for_each(|(name, registry)| know_key(name, registry, roots))
    });
    changed.map(|_| ())
}

/// Lets the key of the user's configuration speak for its registry.
fn know_key(name: &str, registry: &RegistryConfig, roots: &mut TrustRoots) -> Result<(), CliError> {
    let Some(key) = &registry.key else {
        return Ok(());
    };
    let key = key.parse().map_err(CliError::registry)?;
    let validates = roots.registry(name).is_some_and(|known| known.validates);
    let registry = TrustedRegistry { key, validates };
    if roots.registry(name) == Some(&registry) {
        return Ok(());
    }
    let trusted = roots.trust_registry(name, registry);
    trusted.map_err(CliError::registry)
}

/// Returns the names that tools of registries may not take.
pub(crate) fn builtins() -> Vec<String> {
    let names = ["bash"].into_iter();
    #[cfg(feature = "wasm-tools")]
    let names = names.chain(jp_llm::builtins().iter().map(|builtin| builtin.name));
    names.map(str::to_owned).collect()
}

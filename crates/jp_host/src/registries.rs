//! Registries as the configuration names them, and what this user keeps of them.

use std::sync::Arc;

use jp_config::{Loaded, RegistryConfig, RegistryPlace};
use jp_llm::registry::{DownloadTransport, RegistryTools, Waiting};
use jp_registry::{
    OciSource, Places as RegistryPlaces, Source, StaticSource, Store, TrustRoots, TrustedRegistry,
};
use tokio_util::sync::CancellationToken;

use crate::{Location, OpenError, Places};

/// A registry of the configuration, or why it cannot be asked.
pub type NamedSource = (String, Result<Box<dyn Source>, OpenError>);

/// Makes the sources of the configured registries, the default ones first.
pub fn sources<'a>(
    loaded: &'a Loaded,
    cancel: &'a CancellationToken,
    waiting: Option<Waiting>,
) -> impl Iterator<Item = NamedSource> + 'a {
    let all = &loaded.config.registries;
    let first = all.iter().filter(|(_, registry)| registry.default);
    let rest = all.iter().filter(|(_, registry)| !registry.default);
    first
        .chain(rest)
        .map(move |(name, registry)| (name.clone(), source(registry, cancel, waiting.clone())))
}

fn source(
    registry: &RegistryConfig,
    cancel: &CancellationToken,
    waiting: Option<Waiting>,
) -> Result<Box<dyn Source>, OpenError> {
    let transport = move |url: &str| -> Result<Arc<DownloadTransport>, OpenError> {
        let made = DownloadTransport::new(url, cancel.clone());
        let made = made.map(|made| Arc::new(made.telling(waiting)));
        made.map_err(OpenError::registry)
    };
    match &registry.place {
        RegistryPlace::Dir(dir) => Ok(Box::new(StaticSource::in_dir(dir))),
        RegistryPlace::Url(url) => {
            let made = StaticSource::at_url(url, transport(url)?);
            made.map(|source| Box::new(source) as _)
                .map_err(OpenError::registry)
        }
        RegistryPlace::Oci(place) => {
            let transport = transport(&format!("https://{place}"))?;
            let made = OciSource::new(&format!("oci://{place}"), transport);
            made.map(|source| Box::new(source) as _)
                .map_err(OpenError::registry)
        }
    }
}

/// Makes what calls need of signed tools; `None` in a workspace that has none.
pub(crate) fn tools(
    loaded: &Loaded,
    location: &Location,
    places: &Places,
) -> Result<Option<RegistryTools>, OpenError> {
    let kept = places.registry(&location.root)?;
    let config = &loaded.config;
    if config.tooling.is_empty() && !kept.lock.exists() {
        return Ok(None);
    }
    let store = Store::open(&places.store_dir()?).map_err(OpenError::registry)?;
    let mut tools = RegistryTools::open(&kept, store)?;
    for (name, registry) in &config.registries {
        // A revoked key counts for nothing, and is reported when it is needed.
        drop(know_key(name, registry, &mut tools.known.roots));
    }
    // Nothing is asked before an artifact is missing.
    let cancel = CancellationToken::new();
    for (name, source) in sources(loaded, &cancel, None) {
        tools.sources.insert(name, Arc::from(source?));
    }
    Ok(Some(tools))
}

/// Writes the keys of the user's configuration into the trust file, where they are looked up.
///
/// # Errors
///
/// When a key is wrong, or the trust file cannot be used.
pub fn keep_keys(loaded: &Loaded, places: &RegistryPlaces) -> Result<(), OpenError> {
    let mut registries = loaded.config.registries.values();
    if registries.all(|registry| registry.key.is_none()) {
        return Ok(());
    }
    let changed = TrustRoots::change(&places.keys, |roots| {
        let mut registries = loaded.config.registries.iter();
        registries.try_for_each(|(name, registry)| know_key(name, registry, roots))
    });
    changed.map(|_| ())
}

/// Lets the key of the user's configuration speak for its registry.
fn know_key(
    name: &str,
    registry: &RegistryConfig,
    roots: &mut TrustRoots,
) -> Result<(), OpenError> {
    let Some(key) = &registry.key else {
        return Ok(());
    };
    let key = key.parse().map_err(OpenError::registry)?;
    let validates = roots.registry(name).is_some_and(|known| known.validates);
    let registry = TrustedRegistry { key, validates };
    if roots.registry(name) == Some(&registry) {
        return Ok(());
    }
    let trusted = roots.trust_registry(name, registry);
    trusted.map_err(OpenError::registry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_registry_of_oci_artifacts_is_opened_by_its_host_and_namespace() {
        let registry = RegistryConfig {
            place: RegistryPlace::Oci("ghcr.io/example/tools".to_owned()),
            key: None,
            default: false,
        };
        let source = source(&registry, &CancellationToken::new(), None).unwrap();
        assert_eq!(source.name(), "oci://ghcr.io/example/tools");
    }
}

//! From a locked name to something that can be loaded: at call time, and when a lock file is checked.

use super::{
    InstallError, Installed, Installer, Known, Mode, Registry,
    candidate::Wanted,
    commit::{deprecated, refuse_revoked},
    kept,
};
use crate::{
    index::Index,
    lock::{Lock, LockedTool},
    source::Fetched,
    store::Object,
    verify::{ExpectedDigest, Purpose, Verified, VerifiedManifest},
};

/// A locked tool with everything it needs on this machine.
#[derive(Debug)]
pub struct Ready {
    /// The manifest and the artifact, both verified.
    pub verified: Verified,
    /// The models it needs.
    pub models: Vec<Object>,
}

impl Installer<'_> {
    /// Returns a locked tool, ready to be loaded. What is missing is fetched, unless offline.
    ///
    /// # Errors
    ///
    /// When it is not locked, not trusted, revoked, not what the lock file says, or missing.
    pub fn ensure(&self, name: &str) -> Result<Ready, InstallError> {
        let lock = Lock::open(&self.places.lock)?;
        let tool = lock.get(name).ok_or_else(|| match name.parse() {
            Ok(name) => InstallError::NotLocked { name },
            Err(source) => InstallError::Name(source),
        })?;
        self.ensure_locked(tool, &self.known()?)
    }

    /// Returns a locked tool, as [`Installer::ensure`] does, for a caller that has read the lock
    /// file and what is known already.
    ///
    /// # Errors
    ///
    /// As [`Installer::ensure`].
    pub fn ensure_locked(&self, tool: &LockedTool, known: &Known) -> Result<Ready, InstallError> {
        let is_known = kept::has(&self.places.data, &tool.manifest);
        let (ready, fetched) = self.ready(tool, known)?;
        if !is_known {
            self.record(tool, &fetched, &ready.verified.manifest, None)?;
        }
        Ok(ready)
    }

    /// Makes a locked tool one that was verified on this machine: its manifest is fetched if it is not
    /// here, and must be the one that the lock file names, signed by a key that the user trusts for
    /// it. Nothing of the tool itself is fetched.
    ///
    /// # Errors
    ///
    /// When it is not trusted, revoked, not what the lock file says, or missing.
    pub fn ensure_verified(&self, tool: &LockedTool, known: &Known) -> Result<(), InstallError> {
        let mut newer = known.clone();
        if self.mode != Mode::Offline {
            self.refresh_revocations(self.registry(&tool.registry)?, &mut newer)?;
        }
        let (fetched, manifest) = self.locked_manifest(tool, &newer)?;
        self.record(tool, &fetched, &manifest.manifest, None)
    }

    /// Checks a locked tool as if it were installed now, and fetches what is missing.
    pub(super) fn check(&self, tool: &LockedTool) -> Result<Installed, InstallError> {
        let mut known = self.known()?;
        if self.mode != Mode::Offline {
            let registry = self.registry(&tool.registry)?;
            self.refresh_revocations(registry, &mut known)?;
        }
        let listed = self.deprecated(tool, &known)?;
        let lock = Lock::open(&self.places.lock)?;
        self.refuse_taken(&tool.name, &tool.id, &lock)?;
        let (ready, fetched) = self.ready(tool, &known)?;
        self.record(tool, &fetched, &ready.verified.manifest, listed.clone())?;
        let mut warnings = known.warnings;
        warnings.extend(self.satisfiable(&ready.verified.manifest)?);
        self.backed(&ready.verified)?;
        warnings.extend(deprecated(&ready.verified.manifest, listed.as_deref()));
        Ok(Installed {
            tool: tool.clone(),
            before: Some(tool.clone()),
            asks: ready.verified.manifest.request().words(),
            warnings,
        })
    }

    /// Returns why a locked version is deprecated, as its registry last said.
    fn deprecated(&self, tool: &LockedTool, known: &Known) -> Result<Option<String>, InstallError> {
        let registry = self.registry(&tool.registry);
        let index = match registry {
            Ok(registry) => self.cached_index(registry, known)?,
            Err(_) => None,
        };
        let listed = index.as_ref();
        let listed = listed.and_then(|index| index.version(&tool.id, &tool.version));
        if let Some(listed) = listed {
            return Ok(listed.deprecated.clone());
        }
        let receipts = self.receipts()?;
        let receipt = receipts.get(&tool.manifest);
        Ok(receipt.and_then(|receipt| receipt.deprecated.clone()))
    }

    /// Returns the manifest that the lock file means, verified.
    fn locked_manifest(
        &self,
        tool: &LockedTool,
        known: &Known,
    ) -> Result<(Fetched, VerifiedManifest), InstallError> {
        refuse_revoked(tool, known)?;
        let wanted = Wanted {
            registry: &tool.registry,
            id: tool.id.clone(),
            version: Some(tool.version.clone()),
            digest: Some(ExpectedDigest::Lock(tool.manifest)),
            purpose: match kept::has(&self.places.data, &tool.manifest) {
                true => Purpose::Installed,
                false => Purpose::Install,
            },
        };
        let (fetched, manifest) = self.manifest(&wanted, known)?;
        check_same(tool, &manifest)?;
        Ok((fetched, manifest))
    }

    fn ready(&self, tool: &LockedTool, known: &Known) -> Result<(Ready, Fetched), InstallError> {
        let (fetched, manifest) = self.locked_manifest(tool, known)?;
        if !self.store.contains(&tool.sha256) && self.mode != Mode::Offline {
            // The registry is asked anyway: what it took back since counts before its bytes do.
            let mut newer = known.clone();
            self.refresh_revocations(self.registry(&tool.registry)?, &mut newer)?;
            refuse_revoked(tool, &newer)?;
        }
        let verified = self.artifact(&tool.registry, &manifest)?;
        let models = self.models(tool)?;
        Ok((Ready { verified, models }, fetched))
    }

    /// Returns the artifact that a manifest pins, from the store or else from its registry.
    pub(super) fn artifact(
        &self,
        registry: &str,
        manifest: &VerifiedManifest,
    ) -> Result<Verified, InstallError> {
        if let Some(found) = self.store.cached(manifest)? {
            return Ok(found);
        }
        let what = format!("`{}`", manifest.manifest.id);
        let missing = || format!("the artifact of {what}");
        let source = &self.asked(registry, missing)?.source;
        let mut progress = |done, all| (self.progress)(&what, done, all);
        let fetched = self
            .store
            .artifact(manifest, source.as_ref(), &mut progress);
        Ok(fetched?)
    }

    /// Returns the models that a tool needs, from the store or else from its registry.
    pub(super) fn models(&self, tool: &LockedTool) -> Result<Vec<Object>, InstallError> {
        let mut models = Vec::new();
        for pinned in &tool.models {
            if let Some(found) = self.store.find(&pinned.sha256)? {
                models.push(found);
                continue;
            }
            let what = format!("the model `{}`", pinned.id);
            let source = &self.asked(&tool.registry, || what.clone())?.source;
            let mut progress = |done, all| (self.progress)(&what, done, all);
            let fetched = self.store.model(pinned, source.as_ref(), &mut progress);
            models.push(fetched?);
        }
        Ok(models)
    }

    fn cached_index(
        &self,
        registry: &Registry,
        known: &Known,
    ) -> Result<Option<Index>, InstallError> {
        let Ok(place) = registry.name.parse() else {
            return Ok(None);
        };
        let judge = self.judge(registry, &known.roots);
        let path = self.places.index(&place);
        Ok(Index::cached(&path, &judge, &known.revoked)?)
    }
}

/// Refuses a lock file that says something else than the manifest it names.
fn check_same(tool: &LockedTool, manifest: &VerifiedManifest) -> Result<(), InstallError> {
    let said = &manifest.manifest;
    let same = [
        ("sha256", tool.sha256 == said.artifact.sha256),
        ("key", tool.key == manifest.key),
        (
            "digest of what the model sees",
            tool.shown == said.shown_digest,
        ),
        (
            "digest of the capabilities",
            tool.capabilities == said.capabilities_digest,
        ),
        ("list of models", tool.models == said.model_dependencies),
    ];
    match same.into_iter().find(|(_, same)| !same) {
        None => Ok(()),
        Some((field, _)) => Err(InstallError::Differs {
            name: tool.name.clone(),
            spec: format!("{}={}@{}", tool.name, tool.id, tool.version),
            field,
        }),
    }
}

//! From what was asked for to a verified manifest.

use semver::Version;

use super::{
    InstallError, Installer, Known, Mode, Registry, Warning, asked::Asked, brought, choose, kept,
    names,
};
use crate::{
    ToolId,
    index::{Index, IndexVersion},
    lock::Lock,
    source::Fetched,
    verify::{self, Expected, ExpectedDigest, Purpose, VerifiedManifest, VerifyError},
};

/// A version of a tool that could be installed.
pub(super) struct Candidate<'r> {
    pub(super) registry: &'r Registry,
    pub(super) fetched: Fetched,
    pub(super) manifest: VerifiedManifest,
    /// Why its registry says that it should not be used any more.
    pub(super) deprecated: Option<String>,
    /// Another tool of the registry that its name reads like.
    pub(super) like: Option<ToolId>,
    /// What could be taken in its place, the newest first.
    pub(super) others: Vec<Wanted<'r>>,
}

/// A manifest to get.
pub(super) struct Wanted<'a> {
    /// The name of the registry, which is asked only for what is not kept here.
    pub(super) registry: &'a str,
    pub(super) id: ToolId,
    pub(super) version: Option<Version>,
    pub(super) digest: Option<ExpectedDigest>,
    pub(super) purpose: Purpose,
}

impl<'a> Wanted<'a> {
    /// Returns a version that an index names.
    pub(super) fn listed(
        registry: &'a Registry,
        id: &ToolId,
        version: &Version,
        listed: &IndexVersion,
    ) -> Self {
        Self {
            registry: &registry.name,
            id: id.clone(),
            version: Some(version.clone()),
            digest: Some(ExpectedDigest::Index(listed.manifest)),
            purpose: Purpose::Install,
        }
    }
}

impl Installer<'_> {
    /// Finds what was asked for in the registries.
    pub(super) fn find(
        &self,
        asked: &Asked<'_>,
        mut known: Known,
    ) -> Result<(Candidate<'_>, Known), InstallError> {
        asked.refuse_typed()?;
        let (registry, index) = self.offering(asked, &mut known)?;
        let candidate = match index {
            Some(index) => self.listed(asked, registry, &index, &known)?,
            None => self.unlisted(asked, registry, &known)?,
        };
        Ok((candidate, known))
    }

    /// Gets a version of a registry that has no index: the one that is asked for, or what the
    /// registry calls the newest.
    pub(super) fn unlisted<'r>(
        &self,
        asked: &Asked<'_>,
        registry: &'r Registry,
        known: &Known,
    ) -> Result<Candidate<'r>, InstallError> {
        let version = asked.one();
        if version.is_none() && !asked.is_any() {
            return Err(match self.mode {
                Mode::Offline => InstallError::Offline {
                    what: format!("the index of `{}`", registry.name),
                },
                Mode::Normal | Mode::Locked => InstallError::NoVersions {
                    unmet: asked.unmet(registry),
                },
            });
        }
        let wanted = Wanted {
            registry: &registry.name,
            id: asked.id.clone(),
            version,
            digest: None,
            purpose: Purpose::Install,
        };
        let candidate = self.candidate(registry, &wanted, known)?;
        let version = &candidate.manifest.manifest.version;
        match asked.fits(version) {
            true => Ok(candidate),
            false => Err(InstallError::NoneFits {
                unmet: asked.unmet(registry),
                offered: version.to_string(),
                newest: Some(version.clone()),
            }),
        }
    }

    /// Returns the one registry that offers a tool.
    fn offering(
        &self,
        asked: &Asked<'_>,
        known: &mut Known,
    ) -> Result<(&Registry, Option<Index>), InstallError> {
        let registries: Vec<&Registry> = match asked.registry {
            Some(name) => vec![self.registry(name)?],
            None => self.registries.iter().collect(),
        };
        if let [only] = registries.as_slice() {
            let index = self.refresh(only, known)?;
            return Ok((only, index));
        }
        let mut offers = Vec::new();
        let mut all: Vec<ToolId> = Vec::new();
        for registry in registries {
            // One that cannot be asked might be the right one: another must not step in for it.
            if let Some(index) = self.refresh(registry, known)? {
                all.extend(index.content().tools.keys().cloned());
                if index.tool(asked.id).is_some() {
                    offers.push((registry, Some(index)));
                }
            }
        }
        if offers.len() > 1 {
            let names = offers.iter().map(|(registry, _)| registry.name.clone());
            return Err(InstallError::Ambiguous {
                id: asked.id.clone(),
                registries: names.collect(),
            });
        }
        offers.pop().ok_or_else(|| unknown(asked.id, all.iter()))
    }

    fn listed<'r>(
        &self,
        asked: &Asked<'_>,
        registry: &'r Registry,
        index: &Index,
        known: &Known,
    ) -> Result<Candidate<'r>, InstallError> {
        let id = asked.id;
        let ids = || index.content().tools.keys();
        let tool = index.tool(id).ok_or_else(|| unknown(id, ids()))?;
        let version = asked.choose(registry, tool, &known.revoked)?;
        let mut candidate = self.version(registry, index, id, &version, known)?;
        let near = names::look_alike(id.as_str(), ids().map(ToolId::as_str));
        candidate.like = near.and_then(|near| near.parse().ok());
        candidate.others = asked.others(&version, None, registry, tool, &known.revoked);
        Ok(candidate)
    }

    /// Gets one version that an index names.
    pub(super) fn version<'r>(
        &self,
        registry: &'r Registry,
        index: &Index,
        id: &ToolId,
        version: &Version,
        known: &Known,
    ) -> Result<Candidate<'r>, InstallError> {
        let listed = index.version(id, version);
        let listed = listed.ok_or_else(|| InstallError::UnknownVersion {
            id: id.clone(),
            version: version.clone(),
            registry: registry.name.clone(),
            offered: choose::offered(id, index, &known.revoked),
        })?;
        let wanted = Wanted::listed(registry, id, version, listed);
        let mut candidate = self.candidate(registry, &wanted, known)?;
        candidate.deprecated.clone_from(&listed.deprecated);
        Ok(candidate)
    }

    pub(super) fn candidate<'r>(
        &self,
        registry: &'r Registry,
        wanted: &Wanted<'_>,
        known: &Known,
    ) -> Result<Candidate<'r>, InstallError> {
        let (fetched, manifest) = self.manifest(wanted, known)?;
        Ok(Candidate {
            registry,
            fetched,
            manifest,
            deprecated: None,
            like: None,
            others: Vec::new(),
        })
    }

    /// Gets a manifest, kept or fetched, and verifies it.
    pub(super) fn manifest(
        &self,
        wanted: &Wanted<'_>,
        known: &Known,
    ) -> Result<(Fetched, VerifiedManifest), InstallError> {
        let expected = Expected {
            id: wanted.id.clone(),
            version: wanted.version.clone(),
            digest: wanted.digest,
            registry: Some(wanted.registry.to_owned()),
            purpose: wanted.purpose,
        };
        let read = |fetched: Fetched| {
            let (roots, revoked) = (&known.roots, &known.revoked);
            let manifest = verify::verify(fetched.clone(), roots, revoked, &expected)?;
            Ok::<_, InstallError>((fetched, manifest))
        };
        let kept = match wanted.digest {
            Some(expected) => kept::find(&self.places.data, &expected.digest())?,
            None => None,
        };
        match kept.map(&read) {
            Some(Ok(kept)) => return Ok(kept),
            // What is kept may have been damaged, or signed by a key that was replaced since.
            Some(Err(error)) if self.mode == Mode::Offline => return Err(error),
            // Whichever manifest it is, nobody knows whether it was revoked.
            Some(Err(error @ InstallError::Verify(VerifyError::RevocationsLost { .. }))) => {
                return Err(error);
            }
            Some(Err(_)) | None => {}
        }
        let what = || format!("the manifest of `{}`", wanted.id);
        let source = &self.asked(wanted.registry, what)?.source;
        read(source.manifest(&wanted.id, wanted.version.as_ref())?)
    }

    /// Refuses a name that a model could not tell from one that is taken.
    pub(super) fn refuse_taken(
        &self,
        name: &ToolId,
        id: &ToolId,
        lock: &Lock,
    ) -> Result<(), InstallError> {
        brought::refuse_brought(name, lock)?;
        let others = lock.tools().filter(|tool| tool.name != *name);
        let taken = others
            .map(|tool| tool.name.as_str())
            .chain(lock.customs().map(|tool| tool.name.as_str()))
            .chain(self.builtins.iter().map(String::as_str));
        match names::collision(name, taken) {
            None => Ok(()),
            Some(taken) => Err(InstallError::Taken {
                name: name.clone(),
                id: id.clone(),
                taken: taken.to_owned(),
            }),
        }
    }

    /// Says which known name a name reads like.
    pub(super) fn look_alikes(&self, candidate: &Candidate<'_>, lock: &Lock) -> Option<Warning> {
        let id = &candidate.manifest.manifest.id;
        let locked = lock.tools().flat_map(|tool| [&tool.name, &tool.id]);
        let known = locked
            .map(ToolId::as_str)
            .chain(self.builtins.iter().map(String::as_str))
            .chain(candidate.like.iter().map(ToolId::as_str));
        let like = names::look_alike(id.as_str(), known)?;
        Some(Warning::LookAlike {
            name: id.clone(),
            like: like.to_owned(),
        })
    }
}

fn unknown<'a>(id: &ToolId, all: impl Iterator<Item = &'a ToolId>) -> InstallError {
    let distance = |other: &ToolId| strsim::damerau_levenshtein(id.as_str(), other.as_str());
    let near = all.map(|other| (distance(other), other)).min();
    let near = near.filter(|(distance, _)| *distance <= 3);
    InstallError::UnknownTool {
        id: id.clone(),
        near: near.map(|(_, near)| near.clone()),
    }
}

//! From a verified manifest to a line in the lock file, in the one order that survives a crash:
//! artifact, models, manifest, receipt, and last the lock file, whose rename makes it real.

use jp_policy::{Form, Policy, could_be_satisfied};

use super::{
    Change, Decision, InstallError, Installed, Installer, Known, Mode, Warning,
    asked::Asked,
    candidate::{Candidate, Wanted},
    kept, unmet, warning,
};
use crate::{
    Digest, ToolId,
    diff::{Diff, Reason, Side},
    document,
    lock::{Lock, LockedTool},
    manifest::ToolManifest,
    receipt::{Receipt, revocation},
    source::Fetched,
    source::MAX_MANIFEST,
    verify::Verified,
};

impl Installer<'_> {
    /// Puts a candidate under the name it was asked for, in place of what was there.
    pub(super) fn put(
        &self,
        asked: &Asked<'_>,
        before: Option<LockedTool>,
        candidate: Candidate<'_>,
        known: &Known,
        lock: &Lock,
    ) -> Result<Installed, InstallError> {
        let name = asked.name;
        let tool = locked(name, &candidate);
        if self.mode == Mode::Locked && before.as_ref() != Some(&tool) {
            let change = format!("`{name}` would become `{}` {}", tool.id, tool.version);
            return Err(InstallError::Locked { change });
        }
        refuse_revoked(&tool, known)?;
        let mut warnings = known.warnings.clone();
        warnings.extend(self.look_alikes(&candidate, lock));
        let satisfiable = self.satisfiable(&candidate.manifest.manifest);
        warnings.extend(satisfiable.map_err(|e| self.or_instead(e, asked, &candidate, known))?);
        warnings.extend(deprecated(
            &candidate.manifest.manifest,
            candidate.deprecated.as_deref(),
        ));
        if let Some(before) = &before {
            self.ask(before, &tool, &candidate.manifest.manifest, asked)?;
            if goes_back(before, &tool) {
                warnings.push(Warning::Downgrade {
                    id: tool.id.clone(),
                    from: before.version.clone(),
                    to: tool.version.clone(),
                });
            }
        }
        let artifact = self.artifact(&tool.registry, &candidate.manifest)?;
        self.backed(&artifact)
            .map_err(|e| self.or_instead(e, asked, &candidate, known))?;
        self.models(&tool)?;
        self.record(
            &tool,
            &candidate.fetched,
            &candidate.manifest.manifest,
            candidate.deprecated,
        )?;
        self.change_lock(|lock| {
            if lock.get(name.as_str()) != before.as_ref() {
                return Err(InstallError::Raced { name: name.clone() });
            }
            self.refuse_taken(name, &tool.id, lock)?;
            lock.set(tool.clone())
        })?;
        Ok(Installed {
            asks: candidate.manifest.manifest.request().words(),
            tool,
            before,
            warnings,
        })
    }

    /// Adds to an error about a version that could never run which other one could.
    fn or_instead(
        &self,
        mut error: InstallError,
        asked: &Asked<'_>,
        candidate: &Candidate<'_>,
        known: &Known,
    ) -> InstallError {
        if let InstallError::Unsatisfiable { instead, .. }
        | InstallError::Unbacked { instead, .. } = &mut error
        {
            let could = |wanted: &&Wanted<'_>| {
                let found = self.manifest(wanted, known);
                found.is_ok_and(|(_, other)| self.satisfiable(&other.manifest).is_ok())
            };
            let other = candidate.others.iter().find(could);
            let version = other.and_then(|other| other.version.as_ref());
            *instead = version
                .map(|version| unmet::instead(asked.name, asked.id, &version.to_string(), false));
        }
        error
    }

    /// Refuses a tool that could never run here, and one that asks for what nothing gives to any tool
    /// like it.
    pub(super) fn satisfiable(&self, tool: &ToolManifest) -> Result<Vec<Warning>, InstallError> {
        if let Some(unbacked) = tool.request().unbacked(Form::Wasm, &self.is_known) {
            return Err(InstallError::Unbacked {
                id: tool.id.clone(),
                version: tool.version.clone(),
                unbacked: Box::new(unbacked),
                instead: None,
            });
        }
        let app = Policy {
            capabilities: tool.with_models(self.app.capabilities.clone()),
            ..self.app.clone()
        };
        let partly = could_be_satisfied(&self.host, &app, &tool.request());
        let partly = partly.map_err(|denied| InstallError::Unsatisfiable {
            id: tool.id.clone(),
            version: tool.version.clone(),
            denied: Box::new(denied),
            instead: None,
        })?;
        let partly = partly.into_iter().map(|unsatisfied| Warning::Partly {
            unsatisfied: Box::new(unsatisfied),
        });
        Ok(partly.chain(warning::of_request(tool)).collect())
    }

    /// Refuses a tool that asks for the network when its file has no way to use it.
    pub(super) fn backed(&self, artifact: &Verified) -> Result<(), InstallError> {
        let (tool, request) = (&artifact.manifest, artifact.manifest.request());
        let without = Form::Caller { requests: false };
        // Most ask for nothing that depends on it, and their bytes need not be read again.
        if request.unbacked(without, &self.is_known).is_none() {
            return Ok(());
        }
        let form = (self.form)(&artifact.bytes()?);
        match request.unbacked(form, &self.is_known) {
            None => Ok(()),
            Some(unbacked) => Err(InstallError::Unbacked {
                id: tool.id.clone(),
                version: tool.version.clone(),
                unbacked: Box::new(unbacked),
                instead: None,
            }),
        }
    }

    /// Asks a person about what a version changes, where it changes anything that counts.
    fn ask(
        &self,
        before: &LockedTool,
        tool: &LockedTool,
        manifest: &ToolManifest,
        asked: &Asked<'_>,
    ) -> Result<(), InstallError> {
        let key = tool.key;
        let new = Side { manifest, key };
        let mut diff = match self.manifest_of(before) {
            Some(old) => Diff::between(
                Side {
                    manifest: &old,
                    key: before.key,
                },
                new,
            ),
            None => Diff::of_new(new),
        };
        // Whatever the texts say: the lock file holds what was accepted.
        diff.because((before.shown != tool.shown).then_some(Reason::Shown));
        // A workspace that a stranger wrote may ask for a version that has holes.
        let back = (goes_back(before, tool) && asked.is_by_range()).then(|| asked.ranges());
        diff.because(back.is_some().then_some(Reason::Older));
        if diff.reasons.is_empty() {
            return Ok(());
        }
        let change = Change::Tool {
            from: before,
            to: tool,
            diff: &diff,
            back: back.as_deref(),
        };
        match (self.decide)(&change) {
            Decision::Accept => Ok(()),
            Decision::Refuse => Err(InstallError::Stopped {
                name: tool.name.clone(),
                diff: Box::new(diff),
            }),
        }
    }

    /// Returns the manifest that a lock file means, to compare with: from here, or from its registry.
    fn manifest_of(&self, tool: &LockedTool) -> Option<ToolManifest> {
        let read = |bytes: &[u8]| {
            let max = usize::try_from(MAX_MANIFEST).unwrap_or_default();
            let value = document::parse(bytes, max).ok()?;
            let same = document::digest(&value).ok()? == tool.manifest;
            same.then(|| ToolManifest::read(&value).ok()).flatten()
        };
        let kept = kept::find(&self.places.data, &tool.manifest).ok().flatten();
        if let Some(kept) = kept.and_then(|kept| read(&kept.bytes)) {
            return Some(kept);
        }
        if self.mode == Mode::Offline {
            return None;
        }
        let registry = self.registry(&tool.registry).ok()?;
        let fetched = registry.source.manifest(&tool.id, Some(&tool.version));
        read(&fetched.ok()?.bytes)
    }

    /// Keeps the manifest, and says that it was verified.
    pub(super) fn record(
        &self,
        tool: &LockedTool,
        fetched: &Fetched,
        manifest: &ToolManifest,
        deprecated: Option<String>,
    ) -> Result<(), InstallError> {
        kept::keep(&self.disk, &self.places.data, &tool.manifest, fetched)?;
        let mut receipts = self.receipts()?;
        let own = manifest.deprecated.as_ref().map(|own| own.reason.clone());
        let fresh = Receipt {
            id: tool.id.clone(),
            version: tool.version.clone(),
            key: tool.key,
            sha256: tool.sha256,
            shown: tool.shown,
            capabilities: tool.capabilities,
            registry: tool.registry.clone(),
            summary: summary(&manifest.description),
            deprecated: deprecated.or(own),
            verified_at: self.now,
        };
        let old = receipts.get(&tool.manifest);
        if old.is_some_and(|old| same(old, &fresh)) {
            return Ok(());
        }
        Ok(receipts.add(&self.disk, tool.manifest, fresh)?)
    }

    /// Changes the lock file as it is now, while nobody else does.
    pub(super) fn change_lock<T>(
        &self,
        change: impl FnOnce(&mut Lock) -> Result<T, InstallError>,
    ) -> Result<T, InstallError> {
        // Beside the user's own files: a workspace is not the place for a lock of ours.
        let path = self.places.lock.to_string_lossy();
        let name = format!("{}.lock", Digest::of(path.as_bytes()));
        let held = self.places.data.join("workspaces").join(name);
        let _held = self.disk.lock(&held).map_err(Self::io(&held))?;
        let mut lock = Lock::open(&self.places.lock)?;
        let changed = change(&mut lock)?;
        lock.save(&self.disk, &self.places.lock)?;
        Ok(changed)
    }
}

fn locked(name: &ToolId, candidate: &Candidate<'_>) -> LockedTool {
    let manifest = &candidate.manifest;
    let tool = &manifest.manifest;
    LockedTool {
        name: name.clone(),
        id: tool.id.clone(),
        version: tool.version.clone(),
        registry: candidate.registry.name.clone(),
        sha256: tool.artifact.sha256,
        manifest: manifest.digest,
        key: manifest.key,
        shown: tool.shown_digest,
        capabilities: tool.capabilities_digest,
        models: tool.model_dependencies.clone(),
    }
}

fn goes_back(before: &LockedTool, tool: &LockedTool) -> bool {
    before.id == tool.id && before.version > tool.version
}

/// Refuses a tool that was taken back, by its models too.
pub(super) fn refuse_revoked(tool: &LockedTool, known: &Known) -> Result<(), InstallError> {
    match revocation(tool, &known.roots, &known.revoked) {
        None => Ok(()),
        Some(reason) => Err(InstallError::Revoked {
            id: tool.id.clone(),
            version: tool.version.clone(),
            reason,
        }),
    }
}

/// Says that a tool is deprecated, by its registry or by itself.
pub(super) fn deprecated(tool: &ToolManifest, listed: Option<&str>) -> Option<Warning> {
    let own = tool.deprecated.as_ref();
    let reason = listed.or_else(|| own.map(|own| own.reason.as_str()))?;
    let replaced_by = own.and_then(|own| own.replaced_by.clone());
    Some(Warning::Deprecated {
        id: tool.id.clone(),
        version: tool.version.clone(),
        reason: reason.to_owned(),
        replaced_by,
    })
}

/// Returns the first line of a description.
fn summary(description: &str) -> String {
    let line = description.lines().find(|line| !line.trim().is_empty());
    line.unwrap_or_default().trim().to_owned()
}

/// Tells whether two receipts say the same, whenever they were made.
fn same(old: &Receipt, fresh: &Receipt) -> bool {
    let at = fresh.verified_at;
    let old = Receipt {
        verified_at: at,
        ..old.clone()
    };
    old == *fresh
}

//! What is known about registries: whom the user trusts, what was taken back, and what is offered.

use super::{Change, Decision, InstallError, Installer, Mode, Places, Registry, Warning};
use crate::{
    ToolId,
    index::Index,
    revocation::Revocations,
    signature::{Dated, Judge, ListKind, SignedList},
    source::Fetched,
    transport::FetchError,
    trust::{Rotated, Rotations, SignedRotation, TrustRoots},
};

/// Whom the user trusts, and what was taken back.
#[derive(Debug, Clone, PartialEq)]
pub struct Known {
    /// The trusted keys.
    pub roots: TrustRoots,
    /// All known revocations.
    pub revoked: Revocations,
    /// What was noticed on the way.
    pub warnings: Vec<Warning>,
}

impl Places {
    /// Reads what is known, without asking anybody.
    ///
    /// # Errors
    ///
    /// When a file of the user cannot be read.
    pub fn known(&self) -> Result<Known, InstallError> {
        Ok(Known {
            roots: TrustRoots::load(&self.keys)?,
            revoked: Revocations::load(&self.revocations())?,
            warnings: Vec::new(),
        })
    }
}

impl Installer<'_> {
    /// Reads what is known. Lists of revocations that were lost are asked for first: without them
    /// nothing is verified.
    pub(super) fn known(&self) -> Result<Known, InstallError> {
        let mut known = self.places.known()?;
        if self.mode == Mode::Offline {
            return Ok(known);
        }
        let lost = known.revoked.all_lost(&known.roots);
        let lost: Vec<String> = lost.map(|(name, _)| name.to_owned()).collect();
        for name in lost {
            if let Ok(registry) = self.registry(&name) {
                self.refresh_revocations(registry, &mut known)?;
            }
        }
        Ok(known)
    }

    /// Finds a registry by its name.
    pub(super) fn registry(&self, name: &str) -> Result<&Registry, InstallError> {
        let mut named = self.registries.iter();
        let found = named.find(|registry| registry.name == name);
        found.ok_or_else(|| InstallError::UnknownRegistry { name: name.into() })
    }

    /// Returns a registry to ask for something that is not here, unless nobody may be asked.
    pub(super) fn asked(
        &self,
        name: &str,
        what: impl FnOnce() -> String,
    ) -> Result<&Registry, InstallError> {
        match self.mode {
            Mode::Normal | Mode::Locked => self.registry(name),
            Mode::Offline => Err(InstallError::Offline { what: what() }),
        }
    }

    /// Asks a registry for what it offers and took back, and keeps that; `None` for a kind of
    /// registry that has no index.
    pub(super) fn refresh(
        &self,
        registry: &Registry,
        known: &mut Known,
    ) -> Result<Option<Index>, InstallError> {
        // The name becomes a directory.
        let place: ToolId = registry.name.parse().map_err(|_| {
            let name = registry.name.clone();
            InstallError::UnknownRegistry { name }
        })?;
        let path = self.places.index(&place);
        if self.mode == Mode::Offline {
            let judge = self.judge(registry, &known.roots);
            return Ok(Index::cached(&path, &judge, &known.revoked)?);
        }
        self.refresh_revocations(registry, known)?;
        self.refresh_keys(registry, known)?;
        let Some(fetched) = registry.source.index()? else {
            return Ok(None);
        };
        let judge = self.judge(registry, &known.roots);
        let index = Index::update(&self.disk, &path, &signed(fetched), &judge, &known.revoked)?;
        self.warn_of_old(registry, ListKind::Index, index.dated(), known);
        Ok(Some(index))
    }

    pub(super) fn judge<'b>(&self, registry: &'b Registry, roots: &'b TrustRoots) -> Judge<'b> {
        Judge {
            registry: &registry.name,
            roots,
            now: self.now,
        }
    }

    /// Takes a newer list of revocations. One that cannot be reached changes nothing.
    pub(super) fn refresh_revocations(
        &self,
        registry: &Registry,
        known: &mut Known,
    ) -> Result<(), InstallError> {
        let fetched = match registry.source.revocations() {
            Ok(fetched) => fetched,
            Err(error) if error.is_unreachable() => {
                known.warnings.push(Warning::Unreachable {
                    registry: registry.name.clone(),
                    reason: error.to_string(),
                });
                return Ok(());
            }
            // A registry without a list is fine, one that had a list and hides it is not.
            Err(FetchError::NotFound { .. })
                if known.revoked.last(&registry.name).is_none()
                    && known.roots.revocations_seen(&registry.name).is_none() =>
            {
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        if let Some(fetched) = fetched {
            let judge = self.judge(registry, &known.roots);
            let path = self.places.revocations();
            known.revoked = Revocations::update(&self.disk, &path, &signed(fetched), &judge)?;
            self.remember_revocations(registry, known)?;
            if let Some(dated) = known.revoked.dated(&registry.name) {
                self.warn_of_old(registry, ListKind::Revocations, dated, known);
            }
        }
        Ok(())
    }

    /// Notes a list that was fetched just now and should have been renewed since it was made.
    fn warn_of_old(&self, registry: &Registry, list: ListKind, dated: Dated, known: &mut Known) {
        let Some(days) = dated.overdue(self.now) else {
            return;
        };
        let warning = Warning::Stale {
            registry: registry.name.clone(),
            list: list.to_string(),
            days,
        };
        if !known.warnings.contains(&warning) {
            known.warnings.push(warning);
        }
    }

    /// Writes beside the registry's key which list was seen. The list is written before: whatever a
    /// crash leaves, none is missed that is there.
    fn remember_revocations(
        &self,
        registry: &Registry,
        known: &mut Known,
    ) -> Result<(), InstallError> {
        let Some((number, _)) = known.revoked.last(&registry.name) else {
            return Ok(());
        };
        let seen = known.roots.revocations_seen(&registry.name);
        if seen.is_some_and(|seen| seen >= number) {
            return Ok(());
        }
        let remember = |roots: &mut TrustRoots| {
            roots.saw_revocations(&registry.name, number);
            Ok::<_, InstallError>(())
        };
        let (roots, ()) = TrustRoots::change_on(&self.disk, &self.places.keys, remember)?;
        known.roots = roots;
        Ok(())
    }

    /// Moves names from trusted keys to their successors, as far as the person accepts it.
    fn refresh_keys(&self, registry: &Registry, known: &mut Known) -> Result<(), InstallError> {
        if self.mode != Mode::Normal {
            return Ok(());
        }
        let bytes = match registry.source.rotations() {
            Ok(Some(bytes)) => bytes,
            Ok(None) | Err(FetchError::NotFound { .. }) => return Ok(()),
            Err(error) if error.is_unreachable() => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        for statement in &Rotations::read(&bytes)?.rotations {
            let old = statement.statement.old;
            let is_trusted = known.roots.publishers().any(|(key, _)| *key == old);
            if is_trusted {
                self.rotate(registry, statement, known)?;
            }
        }
        Ok(())
    }

    fn rotate(
        &self,
        registry: &Registry,
        statement: &SignedRotation,
        known: &mut Known,
    ) -> Result<(), InstallError> {
        let tried = known.roots.clone().rotate(statement, &known.revoked);
        let (old, new, names) = match tried {
            Ok(Rotated::Moved { old, new, names }) => (old, new, names),
            Ok(Rotated::Already) => return Ok(()),
            // Anybody can write a statement that does not hold: it must not stop the rest.
            Err(error) => {
                known.warnings.push(Warning::Statement {
                    registry: registry.name.clone(),
                    reason: error.to_string(),
                });
                return Ok(());
            }
        };
        let change = Change::Key {
            registry: &registry.name,
            old,
            new,
            names: &names,
        };
        if (self.decide)(&change) == Decision::Refuse {
            return Ok(());
        }
        let apply = |roots: &mut TrustRoots| roots.rotate(statement, &known.revoked);
        let changed = TrustRoots::change_on(&self.disk, &self.places.keys, |roots| {
            apply(roots).map_err(InstallError::from)
        });
        let (roots, _) = changed?;
        known.roots = roots;
        Ok(())
    }
}

fn signed(fetched: Fetched) -> SignedList {
    SignedList {
        document: fetched.bytes,
        signatures: fetched.signatures,
    }
}

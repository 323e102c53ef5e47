//! Which of a registry's versions is taken: the newest that fits what was typed and what the
//! workspace asks for, that was not taken back, and that nobody warns of if there is such a one.

use semver::Version;

use super::{InstallError, Registry, Versions, asked::Asked, candidate::Wanted};
use crate::{
    ToolId,
    index::{Index, IndexTool, IndexVersion},
    lock::LockedTool,
    revocation::Revocations,
};

/// As many versions are listed when another was asked for.
const MAX_NAMED: usize = 8;

/// A longer version is shortened where it is shown.
const MAX_SHOWN: usize = 64;

impl Asked<'_> {
    /// Returns the version to install.
    pub(super) fn choose(
        &self,
        registry: &Registry,
        tool: &IndexTool,
        revoked: &Revocations,
    ) -> Result<Version, InstallError> {
        // A version that was typed out is looked up as it is: that is where what is wrong with it is reported.
        if let Versions::One(version) = self.typed {
            return Ok(version.clone());
        }
        let best = best(self.usable(tool, revoked));
        let best = best.map(|(version, _)| version.clone());
        best.ok_or_else(|| match revoked.version(self.id, &tool.newest) {
            Some(found) if !self.is_limited() => InstallError::Revoked {
                id: self.id.clone(),
                version: tool.newest.clone(),
                reason: found.reason().to_owned(),
            },
            _ => self.none_fits(registry, tool, revoked),
        })
    }

    /// Returns the version that an update goes to: a higher one, unless the locked one does not fit.
    pub(super) fn next<'i>(
        &self,
        tool: &LockedTool,
        index: &'i Index,
        revoked: &Revocations,
    ) -> Option<&'i Version> {
        let offered = index.tool(self.id)?;
        if !self.fits(&tool.version) {
            return best(self.usable(offered, revoked)).map(|(version, _)| version);
        }
        let preview = !tool.version.pre.is_empty();
        let all = offered.versions.iter().filter(|(version, _)| {
            let usable = match self.is_limited() {
                true => self.offers(offered, version),
                false => **version <= offered.newest && (preview || version.pre.is_empty()),
            };
            usable && **version > tool.version && revoked.version(self.id, version).is_none()
        });
        let (version, next) = best(all)?;
        // What nobody warns of is not left for what somebody does.
        let locked = offered.versions.get(&tool.version);
        let is_fine = locked.is_some_and(|locked| locked.deprecated.is_none())
            && revoked.version(self.id, &tool.version).is_none();
        (next.deprecated.is_none() || !is_fine).then_some(version)
    }

    /// Returns what could be taken in place of a version, the newest first: nothing that somebody
    /// warns of, and only what is above another version where there is one.
    pub(super) fn others<'r>(
        &self,
        than: &Version,
        above: Option<&Version>,
        registry: &'r Registry,
        tool: &IndexTool,
        revoked: &Revocations,
    ) -> Vec<Wanted<'r>> {
        let others = self
            .usable(tool, revoked)
            .rev()
            .filter(|(version, listed)| {
                let above = above.is_none_or(|above| *version > above);
                *version != than && above && listed.deprecated.is_none()
            });
        others
            .take(MAX_NAMED)
            .map(|(version, listed)| Wanted::listed(registry, self.id, version, listed))
            .collect()
    }

    /// Says which versions there are, where none of them will do.
    fn none_fits(
        &self,
        registry: &Registry,
        tool: &IndexTool,
        revoked: &Revocations,
    ) -> InstallError {
        let newest = best(self.any().usable(tool, revoked));
        InstallError::NoneFits {
            unmet: self.unmet(registry),
            offered: all_of(self.id, tool, revoked),
            newest: newest.map(|(version, _)| version.clone()),
        }
    }

    /// Says that of what an index has nothing will do; the tool itself may be gone from it.
    pub(super) fn none_listed(
        &self,
        registry: &Registry,
        index: &Index,
        revoked: &Revocations,
    ) -> InstallError {
        match index.tool(self.id) {
            Some(tool) => self.none_fits(registry, tool, revoked),
            None => InstallError::UnknownTool {
                id: self.id.clone(),
                near: None,
            },
        }
    }

    /// Returns what is offered and was not taken back, the lowest first.
    fn usable<'i>(
        &self,
        tool: &'i IndexTool,
        revoked: &Revocations,
    ) -> impl DoubleEndedIterator<Item = (&'i Version, &'i IndexVersion)> {
        tool.versions.iter().filter(move |(version, _)| {
            self.offers(tool, version) && revoked.version(self.id, version).is_none()
        })
    }

    /// Tells whether a registry offers a version to whoever asks so.
    fn offers(&self, tool: &IndexTool, version: &Version) -> bool {
        let preview = !version.pre.is_empty();
        // A range says itself which versions before a release will do.
        let allowed = match (preview, self.is_limited()) {
            (false, _) => *version <= tool.newest,
            (true, true) => true,
            (true, false) => *version <= tool.newest && !tool.newest.pre.is_empty(),
        };
        allowed && self.fits(version)
    }
}

/// Says which versions of a tool an index has.
pub(super) fn offered(id: &ToolId, index: &Index, revoked: &Revocations) -> String {
    let tool = index.tool(id);
    tool.map_or_else(|| "none".to_owned(), |tool| all_of(id, tool, revoked))
}

fn all_of(id: &ToolId, tool: &IndexTool, revoked: &Revocations) -> String {
    let mut offered: Vec<String> = Vec::new();
    for version in tool.versions.keys().rev().take(MAX_NAMED) {
        let text = jp_text::shorten(&version.to_string(), MAX_SHOWN).into_owned();
        offered.push(match revoked.version(id, version) {
            Some(found) => format!("{text} (revoked: {})", jp_text::escape_line(found.reason())),
            None => text,
        });
    }
    let more = tool.versions.len().saturating_sub(MAX_NAMED);
    if more > 0 {
        offered.push(format!("{more} older ones"));
    }
    offered.join(", ")
}

/// Returns the highest version that nobody warns of, or else the highest.
fn best<'i>(
    all: impl DoubleEndedIterator<Item = (&'i Version, &'i IndexVersion)>,
) -> Option<(&'i Version, &'i IndexVersion)> {
    let mut highest = None;
    for one in all.rev() {
        if one.1.deprecated.is_none() {
            return Some(one);
        }
        highest = highest.or(Some(one));
    }
    highest
}

//! Whether a locked tool may be used: by what is in memory, so that asking again at every call costs
//! next to nothing.

use jp_registry::LockedTool;

use super::{RegistryTools, SignedProblem, load::problem};

impl RegistryTools {
    /// Refuses a locked tool that this machine has not verified as the lock file has it, whose key does
    /// not count any more, or that was revoked.
    pub(crate) fn check(&self, locked: &LockedTool) -> Result<(), SignedProblem> {
        let (roots, revoked) = (&self.known.roots, &self.known.revoked);
        let receipts = self.receipts();
        receipts.valid(locked, roots, revoked).map_err(problem)?;
        Ok(())
    }
}

//! Whether a locked tool may be used: by what is in memory, so that asking again at every call costs
//! next to nothing.

use jp_registry::{LockedTool, ReceiptProblem};

use super::{RegistryTools, SignedProblem};

impl RegistryTools {
    /// Refuses a locked tool that this machine has not verified as the lock file has it, whose key does
    /// not count any more, or that was revoked.
    pub(crate) fn check(&self, locked: &LockedTool) -> Result<(), SignedProblem> {
        let (roots, revoked) = (&self.known.roots, &self.known.revoked);
        let receipts = self.receipts();
        let valid = receipts.valid(locked, roots, revoked).map(|_| ());
        valid.map_err(|problem| match problem {
            ReceiptProblem::Missing { .. } => SignedProblem::NotInstalled,
            ReceiptProblem::Differs { field, .. } => SignedProblem::LockChanged {
                source: format!("the {field} differs").into(),
            },
            ReceiptProblem::Untrusted { id, key } => SignedProblem::Key {
                id: id.to_string(),
                key: key.to_string(),
                standing: "you do not trust to sign it".to_owned(),
            },
            ReceiptProblem::Revoked { reason, .. } => SignedProblem::Revoked {
                source: jp_text::inline(&reason).to_string().into(),
            },
        })
    }
}

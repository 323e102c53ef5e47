//! What a script knew of host files that it read or removed, so that applying can tell whether they changed since.

use std::collections::BTreeSet;

use jp_bash_system::SysResult;

use super::Tree;
use crate::vfs::host::Seen;
use crate::vfs::{HostMode, Quota};

/// What is counted for one file, beside its path.
const COST: u64 = 160;

impl Tree {
    /// Remembers what a file was like when the script opened it for reading; a later reading counts more.
    pub(in crate::vfs) fn saw_read(
        &mut self,
        path: &[u8],
        seen: Seen,
        quota: &dyn Quota,
    ) -> SysResult<()> {
        if let Some(known) = self.witness.get_mut(path) {
            *known = seen;
            return Ok(());
        }
        self.add_witness(path, seen, quota)
    }

    /// Remembers what a file was like that the script removes or moves; what it read of it counts more.
    pub(super) fn saw_removed(&mut self, index: u32, quota: &dyn Quota) -> SysResult<()> {
        let Some(below) = &self.get(index)?.below else {
            return Ok(());
        };
        let (path, seen) = (below.path.clone(), below.seen);
        if self.witness.contains_key(&path) {
            return Ok(());
        }
        self.add_witness(&path, seen, quota)
    }

    fn add_witness(&mut self, path: &[u8], seen: Seen, quota: &dyn Quota) -> SysResult<()> {
        if !matches!(self.host, Some((_, HostMode::Overlay))) {
            return Ok(());
        }
        self.take(COST + path.len() as u64, quota)?;
        self.witness.insert(path.into(), seen);
        Ok(())
    }

    /// Forgets what was known of paths, and of everything below them.
    pub(in crate::vfs) fn forget_witnesses(&mut self, of: &BTreeSet<&[u8]>, quota: &dyn Quota) {
        let mut freed = 0;
        self.witness.retain(|path, _| {
            let ends = (0..=path.len()).filter(|at| path.get(*at).is_none_or(|b| *b == b'/'));
            let gone = ends
                .filter_map(|end| path.get(..end))
                .any(|above| of.contains(above));
            freed += if gone { COST + path.len() as u64 } else { 0 };
            !gone
        });
        self.give(freed, quota);
    }
}

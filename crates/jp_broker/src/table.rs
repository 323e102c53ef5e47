//! The one table of all capabilities.

use std::sync::Arc;

use crate::{Capability, clock, log};

/// Returns all capabilities, by family.
#[must_use]
pub fn table() -> Vec<Arc<dyn Capability>> {
    [clock::all(), log::all()].into_iter().flatten().collect()
}

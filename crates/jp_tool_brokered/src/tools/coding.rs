//! `coding`: a task for a model that writes code.

use super::calls;
use crate::ModuleTool;

/// A task for a model that writes code.
pub static CODING: ModuleTool = ModuleTool {
    name: "coding",
    summary: "Asks a model that writes code",
    description: "Gives a programming task to the configured model for code and returns its answer. \
                  It sees the prompt alone: put in all it needs to know.",
    actions: &[calls::CODING_GENERATE],
};

//! `coding`: a task for a model that writes code.

use crate::ModuleTool;
use crate::tool::{Kind, action, optional, required};

/// A task for a model that writes code.
pub static CODING: ModuleTool = ModuleTool {
    name: "coding",
    summary: "Asks a model that writes code",
    description: "Gives a programming task to the configured model for code and returns its answer. \
                  It sees the prompt alone: put in all it needs to know.",
    actions: &[action(
        &[],
        "coding.generate",
        &[
            required("prompt", Kind::Text, "The task, with all it needs to know"),
            optional("system_prompt", Kind::Text, "How it should go about it"),
        ],
    )],
};

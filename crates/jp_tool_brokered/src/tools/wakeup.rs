//! `wakeup`: prompts that are run again and again.

use super::ranges;
use crate::ModuleTool;
use crate::tool::{Argument, Kind, action, optional, required};

const ID: Argument = required("id", Kind::Integer, "The wakeup's id, as list shows it");

/// Prompts that are run again and again.
pub static WAKEUP: ModuleTool = ModuleTool {
    name: "wakeup",
    summary: "Runs a prompt at an interval",
    description: "Runs a prompt for the user at an interval until it is stopped. create makes a \
                  wakeup; list shows wakeups with their ids; disable stops one and enable lets it \
                  run again; delete removes one.",
    actions: &[
        action(
            &["create"],
            "kv.sqlite.wakeup.create",
            &[
                required("name", Kind::Text, "A short name"),
                required("prompt", Kind::Text, "What to do each time"),
                required(
                    "interval_minutes",
                    ranges::MINUTES,
                    "Minutes from one time to the next",
                ),
            ],
        ),
        action(
            &["list"],
            "kv.sqlite.wakeup.list",
            &[
                optional(
                    "status",
                    Kind::Word(&["all", "enabled", "disabled"]),
                    "Which wakeups (default all)",
                ),
                optional("limit", ranges::ROWS, "How many at most (default 20)"),
            ],
        ),
        action(&["enable"], "kv.sqlite.wakeup.enable", &[ID]),
        action(&["disable"], "kv.sqlite.wakeup.disable", &[ID]),
        action(&["delete"], "kv.sqlite.wakeup.delete", &[ID]),
    ],
};

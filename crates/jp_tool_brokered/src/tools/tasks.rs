//! `tasks`: prompts that are run at a time, once or again and again.

use super::ranges;
use crate::ModuleTool;
use crate::tool::{Argument, Kind, action, optional, required};

const ID: Argument = required("id", Kind::Integer, "The task's id, as list shows it");
const STATUS: Argument = optional(
    "status",
    Kind::Word(&["all", "enabled", "disabled"]),
    "Which tasks (default all)",
);

/// Prompts that are run at a time.
pub static TASKS: ModuleTool = ModuleTool {
    name: "tasks",
    summary: "Schedules prompts for later",
    description: "Schedules a prompt to be run for the user at a time, once or at an interval. \
                  schedule makes a task; list shows tasks with their ids; disable (or cancel) stops \
                  one and enable lets it run again; delete removes one; clear removes all of a \
                  status.",
    actions: &[
        action(
            &["schedule"],
            "kv.sqlite.tasks.schedule",
            &[
                required("name", Kind::Text, "A short name"),
                required("prompt", Kind::Text, "What to do when the time has come"),
                required("run_at", ranges::TIME, "When, in seconds since 1970 (UTC)"),
                optional(
                    "interval_minutes",
                    ranges::MINUTES_OR_ONCE,
                    "Minutes until it is run again; 0 or left out: it is run once",
                ),
            ],
        ),
        action(
            &["list"],
            "kv.sqlite.tasks.list",
            &[
                STATUS,
                optional("limit", ranges::ROWS, "How many at most (default 50)"),
            ],
        ),
        action(&["enable"], "kv.sqlite.tasks.enable", &[ID]),
        action(&["disable", "cancel"], "kv.sqlite.tasks.disable", &[ID]),
        action(&["delete"], "kv.sqlite.tasks.delete", &[ID]),
        action(&["clear"], "kv.sqlite.tasks.clear", &[STATUS]),
    ],
};

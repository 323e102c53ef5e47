//! `reminders`: a word to the user at a time.

use super::ranges;
use crate::ModuleTool;
use crate::tool::{Action, Argument, Kind, action, optional, required};

const ID: Argument = required("id", Kind::Integer, "The reminder's id, as list shows it");
const DUE_AT: Argument = optional(
    "due_at",
    ranges::TIME_OR_MILLISECONDS,
    "When, in seconds since 1970 (UTC)",
);
/// Counts before `due_at` if both are there; that is for the host to see to.
const DELAY: Argument =
    optional("delay_seconds", ranges::SECONDS, "In how many seconds").or(&["in_seconds"]);
const STATUS: Argument = optional(
    "status",
    Kind::Word(&["open", "completed", "all"]),
    "Which reminders (default open)",
);

/// A word to the user at a time.
pub static REMINDERS: ModuleTool = ModuleTool {
    name: "reminders",
    summary: "Reminds the user of something at a time",
    description: "Reminds the user of something at a time. create makes a reminder, and needs \
                  due_at or delay_seconds; list shows reminders with their ids; complete and delete take \
                  an id; snooze moves one to a later time; clear deletes all of a status.",
    actions: &[
        Action {
            one_of: &["due_at", "delay_seconds"],
            ..action(
                &[
                    "create",
                    "set",
                    "add",
                    "remind",
                    "schedule",
                    "create_reminder",
                ],
                "kv.sqlite.reminders.create",
                &[
                    required("title", Kind::Text, "What to remind of"),
                    DELAY,
                    DUE_AT,
                ],
            )
        },
        action(
            &["list", "show", "list_reminders"],
            "kv.sqlite.reminders.list",
            &[
                STATUS,
                optional(
                    "limit",
                    ranges::ROWS_OR_ALL,
                    "How many at most (default 20, 0 for all)",
                ),
            ],
        ),
        action(
            &["complete", "done", "finish"],
            "kv.sqlite.reminders.complete",
            &[ID],
        ),
        action(
            &["delete", "remove", "erase"],
            "kv.sqlite.reminders.delete",
            &[ID],
        ),
        Action {
            one_of: &["due_at", "delay_seconds"],
            ..action(
                &["snooze"],
                "kv.sqlite.reminders.snooze",
                &[ID, DELAY, DUE_AT],
            )
        },
        action(
            &["clear", "clear_all", "clear_reminders"],
            "kv.sqlite.reminders.clear",
            &[STATUS],
        ),
    ],
};

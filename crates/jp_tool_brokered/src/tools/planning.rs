//! `planning`: a goal and the steps to it.

use super::ranges;
use super::sizing::{DEPENDENCY_REFS, LIKELY, OPTIMISTIC, PESSIMISTIC, STORY_POINTS, T_SHIRT_SIZE};
use crate::ModuleTool;
use crate::tool::{Argument, Kind, action, optional, required};

const ID: Argument = required("id", Kind::Integer, "The plan's id, as list shows it");

/// The fields of a step. A step may name itself in several ways; the host knows them.
const STEP: &[Argument] = &[
    optional("title", Kind::Text, "What the step is"),
    optional("id", Kind::Reference, "What other steps may call it"),
    optional("description", Kind::Text, "Details"),
    optional("owner", Kind::Word(&["human", "agent"]), "Who does it"),
    optional(
        "priority",
        Kind::Word(&["low", "normal", "high", "urgent"]),
        "How pressing it is",
    ),
    optional("due_date", Kind::Text, "The day it is due: YYYY-MM-DD"),
    optional(
        "due_at",
        ranges::TIME_OR_MILLISECONDS,
        "When it is due, in seconds since 1970",
    ),
    T_SHIRT_SIZE,
    STORY_POINTS,
    OPTIMISTIC,
    LIKELY,
    PESSIMISTIC,
    DEPENDENCY_REFS,
];

const STEPS: Argument = optional(
    "steps",
    Kind::Entries(STEP),
    "The steps: titles, or objects with a title and more; each becomes a to-do",
);
const STATUS: Argument = optional(
    "status",
    Kind::Text,
    "Where the plan stands (default draft)",
);

/// A goal and the steps to it.
pub static PLANNING: ModuleTool = ModuleTool {
    name: "planning",
    summary: "Keeps plans: a goal and the steps to it",
    description: "Keeps plans for the user: a goal and the steps to it. create makes a plan, and a \
                  to-do of each step; list shows plans, newest first; get shows one; update changes \
                  what is given and leaves the rest; delete removes one; clear removes all.",
    actions: &[
        action(
            &["create"],
            "kv.sqlite.planning.create",
            &[
                required("title", Kind::Text, "The plan's name"),
                required("goal", Kind::Text, "What is to be reached"),
                STEPS,
                STATUS,
            ],
        ),
        action(
            &["list"],
            "kv.sqlite.planning.list",
            &[optional(
                "limit",
                ranges::ROWS,
                "How many at most (default 20)",
            )],
        ),
        action(&["get"], "kv.sqlite.planning.get", &[ID]),
        action(
            &["update"],
            "kv.sqlite.planning.update",
            &[
                ID,
                optional("title", Kind::Text, "The plan's name"),
                optional("goal", Kind::Text, "What is to be reached"),
                STEPS,
                STATUS,
            ],
        ),
        action(&["delete"], "kv.sqlite.planning.delete", &[ID]),
        action(&["clear"], "kv.sqlite.planning.clear", &[]),
    ],
};

//! `todo`: a list of things to do.

use super::ranges;
use super::sizing::{DEPENDENCY_REFS, LIKELY, OPTIMISTIC, PESSIMISTIC, STORY_POINTS, T_SHIRT_SIZE};
use crate::ModuleTool;
use crate::tool::{Argument, Kind, action, optional, required};

const ID: Argument = required("id", Kind::Integer, "The item's id, as list shows it");
const TITLE: Argument = required("title", Kind::Text, "What is to be done");
const NOTES: Argument = optional("notes", Kind::Text, "Details");
const STATUS: Argument = optional(
    "status",
    Kind::Word(&["open", "completed", "all"]),
    "Which items (default open)",
);

/// The fields of an item that is made.
const ITEM: &[Argument] = &[
    TITLE,
    NOTES,
    T_SHIRT_SIZE,
    STORY_POINTS,
    OPTIMISTIC,
    LIKELY,
    PESSIMISTIC,
    DEPENDENCY_REFS,
];

/// A list of things to do.
pub static TODO: ModuleTool = ModuleTool {
    name: "todo",
    summary: "Keeps a list of things to do",
    description: "Keeps the user's list of things to do, in an order that can be changed. create adds \
                  one item and create_many several; list shows them with their ids; complete, \
                  reopen and delete take an id; clear deletes all of a status; reorder puts the \
                  listed ids first, in that order.",
    actions: &[
        action(&["create", "add", "new"], "kv.sqlite.todo.create", ITEM),
        action(
            &[
                "create_many",
                "add_many",
                "bulk_create",
                "create_items",
                "create_list",
            ],
            "kv.sqlite.todo.create_many",
            &[required(
                "items",
                Kind::Entries(ITEM),
                "The items: titles, or objects with a title and more",
            )],
        ),
        action(
            &["list"],
            "kv.sqlite.todo.list",
            &[
                STATUS,
                optional("limit", ranges::ROWS, "How many at most (default 50)"),
            ],
        ),
        action(&["complete"], "kv.sqlite.todo.complete", &[ID]),
        action(&["reopen"], "kv.sqlite.todo.reopen", &[ID]),
        action(&["delete"], "kv.sqlite.todo.delete", &[ID]),
        action(&["clear"], "kv.sqlite.todo.clear", &[STATUS]),
        action(
            &["reorder"],
            "kv.sqlite.todo.reorder",
            &[required(
                "ordered_ids",
                Kind::Integers,
                "Ids in the order wanted",
            )],
        ),
    ],
};

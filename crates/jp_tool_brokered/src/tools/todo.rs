//! `todo`: a list of things to do.

use super::calls;
use crate::ModuleTool;

/// A list of things to do.
pub static TODO: ModuleTool = ModuleTool {
    name: "todo",
    summary: "Keeps a list of things to do",
    description: "Keeps the user's list of things to do, in an order that can be changed. create adds \
                  one item and create_many several; list shows them with their ids; complete, \
                  reopen and delete take an id; clear deletes all of a status; reorder puts the \
                  listed ids first, in that order.",
    actions: &[
        calls::TODO_CREATE.named(&["create", "add", "new"]),
        calls::TODO_CREATE_MANY.named(&[
            "create_many",
            "add_many",
            "bulk_create",
            "create_items",
            "create_list",
        ]),
        calls::TODO_LIST.named(&["list"]),
        calls::TODO_COMPLETE.named(&["complete"]),
        calls::TODO_REOPEN.named(&["reopen"]),
        calls::TODO_DELETE.named(&["delete"]),
        calls::TODO_CLEAR.named(&["clear"]),
        calls::TODO_REORDER.named(&["reorder"]),
    ],
};

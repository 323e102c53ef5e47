//! `planning`: a goal and the steps to it.

use super::calls;
use crate::ModuleTool;

/// A goal and the steps to it.
pub static PLANNING: ModuleTool = ModuleTool {
    name: "planning",
    summary: "Keeps plans: a goal and the steps to it",
    description: "Keeps plans for the user: a goal and the steps to it. create makes a plan, and a \
                  to-do of each step; list shows plans, newest first; get shows one; update changes \
                  what is given and leaves the rest; delete removes one; clear removes all.",
    actions: &[
        calls::PLANNING_CREATE.named(&["create"]),
        calls::PLANNING_LIST.named(&["list"]),
        calls::PLANNING_GET.named(&["get"]),
        calls::PLANNING_UPDATE.named(&["update"]),
        calls::PLANNING_DELETE.named(&["delete"]),
        calls::PLANNING_CLEAR.named(&["clear"]),
    ],
};

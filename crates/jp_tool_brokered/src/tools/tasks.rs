//! `tasks`: prompts that are run at a time, once or again and again.

use super::calls;
use crate::ModuleTool;

/// Prompts that are run at a time.
pub static TASKS: ModuleTool = ModuleTool {
    name: "tasks",
    summary: "Schedules prompts for later",
    description: "Schedules a prompt to be run for the user at a time, once or at an interval. \
                  schedule makes a task; list shows tasks with their ids; disable (or cancel) stops \
                  one and enable lets it run again; delete removes one; clear removes all of a \
                  status.",
    actions: &[
        calls::TASKS_SCHEDULE.named(&["schedule"]),
        calls::TASKS_LIST.named(&["list"]),
        calls::TASKS_ENABLE.named(&["enable"]),
        calls::TASKS_DISABLE.named(&["disable", "cancel"]),
        calls::TASKS_DELETE.named(&["delete"]),
        calls::TASKS_CLEAR.named(&["clear"]),
    ],
};

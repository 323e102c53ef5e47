//! `wakeup`: prompts that are run again and again.

use super::calls;
use crate::ModuleTool;

/// Prompts that are run again and again.
pub static WAKEUP: ModuleTool = ModuleTool {
    name: "wakeup",
    summary: "Runs a prompt at an interval",
    description: "Runs a prompt for the user at an interval until it is stopped. create makes a \
                  wakeup; list shows wakeups with their ids; disable stops one and enable lets it \
                  run again; delete removes one.",
    actions: &[
        calls::WAKEUP_CREATE.named(&["create"]),
        calls::WAKEUP_LIST.named(&["list"]),
        calls::WAKEUP_ENABLE.named(&["enable"]),
        calls::WAKEUP_DISABLE.named(&["disable"]),
        calls::WAKEUP_DELETE.named(&["delete"]),
    ],
};

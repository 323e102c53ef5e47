//! `reminders`: a word to the user at a time.

use super::calls;
use crate::ModuleTool;

/// A word to the user at a time.
pub static REMINDERS: ModuleTool = ModuleTool {
    name: "reminders",
    summary: "Reminds the user of something at a time",
    description: "Reminds the user of something at a time. create makes a reminder, and needs \
                  due_at or delay_seconds; list shows reminders with their ids; complete and delete take \
                  an id; snooze moves one to a later time; clear deletes all of a status.",
    actions: &[
        calls::REMINDERS_CREATE.named(&[
            "create",
            "set",
            "add",
            "remind",
            "schedule",
            "create_reminder",
        ]),
        calls::REMINDERS_LIST.named(&["list", "show", "list_reminders"]),
        calls::REMINDERS_COMPLETE.named(&["complete", "done", "finish"]),
        calls::REMINDERS_DELETE.named(&["delete", "remove", "erase"]),
        calls::REMINDERS_SNOOZE.named(&["snooze"]),
        calls::REMINDERS_CLEAR.named(&["clear", "clear_all", "clear_reminders"]),
    ],
};

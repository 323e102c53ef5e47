//! The module of the tool `reminders`.

use jp_tool_brokered::{REMINDERS, module};

module!(|input| REMINDERS.answer(input));

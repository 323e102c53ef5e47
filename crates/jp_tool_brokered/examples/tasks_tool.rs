//! The module of the tool `tasks`.

use jp_tool_brokered::{TASKS, module};

module!(|input| TASKS.answer(input));

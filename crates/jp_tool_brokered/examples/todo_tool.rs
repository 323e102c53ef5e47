//! The module of the tool `todo`.

use jp_tool_brokered::{TODO, module};

module!(|input| TODO.answer(input));

//! The module of the tool `planning`.

use jp_tool_brokered::{PLANNING, module};

module!(|input| PLANNING.answer(input));

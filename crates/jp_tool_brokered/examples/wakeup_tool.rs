//! The module of the tool `wakeup`.

use jp_tool_brokered::{WAKEUP, module};

module!(|input| WAKEUP.answer(input));

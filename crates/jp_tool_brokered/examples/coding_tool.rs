//! The module of the tool `coding`.

use jp_tool_brokered::{CODING, module};

module!(|input| CODING.answer(input));

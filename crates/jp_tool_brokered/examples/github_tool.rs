//! The module of the tool `github`.

use jp_tool_brokered::{GITHUB, module};

module!(|input| GITHUB.answer(input));

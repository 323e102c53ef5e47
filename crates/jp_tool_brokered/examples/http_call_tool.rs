//! The module of the tool `http_call`.

use jp_tool_brokered::{HTTP_CALL, module};

module!(|input| HTTP_CALL.answer(input));

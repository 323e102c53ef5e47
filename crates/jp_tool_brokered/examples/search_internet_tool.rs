//! The module of the tool `search_internet`.

use jp_tool_brokered::{SEARCH_INTERNET, module};

module!(|input| SEARCH_INTERNET.answer(input));

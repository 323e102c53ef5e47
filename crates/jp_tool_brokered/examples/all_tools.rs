//! The module of all tools: each is entered by its own name. What they share is there once.

use jp_tool_brokered::{
    CODING, GITHUB, HTTP_CALL, MCP, PLANNING, REMINDERS, SEARCH_INTERNET, TASKS, TODO, WAKEUP,
    module,
};

module! {
    coding: |input| CODING.answer(input),
    github: |input| GITHUB.answer(input),
    http_call: |input| HTTP_CALL.answer(input),
    mcp: |input| MCP.answer(input),
    planning: |input| PLANNING.answer(input),
    reminders: |input| REMINDERS.answer(input),
    search_internet: |input| SEARCH_INTERNET.answer(input),
    tasks: |input| TASKS.answer(input),
    todo: |input| TODO.answer(input),
    wakeup: |input| WAKEUP.answer(input),
}

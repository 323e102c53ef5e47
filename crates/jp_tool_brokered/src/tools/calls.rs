//! What each capability takes, as the host reads it.
//!
//! Made from the types of `jp_broker`: edit those, and write this again with
//! `JP_UPDATE=1 cargo test -p jp_broker --lib reference`.

use crate::tool::{Action, Kind, calls, optional, required};

pub(super) const CODING_GENERATE: Action = calls(
    "coding.generate",
    &[],
    &[
        required("prompt", Kind::Text, "The task, with all it needs to know"),
        optional("system_prompt", Kind::Text, "How the model should go about it"),
    ],
);

pub(super) const TODO_CREATE: Action = calls(
    "kv.sqlite.todo.create",
    &[],
    &[
        required("title", Kind::Text, "What is to be done"),
        optional("notes", Kind::Text, "Details"),
        optional(
            "t_shirt_size",
            Kind::Word(&["XS", "S", "M", "L", "XL"]),
            "Rough size of the work",
        ),
        optional("story_points", Kind::Between(1, 1000), "Size of the work in points"),
        optional(
            "estimate_optimistic_minutes",
            Kind::Between(1, 5256000),
            "Minutes it takes if all goes well",
        ),
        optional(
            "estimate_likely_minutes",
            Kind::Between(1, 5256000),
            "Minutes it most likely takes",
        ),
        optional(
            "estimate_pessimistic_minutes",
            Kind::Between(1, 5256000),
            "Minutes it takes if much goes wrong",
        ),
        optional("dependency_refs", Kind::References, "What must be done before: ids or titles"),
    ],
);

pub(super) const TODO_CREATE_MANY: Action = calls(
    "kv.sqlite.todo.create_many",
    &[],
    &[
        required(
            "items",
            Kind::Entries(&[
                required("title", Kind::Text, "What is to be done"),
                optional("notes", Kind::Text, "Details"),
                optional(
                    "t_shirt_size",
                    Kind::Word(&["XS", "S", "M", "L", "XL"]),
                    "Rough size of the work",
                ),
                optional("story_points", Kind::Between(1, 1000), "Size of the work in points"),
                optional(
                    "estimate_optimistic_minutes",
                    Kind::Between(1, 5256000),
                    "Minutes it takes if all goes well",
                ),
                optional(
                    "estimate_likely_minutes",
                    Kind::Between(1, 5256000),
                    "Minutes it most likely takes",
                ),
                optional(
                    "estimate_pessimistic_minutes",
                    Kind::Between(1, 5256000),
                    "Minutes it takes if much goes wrong",
                ),
                optional(
                    "dependency_refs",
                    Kind::References,
                    "What must be done before: ids or titles",
                ),
            ]),
            "The items: titles, or objects with a title and more",
        ),
    ],
);

pub(super) const TODO_LIST: Action = calls(
    "kv.sqlite.todo.list",
    &[],
    &[
        optional("status", Kind::Word(&["open", "completed", "all"]), "Which ones (default open)"),
        optional("limit", Kind::Between(1, 1000), "How many at most (default 50)"),
    ],
);

pub(super) const TODO_CLEAR: Action = calls(
    "kv.sqlite.todo.clear",
    &[],
    &[
        optional("status", Kind::Word(&["open", "completed", "all"]), "Which ones (default open)"),
    ],
);

pub(super) const TODO_REORDER: Action = calls(
    "kv.sqlite.todo.reorder",
    &[],
    &[
        required("ordered_ids", Kind::Integers, "Ids in the order wanted"),
    ],
);

pub(super) const TODO_COMPLETE: Action = calls(
    "kv.sqlite.todo.complete",
    &[],
    &[
        required("id", Kind::Integer, "The id, as list shows it"),
    ],
);

pub(super) const TODO_REOPEN: Action = calls(
    "kv.sqlite.todo.reopen",
    &[],
    &[
        required("id", Kind::Integer, "The id, as list shows it"),
    ],
);

pub(super) const TODO_DELETE: Action = calls(
    "kv.sqlite.todo.delete",
    &[],
    &[
        required("id", Kind::Integer, "The id, as list shows it"),
    ],
);

pub(super) const TASKS_SCHEDULE: Action = calls(
    "kv.sqlite.tasks.schedule",
    &[],
    &[
        required("name", Kind::Text, "A short name"),
        required("prompt", Kind::Text, "What to do when the time has come"),
        required("run_at", Kind::Between(0, 253402300799), "When, in seconds since 1970 (UTC)"),
        optional(
            "interval_minutes",
            Kind::Between(0, 5256000),
            "Minutes until it is run again; 0 or left out: it is run once",
        ),
    ],
);

pub(super) const TASKS_LIST: Action = calls(
    "kv.sqlite.tasks.list",
    &[],
    &[
        optional("status", Kind::Word(&["all", "enabled", "disabled"]), "Which ones (default all)"),
        optional("limit", Kind::Between(1, 1000), "How many at most (default 50)"),
    ],
);

pub(super) const TASKS_ENABLE: Action = calls(
    "kv.sqlite.tasks.enable",
    &[],
    &[
        required("id", Kind::Integer, "The id, as list shows it"),
    ],
);

pub(super) const TASKS_DISABLE: Action = calls(
    "kv.sqlite.tasks.disable",
    &[],
    &[
        required("id", Kind::Integer, "The id, as list shows it"),
    ],
);

pub(super) const TASKS_DELETE: Action = calls(
    "kv.sqlite.tasks.delete",
    &[],
    &[
        required("id", Kind::Integer, "The id, as list shows it"),
    ],
);

pub(super) const TASKS_CLEAR: Action = calls(
    "kv.sqlite.tasks.clear",
    &[],
    &[
        optional("status", Kind::Word(&["all", "enabled", "disabled"]), "Which ones (default all)"),
    ],
);

pub(super) const REMINDERS_CREATE: Action = calls(
    "kv.sqlite.reminders.create",
    &["due_at", "delay_seconds"],
    &[
        required("title", Kind::Text, "What to remind of"),
        optional(
            "delay_seconds",
            Kind::Between(0, 253402300799),
            "In how many seconds",
        ).or(&["in_seconds"]),
        optional("due_at", Kind::Between(0, 253402300799999), "When, in seconds since 1970 (UTC)"),
    ],
);

pub(super) const REMINDERS_LIST: Action = calls(
    "kv.sqlite.reminders.list",
    &[],
    &[
        optional("status", Kind::Word(&["open", "completed", "all"]), "Which ones (default open)"),
        optional("limit", Kind::Between(0, 1000), "How many at most (default 20, 0 for all)"),
    ],
);

pub(super) const REMINDERS_COMPLETE: Action = calls(
    "kv.sqlite.reminders.complete",
    &[],
    &[
        required("id", Kind::Integer, "The id, as list shows it"),
    ],
);

pub(super) const REMINDERS_DELETE: Action = calls(
    "kv.sqlite.reminders.delete",
    &[],
    &[
        required("id", Kind::Integer, "The id, as list shows it"),
    ],
);

pub(super) const REMINDERS_SNOOZE: Action = calls(
    "kv.sqlite.reminders.snooze",
    &["due_at", "delay_seconds"],
    &[
        required("id", Kind::Integer, "The id, as list shows it"),
        optional(
            "delay_seconds",
            Kind::Between(0, 253402300799),
            "In how many seconds",
        ).or(&["in_seconds"]),
        optional("due_at", Kind::Between(0, 253402300799999), "When, in seconds since 1970 (UTC)"),
    ],
);

pub(super) const REMINDERS_CLEAR: Action = calls(
    "kv.sqlite.reminders.clear",
    &[],
    &[
        optional("status", Kind::Word(&["open", "completed", "all"]), "Which ones (default open)"),
    ],
);

pub(super) const PLANNING_CREATE: Action = calls(
    "kv.sqlite.planning.create",
    &[],
    &[
        required("title", Kind::Text, "The plan's name"),
        required("goal", Kind::Text, "What is to be reached"),
        optional(
            "steps",
            Kind::Entries(&[
                optional("title", Kind::Text, "What the step is"),
                optional("id", Kind::Reference, "What other steps may call it"),
                optional("description", Kind::Text, "Details"),
                optional("owner", Kind::Word(&["human", "agent"]), "Who does it"),
                optional(
                    "priority",
                    Kind::Word(&["low", "normal", "high", "urgent"]),
                    "How pressing it is",
                ),
                optional("due_date", Kind::Text, "The day it is due: YYYY-MM-DD"),
                optional(
                    "due_at",
                    Kind::Between(0, 253402300799999),
                    "When it is due, in seconds since 1970",
                ),
                optional(
                    "t_shirt_size",
                    Kind::Word(&["XS", "S", "M", "L", "XL"]),
                    "Rough size of the work",
                ),
                optional("story_points", Kind::Between(1, 1000), "Size of the work in points"),
                optional(
                    "estimate_optimistic_minutes",
                    Kind::Between(1, 5256000),
                    "Minutes it takes if all goes well",
                ),
                optional(
                    "estimate_likely_minutes",
                    Kind::Between(1, 5256000),
                    "Minutes it most likely takes",
                ),
                optional(
                    "estimate_pessimistic_minutes",
                    Kind::Between(1, 5256000),
                    "Minutes it takes if much goes wrong",
                ),
                optional(
                    "dependency_refs",
                    Kind::References,
                    "What must be done before: ids or titles",
                ),
            ]),
            "The steps: titles, or objects with a title and more; each becomes a to-do",
        ),
        optional("status", Kind::Text, "Where the plan stands; a new one is a draft"),
    ],
);

pub(super) const PLANNING_LIST: Action = calls(
    "kv.sqlite.planning.list",
    &[],
    &[
        optional("limit", Kind::Between(1, 1000), "How many at most (default 20)"),
    ],
);

pub(super) const PLANNING_GET: Action = calls(
    "kv.sqlite.planning.get",
    &[],
    &[
        required("id", Kind::Integer, "The id, as list shows it"),
    ],
);

pub(super) const PLANNING_UPDATE: Action = calls(
    "kv.sqlite.planning.update",
    &[],
    &[
        required("id", Kind::Integer, "The id, as list shows it"),
        optional("title", Kind::Text, "The plan's name"),
        optional("goal", Kind::Text, "What is to be reached"),
        optional(
            "steps",
            Kind::Entries(&[
                optional("title", Kind::Text, "What the step is"),
                optional("id", Kind::Reference, "What other steps may call it"),
                optional("description", Kind::Text, "Details"),
                optional("owner", Kind::Word(&["human", "agent"]), "Who does it"),
                optional(
                    "priority",
                    Kind::Word(&["low", "normal", "high", "urgent"]),
                    "How pressing it is",
                ),
                optional("due_date", Kind::Text, "The day it is due: YYYY-MM-DD"),
                optional(
                    "due_at",
                    Kind::Between(0, 253402300799999),
                    "When it is due, in seconds since 1970",
                ),
                optional(
                    "t_shirt_size",
                    Kind::Word(&["XS", "S", "M", "L", "XL"]),
                    "Rough size of the work",
                ),
                optional("story_points", Kind::Between(1, 1000), "Size of the work in points"),
                optional(
                    "estimate_optimistic_minutes",
                    Kind::Between(1, 5256000),
                    "Minutes it takes if all goes well",
                ),
                optional(
                    "estimate_likely_minutes",
                    Kind::Between(1, 5256000),
                    "Minutes it most likely takes",
                ),
                optional(
                    "estimate_pessimistic_minutes",
                    Kind::Between(1, 5256000),
                    "Minutes it takes if much goes wrong",
                ),
                optional(
                    "dependency_refs",
                    Kind::References,
                    "What must be done before: ids or titles",
                ),
            ]),
            "The steps: titles, or objects with a title and more; each becomes a to-do",
        ),
        optional("status", Kind::Text, "Where the plan stands; a new one is a draft"),
    ],
);

pub(super) const PLANNING_DELETE: Action = calls(
    "kv.sqlite.planning.delete",
    &[],
    &[
        required("id", Kind::Integer, "The id, as list shows it"),
    ],
);

pub(super) const PLANNING_CLEAR: Action = calls(
    "kv.sqlite.planning.clear",
    &[],
    &[],
);

pub(super) const WAKEUP_CREATE: Action = calls(
    "kv.sqlite.wakeup.create",
    &[],
    &[
        required("name", Kind::Text, "A short name"),
        required("prompt", Kind::Text, "What to do each time"),
        required(
            "interval_minutes",
            Kind::Between(1, 5256000),
            "Minutes from one time to the next",
        ),
    ],
);

pub(super) const WAKEUP_LIST: Action = calls(
    "kv.sqlite.wakeup.list",
    &[],
    &[
        optional("status", Kind::Word(&["all", "enabled", "disabled"]), "Which ones (default all)"),
        optional("limit", Kind::Between(1, 1000), "How many at most (default 20)"),
    ],
);

pub(super) const WAKEUP_ENABLE: Action = calls(
    "kv.sqlite.wakeup.enable",
    &[],
    &[
        required("id", Kind::Integer, "The id, as list shows it"),
    ],
);

pub(super) const WAKEUP_DISABLE: Action = calls(
    "kv.sqlite.wakeup.disable",
    &[],
    &[
        required("id", Kind::Integer, "The id, as list shows it"),
    ],
);

pub(super) const WAKEUP_DELETE: Action = calls(
    "kv.sqlite.wakeup.delete",
    &[],
    &[
        required("id", Kind::Integer, "The id, as list shows it"),
    ],
);

pub(super) const MCP_LIST_TOOLS: Action = calls(
    "mcp.list_tools",
    &[],
    &[
        optional("server", Kind::Text, "The configured server; not needed if there is only one"),
    ],
);

pub(super) const MCP_CALL: Action = calls(
    "mcp.call",
    &[],
    &[
        optional("server", Kind::Text, "The configured server; not needed if there is only one"),
        required("tool", Kind::Text, "The tool, as list_tools names it").or(&["method"]),
        optional("arguments", Kind::Object, "What the tool takes").or(&["payload"]),
    ],
);

pub(super) const GITHUB_LIST_TOOLS: Action = calls(
    "github.list_tools",
    &[],
    &[],
);

pub(super) const GITHUB_CALL_TOOL: Action = calls(
    "github.call_tool",
    &[],
    &[
        required("tool", Kind::Text, "The tool, as list_tools names it"),
        optional("arguments", Kind::Object, "What the tool takes"),
    ],
);

pub(super) const HTTP_REQUEST: Action = calls(
    "http.request",
    &[],
    &[
        required("method", Kind::Text, "GET, POST, PUT, PATCH, DELETE, HEAD or OPTIONS"),
        optional("url", Kind::Text, "The whole address; counts before endpoint"),
        optional("endpoint", Kind::Text, "A path of the server, or a whole address"),
        optional("server", Kind::Text, "The configured server; not needed if there is only one"),
        optional("headers", Kind::Object, "Headers to send, as strings"),
        optional("query", Kind::Object, "Parameters for the query string"),
        optional("body", Kind::Text, "The body as text"),
        optional("json", Kind::Json, "The body as JSON"),
        optional("timeout_seconds", Kind::Positive, "How long to wait at most"),
    ],
);

pub(super) const SEARCH_INTERNET: Action = calls(
    "search.internet",
    &[],
    &[
        required("query", Kind::Text, "What to search for"),
    ],
);

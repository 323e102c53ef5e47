//! Each action becomes its call, and what is missing is named.

use super::table;

#[test]
fn todo_makes_one_call_for_each_action() {
    table(
        "todo",
        &[
            (
                r#"{"action":"create","title":"buy milk","notes":"2 l"}"#,
                r#"kv.sqlite.todo.create {"title":"buy milk","notes":"2 l"}"#,
            ),
            (
                r#"{"title":"x","action":"add","t_shirt_size":"XL","dependency_refs":["a",2]}"#,
                r#"kv.sqlite.todo.create {"title":"x","t_shirt_size":"XL","dependency_refs":["a","2"]}"#,
            ),
            (
                r#"{"action":"add_many","items":["a",{"story_points":3,"title":"b","x":1}]}"#,
                r#"kv.sqlite.todo.create_many {"items":["a",{"title":"b","story_points":3,"x":1}]}"#,
            ),
            (
                r#"{"action":"list","status":"all","limit":5}"#,
                r#"kv.sqlite.todo.list {"status":"all","limit":5}"#,
            ),
            (
                r#"{"action":"complete","id":7}"#,
                r#"kv.sqlite.todo.complete {"id":7}"#,
            ),
            (
                r#"{"action":"reopen","id":7}"#,
                r#"kv.sqlite.todo.reopen {"id":7}"#,
            ),
            (
                r#"{"action":"delete","id":7}"#,
                r#"kv.sqlite.todo.delete {"id":7}"#,
            ),
            (r#"{"action":"clear"}"#, "kv.sqlite.todo.clear {}"),
            (
                r#"{"action":"reorder","ordered_ids":[3,1,2]}"#,
                r#"kv.sqlite.todo.reorder {"ordered_ids":[3,1,2]}"#,
            ),
        ],
    );
}

#[test]
fn what_is_missing_is_named_in_the_words_of_the_abi() {
    let action = |rest: &str| format!(r#"{{"action":{rest}}}"#);
    for (tool, rest, expected) in [
        ("todo", r#""create""#, "Missing title"),
        ("todo", r#""create","title":null"#, "Missing title"),
        ("todo", r#""create_many""#, "Missing items"),
        ("todo", r#""create_many","items":[]"#, "Missing items"),
        (
            "todo",
            r#""create_many","items":["a",{}]"#,
            "Missing items[1].title",
        ),
        ("todo", r#""reorder""#, "Missing ordered_ids"),
        (
            "todo",
            r#""reorder","ordered_ids":[]"#,
            "Missing ordered_ids",
        ),
        ("todo", r#""complete""#, "Missing id"),
        ("todo", r#""burn""#, "Unsupported action"),
        ("todo", r#""CREATE""#, "Unsupported action"),
        ("todo", r#""""#, "Unsupported action"),
        ("todo", "7", "Unsupported action"),
        ("todo", "null", "Missing action"),
        (
            "tasks",
            r#""schedule","name":"n","prompt":"p""#,
            "Missing run_at",
        ),
        (
            "reminders",
            r#""create","title":"t""#,
            "Missing due_at or delay_seconds",
        ),
        (
            "reminders",
            r#""snooze","id":1"#,
            "Missing due_at or delay_seconds",
        ),
        ("planning", r#""create","title":"t""#, "Missing goal"),
        (
            "wakeup",
            r#""create","name":"n","prompt":"p""#,
            "Missing interval_minutes",
        ),
        ("mcp", r#""call""#, "Missing tool"),
        ("github", r#""call_tool""#, "Missing tool"),
    ] {
        table(tool, &[(&action(rest), expected)]);
    }
    table("todo", &[("{}", "Missing action")]);
    table("http_call", &[("{}", "Missing method")]);
    table("search_internet", &[("{}", "Missing query")]);
    table("coding", &[("{}", "Missing prompt")]);
}

#[test]
fn a_list_that_may_be_left_out_may_be_empty() {
    table(
        "planning",
        &[(
            r#"{"action":"create","title":"t","goal":"g","steps":[]}"#,
            r#"kv.sqlite.planning.create {"title":"t","goal":"g","steps":[]}"#,
        )],
    );
}

#[test]
fn other_words_for_an_action_mean_the_same() {
    table(
        "tasks",
        &[
            (
                r#"{"action":"cancel","id":1}"#,
                r#"kv.sqlite.tasks.disable {"id":1}"#,
            ),
            (
                r#"{"action":"disable","id":1}"#,
                r#"kv.sqlite.tasks.disable {"id":1}"#,
            ),
            (
                r#"{"action":"enable","id":1}"#,
                r#"kv.sqlite.tasks.enable {"id":1}"#,
            ),
        ],
    );
    table(
        "reminders",
        &[
            (
                r#"{"action":"done","id":1}"#,
                r#"kv.sqlite.reminders.complete {"id":1}"#,
            ),
            (
                r#"{"action":"erase","id":1}"#,
                r#"kv.sqlite.reminders.delete {"id":1}"#,
            ),
            (r#"{"action":"show"}"#, "kv.sqlite.reminders.list {}"),
            (r#"{"action":"clear_all"}"#, "kv.sqlite.reminders.clear {}"),
        ],
    );
}

#[test]
fn other_names_for_an_argument_mean_the_same_and_its_own_name_counts_first() {
    table(
        "reminders",
        &[
            (
                r#"{"action":"set","title":"t","in_seconds":60}"#,
                r#"kv.sqlite.reminders.create {"title":"t","delay_seconds":60}"#,
            ),
            (
                r#"{"action":"snooze","id":1,"in_seconds":60,"delay_seconds":30}"#,
                r#"kv.sqlite.reminders.snooze {"id":1,"delay_seconds":30}"#,
            ),
            (
                r#"{"action":"snooze","id":1,"in_seconds":60,"delay_seconds":null}"#,
                r#"kv.sqlite.reminders.snooze {"id":1,"delay_seconds":60}"#,
            ),
        ],
    );
    table(
        "mcp",
        &[
            (
                r#"{"action":"call","server":"s","method":"m","payload":{"a":1}}"#,
                r#"mcp.call {"server":"s","tool":"m","arguments":{"a":1}}"#,
            ),
            (
                r#"{"action":"call","tool":"t","method":"m"}"#,
                r#"mcp.call {"tool":"t"}"#,
            ),
            (r#"{"action":"list_tools"}"#, "mcp.list_tools {}"),
        ],
    );
}

#[test]
fn tools_of_one_action_need_no_word_for_it() {
    table(
        "http_call",
        &[(
            r#"{"json":[1.5,{"b":null}],"method":"POST","url":"https://example.com/","headers":{"a":"b"}}"#,
            r#"http.request {"method":"POST","url":"https://example.com/","headers":{"a":"b"},"json":[1.5,{"b":null}]}"#,
        )],
    );
    table(
        "search_internet",
        &[(r#"{"query":"rust"}"#, r#"search.internet {"query":"rust"}"#)],
    );
    table(
        "coding",
        &[
            (r#"{"prompt":"p"}"#, r#"coding.generate {"prompt":"p"}"#),
            (r#"{"prompt":"p","action":"x"}"#, "Unknown argument action"),
        ],
    );
}

#[test]
fn a_user_id_is_passed_on_and_never_made_up() {
    table(
        "planning",
        &[
            (
                r#"{"action":"get","id":1,"user_id":"cli_user"}"#,
                r#"kv.sqlite.planning.get {"user_id":"cli_user","id":1}"#,
            ),
            (
                r#"{"action":"get","id":1}"#,
                r#"kv.sqlite.planning.get {"id":1}"#,
            ),
            (
                r#"{"action":"clear","user_id":7}"#,
                "Invalid user_id: must be a string",
            ),
        ],
    );
}

#[test]
fn what_an_action_does_not_take_is_refused_and_not_dropped() {
    table(
        "todo",
        &[
            (
                r#"{"action":"clear","title":"x"}"#,
                "Unknown argument title",
            ),
            (
                r#"{"action":"clear","title":null}"#,
                "kv.sqlite.todo.clear {}",
            ),
        ],
    );
}

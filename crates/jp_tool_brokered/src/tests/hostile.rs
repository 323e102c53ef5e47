//! Input that no well-meaning caller sends.

use super::{check, table};
use crate::ALL;

#[test]
fn input_that_is_no_object_is_refused_by_every_tool() {
    for tool in ALL {
        for input in [
            b"".as_slice(),
            b"null",
            b"[]",
            b"\"{}\"",
            b"{",
            b"{} {}",
            b"{\"action\":\"list\",}",
            b"\xff\xfe{}",
            b"{\"action\":\"\xc3\x28\"}",
            b"\xef\xbb\xbf{}",
            b"{\"action\":\"\\ud800\"}",
        ] {
            assert_eq!(
                check(tool.name, input),
                "Input must be a JSON object",
                "{input:?}"
            );
        }
    }
}

#[test]
fn depth_is_refused_before_it_costs_stack() {
    for depth in [200, 100_000] {
        let input = format!(
            r#"{{"action":"call","tool":"t","arguments":{}{}}}"#,
            r#"{"a":"#.repeat(depth),
            "}".repeat(depth)
        );
        let expected = match depth {
            200 => "Input must be a JSON object",
            _ => "Input is larger than 262144 bytes",
        };
        assert_eq!(check("mcp", input.as_bytes()), expected);
        let input = format!(r#"{{"json":{}"#, "[".repeat(depth));
        assert_eq!(
            check("http_call", input.as_bytes()),
            "Input must be a JSON object"
        );
    }
}

#[test]
fn size_is_refused_before_it_is_read() {
    let fits = format!(r#"{{"query":"{}"}}"#, "x".repeat(256 * 1024 - 12));
    assert_eq!(fits.len(), 256 * 1024);
    assert!(check("search_internet", fits.as_bytes()).starts_with("search.internet "));
    let too_large = format!("{fits} ");
    assert_eq!(
        check("search_internet", too_large.as_bytes()),
        "Input is larger than 262144 bytes"
    );
}

#[test]
fn a_long_unknown_name_is_shortened_and_says_so() {
    let input = format!(r#"{{"query":"x","{}":1}}"#, "é".repeat(100_000));
    assert_eq!(
        check("search_internet", input.as_bytes()),
        format!("Unknown argument {}… [200000 bytes]", "é".repeat(64))
    );
    let answer = crate::SEARCH_INTERNET.answer(br#"{"query":"x","a\nstatus: ok\u001b[2J":1}"#);
    assert!(!answer.iter().any(u8::is_ascii_control), "{answer:?}");
}

#[test]
fn wrong_types_are_named_with_their_place() {
    table(
        "todo",
        &[
            (
                r#"{"action":"create","title":7}"#,
                "Invalid title: must be a string",
            ),
            (
                r#"{"action":"create","title":["x"]}"#,
                "Invalid title: must be a string",
            ),
            (
                r#"{"action":"delete","id":"7"}"#,
                "Invalid id: must be a whole number",
            ),
            (
                r#"{"action":"delete","id":7.5}"#,
                "Invalid id: must be a whole number",
            ),
            (
                r#"{"action":"delete","id":true}"#,
                "Invalid id: must be a whole number",
            ),
            (
                r#"{"action":"delete","id":1e300}"#,
                "Invalid id: must be a whole number",
            ),
            (
                r#"{"action":"delete","id":18446744073709551615}"#,
                "Invalid id: must be a whole number",
            ),
            (
                r#"{"action":"delete","id":7.0}"#,
                r#"kv.sqlite.todo.delete {"id":7}"#,
            ),
            (
                r#"{"action":"delete","id":-3e2}"#,
                r#"kv.sqlite.todo.delete {"id":-300}"#,
            ),
            (
                r#"{"action":"list","limit":0}"#,
                "Invalid limit: must be a whole number between 1 and 1000",
            ),
            (
                r#"{"action":"list","status":"done"}"#,
                "Invalid status: must be one of open, completed, all",
            ),
            (
                r#"{"action":"reorder","ordered_ids":[1,"2"]}"#,
                "Invalid ordered_ids[1]: must be a whole number",
            ),
            (
                r#"{"action":"reorder","ordered_ids":{}}"#,
                "Invalid ordered_ids: must be a list of whole numbers",
            ),
            (
                r#"{"action":"create_many","items":["a",3]}"#,
                "Invalid items[1]: must be a string or an object",
            ),
            (
                r#"{"action":"create_many","items":[{"title":"a","story_points":-1}]}"#,
                "Invalid items[0].story_points: must be a whole number between 1 and 1000",
            ),
            (
                r#"{"action":"create","title":"a","dependency_refs":[1.5]}"#,
                "Invalid dependency_refs[0]: must be a string or a whole number",
            ),
            (
                r#"{"action":"create","title":"a","dependency_refs":[[]]}"#,
                "Invalid dependency_refs[0]: must be a string or a whole number",
            ),
        ],
    );
    table(
        "http_call",
        &[
            (
                r#"{"method":"GET","timeout_seconds":0}"#,
                "Invalid timeout_seconds: must be a number above 0",
            ),
            (
                r#"{"method":"GET","timeout_seconds":"9"}"#,
                "Invalid timeout_seconds: must be a number above 0",
            ),
            (
                r#"{"method":"GET","timeout_seconds":0.5}"#,
                r#"http.request {"method":"GET","timeout_seconds":0.5}"#,
            ),
        ],
    );
    table(
        "mcp",
        &[(
            r#"{"action":"call","tool":"t","arguments":[]}"#,
            "Invalid arguments: must be an object",
        )],
    );
}

#[test]
fn numbers_pass_through_unchanged() {
    let number = "31.245270191439438,121.48791951161945,5e-324,1.7976931348623157e308";
    let input = format!(r#"{{"method":"POST","json":[{number}]}}"#);
    let answer = check("http_call", input.as_bytes());
    let list = answer
        .split_once("\"json\":")
        .unwrap()
        .1
        .trim_end_matches('}');
    let expected: Vec<f64> = number.split(',').map(|one| one.parse().unwrap()).collect();
    let actual: Vec<f64> = list
        .trim_matches(['[', ']'])
        .split(',')
        .map(|one| one.parse().unwrap())
        .collect();
    assert_eq!(actual, expected);
}

#[test]
fn the_last_of_two_equal_names_counts() {
    table(
        "todo",
        &[(
            r#"{"action":"list","action":"delete","id":1,"id":2}"#,
            r#"kv.sqlite.todo.delete {"id":2}"#,
        )],
    );
}

//! Texts that are not edited.

use super::*;

#[test]
fn what_cannot_be_read_is_refused_with_its_place() {
    let deep = |open: &str| format!("{{\"a\": {}", open.repeat(200_000));
    let cases = [
        (
            Format::Json,
            "{\"a\": 1,\n \"b\": x}".to_owned(),
            "line 2, column 7: expected a value, found `x`",
        ),
        (
            Format::Json,
            "{\"a\": 1,}".to_owned(),
            "line 1, column 9: expected a key in double quotes, found `}`",
        ),
        (
            Format::Json,
            "{} // c".to_owned(),
            "line 1, column 4: expected the end of the file, found a comment",
        ),
        (
            Format::Json,
            "{\"é\": \"\u{1}\"}".to_owned(),
            "line 1, column 7: expected a string without raw line ends",
        ),
        (
            Format::Json,
            "{\"a\": \"x".to_owned(),
            "line 1, column 7: expected a string that ends with `\"`, found `\"`",
        ),
        (
            Format::Json,
            "{\"a\" 1}".to_owned(),
            "line 1, column 6: expected `:`, found `1`",
        ),
        (Format::Json, "{\"a\": 01}".to_owned(), "expected a value"),
        (
            Format::Jsonc,
            "{ /* c".to_owned(),
            "line 1, column 3: expected a comment that ends with `*/`, found a comment",
        ),
        (
            Format::Jsonc,
            "{\"a\": {\"b\": 1, \"b\": 2}}".to_owned(),
            "line 1, column 16: duplicate key `b`",
        ),
        (
            Format::Jsonc,
            "{\"mcpServers\": {}, \"mcp\\u0053ervers\": {}}".to_owned(),
            "duplicate key `mcpServers`",
        ),
        (
            Format::Jsonc,
            "[]".to_owned(),
            "invalid `the file`: expected an object, found a list",
        ),
        (
            Format::Jsonc,
            "{\"mcpServers\": null}".to_owned(),
            "invalid `mcpServers`: expected an object, found null",
        ),
        (
            Format::Json,
            deep("["),
            "values nested deeper than 128 levels",
        ),
        (
            Format::Jsonc,
            deep("{\"a\":"),
            "values nested deeper than 128 levels",
        ),
        (
            Format::Json,
            format!("[{}1]", "1,".repeat(600_000)),
            "more than 500000 values",
        ),
        (
            Format::Toml,
            "a = 1\na = 2\n".to_owned(),
            "line 2, column 1: duplicate key",
        ),
        (Format::Toml, "a = \n".to_owned(), "line 1, column 5: "),
        (
            Format::Toml,
            format!("a = {}", "[".repeat(200_000)),
            "line 1, column ",
        ),
        (
            Format::Toml,
            "mcp_servers = 1\n".to_owned(),
            "invalid `mcp_servers`: expected an object, found integer",
        ),
        (
            Format::Toml,
            "mcp_servers = { x = {} }\n".to_owned(),
            "line 3, column 2: ",
        ),
        (
            Format::Yaml,
            "a: 1\na: 2\n".to_owned(),
            "line 2, column 1: duplicate key `a`",
        ),
        (
            Format::Yaml,
            "extensions:\n  a: 1\n  a: 2\n".to_owned(),
            "line 3, column 1: duplicate key `a`",
        ),
        (
            Format::Yaml,
            "extensions: {a: {}}\n".to_owned(),
            "cannot edit a section that is not a block in place",
        ),
        (
            Format::Yaml,
            "extensions:\n- a\n".to_owned(),
            "line 2, column 1: cannot edit a section that is not a mapping",
        ),
        (
            Format::Yaml,
            "a: &x 1\n".to_owned(),
            "cannot edit an anchor, an alias or a tag in place",
        ),
        (
            Format::Yaml,
            "a:\n\tb: 1\n".to_owned(),
            "line 2, column 1: cannot edit a line that starts with a tab in place",
        ),
        (
            Format::Yaml,
            "a: \"x\nextensions:\n  b: \"\n".to_owned(),
            "cannot edit a quoted text of several lines",
        ),
        (
            Format::Yaml,
            "a: [1,\n 2]\n".to_owned(),
            "in brackets of several lines",
        ),
        (
            Format::Yaml,
            "a: 1\n---\nb: 1\n".to_owned(),
            "line 2, column 1: cannot edit several documents in place",
        ),
        (
            Format::Yaml,
            "\"extensions\":\n  a: 1\n".to_owned(),
            "cannot edit a section that is not a block",
        ),
        (
            Format::Yaml,
            "extensions:\n  a:\n    b: 1\n   c: 1\n  <<: *x\n".to_owned(),
            "cannot edit a",
        ),
        (
            Format::Yaml,
            "{a: 1}\n".to_owned(),
            "cannot edit a file that is not a mapping of keys in place",
        ),
        (
            Format::Yaml,
            "  a: 1\n".to_owned(),
            "line 1, column 1: cannot edit a file that starts with an indented line",
        ),
        (
            Format::Yaml,
            "a: |\n  x".to_owned(),
            "line 2, column 1: cannot edit a text that ends without a line end",
        ),
        (
            Format::Yaml,
            "a: b: c\n".to_owned(),
            "cannot edit a value that needs quotes",
        ),
        (
            Format::Yaml,
            "a: 'b'\n  c: 1\n".to_owned(),
            "line 2, column 1: cannot edit a line below a value that has ended",
        ),
        (
            Format::Yaml,
            "just text\n".to_owned(),
            "cannot edit a file that is not a mapping of keys in place",
        ),
    ];
    for (format, text, expected) in cases {
        let error = add(format, &text).unwrap_err().to_string();
        let start: String = text.chars().take(60).collect();
        assert!(error.contains(expected), "{start}: {error}");
    }
}

#[test]
fn a_huge_entry_of_somebody_else_is_replaced_and_removed_in_one_go() {
    let keys: Vec<String> = (0..20_000).map(|number| format!("k{number}")).collect();
    let members: Vec<String> = keys.iter().map(|key| format!("\"{key}\": 1")).collect();
    let json = format!("{{\"mcpServers\": {{\"jp\": {{{}}}}}}}", members.join(", "));
    let tables: Vec<String> = keys
        .iter()
        .map(|key| format!("[mcp_servers.jp.{key}]\n"))
        .collect();
    let toml = format!("[mcp_servers.jp]\n{}", tables.concat());
    let entry = launch();
    let force = Change::Add {
        entry: &entry,
        force: true,
    };
    let made = change(Format::Json, &json, &force).unwrap().unwrap();
    assert!(made.len() < 200, "{made}");
    let left = change(Format::Toml, &toml, &Change::Remove { force: true });
    assert_eq!(left.unwrap().unwrap(), "");
}

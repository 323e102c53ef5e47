//! What an edit makes of a text.

mod property;
mod refused;

use serde_json::json;

use super::*;

fn target(format: Format) -> Target<'static> {
    let section = match format {
        Format::Json | Format::Jsonc => "mcpServers",
        Format::Toml => "mcp_servers",
        Format::Yaml => "extensions",
    };
    Target {
        format,
        section,
        name: "jp",
    }
}

fn launch() -> Value {
    json!({"command": "/usr/bin/jp", "args": ["serve"], "env": {}})
}

fn change(format: Format, text: &str, change: &Change<'_>) -> Result<Option<String>, EditError> {
    edit(text, &target(format), change)
}

fn add(format: Format, text: &str) -> Result<Option<String>, EditError> {
    let entry = launch();
    change(
        format,
        text,
        &Change::Add {
            entry: &entry,
            force: false,
        },
    )
}

fn remove(format: Format, text: &str) -> Result<Option<String>, EditError> {
    change(format, text, &Change::Remove { force: false })
}

#[track_caller]
fn becomes(format: Format, before: &str, after: &str) {
    let made = add(format, before).unwrap().unwrap();
    assert_eq!(made, after, "\n{made}");
    assert_eq!(add(format, &made).unwrap(), None, "a second time");
    assert_eq!(entry(&made, &target(format)).unwrap(), Some(launch()));
    assert_eq!(remove(format, before).unwrap(), None, "nothing to remove");
}

#[track_caller]
fn there_and_back(format: Format, before: &str, after: &str) {
    becomes(format, before, after);
    assert_eq!(remove(format, after).unwrap().unwrap(), before);
}

#[test]
fn json_keeps_its_comments_order_and_indentation() {
    there_and_back(
        Format::Jsonc,
        "// mine\n{\n\t\"a\": 1, // one\n\t/* two */ \"mcpServers\": {\n\t\t\"x\": {}, // last\n\t\t// end\n\t},\n}\n",
        "// mine\n{\n\t\"a\": 1, // one\n\t/* two */ \"mcpServers\": {\n\t\t\"x\": {}, // last\n\t\t\"jp\": {\n\t\t\t\
         \"command\": \"/usr/bin/jp\",\n\t\t\t\"args\": [\"serve\"],\n\t\t\t\"env\": {}\n\t\t},\n\t\t// end\n\t},\n}\n",
    );
    there_and_back(
        Format::Json,
        "{\n    \"mcpServers\": {\n        \"x\": {\"command\": \"x\"}\n    },\n    \"z\": 1e400\n}",
        "{\n    \"mcpServers\": {\n        \"x\": {\"command\": \"x\"},\n        \"jp\": {\n            \"command\": \
         \"/usr/bin/jp\",\n            \"args\": [\"serve\"],\n            \"env\": {}\n        }\n    },\n    \"z\": 1e400\n}",
    );
}

#[test]
fn an_empty_object_that_was_there_stays_and_one_that_jp_made_goes() {
    let entry = "{\"command\": \"/usr/bin/jp\", \"args\": [\"serve\"], \"env\": {}}";
    there_and_back(
        Format::Json,
        "{\"mcpServers\": {}}",
        &format!("{{\"mcpServers\": {{\n  \"jp\": {entry}\n}}}}"),
    );
    let lines = "{\n    \"jp\": {\n      \"command\": \"/usr/bin/jp\",\n      \"args\": [\"serve\"],\n      \
                 \"env\": {}\n    }\n  }";
    there_and_back(
        Format::Json,
        "{}",
        &format!("{{\n  \"mcpServers\": {lines}\n}}"),
    );
    there_and_back(
        Format::Jsonc,
        "{\n  // nothing yet\n}\n",
        &format!("{{\n  // nothing yet\n  \"mcpServers\": {lines}\n}}\n"),
    );
}

#[test]
fn what_is_on_one_line_stays_on_one_line() {
    let entry = "{\"command\": \"/usr/bin/jp\", \"args\": [\"serve\"], \"env\": {}}";
    there_and_back(
        Format::Jsonc,
        "{\"mcpServers\":{\"x\":{},},}",
        &format!("{{\"mcpServers\":{{\"x\":{{}}, \"jp\": {entry},}},}}"),
    );
    there_and_back(
        Format::Json,
        "{\"mcpServers\":{\"x\":{}}}",
        &format!("{{\"mcpServers\":{{\"x\":{{}}, \"jp\": {entry}}}}}"),
    );
}

#[test]
fn line_ends_and_the_mark_of_windows_are_kept() {
    for format in [Format::Json, Format::Toml, Format::Yaml] {
        let before = match format {
            Format::Toml => "a = 1\r\n[b]\r\nc = \"\"\"x\r\ny\"\"\"\r\n",
            Format::Yaml => "a: 1\r\nextensions:\r\n  x:\r\n    b: |\r\n      c\r\n\r\nz: 1\r\n",
            _ => "{\r\n  \"a\": 1\r\n}\r\n",
        };
        let before = format!("{BOM}{before}");
        let made = add(format, &before).unwrap().unwrap();
        assert_eq!(made.matches(BOM).count(), 1);
        assert_eq!(
            made.replace("\r\n", "").matches('\n').count(),
            0,
            "{made:?}"
        );
        assert_eq!(remove(format, &made).unwrap().unwrap(), before);
    }
}

#[test]
fn toml_gets_a_table_at_its_end() {
    let block = "[mcp_servers.jp]\ncommand = \"/usr/bin/jp\"\nargs = [\"serve\"]\nenv = {}";
    for before in [
        "a = 1",
        "a = 1\n",
        "# c\n[mcp_servers.x] # d\ncommand = 'x'\n\n# end\n",
        "\n",
    ] {
        let gap = if before.ends_with('\n') { "\n" } else { "\n\n" };
        let end = if before.ends_with('\n') { "\n" } else { "" };
        there_and_back(Format::Toml, before, &format!("{before}{gap}{block}{end}"));
    }
}

#[test]
fn toml_below_the_entry_goes_with_it_and_what_follows_stays() {
    let before = "[mcp_servers.jp] # x\nargs = [\n  \"serve\", # y\n]\ncommand = \"jp\"\nenv.A = \"b\" # z\n\n\
                  [mcp_servers.jp.tools.bash]\napproval_mode = \"approve\"\n\n[other] # o\na = 1\n";
    let after = "[other] # o\na = 1\n";
    let gone = remove(Format::Toml, before).unwrap().unwrap();
    assert_eq!(gone.trim_start(), after);
    let updated = add(Format::Toml, before).unwrap().unwrap();
    // The user's environment and approvals stay, and so does every comment.
    assert_eq!(updated, before.replace("\"jp\"", "\"/usr/bin/jp\""));
}

#[test]
fn yaml_gets_an_entry_behind_the_others() {
    let before = "# mine\nprovider: x # y\nextensions:\n  dev:\n    enabled: true\n    text: |\n      # not a comment\n\n  \
                  # trailing\n\nother: [a, 'b#c']\n";
    let entry = "  jp:\n    command: /usr/bin/jp\n    args:\n    - serve\n    env: {}\n";
    let after = before.replace("a comment\n", &format!("a comment\n{entry}"));
    there_and_back(Format::Yaml, before, &after);
}

#[test]
fn yaml_without_a_section_gets_one_that_says_whose_it_is() {
    let entry = "  jp:\n    command: /usr/bin/jp\n    args:\n    - serve\n    env: {}";
    for before in ["a: 1", "a: 1\n", "# c\n", "---\na:\n- 1\n- b: 2\n"] {
        let (gap, end) = if before.ends_with('\n') {
            ("", "\n")
        } else {
            ("\n", "")
        };
        let after = format!("{before}{gap}# added by jp serve install\nextensions:\n{entry}{end}");
        there_and_back(Format::Yaml, before, &after);
    }
    there_and_back(
        Format::Yaml,
        "extensions: {} # none\nb: 1\n",
        &format!("extensions: # none\n{entry}\nb: 1\n"),
    );
}

#[test]
fn an_entry_of_jp_is_brought_up_to_date_and_keeps_what_its_user_chose() {
    let cases = [
        (
            Format::Jsonc,
            "{\"mcpServers\": {\"jp\": {\n  // old\n  \"command\": \"jp\", // c\n  \"args\": [\"serve\"],\n  \"env\": {\"A\": \
             \"1\"},\n  \"cwd\": \"/x\",\n  \"timeout\": 5\n}}}",
            "{\"mcpServers\": {\"jp\": {\n  // old\n  \"command\": \"/usr/bin/jp\", // c\n  \"args\": [\"serve\"],\n  \"env\": \
             {\"A\": \"1\"},\n  \"timeout\": 5\n}}}",
        ),
        (
            Format::Toml,
            "[mcp_servers.jp]\nurl = \"http://x\"\nbearer_token_env_var = \"JP_TOKEN\" # t\ntool_timeout_sec = 5\n",
            "[mcp_servers.jp]\ntool_timeout_sec = 5\ncommand = \"/usr/bin/jp\"\nargs = [\"serve\"]\nenv = {}\n",
        ),
        (
            Format::Yaml,
            "extensions:\n    jp:\n        command: jp\n        args: [serve]\n        timeout: 5\n    x:\n        a: 1\n",
            "extensions:\n    jp:\n      command: /usr/bin/jp\n      args:\n      - serve\n      timeout: 5\n      env: {}\n    \
             x:\n        a: 1\n",
        ),
    ];
    for (format, before, after) in cases {
        assert_eq!(add(format, before).unwrap().unwrap(), after);
    }
}

#[test]
fn an_entry_of_somebody_else_is_neither_replaced_nor_removed() {
    let cases = [
        (
            Format::Json,
            "{\"mcpServers\": {\"jp\": {\"command\": \"other\", \"args\": [\"serve\"]}, \"y\": 1}}",
        ),
        (Format::Json, "{\"mcpServers\": {\"jp\": 7}}"),
        (
            Format::Json,
            "{\"mcpServers\": {\"jp\": {\"command\": \"jp\", \"args\": [\"bash\"]}}}",
        ),
        (
            Format::Json,
            "{\"mcpServers\": {\"jp\": {\"url\": \"https://x\"}}}",
        ),
        (
            Format::Toml,
            "[mcp_servers.jp]\ncommand = \"other\"\n[mcp_servers.jp.env]\nA = \"x\"\n[z]\n",
        ),
        (Format::Yaml, "extensions:\n  jp:\n    command: other\n"),
        (
            Format::Yaml,
            "extensions:\n  jp: {command: jp, args: [serve]}\n",
        ),
    ];
    for (format, text) in cases {
        let taken = EditError::Taken {
            name: "jp".to_owned(),
        };
        assert_eq!(add(format, text), Err(taken.clone()), "{text}");
        assert_eq!(remove(format, text), Err(taken), "{text}");
        let wanted = launch();
        let force = Change::Remove { force: true };
        let left = change(format, text, &force).unwrap().unwrap();
        assert_eq!(entry(&left, &target(format)).unwrap(), None, "{left}");
        if format == Format::Toml {
            continue;
        }
        let force = Change::Add {
            entry: &wanted,
            force: true,
        };
        let made = change(format, text, &force).unwrap().unwrap();
        assert_eq!(
            entry(&made, &target(format)).unwrap(),
            Some(launch()),
            "{made}"
        );
    }
}

#[test]
fn yaml_quotes_what_would_be_read_as_something_else() {
    let words = [
        "on", "1.5", "-x", "a: b", "a #b", "", "C:\\x", "é", "true", "~", "/a/b-c.d",
    ];
    let entry = json!({"cmd": "/usr/bin/jp", "args": ["serve"], "words": words});
    let add = Change::Add {
        entry: &entry,
        force: false,
    };
    let made = change(Format::Yaml, "", &add).unwrap().unwrap();
    let list = "    - \"on\"\n    - \"1.5\"\n    - \"-x\"\n    - \"a: b\"\n    - \"a #b\"\n    - \"\"\n    - \
                \"C:\\\\x\"\n    - \"é\"\n    - \"true\"\n    - \"~\"\n    - /a/b-c.d\n";
    assert!(made.ends_with(list), "{made}");
}

#[test]
fn an_empty_table_of_variables_goes_with_the_program_and_a_filled_one_stays() {
    let remote =
        json!({"url": "http://127.0.0.1:1/mcp", "headers": {"Authorization": "Bearer $JP_TOKEN"}});
    let change = Change::Add {
        entry: &remote,
        force: false,
    };
    let with = |variables: Value| {
        let mut entry = launch();
        entry["env"] = variables;
        json!({"mcpServers": {"jp": entry}}).to_string()
    };
    let target = target(Format::Json);
    let after = |text: String| {
        let made = edit(&text, &target, &change).unwrap().unwrap();
        entry(&made, &target).unwrap().unwrap()
    };
    assert_eq!(after(with(json!({}))), remote);
    let kept = after(with(json!({"A": "b"})));
    assert_eq!(kept["env"], json!({"A": "b"}));
}

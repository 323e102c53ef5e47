//! All clients, with no file, an empty one, one of others, one of Windows, and jp in it already.

use super::*;

struct Row {
    client: &'static str,
    file: &'static str,
    /// What a new file holds.
    new: &'static str,
    /// A file with entries of others, and `HERE` where that of jp goes.
    others: &'static str,
    /// What goes there.
    entry: &'static str,
}

const JSON_OTHERS: &str = "{\n    \"z\": [1, 2],\n    \"mcpServers\": {\n        \"x\": {\"command\": \"x\"}HERE\n    },\n    \"a\": 1.0\n}\n";
const JSONC_OTHERS: &str = "// mine\n{\n\t\"z\": 1, // zed\n\t\"SECTION\": {\n\t\t/* first */\n\t\t\"x\": {\"command\": \"x\"}, // the comma stays\
                            HERE\n\t\t// end\n\t},\n}\n";

const TABLE: &[Row] = &[
    Row {
        client: "claude-code",
        file: "home/.claude.json",
        new: r#"{
  "mcpServers": {
    "jp": {
      "type": "stdio",
      "command": "/bin/jp",
      "args": ["serve"],
      "env": {},
      "timeout": 600000
    }
  }
}
"#,
        others: JSON_OTHERS,
        entry: r#",
        "jp": {
            "type": "stdio",
            "command": "/bin/jp",
            "args": ["serve"],
            "env": {},
            "timeout": 600000
        }"#,
    },
    Row {
        client: "claude-desktop",
        file: "home/.config/Claude/claude_desktop_config.json",
        new: r#"{
  "mcpServers": {
    "jp": {
      "command": "/bin/jp",
      "args": ["serve"],
      "env": {}
    }
  }
}
"#,
        others: JSON_OTHERS,
        entry: r#",
        "jp": {
            "command": "/bin/jp",
            "args": ["serve"],
            "env": {}
        }"#,
    },
    Row {
        client: "codex",
        file: "home/.codex/config.toml",
        new: r#"[mcp_servers.jp]
command = "/bin/jp"
args = ["serve"]
tool_timeout_sec = 600
"#,
        others: "model = \"x\" # mine\n\n[mcp_servers.x]\ncommand = 'x'\n# end\nHERE",
        entry: r#"
[mcp_servers.jp]
command = "/bin/jp"
args = ["serve"]
tool_timeout_sec = 600
"#,
    },
    Row {
        client: "cursor",
        file: "home/.cursor/mcp.json",
        new: r#"{
  "mcpServers": {
    "jp": {
      "command": "/bin/jp",
      "args": ["serve"],
      "env": {}
    }
  }
}
"#,
        others: JSONC_OTHERS,
        entry: "\n\t\t\"jp\": {\n\t\t\t\"command\": \"/bin/jp\",\n\t\t\t\"args\": [\"serve\"],\n\t\t\t\"env\": {}\n\t\t},",
    },
    Row {
        client: "vscode",
        file: "home/.config/Code/User/mcp.json",
        new: r#"{
  "servers": {
    "jp": {
      "type": "stdio",
      "command": "/bin/jp",
      "args": ["serve"],
      "cwd": "${workspaceFolder}"
    }
  }
}
"#,
        others: JSONC_OTHERS,
        entry: "\n\t\t\"jp\": {\n\t\t\t\"type\": \"stdio\",\n\t\t\t\"command\": \"/bin/jp\",\n\t\t\t\"args\": [\"serve\"],\n\t\t\t\
                \"cwd\": \"${workspaceFolder}\"\n\t\t},",
    },
    Row {
        client: "copilot-cli",
        file: "home/.copilot/mcp-config.json",
        new: r#"{
  "mcpServers": {
    "jp": {
      "type": "stdio",
      "command": "/bin/jp",
      "args": ["serve"],
      "env": {},
      "tools": ["*"]
    }
  }
}
"#,
        others: JSONC_OTHERS,
        entry: "\n\t\t\"jp\": {\n\t\t\t\"type\": \"stdio\",\n\t\t\t\"command\": \"/bin/jp\",\n\t\t\t\"args\": [\"serve\"],\n\t\t\t\
                \"env\": {},\n\t\t\t\"tools\": [\"*\"]\n\t\t},",
    },
    Row {
        client: "zed",
        file: "home/.config/zed/settings.json",
        new: r#"{
  "context_servers": {
    "jp": {
      "command": "/bin/jp",
      "args": ["serve"],
      "env": {}
    }
  }
}
"#,
        others: JSONC_OTHERS,
        entry: "\n\t\t\"jp\": {\n\t\t\t\"command\": \"/bin/jp\",\n\t\t\t\"args\": [\"serve\"],\n\t\t\t\"env\": {}\n\t\t},",
    },
    Row {
        client: "goose",
        file: "home/.config/goose/config.yaml",
        new: r"# added by jp serve install
extensions:
  jp:
    name: jp
    type: stdio
    enabled: true
    cmd: /bin/jp
    args:
    - serve
    envs: {}
    env_keys: []
    timeout: 300
",
        others: "# mine\nextensions:\n    dev: # comes along\n        enabled: true\n        args: [a, 'b']\nHERE\n# end\nGOOSE_MODE: auto\n",
        entry: r"    jp:
      name: jp
      type: stdio
      enabled: true
      cmd: /bin/jp
      args:
      - serve
      envs: {}
      env_keys: []
      timeout: 300
",
    },
    Row {
        client: "gemini-cli",
        file: "home/.gemini/settings.json",
        new: r#"{
  "mcpServers": {
    "jp": {
      "command": "/bin/jp",
      "args": ["serve"],
      "env": {}
    }
  }
}
"#,
        others: JSONC_OTHERS,
        entry: "\n\t\t\"jp\": {\n\t\t\t\"command\": \"/bin/jp\",\n\t\t\t\"args\": [\"serve\"],\n\t\t\t\"env\": {}\n\t\t},",
    },
    Row {
        client: "opencode",
        file: "home/.config/opencode/opencode.json",
        new: r#"{
  "mcp": {
    "jp": {
      "type": "local",
      "command": ["/bin/jp", "serve"],
      "enabled": true,
      "environment": {}
    }
  }
}
"#,
        others: JSONC_OTHERS,
        entry: "\n\t\t\"jp\": {\n\t\t\t\"type\": \"local\",\n\t\t\t\"command\": [\"/bin/jp\", \"serve\"],\n\t\t\t\"enabled\": true,\n\t\t\t\
                \"environment\": {}\n\t\t},",
    },
];

fn section(client: &str) -> &'static str {
    match client {
        "vscode" => "servers",
        "zed" => "context_servers",
        "opencode" => "mcp",
        _ => "mcpServers",
    }
}

/// Installs into a file, installs again, and removes; returns what it was in between.
#[track_caller]
fn there_and_back(row: &Row, before: &str) -> String {
    let sandbox = Sandbox::new("");
    sandbox.write(row.file, before);
    let backup = format!("{}.jp-backup", row.file);
    let added = install(&sandbox, &[row.client]).exits(0);
    added.warns(&format!(
        "The file as it was before is {}",
        sandbox.path(&backup).display()
    ));
    assert_eq!(read(&sandbox, &backup), before);
    let made = read(&sandbox, row.file);
    let again = install(&sandbox, &[row.client]).exits(0);
    assert!(
        again.stderr.contains("nothing was changed") && again.stdout.is_empty(),
        "{again:?}"
    );
    assert_eq!(read(&sandbox, row.file), made, "{}: twice", row.client);
    install(&sandbox, &[row.client, "--remove"]).exits(0);
    assert_eq!(read(&sandbox, row.file), before, "{}: removed", row.client);
    assert_eq!(read(&sandbox, &backup), made);
    made
}

#[test]
fn every_client_gets_its_entry_and_loses_it_again() {
    for row in TABLE {
        let sandbox = Sandbox::new("");
        install(&sandbox, &[row.client]).exits(0);
        assert_eq!(read(&sandbox, row.file), row.new, "{}: no file", row.client);
        sandbox.write(row.file, "");
        install(&sandbox, &[row.client]).exits(0);
        assert_eq!(read(&sandbox, row.file), row.new, "{}: empty", row.client);
        install(&sandbox, &[row.client, "--remove"]).exits(0);
        let left = if row.new.starts_with('{') { "{}\n" } else { "" };
        assert_eq!(read(&sandbox, row.file), left, "{}: removed", row.client);

        let others = row.others.replace("SECTION", section(row.client));
        let (before, after) = (
            others.replace("HERE", ""),
            others.replace("HERE", row.entry),
        );
        // The line of the mark goes with it where the entry has lines of its own.
        let (before, after) = match row.client {
            "goose" => (
                before.replace("\n\n#", "\n#"),
                after.replace("\n\n#", "\n#"),
            ),
            _ => (before, after),
        };
        assert_eq!(
            there_and_back(row, &before),
            after,
            "{}: others",
            row.client
        );
        let windows = |text: &str| format!("\u{feff}{}", text.replace('\n', "\r\n"));
        assert_eq!(
            there_and_back(row, &windows(&before)),
            windows(&after),
            "{}: CRLF",
            row.client
        );
    }
}

#[test]
fn every_client_connects_with_a_token_that_is_in_no_file() {
    let cases = [
        (
            "claude-code",
            r#"{"type": "http", "url": "URL", "headers": {"Authorization": "Bearer ${JP_TOKEN}"}}"#,
        ),
        (
            "cursor",
            r#"{"url": "URL", "headers": {"Authorization": "Bearer ${env:JP_TOKEN}"}}"#,
        ),
        (
            "vscode",
            r#"{"type": "http", "url": "URL", "headers": {"Authorization": "Bearer ${env:JP_TOKEN}"}}"#,
        ),
        (
            "copilot-cli",
            r#"{"type": "http", "url": "URL", "headers": {"Authorization": "Bearer ${JP_TOKEN}"}, "tools": ["*"]}"#,
        ),
        (
            "gemini-cli",
            r#"{"httpUrl": "URL", "headers": {"Authorization": "Bearer ${JP_TOKEN}"}}"#,
        ),
        (
            "opencode",
            r#"{"type": "remote", "url": "URL", "enabled": true, "headers": {"Authorization": "Bearer {env:JP_TOKEN}"}}"#,
        ),
        (
            "codex",
            r#"{"url": "URL", "bearer_token_env_var": "JP_TOKEN", "tool_timeout_sec": 600}"#,
        ),
        (
            "goose",
            r#"{"name": "jp", "type": "streamable_http", "enabled": true, "uri": "URL", "headers": {"Authorization":
                "Bearer ${JP_TOKEN}"}, "envs": {}, "env_keys": ["JP_TOKEN"], "timeout": 300}"#,
        ),
    ];
    let url = "http://127.0.0.1:7777/mcp";
    for (client, entry) in cases {
        let sandbox = Sandbox::new("");
        // An entry that starts jp becomes one that connects, and nothing is left of the former.
        install(&sandbox, &[client]).exits(0);
        let ran = install(&sandbox, &[client, "--http", url, "--json"])
            .exits(0)
            .json();
        let done = &ran["clients"][0];
        let wanted: serde_json::Value = serde_json::from_str(&entry.replace("URL", url)).unwrap();
        assert_eq!(done["entry"], wanted, "{client}");
        assert_eq!(done["action"], "updated", "{client}");
        let row = TABLE.iter().find(|row| row.client == client).unwrap();
        let file = read(&sandbox, row.file);
        assert!(
            file.contains(url) && !file.contains("/bin/jp"),
            "{client}: {file}"
        );
        install(&sandbox, &[client, "--http", url])
            .exits(0)
            .warns("nothing was changed");
        install(&sandbox, &[client, "--remove"]).exits(0);
        assert!(!read(&sandbox, row.file).contains("jp"), "{client}");
    }
    for client in ["zed", "claude-desktop"] {
        let sandbox = Sandbox::new("");
        install(&sandbox, &[client, "--http", url])
            .exits(2)
            .warns("cannot add a URL to");
    }
}

#[test]
fn the_page_about_clients_shows_what_is_written() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/how-to/clients.md");
    let page = fs::read_to_string(page).unwrap();
    for row in TABLE {
        let written = row.new.replace("/bin/jp", "jp");
        let shown = match row.client {
            // It needs a path and a workspace, which differ.
            "claude-desktop" => continue,
            "goose" => written.replace("# added by jp serve install\n", ""),
            _ => written,
        };
        let block = format!("\n{shown}```\n");
        assert!(
            page.contains(&block),
            "{}: no {block} in the page",
            row.client
        );
        let file = row.file.replace("home/", "~/");
        let (dir, name) = file.rsplit_once('/').unwrap();
        let is_named = page.contains(&format!("`{file}`"))
            || (page.contains(&format!("`{name}`")) && page.contains(&format!("`{dir}`")));
        assert!(is_named, "{}: no {file} in the page", row.client);
    }
}

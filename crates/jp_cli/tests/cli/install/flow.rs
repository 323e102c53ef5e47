//! What is found, shown, asked for and written.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

#[test]
fn clients_that_are_there_are_listed_and_all_of_them_changed() {
    let sandbox = Sandbox::new("");
    let with_path = |words: &[&str]| -> Ran {
        let words = [&["serve", "install"], words].concat();
        let mut command = sandbox.command(&words);
        command
            .env("PATH", sandbox.path("home/bin"))
            .output()
            .unwrap()
            .into()
    };
    with_path(&[]).exits(0).warns("No client was found");
    with_path(&["--all"])
        .exits(2)
        .warns("hint: name one: jp serve install CLIENT");
    sandbox.write("home/.codex/config.toml", "");
    sandbox.write("home/.claude/settings.json", "{}");
    sandbox.write("home/bin/goose", "#!/bin/sh\n");
    let program = sandbox.path("home/bin/goose");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let ran = with_path(&[])
        .exits(0)
        .says("CLIENT       HAS JP  FILE\nclaude-code  no      ")
        .says("codex")
        .says("goose");
    assert_eq!(ran.stdout.lines().count(), 4, "{ran:?}");
    with_path(&["--all"]).exits(0).warns("Added jp to Goose");
    let listed = with_path(&["--json"]).exits(0).json();
    let clients = listed["clients"].as_array().unwrap();
    assert!(
        clients.iter().all(|client| client["installed"] == true),
        "{listed:#}"
    );
    // One that cannot be read keeps none of the others from being changed.
    sandbox.write("home/.codex/config.toml", "= 1");
    with_path(&[]).exits(0).says("cannot be read");
    let ran = with_path(&["--all", "--remove"]).exits(2);
    let ran = ran
        .warns("cannot edit")
        .warns("Removed jp from Claude Code")
        .warns("Removed jp from Goose");
    assert!(
        ran.stderr.contains("config.toml: line 1, column 1: "),
        "{ran:?}"
    );
}

#[test]
fn print_shows_the_change_and_makes_none() {
    let sandbox = Sandbox::new("");
    sandbox.write("home/.claude.json", "{\n  \"a\": 1\n}\n");
    let ran = install(&sandbox, &["claude-code", "--print", "--", "--lazy", "a b"]).exits(0);
    let ran = ran
        .says("\n-  \"a\": 1\n+  \"a\": 1,\n")
        .says("\n+  \"mcpServers\": {\n");
    let ran = ran
        .warns("was not changed")
        .warns("serve --lazy 'a b'")
        .warns("claude mcp add --scope user jp -- ");
    assert!(
        ran.stdout.starts_with("--- ") && ran.stdout.contains("@@ -1,3 +1,12 @@"),
        "{ran:?}"
    );
    assert_eq!(read(&sandbox, "home/.claude.json"), "{\n  \"a\": 1\n}\n");
    assert!(!names(&sandbox, "home").contains(&".claude.json.jp-backup".to_owned()));
    install(&sandbox, &["zed", "--print"])
        .exits(0)
        .says("--- /dev/null\n");
    assert!(!sandbox.path("home/.config").exists());
    install(&sandbox, &["--print"])
        .exits(2)
        .warns("missing CLIENT: expected one, or --all");
    // Of a file in one line not all is shown.
    let long = format!("{{\"key\": \"secret\", \"a\": \"{}\"}}", "a".repeat(3000));
    sandbox.write("home/.cursor/mcp.json", &long);
    let ran = install(&sandbox, &["cursor", "--print"])
        .exits(0)
        .says("too long to be shown)\n{\n  \"command\"");
    assert!(!ran.stdout.contains("secret"), "{ran:?}");
    let json = install(&sandbox, &["claude-code", "--print", "--json"])
        .exits(0)
        .json();
    let done = &json["clients"][0];
    assert_eq!(
        (&done["action"], &done["written"]),
        (&"added".into(), &false.into()),
        "{json:#}"
    );
}

#[test]
fn a_workspace_and_arguments_are_handed_to_jp_serve() {
    let sandbox = Sandbox::new("");
    let done = install(
        &sandbox,
        &[
            "vscode",
            "--workspace",
            ".",
            "--name",
            "app",
            "--json",
            "--",
            "--lazy",
        ],
    );
    let done = done.exits(0).json();
    let entry = &done["clients"][0]["entry"];
    let real = sandbox.path("workspace").canonicalize().unwrap();
    let words = serde_json::json!(["serve", "--directory", real, "--lazy"]);
    assert_eq!(entry["args"], words, "{entry:#}");
    assert!(entry["cwd"].is_null(), "{entry:#}");
    assert!(read(&sandbox, "home/.config/Code/User/mcp.json").contains("\"app\": {"));
    install(&sandbox, &["zed", "--workspace", "none"])
        .exits(2)
        .warns("invalid workspace none: ");
    install(&sandbox, &["zed", "--workspace", "notes.txt"])
        .exits(2)
        .warns("expected a directory");
    install(&sandbox, &["zed", "--name", "a b"])
        .exits(2)
        .warns("invalid name");
    install(&sandbox, &["claude-desktop"])
        .exits(0)
        .warns("warning: Claude Desktop starts jp outside");
    for url in ["ftp://x", "http://", "https://me:token@x/", "http://x/${A}"] {
        install(&sandbox, &["cursor", "--http", url])
            .exits(2)
            .warns("invalid URL: expected ");
    }
    install(&sandbox, &["cursor", "--http", "http://x", "--", "--lazy"]).exits(2);
}

#[test]
fn jp_is_called_by_its_name_where_that_is_this_program() {
    let sandbox = Sandbox::new("");
    fs::create_dir_all(sandbox.path("home/bin")).unwrap();
    let link = sandbox.path("home/bin/jp");
    symlink(program(), &link).unwrap();
    let entry = |client: &str| {
        let mut command = sandbox.command(&["serve", "install", client, "--print", "--json"]);
        let ran: Ran = command
            .env("PATH", sandbox.path("home/bin"))
            .output()
            .unwrap()
            .into();
        ran.exits(0).json()["clients"][0]["entry"]["command"].clone()
    };
    assert_eq!(entry("cursor"), "jp");
    assert_eq!(entry("claude-desktop"), link.to_str().unwrap());
    fs::remove_file(&link).unwrap();
    fs::copy(program(), &link).unwrap();
    assert_eq!(entry("cursor"), program());
}

#[test]
fn the_file_of_a_project_is_changed_where_there_is_one() {
    let sandbox = Sandbox::new("");
    for (client, file) in [
        ("claude-code", ".mcp.json"),
        ("codex", ".codex/config.toml"),
        ("cursor", ".cursor/mcp.json"),
        ("vscode", ".vscode/mcp.json"),
        ("zed", ".zed/settings.json"),
        ("gemini-cli", ".gemini/settings.json"),
        ("opencode", "opencode.json"),
    ] {
        install(&sandbox, &[client, "--project"]).exits(0);
        assert!(
            read(&sandbox, &format!("workspace/{file}")).contains("/bin/jp"),
            "{client}"
        );
    }
    // Two clients share one file, and neither takes from it what the other needs.
    install(&sandbox, &["copilot-cli", "--project"])
        .exits(0)
        .warns("Updated jp in Copilot CLI");
    install(&sandbox, &["claude-code", "--project"])
        .exits(0)
        .warns("nothing was changed");
    install(&sandbox, &["goose", "--project"])
        .exits(2)
        .warns("hint: jp serve install goose");
    // The file of a stranger's project must not be one of the user's.
    sandbox.write("home/.cursor/mcp.json", "{}");
    fs::remove_dir_all(sandbox.path("workspace/.cursor")).unwrap();
    symlink(
        sandbox.path("home/.cursor"),
        sandbox.path("workspace/.cursor"),
    )
    .unwrap();
    install(&sandbox, &["cursor", "--project"])
        .exits(2)
        .warns("leads out of the project");
    assert_eq!(read(&sandbox, "home/.cursor/mcp.json"), "{}");
}

#[test]
fn an_entry_of_somebody_else_stays_without_force() {
    let sandbox = Sandbox::new("");
    let other = "{\"mcpServers\": {\"jp\": {\"command\": \"other\"}, \"x\": 1}}";
    sandbox.write("home/.cursor/mcp.json", other);
    for words in [&["cursor"][..], &["cursor", "--remove"]] {
        let ran = install(&sandbox, words)
            .exits(2)
            .warns("there is an entry `jp` already that does not start jp");
        ran.warns("--force");
        assert_eq!(read(&sandbox, "home/.cursor/mcp.json"), other);
    }
    install(&sandbox, &["cursor", "--force"])
        .exits(0)
        .warns("Updated jp in Cursor");
    assert!(!read(&sandbox, "home/.cursor/mcp.json").contains("other"));
    install(&sandbox, &["cursor", "--name", "second"]).exits(0);
    assert!(read(&sandbox, "home/.cursor/mcp.json").contains("\"second\""));
}

//! Files that are not what they should be.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

#[test]
fn a_file_that_cannot_be_edited_is_left_and_what_to_add_is_shown() {
    let sandbox = Sandbox::new("");
    let deep = format!("{{\"a\": {}", "[".repeat(100_000));
    let cases: &[(&str, &str, &str, &str)] = &[
        (
            "claude-code",
            ".claude.json",
            "{\"a\": 1,\n}",
            "line 2, column 1: expected a key in double quotes, found `}`",
        ),
        (
            "cursor",
            ".cursor/mcp.json",
            "{\"a\": 1, \"a\": 2}",
            "line 1, column 10: duplicate key `a`",
        ),
        (
            "zed",
            ".config/zed/settings.json",
            &deep,
            "nested deeper than 128 levels",
        ),
        (
            "codex",
            ".codex/config.toml",
            "a = 1\nb =\n",
            "line 2, column 4: ",
        ),
        (
            "codex",
            ".codex/config.toml",
            "mcp_servers = { x = { command = 'x' } }\n",
            ": line ",
        ),
        (
            "goose",
            ".config/goose/config.yaml",
            "a: &b 1\n",
            "line 1, column 1: cannot edit an anchor",
        ),
        (
            "goose",
            ".config/goose/config.yaml",
            "extensions: {a: {enabled: true}}\n",
            "cannot edit a section that is not a block",
        ),
    ];
    for (client, file, text, expected) in cases {
        let file = format!("home/{file}");
        sandbox.write(&file, text);
        let ran = install(&sandbox, &[client])
            .exits(2)
            .warns("error: cannot edit ")
            .warns(expected);
        ran.warns("hint: add this by hand:\n").warns(&program());
        assert_eq!(&read(&sandbox, &file), text);
        assert!(!sandbox.path(&format!("{file}.jp-backup")).exists());
    }
}

#[test]
fn what_to_add_by_hand_keeps_its_indentation() {
    let sandbox = Sandbox::new("");
    sandbox.write("home/.config/goose/config.yaml", "a: &b 1\n");
    let ran = install(&sandbox, &["goose"]).exits(2);
    ran.warns("by hand:\n  # added by jp serve install\n  extensions:\n    jp:\n      name: jp\n");
}

#[test]
fn a_file_of_other_bytes_or_too_many_is_refused() {
    let sandbox = Sandbox::new("");
    let file = sandbox.path("home/.claude.json");
    fs::write(&file, b"{\n\"a\": \"\xff\"}").unwrap();
    install(&sandbox, &["claude-code"])
        .exits(2)
        .warns("line 2 is not valid UTF-8");
    fs::write(&file, vec![b' '; (8 << 20) + 1]).unwrap();
    install(&sandbox, &["claude-code"])
        .exits(125)
        .warns("it is larger than 8388608 bytes");
    // One of that size is edited.
    fs::write(&file, vec![b' '; 8 << 20]).unwrap();
    install(&sandbox, &["claude-code", "--print"]).exits(0);
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    install(&sandbox, &["claude-code"])
        .exits(125)
        .warns("not a regular file");
    fs::remove_dir(&file).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(&file)
        .status()
        .unwrap();
    assert!(made.success());
    install(&sandbox, &["claude-code"])
        .exits(125)
        .warns("not a regular file");
}

#[test]
fn links_are_followed_and_stay_and_permissions_too() {
    let sandbox = Sandbox::new("");
    sandbox.write("home/dotfiles/claude.json", "{}\n");
    let real = sandbox.path("home/dotfiles/claude.json");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    let link = sandbox.path("home/.claude.json");
    symlink("dotfiles/claude.json", &link).unwrap();
    install(&sandbox, &["claude-code"]).exits(0);
    assert_eq!(
        fs::read_link(&link).unwrap(),
        Path::new("dotfiles/claude.json")
    );
    assert!(read(&sandbox, "home/dotfiles/claude.json").contains("/bin/jp"));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&real), 0o640);
    assert_eq!(
        names(&sandbox, "home/dotfiles"),
        ["claude.json", "claude.json.jp-backup"]
    );
    assert_eq!(
        mode(&sandbox.path("home/dotfiles/claude.json.jp-backup")),
        0o600
    );
    fs::remove_file(&real).unwrap();
    install(&sandbox, &["claude-code"])
        .exits(2)
        .warns("a symbolic link to a file that is not there");
    // A new file is its owner's alone.
    fs::remove_file(&link).unwrap();
    install(&sandbox, &["claude-code"]).exits(0);
    assert_eq!(mode(&link), 0o600);
    assert_eq!(
        names(&sandbox, "home")
            .iter()
            .filter(|name| name.contains("claude"))
            .count(),
        1
    );
}

#[test]
fn text_of_a_strangers_file_moves_no_terminal() {
    let sandbox = Sandbox::new("");
    sandbox.write(
        "home/.cursor/mcp.json",
        "{\n  \"a\": 1, // \u{1b}]0;x\u{7}\u{202e}\n  \"mcpServers\": {}\n}\n",
    );
    let ran = install(&sandbox, &["cursor"]).exits(0);
    assert!(!ran.stdout.contains(['\u{1b}', '\u{202e}']), "{ran:?}");
    assert!(read(&sandbox, "home/.cursor/mcp.json").contains("// \u{1b}]0;x\u{7}\u{202e}\n"));
    sandbox.write(
        "home/.cursor/mcp.json",
        "{\"\u{202e}x\": 1, \"\u{202e}x\": 2, \u{1b}}",
    );
    let ran = install(&sandbox, &["cursor"]).exits(2);
    assert!(!ran.stderr.contains(['\u{1b}', '\u{202e}']), "{ran:?}");
}

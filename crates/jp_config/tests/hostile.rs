//! Files that a stranger made: each is a clear error, and nothing panics or hangs.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests fail the test they help"
)]

use std::{fs, path::Path};

use jp_config::{Problem, Sources, load};
use proptest::prelude::*;

fn problem(make: impl FnOnce(&Path)) -> Problem {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join(".jp")).unwrap();
    let file = dir.path().join(".jp/config.toml");
    make(&file);
    let error = load(&Sources {
        workspace_root: Some(dir.path().to_path_buf()),
        cwd: dir.path().to_path_buf(),
        ..Sources::default()
    })
    .unwrap_err();
    assert!(error.to_string().contains("/.jp/"), "{error}");
    error.problem
}

fn text_problem(text: impl AsRef<[u8]>) -> String {
    problem(|file| fs::write(file, text).unwrap()).to_string()
}

#[test]
fn a_huge_file_is_refused_unread() {
    let found = problem(|file| {
        fs::File::create(file).unwrap().set_len(100 << 20).unwrap();
    });
    assert_eq!(found.to_string(), "file too large: expected at most 4 MiB");
}

#[test]
fn a_directory_in_place_of_the_file_is_refused() {
    assert_eq!(
        problem(|file| fs::create_dir(file).unwrap()),
        Problem::NotAFile
    );
}

#[cfg(unix)]
#[test]
fn a_fifo_does_not_block() {
    let found = problem(|file| {
        let made = std::process::Command::new("mkfifo")
            .arg(file)
            .status()
            .unwrap();
        assert!(made.success());
    });
    assert_eq!(found, Problem::NotAFile);
}

#[test]
fn a_device_is_refused() {
    #[cfg(unix)]
    assert_eq!(
        problem(|file| std::os::unix::fs::symlink("/dev/zero", file).unwrap()),
        Problem::NotAFile
    );
}

#[test]
fn bytes_that_are_not_utf_8_are_refused() {
    assert_eq!(text_problem(b"a = 1\n\xff"), "invalid UTF-8 at byte 6");
}

#[test]
fn deep_nesting_is_refused() {
    let depth = 10_000;
    for text in [
        format!("a = {}{}", "[".repeat(depth), "]".repeat(depth)),
        format!("a = {}1{}", "{ a = ".repeat(depth), " }".repeat(depth)),
        format!("{}a = 1", "a.".repeat(depth)),
        format!("[{}a]", "a.".repeat(depth)),
    ] {
        let problem = text_problem(text);
        assert!(problem.contains("recurs"), "{problem}");
    }
    let json = format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
    let found = problem(|file| {
        fs::write(file.with_file_name("x.json"), json).unwrap();
        fs::write(file, "extends = ['x.json']").unwrap();
    });
    assert!(found.to_string().contains("recursion limit"), "{found}");
}

#[test]
fn deep_parameters_within_the_limit_of_the_parser_work() {
    let deep = format!(
        "conversation.tools.x.parameters.p.{}type = 'string'",
        "items.".repeat(60)
    );
    let dir = tempfile::tempdir().unwrap();
    fs::write(
        dir.path().join(".jp.toml"),
        format!("conversation.tools.x.source = 'local'\n{deep}"),
    )
    .unwrap();
    let loaded = load(&Sources {
        workspace_root: Some(dir.path().to_path_buf()),
        cwd: dir.path().to_path_buf(),
        ..Sources::default()
    });
    let schema = loaded
        .unwrap()
        .config
        .conversation
        .tools
        .get("x")
        .unwrap()
        .parameters_schema();
    assert_eq!(schema.to_string().matches("items").count(), 60);
}

#[test]
fn keys_twice_in_json_are_refused() {
    let found = problem(|file| {
        fs::write(file.with_file_name("x.json"), r#"{"kb": {}, "kb": {}}"#).unwrap();
        fs::write(file, "extends = ['x.json']").unwrap();
    });
    assert_eq!(
        found.to_string(),
        "the key `kb` occurs twice at line 1 column 15"
    );
}

#[test]
fn too_many_files_are_refused() {
    let found = problem(|file| {
        let dir = file.with_file_name("config.d");
        fs::create_dir(&dir).unwrap();
        for at in 0..1_001 {
            fs::write(dir.join(format!("{at}.toml")), "").unwrap();
        }
        fs::write(file, "").unwrap();
    });
    assert_eq!(found, Problem::TooMuch);
}

#[test]
fn many_warnings_are_counted_and_cost_little() {
    let dir = tempfile::tempdir().unwrap();
    let tool = |id| format!("[conversation.tools.t{id}]\nsource = 'builtin'\nwasm = 'a'\n");
    let text: String = (0..50_000).map(tool).collect();
    fs::write(dir.path().join(".jp.toml"), text).unwrap();
    let loaded = load(&Sources {
        workspace_root: Some(dir.path().to_path_buf()),
        cwd: dir.path().to_path_buf(),
        ..Sources::default()
    })
    .unwrap();
    assert_eq!(loaded.warnings.len(), 101);
    assert_eq!(
        loaded.warnings[100].to_string(),
        "conversation.tools: and 49900 more warnings"
    );
}

#[test]
fn control_characters_of_a_key_do_not_reach_the_terminal() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(".jp.toml"), "\"\\u001b[2J\" = 1").unwrap();
    let error = load(&Sources {
        workspace_root: Some(dir.path().to_path_buf()),
        cwd: dir.path().to_path_buf(),
        ..Sources::default()
    });
    let text = error.unwrap_err().to_string();
    assert!(text.ends_with(r#":1: "\u{1b}[2J": unknown key"#), "{text}");
}

#[cfg(unix)]
#[test]
fn an_unreadable_file_is_an_error() {
    use std::os::unix::fs::PermissionsExt;

    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join(".jp.toml");
    fs::write(&file, "").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    let loaded = load(&Sources {
        workspace_root: Some(dir.path().to_path_buf()),
        cwd: dir.path().to_path_buf(),
        ..Sources::default()
    });
    // The superuser can read everything; for everyone else this is an error.
    match fs::read(&file) {
        Ok(_) => assert!(loaded.is_ok()),
        Err(_) => assert!(
            loaded
                .unwrap_err()
                .to_string()
                .contains("cannot read: Permission denied")
        ),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn no_text_makes_loading_panic(
        text in r#"(\[?(conversation|tools|x|policy|kb|topic|extends|'\*')[\].= \n"]{1,3}|[{}\[\]"',0-9a-z=.\n]){0,40}"#,
        cfg in r#"(conversation|tools|x|run|learned|'|"|[.:+={}\[\]0-9a-z]){0,12}"#,
        env in "JP_CFG_([A-Z]{1,4}_|TOOLS_|CONVERSATION_|KB_|TOPIC_){0,8}[A-Z]{0,4}",
    ) {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(".jp.toml"), text).unwrap();
        let mut sources = Sources {
            workspace_root: Some(dir.path().to_path_buf()),
            cwd: dir.path().to_path_buf(),
            ..Sources::default()
        };
        let _ = load(&sources);
        fs::write(dir.path().join(".jp.toml"), "conversation.tools.x.source = 'local'").unwrap();
        sources.assignments.push(cfg);
        let _ = load(&sources);
        sources.assignments.clear();
        sources.env.push((env, ":[1]".to_string()));
        let _ = load(&sources);
    }
}

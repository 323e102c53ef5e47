//! `jp bash --diff` and `--apply`: what is shown and printed, and what the next command makes of a kill.

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, symlink},
    os::unix::process::ExitStatusExt,
    process::Command,
};

use crate::kit::{Ran, Sandbox};

const MOUNT: &str = ".:/src:overlay";

fn diff(sandbox: &Sandbox, script: &str) -> String {
    let words = ["bash", "--mount", MOUNT, "--diff", "-c", script];
    sandbox.jp(&words).exits(0).stderr
}

fn apply(sandbox: &Sandbox, script: &str) -> Ran {
    sandbox.jp(&["bash", "--mount", MOUNT, "--apply", "-c", script])
}

/// Runs `jp` behind words of a shell that limit it.
fn limited(sandbox: &Sandbox, limit: &str, words: &[&str]) -> std::process::Output {
    let plain = sandbox.command(words);
    let mut shell = Command::new("/bin/sh");
    shell
        .args(["-c", &format!("ulimit -c 0; {limit}; exec \"$0\" \"$@\"")])
        .arg(plain.get_program())
        .args(plain.get_args())
        .current_dir(sandbox.path("workspace"))
        .env_clear()
        .envs(
            plain
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
    shell.output().unwrap()
}

#[test]
fn an_apply_says_what_it_did() {
    let sandbox = Sandbox::new("");
    let ran = apply(&sandbox, "cd /src; echo x > new; rm notes.txt").exits(0);
    assert_eq!(ran.stderr, "applied 2 changes to .\n");
    let ran = apply(&sandbox, "echo y > /src/new").exits(0);
    assert_eq!(ran.stderr, "applied 1 change to .\n");
    let ran = apply(&sandbox, "cat /src/new").exits(0);
    assert_eq!(
        (ran.stdout.as_str(), ran.stderr.as_str()),
        ("y\n", "nothing to apply to .\n")
    );
}

#[test]
fn nothing_is_applied_when_the_script_failed_and_that_is_said() {
    let sandbox = Sandbox::new("");
    let ran = apply(&sandbox, "echo x > /src/new; exit 3").exits(3);
    assert_eq!(
        ran.stderr,
        "nothing applied because the script failed (exit 3)\n"
    );
    assert!(!sandbox.path("workspace/new").exists());
}

#[test]
fn a_diff_shows_contents_links_modes_and_kinds() {
    let sandbox = Sandbox::new("");
    sandbox.write("workspace/bin", "a\0b");
    sandbox.write("workspace/tool", "x\n");
    symlink("notes.txt", sandbox.path("workspace/link")).unwrap();
    let script = "cd /src; sed -i s/second/2nd/ notes.txt; printf 'a\\0bcd' > bin
        chmod +x tool; ln -sf bin link; mkdir d; echo new > d/f; rm -r .jp";
    let shown = diff(&sandbox, script);
    let wanted = "D /src/.jp/\n\
        D /src/.jp/config.toml\n\
        M /src/bin (binary, 3 -> 5 bytes)\n\
        A /src/d/\n\
        A /src/d/f\n--- /dev/null\n+++ /src/d/f\n@@ -0,0 +1 @@\n+new\n\
        M /src/link -> bin (was notes.txt)\n\
        M /src/notes.txt\n--- /src/notes.txt\n+++ /src/notes.txt\n\
        @@ -1,2 +1,2 @@\n first note\n-second note\n+2nd note\n\
        M /src/tool (same contents, mode 644 -> 755)\n";
    assert_eq!(shown, wanted);
}

#[test]
fn no_name_and_no_content_forges_a_line_of_a_diff() {
    let sandbox = Sandbox::new("");
    let script = r#"cd /src; name=$'x\nD y\e[2J'; echo 1 > "$name"; ln -s $'t\nD y' "a b"
        printf 'D /etc\r\e[31m\xff\n' > notes.txt"#;
    let shown = diff(&sandbox, script);
    assert!(!shown.contains(['\r', '\u{1b}']), "{shown:?}");
    let heads = ["A ", "M ", "D "];
    let ours: Vec<&str> = shown
        .lines()
        .filter(|line| heads.iter().any(|head| line.starts_with(head)))
        .collect();
    assert_eq!(
        ours,
        [
            r#"A "/src/a b" -> "t\nD y""#,
            "M /src/notes.txt",
            r#"A "/src/x\nD y\u{1b}[2J""#,
        ]
    );
    assert!(shown.contains("\n+D /etc\\r\\u{1b}[31m\\xff\n"), "{shown}");
}

#[test]
fn a_long_diff_is_cut_and_says_so() {
    let sandbox = Sandbox::new("");
    let shown = diff(
        &sandbox,
        "cd /src; seq 100000 > long; head -c 2000000 /dev/zero > big",
    );
    assert!(
        shown.contains("A /src/big (2000000 bytes, too large to show)\n"),
        "{shown}"
    );
    assert!(
        shown.ends_with("\n(cut: the rest of this diff is not shown, the limit is 64 KiB)\n"),
        "{shown}"
    );
    assert!(shown.len() < 80_000, "{}", shown.len());
    let script = "cd /src; for i in 1 2 3 4 5 6 7 8 9 10 11 12; do seq 20000 > f$i; done";
    let shown = diff(&sandbox, script);
    let last = shown.lines().last().unwrap();
    assert!(last.contains("more changes are not shown"), "{last}");
}

#[test]
fn what_cannot_be_applied_is_refused_by_name_and_nothing_is_touched() {
    let sandbox = Sandbox::new("");
    apply(
        &sandbox,
        "cd /src; rm notes.txt; mkfifo notes.txt; echo x > new",
    )
    .exits(125)
    .warns("cannot apply to .: notes.txt is a FIFO; nothing was written");
    assert!(sandbox.path("workspace/notes.txt").is_file());
    assert!(!sandbox.path("workspace/new").exists());
}

#[test]
fn setuid_bits_are_applied_only_when_asked_for() {
    let sandbox = Sandbox::new("");
    let mode = || fs::metadata(sandbox.path("workspace/new")).unwrap().mode() & 0o7777;
    let script = "echo x > /src/new; chmod 4755 /src/new";
    apply(&sandbox, script)
        .exits(0)
        .warns("setuid and setgid bits were not applied: new")
        .warns("`--apply-setuid` applies them");
    assert_eq!(mode(), 0o755);
    let words = [
        "bash",
        "--mount",
        MOUNT,
        "--apply",
        "--apply-setuid",
        "-c",
        script,
    ];
    sandbox.jp(&words).exits(0);
    assert_eq!(mode(), 0o4755);
    sandbox.jp(&["bash", "--apply-setuid", "-c", ":"]).exits(2);
}

#[test]
fn a_write_that_fails_leaves_everything_as_it_was() {
    let sandbox = Sandbox::new("");
    let script = "cd /src; rm notes.txt; seq 100000 > new";
    let words = ["bash", "--mount", MOUNT, "--apply", "-c", script];
    let ran: Ran = limited(&sandbox, "trap '' XFSZ; ulimit -f 16", &words).into();
    ran.exits(125)
        .warns("File too large (new); nothing was written");
    let found = fs::read_dir(sandbox.path("workspace")).unwrap().count();
    assert_eq!(found, 2, "notes.txt and .jp, and no staging area");
}

#[test]
fn a_killed_apply_is_recovered_by_the_next_command() {
    let sandbox = Sandbox::new("");
    let script = "cd /src; rm notes.txt; seq 100000 > new";
    let words = ["bash", "--mount", MOUNT, "--apply", "-c", script];
    let output = limited(&sandbox, "ulimit -f 16", &words);
    // SIGXFSZ: the process dies while it writes.
    assert_eq!(output.status.signal(), Some(25), "{output:?}");
    assert!(sandbox.path("workspace/.jp-apply/new").is_dir());
    let said = "removed what an interrupted apply had prepared: no file had changed\n";
    let ran = sandbox
        .jp(&["bash", "--mount", ".:/src", "-c", "ls -A /src"])
        .exits(0);
    assert_eq!(ran.stdout, ".jp\nnotes.txt\n");
    assert_eq!(ran.stderr, format!(".: {said}"));
    assert!(!sandbox.path("workspace/.jp-apply").exists());
}

#[test]
fn every_command_of_a_workspace_recovers_it() {
    let sandbox = Sandbox::new("");
    let area = sandbox.path("workspace/.jp-apply");
    for words in [
        &["config", "show"][..],
        &["tool", "list"],
        &["trust", "--forget"],
    ] {
        fs::create_dir(&area).unwrap();
        fs::set_permissions(&area, fs::Permissions::from_mode(0o700)).unwrap();
        sandbox
            .jp(words)
            .warns("removed what an interrupted apply had prepared");
        assert!(!area.exists(), "{words:?}");
    }
}

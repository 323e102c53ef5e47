//! What `jp bash` runs and what it is called: files, standard input, and options that name paths.

use std::{fs, os::unix::fs::PermissionsExt};

use crate::kit::Sandbox;

#[test]
fn a_script_on_standard_input_is_run_as_bash_s() {
    let sandbox = Sandbox::new("");
    for words in [&["bash"][..], &["bash", "-"]] {
        let ran = sandbox
            .fed(words, b"echo $0 $-\nset -u\necho $nothing\necho no\n")
            .exits(1);
        assert_eq!(ran.stdout, "bash hBs\n", "{words:?}");
        assert_eq!(ran.stderr, "bash: line 3: nothing: unbound variable\n");
    }
}

#[test]
fn a_script_on_standard_input_reads_the_lines_behind_it() {
    let sandbox = Sandbox::new("");
    let script =
        b"read x\nthe line\necho \"[$x]\"; read y; echo \"[$y]\"\nanother\necho end; cat\nrest 1\nrest 2\n";
    let ran = sandbox.fed(&["bash"], script).exits(0);
    assert_eq!(ran.stdout, "[the line]\n[another]\nend\nrest 1\nrest 2\n");
    let ran = sandbox
        .fed(&["bash", "-", "a", "b c"], b"echo $# $2")
        .exits(0);
    assert_eq!(ran.stdout, "2 b c\n");
}

#[test]
fn commands_of_several_lines_come_from_standard_input() {
    let sandbox = Sandbox::new("");
    let script = b"f() {\n  cat <<EOF\n$1\n\tEOF\nEOF\n}\nif true\nthen f x; fi\ncat <<-'A' <<B\n\tone\n\tA\ntwo\nB\necho a \\\nb\n";
    let ran = sandbox.fed(&["bash"], script).exits(0);
    assert_eq!(ran.stdout, "x\n\tEOF\ntwo\na b\n");
    let ran = sandbox.fed(&["bash"], b"cat <<EOF\nunfinished").exits(0);
    assert_eq!(ran.stdout, "unfinished\n");
}

#[test]
fn a_long_here_document_on_standard_input_is_read_once() {
    let sandbox = Sandbox::new("");
    let lines = "a line of some length that a file is made of\n".repeat(20_000);
    let script = format!("cat > /tmp/f <<'EOF'\n{lines}EOF\nwc -l < /tmp/f\n");
    let ran = sandbox.fed(&["bash"], script.as_bytes()).exits(0);
    assert_eq!(ran.stdout, "20000\n");
}

#[test]
fn a_file_of_a_mount_is_called_by_its_virtual_path() {
    let sandbox = Sandbox::new("");
    sandbox.write(
        "workspace/bin/s.sh",
        "echo $0 $1; cat \"$(dirname \"$0\")/lib\"\n",
    );
    sandbox.write("workspace/bin/lib", "beside it\n");
    let ran = sandbox
        .jp(&["bash", "--mount", ".:/src", "bin/s.sh", "arg"])
        .exits(0);
    assert_eq!(ran.stdout, "/src/bin/s.sh arg\nbeside it\n");
    let ran = sandbox
        .jp(&[
            "bash",
            "--mount",
            ".:/src",
            "--mount",
            "bin:/bin2",
            "bin/s.sh",
        ])
        .exits(0);
    assert_eq!(ran.stdout, "/bin2/s.sh\nbeside it\n");
}

#[test]
fn a_file_of_no_mount_can_read_itself() {
    let sandbox = Sandbox::new("");
    sandbox.write("workspace/s.sh", "#| usage\necho $0\ngrep '^#|' \"$0\"\n");
    let ran = sandbox.jp(&["bash", "./s.sh"]).exits(0);
    assert_eq!(ran.stdout, "/run/jp/s.sh\n#| usage\n");
    assert!(!ran.stdout.contains(sandbox.path("").to_str().unwrap()));
}

#[test]
fn a_file_that_only_the_script_sees_is_run() {
    let sandbox = Sandbox::new("");
    sandbox.write("workspace/s.sh", "echo $0 $1\n");
    let ran = sandbox
        .jp(&["bash", "--mount", ".:/workspace", "/workspace/s.sh", "x"])
        .exits(0);
    assert_eq!(ran.stdout, "/workspace/s.sh x\n");
    let words = [
        "bash",
        "--mount",
        ".:/workspace",
        "--cwd",
        "/workspace/.jp",
        "../s.sh",
    ];
    assert_eq!(sandbox.jp(&words).exits(0).stdout, "../s.sh\n");
}

#[test]
fn a_file_that_cannot_be_run_is_reported_in_the_words_of_bash() {
    let sandbox = Sandbox::new("");
    let ran = sandbox.jp(&["bash", "nofile.sh"]).exits(127);
    assert_eq!(ran.stderr, "bash: nofile.sh: No such file or directory\n");
    let ran = sandbox.jp(&["bash", ".jp"]).exits(126);
    assert_eq!(ran.stderr, ".jp: .jp: Is a directory\n");
    let ran = sandbox.jp(&["bash", "notes.txt/x"]).exits(126);
    assert_eq!(ran.stderr, "bash: notes.txt/x: Not a directory\n");
}

#[test]
fn every_path_option_is_checked_before_anything_runs() {
    let sandbox = Sandbox::new("");
    let echo = ["-c", "echo ran"];
    for (options, message) in [
        (
            &["--mount", "nothere:/x"][..],
            "cannot mount nothere: No such file or directory",
        ),
        (
            &["--mount", "notes.txt:/x"],
            "cannot mount notes.txt: Not a directory",
        ),
        (
            &["--cwd", "/nope"],
            "cannot start in /nope: No such file or directory",
        ),
        (
            &["--mount", ".:/src", "--cwd", "/src/notes.txt"],
            "cannot start in /src/notes.txt: Not a directory",
        ),
        (&["--cwd", "src"], "invalid value `src` for --cwd"),
        (
            &["--mount", ".:/dev/null/x"],
            "cannot mount at /dev/null/x: Not a directory",
        ),
    ] {
        let words = [&["bash"], options, &echo].concat();
        let ran = sandbox.jp(&words).exits(2).warns(message);
        assert_eq!(ran.stdout, "", "{words:?}");
    }
    let words = [
        &["bash", "--mount", ".:/src", "--cwd", "/src/.jp"][..],
        &["-c", "pwd"],
    ]
    .concat();
    assert_eq!(sandbox.jp(&words).exits(0).stdout, "/src/.jp\n");
}

#[test]
fn permissions_of_a_mount_are_reported_as_permissions() {
    let sandbox = Sandbox::new("");
    sandbox.write("workspace/closed", "x\n");
    sandbox.write("workspace/shut/f", "x\n");
    for (path, mode) in [("workspace/closed", 0o000), ("workspace/shut", 0o600)] {
        fs::set_permissions(sandbox.path(path), fs::Permissions::from_mode(mode)).unwrap();
    }
    let script = "cat /src/closed; cat /src/shut/f; cat < /src/closed; cd /src/shut; /src/closed; \
                  test -r /src/closed; echo $?";
    let ran = sandbox
        .jp(&["bash", "--mount", ".:/src", "-c", script])
        .exits(0);
    assert_eq!(ran.stdout, "1\n");
    assert_eq!(
        ran.stderr.matches("Permission denied").count(),
        5,
        "{ran:#?}"
    );
    assert!(!ran.stderr.contains("No such file"), "{ran:#?}");
    fs::set_permissions(
        sandbox.path("workspace/shut"),
        fs::Permissions::from_mode(0o700),
    )
    .unwrap();
}

#[test]
fn a_script_finds_the_variables_of_a_login() {
    let sandbox = Sandbox::new("");
    let script = "env | cut -d= -f1 | sort | tr '\\n' ' '; which ls; bash -c 'echo $PATH'";
    let ran = sandbox.jp(&["bash", "-c", script]).exits(0);
    assert_eq!(
        ran.stdout,
        "HOME LANG LOGNAME PATH PWD SHELL SHLVL TERM USER /usr/bin/ls\n\
         /usr/local/bin:/usr/bin:/bin\n"
    );
}

#[test]
fn a_missing_command_is_told_with_what_to_use_instead() {
    let sandbox = Sandbox::new("");
    let said = |script: &str| sandbox.jp(&["bash", "-c", script]).exits(127).stderr;
    assert_eq!(
        said("git status"),
        "bash: line 1: git: command not found\n\
         jp: this is a virtual shell without `git`: there are no repositories here; \
         compare files with `diff -u`, search them with `grep -rn`\n"
    );
    assert_eq!(
        said("gerp x"),
        "bash: line 1: gerp: command not found\n\
         jp: this is a virtual shell without `gerp`: did you mean `grep`?\n"
    );
    assert_eq!(
        said("zzzz; zzzz"),
        "bash: line 1: zzzz: command not found\n\
         jp: this is a virtual shell without `zzzz`: `compgen -c` lists what there is\n\
         bash: line 1: zzzz: command not found\n"
    );
    assert_eq!(
        said("git 2> /dev/null; $'a\\nb' 2> /dev/null; exit 127"),
        ""
    );
}

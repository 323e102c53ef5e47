//! `jp bash` and its siblings on the streams of the host: readers that go, disks that are full, terminals.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read},
    process::{Command, Stdio},
};

use crate::{
    kit::{Ran, Sandbox},
    terminal::Terminal,
};

/// Runs `jp` and goes away after the first line of its output.
fn first_line_of(mut command: Command) -> (String, Ran) {
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    let mut reader = BufReader::with_capacity(16, child.stdout.take().unwrap());
    reader.read_line(&mut line).unwrap();
    drop(reader);
    (line, child.wait_with_output().unwrap().into())
}

fn to_full(mut command: Command) -> Ran {
    let full = File::options().write(true).open("/dev/full").unwrap();
    command.stdout(full).output().unwrap().into()
}

#[test]
fn a_reader_that_has_gone_ends_the_script_quietly() {
    let sandbox = Sandbox::new("");
    for script in [
        "seq 3000000",
        "yes",
        "while :; do echo x; done",
        "yes | cat",
        "cat /dev/zero | tr '\\0' '\\n'",
    ] {
        let (_, ran) = first_line_of(sandbox.command(&["bash", "-c", script]));
        let ran = ran.exits(141);
        assert_eq!(ran.stderr, "", "{script}");
    }
}

#[test]
fn a_script_goes_on_after_a_program_that_sigpipe_ended() {
    let sandbox = Sandbox::new("");
    let script = "seq 3000000; echo status $? >&2; trap '' PIPE; echo x; echo status $? >&2";
    let (line, ran) = first_line_of(sandbox.command(&["bash", "-c", script]));
    let ran = ran.exits(0);
    assert_eq!(line, "1\n");
    assert_eq!(
        ran.stderr,
        "status 141\nbash: line 1: echo: write error: Broken pipe\nstatus 1\n"
    );
}

#[test]
fn an_exit_trap_runs_when_the_reader_has_gone() {
    let sandbox = Sandbox::new("");
    let script = "trap 'echo bye >&2' EXIT; while :; do echo x; done";
    let (_, ran) = first_line_of(sandbox.command(&["bash", "-c", script]));
    assert_eq!(ran.exits(141).stderr, "bye\n");
}

#[test]
fn a_full_disk_is_a_write_error_as_in_bash() {
    let sandbox = Sandbox::new("");
    let ran = to_full(sandbox.command(&["bash", "-c", "echo hi"])).exits(1);
    assert_eq!(
        ran.stderr,
        "bash: line 1: echo: write error: No space left on device\n"
    );
    let ran = to_full(sandbox.command(&["bash", "-c", "seq 3; echo $? >&2"])).exits(0);
    assert!(
        ran.stderr.contains("No space left on device") && ran.stderr.ends_with("1\n"),
        "{ran:#?}"
    );
}

#[test]
fn output_reaches_the_host_while_the_script_runs() {
    let sandbox = Sandbox::new("");
    let mut command = sandbox.command(&["bash", "-c", "echo first; read x; echo got $x"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    assert_eq!(line, "first\n");
    // Only an answer to what was read lets the script go on.
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"it\n").unwrap();
    let mut rest = String::new();
    reader.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "got it\n");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn the_order_of_both_streams_is_kept() {
    let sandbox = Sandbox::new("");
    let script = "for i in 1 2 3; do echo o$i; echo e$i >&2; done";
    let path = sandbox.path("both");
    let file = File::create(&path).unwrap();
    let mut command = sandbox.command(&["bash", "-c", script]);
    command
        .stdout(file.try_clone().unwrap())
        .stderr(file)
        .status()
        .unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    assert_eq!(text, "o1\ne1\no2\ne2\no3\ne3\n");
}

#[test]
fn the_output_limit_holds_for_streams_too() {
    let sandbox = Sandbox::new("");
    let words = ["bash", "--limit", "output=10", "-c", "seq 100"];
    let ran = sandbox
        .jp(&words)
        .exits(134)
        .warns("limit reached: output (10)");
    assert_eq!(ran.stdout, "1\n2\n3\n4\n5\n");
}

#[test]
fn commands_of_jp_are_quiet_when_their_reader_has_gone() {
    let sandbox = Sandbox::with_tools();
    for words in [
        &["completions", "bash"][..],
        &["--help"],
        &["tool", "list"],
        &["tool", "list", "--json"],
        &["tool", "run", "--yes", "bash", "commands=seq 100000"],
        &[
            "tool",
            "run",
            "--yes",
            "--json",
            "bash",
            "commands=seq 100000",
        ],
        &["bash", "--json", "-c", "seq 100000"],
        &["audit", "show"],
    ] {
        let (_, ran) = first_line_of(sandbox.command(words));
        assert!(matches!(ran.code, Some(0 | 141)), "{words:?}: {ran:#?}");
        assert!(!ran.stderr.contains("roken pipe"), "{words:?}: {ran:#?}");
    }
}

#[test]
fn commands_of_jp_report_a_full_disk() {
    let sandbox = Sandbox::with_tools();
    for words in [
        &["completions", "bash"][..],
        &["--help"],
        &["tool", "list"],
        &["tool", "list", "--json"],
        &["tool", "run", "--yes", "bash", "commands=echo hi"],
        &["tool", "run", "--yes", "--json", "bash", "commands=echo hi"],
        &["bash", "--json", "-c", "echo hi"],
        &["audit", "show"],
    ] {
        let ran = to_full(sandbox.command(words));
        assert_ne!(ran.code, Some(0), "{words:?}: {ran:#?}");
        ran.warns("No space left on device");
    }
}

#[test]
fn read_prompts_on_a_terminal_and_only_there() {
    let sandbox = Sandbox::new("");
    let script = "test -t 0 && echo tty; read -p 'name? ' x; echo hello $x";
    let mut terminal = Terminal::start(&sandbox, &["bash", "-c", script]);
    terminal.sees("tty").sees("name? ").types("Ada\n");
    assert!(terminal.exits(0).contains("hello Ada"));
    let ran = sandbox.fed(&["bash", "-c", script], b"Bob\n").exits(0);
    assert_eq!(
        (ran.stdout.as_str(), ran.stderr.as_str()),
        ("hello Bob\n", "")
    );
}

//! What the audit log has of a script of `jp bash`: one record of each, whatever became of it.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    os::unix::fs::symlink,
    process::Child,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::{calls::catches_interrupts, kit::Sandbox};

/// The records of the tool `bash`, oldest first.
fn records(sandbox: &Sandbox) -> Vec<Value> {
    let shown = sandbox
        .jp(&["audit", "show", "--json", "--tool", "bash"])
        .exits(0)
        .json();
    shown["records"].as_array().unwrap().clone()
}

/// Runs a script and returns its one record.
fn recorded(sandbox: &Sandbox, words: &[&str], input: &[u8]) -> Value {
    let before = records(sandbox).len();
    sandbox.fed(&[&["bash"], words].concat(), input);
    let mut records = records(sandbox);
    assert_eq!(records.len(), before + 1, "{words:?}: {records:#?}");
    records.pop().unwrap()
}

#[test]
fn every_end_of_a_script_leaves_one_record() {
    let sandbox = Sandbox::new("");
    let (none, over) = ("fs=none net=none", "fs=/src:overlay net=none");
    let cases: &[(&[&str], &str, &str, &str)] = &[
        (&["-c", "echo hi"], none, "success", "exit status 0"),
        (&["-c", "exit 3"], none, "error", "exit status 3"),
        (&["-c", "if"], none, "error", "exit status 2"),
        (&["missing.sh"], none, "error", "exit status 127"),
        (
            &["--json", "--limit", "loops=9", "-c", "while :; do :; done"],
            none,
            "limit",
            "exit status 134: limit reached: loops",
        ),
        (
            &["--mount", ".:/src:overlay", "-c", "true"],
            over,
            "success",
            "exit status 0",
        ),
    ];
    for (words, grant, outcome, detail) in cases {
        let record = recorded(&sandbox, words, b"");
        assert_eq!(
            (&record["outcome"], &record["detail"], &record["decision"]),
            (&json!(outcome), &json!(detail), &json!("allowed")),
            "{words:?}"
        );
        let found = record["grant"].as_str().unwrap();
        let (found, places) = found.split_once(" mounted=").unwrap_or((found, ""));
        assert_eq!(found, *grant, "{words:?}");
        assert_eq!(!places.is_empty(), words[0] == "--mount", "{words:?}");
        assert!(record["duration_us"].as_u64().unwrap() > 0, "{words:?}");
        assert!(!record["principal"].as_str().unwrap().is_empty());
    }
    sandbox
        .jp(&["audit", "show", "--tool", "bash"])
        .exits(0)
        .says("exit status 134: limit reached: loops");
    sandbox.jp(&["audit", "verify"]).exits(0);
}

#[test]
fn a_record_says_what_the_script_might_do_and_tells_no_secret() {
    let sandbox = Sandbox::new("");
    let words = [
        "--env",
        "TOKEN=hunter2",
        "--net",
        "example.com",
        "--mount",
        ".:/a b:rw",
        "--mount",
        ".:/over:overlay",
        "--apply",
        "-c",
        "echo sesame >&2; echo four",
    ];
    let record = recorded(&sandbox, &words, b"");
    let grant = record["grant"].as_str().unwrap();
    let begins = "fs=\"/a b\":read-write,/over:overlay net=example.com env=TOKEN apply mounted=";
    assert!(grant.starts_with(begins), "{grant}");
    assert_eq!(
        (&record["stdout_bytes"], &record["stderr_bytes"]),
        (&json!(5), &json!(7))
    );
    let text = record.to_string();
    let here = sandbox.path("workspace");
    for secret in ["hunter2", "sesame", here.to_str().unwrap()] {
        assert!(!text.contains(secret), "{text}");
    }
}

#[test]
fn equal_scripts_have_equal_hashes_and_others_have_others() {
    let sandbox = Sandbox::new("");
    let script = "echo $((6 * 7))";
    let hash = |record: Value| record["arguments_hash"].as_str().unwrap().to_owned();
    let by_hand = hash(recorded(&sandbox, &["-c", script], b""));
    sandbox
        .call(&["bash", &format!("commands={script}")])
        .exits(0);
    assert_eq!(by_hand, hash(records(&sandbox).pop().unwrap()));
    assert_ne!(
        by_hand,
        hash(recorded(&sandbox, &["-c", script, "name"], b""))
    );
    // What comes from standard input, and what only a mount shows.
    let input = |text: &[u8]| hash(recorded(&sandbox, &["-"], text));
    let (one, other) = (input(b"echo one\n"), input(b"echo other\n"));
    assert_ne!(one, other);
    assert_eq!(one, input(b"echo one\n"));
    let mounted = |text: &str| {
        sandbox.write("workspace/deep/s.sh", text);
        hash(recorded(
            &sandbox,
            &["--mount", "deep:/deep", "/deep/s.sh"],
            b"",
        ))
    };
    assert_ne!(mounted("echo one"), mounted("echo other"));
}

/// Waits until the script has printed a line.
fn first_line(child: &mut Child) -> String {
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    // The rest, so that nothing ends with a broken pipe.
    std::thread::spawn(move || out.read_to_end(&mut Vec::new()));
    line
}

#[test]
fn a_script_that_a_person_stops_leaves_its_record() {
    let sandbox = Sandbox::new("");
    let words = ["bash", "-c", "echo on; while :; do :; done"];
    let mut child = sandbox.command(&words).spawn().unwrap();
    assert_eq!(first_line(&mut child), "on\n");
    let pid = Pid::from_child(&child);
    catches_interrupts(pid);
    kill_process(pid, Signal::INT).unwrap();
    child.wait().unwrap();
    let record = records(&sandbox).pop().unwrap();
    assert_eq!(record["outcome"], "cancelled");
    assert_eq!(record["stdout_bytes"], 3);
}

#[test]
fn a_script_that_hangs_in_a_read_leaves_its_record_when_its_person_insists() {
    let sandbox = Sandbox::new("");
    let mut command = sandbox.command(&["bash", "-c", "echo on; read line"]);
    let mut child = command.stdin(std::process::Stdio::piped()).spawn().unwrap();
    assert_eq!(first_line(&mut child), "on\n");
    let pid = Pid::from_child(&child);
    catches_interrupts(pid);
    // Nothing ends a read that waits, so the first is only noted; equal signals at once are one.
    kill_process(pid, Signal::INT).unwrap();
    while child.try_wait().unwrap().is_none() {
        kill_process(pid, Signal::TERM).unwrap();
        std::thread::yield_now();
    }
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let record = records(&sandbox).pop().unwrap();
    assert_eq!(
        (&record["outcome"], &record["detail"]),
        (&json!("cancelled"), &json!("left while it ran"))
    );
}

#[test]
fn without_a_log_no_script_runs() {
    let sandbox = Sandbox::new("");
    let dir = sandbox.path("home/.local/share/jp");
    fs::create_dir_all(&dir).unwrap();
    symlink("/dev/null", dir.join("audit")).unwrap();
    let words = ["bash", "--mount", ".:/src:rw", "-c", "echo x > /src/made"];
    let ran = sandbox.jp(&words).exits(125);
    assert!(!ran.stderr.is_empty());
    assert!(!sandbox.path("workspace/made").exists());
}

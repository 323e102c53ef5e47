//! Calls of tools: what they may do, how they end, and which exit code says so.

use crate::kit::{Ran, Sandbox};

#[test]
fn learn_lists_subjects_and_loads_one_or_all_that_match() {
    let sandbox = Sandbox::with_tools();
    let run = |words: &[&str]| sandbox.jp(&[&["tool", "run", "learn"], words].concat());
    run(&["topic=skills"])
        .exits(0)
        .says("- ast-grep")
        .says("- review/naming");
    run(&["topic=Skills", "subjects=ast-grep"])
        .exits(0)
        .says("# ast-grep");
    run(&[r#"{"topic": "skills", "subjects": ["review/*"]}"#])
        .exits(0)
        .says("# Naming")
        .says("# Errors");
    run(&["topic=nonsense"])
        .exits(1)
        .warns("Available topics:\n  - skills (Skills)");
    // Also from a directory below, and from elsewhere with -C.
    std::fs::create_dir_all(sandbox.path("workspace/a/b")).unwrap();
    let below = sandbox.path("workspace/a/b");
    let below = below.to_str().unwrap();
    sandbox
        .jp(&["-C", below, "tool", "run", "learn", "topic=skills"])
        .exits(0)
        .says("- ast-grep");
}

#[test]
fn a_wasm_tool_reads_its_workspace_and_nothing_else() {
    let sandbox = Sandbox::with_tools();
    let ran = sandbox.call(&["read", "path=notes.txt"]).exits(0);
    assert_eq!(ran.stdout, "first note\nsecond note\n");
    sandbox.call(&["read", "path=../secret.txt"]).exits(1);
    sandbox
        .call(&["outside"])
        .exits(1)
        .warns("cannot read /etc/passwd");
}

#[test]
fn a_cache_that_cannot_be_used_costs_time_and_no_tool() {
    let sandbox = Sandbox::with_tools();
    sandbox.write("file", "");
    let words = ["tool", "run", "learn", "topic=skills"];
    let mut command = sandbox.command(&words);
    let ran = command.env("JP_CACHE_DIR", sandbox.path("file")).output();
    Ran::from(ran.unwrap())
        .exits(0)
        .says("- ast-grep")
        .warns("cannot keep compiled code in");
}

#[test]
fn exit_codes_tell_the_worlds_apart() {
    let sandbox = Sandbox::with_tools();
    let cases: &[(&[&str], i32, &str)] = &[
        (&["read", "path=none.txt"], 1, "Failed to read file"),
        (&["read"], 2, "error: missing argument `path`"),
        (&["read", "nonsense"], 2, "write key=value"),
        (&["off"], 2, "Disabled in configuration"),
        (&["broken"], 2, "Command missing"),
        (&["ask"], 3, "--answer name=VALUE"),
        (&["spin"], 124, "raise it with `limits.time`"),
        (&["count"], 126, "run `jp trust` in it"),
        (&["nope"], 127, "`jp tool list` shows the tools"),
        (&["trap"], 134, "the probe gave up on purpose"),
    ];
    for (words, code, text) in cases {
        sandbox.call(words).exits(*code).warns(text);
    }
    sandbox.jp(&["nonsense"]).exits(2);
    // Without --yes and without a terminal there is nobody to approve.
    sandbox
        .jp(&["tool", "run", "read", "path=notes.txt"])
        .exits(126)
        .warns("jp tool run --yes read")
        .warns("you have not trusted this workspace");
}

#[test]
fn a_question_is_printed_and_answered_on_the_command_line() {
    let sandbox = Sandbox::with_tools();
    let asked = sandbox.call(&["ask"]).exits(3);
    assert_eq!(asked.json()["id"], "name");
    sandbox
        .call(&["ask", "--answer", "name=true"])
        .exits(0)
        .says("hello true");
    let confirmed = |answer: &str| {
        let answer = format!("confirm={answer}");
        sandbox.call(&["read", "path=notes.txt", "ask:=true", "--answer", &answer])
    };
    confirmed("yes").exits(0).says("second note");
    confirmed("n").exits(0).says("The file was not read");
    confirmed("maybe").exits(2).warns("expected yes or no");
    sandbox
        .call(&["read", "path=notes.txt", "--answer", "x=1"])
        .exits(0)
        .warns("did not ask `x`");
}

#[test]
fn arguments_come_from_standard_input_within_bounds() {
    let sandbox = Sandbox::with_tools();
    let run = |input: &[u8]| sandbox.fed(&["tool", "run", "--yes", "read", "-"], input);
    run(br#"{"path": "notes.txt"}"#).exits(0).says("first note");
    run(b"").exits(2).warns("invalid JSON");
    let deep = "[".repeat(1_000_000);
    run(deep.as_bytes())
        .exits(2)
        .warns("nested deeper than 128");
    let long = vec![b' '; 65 * 1024 * 1024];
    run(&long).exits(2).warns("larger than 64 MiB");
}

/// Waits until a process handles SIGINT itself: before that it would end without a word.
pub(crate) fn catches_interrupts(process: rustix::process::Pid) {
    let path = format!("/proc/{}/status", process.as_raw_nonzero());
    let caught = || {
        let status = std::fs::read_to_string(&path).unwrap();
        assert!(!status.contains("State:\tZ"), "it ended by itself");
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let mask = u64::from_str_radix(mask.unwrap().trim(), 16).unwrap();
        mask & 1 << (rustix::process::Signal::INT.as_raw() - 1) != 0
    };
    while !caught() {
        std::thread::yield_now();
    }
}

#[test]
fn a_signal_cancels_a_spinning_call_and_leaves_a_record() {
    let sandbox = Sandbox::with_tools();
    let words = ["--cfg", "conversation.tools.spin.limits.time=60000"];
    let words = [&words[..], &["tool", "run", "--yes", "spin"]].concat();
    // The first run compiles, so that the second one is soon where it can be stopped.
    sandbox.call(&["spin"]).exits(124);
    let child = sandbox.command(&words).spawn().unwrap();
    let pid = rustix::process::Pid::from_child(&child);
    catches_interrupts(pid);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let ran: crate::kit::Ran = child.wait_with_output().unwrap().into();
    ran.exits(130).warns("cancelled");
    sandbox.jp(&["audit", "show"]).exits(0).says("cancelled");
}

#[test]
fn every_call_is_in_an_audit_log_that_verifies() {
    let sandbox = Sandbox::with_tools();
    sandbox
        .jp(&["tool", "run", "learn", "topic=skills"])
        .exits(0);
    sandbox.call(&["trap"]).exits(134);
    sandbox.call(&["count"]).exits(126);
    let shown = sandbox.jp(&["audit", "show", "--json"]).exits(0).json();
    let outcomes: Vec<&str> = shown["records"]
        .as_array()
        .unwrap()
        .iter()
        .map(|record| record["outcome"].as_str().unwrap())
        .collect();
    assert_eq!(outcomes, ["success", "trap", "denied"]);
    let shown = sandbox.jp(&["audit", "show", "--tool", "trap"]).exits(0);
    assert_eq!(shown.stdout.lines().count(), 2, "{shown:?}");
    sandbox
        .jp(&["audit", "verify"])
        .exits(0)
        .says("intact: 3 calls");
    let log = "home/.local/share/jp/audit/audit-00000001.jsonl";
    let text = std::fs::read_to_string(sandbox.path(log)).unwrap();
    sandbox.write(log, &text.replace("\"trap\"", "\"success\""));
    sandbox
        .jp(&["audit", "verify"])
        .exits(1)
        .says("NOT intact")
        .warns("changed or is a forgery");
}

#[test]
fn a_module_that_is_not_a_tool_is_called_a_module() {
    let sandbox = Sandbox::new("conversation.tools.t = { source = 'local', wasm = 't.wasm' }");
    // Imports `foo` of `env`.
    let module = b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x02\x0b\x01\x03env\x03foo\0\0";
    std::fs::write(sandbox.path("workspace/t.wasm"), module).unwrap();
    sandbox
        .call(&["t"])
        .exits(2)
        .warns("Failed to instantiate Wasm module: t.wasm: WASM module imports `env/foo`");
}

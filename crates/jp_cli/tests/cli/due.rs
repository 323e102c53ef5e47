//! What `jp due` writes, and what it notes down as written.

use std::process::Command;

use crate::{
    kit::{Ran, Sandbox},
    terminal::Terminal,
};

/// Makes a sandbox with one reminder whose time has come.
fn with_reminder(title: &str) -> Sandbox {
    let sandbox = Sandbox::new("");
    let title = format!("title={title}");
    let create = ["tool", "run", "reminders", "action=create", &title];
    let create = [&create[..], &["delay_seconds=0"]].concat();
    sandbox.jp(&create).exits(0);
    sandbox
}

/// Runs `jp due` from a shell that redirects its standard output.
fn redirected(sandbox: &Sandbox, redirection: &str) -> Ran {
    let jp = sandbox.command(&[]);
    let mut shell = Command::new("/bin/sh");
    shell
        .args(["-c", &format!("exec \"$0\" due {redirection}")])
        .arg(jp.get_program())
        .current_dir(sandbox.path("workspace"))
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", sandbox.path("home"));
    shell.output().unwrap().into()
}

#[test]
fn with_standard_output_closed_nothing_is_noted_down() {
    let sandbox = with_reminder("stretch");
    for redirection in [">&-", "<&- >&-", "--watch >&-"] {
        redirected(&sandbox, redirection)
            .exits(125)
            .warns("standard output is closed");
    }
    let event = sandbox.jp(&["due"]).exits(0).json();
    assert_eq!(event["redelivered"], false, "{event}");
}

#[test]
fn events_may_be_thrown_away_in_a_shell() {
    let sandbox = with_reminder("stretch");
    redirected(&sandbox, "> /dev/null").exits(0);
    assert_eq!(sandbox.jp(&["due"]).exits(0).stdout, "");
}

#[test]
fn an_event_moves_no_cursor_and_stays_json() {
    let title = "\u{9b}31m\u{202e}\u{85} z";
    let sandbox = with_reminder(title);
    let seen = Terminal::start(&sandbox, &["due"]).exits(0);
    assert!(seen.trim_end().is_ascii(), "{seen:?}");
    let event: serde_json::Value = serde_json::from_str(seen.trim_end()).unwrap();
    assert_eq!(event["title"], title);
}

//! What a person at a terminal sees and types: `jp` runs on a pseudo-terminal.

use std::{
    fs::File,
    io::{Read, Write},
    os::unix::ffi::OsStrExt,
    path::Path,
    process::Child,
    sync::mpsc,
    time::Duration,
};

use rustix::pty;

use crate::kit::Sandbox;

/// A `jp` whose streams are all one terminal.
pub(crate) struct Terminal {
    child: Child,
    keys: File,
    seen: String,
    more: mpsc::Receiver<Vec<u8>>,
}

impl Terminal {
    pub(crate) fn start(sandbox: &Sandbox, words: &[&str]) -> Self {
        let flags = pty::OpenptFlags::RDWR | pty::OpenptFlags::NOCTTY;
        let master = pty::openpt(flags).unwrap();
        pty::grantpt(&master).unwrap();
        pty::unlockpt(&master).unwrap();
        let name = pty::ptsname(&master, Vec::new()).unwrap();
        let path = Path::new(std::ffi::OsStr::from_bytes(name.as_bytes()));
        let open = || {
            let mut options = File::options();
            options.read(true).write(true).open(path).unwrap()
        };
        let mut command = sandbox.command(words);
        command.env("TERM", "xterm");
        let child = command
            .stdin(open())
            .stdout(open())
            .stderr(open())
            .spawn()
            .unwrap();
        let keys = File::from(master);
        let mut screen = keys.try_clone().unwrap();
        let (send, more) = mpsc::channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            // The terminal is gone when no process has it open.
            while let Ok(count @ 1..) = screen.read(&mut buffer) {
                if send.send(buffer[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self {
            child,
            keys,
            seen: String::new(),
            more,
        }
    }

    /// Waits until a text is on the screen.
    #[track_caller]
    pub(crate) fn sees(&mut self, text: &str) -> &mut Self {
        while !self.seen.contains(text) {
            match self.more.recv_timeout(Duration::from_secs(300)) {
                Ok(bytes) => self.seen.push_str(&String::from_utf8_lossy(&bytes)),
                Err(error) => panic!("{error}: no {text:?} on the screen: {}", self.seen),
            }
        }
        self
    }

    /// Forgets what was seen, so that the next thing to see is one that comes from now on.
    pub(crate) fn forgets(&mut self) -> &mut Self {
        self.seen.clear();
        self
    }

    pub(crate) fn types(&mut self, text: &str) -> &mut Self {
        self.keys.write_all(text.as_bytes()).unwrap();
        self
    }

    /// Does what Ctrl-C would: this terminal is nobody's controlling one.
    pub(crate) fn interrupt(&self) {
        let id = i32::try_from(self.child.id()).unwrap();
        let process = rustix::process::Pid::from_raw(id).unwrap();
        rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
    }

    #[track_caller]
    pub(crate) fn exits(&mut self, code: i32) -> String {
        let status = self.child.wait().unwrap();
        while let Ok(bytes) = self.more.recv_timeout(Duration::from_millis(200)) {
            self.seen.push_str(&String::from_utf8_lossy(&bytes));
        }
        assert_eq!(status.code(), Some(code), "{}", self.seen);
        std::mem::take(&mut self.seen)
    }
}

#[test]
fn a_person_approves_or_refuses_a_call() {
    let sandbox = Sandbox::with_tools();
    let words = ["tool", "run", "read", "path=notes.txt"];
    let mut terminal = Terminal::start(&sandbox, &words);
    terminal
        .sees("wants to run")
        .sees("read and change this workspace");
    terminal.sees("Run it? [y/N]").types("y\n");
    assert!(terminal.exits(0).contains("second note"));
    let mut terminal = Terminal::start(&sandbox, &words);
    terminal.sees("Run it? [y/N]").types("n\n");
    let seen = terminal.exits(126);
    assert!(
        seen.contains("skipped by user") && !seen.contains("second note"),
        "{seen}"
    );
}

#[test]
fn a_person_can_see_all_of_what_is_approved() {
    let sandbox = Sandbox::with_tools();
    let config = "workspace/.jp/config.toml";
    let text = std::fs::read_to_string(sandbox.path(config)).unwrap();
    let many = "parameters.many = { type = \"array\" }\nparameters.ask =";
    sandbox.write(config, &text.replace("parameters.ask =", many));
    let list: Vec<String> = (0..60).map(|n| format!("\"item {n}\"")).collect();
    let list = format!(
        "many:=[\"{}END\u{202e}\",{}]",
        "a".repeat(300),
        list.join(",")
    );
    let words = ["tool", "run", "read", &list, "path=LAST.txt"];
    let mut terminal = Terminal::start(&sandbox, &words);
    terminal.sees("Run it? [y/N/v to view everything]");
    let seen = std::mem::take(&mut terminal.seen);
    assert!(!seen.contains("END") && !seen.contains("LAST"), "{seen}");
    assert!(seen.contains("… (118 more bytes)"), "{seen}");
    assert!(seen.contains("… and 26 more lines (346 bytes)"), "{seen}");
    terminal
        .types("v\n")
        .sees("Run it? [y/N/v to view everything]");
    let seen = std::mem::take(&mut terminal.seen);
    for text in [
        "aEND\\u{202e}\",",
        "\"item 0\"",
        "\"item 59\"",
        "\"path\": \"LAST.txt\"",
    ] {
        assert!(seen.contains(text), "no {text:?} in {seen}");
    }
    assert!(!seen.contains(" more "), "{seen}");
    terminal
        .types("x\n")
        .sees("Please type y, n, w, never, e or v.");
    terminal.types("n\n");
    terminal.exits(126);
}

#[test]
fn nothing_in_the_arguments_hides_from_who_approves_them() {
    let sandbox = Sandbox::with_tools();
    let hidden = "path=a\u{3164}b\u{fe0f}c\u{e0080}d\u{e0100}e\u{115f}f\u{180f}.txt";
    let mut terminal = Terminal::start(&sandbox, &["tool", "run", "read", hidden]);
    terminal.sees("Run it? [y/N");
    terminal.types("n\n");
    let seen = terminal.exits(126);
    let shown = "a\\u{3164}b\\u{fe0f}c\\u{e0080}d\\u{e0100}e\\u{115f}f\\u{180f}.txt";
    assert!(seen.contains(shown), "{seen}");
}

#[test]
fn a_person_answers_questions() {
    let sandbox = Sandbox::with_tools();
    let mut terminal = Terminal::start(&sandbox, &["tool", "run", "--yes", "ask"]);
    terminal
        .sees("asks: Who are you?")
        .sees("[nobody] >")
        .types("Ada\n");
    assert!(terminal.exits(0).contains("hello Ada"));
    let words = [
        "tool",
        "run",
        "--yes",
        "read",
        "path=notes.txt",
        "ask:=true",
    ];
    let mut terminal = Terminal::start(&sandbox, &words);
    terminal
        .sees("[y/N]")
        .types("what\n")
        .sees("Please type yes or no")
        .types("y\n");
    assert!(terminal.exits(0).contains("second note"));
}

#[test]
fn a_person_edits_the_arguments_of_a_call() {
    let sandbox = Sandbox::with_tools();
    let cfg = ["--cfg", "conversation.tools.read.run=edit"];
    let words = [&cfg[..], &["tool", "run", "read", "path=none.txt"]].concat();
    let mut terminal = Terminal::start(&sandbox, &words);
    terminal.sees("Run it?").types("e\n").sees("New arguments");
    terminal.types("{\"path\": \"notes.txt\"}\n");
    assert!(terminal.exits(0).contains("second note"));
}

#[test]
fn nothing_a_guest_says_moves_the_cursor() {
    let sandbox = Sandbox::with_tools();
    sandbox.write("workspace/evil.txt", "\u{1b}[2Jgone\u{202e}\u{9b}1m\r\n");
    let words = ["tool", "run", "--yes", "read", "path=evil.txt"];
    let seen = Terminal::start(&sandbox, &words).exits(0);
    assert!(
        seen.contains("\\u{1b}[2Jgone\\u{202e}\\u{9b}1m\\r"),
        "{seen:?}"
    );
    let words = ["tool", "run", "--yes", "--json", "read", "path=evil.txt"];
    let seen = Terminal::start(&sandbox, &words).exits(0);
    assert!(
        seen.contains("\\u202e") && !seen.contains('\u{202e}'),
        "{seen:?}"
    );
}

#[test]
fn a_long_call_shows_what_it_does_and_cleans_up() {
    let sandbox = Sandbox::with_tools();
    let cfg = ["--cfg", "conversation.tools.spin.limits.time=2500"];
    let words = [&cfg[..], &["tool", "run", "--yes", "spin"]].concat();
    let mut terminal = Terminal::start(&sandbox, &words);
    terminal.sees("running spin…");
    let seen = terminal.exits(124);
    let after = seen.rsplit("\r\u{1b}[2K").next().unwrap();
    assert!(
        after.contains("ran out of time") && !after.contains("running"),
        "{seen:?}"
    );
}

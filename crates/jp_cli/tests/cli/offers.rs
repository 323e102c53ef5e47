//! `enable` and `result`: what models are offered, and who sees a result before they do.

use crate::{
    kit::{Ran, Sandbox},
    terminal::Terminal,
};

/// Four tools that do the same, one for each value of `enable`.
const FOUR: &str = r#"
[conversation.tools.'*']
run = "skip"
[conversation.tools.a_on]
source = "builtin.bash"
[conversation.tools.b_off]
source = "builtin.bash"
enable = "off"
[conversation.tools.c_explicit]
source = "builtin.bash"
enable = "explicit"
[conversation.tools.d_always]
source = "builtin.bash"
enable = "always"
"#;

fn offered(sandbox: &Sandbox, words: &[&str]) -> Vec<String> {
    let words = [&["tool", "list", "--json", "--offered"], words].concat();
    let listed = sandbox.jp(&words).exits(0).json();
    let tools = listed["tools"].as_array().unwrap().iter();
    let names = tools.map(|tool| tool["name"].as_str().unwrap().to_owned());
    names
        .filter(|name| FOUR.contains(&format!("tools.{name}]")))
        .collect()
}

#[test]
fn models_are_offered_what_enable_and_the_person_say() {
    let sandbox = Sandbox::new(FOUR);
    for (words, names) in [
        (&[][..], &["a_on", "d_always"][..]),
        (&["-T"], &["d_always"]),
        (&["-t"], &["a_on", "d_always"]),
        (&["-T", "-t", "c_explicit"], &["c_explicit", "d_always"]),
        (&["-t", "c_explicit", "-T"], &["d_always"]),
        (&["-T", "a_on"], &["d_always"]),
        (
            &["--tool", "c_explicit"],
            &["a_on", "c_explicit", "d_always"],
        ),
    ] {
        assert_eq!(offered(&sandbox, words), names, "{words:?}");
    }
    let list = |words: &[&str]| sandbox.jp(&[&["tool", "list"], words].concat());
    list(&["-t", "b_off"])
        .exits(2)
        .warns("cannot enable `b_off`: this tool is configured as locked-off");
    list(&["-T", "d_always"])
        .exits(2)
        .warns("cannot disable `d_always`: this tool is configured as locked-on");
    list(&["-t", "nobody"]).exits(127);
    let all = list(&[]).exits(0);
    let line = all
        .stdout
        .lines()
        .find(|line| line.starts_with("c_explicit"));
    assert!(line.unwrap().contains("explicit "), "{all:?}");
}

#[test]
fn an_explicit_tool_runs_when_its_name_is_typed_and_one_that_is_off_does_not() {
    let sandbox = Sandbox::new(&FOUR.replace("run = \"skip\"", ""));
    let run = |name: &str| sandbox.jp(&["tool", "run", name, "commands=echo hi"]);
    for name in ["a_on", "c_explicit", "d_always"] {
        run(name).exits(0).says("hi");
    }
    run("b_off").exits(2).warns("Disabled in configuration");
}

fn reads(result: &str, more: &str) -> Sandbox {
    let sandbox = Sandbox::with_tools();
    let entry = format!(
        "[conversation.tools.read]\nresult = \"{result}\"\nrun = \"unattended\"\n\
         grant.workspace = \"read\"\n{more}"
    );
    sandbox.write("workspace/.jp.toml", &entry);
    sandbox
}

const WORDS: [&str; 4] = ["tool", "run", "read", "path=notes.txt"];

fn run(sandbox: &Sandbox, more: &[&str]) -> Ran {
    sandbox.jp(&[&WORDS[..], more].concat())
}

#[test]
fn a_result_that_a_person_must_see_is_not_delivered_where_nobody_can_be_asked() {
    for result in ["ask", "edit"] {
        let sandbox = reads(result, "");
        let ran = run(&sandbox, &["--json"]).exits(126);
        assert!(!ran.stdout.contains("second note"), "{ran:?}");
        assert_eq!(ran.json()["error"]["kind"], "denied");
        run(&sandbox, &[])
            .exits(126)
            .warns("its result needs your approval")
            .warns("`jp tool run --yes read …`");
        run(&sandbox, &["--yes"]).exits(0).says("second note");
    }
    run(&reads("unattended", ""), &[])
        .exits(0)
        .says("second note");
    let skipped = run(&reads("skip", ""), &["--json"]).exits(0);
    assert!(!skipped.stdout.contains("second note"), "{skipped:?}");
}

#[test]
fn a_person_delivers_keeps_or_edits_a_result() {
    let sandbox = reads("ask", "");
    let mut terminal = Terminal::start(&sandbox, &WORDS);
    terminal.sees("has a result").sees("second note");
    terminal.sees("Deliver it? [y/N/e to edit]").types("y\n");
    terminal.exits(0);
    let mut terminal = Terminal::start(&sandbox, &WORDS);
    terminal.sees("Deliver it? [y/N/e to edit]").types("n\n");
    let seen = terminal.exits(0);
    assert!(seen.contains("Result delivery skipped by user."), "{seen}");
    let mut terminal = Terminal::start(&sandbox, &WORDS);
    terminal.sees("Deliver it? [y/N/e to edit]").types("e\n");
    terminal.sees("New result, on one line:").types("mine\n");
    assert!(terminal.exits(0).contains("mine"));
}

#[test]
fn with_edit_the_person_edits_before_anything_is_asked() {
    let sandbox = reads("edit", "");
    let mut terminal = Terminal::start(&sandbox, &WORDS);
    terminal.sees("New result, on one line:").types("mine\n");
    let seen = terminal.exits(0);
    assert!(
        seen.contains("mine") && !seen.contains("second note"),
        "{seen}"
    );
}

#[test]
fn inline_results_says_how_much_of_a_result_a_person_is_shown_first() {
    let sandbox = reads("ask", "style.inline_results = 1\n");
    let mut terminal = Terminal::start(&sandbox, &WORDS);
    terminal.sees("first note").sees("and 1 more lines");
    terminal.sees("v to view everything").forgets().types("v\n");
    // What is typed before the question stands there again is not an answer to it.
    terminal.sees("second note").sees("v to view everything");
    terminal.types("n\n");
    terminal.exits(0);
    let sandbox = reads("ask", "style.inline_results = \"off\"\n");
    let mut terminal = Terminal::start(&sandbox, &WORDS);
    terminal.sees("v to view everything").types("n\n");
    assert!(!terminal.exits(0).contains("first note"));
}

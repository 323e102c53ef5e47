//! `jp init`, and what there is where no workspace can be.

use std::fs;

use crate::{
    kit::{Ran, Sandbox},
    terminal::Terminal,
};

const CONFIG: &str = "work/.jp/config.toml";

/// Makes a place without a workspace, which has a home directory.
fn empty() -> Sandbox {
    let sandbox = Sandbox::new("");
    fs::remove_dir_all(sandbox.path("workspace/.jp")).unwrap();
    sandbox
}

fn at_home(sandbox: &Sandbox, words: &[&str]) -> Ran {
    let mut command = sandbox.command(words);
    command
        .current_dir(sandbox.path("home"))
        .output()
        .unwrap()
        .into()
}

#[test]
fn init_writes_a_configuration_that_works_and_leaves_what_is_there() {
    let sandbox = empty();
    let ran = sandbox.jp(&["init", "../work", "--yes"]).exits(0);
    ran.warns("is a workspace now").warns("jp tool list");
    let text = fs::read_to_string(sandbox.path(CONFIG)).unwrap();
    assert!(text.contains("grant.workspace = \"read\""), "{text}");
    sandbox.write("work/a.txt", "from the workspace\n");
    let work = sandbox.path("work").display().to_string();
    let cat = ["-C", &work, "tool", "run", "--yes", "bash"];
    let cat = [&cat[..], &["commands=cat /workspace/a.txt"]].concat();
    sandbox.jp(&cat).exits(0).says("from the workspace");
    sandbox.write(CONFIG, "# mine\n");
    let again = sandbox.jp(&["init", "../work", "--yes"]).exits(0);
    again.warns("is a workspace already");
    assert_eq!(
        fs::read_to_string(sandbox.path(CONFIG)).unwrap(),
        "# mine\n"
    );
}

#[test]
fn every_example_in_what_init_writes_is_a_configuration() {
    let sandbox = empty();
    sandbox.jp(&["init", "../work", "--yes"]).exits(0);
    let text = fs::read_to_string(sandbox.path(CONFIG)).unwrap();
    let is_code = |line: &str| line.starts_with('[') || line.contains(" = ");
    let uncommented: Vec<&str> = text
        .lines()
        .map(|line| {
            line.strip_prefix("# ")
                .filter(|code| is_code(code))
                .unwrap_or(line)
        })
        .collect();
    sandbox.write(CONFIG, &uncommented.join("\n"));
    let work = sandbox.path("work").display().to_string();
    let shown = sandbox.jp(&["-C", &work, "config", "show"]).exits(0);
    for key in ["count", "kb.topic.skills", "\"*\"", "files_*"] {
        assert!(shown.stdout.contains(key), "no {key} in {shown:?}");
    }
}

#[test]
fn a_person_answers_two_questions() {
    let sandbox = empty();
    let mut terminal = Terminal::start(&sandbox, &["init"]);
    terminal.sees("Which directory?").types("../work\n");
    terminal.sees("[R/w/n]").types("maybe\n");
    // The question comes again behind the complaint.
    let again = "Please type r, w or n.\r\nWhat may scripts in `bash` do with its files: read them, \
                 read and write them, or see none? [R/w/n]";
    terminal.sees(again).types("w\n");
    terminal.exits(0);
    let text = fs::read_to_string(sandbox.path(CONFIG)).unwrap();
    assert!(text.contains("grant.workspace = \"read-write\""), "{text}");
}

#[test]
fn what_holds_jps_own_files_becomes_no_workspace() {
    let sandbox = empty();
    fs::create_dir_all(sandbox.path("home/.config/jp")).unwrap();
    at_home(&sandbox, &["init", "--yes"])
        .exits(2)
        .warns("cannot be a workspace")
        .warns("hint: name another directory");
    sandbox
        .jp(&["init", "/", "--yes"])
        .exits(2)
        .warns("cannot be a workspace");
    assert!(!sandbox.path("home/.jp").exists());
}

#[test]
fn no_link_leads_init_elsewhere() {
    let sandbox = empty();
    fs::create_dir_all(sandbox.path("work")).unwrap();
    fs::create_dir_all(sandbox.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink("../elsewhere", sandbox.path("work/.jp")).unwrap();
    sandbox
        .jp(&["init", "../work", "--yes"])
        .exits(2)
        .warns("not a directory");
    assert!(!sandbox.path("elsewhere/config.toml").exists());
}

#[test]
fn where_jps_own_files_are_tools_without_files_run_and_others_say_why_not() {
    let sandbox = empty();
    let told = "[conversation.tools.read]\nsource = \"local\"\nwasm = \"read.wasm\"\nparameters.path = { type = \"string\" }\n\
                [kb.topic.t]\nsubjects = \".config\"\n";
    sandbox.write("home/.jp/config.toml", told);
    fs::copy(
        jp_test::guest("jp_tool_test"),
        sandbox.path("home/read.wasm"),
    )
    .unwrap();
    at_home(&sandbox, &["trust"]).exits(0);
    at_home(
        &sandbox,
        &["tool", "run", "--yes", "bash", "commands=echo hello"],
    )
    .exits(0)
    .says("hello");
    at_home(
        &sandbox,
        &["tool", "run", "--yes", "read", "path=secret.txt"],
    )
    .exits(126)
    .warns("jp's own files lie in it")
    .warns("hint: `jp init DIR`");
    let learn = at_home(&sandbox, &["tool", "run", "--yes", "learn", "topic=t"]);
    assert!(!learn.stdout.contains("jp/"), "{learn:?}");
    at_home(&sandbox, &["tool", "list"])
        .exits(0)
        .warns("is not a workspace");
}

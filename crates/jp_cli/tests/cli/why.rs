//! `jp why`: which line of which file decides what a tool gets, and what clients are told of it.

use serde_json::{Value, json};

use crate::{
    kit::{Ran, Sandbox},
    mcp,
};

const CONFIG: &str = r#"[conversation.tools.fetch]
source = "local"
wasm = ".jp/tools/jp_tool_test.wasm"
parameters.path = { type = "string" }
grant.workspace = "read"
grant.net = [
    "a.example",
    "b.example",
]
grant.calls = ["http.request"]

[conversation.tools.count]
source = "local"
command = "wc -l notes.txt"

[conversation.tools.clock]
source = "builtin.bash"
"#;

fn sandbox(policy: &str) -> Sandbox {
    let sandbox = Sandbox::new(CONFIG);
    let guest = sandbox.path("workspace/.jp/tools/jp_tool_test.wasm");
    std::fs::create_dir_all(guest.parent().unwrap()).unwrap();
    std::fs::copy(jp_test::guest("jp_tool_test"), guest).unwrap();
    sandbox.write("home/.config/jp/config.toml", policy);
    sandbox
}

fn why(sandbox: &Sandbox, tool: &str) -> Ran {
    sandbox.jp(&["why", tool]).exits(0)
}

/// Returns a side's word on a capability: result, who decides, key, end of the file's name, line.
fn line_of(shown: &Value, capability: &str, side: &str) -> String {
    let all = shown["capabilities"].as_array().unwrap();
    let one = all.iter().find(|one| one["words"] == capability);
    let one = one.unwrap_or_else(|| panic!("no {capability:?} in {shown:#}"));
    let said = &one["says"][side];
    let file = said["place"]["file"].as_str().unwrap_or("nowhere");
    let file = file.rsplit('/').take(2).collect::<Vec<_>>();
    let file = file.into_iter().rev().collect::<Vec<_>>().join("/");
    format!(
        "granted={} by={} {} {file}:{}",
        one["granted"],
        one["decided_by"].as_str().unwrap(),
        said["key"].as_str().unwrap_or("no key"),
        said["place"]["line"],
    )
}

fn json_of(sandbox: &Sandbox, tool: &str) -> Value {
    sandbox.jp(&["why", tool, "--json"]).exits(0).json()
}

#[test]
fn each_capability_names_the_line_that_decides_it() {
    let sandbox = sandbox("[policy]\nnet = [\n  \"x.example\",\n  \"*.example\",\n]\n");
    sandbox.jp(&["trust"]).exits(0);
    let shown = json_of(&sandbox, "fetch");
    assert_eq!(shown["allowed"], true, "{shown:#}");
    for (capability, side, line) in [
        (
            "read this workspace",
            "tool",
            "granted=true by=tool grant.workspace .jp/config.toml:5",
        ),
        (
            "read this workspace",
            "you",
            "granted=true by=tool policy.workspace nowhere:null",
        ),
        (
            "reach a.example",
            "tool",
            "granted=true by=tool grant.net .jp/config.toml:7",
        ),
        (
            "reach b.example",
            "tool",
            "granted=true by=tool grant.net .jp/config.toml:8",
        ),
        (
            "reach b.example",
            "you",
            "granted=true by=tool policy.net jp/config.toml:4",
        ),
        (
            "reach b.example",
            "workspace",
            "granted=true by=tool no key nowhere:null",
        ),
    ] {
        assert_eq!(line_of(&shown, capability, side), line, "{shown:#}");
    }
    let annotations = &shown["annotations"];
    assert_eq!(annotations["readOnlyHint"]["value"], false);
    let because = json!(["net to a.example", "net to b.example", "http.request"]);
    assert_eq!(
        annotations["openWorldHint"],
        json!({"value": true, "because": because})
    );
}

#[test]
fn what_is_withheld_names_who_withholds_it() {
    let sandbox = sandbox("[policy]\nsubprocess = false\nnet = [\"a.example\"]\n");
    let shown = json_of(&sandbox, "count");
    assert_eq!(shown["allowed"], false);
    let line = "granted=false by=you policy.subprocess jp/config.toml:2";
    assert_eq!(line_of(&shown, "run a command", "you"), line);
    let line = "granted=false by=you command .jp/config.toml:14";
    assert_eq!(line_of(&shown, "run a command", "tool"), line);
    assert_eq!(shown["annotations"], Value::Null);
    // The user allows the one and not the other; the workspace is not trusted with either.
    let shown = json_of(&sandbox, "fetch");
    let line = "granted=false by=you policy.net jp/config.toml:3";
    assert_eq!(line_of(&shown, "reach b.example", "you"), line);
    let line = "granted=false by=workspace no key nowhere:null";
    assert_eq!(line_of(&shown, "reach a.example", "workspace"), line);
    why(&sandbox, "count")
        .says("denied   run a command\n")
        .says("  > you        ")
        .says(".config/jp/config.toml:2 policy.subprocess: your policy does not allow it\n")
        .says("hint: ");
    why(&sandbox, "fetch").says("you have not trusted this workspace");
}

#[test]
fn an_argument_of_the_command_line_is_named_as_such() {
    let sandbox = sandbox("");
    let shown = sandbox.jp(&[
        "why",
        "count",
        "--json",
        "--cfg",
        "conversation.tools.count.grant.workspace=read",
    ]);
    let shown = shown.exits(0).json();
    let all = shown["capabilities"].as_array().unwrap();
    let one = all.iter().find(|one| one["words"] == "read this workspace");
    let place = &one.unwrap()["says"]["tool"]["place"];
    assert_eq!(
        place["argument"],
        "conversation.tools.count.grant.workspace=read"
    );
}

#[test]
fn it_fits_a_screen_for_every_kind_of_tool() {
    let sandbox = sandbox("");
    for tool in ["bash", "learn", "todo", "fetch", "count", "clock"] {
        let shown = why(&sandbox, tool);
        let lines = shown.stdout.lines().count();
        assert!((3..=24).contains(&lines), "{lines}: {shown:?}");
    }
    why(&sandbox, "bash")
        .says("It asks for nothing outside of itself.")
        .says("readOnlyHint     true   nothing it gets outlives a call");
    why(&sandbox, "todo").says("jp gives this builtin that");
    sandbox.jp(&["why", "nothing"]).exits(127);
}

#[test]
fn a_tool_of_a_server_has_what_its_server_has() {
    let sandbox = mcp::sandbox();
    sandbox.jp(&["trust"]).exits(0);
    let shown = json_of(&sandbox, "shout");
    let line = "granted=true by=tool command .jp/config.toml:3";
    assert_eq!(line_of(&shown, "run a command", "tool"), line);
}

//! What is printed where: JSON with a schema, text of strangers, closed pipes, help.

use std::{fs, path::Path};

use serde_json::Value;

use crate::kit::Sandbox;

#[track_caller]
pub(crate) fn fits(document: &Value, schema: &str) {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas");
    let text = fs::read_to_string(dir.join(schema)).unwrap();
    let schema: Value = serde_json::from_str(&text).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let problems: Vec<String> = validator
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(problems.is_empty(), "{problems:#?}\n{document:#}");
}

#[test]
fn json_of_calls_fits_its_schema() {
    let sandbox = Sandbox::with_tools();
    let cases: &[(&[&str], i32, &str)] = &[
        (&["read", "path=notes.txt"], 0, "success"),
        (&["read", "path=none.txt"], 1, "error"),
        (&["read"], 2, "invalid"),
        (&["off"], 2, "failed"),
        (&["ask"], 3, "needs_input"),
        (&["spin"], 124, "failed"),
        (&["count"], 126, "failed"),
        (&["nope"], 127, "failed"),
        (&["trap"], 134, "failed"),
    ];
    for (words, code, kind) in cases {
        let ran = sandbox.call(&[words, &["--json"][..]].concat());
        let document = ran.exits(*code).json();
        assert_eq!(document["outcome"]["type"], *kind, "{document:#}");
        fits(&document, "tool-run.schema.json");
    }
    let skipped = ["--cfg", "conversation.tools.read.run=skip"];
    let words = ["tool", "run", "--json", "read", "path=notes.txt"];
    let document = sandbox
        .jp(&[&skipped[..], &words].concat())
        .exits(126)
        .json();
    fits(&document, "tool-run.schema.json");
    let document = sandbox.jp(&["tool", "list", "--json"]).exits(0).json();
    assert!(document["tools"].as_array().unwrap().len() > 5);
    fits(&document, "tool-list.schema.json");
}

#[test]
fn f66_guest_text_reaches_programs_unchanged_and_people_escaped() {
    let sandbox = Sandbox::with_tools();
    let evil = "\u{1b}]0;title\u{7}\u{202e}\u{9b}2J plain\n";
    sandbox.write("workspace/evil.txt", evil);
    let ran = sandbox.call(&["read", "path=evil.txt"]).exits(0);
    assert_eq!(ran.stdout, evil);
    let ran = sandbox
        .call(&["outside", "path=\u{1b}[31m\u{202e}x"])
        .exits(1);
    assert!(!ran.stderr.contains(['\u{1b}', '\u{202e}']), "{ran:?}");
    ran.warns("\\u{1b}[31m\\u{202e}x");
}

#[test]
fn json_ends_with_a_newline_and_text_as_the_tool_ended_it() {
    let config = "[conversation.tools.m]\nsource = \"local\"\nwasm = \"m.wasm\"\n\
        [conversation.tools.read]\nsource = \"local\"\nwasm = \"read.wasm\"\n\
        parameters.path = { type = \"string\" }\n";
    let sandbox = Sandbox::new(config);
    let module = jp_test::abi::Abi::saying(r#"{"status":"ok","n":1}"#);
    fs::write(sandbox.path("workspace/m.wasm"), module.bytes()).unwrap();
    let to = sandbox.path("workspace/read.wasm");
    fs::copy(jp_test::guest("jp_tool_test"), to).unwrap();
    let ran = sandbox.call(&["m"]).exits(0);
    assert_eq!(ran.stdout, "{\"status\":\"ok\",\"n\":1}\n");
    for text in ["no newline", "{\"a\": 1}", "one\n"] {
        sandbox.write("workspace/a.txt", text);
        assert_eq!(sandbox.call(&["read", "path=a.txt"]).exits(0).stdout, text);
    }
    let ran = sandbox.call(&["m", "--json"]).exits(0);
    assert!(ran.stdout.ends_with("}\n"), "{ran:?}");
}

#[test]
fn a_closed_pipe_is_not_a_failure() {
    let sandbox = Sandbox::with_tools();
    for words in [
        &["tool", "list"][..],
        &["config", "schema"],
        &["--help"],
        &["tool", "run", "learn", "topic=skills"],
    ] {
        let mut child = sandbox.command(words).spawn().unwrap();
        drop(child.stdout.take());
        let ran: crate::kit::Ran = child.wait_with_output().unwrap().into();
        assert!(!ran.stderr.contains("panicked"), "{ran:?}");
        ran.exits(0);
    }
}

#[test]
fn a_file_is_checked_for_being_a_tool() {
    let sandbox = Sandbox::with_tools();
    sandbox
        .jp(&["tool", "check", ".jp/tools/trap.wasm"])
        .exits(0)
        .says("a Wasm component")
        .says("nothing outside of WASI")
        .says("jp:tool@0.1.0");
    sandbox
        .jp(&["tool", "check", "notes.txt"])
        .exits(1)
        .says("looks like text");
    let module = jp_test::text::component("(module)");
    fs::write(sandbox.path("workspace/module.wasm"), module).unwrap();
    sandbox
        .jp(&["tool", "check", "module.wasm"])
        .exits(1)
        .says("a core Wasm module");
    // It gets no directories, whatever the workspace allows.
    fs::write(
        sandbox.path("workspace/abi.wasm"),
        jp_test::abi::Abi::default().bytes(),
    )
    .unwrap();
    let ran = sandbox.jp(&["tool", "check", "abi.wasm"]).exits(0);
    assert!(!ran.stdout.contains("workspace,"), "{ran:?}");
    ran.says("imports   nothing\n")
        .says("gets      as a `local` tool: no files, no network");
    let program = jp_test::guest("files_program");
    sandbox
        .jp(&["tool", "check", program.to_str().unwrap()])
        .exits(0)
        .says("WASI preview 1")
        .says("read and change its workspace");
    let other = jp_test::text::component("(component (import \"other:thing/x\" (func)))");
    fs::write(sandbox.path("workspace/other.wasm"), other).unwrap();
    sandbox
        .jp(&["tool", "check", "other.wasm"])
        .exits(1)
        .says("outside of WASI: other:thing/x");
    sandbox.jp(&["tool", "check", "none.wasm"]).exits(2);
    // JavaScript components import HTTP, whose streams are those of wasi:io under a second name.
    let both = r#"(import "wasi:io/streams@0.2.0" (instance $io
          (export "input-stream" (type (sub resource)))))
        (alias export $io "input-stream" (type $in))
        (import "wasi:http/types@0.2.0" (instance (export "input-stream" (type (eq $in)))))"#;
    let module = jp_test::text::module(1, "", "");
    let main = format!("(core module $m {module}) (core instance $main (instantiate $m))");
    let http = jp_test::text::component(&jp_test::text::tool(&format!("{both} {main}")));
    fs::write(sandbox.path("workspace/http.wasm"), http).unwrap();
    sandbox
        .jp(&["tool", "check", "http.wasm"])
        .exits(0)
        .says("nothing outside of WASI");
    let newer = both.replace("wasi:http/types@0.2.0", "wasi:http/types@0.3.0");
    let newer = jp_test::text::component(&jp_test::text::tool(&format!("{newer} {main}")));
    fs::write(sandbox.path("workspace/http.wasm"), newer).unwrap();
    sandbox
        .jp(&["tool", "check", "http.wasm"])
        .exits(0)
        .says("when called, the network: wasi:http/types@0.3.0");
    let fetch = jp_test::guest("fetch");
    sandbox
        .jp(&["tool", "check", fetch.to_str().unwrap()])
        .exits(0)
        .says("http      to the hosts of its `grant.net`");
}

#[test]
fn a_call_is_formatted_without_being_made() {
    let sandbox = Sandbox::with_tools();
    let format = |more: &[&str]| {
        let words = [more, &["tool", "format", "read", "path=a.txt"]].concat();
        sandbox.jp(&words).exits(0)
    };
    format(&[]).says("\"path\": \"a.txt\"");
    let style = |name: &str| format!("conversation.tools.read.style.parameters={name}");
    format(&["--cfg", &style("function_call")]).says("read(path: \"a.txt\")");
    format(&["--cfg", &style("tool")]).says("test(path: \"a.txt\")");
}

#[test]
fn show_has_what_a_tool_of_jp_says_about_itself() {
    let sandbox = Sandbox::new("");
    let shown = sandbox.jp(&["tool", "show", "bash", "--json"]).exits(0);
    let shown = shown.json();
    let text = |key: &str| shown[key].as_str().unwrap_or_default().to_owned();
    assert!(text("help").starts_with("BASH(1)"), "{shown}");
    assert!(text("system_prompt").starts_with("# Bash Tool"), "{shown}");
    let required = &shown["output_schema"]["required"];
    assert_eq!(
        *required,
        serde_json::json!(["stdout", "stderr", "exit_code"])
    );
    let page = sandbox.jp(&["tool", "show", "bash"]).exits(0);
    page.says("\nhelp         BASH(1) ")
        .says("\nprompt       # Bash Tool\n")
        .says("Exit status (0 = success)");
    // Other kinds of tools have no such texts.
    let shown = sandbox.jp(&["tool", "show", "todo", "--json"]).exits(0);
    let shown = shown.json();
    for key in ["help", "system_prompt", "output_schema"] {
        assert!(shown[key].is_null(), "{key}: {shown}");
    }
}

#[test]
fn every_command_explains_itself_with_an_example() {
    let sandbox = Sandbox::new("");
    for command in [
        "tool list",
        "tool show",
        "tool run",
        "tool format",
        "tool check",
        "tool install",
        "tool update",
        "tool remove",
        "tool lock",
        "tool search",
        "tool outdated",
        "tool verify",
        "tool review",
        "registry keygen",
        "registry sign",
        "registry rotate",
        "registry init",
        "registry publish",
        "registry add-model",
        "registry deprecate",
        "registry revoke",
        "registry serve",
        "trust key",
        "secret set",
        "secret list",
        "secret rm",
        "secret move-key",
        "mcp login",
        "mcp logout",
        "serve install",
        "due",
        "bash",
        "kb list",
        "kb prompt",
        "config show",
        "config set",
        "config schema",
        "audit show",
        "audit verify",
        "trust",
        "doctor",
        "completions",
    ] {
        let words: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        let example = format!("jp {command}");
        sandbox.jp(&words).exits(0).says("Examples:").says(&example);
    }
    sandbox.jp(&["--version"]).exits(0).says("jp ");
    sandbox.jp(&["completions", "bash"]).exits(0).says("_jp");
}

#[test]
fn text_of_strangers_fakes_no_error_of_its_own() {
    let sandbox = Sandbox::new("");
    for words in [
        &["tool", "run", "x\nerror: fake"][..],
        &["tool", "show", "x\nhint: fake"],
        &["-C", "/none\nwarning: fake", "tool", "list"],
        &["x\nerror: fake"],
        &["audit", "show", "--last", "1\nerror: fake"],
        &["tool", "list", "y\nerror: fake"],
    ] {
        let ran = sandbox.jp(words);
        let faked = ran.stderr.lines().any(|line| {
            let labels = ["error: fake", "hint: fake", "warning: fake"];
            labels.iter().any(|label| line.starts_with(label))
        });
        assert!(ran.stderr.contains(": fake") && !faked, "{ran:#?}");
    }
}

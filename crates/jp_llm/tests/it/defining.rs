//! Finding a tool and its code: names, sources, and the paths of Wasm files.

use std::fs;

use jp_config::Sources;
use jp_llm::{
    ToolDefinition,
    tool::{Cause, ErrorKind, Misconfigured, Refused},
};
use jp_tool::Action;
use serde_json::{Value, json};

use crate::kit::{Desk, Ended, call, command, reader, wasm};

const KB: &str = "[kb.topic.t]\nsubjects = \"kb\"\n";

#[tokio::test]
async fn unknown_tools_and_builtins_are_named() {
    let desk = Desk::new("[conversation.tools.x]\nsource = \"builtin.nope\"\n");
    let error = desk.tool("y").err().unwrap();
    assert_eq!(error.to_string(), "Tool not found: y");
    assert_eq!(error.kind(), ErrorKind::NotFound);
    let error = desk.tool("x").err().unwrap();
    assert_eq!(error.to_string(), "Unknown builtin tool: nope");
}

#[tokio::test]
async fn a_tool_without_code_says_what_to_add() {
    let desk = Desk::new("[conversation.tools.x]\nsource = \"local\"\n");
    let error = desk.tool("x").err().unwrap();
    assert_eq!(error.to_string(), "Command missing for local tool");
    assert!(error.hint().unwrap().contains("wasm = "));
}

#[tokio::test]
async fn a_disabled_tool_is_not_run() {
    let desk = Desk::new(&reader("echo", "enable = false")).guest("echo", "echo");
    let error = desk.call("echo", json!({})).await.error();
    assert_eq!(error.to_string(), "Disabled in configuration");
    assert_eq!(desk.record(), "undecided, invalid");
}

#[tokio::test]
async fn a_renamed_builtin_works() {
    let config = format!("{KB}[conversation.tools.study]\nsource = \"builtin.learn\"\n");
    let desk = Desk::new(&config).file("kb/a.md", "A");
    let arguments = json!({"topic": "t", "subjects": "a"});
    assert_eq!(desk.said("study", arguments).await, Ok("A".to_owned()));
    assert_eq!(desk.records()[0].tool, "study");
}

#[tokio::test]
async fn a_builtin_is_listed_only_when_it_has_something_to_offer() {
    let names = |desk: &Desk| -> Vec<String> {
        let all = ToolDefinition::all(&desk.loaded, &desk.host);
        all.into_iter().map(|(name, _)| name).collect()
    };
    let desk = Desk::new(&format!("{KB}learned = [\"a\"]\n")).file("kb/a.md", "A");
    // The virtual bash always has something to offer.
    assert_eq!(names(&desk), ["bash"]);
    let desk = desk.file("kb/b.md", "B");
    assert_eq!(names(&desk), ["learn", "bash"]);
}

#[tokio::test]
async fn a_host_without_servers_says_so() {
    let config = "[conversation.tools.x]\nsource = \"mcp.s.t\"\nrun = \"unattended\"\n\
                  [providers.mcp.s]\ntype = \"stdio\"\ncommand = \"s\"\n";
    let desk = Desk::new(config).trusted();
    let error = desk.tool("x").err().unwrap().to_string();
    let expected = "Failed to run tool from MCP client: this host starts no servers (server `s`)";
    assert_eq!(error, expected);
}

#[tokio::test]
async fn wasm_wins_over_command() {
    let config = command("both", "\"touch ran\"", "wasm = \".jp/tools/both.wasm\"");
    let desk = Desk::new(&config).guest("echo", "both").trusted();
    let said = desk.said("both", json!({})).await.unwrap();
    assert!(said.contains("\"root\":\"/workspace\""), "{said}");
    assert!(!desk.has("ran"));
    assert!(!desk.tool("both").unwrap().request.capabilities.subprocess);
}

#[tokio::test]
async fn the_guest_is_called_by_the_name_of_its_source() {
    let config = "[conversation.tools.shown]\nsource = \"local.real\"\nwasm = \"e.wasm\"\n\
                  grant.workspace = \"read\"\n";
    let bytes = std::fs::read(jp_test::guest("echo")).unwrap();
    let desk = Desk::new(config).file("e.wasm", bytes);
    let said = desk.said("shown", json!({})).await.unwrap();
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(said["name"], "real");
    assert_eq!(
        (&said["arguments"], &said["answers"]),
        (&json!("{}"), &json!("{}"))
    );
}

#[tokio::test]
async fn wasm_paths_stay_in_the_workspace() {
    for path in ["/etc/passwd", "../x.wasm", "a/../../x.wasm"] {
        let held = tempfile::tempdir().unwrap();
        let config = format!("[conversation.tools.x]\nsource = \"local\"\nwasm = \"{path}\"\n");
        std::fs::create_dir(held.path().join(".jp")).unwrap();
        std::fs::write(held.path().join(".jp/config.toml"), config).unwrap();
        let sources = Sources {
            workspace_root: Some(held.path().to_owned()),
            cwd: held.path().to_owned(),
            ..Sources::default()
        };
        assert!(jp_config::load(&sources).is_err(), "{path}");
    }
}

#[tokio::test]
async fn a_link_out_of_the_workspace_is_refused() {
    let desk = Desk::new(&reader("out", "")).file(".jp/tools/x", "");
    let link = desk.root.join(".jp/tools/out.wasm");
    std::os::unix::fs::symlink(jp_test::guest("echo"), link).unwrap();
    let error = desk.call("out", json!({})).await.error();
    assert!(
        matches!(
            error.cause(),
            Cause::Misconfigured(Misconfigured::WasmRefused(_))
        ),
        "{error:?}"
    );
    assert_eq!(desk.record(), "allowed, invalid");
}

#[tokio::test]
async fn a_missing_or_broken_file_is_named() {
    let desk = Desk::new(&reader("gone", ""));
    let error = desk.call("gone", json!({})).await.error();
    assert_eq!(
        error.to_string(),
        "Wasm binary not found: .jp/tools/gone.wasm"
    );
    for (bytes, text) in [
        (
            &b""[..],
            "Failed to compile Wasm component: .jp/tools/bad.wasm",
        ),
        (b"\0asm\x01\0\0\0", "Failed to "),
        (b"\0asm\x0d\0\x01\0", "Failed to "),
    ] {
        let desk = Desk::new(&reader("bad", "")).file(".jp/tools/bad.wasm", bytes);
        let error = desk.call("bad", json!({})).await.error();
        assert!(error.to_string().starts_with(text), "{error}");
        assert!(error.to_string().contains(".jp/tools/bad.wasm"), "{error}");
        assert!(error.hint().unwrap().contains("jp tool check"));
        assert_eq!(desk.record(), "allowed, invalid");
    }
}

#[tokio::test]
async fn formatting_reaches_the_guest_without_asking_and_without_the_power_to_change() {
    // Nobody is there to ask, and the tool asks for writing.
    let desk = Desk::new(&wasm("echo", "parameters.x.type = \"string\"")).guest("echo", "echo");
    let formats = |arguments| jp_llm::Call {
        action: Action::FormatArguments,
        ..call(arguments)
    };
    let executed = desk.make("echo", formats(json!({"x": "y"}))).await;
    assert_eq!(&*executed.details.grant, "fs=/workspace:read net=none");
    let said: Value = serde_json::from_str(&executed.said().unwrap()).unwrap();
    assert_eq!(said["formats"], true);
    assert_eq!(desk.record(), "allowed, success");

    let writes = "parameters.do.type = \"array\"\n";
    let desk = Desk::new(&wasm("files", writes)).guest("files", "files");
    let steps = json!({"do": [["write", "/workspace/pwned", "x"]]});
    let said = desk
        .make("files", formats(steps.clone()))
        .await
        .said()
        .unwrap();
    assert!(!said.contains("ok"), "{said}");
    assert!(!desk.has("pwned"));
    let desk = desk.agreed();
    assert_eq!(desk.said("files", steps).await, Ok("[\"ok\"]".to_owned()));
    assert!(desk.has("pwned"));
}

#[tokio::test]
async fn a_command_is_not_run_to_format_its_arguments_without_asking() {
    let config = command("touch", "\"touch ran\"", "").replace("run = \"unattended\"\n", "");
    let desk = Desk::new(&config).trusted();
    let formats = jp_llm::Call {
        action: Action::FormatArguments,
        ..call(json!({}))
    };
    let error = desk.make("touch", formats).await.error();
    assert!(
        matches!(error.cause(), Cause::Refused(Refused::NotApproved)),
        "{error:?}"
    );
    assert!(!desk.has("ran"));
}
#[tokio::test]
async fn a_tool_that_describes_itself_needs_no_written_parameters() {
    let desk = Desk::new(&reader("described", "")).guest("described", "described");
    let tool = desk.tool("described").unwrap().prepare();
    let said = tool.described(&desk.host).await.unwrap().unwrap();
    assert_eq!(tool.known_schema(), &said.parameters);
    let wrong = desk
        .said("described", json!({"calls": {"x": 1}}))
        .await
        .unwrap_err();
    assert!(wrong.starts_with("Invalid arguments:"), "{wrong}");
    // Another file may describe itself otherwise.
    assert!(tool.is_current(&desk.host));
    touch(&desk, &tool);
    assert!(!tool.is_current(&desk.host));
    let written = "parameters.x.type = \"string\"";
    let desk = Desk::new(&reader("described", written)).guest("described", "described");
    let tool = desk.tool("described").unwrap().prepare();
    assert!(tool.described(&desk.host).await.unwrap().is_none());
    touch(&desk, &tool);
    assert!(tool.is_current(&desk.host));
}

/// Writes the Wasm file of a tool again.
fn touch(desk: &Desk, tool: &ToolDefinition) {
    let file = desk.root.join(tool.wasm.as_ref().unwrap());
    fs::write(&file, fs::read(&file).unwrap()).unwrap();
}

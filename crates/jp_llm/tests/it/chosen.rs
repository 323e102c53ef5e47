//! Files that a person chose for one call: what the tool gets of them, and what a model cannot do.

use std::{collections::BTreeMap, fs, path::Path};

use jp_llm::{
    Call, ChosenFile,
    tool::{Cause, Misconfigured, Refused},
};
use jp_policy::Access;
use serde_json::{Value, json};

use crate::{
    kit::{Desk, Ended, call, reader},
    shop::Shop,
};

const ALLOWED: &str = "[capabilities]\nfs.user-selected = \"read-write\"\n";

/// The same tool as a component, as a program of WASI preview 1 and as a module with it.
const KINDS: [&str; 3] = ["files", "files_program", "files_module"];

fn desk(config: &str) -> Desk {
    desk_with(jp_test::guest("files"), config)
}

fn desk_with(file: &Path, config: &str) -> Desk {
    let shop = Shop::new();
    let needs = ["fs.user-selected:read when /source is a file"];
    shop.publish_file("files", file, &json!({ "capability_requirements": needs }));
    let desk = shop.installed(Desk::new(config), "files");
    fs::write(desk.held().join("note.txt"), "a note").unwrap();
    desk
}

fn choosing(desk: &Desk, access: Access, arguments: Value) -> Call {
    let path = desk.held().join("note.txt");
    Call {
        files: BTreeMap::from([("a".to_owned(), ChosenFile { path, access })]),
        ..call(arguments)
    }
}

fn steps(said: &str) -> Vec<String> {
    serde_json::from_str(said).unwrap()
}

#[tokio::test]
async fn a_tool_gets_the_chosen_file_and_nothing_around_it() {
    for kind in KINDS {
        gets_the_chosen_file_and_nothing_around_it(&desk_with(jp_test::guest(kind), ALLOWED)).await;
    }
}

async fn gets_the_chosen_file_and_nothing_around_it(desk: &Desk) {
    let host_path = desk.held().join("note.txt");
    let arguments = json!({"source": {"$file": "a"}, "do": [
        ["read", "/in/0/note.txt"], ["write", "/in/0/note.txt", "changed"],
        ["read", "/in/0/../../note.txt"], ["read", host_path.to_string_lossy()]]});
    let said = desk
        .make("files", choosing(desk, Access::Read, arguments))
        .await;
    let said = steps(&said.said().unwrap());
    assert_eq!(said[0], "ok: a note");
    assert!(
        said[1..].iter().all(|step| !step.starts_with("ok")),
        "{said:?}"
    );
    assert_eq!(fs::read_to_string(&host_path).unwrap(), "a note");
    let record = &desk.records()[0];
    assert!(
        record.grant.starts_with("fs=/in/0:read,/tmp:read-write"),
        "{}",
        record.grant
    );
    // Where it lies is the user's own; a hash is there for whoever knows.
    assert!(!record.grant.contains("note.txt") && record.grant.contains(" chosen=/in/0#"));
    // The next call has no file.
    let said = desk
        .said("files", json!({"do": [["read", "/in/0/note.txt"]]}))
        .await;
    assert!(!steps(&said.unwrap())[0].starts_with("ok"));
}

#[tokio::test]
async fn a_tool_gets_no_more_of_a_file_than_it_asks_for() {
    let desk = desk(ALLOWED);
    let arguments =
        json!({"source": {"$file": "a"}, "do": [["write", "/in/0/note.txt", "changed"]]});
    let said = desk
        .make("files", choosing(&desk, Access::ReadWrite, arguments))
        .await;
    assert!(!steps(&said.said().unwrap())[0].starts_with("ok"));
}

#[tokio::test]
async fn a_workspace_that_does_not_allow_chosen_files_gets_none() {
    let desk = desk("");
    let arguments = json!({"source": {"$file": "a"}, "do": []});
    let error = desk
        .make("files", choosing(&desk, Access::Read, arguments))
        .await
        .error();
    assert!(
        matches!(error.cause(), Cause::Refused(Refused::Denied { .. })),
        "{error}"
    );
    let hint = error.hint().unwrap();
    assert!(
        hint.contains("fs.user-selected = \"read\"") && hint.contains("[capabilities]"),
        "{hint}"
    );
    // Without a file the tool runs all the same.
    assert_eq!(desk.said("files", json!({"do": []})).await.unwrap(), "[]");
}

#[tokio::test]
async fn a_file_for_an_argument_that_takes_none_is_refused() {
    let desk = desk(ALLOWED);
    let arguments = json!({"do": [{"$file": "a"}]});
    let error = desk
        .make("files", choosing(&desk, Access::Read, arguments))
        .await
        .error();
    assert!(
        matches!(error.cause(), Cause::Refused(Refused::Denied { .. })),
        "{error}"
    );
}

#[tokio::test]
async fn e57_the_model_cannot_bring_in_a_file_of_the_host() {
    let desk = desk(ALLOWED);
    for id in ["/etc/passwd", "b"] {
        let arguments = json!({"source": {"$file": id}, "do": []});
        let said = desk
            .make("files", choosing(&desk, Access::Read, arguments))
            .await;
        let said = said.said().unwrap_err();
        assert!(said.contains("unknown file"), "{said}");
    }
    let arguments = json!({"source": "/etc/passwd", "do": [["read", "/etc/passwd"]]});
    let said = desk
        .make("files", choosing(&desk, Access::Read, arguments))
        .await;
    assert!(said.said().is_err());
    let blob = json!({"source": {"base64": "aGVsbG8="}, "do": []});
    assert_eq!(desk.said("files", blob).await.unwrap(), "[]");
}

#[tokio::test]
async fn e57_a_tool_can_tell_a_chosen_file_from_a_path_that_a_model_typed() {
    let shop = Shop::new();
    let file = json!({"$ref": "#/definitions/blob_or_path"});
    shop.publish(
        "files",
        &json!({
            "capability_requirements": ["fs.user-selected:read when /source is a file"],
            "input_schema": {"type": "object", "properties": {
                "do": {"type": "array"}, "source": file, "all": {"type": "array", "items": file},
                "deep": {"type": "object", "properties": {"source": file}},
            }},
        }),
    );
    let desk = shop.installed(Desk::new(ALLOWED), "files");
    fs::write(desk.held().join("note.txt"), "a note").unwrap();
    let typed = json!({"path": "/in/0/note.txt"});
    for (arguments, place) in [
        (json!({"source": typed}), "/source"),
        (json!({"source": {"$file": "a"}, "all": [typed]}), "/all/0"),
        (json!({"deep": {"source": typed}}), "/deep/source"),
        // What a model puts into a string is read, and then it is a path too.
        (
            json!({"deep": json!({"source": typed}).to_string()}),
            "/deep/source",
        ),
    ] {
        let mut arguments = arguments;
        arguments["do"] = json!([]);
        let said = desk
            .make("files", choosing(&desk, Access::Read, arguments))
            .await
            .said()
            .unwrap_err();
        let named = format!("at `{place}`: a path cannot be typed here");
        assert!(said.contains(&named) && said.contains("$file"), "{said}");
    }
    let arguments = json!({"source": {"$file": "a"}, "all": [{"base64": "aGk="}],
        "do": [["read", "/in/0/note.txt"]]});
    let said = desk
        .make("files", choosing(&desk, Access::Read, arguments))
        .await;
    assert_eq!(steps(&said.said().unwrap()), ["ok: a note"]);
}

#[tokio::test]
async fn b20_a_link_is_followed_when_it_is_chosen_and_never_out_of_it() {
    let desk = desk(ALLOWED);
    let link = desk.held().join("link.txt");
    std::os::unix::fs::symlink(desk.held().join("note.txt"), &link).unwrap();
    let chosen = ChosenFile {
        path: link,
        access: Access::Read,
    };
    let arguments = json!({"source": {"$file": "a"}, "do": [["read", "/in/0/link.txt"]]});
    let call = Call {
        files: BTreeMap::from([("a".to_owned(), chosen)]),
        ..call(arguments)
    };
    let said = desk.make("files", call).await.said().unwrap();
    assert_eq!(steps(&said), ["ok: a note"]);
}

#[tokio::test]
async fn names_that_deceive_reach_the_tool_as_plain_ones() {
    let desk = desk(ALLOWED);
    let path = desk.held().join("a\n\u{202e}b.txt");
    fs::write(&path, "odd").unwrap();
    let chosen = ChosenFile {
        path,
        access: Access::Read,
    };
    let arguments = json!({"source": {"$file": "a"}, "do": [["read", "/in/0/a__b.txt"]]});
    let call = Call {
        files: BTreeMap::from([("a".to_owned(), chosen)]),
        ..call(arguments)
    };
    assert_eq!(
        steps(&desk.make("files", call).await.said().unwrap()),
        ["ok: odd"]
    );
}

#[tokio::test]
async fn a_tool_that_asks_for_no_files_and_a_builtin_get_none() {
    let config = reader(
        "plain",
        "parameters.source.type = \"object\"\nparameters.do.type = \"array\"",
    );
    let desk = Desk::new(&config).guest("files", "plain");
    fs::write(desk.held().join("note.txt"), "a note").unwrap();
    let arguments = json!({"source": {"$file": "a"}, "do": []});
    let error = desk
        .make("plain", choosing(&desk, Access::Read, arguments))
        .await
        .error();
    assert!(
        matches!(error.cause(), Cause::Refused(Refused::Denied { .. })),
        "{error}"
    );
    let arguments = json!({"commands": {"$file": "a"}});
    let made = desk
        .make("bash", choosing(&desk, Access::Read, arguments))
        .await;
    assert!(made.result.is_err() || made.said().is_err());
}

#[tokio::test]
async fn a_module_that_can_open_nothing_is_handed_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let module = dir.path().join("echo.wasm");
    fs::write(&module, jp_test::abi::Abi::default().bytes()).unwrap();
    let desk = desk_with(&module, ALLOWED);
    let arguments = json!({"source": {"$file": "a"}, "do": []});
    let error = desk
        .make("files", choosing(&desk, Access::Read, arguments))
        .await
        .error();
    assert!(
        matches!(
            error.cause(),
            Cause::Misconfigured(Misconfigured::TakesNoFiles)
        ),
        "{error}"
    );
    // Without a file it runs.
    assert_eq!(
        desk.said("files", json!({"do": []})).await.unwrap(),
        r#"{"do":[]}"#
    );
}

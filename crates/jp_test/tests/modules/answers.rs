//! What an answer means, and which are none.

use jp_test::abi::Abi;
use jp_tool::Outcome;
use serde_json::{Value, json};

use crate::{call, content, message, refused};

#[tokio::test]
async fn any_json_is_a_result() {
    for answer in [
        "null",
        "1.5e3",
        "\"text\"",
        "[1,[2]]",
        " {} ",
        r#"{"status":"ok"}"#,
        r#"{"status":7}"#,
        r#"{"status":null,"stub":false,"abi_version":9}"#,
    ] {
        assert_eq!(content(call(&Abi::saying(answer), "{}").await), answer);
    }
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let module = Abi {
        memory: r#"(memory (export "memory") 8)"#.to_owned(),
        ..Abi::saying(&deep)
    };
    assert_eq!(content(call(&module, "{}").await), deep);
}

#[tokio::test]
async fn what_is_no_json_is_refused() {
    for answer in [
        "x",
        "{",
        "[1,]",
        "{} {}",
        r#"{"a":1,}"#,
        " ",
        "\u{feff}{}",
        r#"{"status":"ok","status":"error"}"#,
    ] {
        let reason = refused(&Abi::saying(answer)).await;
        assert!(
            reason.contains("WASM output must be valid JSON"),
            "{answer}: {reason}"
        );
    }
}

#[tokio::test]
async fn what_is_no_utf8_is_refused() {
    for answer in [&b"\"\xff\""[..], b"\xc3", b"[\"\xed\xa0\x80\"]"] {
        let reason = refused(&Abi::saying(answer)).await;
        assert!(reason.contains("WASM output must be UTF-8"), "{reason}");
    }
}

#[tokio::test]
async fn an_error_status_is_an_error_of_the_tool() {
    for (answer, lasting) in [
        (
            r#"{"status":"error","code":"not_found","error":"no"}"#,
            true,
        ),
        (r#"{"status":"error","retryable":true}"#, false),
        (r#"{"status":"err\u006fr"}"#, true),
    ] {
        let ended = call(&Abi::saying(answer), "{}").await;
        let Ok(Outcome::Error {
            message, transient, ..
        }) = ended.result
        else {
            panic!()
        };
        assert_eq!((message.as_str(), transient), (answer, !lasting));
    }
}

#[tokio::test]
async fn a_stub_answer_and_the_old_host_call_are_refused() {
    // The marker with a space in it: the other spelling does not even get this far.
    let stub = refused(&Abi::saying(r#"{"status":"ok","stub": true}"#)).await;
    assert!(stub.contains("placeholder"), "{stub}");
    let host_call = refused(&Abi::saying(r#"{"status":"host_call","host_call":{}}"#)).await;
    assert!(host_call.contains("deprecated host_call"), "{host_call}");
}

#[tokio::test]
async fn an_unsupported_version_is_answered_with_invalid_args() {
    for version in ["0", "2", "-1", "1.0", "\"1\"", "4294967297", "[1]"] {
        let said = format!(
            r#"{{"status":"capability_call","abi_version":{version},"capability_call":{{"name":"clock.now_unix"}}}}"#
        );
        let answer: Value =
            serde_json::from_str(&message(call(&Abi::saying(said), "{}").await)).unwrap();
        assert_eq!(
            answer,
            json!({
                "status": "error",
                "code": "invalid_args",
                "error": format!("Unsupported capability ABI version {version} (supported: 1)"),
                "retryable": false,
            })
        );
    }
}

#[tokio::test]
async fn a_capability_call_without_its_parts_is_refused() {
    for (said, words) in [
        (
            r#"{"status":"capability_call"}"#,
            "`capability_call` object is missing",
        ),
        (
            r#"{"status":"capability_call","capability_call":null}"#,
            "`capability_call` object is missing",
        ),
        (
            r#"{"status":"capability_call","capability_call":{}}"#,
            "has no name",
        ),
        (
            r#"{"status":"capability_call","capability_call":[]}"#,
            "has no name",
        ),
        (
            r#"{"status":"capability_call","capability_call":"x"}"#,
            "cannot be read",
        ),
        (
            r#"{"status":"capability_call","capability_call":{"name":7}}"#,
            "cannot be read",
        ),
    ] {
        let reason = refused(&Abi::saying(said)).await;
        assert!(reason.contains(words), "{said}: {reason}");
    }
    let long = format!(
        r#"{{"status":"capability_call","capability_call":"{}"}}"#,
        "x".repeat(60_000)
    );
    assert!(refused(&Abi::saying(long)).await.len() < 1000);
}

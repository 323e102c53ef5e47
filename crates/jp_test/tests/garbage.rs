//! Whatever is handed in as a tool, the answer is an error that names the cause; the process goes
//! on.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::{fs, future::Future};

use jp_policy::Limit;
use jp_test::{Host, Kit, text};
use jp_tool::Outcome;
use jp_wasm::{Ended, Error};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;

fn reason(ended: Ended) -> String {
    ended.result.unwrap_err().to_string()
}

/// Calls a file with this content and returns why that does not work.
async fn check(bytes: &[u8]) -> String {
    let kit = Kit::new(Host::OnDemand);
    let path = kit.path("tool.wasm");
    fs::write(&path, bytes).unwrap();
    let from_file = reason(kit.call_path(&path, &json!({})).await);
    let from_memory = reason(kit.call_bytes(bytes, "{}").await);
    assert_eq!(from_file, from_memory);
    from_file
}

#[tokio::test]
async fn files_that_are_no_component_are_named_for_what_they_are() {
    let good = fs::read(jp_test::guest("echo")).unwrap();
    let mut flipped = good.clone();
    let middle = flipped.len() / 2;
    for byte in &mut flipped[middle..middle + 64] {
        *byte = !*byte;
    }
    let module = text::component("(module (func (export \"run\")))");
    for (bytes, cause) in [
        (&b""[..], "empty"),
        (b"#!/bin/sh\necho hello\n", "looks like text"),
        (b"\x7fELF\x02\x01\x01\0\0\0", "magic bytes"),
        (b"\0asm", "cut-off"),
        (b"\0asm\x63\0\0\0", "version"),
        (b"\0asm\x0d\0\x01\0\xff\xff\xff\xff\xff", "damaged"),
        (&good[..good.len() / 2], "cut-off"),
        (&good[..good.len() - 1], "cut-off"),
        (&module, "missing exported memory"),
    ] {
        let why = check(bytes).await;
        assert!(why.contains(cause), "{cause}: {why}");
    }
    assert!(!check(&flipped).await.is_empty());
}

#[tokio::test]
async fn every_prefix_and_every_flipped_byte_of_a_small_tool_is_survived() {
    let good = text::component(&text::simple(1, "", ""));
    let kit = Kit::new(Host::OnDemand).limits(|limits| limits.fuel = Some(100_000));
    for end in (0..good.len()).step_by(3) {
        reason(kit.call_bytes(&good[..end], "{}").await);
    }
    for at in 0..good.len() {
        let mut flipped = good.clone();
        flipped[at] ^= 0x15;
        drop(kit.call_bytes(&flipped, "{}").await);
    }
    assert!(kit.call_bytes(&good, "{}").await.result.is_ok());
}

#[tokio::test]
async fn components_of_another_shape_say_what_is_missing() {
    let wrong_type = text::simple(1, "", "").replace(
        r#"(param "name" string) (param "arguments" string)"#,
        r#"(param "name" string) (param "arguments" u32) (param "more" u32)"#,
    );
    let wrong_result = "(component
        (core module $m (func (export \"run\") (result i32) (i32.const 1)))
        (core instance $i (instantiate $m))
        (func $run (result u32) (canon lift (core func $i \"run\")))
        (export \"run\" (func $run)))";
    let no_function = "(component (core module $m) (export \"run\" (core module $m)))";
    let other_name = text::simple(1, "", "").replace(
        "(export \"run\" (func $run))",
        "(export \"go\" (func $run))",
    );
    let import = |name: &str| {
        text::simple(1, "", "").replacen(
            "(core module",
            &format!("(import \"{name}\" (func)) (core module"),
            1,
        )
    };
    for (source, causes) in [
        ("(component)".to_owned(), ["run", "jp:tool@0.1.0"]),
        (other_name, ["run", "jp:tool@0.1.0"]),
        (no_function.to_owned(), ["run", "jp:tool@0.1.0"]),
        (wrong_result.to_owned(), ["run", "jp:tool@0.1.0"]),
        (wrong_type, ["run", "jp:tool@0.1.0"]),
        (import("evil"), ["evil", "import"]),
        (import("wasi-of-tomorrow"), ["wasi-of-tomorrow", "import"]),
    ] {
        let why = check(&text::component(&source)).await;
        for cause in causes {
            assert!(why.contains(cause), "{cause}: {why}");
        }
    }
}

#[tokio::test]
async fn http_of_a_version_that_is_not_spoken_can_be_imported_and_not_be_called() {
    let http = |version: &str, body: &str| {
        let main = text::module(1, r#"(import "http" "f" (func $f (result i32)))"#, body);
        text::component(&text::tool(&format!(
            r#"(import "wasi:http/types@{version}" (instance $http
                 (export "fields" (type $f (sub resource)))
                 (export "[constructor]fields" (func (result (own $f))))))
               (core func $f (canon lower (func $http "[constructor]fields")))
               (core module $m {main})
               (core instance $main (instantiate $m
                 (with "http" (instance (export "f" (func $f))))))"#
        )))
    };
    const CALLS: &str = "(drop (call $f))";
    for host in Host::ALL {
        let kit = Kit::new(host);
        for (version, body) in [("0.3.0", ""), ("0.2.0", CALLS)] {
            let ended = kit.call_bytes(&http(version, body), "{}").await;
            assert!(ended.result.is_ok(), "{version}: {ended:?}");
        }
        let ended = kit.call_bytes(&http("0.3.0", CALLS), "{}").await;
        let Err(Error::Denied { capability }) = ended.result else {
            panic!("{ended:?}")
        };
        assert_eq!(capability, "the network");
    }
}

#[tokio::test]
async fn results_that_cannot_be_read_are_errors() {
    let answer = |body: &str| text::component(&text::simple(1, "", body));
    for (what, body) in [
        (
            "not UTF-8",
            "(i32.store (i32.const 100) (i32.const 0xfffefdfc))
                       (local.set $at (i32.const 100)) (local.set $len (i32.const 4))",
        ),
        (
            "beyond the memory",
            "(local.set $at (i32.const 65530)) (local.set $len (i32.const 100))",
        ),
        (
            "far beyond",
            "(local.set $at (i32.const -16)) (local.set $len (i32.const -16))",
        ),
    ] {
        for host in Host::ALL {
            let kit = Kit::new(host);
            let why = reason(kit.call_bytes(&answer(body), "{}").await);
            assert!(!why.is_empty() && !why.contains("limit"), "{what}: {why}");
        }
    }
    // An outcome that is neither of the three.
    let unknown = text::simple(1, "", "").replace(
        "(i32.store8 (i32.const 0) (i32.const 0))",
        "(i32.store8 (i32.const 0) (i32.const 77))",
    );
    let why = reason(
        Kit::new(Host::Pooling)
            .call_bytes(&text::component(&unknown), "{}")
            .await,
    );
    assert!(why.contains("discriminant"), "{why}");
    let why = reason(
        Kit::new(Host::Pooling)
            .call_bytes(&answer("(unreachable)"), "{}")
            .await,
    );
    assert!(why.contains("unreachable"), "{why}");
}

#[tokio::test]
async fn allocators_that_lie_are_stopped() {
    for place in [
        "(i32.const -1)",
        "(i32.const 65535)",
        "(i32.const 4097)",
        "(unreachable)",
    ] {
        let source = text::simple(1, "", "").replace("(i32.const 4096)", place);
        let ended = Kit::new(Host::Pooling)
            .call_bytes(&text::component(&source), r#"{"a":"bcdefghij"}"#)
            .await;
        if place != "(i32.const 4097)" {
            assert!(
                matches!(ended.result, Err(Error::Trap { .. })),
                "{place}: {ended:?}"
            );
        }
    }
}

#[tokio::test]
async fn arguments_of_64_mebibytes_arrive_or_are_out_of_memory() {
    let arguments = json!("x".repeat(64 << 20)).to_string();
    let bytes = fs::read(jp_test::guest("echo")).unwrap();
    for host in Host::ALL {
        let large = Kit::new(host).limits(|limits| limits.memory_bytes = 500_000_000);
        let Ok(Outcome::Success { content }) = large.call_bytes(&bytes, &arguments).await.result
        else {
            panic!("{host:?}")
        };
        assert_eq!(content, arguments.len().to_string());
        let small = Kit::new(host).limits(|limits| limits.memory_bytes = 10_000_000);
        let ended = small.call_bytes(&bytes, &arguments).await;
        let Err(Error::Limit { limit }) = ended.result else {
            panic!("{host:?}: {:?}", ended.result.err())
        };
        assert_eq!(limit, Limit::Memory);
    }
}

#[tokio::test]
async fn arguments_that_are_no_json_reach_the_guest_as_they_are() {
    for arguments in ["", "{", "null", "\u{0}\u{1b}[2J\u{202e}"] {
        let kit = Kit::new(Host::Pooling);
        let bytes = fs::read(jp_test::guest("echo")).unwrap();
        let Ok(Outcome::Success { content }) = kit.call_bytes(&bytes, arguments).await.result
        else {
            panic!("{arguments:?}")
        };
        let echoed: serde_json::Value = serde_json::from_str(&content).unwrap();
        assert_eq!(echoed["arguments"], arguments);
    }
}

#[tokio::test]
async fn paths_that_are_no_readable_file_are_named() {
    let kit = Kit::new(Host::OnDemand).file("sub/x", "");
    mknodat(
        CWD,
        kit.path("pipe"),
        FileType::Fifo,
        Mode::from_raw_mode(0o666),
        0,
    )
    .unwrap();
    std::os::unix::fs::symlink("nowhere", kit.path("dangling")).unwrap();
    let why = [
        (kit.path("missing.wasm"), "no such file"),
        (kit.path("missing/tool.wasm"), "no such file"),
        (kit.path("dangling"), "no such file"),
        (kit.path("sub/x/tool.wasm"), "Not a directory"),
        (kit.path("sub"), "not a regular file"),
        (kit.path("pipe"), "not a regular file"),
        ("/dev/zero".into(), "not a regular file"),
        // A regular file that not even root can read from its start.
        ("/proc/self/mem".into(), "cannot read"),
    ];
    for (path, cause) in why {
        let error = reason(kit.call_path(&path, &json!({})).await);
        let named = error.contains(path.to_str().unwrap());
        assert!(named && error.contains(cause), "{cause}: {error}");
    }
}

#[tokio::test]
async fn a_file_replaced_during_a_call_changes_the_next_call_only() {
    let kit = Kit::new(Host::Pooling);
    let path = kit.path("tool.wasm");
    fs::copy(jp_test::guest("sleep"), &path).unwrap();
    kit.runtime().prepare_path(&path, &|_| {}).await.unwrap();
    let arguments = json!({"ms": 300});
    let mut call = std::pin::pin!(kit.call_path(&path, &arguments));
    std::future::poll_fn(|cx| {
        assert!(call.as_mut().poll(cx).is_pending(), "it sleeps");
        std::task::Poll::Ready(())
    })
    .await;
    fs::remove_file(&path).unwrap();
    fs::copy(jp_test::guest("counter"), &path).unwrap();
    let slept = call.await.result.unwrap();
    assert_eq!(slept, Outcome::from("awake"));
    let counted = kit.call_path(&path, &json!({})).await.result.unwrap();
    assert_eq!(counted, Outcome::from("1"));
}

#[tokio::test]
async fn a_file_overwritten_in_place_is_read_again() {
    let kit = Kit::new(Host::OnDemand);
    let path = kit.path("tool.wasm");
    for round in 0..20 {
        let say = format!("(local.set $n (i32.const {})) {}", 10 + round, text::SAY_N);
        fs::write(&path, text::component(&text::simple(1, "", &say))).unwrap();
        let said = kit.call_path(&path, &json!({})).await.result.unwrap();
        assert_eq!(said, Outcome::from((10 + round).to_string()));
    }
}

#[tokio::test]
async fn questions_answers_and_formatting_pass_through() {
    let kit = Kit::new(Host::Pooling);
    let asked = kit.call("ask", &json!({})).await.result.unwrap();
    let Outcome::NeedsInput { question } = asked else {
        panic!("{asked:?}")
    };
    assert_eq!(
        (question.id.as_str(), question.default),
        ("name", Some(json!("nobody")))
    );
    let kit = kit.answers(&json!({"name": "you"}));
    assert_eq!(kit.answer("ask", &json!({})).await, "hello you");
    let echoed = Kit::new(Host::Pooling)
        .formatting()
        .answer("echo", &json!({"a": 1}))
        .await;
    let echoed: serde_json::Value = serde_json::from_str(&echoed).unwrap();
    assert_eq!(echoed["formats"], true);
    assert_eq!(echoed["root"], jp_test::ROOT);
    assert_eq!(echoed["name"], "probe");
}

//! Modules that import WASI preview 1: programs with JSON on their streams, and modules of the ABI.

use jp_policy::Limit;
use jp_test::{Access, Host, Kit, abi::Abi, text};
use jp_wasm::{Error, ToolKind};
use serde_json::Value;

use crate::{content, limit, message};

/// A program with the imports it needs; `body` runs as `_start`, with 64 KiB of input and output at
/// 1024.
fn program(definitions: &str, body: &str) -> Vec<u8> {
    text::component(&format!(
        r#"(module
          (import "wasi_snapshot_preview1" "fd_read"
            (func $fd_read (param i32 i32 i32 i32) (result i32)))
          (import "wasi_snapshot_preview1" "fd_write"
            (func $fd_write (param i32 i32 i32 i32) (result i32)))
          (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
          (import "wasi_snapshot_preview1" "path_open"
            (func $path_open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
          (import "wasi_snapshot_preview1" "fd_prestat_get"
            (func $prestat (param i32 i32) (result i32)))
          (import "wasi_snapshot_preview1" "environ_sizes_get"
            (func $environ (param i32 i32) (result i32)))
          (import "wasi_snapshot_preview1" "args_sizes_get"
            (func $args (param i32 i32) (result i32)))
          (memory (export "memory") 4)
          {definitions}
          (func $read
            (i32.store (i32.const 0) (i32.const 1024)) (i32.store (i32.const 4) (i32.const 65536))
            (if (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8))
              (then (unreachable))))
          (func $write (param $fd i32) (param $at i32) (param $len i32)
            (i32.store (i32.const 0) (local.get $at)) (i32.store (i32.const 4) (local.get $len))
            (if (call $fd_write (local.get $fd) (i32.const 0) (i32.const 1) (i32.const 8))
              (then (unreachable))))
          (func (export "_start") (local $i i32) {body}))"#
    ))
}

const ECHO: &str =
    "(call $read) (call $write (i32.const 1) (i32.const 1024) (i32.load (i32.const 8)))";

#[tokio::test]
async fn a_program_reads_its_arguments_and_writes_its_answer() {
    let bytes = program("", ECHO);
    for host in Host::ALL {
        let kit = Kit::new(host);
        let prepared = kit.runtime().prepare(&bytes, &|_| {}).await.unwrap();
        assert_eq!(prepared.kind(), ToolKind::WasiCommand);
        for turn in 0..4 {
            let arguments = format!(r#"{{"turn": {turn}}}"#);
            let ended = kit.call_prepared(Ok(prepared.clone()), &arguments).await;
            assert!(
                ended.traces.stdout.is_empty(),
                "the answer is not printed as well"
            );
            assert_eq!(content(ended), arguments);
        }
    }
}

#[tokio::test]
async fn the_exit_of_a_program_decides() {
    let kit = Kit::new(Host::OnDemand);
    let done = program("", &format!("{ECHO} (call $exit (i32.const 0))"));
    assert_eq!(content(kit.call_bytes(&done, "[1]").await), "[1]");
    let said_no = program("", &format!("{ECHO} (call $exit (i32.const 3))"));
    assert_eq!(message(kit.call_bytes(&said_no, "[1]").await), "[1]");
    let crashed = program(
        r#"(data (i32.const 2000) "it broke")"#,
        "(call $write (i32.const 2) (i32.const 2000) (i32.const 8)) (call $exit (i32.const 3))",
    );
    let ended = kit.call_bytes(&crashed, "{}").await;
    assert_eq!(ended.traces.stderr, b"it broke");
    let said: Value = serde_json::from_str(&message(ended)).unwrap();
    assert_eq!(said["error"], "the tool exited with code 3");
    assert_eq!(said["stderr"], "it broke");
    let silent = program("", "");
    assert_eq!(content(kit.call_bytes(&silent, "{}").await), "{}");
}

#[tokio::test]
async fn a_program_that_writes_too_much_or_no_json_is_refused() {
    let endless = program(
        "",
        "(loop $ever (call $write (i32.const 1) (i32.const 1024) (i32.const 65536)) (br $ever))",
    );
    let kit = Kit::new(Host::OnDemand).limits(|limits| limits.output_bytes = 1 << 20);
    assert_eq!(limit(&kit.call_bytes(&endless, "{}").await), Limit::Output);
    let text = program(
        r#"(data (i32.const 2000) "hello")"#,
        "(call $write (i32.const 1) (i32.const 2000) (i32.const 5))",
    );
    let reason = kit
        .call_bytes(&text, "{}")
        .await
        .result
        .unwrap_err()
        .to_string();
    assert!(
        reason.contains("WASM output must be valid JSON"),
        "{reason}"
    );
}

/// Answers with three digits: whether there is a directory, how many variables, how many arguments.
#[tokio::test]
async fn a_program_without_a_grant_sees_no_files_no_environment_and_no_arguments() {
    let bytes = program(
        r#"(data (i32.const 2000) "[0,0,0]") (data (i32.const 3000) "etc/passwd")
           (func $digit (param $at i32) (param $n i32)
             (i32.store8 (local.get $at) (i32.add (i32.const 48) (local.get $n))))"#,
        "(local.set $i (i32.const 0))
         (loop $fds
           (if (i32.eqz (call $prestat (local.get $i) (i32.const 64)))
             (then (call $digit (i32.const 2001) (i32.const 1))))
           (if (i32.eqz (call $path_open (local.get $i) (i32.const 0) (i32.const 3000)
                 (i32.const 10) (i32.const 0) (i64.const 2) (i64.const 0) (i32.const 0)
                 (i32.const 64)))
             (then (call $digit (i32.const 2001) (i32.const 2))))
           (local.set $i (i32.add (local.get $i) (i32.const 1)))
           (br_if $fds (i32.lt_u (local.get $i) (i32.const 20))))
         (drop (call $environ (i32.const 64) (i32.const 68)))
         (call $digit (i32.const 2003) (i32.load (i32.const 64)))
         (drop (call $args (i32.const 64) (i32.const 68)))
         (call $digit (i32.const 2005) (i32.load (i32.const 64)))
         (call $write (i32.const 1) (i32.const 2000) (i32.const 7))",
    );
    let kit = Kit::new(Host::OnDemand)
        .access(Access::None)
        .file("etc/passwd", "x");
    assert_eq!(content(kit.call_bytes(&bytes, "{}").await), "[0,0,0]");
}

#[tokio::test]
async fn a_program_is_stopped_like_everyone() {
    let spins = program("", "(loop $ever (br $ever))");
    let kit = Kit::new(Host::OnDemand);
    let kit = kit.limits(|limits| limits.time = std::time::Duration::from_millis(100));
    assert_eq!(limit(&kit.call_bytes(&spins, "{}").await), Limit::Time);
    let sleeps = text::component(
        r#"(module
          (import "wasi_snapshot_preview1" "poll_oneoff"
            (func $poll (param i32 i32 i32 i32) (result i32)))
          (memory (export "memory") 1)
          (func (export "_start")
            (i32.store (i32.const 16) (i32.const 1))
            (i64.store (i32.const 24) (i64.const 20000000000))
            (drop (call $poll (i32.const 0) (i32.const 64) (i32.const 1) (i32.const 128)))))"#,
    );
    assert_eq!(limit(&kit.call_bytes(&sleeps, "{}").await), Limit::Time);
}

#[tokio::test]
async fn a_module_of_the_abi_may_import_wasi() {
    let module = Abi {
        imports: r#"(import "wasi_snapshot_preview1" "random_get"
            (func $random (param i32 i32) (result i32)))"#
            .to_owned(),
        ..Abi::running(
            "(if (call $random (i32.const 0) (i32.const 8)) (then (unreachable)))
             (if (i32.eqz (global.get $ready)) (then (unreachable)))
             (call $pack (local.get $at) (local.get $len))",
        )
    }
    .with(
        r#"(global $ready (mut i32) (i32.const 0))
           (func (export "_initialize") (global.set $ready (i32.const 1)))"#,
    );
    for host in Host::ALL {
        let kit = Kit::new(host);
        for _ in 0..4 {
            assert_eq!(content(kit.call_bytes(&module.bytes(), "[]").await), "[]");
        }
    }
}

#[tokio::test]
async fn a_module_of_wasi_without_any_way_in_says_what_is_missing() {
    let bytes = text::component(
        r#"(module (import "wasi_snapshot_preview1" "proc_exit" (func (param i32)))
             (memory (export "memory") 1))"#,
    );
    let ended = Kit::new(Host::OnDemand).call_bytes(&bytes, "{}").await;
    let Err(Error::InstantiateModule { reason }) = ended.result else {
        panic!()
    };
    assert_eq!(reason, "WASM module missing `alloc(i32)->i32` export");
}

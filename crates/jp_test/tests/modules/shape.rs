//! What a module must export and may import.

use jp_test::{
    Host, Kit,
    abi::{Abi, ECHO, entry},
};
use jp_wasm::{AbiVersion, Error, FileKind, Inspected, ToolKind};
use serde_json::json;

use crate::{content, refused};

#[tokio::test]
async fn an_honest_module_answers_on_every_host() {
    let arguments = r#"{"text": "héllo"}"#;
    for host in Host::ALL {
        let kit = Kit::new(host);
        for _ in 0..6 {
            let ended = kit.call_bytes(&Abi::default().bytes(), arguments).await;
            assert_eq!(content(ended), arguments);
        }
    }
}

#[tokio::test]
async fn a_missing_export_is_named_with_its_type() {
    let missing = |change: fn(&mut Abi)| {
        let mut module = Abi::default();
        change(&mut module);
        module
    };
    for (module, words) in [
        (
            missing(|m| m.memory = "(memory 2)".into()),
            "WASM module missing exported memory",
        ),
        (
            missing(|m| m.alloc = m.alloc.replace(r#"(export "alloc")"#, "")),
            "WASM module missing `alloc(i32)->i32` export",
        ),
        (
            missing(|m| m.dealloc.clear()),
            "WASM module missing `dealloc(i32,i32)->()` export",
        ),
        (
            missing(|m| m.entry.clear()),
            "WASM module missing `execute(i32,i32)->i64` export",
        ),
    ] {
        assert_eq!(refused(&module).await, words);
    }
}

#[tokio::test]
async fn an_export_of_another_type_is_not_the_one() {
    let wrong = |part: fn(&mut Abi) -> &mut String, text: &str| {
        let mut module = Abi::default();
        *part(&mut module) = text.to_owned();
        module
    };
    for (module, words) in [
        (
            wrong(|m| &mut m.memory, r#"(memory (export "memory") i64 1)"#),
            "its `memory` has another type",
        ),
        (
            wrong(|m| &mut m.memory, r#"(memory 1) (func (export "memory"))"#),
            "missing exported memory",
        ),
        (
            wrong(
                |m| &mut m.alloc,
                r#"(func (export "alloc") (param i64) (result i32) (i32.const 64))"#,
            ),
            "missing `alloc(i32)->i32` export: its `alloc` has another type",
        ),
        (
            wrong(
                |m| &mut m.dealloc,
                r#"(func (export "dealloc") (param i32 i32) (result i32) (i32.const 64))"#,
            ),
            "missing `dealloc(i32,i32)->()` export: its `dealloc` has another type",
        ),
        (
            wrong(
                |m| &mut m.entry,
                r#"(func (export "execute") (param i32 i32) (result i32) (i32.const 0))"#,
            ),
            "missing `execute(i32,i32)->i64` export: its `execute` has another type",
        ),
        (
            wrong(
                |m| &mut m.entry,
                r#"(global (export "execute") i32 (i32.const 0))"#,
            ),
            "missing `execute(i32,i32)->i64` export: its `execute` has another type",
        ),
    ] {
        let reason = refused(&module).await;
        assert!(reason.contains(words), "{words}: {reason}");
    }
}

#[tokio::test]
async fn a_module_with_imports_is_refused() {
    for (imports, named) in [
        (r#"(import "env" "print" (func))"#, "`env/print`"),
        (r#"(import "env" "memory" (memory 1))"#, "`env/memory`"),
        (
            r#"(import "wasi_unstable" "fd_write" (func))"#,
            "`wasi_unstable/fd_write`",
        ),
        (
            r#"(import "wasi_snapshot_preview1" "sched_yield" (func (result i32)))
               (import "env" "more" (global i32))"#,
            "`env/more`",
        ),
    ] {
        let mut module = Abi {
            imports: imports.to_owned(),
            ..Abi::default()
        };
        if imports.contains("(memory") {
            module.memory = r#"(export "memory" (memory 0))"#.to_owned();
        }
        let reason = refused(&module).await;
        assert!(reason.contains(named), "{reason}");
    }
    let unknown = Abi {
        imports: r#"(import "wasi_snapshot_preview1" "fork" (func))"#.to_owned(),
        ..Abi::default()
    };
    assert!(refused(&unknown).await.contains("fork"));
}

#[tokio::test]
async fn the_entrypoint_is_the_configured_one() {
    let both = Abi::saying(r#"{"by": "execute"}"#).with(&entry("other", ECHO));
    let kit = Kit::new(Host::OnDemand);
    let by_default = content(kit.call_bytes(&both.bytes(), "{}").await);
    assert_eq!(by_default, r#"{"by": "execute"}"#);
    let kit = kit.entered_by("other");
    assert_eq!(content(kit.call_bytes(&both.bytes(), "[1]").await), "[1]");

    let kit = Kit::new(Host::OnDemand).entered_by("absent");
    let ended = kit.call_bytes(&both.bytes(), "{}").await;
    let Err(Error::InstantiateModule { reason }) = ended.result else {
        panic!()
    };
    assert_eq!(reason, "WASM module missing `absent(i32,i32)->i64` export");
    let prepared = kit.runtime().prepare(&both.bytes(), &|_| {}).await.unwrap();
    assert!(prepared.check_entrypoint(Some("absent")).is_err());
    assert!(prepared.check_entrypoint(Some("other")).is_ok());
    assert!(prepared.check_entrypoint(None).is_ok());
}

#[tokio::test]
async fn invoke_will_do_where_there_is_no_execute() {
    let module = Abi {
        entry: entry("invoke", ECHO),
        ..Abi::default()
    };
    for kit in [
        Kit::new(Host::OnDemand),
        Kit::new(Host::OnDemand).entered_by("execute"),
    ] {
        assert_eq!(content(kit.call_bytes(&module.bytes(), "[]").await), "[]");
    }
}

#[tokio::test]
async fn a_placeholder_is_no_tool() {
    for marker in ["stub responses", r#"{"stub":true}"#] {
        let ended = crate::call(&Abi::saying(marker), "{}").await;
        let Err(Error::Compile { reason }) = ended.result else {
            panic!("{:?}", ended.result)
        };
        assert!(reason.contains("placeholder"), "{reason}");
    }
}

#[tokio::test]
async fn what_kind_of_tool_a_file_is_can_be_asked() {
    let runtime = Kit::new(Host::OnDemand).runtime();
    let resume = entry("resume", ECHO);
    let wasi = r#"(import "wasi_snapshot_preview1" "sched_yield" (func (result i32)))"#;
    let with_wasi = Abi {
        imports: wasi.to_owned(),
        ..Abi::default()
    };
    for (module, kind) in [
        (Abi::default(), ToolKind::Module { resumes: false }),
        (
            Abi::default().with(&resume),
            ToolKind::Module { resumes: true },
        ),
        (with_wasi.clone(), ToolKind::WasiModule { resumes: false }),
        (
            with_wasi.with(&resume),
            ToolKind::WasiModule { resumes: true },
        ),
    ] {
        let bytes = module.bytes();
        assert_eq!(Inspected::of(&bytes).kind, FileKind::Module);
        assert_eq!(Inspected::of(&bytes).problem, None);
        let prepared = runtime.prepare(&bytes, &|_| {}).await.unwrap();
        assert_eq!(prepared.kind(), kind);
    }
    let component = runtime.prepare_path(jp_test::guest("echo"), &|_| {}).await;
    assert_eq!(
        component.unwrap().kind(),
        ToolKind::Component {
            describes: false,
            requests: false
        }
    );
}

#[tokio::test]
async fn a_module_is_not_asked_to_format_its_arguments() {
    let trap = Abi::running("(unreachable)");
    let kit = Kit::new(Host::OnDemand).formatting();
    let message = crate::message(kit.call_bytes(&trap.bytes(), "{}").await);
    assert_eq!(message, "a core module cannot format its arguments");
}

#[tokio::test]
async fn compiled_modules_come_back_from_the_cache() {
    let dir = tempfile::tempdir().unwrap();
    let options = jp_wasm::RuntimeOptions {
        cache_dir: Some(dir.path().join("code")),
        ..jp_wasm::RuntimeOptions::default()
    };
    let bytes = Abi::default().bytes();
    for expected in [1, 0] {
        let compiled = std::sync::atomic::AtomicUsize::new(0);
        let notify = |_| {
            compiled.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        };
        let runtime = jp_wasm::Runtime::new(&options).unwrap();
        let prepared = runtime.prepare(&bytes, &notify).await.unwrap();
        assert_eq!(prepared.kind(), ToolKind::Module { resumes: false });
        assert_eq!(compiled.into_inner(), expected);
    }
}

#[tokio::test]
async fn a_resume_of_another_type_is_none() {
    let module = Abi::default().with(r#"(func (export "resume"))"#);
    let kit = Kit::new(Host::OnDemand).abi(AbiVersion::Two);
    let arguments = json!({"a": 1}).to_string();
    assert_eq!(
        content(kit.call_bytes(&module.bytes(), &arguments).await),
        arguments
    );
}

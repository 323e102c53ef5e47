//! What a guest finds around it without opening anything: variables, clocks, randomness, streams.
//! Each is there or not as its call says, also when instances are made ahead of time.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::time::Instant;

use jp_policy::Ambient;
use jp_test::{Host, Kit, abi::Abi, text};
use jp_wasm::{Error, ToolTemp};
use serde_json::{Value, json};

async fn look(kit: &Kit, arguments: &Value) -> Value {
    serde_json::from_str(&kit.answer("around", arguments).await).unwrap()
}

fn without(host: Host, change: fn(&mut Ambient)) -> Kit {
    Kit::new(host)
        .file("in.txt", "in")
        .around(move |wasi| change(&mut wasi.ambient))
}

#[tokio::test]
async fn variables_are_those_of_the_call_and_of_no_other() {
    for host in Host::ALL {
        for turn in 0..6 {
            let value = turn.to_string();
            let kit = Kit::new(host).around(move |wasi| {
                wasi.env = vec![("LANG".into(), "C".into()), ("TURN".into(), value.clone())];
            });
            let seen = look(&kit, &json!({})).await;
            let want = json!([["LANG", "C"], ["TURN", turn.to_string()]]);
            assert_eq!(seen["variables"], want);
            let plain = look(&Kit::new(host), &json!({})).await;
            assert_eq!(plain["variables"], json!([]));
        }
    }
}

#[tokio::test]
async fn without_clocks_time_stands_still_and_a_sleep_still_ends() {
    for host in Host::ALL {
        let kit = without(host, |ambient| ambient.clocks = false);
        let arguments = json!({"ms": 30, "file": "/workspace/in.txt"});
        for _ in 0..4 {
            let started = Instant::now();
            let seen = look(&kit, &arguments).await;
            assert!(started.elapsed().as_millis() >= 30);
            assert_eq!((&seen["wall"], &seen["passed"]), (&json!(0), &json!(0)));
            assert_eq!(seen["changed"], 0, "files do not tell the time");
            let usual = look(&Kit::new(host).file("in.txt", "in"), &arguments).await;
            assert!(usual["wall"].as_u64().unwrap() > 1_700_000_000, "{usual}");
            assert!(
                usual["changed"].as_u64().unwrap() > 1_700_000_000,
                "{usual}"
            );
            assert!(usual["passed"].as_u64().unwrap() >= 30, "{usual}");
        }
    }
}

#[tokio::test]
async fn a_new_file_in_the_temporary_directory_does_not_tell_the_time_either() {
    let base = tempfile::tempdir().unwrap();
    let temp = ToolTemp::create(base.path(), jp_wasm::TempQuota::default()).unwrap();
    std::fs::write(temp.path().join("now"), "").unwrap();
    let kit = Kit::new(Host::Pooling).around(move |wasi| {
        wasi.ambient.clocks = false;
        wasi.mount_temp(&temp).unwrap();
    });
    assert_eq!(look(&kit, &json!({"file": "/tmp/now"})).await["changed"], 0);
}

#[tokio::test]
async fn without_random_the_numbers_are_the_same_in_every_call() {
    for host in Host::ALL {
        let kit = without(host, |ambient| ambient.random = false);
        let first = look(&kit, &json!({})).await["seed"].clone();
        for _ in 0..4 {
            assert_eq!(look(&kit, &json!({})).await["seed"], first);
            assert_ne!(look(&Kit::new(host), &json!({})).await["seed"], first);
        }
    }
}

/// A module that answers with eight bytes of randomness, as a number.
fn random_module() -> Vec<u8> {
    Abi {
        imports: r#"(import "wasi_snapshot_preview1" "random_get"
            (func $random (param i32 i32) (result i32)))"#
            .to_owned(),
        ..Abi::running(
            "(if (call $random (i32.const 0) (i32.const 16)) (then (unreachable)))
             (loop $next
               (i32.store8 (local.get $i)
                 (i32.add (i32.const 49) (i32.and (i32.load8_u (local.get $i)) (i32.const 7))))
               (local.set $i (i32.add (local.get $i) (i32.const 1)))
               (br_if $next (i32.lt_u (local.get $i) (i32.const 16))))
             (call $pack (i32.const 0) (i32.const 16))",
        )
    }
    .bytes()
}

#[tokio::test]
async fn modules_are_told_the_same_as_components() {
    let random = random_module();
    for host in Host::ALL {
        let kit = without(host, |ambient| *ambient = Ambient::NONE);
        let first = format!("{:?}", kit.call_bytes(&random, "{}").await.result.unwrap());
        for _ in 0..4 {
            let again = kit.call_bytes(&random, "{}").await.result.unwrap();
            assert_eq!(format!("{again:?}"), first);
            let usual = Kit::new(host).call_bytes(&random, "{}").await;
            assert_ne!(format!("{:?}", usual.result.unwrap()), first);
        }
    }
}

/// A program that answers with its variables.
fn environment_program() -> Vec<u8> {
    text::component(
        r#"(module
          (import "wasi_snapshot_preview1" "environ_get"
            (func $environ (param i32 i32) (result i32)))
          (import "wasi_snapshot_preview1" "fd_write"
            (func $fd_write (param i32 i32 i32 i32) (result i32)))
          (memory (export "memory") 1)
          (func (export "_start")
            (drop (call $environ (i32.const 64) (i32.const 1025)))
            (i32.store8 (i32.const 1024) (i32.const 34))
            (i32.store8 (i32.const 1031) (i32.const 34))
            (i32.store (i32.const 0) (i32.const 1024)) (i32.store (i32.const 4) (i32.const 8))
            (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))"#,
    )
}

#[tokio::test]
async fn a_program_sees_the_variables_of_its_call() {
    for host in Host::ALL {
        for value in ["C", "D"] {
            let kit =
                Kit::new(host).around(move |wasi| wasi.env = vec![("LANG".into(), value.into())]);
            let said = kit.call_bytes(&environment_program(), "{}").await;
            let said = format!("{:?}", said.result.unwrap());
            assert!(said.contains(&format!("LANG={value}")), "{said}");
        }
    }
}

#[tokio::test]
async fn without_stdio_a_program_is_refused_before_it_runs() {
    for host in Host::ALL {
        let kit = without(host, |ambient| ambient.stdio = false);
        let ended = kit.call_bytes(&environment_program(), "{}").await;
        let Err(
            error @ Error::Denied {
                capability: "stdio",
            },
        ) = ended.result
        else {
            panic!("{:?}", ended.result);
        };
        assert!(error.to_string().contains("stdio"), "{error}");
        assert_eq!(ended.traces.fuel, 0);
    }
}

#[tokio::test]
async fn without_stdio_a_component_prints_into_the_void() {
    for host in Host::ALL {
        for _ in 0..4 {
            let arguments = json!({"print": "hello"});
            let kit = without(host, |ambient| ambient.stdio = false);
            let ended = kit.call("around", &arguments).await;
            assert!(ended.result.is_ok() && ended.traces.stdout.is_empty());
            let usual = Kit::new(host).call("around", &arguments).await;
            assert_eq!(usual.traces.stdout, b"hello");
        }
    }
}

#[tokio::test]
async fn instances_made_ahead_of_time_find_what_their_call_says() {
    let runtime = Kit::new(Host::Spares).runtime();
    let prepared = runtime.prepare_path(jp_test::guest("around"), &|_| {});
    let prepared = prepared.await.unwrap();
    let (start, before) = (Instant::now(), runtime.spare_use(&prepared).hits);
    let mut turn = 0;
    while runtime.spare_use(&prepared).hits < before + 20 {
        turn += 1;
        let bare = turn % 2 == 0;
        let kit = Kit::new(Host::Spares).around(move |wasi| {
            wasi.env = vec![("TURN".into(), turn.to_string())];
            if bare {
                wasi.ambient = Ambient::NONE;
            }
        });
        let seen = look(&kit, &json!({})).await;
        assert_eq!(seen["variables"], json!([["TURN", turn.to_string()]]));
        assert_eq!(seen["wall"] == 0, bare, "{seen}");
        assert!(start.elapsed().as_secs() < 300, "no spare was made");
        tokio::task::yield_now().await;
    }
}

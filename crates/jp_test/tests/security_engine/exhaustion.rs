//! A3 to A6, A8 and A16: stack, memory, tables, instances, output and host resources all have an
//! end that the host survives and names.

use jp_test::{Host, text};

use super::*;

const MB: u64 = 1_000_000;

#[tokio::test]
async fn a03_deep_recursion_is_a_trap_of_the_guest() {
    let shadow_free = text::component(&text::simple(
        1,
        "(func $deep (param i32) (result i32)
           (i32.add (i32.const 1) (call $deep (i32.add (local.get 0) (i32.const 1)))))",
        "(local.set $n (call $deep (i32.const 0)))",
    ));
    for host in Host::ALL {
        let kit = Kit::new(host);
        let fine = kit.answer("recurse", &json!({"depth": 100})).await;
        assert!(fine.starts_with("came back"), "{fine}");
        let ended = kit.call("recurse", &json!({})).await;
        assert!(matches!(ended.result, Err(Error::Trap { .. })), "{ended:?}");
        let ended = kit.call_bytes(&shadow_free, "{}").await;
        assert!(reason(&ended).contains("stack"), "{ended:?}");
        healthy(&kit).await;
    }
}

#[tokio::test]
async fn a04_memory_grows_to_the_limit_and_no_further() {
    for host in Host::ALL {
        let kit = Kit::new(host).limits(|limits| limits.memory_bytes = 50 * MB);
        let within = kit.answer("grow", &json!({"bytes": 20 * MB})).await;
        assert!(within.parse::<u64>().unwrap() >= 20 * MB);
        let careful = json!({"bytes": 500 * MB, "careful": true});
        let got: u64 = kit.answer("grow", &careful).await.parse().unwrap();
        assert!((30 * MB..=50 * MB).contains(&got), "{got}");
        let ended = kit.call("grow", &json!({"bytes": 500 * MB})).await;
        assert_eq!(limit(&ended), Limit::Memory);
        healthy(&kit).await;
    }
}

#[tokio::test]
async fn a04_memory_that_a_guest_starts_with_counts_too() {
    let bytes = text::component(&text::simple(200, "", ""));
    for host in Host::ALL {
        let small = Kit::new(host).limits(|limits| limits.memory_bytes = 10 * MB);
        let large = Kit::new(host);
        for _ in 0..3 {
            assert_eq!(limit(&small.call_bytes(&bytes, "{}").await), Limit::Memory);
            assert_eq!(content(&large.call_bytes(&bytes, "{}").await), "");
        }
    }
}

#[tokio::test]
async fn a05_huge_tables_are_refused() {
    let grow = |by: u32| {
        let body = format!(
            "(local.set $n (table.grow $t (ref.null func) (i32.const {by}))) {}",
            text::SAY_N
        );
        text::component(&text::simple(1, "(table $t 7 funcref)", &body))
    };
    let declared = text::component(&text::simple(1, "(table 9000000 funcref)", ""));
    for host in Host::ALL {
        let kit = Kit::new(host).limits(|limits| limits.memory_bytes = 50 * MB);
        assert_eq!(content(&kit.call_bytes(&grow(1_000), "{}").await), "7");
        let minus_one = u32::MAX.to_string();
        for by in [0x7fff_ffff, 0xffff_fff0, 10_000_000] {
            let ended = kit.call_bytes(&grow(by), "{}").await;
            assert_eq!(content(&ended), minus_one, "{by}");
        }
        reason(&kit.call_bytes(&declared, "{}").await);
        healthy(&kit).await;
    }
}

fn with_modules(count: usize, module: &str) -> Vec<u8> {
    let mut outer = format!("(core module $one {module})");
    for _ in 0..count {
        outer.push_str("(core instance (instantiate $one))");
    }
    let main = text::module(1, "", "");
    outer.push_str(&format!(
        "(core module $m {main}) (core instance $main (instantiate $m))"
    ));
    text::component(&text::tool(&outer))
}

#[tokio::test]
async fn a06_many_memories_are_summed_and_counted() {
    let few = with_modules(10, "(memory 16)");
    let many = with_modules(60, "(memory 64)");
    let too_many = with_modules(80, "(memory 1)");
    for host in Host::ALL {
        let kit = Kit::new(host).limits(|limits| limits.memory_bytes = 50 * MB);
        assert_eq!(content(&kit.call_bytes(&few, "{}").await), "");
        assert_eq!(limit(&kit.call_bytes(&many, "{}").await), Limit::Memory);
        reason(&kit.call_bytes(&too_many, "{}").await);
        healthy(&kit).await;
    }
}

#[tokio::test]
async fn a06_many_instances_and_tables_are_refused() {
    for module in ["", "(table 10 funcref)"] {
        let bytes = with_modules(700, module);
        for host in Host::ALL {
            let kit = Kit::new(host);
            reason(&kit.call_bytes(&bytes, "{}").await);
            healthy(&kit).await;
        }
    }
}

#[tokio::test]
async fn a06_a_module_with_several_tables_and_memories_runs_alike_everywhere() {
    let several = "(table 1 funcref) (table 2 funcref) (table 3 funcref) (memory 1) (memory 1)";
    let bytes = text::component(&text::simple(1, "", "").replace(
        "(core module $m",
        &format!(
            "(core module $side {several}) (core instance (instantiate $side)) (core module $m"
        ),
    ));
    for host in Host::ALL {
        let ended = Kit::new(host).call_bytes(&bytes, "{}").await;
        assert_eq!(content(&ended), "", "{host:?}");
    }
}

#[tokio::test]
async fn a08_traps_leave_the_pool_healthy() {
    for host in Host::ALL {
        let kit = Kit::new(host);
        for _ in 0..100 {
            let ended = kit.call("trap", &json!({})).await;
            assert!(matches!(ended.result, Err(Error::Trap { .. })), "{ended:?}");
            let said = String::from_utf8_lossy(&ended.traces.stderr).into_owned();
            assert!(said.contains("gave up on purpose"), "{said}");
        }
        let exit = reason(&kit.call("trap", &json!({"how": "exit"})).await);
        assert!(exit.contains("exited with code"), "{exit}");
        reason(&kit.call("trap", &json!({"how": "abort"})).await);
        healthy(&kit).await;
    }
}

/// A tool that calls `import` of WASI over and over; its last result is the answer.
fn caller(import: &str, lower: &str, signature: &str, body: &str) -> Vec<u8> {
    let main = text::module(
        1,
        &format!(r#"(import "wasi" "f" (func $f {signature}))"#),
        body,
    );
    text::component(&text::tool(&format!(
        r#"{import}
        (core module $libc (memory (export "memory") 40)
          (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 64)))
        (core instance $libc (instantiate $libc))
        (core func $f (canon lower (func $i "{lower}") (memory (core memory $libc "memory"))
          (realloc (core func $libc "realloc"))))
        (core module $m {main})
        (core instance $main (instantiate $m
          (with "wasi" (instance (export "f" (func $f))))))"#
    )))
}

#[tokio::test]
async fn a16_randomness_is_bounded_in_one_call_of_the_host() {
    let import = r#"(import "wasi:random/random@0.2.0" (instance $i
        (export "get-random-bytes" (func (param "len" u64) (result (list u8))))))"#;
    let ask = |bytes: u64| {
        let body = format!("(call $f (i64.const {bytes}) (i32.const 0))");
        caller(import, "get-random-bytes", "(param i64 i32)", &body)
    };
    let kit = Kit::new(Host::Pooling);
    assert_eq!(content(&kit.call_bytes(&ask(1_000), "{}").await), "");
    for bytes in [2 << 20, 1 << 40, u64::MAX >> 1] {
        reason(&kit.call_bytes(&ask(bytes), "{}").await);
        healthy(&kit).await;
    }
}

#[tokio::test]
async fn a16_pollables_are_bounded() {
    let import = r#"
      (import "wasi:io/poll@0.2.0" (instance $poll (export "pollable" (type (sub resource)))))
      (alias export $poll "pollable" (type $pollable))
      (import "wasi:clocks/monotonic-clock@0.2.0" (instance $i
        (alias outer 1 $pollable (type $p')) (export "pollable" (type $p (eq $p')))
        (export "subscribe-duration" (func (param "when" u64) (result (own $p))))))"#;
    let keep = |count: u32| {
        let body = format!(
            "(loop $l (drop (call $f (i64.const 1000000000000)))
               (local.set $i (i32.add (local.get $i) (i32.const 1)))
               (br_if $l (i32.lt_u (local.get $i) (i32.const {count}))))"
        );
        caller(
            import,
            "subscribe-duration",
            "(param i64) (result i32)",
            &body,
        )
    };
    let kit = Kit::new(Host::Pooling);
    assert_eq!(content(&kit.call_bytes(&keep(100), "{}").await), "");
    reason(&kit.call_bytes(&keep(10_000_000), "{}").await);
    healthy(&kit).await;
}

#[tokio::test]
async fn output_past_its_limit_stops_the_call_and_keeps_what_was_printed() {
    for host in Host::ALL {
        let kit = Kit::new(host).limits(|limits| limits.output_bytes = 10_000);
        let both = json!({"stdout": 10_000, "stderr": 10_000});
        let ended = kit.call("print", &both).await;
        assert_eq!(content(&ended), "printed");
        assert_eq!(
            (ended.traces.stdout.len(), ended.traces.stderr.len()),
            (10_000, 10_000)
        );
        for (stream, kept) in [("stdout", (10_000, 0)), ("stderr", (0, 10_000))] {
            let ended = kit.call("print", &json!({ stream: 100_000_000 })).await;
            assert_eq!(limit(&ended), Limit::Output, "{stream}");
            assert_eq!((ended.traces.stdout.len(), ended.traces.stderr.len()), kept);
        }
        healthy(&kit).await;
    }
}

#[tokio::test]
async fn every_part_of_a_result_counts_as_output() {
    let kit = Kit::new(Host::Pooling).limits(|limits| limits.output_bytes = 10_000);
    assert_eq!(
        kit.answer("result", &json!({"bytes": 10_000})).await.len(),
        10_000
    );
    for part in ["content", "message", "trace", "text", "options", "default"] {
        for bytes in [10_001, 2_000_000, 20_000_000] {
            let ended = kit
                .call("result", &json!({"as": part, "bytes": bytes}))
                .await;
            assert_eq!(limit(&ended), Limit::Output, "{part} {bytes}");
        }
    }
    healthy(&kit).await;
}

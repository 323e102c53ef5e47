//! A10 and A11: nothing of one call can be seen by the next, with and without spare instances.

use std::sync::atomic::{AtomicUsize, Ordering};

use jp_test::{Host, text};

use super::*;

/// Fills all of its memory beyond the first page, and grows it to have more to fill.
const FILL: &str = "
    (drop (memory.grow (i32.const 16)))
    (memory.fill (i32.const 65536) (i32.const 0xab) (i32.const 3145728))
    (global.set $g (i32.const 7))
    (table.set $t (i32.const 1) (ref.func $mark))";

/// Counts what it finds where nobody wrote yet.
const SCAN: &str = "
    (drop (memory.grow (i32.const 16)))
    (local.set $i (i32.const 65536))
    (loop $next
      (if (i32.load8_u (local.get $i)) (then (local.set $n (i32.add (local.get $n) (i32.const 1)))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $i) (i32.const 3211264))))
    (local.set $n (i32.add (local.get $n) (global.get $g)))
    (if (i32.eqz (ref.is_null (table.get $t (i32.const 1))))
      (then (local.set $n (i32.add (local.get $n) (i32.const 1)))))";

const STATE: &str = "
    (global $g (mut i32) (i32.const 0)) (table $t 4 funcref)
    (func $mark) (elem declare func $mark)";

#[tokio::test]
async fn a10_bytes_of_one_call_are_not_in_the_memory_of_the_next() {
    // Scanning first, then filling, so that one component can leave something for itself too.
    let both = text::component(&text::simple(
        33,
        STATE,
        &format!("{SCAN} {FILL} {}", text::SAY_N),
    ));
    let scan = text::component(&text::simple(33, STATE, &format!("{SCAN} {}", text::SAY_N)));
    for host in Host::ALL {
        let kit = Kit::new(host);
        for round in 0..30 {
            let found = kit.call_bytes(&both, "{}").await;
            assert_eq!(content(&found), "0", "{host:?} {round}, the same component");
            let found = kit.call_bytes(&scan, "{}").await;
            assert_eq!(content(&found), "0", "{host:?} {round}, another component");
        }
    }
}

#[tokio::test]
async fn a11_state_of_a_guest_never_survives_its_call() {
    for host in Host::ALL {
        let kit = Kit::new(host);
        for _ in 0..50 {
            healthy(&kit).await;
        }
    }
}

#[tokio::test]
async fn a11_spares_are_used_and_each_only_once() {
    let kit = Kit::new(Host::Spares);
    let prepared = kit
        .runtime()
        .prepare_path(jp_test::guest("environment"), &|_| {})
        .await
        .unwrap();
    let start = Instant::now();
    while kit.runtime().spare_use(&prepared).hits < 20 {
        let ended = kit.call_prepared(Ok(prepared.clone()), "{}").await;
        assert!(content(&ended).contains(r#""variables":[]"#));
        assert!(
            start.elapsed() < Duration::from_secs(300),
            "no spare was made"
        );
        tokio::task::yield_now().await;
    }
}

/// A tool whose start function asks the clock or waits for it, and which answers with what it saw.
fn early(waits: bool) -> Vec<u8> {
    let wait = "(call $block (call $subscribe (i64.const 1000000)))";
    let main = text::module(
        1,
        &format!(
            r#"(import "wasi" "now" (func $now (result i64)))
            (import "wasi" "subscribe" (func $subscribe (param i64) (result i32)))
            (import "wasi" "block" (func $block (param i32)))
            (global $seen (mut i64) (i64.const 0))
            (func $early {} (global.set $seen (call $now)))
            (start $early)"#,
            if waits { wait } else { "" }
        ),
        "(i64.store (i32.const 32) (i64.and (global.get $seen) (i64.const 0x3f3f3f3f3f3f3f3f)))
         (i64.store (i32.const 32) (i64.or (i64.load (i32.const 32)) (i64.const 0x4040404040404040)))
         (local.set $at (i32.const 32)) (local.set $len (i32.const 8))",
    );
    text::component(&text::tool(&format!(
        r#"
      (import "wasi:io/poll@0.2.0" (instance $poll (export "pollable" (type $p (sub resource)))
        (export "[method]pollable.block" (func (param "self" (borrow $p))))))
      (alias export $poll "pollable" (type $pollable))
      (import "wasi:clocks/monotonic-clock@0.2.0" (instance $clock
        (alias outer 1 $pollable (type $p')) (export "pollable" (type $p (eq $p')))
        (export "now" (func (result u64)))
        (export "subscribe-duration" (func (param "when" u64) (result (own $p))))))
      (core func $now (canon lower (func $clock "now")))
      (core func $subscribe (canon lower (func $clock "subscribe-duration")))
      (core func $block (canon lower (func $poll "[method]pollable.block")))
      (core module $m {main})
      (core instance $main (instantiate $m (with "wasi" (instance
        (export "now" (func $now)) (export "subscribe" (func $subscribe))
        (export "block" (func $block))))))"#
    )))
}

#[tokio::test]
async fn a_guest_that_calls_the_host_while_starting_gets_no_spares() {
    for waits in [false, true] {
        let bytes = early(waits);
        let kit = Kit::new(Host::Spares);
        let prepared = kit.runtime().prepare(&bytes, &|_| {}).await.unwrap();
        let mut seen = Vec::new();
        for _ in 0..50 {
            let ended = kit.call_prepared(Ok(prepared.clone()), "{}").await;
            seen.push(content(&ended).to_owned());
            tokio::task::yield_now().await;
        }
        assert_eq!(kit.runtime().spare_use(&prepared).hits, 0);
        a11_spares_still_work(&kit).await;
    }
}

/// Whatever a hostile guest did while it was started ahead of time, others still get spares.
async fn a11_spares_still_work(kit: &Kit) {
    let prepared = kit
        .runtime()
        .prepare_path(jp_test::guest("ask"), &|_| {})
        .await
        .unwrap();
    let (start, before) = (Instant::now(), kit.runtime().spare_use(&prepared).hits);
    while kit.runtime().spare_use(&prepared).hits < before + 10 {
        drop(kit.call_prepared(Ok(prepared.clone()), "{}").await);
        assert!(
            start.elapsed() < Duration::from_secs(300),
            "no spare was made"
        );
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_spare_has_the_files_of_its_call_and_of_no_other() {
    let wrong = AtomicUsize::new(0);
    for round in 0..40 {
        let kit = Kit::new(Host::Spares).file("mine.txt", &round.to_string());
        let read = json!([["read", "/workspace/mine.txt"]]);
        let found = kit.files(&read).await;
        if found != [format!("ok: {round}")] {
            wrong.fetch_add(1, Ordering::Relaxed);
        }
    }
    assert_eq!(wrong.into_inner(), 0);
}

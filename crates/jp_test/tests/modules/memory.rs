//! Pointers and lengths: each is the module's, and none is believed.

use jp_policy::Limit;
use jp_test::{
    Host, Kit,
    abi::{Abi, ECHO, data},
};

use crate::{call, content, limit, refused};

const OUT_OF_BOUNDS: &str = "WASM memory range out of bounds";

/// A module that answers with a place it may not have.
fn answering_at(at: u32, len: u32) -> Abi {
    Abi::running(&format!("(call $pack (i32.const {at}) (i32.const {len}))"))
}

/// A module whose `alloc` has this body.
fn allocating(body: &str) -> Abi {
    Abi {
        alloc: format!(r#"(func (export "alloc") (param $len i32) (result i32) {body})"#),
        ..Abi::default()
    }
}

#[tokio::test]
async fn output_outside_of_the_memory_is_refused() {
    let end = 2 * 65536;
    for (at, len) in [
        (end, 1),
        (end - 1, 2),
        (0, end + 1),
        (i32::MAX.unsigned_abs(), 1),
        (1, i32::MAX.unsigned_abs()),
        (i32::MAX.unsigned_abs(), i32::MAX.unsigned_abs()),
    ] {
        assert_eq!(
            refused(&answering_at(at, len)).await,
            OUT_OF_BOUNDS,
            "{at} {len}"
        );
    }
}

#[tokio::test]
async fn halves_of_two_to_the_31_and_more_are_refused() {
    let half = 1 << 31;
    for (at, len) in [
        (half, 2),
        (16, half),
        (u32::MAX, u32::MAX),
        (u32::MAX, 1),
        (half, 0),
    ] {
        assert_eq!(
            refused(&answering_at(at, len)).await,
            OUT_OF_BOUNDS,
            "{at} {len}"
        );
    }
}

#[tokio::test]
async fn output_at_the_very_end_of_the_memory_is_taken() {
    let end = 2 * 65536;
    let module = answering_at(end - 2, 2).with(&data(end - 2, b"[]"));
    assert_eq!(content(call(&module, "{}").await), "[]");
}

#[tokio::test]
async fn no_output_is_an_empty_object() {
    for module in [answering_at(0, 0), answering_at(i32::MAX.unsigned_abs(), 0)] {
        assert_eq!(content(call(&module, "{}").await), "{}");
    }
}

#[tokio::test]
async fn an_allocator_that_returns_nothing_or_garbage_is_refused() {
    let none = refused(&allocating("(i32.const 0)")).await;
    assert_eq!(none, "WASM alloc failed: it returned 0 for 2 bytes");
    for at in ["131072", "131071", "0x7fffffff", "-1", "-2147483648"] {
        let module = allocating(&format!("(i32.const {at})"));
        assert_eq!(refused(&module).await, OUT_OF_BOUNDS, "{at}");
    }
    assert_eq!(
        content(call(&allocating("(i32.const 131070)"), "{}").await),
        "{}"
    );
    let trap = refused(&allocating("(unreachable)")).await;
    assert!(trap.contains("unreachable"), "{trap}");
}

/// The answer may lie in, over or across the input: it is copied before anything is given back.
#[tokio::test]
async fn output_that_overlaps_the_input_is_read_before_either_is_given_back() {
    let wipes = r#"(func (export "dealloc") (param $at i32) (param $len i32)
      (memory.fill (local.get $at) (i32.const 0) (local.get $len)))"#;
    let same = Abi {
        dealloc: wipes.to_owned(),
        ..Abi::default()
    };
    assert_eq!(content(call(&same, "[1, 2]").await), "[1, 2]");
    let part = Abi {
        dealloc: wipes.to_owned(),
        ..Abi::running(
            "(call $pack (i32.add (local.get $at) (i32.const 1))
               (i32.sub (local.get $len) (i32.const 2)))",
        )
    };
    assert_eq!(content(call(&part, "[[1]]").await), "[1]");
}

/// Counts what is given back: a global goes up by a thousand and the length each time.
#[tokio::test]
async fn both_buffers_are_given_back_once() {
    let counting = |body: &str| Abi {
        dealloc: r#"
          (global $freed (mut i32) (i32.const 0))
          (func (export "dealloc") (param $at i32) (param $len i32)
            (global.set $freed (i32.add (global.get $freed)
              (i32.add (i32.const 1000) (local.get $len))))
            (if (i32.gt_u (global.get $freed) (i32.const 2000)) (then (loop $ever (br $ever)))))"#
            .to_owned(),
        ..Abi::running(body)
    };
    let spinning = Kit::new(Host::OnDemand).limits(|limits| limits.fuel = Some(1_000_000));
    let two = counting(
        "(i32.store8 (i32.const 16) (i32.const 49)) (call $pack (i32.const 16) (i32.const 1))",
    );
    let ended = spinning.call_bytes(&two.bytes(), "{}").await;
    assert_eq!(
        limit(&ended),
        Limit::Fuel,
        "the second buffer was given back"
    );
    let one = counting(ECHO);
    assert_eq!(content(spinning.call_bytes(&one.bytes(), "{}").await), "{}");
}

#[tokio::test]
async fn memory_that_grows_between_the_calls_is_looked_at_anew() {
    let grows_in_alloc = Abi {
        alloc: r#"(func (export "alloc") (param $len i32) (result i32)
          (i32.mul (memory.grow (i32.const 1)) (i32.const 65536)))"#
            .to_owned(),
        ..Abi::default()
    };
    assert_eq!(content(call(&grows_in_alloc, "[3]").await), "[3]");
    let grows_in_execute = Abi::running(
        "(local.set $i (i32.mul (memory.grow (i32.const 100)) (i32.const 65536)))
         (memory.copy (local.get $i) (local.get $at) (local.get $len))
         (call $pack (local.get $i) (local.get $len))",
    );
    assert_eq!(content(call(&grows_in_execute, "[4]").await), "[4]");
}

#[tokio::test]
async fn a_trap_while_giving_back_is_no_failure() {
    let module = Abi {
        dealloc: r#"(func (export "dealloc") (param i32 i32) (unreachable))"#.to_owned(),
        ..Abi::saying(r#"{"ok": true}"#)
    };
    assert_eq!(content(call(&module, "{}").await), r#"{"ok": true}"#);
}

#[tokio::test]
async fn output_beyond_its_limit_is_refused_before_it_is_copied() {
    let large = Abi {
        memory: r#"(memory (export "memory") 1100)"#.to_owned(),
        ..Abi::running(
            "(memory.fill (i32.const 8192) (i32.const 49) (i32.const 0x4000000))
             (call $pack (i32.const 8192) (i32.const 0x4000000))",
        )
    };
    assert_eq!(limit(&call(&large, "{}").await), Limit::Output);
    let kit = Kit::new(Host::OnDemand).limits(|limits| limits.output_bytes = 1 << 27);
    let ended = kit.call_bytes(&large.bytes(), "{}").await;
    assert_eq!(
        content(ended).len(),
        0x400_0000,
        "a number of 64 MiB, within its limit"
    );
}

#[tokio::test]
async fn arguments_may_be_as_large_as_the_output() {
    let kit = Kit::new(Host::OnDemand).limits(|limits| limits.output_bytes = 1 << 20);
    let roomy = Abi {
        memory: r#"(memory (export "memory") 40)"#.to_owned(),
        ..Abi::default()
    };
    let text = |len: usize| format!("\"{}\"", "x".repeat(len - 2));
    let ended = kit.call_bytes(&roomy.bytes(), &text(1 << 20)).await;
    assert_eq!(content(ended).len(), 1 << 20);
    let ended = kit.call_bytes(&roomy.bytes(), &text((1 << 20) + 1)).await;
    assert_eq!(
        crate::message(ended),
        "WASM tool input too large: 1048577 bytes (max 1048576)"
    );
}

#[tokio::test]
async fn a_module_with_more_memory_than_its_limit_never_starts() {
    let module = Abi {
        memory: r#"(memory (export "memory") 1000)"#.to_owned(),
        ..Abi::default()
    };
    for host in Host::ALL {
        let kit = Kit::new(host).limits(|limits| limits.memory_bytes = 10 << 20);
        let ended = kit.call_bytes(&module.bytes(), "{}").await;
        assert_eq!(limit(&ended), Limit::Memory);
    }
    let grows = Abi::running(
        "(if (i32.eq (memory.grow (i32.const 1000)) (i32.const -1)) (then (unreachable)))
         (call $pack (i32.const 0) (i32.const 0))",
    );
    let kit = Kit::new(Host::OnDemand).limits(|limits| limits.memory_bytes = 10 << 20);
    let ended = kit.call_bytes(&grows.bytes(), "{}").await;
    assert_eq!(limit(&ended), Limit::Memory);
}

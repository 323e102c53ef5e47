//! Modules that do not come to an end, wherever they are: each is stopped, and harms nobody.

use std::time::{Duration, Instant};

use jp_policy::Limit;
use jp_test::{Host, Kit, abi::Abi};
use jp_wasm::Error;
use tokio_util::sync::CancellationToken;

use crate::{content, limit};

/// Far more than stopping a module takes, far less than it would run by itself.
const SOON: Duration = Duration::from_secs(300);

const SPIN: &str = "(loop $ever (br $ever))";

/// A module that spins in each of the places where it can.
fn spinning() -> Vec<(&'static str, Abi)> {
    vec![
        (
            "start",
            Abi::default().with(&format!("(func $spin {SPIN}) (start $spin)")),
        ),
        (
            "alloc",
            Abi {
                alloc: format!(
                    r#"(func (export "alloc") (param i32) (result i32) {SPIN} (unreachable))"#
                ),
                ..Abi::default()
            },
        ),
        ("execute", Abi::running(&format!("{SPIN} (unreachable)"))),
        (
            "dealloc",
            Abi {
                dealloc: format!(r#"(func (export "dealloc") (param i32 i32) {SPIN})"#),
                ..Abi::default()
            },
        ),
    ]
}

async fn healthy(host: Host) {
    let ended = Kit::new(host)
        .call_bytes(&Abi::default().bytes(), "[]")
        .await;
    assert_eq!(content(ended), "[]");
}

#[tokio::test]
async fn a_module_that_spins_is_stopped_at_its_deadline_wherever_it_does() {
    for host in Host::ALL {
        for (place, module) in spinning() {
            let kit = Kit::new(host).limits(|limits| limits.time = Duration::from_millis(100));
            let started = Instant::now();
            let ended = kit.call_bytes(&module.bytes(), "{}").await;
            assert_eq!(limit(&ended), Limit::Time, "{place}");
            assert!(started.elapsed() < SOON, "{place}");
        }
        healthy(host).await;
    }
}

#[tokio::test]
async fn a_module_that_spins_runs_out_of_fuel_wherever_it_does() {
    for (place, module) in spinning() {
        let kit = Kit::new(Host::OnDemand).limits(|limits| limits.fuel = Some(1_000_000));
        let ended = kit.call_bytes(&module.bytes(), "{}").await;
        assert_eq!(limit(&ended), Limit::Fuel, "{place}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_module_that_spins_is_stopped_when_it_is_cancelled() {
    for (place, module) in spinning() {
        let cancel = CancellationToken::new();
        let kit = Kit::new(Host::Pooling).cancelled_by(&cancel);
        let call = tokio::spawn(async move { kit.call_bytes(&module.bytes(), "{}").await });
        cancel.cancel();
        let ended = call.await.unwrap();
        assert!(matches!(ended.result, Err(Error::Cancelled)), "{place}");
    }
    healthy(Host::Pooling).await;
}

#[tokio::test]
async fn a_trap_says_where() {
    let deep = Abi::running("(call $down) (unreachable)").with("(func $down (call $down))");
    let reason = crate::refused(&deep).await;
    assert!(reason.contains("call stack exhausted"), "{reason}");
    let start = Abi::default().with("(func $boom (unreachable)) (start $boom)");
    assert!(crate::refused(&start).await.contains("unreachable"));
}

#[tokio::test]
async fn nothing_of_one_call_is_left_for_the_next() {
    let counts = Abi::running(
        "(i32.store8 (i32.const 16) (i32.add (i32.load8_u (i32.const 16)) (i32.const 1)))
         (call $pack (i32.const 16) (i32.const 1))",
    )
    .with(r#"(data (i32.const 16) "0")"#);
    for host in Host::ALL {
        let kit = Kit::new(host);
        for _ in 0..10 {
            assert_eq!(content(kit.call_bytes(&counts.bytes(), "{}").await), "1");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn modules_are_answered_by_spares() {
    let kit = Kit::new(Host::Spares);
    let bytes = Abi::default().with("(func)").bytes();
    let prepared = kit.runtime().prepare(&bytes, &|_| {}).await.unwrap();
    let until = Instant::now() + SOON;
    while kit.runtime().spare_use(&prepared).hits == 0 {
        assert!(Instant::now() < until, "no spare was ever there");
        content(kit.call_prepared(Ok(prepared.clone()), "{}").await);
        tokio::task::yield_now().await;
    }
}

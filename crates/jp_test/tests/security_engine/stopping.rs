//! A1, A2, A7, A9, A12, A13: whatever a guest does or waits for, it ends when it has to, and
//! nobody else does.

use std::pin::pin;

use jp_test::{Host, text};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::*;

const DEADLINE: Duration = Duration::from_millis(200);

#[tokio::test]
async fn a01_infinite_loop_is_stopped_by_its_deadline() {
    for host in Host::ALL {
        let kit = Kit::new(host).limits(short);
        kit.runtime()
            .prepare_path(jp_test::guest("spin"), &|_| {})
            .await
            .unwrap();
        let ended = ends(DEADLINE, kit.call("spin", &json!({}))).await;
        assert_eq!(limit(&ended), Limit::Time);
        assert!(ended.traces.fuel > 1_000, "it did compute");
        healthy(&kit.limits(long)).await;
    }
}

#[tokio::test]
async fn a01_infinite_loop_is_stopped_by_its_fuel() {
    let kit = Kit::new(Host::Pooling).limits(|limits| limits.fuel = Some(1_000_000));
    let ended = kit.call("spin", &json!({})).await;
    assert_eq!(limit(&ended), Limit::Fuel);
    assert!((1_000_000..1_001_000).contains(&ended.traces.fuel));
}

#[tokio::test]
async fn a02_loop_inside_a_storm_of_host_calls_is_stopped() {
    for calls in ["clock", "random"] {
        let kit = Kit::new(Host::Pooling).limits(short);
        let ended = kit.call("spin", &json!({ "calls": calls })).await;
        assert_eq!(limit(&ended), Limit::Time, "{calls}");
        healthy(&kit.limits(long)).await;
    }
}

#[tokio::test]
async fn a07_start_function_that_spins_is_stopped_by_the_same_deadline() {
    let start = "(func $spin (loop $l (br $l))) (start $spin)";
    let bytes = text::component(&text::simple(1, start, ""));
    for host in Host::ALL {
        let kit = Kit::new(host).limits(short);
        let prepared = kit.runtime().prepare(&bytes, &|_| {}).await;
        let ended = ends(DEADLINE, kit.call_prepared(prepared, "{}")).await;
        assert_eq!(limit(&ended), Limit::Time, "{host:?}");
        healthy(&kit.limits(long)).await;
    }
}

#[tokio::test]
async fn a07_a_time_limit_beyond_the_clock_neither_wraps_nor_panics() {
    let kit = Kit::new(Host::OnDemand).limits(|limits| limits.time = Duration::MAX);
    healthy(&kit).await;
}

#[tokio::test]
async fn a09_a_call_dropped_in_the_middle_leaves_nothing_behind() {
    for host in Host::ALL {
        let kit = Kit::new(host);
        for (guest, arguments) in [("sleep", json!({"ms": 60_000})), ("spin", json!({}))] {
            let prepared = kit
                .runtime()
                .prepare_path(jp_test::guest(guest), &|_| {})
                .await
                .unwrap();
            let arguments = arguments.to_string();
            for _ in 0..20 {
                let mut call = pin!(kit.call_prepared(Ok(prepared.clone()), &arguments));
                started(&mut call).await;
            }
            healthy(&kit).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a12_timeout_of_one_call_never_touches_another() {
    let timed_out = tokio::spawn(async {
        for _ in 0..3 {
            let ended = Kit::new(Host::Pooling)
                .limits(short)
                .call("spin", &json!({}))
                .await;
            assert_eq!(limit(&ended), Limit::Time);
        }
    });
    let sleeper = tokio::spawn(async {
        let kit = Kit::new(Host::Pooling);
        assert_eq!(kit.answer("sleep", &json!({"ms": 700})).await, "awake");
    });
    let stop = CancellationToken::new();
    let spinner = tokio::spawn({
        let kit = Kit::new(Host::Pooling).limits(long).cancelled_by(&stop);
        async move { kit.call("spin", &json!({})).await }
    });
    timed_out.await.unwrap();
    sleeper.await.unwrap();
    assert!(!spinner.is_finished(), "the spinner has an hour");
    stop.cancel();
    assert_eq!(reason(&spinner.await.unwrap()), "cancelled");
}

#[tokio::test]
async fn a13_waiting_in_the_host_counts_against_the_deadline() {
    for host in Host::ALL {
        let kit = Kit::new(host).limits(short);
        let prepared = kit
            .runtime()
            .prepare_path(jp_test::guest("sleep"), &|_| {})
            .await;
        let arguments = json!({ "ms": AGES }).to_string();
        let call = kit.call_prepared(prepared, &arguments);
        assert_eq!(limit(&ends(DEADLINE, call).await), Limit::Time);
        healthy(&kit.limits(long)).await;
    }
}

async fn is_cancelled(host: Host, guest: &str, arguments: Value) {
    let cancel = CancellationToken::new();
    let kit = Kit::new(host).limits(long).cancelled_by(&cancel);
    let prepared = kit
        .runtime()
        .prepare_path(jp_test::guest(guest), &|_| {})
        .await;
    let arguments = arguments.to_string();
    let mut call = pin!(kit.call_prepared(prepared, &arguments));
    started(&mut call).await;
    cancel.cancel();
    let ended = ends(Duration::ZERO, call).await;
    assert_eq!(reason(&ended), "cancelled", "{guest}");
    let ended = kit.call("counter", &json!({})).await;
    assert_eq!(reason(&ended), "cancelled", "a cancelled token stays so");
    healthy(&Kit::new(host)).await;
}

#[tokio::test]
async fn cancelling_stops_a_guest_that_computes_and_one_that_waits() {
    for host in Host::ALL {
        is_cancelled(host, "spin", json!({})).await;
        is_cancelled(host, "sleep", json!({ "ms": AGES })).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_spinning_guests_all_end_at_their_deadline() {
    let calls: Vec<_> = (0..20)
        .map(|_| {
            tokio::spawn(async {
                let kit = Kit::new(Host::Pooling).limits(short);
                limit(&kit.call("spin", &json!({})).await)
            })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap(), Limit::Time);
    }
    healthy(&Kit::new(Host::Pooling)).await;
}

//! What a hostile guest may try against the engine: checklist A of the threat model, one test or
//! more per line, each on every kind of host where the kind matters.
//!
//! Times here are safety bounds only; how quickly a guest is stopped is measured by the benches.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod compiling;
mod exhaustion;
mod isolation;
mod stopping;

use std::{
    future::{Future, poll_fn},
    pin::Pin,
    task::Poll,
    time::{Duration, Instant},
};

use jp_policy::{Limit, Limits};
use jp_test::Kit;
use jp_tool::Outcome;
use jp_wasm::{Ended, Error};
use serde_json::json;

/// Far more than stopping a guest takes on the busiest machine, far less than it would run by itself.
const SOON: Duration = Duration::from_secs(300);

/// How long a guest sleeps that is stopped, in milliseconds.
const AGES: u64 = 3_600_000;

/// Far more than any test takes.
fn long(limits: &mut Limits) {
    limits.time = Duration::from_secs(3600);
}

fn short(limits: &mut Limits) {
    limits.time = Duration::from_millis(200);
}

fn limit(ended: &Ended) -> Limit {
    match &ended.result {
        Err(Error::Limit { limit }) => *limit,
        Err(error) => panic!("no limit stopped it: {error}"),
        Ok(_) => panic!("it answered"),
    }
}

fn content(ended: &Ended) -> &str {
    match &ended.result {
        Ok(Outcome::Success { content }) => content,
        other => panic!("it did not succeed: {other:?}"),
    }
}

fn reason(ended: &Ended) -> String {
    match &ended.result {
        Err(error) => error.to_string(),
        Ok(outcome) => panic!("it answered: {outcome:?}"),
    }
}

/// Checks that the host still does honest work.
async fn healthy(kit: &Kit) {
    assert_eq!(kit.answer("counter", &json!({})).await, "1");
}

/// Lets a call run until it gives its thread back for the first time, and no further.
async fn started<F: Future>(call: &mut Pin<&mut F>) {
    poll_fn(|cx| {
        assert!(call.as_mut().poll(cx).is_pending(), "it ended at once");
        Poll::Ready(())
    })
    .await;
}

/// Runs a call that has to end soon, and not before `at_least`.
async fn ends<T>(at_least: Duration, call: impl Future<Output = T>) -> T {
    let start = Instant::now();
    let result = call.await;
    let took = start.elapsed();
    assert!(took >= at_least, "ended after {took:?}");
    assert!(took < SOON, "ended after {took:?}");
    result
}

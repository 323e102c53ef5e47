//! HTTPS requests to one host on loopback, one after the other, over connections that are kept.
//!
//! `cargo bench -p jp_bench --bench http`. To compare with another commit without building all of
//! it: `cargo run --release -p jp_broker --example https_requests` on both sides.

#![expect(clippy::unwrap_used, reason = "a bench that cannot go on stops")]

#[path = "kit/https.rs"]
mod https;

use https::Secure;
use jp_bench::{Samples, rounds, wanted};

/// Requests that are measured as one.
const REQUESTS: usize = 1000;

fn main() {
    let secure = Secure::start();
    let mut requests = Samples::new("http/https-requests/1000");
    let mut calls = Samples::new("http/https-calls/1000");
    for _ in 0..rounds(10) {
        if wanted("requests") {
            requests.add(secure.requests(REQUESTS));
        }
        if wanted("calls") {
            calls.add(secure.calls(REQUESTS));
        }
    }
    requests.report(None);
    calls.report(Some(&requests));
}

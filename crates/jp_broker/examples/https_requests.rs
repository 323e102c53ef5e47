//! Measures 1,000 HTTPS requests to one host on loopback, like the bench `http` of `jp_bench`, with
//! nothing else to build: for comparing two commits.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement prints, and stops when it cannot go on"
)]

#[path = "../../jp_bench/benches/kit/https.rs"]
mod https;

fn main() {
    let secure = https::Secure::start();
    for _ in 0..3 {
        let (requests, calls) = (secure.requests(1000), secure.calls(1000));
        println!("requests {requests:.1?}   calls {calls:.1?}");
    }
}

//! Connections that have made one request and do nothing.

use crate::{Scale, Verdict, client::Client, site::Site};

/// One may have as much memory, in KiB.
const MOST: f64 = 64.0;

pub(crate) fn run(jp: &str, scale: Scale, verdict: &mut Verdict) {
    let site = Site::start(jp);
    let mut first = Client::new(site.addr);
    first.list();
    let before = site.memory();
    let count = scale.of(1_000);
    let clients: Vec<Client> = (0..count)
        .map(|_| {
            let mut client = Client::new(site.addr);
            client.list();
            client
        })
        .collect();
    let each = site.memory().saturating_sub(before) as f64 / clients.len() as f64;
    let text = format!("idle: {count} connections, {each:.1} KiB each");
    verdict.figure(text, each < MOST);
}

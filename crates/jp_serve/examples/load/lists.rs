//! Lists while the tools of other callers are busy: those that spin, flood, trap, or ask forever.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Map, Value, json};

use crate::{Scale, Verdict, client::Client, site::Site};

/// Lists without and with busy tools take turns, so that what else the machine does meets both.
const TURNS: usize = 10;

/// So many callers are busy at once.
const BUSY: usize = 2;

/// How much longer a list may take beside them.
const MOST: f64 = 2.0;

/// What a busy caller does, again and again.
type Work = fn(&mut Client);

const KINDS: [(&str, Work); 5] = [
    ("spin", spin),
    ("flood", flood),
    ("bash floods", bash_floods),
    ("trap", trap),
    ("ask", ask),
];

pub(crate) fn run(jp: &str, scale: Scale, verdict: &mut Verdict) {
    let site = Site::start(jp);
    let mut client = Client::new(site.addr);
    for (name, work) in KINDS {
        // Compiles the tool, and shows that the call is what it is meant to be.
        work(&mut Client::new(site.addr));
        let (mut idle, mut busy) = (Vec::new(), Vec::new());
        let each = scale.of(2_000).div_ceil(TURNS);
        for _ in 0..TURNS {
            measure(&mut client, each, &mut idle);
            beside(&site, work, || measure(&mut client, each, &mut busy));
        }
        let (idle_half, busy_half) = (at(&mut idle, 50), at(&mut busy, 50));
        let (idle, busy) = (at(&mut idle, 99), at(&mut busy, 99));
        let ratio = busy.as_secs_f64() / idle.as_secs_f64();
        let text = format!(
            "lists beside {BUSY} x {name}: p99 {busy:?}, {idle:?} idle, {ratio:.2} x (p50 {busy_half:?}, {idle_half:?} \
             idle)"
        );
        verdict.figure(text, ratio <= MOST);
    }
}

/// Does something while callers are busy.
fn beside(site: &Site, work: Work, then: impl FnOnce()) {
    // One for each caller that is at work, and none once they are to end.
    let (begun, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..BUSY {
            scope.spawn(|| {
                let mut client = Client::new(site.addr);
                client.list();
                begun.fetch_add(1, Ordering::SeqCst);
                while ended.load(Ordering::SeqCst) == 0 {
                    work(&mut client);
                }
            });
        }
        while begun.load(Ordering::SeqCst) < BUSY {
            thread::yield_now();
        }
        // Their calls are under way by then, or the measurement is kinder than it says.
        thread::sleep(Duration::from_millis(20));
        then();
        ended.store(1, Ordering::SeqCst);
    });
}

fn measure(client: &mut Client, count: usize, times: &mut Vec<Duration>) {
    client.list();
    for _ in 0..count {
        let started = Instant::now();
        client.list();
        times.push(started.elapsed());
    }
}

fn at(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    times[(times.len() * percent / 100).min(times.len() - 1)]
}

/// Computes until its time is over.
fn spin(client: &mut Client) {
    let answer = client.call("spin", &json!({}));
    is_refused(&answer, "time");
}

/// Prints until that is too much.
fn flood(client: &mut Client) {
    let answer = client.call("print", &json!({"stdout": 1_u64 << 50}));
    is_refused(&answer, "output");
}

fn bash_floods(client: &mut Client) {
    let answer = client.call("bash", &json!({"commands": "yes"}));
    is_refused(&answer, "limit");
}

fn trap(client: &mut Client) {
    let answer = client.call("trap", &json!({}));
    is_refused(&answer, "trap");
}

/// Answers whatever the tool asks, until the server has heard enough.
fn ask(client: &mut Client) {
    let arguments = json!({"forever": true});
    let mut answer = client.call("ask", &arguments);
    let mut rounds = 0;
    while answer["result"]["resultType"] == "input_required" {
        rounds += 1;
        let requests = answer["result"]["inputRequests"].as_object().unwrap();
        let more = json!({
            "requestState": answer["result"]["requestState"],
            "inputResponses": requests.iter().map(|(key, request)| (key.clone(), fill(request))).collect::<Map<_, _>>(),
        });
        answer = client.call_again("ask", &arguments, more);
    }
    assert!(rounds > 1, "{answer}");
    is_refused(&answer, "question");
}

/// Fills a form in with a word for each field.
fn fill(request: &Value) -> Value {
    let fields = request["params"]["requestedSchema"]["properties"].as_object();
    let words = fields.unwrap().keys().map(|key| (key.clone(), json!("x")));
    json!({"action": "accept", "content": words.collect::<Map<_, _>>()})
}

fn is_refused(answer: &Value, word: &str) {
    let text = answer["result"]["content"][0]["text"].as_str();
    let text = text.unwrap_or_else(|| panic!("{answer}"));
    assert!(
        answer["result"]["isError"] == true && text.contains(word),
        "{answer}"
    );
}

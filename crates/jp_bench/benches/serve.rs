//! `jp serve` beside a bare rmcp server with an empty tool, in one run: calls, throughput, lists, search.
//!
//! `cargo bench -p jp_bench --bench serve`, or with the names of cases after `--`. Each server is a process of its
//! own, and each client reads the whole answer. Ours runs the trivial component through the whole pipeline, with
//! the audit log on and a store for tasks.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_precision_loss,
    reason = "a bench that cannot go on stops"
)]

mod kit;
#[path = "kit/server.rs"]
mod server;
#[path = "kit/wire.rs"]
mod wire;

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use jp_bench::{Samples, line, rounds, wanted};
use kit::Workspace;
use rmcp::model::Tool;
use serde_json::{Value, json};
use server::{Lists, Plan, Running};
use wire::{Http, Prepared, Streams, Wire, message};

/// Requests to one server before the other has its turn.
const BATCH: usize = 50;

/// Connections, or requests under way, where throughput is measured.
const AT_ONCE: usize = 8;

fn main() {
    if server::serve_if_told() {
        return;
    }
    let cases: [(&str, fn()); 7] = [
        ("call_stdio", call_stdio),
        ("call_http", call_http),
        ("throughput_stdio", throughput_stdio),
        ("throughput_http", throughput_http),
        ("list", list),
        ("search", search),
        ("busy", busy),
    ];
    for (_, case) in cases.iter().filter(|(name, _)| wanted(name)) {
        case();
    }
}

/// Both servers: ours of a workspace, and the bare one with the same tools and the same answer to a call.
struct Pair {
    workspace: Workspace,
    bare: Plan,
}

impl Pair {
    /// Serves the component that answers with what it was called with.
    fn echo() -> Self {
        Self::of(Workspace::new(&["echo"], 0))
    }

    fn of(workspace: Workspace) -> Self {
        let (_running, input, output) = Running::on_streams(&ours(&workspace, Lists::Whole));
        let mut client = Streams::new(input, output);
        let list = message(client.ask(&Prepared::new("tools/list", &json!({}))));
        let tools: Vec<Tool> = serde_json::from_value(list["result"]["tools"].clone()).unwrap();
        let answer = message(client.ask(&Prepared::new("tools/call", &hello())));
        let answer = answer["result"]["content"][0]["text"].as_str();
        let answer = answer.unwrap_or_default().to_owned();
        Self {
            workspace,
            bare: Plan::Bare { tools, answer },
        }
    }

    fn plans(&self) -> [Plan; 2] {
        let Plan::Bare { tools, answer } = &self.bare else {
            panic!("the yardstick is bare");
        };
        let (tools, answer) = (tools.clone(), answer.clone());
        [
            Plan::Bare { tools, answer },
            ours(&self.workspace, Lists::Whole),
        ]
    }
}

fn ours(workspace: &Workspace, lists: Lists) -> Plan {
    Plan::Ours {
        root: workspace.root().to_owned(),
        user: workspace.user.clone(),
        lists,
    }
}

/// A call of the trivial component.
fn hello() -> Value {
    json!({"name": "echo", "arguments": {"text": "hello"}})
}

/// Sends a request to both in turn, and tells the times.
fn compare<W: Wire>(
    names: [&'static str; 2],
    wires: &mut [W; 2],
    request: &Prepared,
    turns: usize,
) {
    for wire in wires.iter_mut() {
        let answer = message(wire.ask(request));
        assert!(answer["result"].is_object(), "{answer}");
        assert_ne!(answer["result"]["isError"], true, "{answer}");
    }
    let mut samples = names.map(Samples::new);
    for turn in 0..rounds(turns) {
        for (wire, samples) in wires.iter_mut().zip(&mut samples) {
            for _ in 0..rounds(BATCH) {
                let started = Instant::now();
                wire.ask(request);
                // The first turn fills caches.
                (turn > 0 || turns == 1).then(|| samples.add(started.elapsed()));
            }
        }
    }
    let [bare, ours] = &samples;
    bare.report(None);
    ours.report(Some(bare));
}

/// Warm calls on standard streams: of a client that shook hands, and of one of the newest revision.
fn call_stdio() {
    let pair = Pair::echo();
    let servers = pair.plans().map(|plan| Running::on_streams(&plan));
    let mut running = Vec::new();
    let mut wires = servers.map(|(server, input, output)| {
        running.push(server);
        Streams::new(input, output)
    });
    let request = Prepared::new("tools/call", &hello());
    let names = ["rmcp/call-stdio/1", "serve/call-stdio/1"];
    compare(names, &mut wires, &request, 200);
    let servers = pair.plans().map(|plan| Running::on_streams(&plan));
    let mut wires = servers.map(|(server, input, output)| {
        running.push(server);
        Streams::modern(input, output)
    });
    let request = Prepared::modern("tools/call", hello());
    let names = ["rmcp/call-stdio-2026/1", "serve/call-stdio-2026/1"];
    compare(names, &mut wires, &request, 200);
}

/// Warm calls over HTTP, on a connection that is kept.
fn call_http() {
    let pair = Pair::echo();
    let servers = pair.plans().map(|plan| Running::on_http(&plan));
    let mut wires = [Http::new(servers[0].1), Http::new(servers[1].1)];
    let request = Prepared::modern("tools/call", hello());
    let names = ["rmcp/call-http/1", "serve/call-http/1"];
    compare(names, &mut wires, &request, 200);
}

/// Calls a second of one client on standard streams that has several under way.
fn throughput_stdio() {
    let pair = Pair::echo();
    let servers = pair.plans().map(|plan| Running::on_streams(&plan));
    let mut running = Vec::new();
    let mut wires = servers.map(|(server, input, output)| {
        running.push(server);
        Streams::new(input, output)
    });
    let request = Prepared::new("tools/call", &hello());
    let calls = rounds(4_000);
    let rates = wires.each_mut().map(|wire| {
        let request = &request;
        move || {
            let started = Instant::now();
            for _ in 0..AT_ONCE.min(calls) {
                wire.send(request);
            }
            for heard in 0..calls {
                wire.hear();
                if heard + AT_ONCE < calls {
                    wire.send(request);
                }
            }
            calls as f64 / started.elapsed().as_secs_f64()
        }
    });
    throughput("stdio", rates);
}

/// Calls a second of several clients over HTTP.
fn throughput_http() {
    let pair = Pair::echo();
    let servers = pair.plans().map(|plan| Running::on_http(&plan));
    let request = Prepared::modern("tools/call", hello());
    let calls = rounds(500);
    let rates = servers.each_ref().map(|(_, addr)| {
        let mut clients: Vec<Http> = (0..AT_ONCE).map(|_| Http::new(*addr)).collect();
        let request = &request;
        move || {
            let started = Instant::now();
            thread::scope(|scope| {
                for client in &mut clients {
                    scope.spawn(move || {
                        for _ in 0..calls {
                            client.ask(request);
                        }
                    });
                }
            });
            (calls * AT_ONCE) as f64 / started.elapsed().as_secs_f64()
        }
    });
    throughput("http", rates);
}

/// Measures both in turn, and prints the rates and the ratio of each turn.
fn throughput<F: FnMut() -> f64>(over: &str, mut servers: [F; 2]) {
    let mut turns = Vec::new();
    for turn in 0..=rounds(15) {
        let [bare, ours] = servers.each_mut().map(|server| server());
        if turn > 0 {
            turns.push((ours / bare, bare, ours));
        }
    }
    turns.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (ratio, bare, ours) = turns[turns.len() / 2];
    let (least, most) = (turns[0].0, turns[turns.len() - 1].0);
    let case = format!("serve/throughput-{over}/{AT_ONCE}");
    line(&format!(
        "{case:<34} {ours:.0} calls/s, {bare:.0} of the bare one: {ratio:.2} x ({least:.2} to {most:.2} in {} turns)",
        turns.len()
    ));
}

/// A workspace with many tools, described as tools usually are.
fn crowded(count: usize) -> Workspace {
    let verbs = ["Creates", "Reads", "Deletes", "Finds", "Sends", "Merges"];
    let things = [
        "invoice", "ticket", "branch", "message", "calendar", "contact", "file", "table",
    ];
    let mut config = String::new();
    for n in 0..count {
        let (verb, thing) = (
            verbs[n % verbs.len()],
            things[n / verbs.len() % things.len()],
        );
        config.push_str(&format!(
            "[conversation.tools.{}_{thing}_{n}]\nsource = \"local\"\nwasm = \".jp/tools/echo.wasm\"\nrun = \"unattended\"\n\
             description = \"{verb} one {thing} of project {n}. The {thing} must belong to the caller, and the result says \
             what has become of it.\"\n\
             parameters.id = {{ type = \"string\", required = true, description = \"which {thing} is meant\" }}\n\
             parameters.reason = {{ type = \"string\", description = \"why it is done, for the record\" }}\n\
             parameters.limit = {{ type = \"integer\", description = \"at most so many\" }}\n",
            verb.to_lowercase()
        ));
    }
    let echo = fs::read(jp_test::guest("echo")).unwrap();
    Workspace::configured(&config, &[("echo", echo)], 0)
}

/// Lists of 500 tools.
fn list() {
    let pair = Pair::of(crowded(rounds(500)));
    let servers = pair.plans().map(|plan| Running::on_streams(&plan));
    let mut running = Vec::new();
    let mut wires = servers.map(|(server, input, output)| {
        running.push(server);
        Streams::new(input, output)
    });
    let request = Prepared::new("tools/list", &json!({}));
    let [bare, ours] = wires.each_mut().map(|wire| wire.ask(&request).len());
    line(&format!(
        "  a list has {ours} bytes, {bare} of the bare one"
    ));
    let names = ["rmcp/list-stdio/500", "serve/list-stdio/500"];
    compare(names, &mut wires, &request, 20);
    let servers = pair.plans().map(|plan| Running::on_http(&plan));
    let mut wires = [Http::new(servers[0].1), Http::new(servers[1].1)];
    let request = Prepared::modern("tools/list", json!({}));
    let names = ["rmcp/list-http/500", "serve/list-http/500"];
    compare(names, &mut wires, &request, 20);
}

/// Search over 1,000 tools, from the request to the end of the answer.
fn search() {
    let workspace = crowded(rounds(1_000));
    let (_running, input, output) = Running::on_streams(&ours(&workspace, Lists::Lazy));
    let mut client = Streams::new(input, output);
    let words =
        json!({"name": "search_tools", "arguments": {"query": "find the calendar of a project"}});
    let request = Prepared::new("tools/call", &words);
    let found = message(client.ask(&request));
    assert_eq!(found["result"]["isError"], false, "{found}");
    let mut samples = Samples::new("serve/search/1000");
    for _ in 0..rounds(2_000) {
        samples.time(|| client.ask(&request).len());
    }
    samples.report(None);
}

/// Lists while two calls compute, one for each core.
fn busy() {
    let config = "[conversation.tools.spin]\nsource = \"local\"\nwasm = \".jp/tools/spin.wasm\"\nrun = \"unattended\"\n\
                  limits.time = 60000\n";
    let spin = fs::read(jp_test::guest("spin")).unwrap();
    let workspace = Workspace::configured(config, &[("spin", spin)], 0);
    let (_running, input, output) = Running::on_streams(&ours(&workspace, Lists::Whole));
    let mut client = Streams::new(input, output);
    let list = Prepared::new("tools/list", &json!({}));
    let mut idle = Samples::new("serve/list-idle/1");
    let mut busy = Samples::new("serve/list-beside-2-calls/1");
    for _ in 0..rounds(1_000) {
        idle.time(|| client.ask(&list).len());
    }
    // They compute until the server is killed.
    let call = Prepared::new("tools/call", &json!({"name": "spin", "arguments": {}}));
    client.send(&call);
    client.send(&call);
    thread::sleep(Duration::from_millis(rounds(500) as u64));
    for _ in 0..rounds(1_000) {
        busy.time(|| client.ask(&list).len());
    }
    idle.report(None);
    busy.report(Some(&idle));
}

//! What a remembered approval costs: calls of one tool, unattended and approved before, in turn, in one run.
//!
//! `cargo bench -p jp_bench --bench approvals`, or with the names of cases after `--`.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a bench that cannot go on stops"
)]

mod kit;

use std::{sync::Arc, time::Instant};

use async_trait::async_trait;
use jp_bench::{Samples, rounds, wanted};
use jp_host::Approvals;
use jp_llm::{Approval, ApprovalRequest, Approver, Caller, Host, PreparedTool};
use jp_store::{Arguments, Effect, Grants as _, NewGrant};
use kit::{Workspace, call, run};
use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;

/// Calls of one kind before the next has its turn.
const BATCH: usize = 50;

/// Agrees, and wants to be asked no more.
struct Agrees;

#[async_trait]
impl Approver for Agrees {
    async fn approve(&self, _: &ApprovalRequest<'_>) -> Approval {
        Approval::ForWorkspace
    }
}

/// A host, and a tool that is called on it.
struct Side {
    samples: Samples,
    host: Arc<Host>,
    tool: Arc<PreparedTool>,
    _workspace: Workspace,
}

fn main() {
    if !wanted("remembered") {
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let arguments = json!({"text": "hello"});
    let arguments = arguments.as_object().unwrap();
    let mut sides = [
        unattended("approvals/unattended/1", false),
        unattended("approvals/unattended-in-a-store/1", true),
        remembered("approvals/remembered/1", 1, &runtime, arguments),
        remembered("approvals/remembered/10000", 10_000, &runtime, arguments),
    ];
    for round in 0..rounds(400) {
        for side in &mut sides {
            for _ in 0..rounds(BATCH) {
                let call = call(arguments);
                runtime.block_on(async {
                    let started = Instant::now();
                    run(&side.tool, call, &side.host).await;
                    (round > 1).then(|| side.samples.add(started.elapsed()));
                });
            }
        }
    }
    let [base, others @ ..] = sides;
    base.samples.report(None);
    for other in others {
        other.samples.report(Some(&base.samples));
    }
}

/// Calls that nobody is asked about: where nothing can be remembered, or nothing is.
fn unattended(name: &'static str, remembers: bool) -> Side {
    let mut workspace = Workspace::new(&["echo"], 0);
    if !remembers {
        workspace.rebuild(|host| host.decisions(None));
    }
    Side {
        samples: Samples::new(name),
        host: Arc::clone(&workspace.host),
        tool: workspace.tool("echo"),
        _workspace: workspace,
    }
}

/// Calls that the user is asked about once, among as many decisions about these and other calls.
fn remembered(
    name: &'static str,
    all: usize,
    runtime: &Runtime,
    arguments: &Map<String, Value>,
) -> Side {
    let workspace = Workspace::new(&["echo"], 0);
    let approvals = Approvals::at(&workspace.places.approvals_store().unwrap()).unwrap();
    let store = approvals.store(1).unwrap();
    for number in 1..all {
        let tool = match number % 4 {
            0 => "echo".to_owned(),
            _ => format!("tool-{number}"),
        };
        let mut digest = [0; 32];
        digest[..8].copy_from_slice(&(number as u64).to_le_bytes());
        let few = number < 240 && number % 4 == 0;
        let pattern = json!({"fits": {"text": format!("src/{number}/*")}, "rest": {}});
        let grant = NewGrant {
            effect: Effect::Allow,
            tool: &tool,
            principal: Some("bench"),
            workspace: None,
            configuration: None,
            run: None,
            arguments: match few {
                true => Arguments::Pattern(pattern.to_string()),
                false => Arguments::Exact(digest),
            },
            shown: Some([1; 32]),
            access: None,
            about: "{}",
            author: "bench",
            expires: None,
        };
        store.remember(&grant, 1).unwrap();
    }
    let host = workspace.host.for_caller(Caller {
        principal: "bench".to_owned(),
        approver: Arc::new(Agrees),
        ..Caller::default()
    });
    let tool = workspace.asking("echo");
    runtime.block_on(run(&tool, call(arguments), &host));
    Side {
        samples: Samples::new(name),
        // From now on there is nobody to ask.
        host: Arc::clone(&workspace.host),
        tool,
        _workspace: workspace,
    }
}

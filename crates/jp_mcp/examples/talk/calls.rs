//! The calls of a plan: `[{"tool", "arguments", "contains", "cancel_ms", "progress", "ahead_ms",
//! "within_ms"}]`. What a call says must contain a text; of its reports there must be so many, the first
//! so long before the end.

use std::{
    error::Error,
    io::{self, Write},
    process::ExitCode,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use jp_mcp::{Call, McpError, Servers, Unasked};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

/// Runs a whole talk, and says what went wrong.
pub(crate) fn run(talk: impl Future<Output = Result<(), Box<dyn Error>>>) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let done = match runtime {
        Ok(runtime) => runtime.block_on(talk),
        Err(error) => Err(error.into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

/// Lists the tools of `server`, and calls them as the plan says.
pub(crate) async fn make(pool: &Servers, plan: &Value) -> Result<(), Box<dyn Error>> {
    let tools = pool.list_tools("server", &CancellationToken::new()).await?;
    let names: Vec<_> = tools.tools.iter().map(|tool| tool.name.as_str()).collect();
    say(&format!("{} tools: {}", names.len(), names.join(" ")))?;
    for note in &tools.notes {
        say(&format!("note: {note}"))?;
    }
    for step in plan["calls"].as_array().into_iter().flatten() {
        call(pool, step).await?;
    }
    Ok(())
}

async fn call(pool: &Servers, step: &Value) -> Result<(), Box<dyn Error>> {
    let tool = step["tool"].as_str().unwrap_or_default();
    let cancel = CancellationToken::new();
    if let Some(ms) = step["cancel_ms"].as_u64() {
        let cancel = cancel.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(ms)).await;
            cancel.cancel();
        });
    }
    let reports = Mutex::new(Vec::new());
    let progress = |_| {
        let mut reports = reports.lock().unwrap_or_else(PoisonError::into_inner);
        reports.push(Instant::now());
    };
    let started = Instant::now();
    let call = Call {
        tool,
        arguments: step["arguments"]
            .as_object()
            .cloned()
            .unwrap_or_else(Map::new),
        digest: None,
        deadline: started + Duration::from_secs(60),
        cancel: &cancel,
        max_result: 10_000_000,
        trace: None,
        progress: &progress,
        respond: &Unasked,
    };
    let (said, is_error) = match pool.call("server", &call).await {
        Ok(called) => (called.text(), called.is_error),
        Err(McpError::Cancelled) => ("cancelled".to_owned(), false),
        Err(error) => (error.to_string(), true),
    };
    let ended = Instant::now();
    let reports = reports.into_inner().unwrap_or_else(PoisonError::into_inner);
    let first_report = reports.first().copied().unwrap_or(ended);
    let reports = reports.len();
    let took = started.elapsed().as_millis();
    let first: String = said
        .lines()
        .next()
        .unwrap_or_default()
        .chars()
        .take(70)
        .collect();
    say(&format!(
        "{tool}: {first} (error: {is_error}, progress: {reports}, {took} ms)"
    ))?;
    let contains = step["contains"].as_str().unwrap_or_default();
    if !said.contains(contains) {
        return Err(format!("{tool} should have said `{contains}`, and said:\n{said}").into());
    }
    let wanted = step["progress"].as_u64().unwrap_or(0);
    if u64::try_from(reports)? < wanted {
        return Err(format!("{tool} should have reported its progress {wanted} times").into());
    }
    let ahead = ended.duration_since(first_report).as_millis();
    let wanted = step["ahead_ms"].as_u64().map_or(0, u128::from);
    if ahead < wanted {
        return Err(format!("{tool} reported {ahead} ms before its end, not {wanted}").into());
    }
    let most = step["within_ms"].as_u64().map_or(u128::MAX, u128::from);
    if took > most {
        return Err(format!("{tool} should have ended within {most} ms").into());
    }
    Ok(())
}

fn say(line: &str) -> io::Result<()> {
    writeln!(io::stdout(), "  {line}")
}

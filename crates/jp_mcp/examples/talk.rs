//! Talks to a server that is a program, as a plan says: for trying one out, and for checking servers
//! that others wrote (`cargo xtask interop`).
//!
//! The plan is a JSON file: `{"program", "arguments", "read", "calls": [{"tool", "arguments",
//! "contains", "cancel_ms"}]}`. The program is confined: no network, no files but those under `read`.

use std::{
    error::Error,
    fs,
    io::{self, Write},
    process::ExitCode,
    sync::Arc,
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use jp_confine::Launcher;
use jp_mcp::{Call, McpError, Means, Program, Reach, Server, Servers};
use jp_policy::Net;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

fn main() -> ExitCode {
    if let Some(ended) = jp_confine::enter_if_asked() {
        return ended;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let done = match runtime {
        Ok(runtime) => runtime.block_on(talk()),
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

async fn talk() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: talk PLAN.json")?;
    let plan: Value = serde_json::from_str(&fs::read_to_string(path)?)?;
    let words = |key: &str| -> Vec<String> {
        let items = plan[key].as_array().into_iter().flatten();
        items.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let program = Program {
        command: plan["program"].as_str().unwrap_or_default().to_owned(),
        arguments: words("arguments"),
        env: Vec::new(),
        checksum: None,
        read: words("read").into_iter().map(Into::into).collect(),
        write: Vec::new(),
        net: Net::None,
        cwd: "/tmp".into(),
    };
    let server = Server {
        id: "server".to_owned(),
        reach: Reach::Program(program),
        startup: Some(Duration::from_secs(60)),
    };
    let means = Means {
        launcher: Some(Arc::new(Launcher::current_exe()?)),
        ..Means::default()
    };
    let pool = Servers::new([server], means);
    let tools = pool.list_tools("server", &CancellationToken::new()).await?;
    let names: Vec<_> = tools.tools.iter().map(|tool| tool.name.as_str()).collect();
    say(&format!("{} tools: {}", names.len(), names.join(" ")))?;
    for note in &tools.notes {
        say(&format!("note: {note}"))?;
    }
    for step in plan["calls"].as_array().into_iter().flatten() {
        call(&pool, step).await?;
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
    let reports = AtomicUsize::new(0);
    let progress = |_| {
        reports.fetch_add(1, Ordering::Relaxed);
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
        progress: &progress,
    };
    let (said, is_error) = match pool.call("server", &call).await {
        Ok(called) => (called.text(), called.is_error),
        Err(McpError::Cancelled) => ("cancelled".to_owned(), false),
        Err(error) => (error.to_string(), true),
    };
    let reports = reports.load(Ordering::Relaxed);
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
    let most = step["within_ms"].as_u64().map_or(u128::MAX, u128::from);
    if took > most {
        return Err(format!("{tool} should have ended within {most} ms").into());
    }
    Ok(())
}

fn say(line: &str) -> io::Result<()> {
    writeln!(io::stdout(), "  {line}")
}

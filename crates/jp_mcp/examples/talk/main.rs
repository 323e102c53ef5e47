//! Talks to a server that is a program, as a plan says: for trying one out, and for checking servers
//! that others wrote (`cargo xtask interop`).
//!
//! The plan is a JSON file: `{"program", "arguments", "read", "calls"}`; for the calls see [`calls`]. The
//! program is confined: no network, no files but those under `read`.

mod calls;

use std::{error::Error, fs, process::ExitCode, sync::Arc, time::Duration};

use jp_confine::Launcher;
use jp_mcp::{Means, Program, Reach, Server, Servers};
use jp_policy::Net;
use serde_json::Value;

fn main() -> ExitCode {
    if let Some(ended) = jp_confine::enter_if_asked() {
        return ended;
    }
    calls::run(talk())
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
        secret_env: Vec::new(),
        checksum: None,
        read: words("read").into_iter().map(Into::into).collect(),
        write: Vec::new(),
        net: Net::None,
        cwd: "/tmp".into(),
        memory_bytes: 1 << 30,
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
    calls::make(&pool, &plan).await
}

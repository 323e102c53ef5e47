//! Talks to a server behind a URL, as a plan says: for trying one out, and for checking servers that
//! others wrote (`cargo xtask interop`).
//!
//! The plan is a JSON file: `{"program", "arguments", "calls"}`. The program is started with the
//! variable `PORT`, and serves `/mcp` there.

#[path = "../../jp_mcp/examples/talk/calls.rs"]
mod calls;

use std::{
    error::Error,
    fs,
    net::{SocketAddr, TcpListener, TcpStream},
    process::{Child, Command, ExitCode, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use jp_broker::mcp::{HttpServer, McpExchange, Means, Reach, Server, Servers};
use jp_policy::Net;
use serde_json::Value;

/// How long a program may take until it serves.
const MAX_START: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    calls::run(talk())
}

async fn talk() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1);
    let path = path.ok_or("usage: talk_http PLAN.json")?;
    let plan: Value = serde_json::from_str(&fs::read_to_string(path)?)?;
    let (_program, address) = start(&plan)?;
    let server = Server {
        id: "server".to_owned(),
        reach: Reach::Url(HttpServer {
            url: format!("http://{address}/mcp"),
            headers: Vec::new(),
            net: Net::hosts([address.to_string().parse()?]),
        }),
        startup: Some(Duration::from_secs(60)),
    };
    let means = Means {
        http: Some(Arc::new(McpExchange::new(Arc::new(|_, _| None)))),
        ..Means::default()
    };
    calls::make(&Servers::new([server], means), &plan).await
}

/// A program that is ended when it is dropped.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}

/// Starts the program of a plan, and waits until it serves.
fn start(plan: &Value) -> Result<(Program, SocketAddr), Box<dyn Error>> {
    let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let arguments = plan["arguments"].as_array().into_iter().flatten();
    let child = Command::new(plan["program"].as_str().unwrap_or_default())
        .args(arguments.filter_map(Value::as_str))
        .env("PORT", address.port().to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let mut program = Program(child);
    let end = Instant::now() + MAX_START;
    while TcpStream::connect(address).is_err() {
        if let Some(status) = program.0.try_wait()? {
            return Err(format!("the program ended before it served: {status}").into());
        }
        if Instant::now() > end {
            return Err("the program does not serve".into());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok((program, address))
}

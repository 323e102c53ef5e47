//! Servers that are measured, each in a process of its own: ours, and the yardstick, which is rmcp with its best
//! settings and an empty tool.
//!
//! The process is this very bench, started again, so that both have the same allocator and the same runtime.

use std::{
    env, fs,
    io::{self, BufRead, BufReader},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::Arc,
};

use axum::Router;
use jp_host::{Live, Location, Places};
use jp_serve::{Keep, Lazy, Options, Server, Token};
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
        PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Tells a process which server it is.
const PLAN: &str = "JP_BENCH_SERVER";

/// What clients of ours say who they are with.
pub(crate) const TOKEN: &str = "bench-bench-bench-bench-bench-bench";

/// As `jp serve` has them.
const SPARES: usize = 2;

/// Which server a process is.
#[derive(Serialize, Deserialize)]
pub(crate) enum Plan {
    /// The tools of a workspace.
    Ours {
        root: PathBuf,
        user: PathBuf,
        lists: Lists,
    },
    /// A list of tools, each of which does nothing.
    Bare { tools: Vec<Tool>, answer: String },
}

/// Whether clients get all tools, or three that find them.
#[derive(Serialize, Deserialize, Clone, Copy)]
pub(crate) enum Lists {
    Whole,
    Lazy,
}

/// A server that runs until it is dropped.
pub(crate) struct Running {
    child: Child,
    plan: PathBuf,
}

impl Running {
    /// Starts one that talks on its standard streams.
    pub(crate) fn on_streams(plan: &Plan) -> (Self, ChildStdin, BufReader<ChildStdout>) {
        let mut running = Self::start(plan, "streams");
        let input = running.child.stdin.take().unwrap();
        let output = BufReader::new(running.child.stdout.take().unwrap());
        (running, input, output)
    }

    /// Starts one that talks HTTP.
    pub(crate) fn on_http(plan: &Plan) -> (Self, SocketAddr) {
        let mut running = Self::start(plan, "http");
        let mut line = String::new();
        let mut output = BufReader::new(running.child.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        (running, line.trim().parse().unwrap())
    }

    fn start(plan: &Plan, over: &str) -> Self {
        let file = tempfile::NamedTempFile::new().unwrap();
        serde_json::to_writer(&file, plan).unwrap();
        let (_, file) = file.keep().unwrap();
        let child = Command::new(env::current_exe().unwrap())
            .env(PLAN, format!("{over} {}", file.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self { child, plan: file }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_file(&self.plan);
    }
}

/// Serves, in a process that was started for it; returns false in any other.
pub(crate) fn serve_if_told() -> bool {
    let Ok(told) = env::var(PLAN) else {
        return false;
    };
    let (over, file) = told.split_once(' ').unwrap();
    let plan: Plan = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    // As `jp serve` starts its own.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        match (plan, over) {
            (Plan::Ours { root, user, lists }, over) => ours(&root, &user, lists, over).await,
            (Plan::Bare { tools, answer }, over) => bare(Empty::new(tools, answer), over).await,
        }
    });
    runtime.shutdown_background();
    true
}

async fn ours(root: &Path, user: &Path, lists: Lists, over: &str) {
    let location = Location::find(Some(root)).unwrap();
    let places = Places::below(user);
    let (store, key) = (places.serve_store().unwrap(), places.serve_key().unwrap());
    let mut options = Options::new("bench");
    options.keep = Some(Keep::open(&store, &key).unwrap());
    options.lazy = match lists {
        Lists::Whole => Lazy::Off,
        Lists::Lazy => Lazy::On,
    };
    let opening = jp_host::Workspace::at(location).for_many_calls(SPARES);
    let server = Server::new(Live::open(opening, places).unwrap(), options).unwrap();
    assert!(server.problems().unwrap().is_empty());
    let stop = CancellationToken::new();
    if over == "http" {
        let token = Token::from_text(TOKEN).unwrap();
        server.on_tcp(listener().await, token, stop).await;
    } else {
        let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
        server.on_streams(input, output, stop).await.unwrap();
    }
}

async fn bare(server: Empty, over: &str) {
    if over == "http" {
        let config = StreamableHttpServerConfig::default().with_json_response(true);
        let sessions = Arc::new(LocalSessionManager::default());
        let service = StreamableHttpService::new(move || Ok(server.clone()), sessions, config);
        let router = Router::new().route_service("/mcp", service);
        let listener = axum::serve::ListenerExt::tap_io(listener().await, |stream| {
            stream.set_nodelay(true).unwrap();
        });
        axum::serve(listener, router).await.unwrap();
    } else {
        let streams = (tokio::io::stdin(), tokio::io::stdout());
        let running = server.serve(streams).await.unwrap();
        running.waiting().await.unwrap();
    }
}

/// Listens on this machine, and says where.
async fn listener() -> TcpListener {
    use io::Write;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut out = io::stdout();
    writeln!(out, "{}", listener.local_addr().unwrap()).unwrap();
    out.flush().unwrap();
    listener
}

/// The yardstick.
#[derive(Clone)]
struct Empty {
    tools: Arc<Vec<Tool>>,
    answer: Arc<str>,
}

impl Empty {
    fn new(tools: Vec<Tool>, answer: String) -> Self {
        Self {
            tools: Arc::new(tools),
            answer: answer.into(),
        }
    }
}

impl ServerHandler for Empty {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.to_vec()))
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = ContentBlock::text(&*self.answer);
        Ok(CallToolResult::success(vec![text]).into())
    }
}

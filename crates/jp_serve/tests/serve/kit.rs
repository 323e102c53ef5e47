//! A user with a workspace, and a client that speaks JSON lines.

use std::{fs, path::PathBuf, time::Duration};

use jp_audit::Reader;
use jp_host::{Live, Location, Places, Workspace};
use jp_llm::TrustStore;
use jp_serve::{Keep, Options, Server};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf},
    task::JoinHandle,
    time,
};
use tokio_util::sync::CancellationToken;

/// Nothing takes this long unless it hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// The newest revision.
pub(crate) const MODERN: &str = "2026-07-28";

/// A user with a workspace.
pub(crate) struct User {
    held: TempDir,
    pub(crate) root: PathBuf,
}

impl User {
    pub(crate) fn new() -> Self {
        let held = TempDir::new().unwrap();
        let root = held.path().canonicalize().unwrap().join("workspace");
        fs::create_dir_all(root.join(".jp/tools")).unwrap();
        Self { held, root }
    }

    pub(crate) fn places(&self) -> Places {
        Places::below(&self.held.path().join("mine"))
    }

    /// Writes the configuration of the workspace.
    pub(crate) fn configure(&self, text: &str) {
        fs::write(self.root.join(".jp/config.toml"), text).unwrap();
    }

    /// Writes a file of the workspace.
    pub(crate) fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Trusts the workspace as it is.
    pub(crate) fn trust(&self) {
        let location = Location::find(Some(&self.root)).unwrap();
        let live = Live::open(Workspace::at(location), self.places()).unwrap();
        let mut store = TrustStore::open(&self.places().trust_file().unwrap()).unwrap();
        let now = live.now().unwrap();
        store.trust(&self.root, now.loaded()).unwrap();
    }

    /// Brings a guest of the test kit along, with nothing to read or write but its own directory.
    pub(crate) fn bring(&self, guest: &str) {
        fs::copy(
            jp_test::guest(guest),
            self.root.join(format!(".jp/tools/{guest}.wasm")),
        )
        .unwrap();
        let mut config = fs::read_to_string(self.root.join(".jp/config.toml")).unwrap_or_default();
        config.push_str(&format!(
            "[conversation.tools.{guest}]\nsource = 'local'\nwasm = '.jp/tools/{guest}.wasm'\ngrant.workspace = 'read'\n"
        ));
        self.configure(&config);
    }

    pub(crate) fn live(&self) -> Live {
        let location = Location::find(Some(&self.root)).unwrap();
        let opening = Workspace::at(location).for_many_calls(1);
        Live::open(opening, self.places()).unwrap()
    }

    pub(crate) fn server(&self) -> Server {
        self.server_for("ada")
    }

    /// Makes a server for somebody.
    pub(crate) fn server_for(&self, principal: &str) -> Server {
        Server::new(self.live(), Options::new(principal)).unwrap()
    }

    /// Makes a server for a principal that keeps tasks and large results.
    pub(crate) fn keeping(&self, principal: &str) -> Server {
        let places = self.places();
        let (store, key) = (places.serve_store().unwrap(), places.serve_key().unwrap());
        let mut options = Options::new(principal);
        options.keep = Some(Keep::open(&store, &key).unwrap());
        Server::new(self.live(), options).unwrap()
    }

    /// Starts a server on a pair of streams.
    pub(crate) fn client(&self) -> Client {
        Client::of(&self.server())
    }

    /// Returns what the audit log says of all calls: tool, principal and outcome.
    pub(crate) fn records(&self) -> Vec<String> {
        let reader = Reader::open(&self.places().audit_dir().unwrap()).unwrap();
        let entries = reader.map(Result::unwrap);
        let entries = entries.filter(|entry| entry.event.is_none());
        let line = |entry: jp_audit::Entry| {
            let outcome = serde_json::to_value(entry.outcome).unwrap();
            format!(
                "{} {} {}",
                entry.principal,
                entry.tool,
                outcome.as_str().unwrap()
            )
        };
        entries.map(line).collect()
    }
}

/// A client on a pair of streams.
pub(crate) struct Client {
    input: WriteHalf<DuplexStream>,
    output: Lines<BufReader<ReadHalf<DuplexStream>>>,
    pub(crate) heard: Vec<Value>,
    next: u64,
    pub(crate) serving: JoinHandle<()>,
    pub(crate) stop: CancellationToken,
}

impl Client {
    pub(crate) fn of(server: &Server) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (input, output) = tokio::io::split(theirs);
        let stop = CancellationToken::new();
        let (server, stopped) = (server.clone(), stop.clone());
        let serving = tokio::spawn(async move {
            server.on_streams(input, output, stopped).await.unwrap();
        });
        let (output, input) = tokio::io::split(ours);
        Self {
            input,
            output: BufReader::new(output).lines(),
            heard: Vec::new(),
            next: 0,
            serving,
            stop,
        }
    }

    /// Shakes hands as a client of an older revision.
    pub(crate) async fn hello(&mut self, version: &str, capabilities: Value) -> Value {
        let params = json!({"protocolVersion": version, "capabilities": capabilities,
            "clientInfo": {"name": "test", "version": "1"}});
        let hello = self.ask("initialize", params).await;
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .await;
        hello
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.line(&message.to_string()).await;
    }

    pub(crate) async fn line(&mut self, line: &str) {
        self.input.write_all(line.as_bytes()).await.unwrap();
        self.input.write_all(b"\n").await.unwrap();
    }

    /// Sends a request and returns its id.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await;
        id
    }

    /// Sends a request and returns the whole answer.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params).await;
        self.answer(id).await
    }

    /// Returns the answer to a request; everything else that comes before is kept in `heard`.
    pub(crate) async fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.hear().await;
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            self.heard.push(message);
        }
    }

    /// Returns the next message.
    pub(crate) async fn hear(&mut self) -> Value {
        let line = time::timeout(PATIENCE, self.output.next_line()).await;
        let line = line.unwrap().unwrap().unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Calls a tool as a client of an older revision.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        self.ask("tools/call", params).await
    }
}

/// What a client of the newest revision says with every request.
pub(crate) fn modern(params: Value, capabilities: Value) -> Value {
    let mut params = params;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": capabilities,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    });
    params
}

//! A workspace with its user: configuration, host, log, and a person to ask.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use async_trait::async_trait;
use jp_audit::{Entry, Log, Options, Reader};
use jp_config::{Loaded, Sources};
use jp_confine::Launcher;
use jp_llm::{
    Approval, ApprovalRequest, Approver, Call, Caller, Executed, Host, HostBuilder, LazyRuntime,
    RuntimeOptions, ToolDefinition, ToolError, TrustStore,
};
use serde_json::{Map, Value};
use tempfile::TempDir;

/// A workspace, its configuration and its host.
pub(crate) struct Desk {
    held: TempDir,
    pub(crate) root: PathBuf,
    pub(crate) loaded: Loaded,
    pub(crate) host: Host,
}

impl Desk {
    /// Makes a workspace with a configuration; the user has none.
    pub(crate) fn new(workspace: &str) -> Self {
        Self::with_user(workspace, "")
    }

    /// Makes a workspace with a configuration, and a user with another.
    pub(crate) fn with_user(workspace: &str, user: &str) -> Self {
        let held = TempDir::new_in(std::env::temp_dir().canonicalize().unwrap()).unwrap();
        let root = held.path().join("workspace");
        write(&root.join(".jp/config.toml"), workspace);
        write(&held.path().join("user/config.toml"), user);
        let loaded = load(held.path());
        let policy = loaded.config.policy.clone().unwrap_or_default();
        let launcher = Launcher::new(env!("CARGO_BIN_EXE_jp_llm_launcher").into());
        let log = Log::open(&held.path().join("audit"), Options::default()).unwrap();
        // Every test has a host of its own; what they compile they share.
        let wasm = LazyRuntime::new(RuntimeOptions {
            cache_dir: Some(Path::new(env!("CARGO_TARGET_TMPDIR")).join("compiled")),
            ..RuntimeOptions::default()
        });
        let host = Host::builder(root.clone(), policy.to_policy().unwrap())
            .unconfined(policy.unconfined)
            .command_memory(policy.command_memory.map(|size| size.0))
            .knowledge(loaded.config.kb.clone())
            .launcher(Some(Arc::new(launcher)))
            .audit(Arc::new(log))
            .temp_dir(Some(held.path().join("tmp")))
            .wasm(wasm)
            .caller(Caller {
                principal: "tester".to_owned(),
                ..Caller::default()
            })
            .build();
        Self {
            held,
            root,
            loaded,
            host,
        }
    }

    /// Returns the directory that holds the workspace and all that is the user's.
    pub(crate) fn held(&self) -> &Path {
        self.held.path()
    }

    /// Puts a file into the workspace.
    pub(crate) fn file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        write(&self.root.join(path), content);
        self
    }

    /// Puts a built guest into the workspace, as `.jp/tools/<name>.wasm`.
    pub(crate) fn guest(self, guest: &str, name: &str) -> Self {
        let bytes = fs::read(jp_test::guest(guest)).unwrap();
        self.file(&format!(".jp/tools/{name}.wasm"), bytes)
    }

    /// Lets the user trust the workspace as it is.
    pub(crate) fn trusted(mut self) -> Self {
        let mut store = TrustStore::open(&self.trust_file()).unwrap();
        store.trust(&self.root, &self.loaded).unwrap();
        self.look_again();
        assert!(self.host.trust().is_trusted());
        self
    }

    /// Reads configuration and trust again, as the next command would.
    pub(crate) fn look_again(&mut self) {
        self.loaded = load(self.held.path());
        let store = TrustStore::open(&self.trust_file()).unwrap();
        let trust = store.check(&self.root, &self.loaded);
        self.rebuild(|host| host.trust(trust));
    }

    /// Makes the host anew, with something else in it.
    pub(crate) fn rebuild(&mut self, change: impl FnOnce(HostBuilder) -> HostBuilder) {
        self.host = change(self.host.clone().into_builder()).build();
    }

    /// Changes who makes the calls.
    pub(crate) fn caller(&mut self, change: impl FnOnce(&mut Caller)) {
        let mut caller = self.host.caller().clone();
        change(&mut caller);
        self.host = self.host.for_caller(caller);
    }

    fn trust_file(&self) -> PathBuf {
        self.held.path().join("user/trust.json")
    }

    /// Lets a person decide about every call that asks for one.
    pub(crate) fn person(mut self, says: Approval) -> (Self, Arc<Person>) {
        let person = Arc::new(Person {
            says,
            asked: AtomicUsize::new(0),
            heard: Mutex::default(),
        });
        self.caller(|caller| caller.approver = Arc::clone(&person) as Arc<dyn Approver>);
        (self, person)
    }

    /// Lets a person agree to everything.
    pub(crate) fn agreed(self) -> Self {
        self.person(Approval::Approved).0
    }

    pub(crate) fn tool(&self, name: &str) -> Result<ToolDefinition, ToolError> {
        ToolDefinition::new(name, &self.loaded, &self.host)
    }

    /// Calls a tool with arguments.
    pub(crate) async fn call(&self, name: &str, arguments: Value) -> Executed {
        self.make(name, call(arguments)).await
    }

    /// Makes a call of a tool.
    pub(crate) async fn make(&self, name: &str, call: Call) -> Executed {
        let tool = self.tool(name).unwrap();
        tool.execute_detailed(call, &self.host).await
    }

    /// Calls a tool that must answer, and returns what it said.
    pub(crate) async fn said(&self, name: &str, arguments: Value) -> Result<String, String> {
        self.call(name, arguments).await.said()
    }

    /// Returns the records of all calls so far, of a log that must be whole.
    pub(crate) fn records(&self) -> Vec<Entry> {
        let dir = self.held.path().join("audit");
        let report = jp_audit::verify(&dir).unwrap();
        assert!(report.is_intact(), "{:?}", report.problems);
        let entries = Reader::open(&dir).unwrap().map(Result::unwrap);
        entries.filter(|entry| entry.event.is_none()).collect()
    }

    /// Returns decision and outcome of the only call so far.
    pub(crate) fn record(&self) -> String {
        let records = self.records();
        assert_eq!(records.len(), 1, "{records:?}");
        format!("{}, {}", records[0].decision, records[0].outcome)
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root.join(path)).unwrap()
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }
}

/// What tests ask of a call that has ended.
pub(crate) trait Ended {
    /// Returns what the tool said.
    fn said(self) -> Result<String, String>;
    /// Returns why there is no outcome.
    fn error(self) -> ToolError;
}

impl Ended for Executed {
    fn said(self) -> Result<String, String> {
        match self.result {
            Ok(jp_llm::ExecutionOutcome::Completed { result, .. }) => result,
            other => panic!("no answer: {other:?}"),
        }
    }

    fn error(self) -> ToolError {
        match self.result {
            Err(error) => error,
            other => panic!("no error: {other:?}"),
        }
    }
}

/// A person who always says the same.
pub(crate) struct Person {
    says: Approval,
    asked: AtomicUsize,
    /// The grants the person was shown.
    pub(crate) heard: Mutex<Vec<String>>,
}

impl Person {
    /// Returns how often the person was asked.
    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Approver for Person {
    async fn approve(&self, request: &ApprovalRequest<'_>) -> Approval {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let grant = request.grant.capabilities();
        let unconfined = if request.unconfined {
            " unconfined"
        } else {
            ""
        };
        self.heard
            .lock()
            .unwrap()
            .push(format!("{grant}{unconfined}"));
        self.says.clone()
    }
}

/// Makes a call with arguments.
pub(crate) fn call(arguments: Value) -> Call {
    Call {
        id: "c1".to_owned(),
        arguments: object(arguments),
        ..Call::default()
    }
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("no object: {other}"),
    }
}

/// The configuration of a Wasm tool that is called `name` and may only read.
pub(crate) fn reader(name: &str, more: &str) -> String {
    wasm(name, &format!("grant.workspace = \"read\"\n{more}"))
}

/// The configuration of a Wasm tool that is called `name`.
pub(crate) fn wasm(name: &str, more: &str) -> String {
    format!(
        "[conversation.tools.{name}]\nsource = \"local\"\nwasm = \".jp/tools/{name}.wasm\"\n{more}\n"
    )
}

/// The configuration of an unattended command that is called `name`.
pub(crate) fn command(name: &str, command: &str, more: &str) -> String {
    format!(
        "[conversation.tools.{name}]\nsource = \"local\"\nrun = \"unattended\"\n\
         command = {command}\n{more}\n"
    )
}

/// The configuration of a script that is given the parameter `x`.
pub(crate) fn script(name: &str, text: &str, more: &str) -> String {
    let line = format!(
        "{{ program = \"sh\", args = [\"-c\", '''{text}''', \"sh\", \"{{{{tool.arguments.x}}}}\"] }}"
    );
    command(name, &line, &format!("parameters.x = {{}}\n{more}"))
}

/// Makes a named pipe in the workspace. Opening it waits for the other side, and reading it ends when
/// nobody is left who could write.
pub(crate) fn pipe(desk: &Desk, name: &str) -> PathBuf {
    let path = desk.root.join(name);
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    path
}

fn load(held: &Path) -> Loaded {
    let root = held.join("workspace");
    jp_config::load(&Sources {
        user_config_dir: Some(held.join("user")),
        cwd: root.clone(),
        files: Vec::new(),
        workspace_root: Some(root),
        env: Vec::new(),
        assignments: Vec::new(),
        home: None,
    })
    .unwrap()
}

fn write(path: &Path, content: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

//! What the benches share: bare wasmtime, and a workspace opened as a front opens it for many calls.

#![expect(dead_code, reason = "each bench uses a part of this")]

pub(crate) mod bare;
pub(crate) mod bare_module;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use jp_host::{Location, Opening, Places};
use jp_llm::{
    Call, Caller, ExecutionOutcome, Host, HostBuilder, PreparedTool, ToolDefinition, TrustStore,
};
use serde_json::{Map, Value};
use tempfile::TempDir;

/// A workspace whose tools are probes, and a host to call them on.
pub(crate) struct Workspace {
    pub(crate) places: Places,
    pub(crate) host: Arc<Host>,
    opening: Opening,
    open: jp_host::Workspace,
    /// What [`Workspace::places`] are below.
    pub(crate) user: PathBuf,
    _dir: TempDir,
}

impl Workspace {
    /// Makes a workspace with one tool for each probe, audited, and a pool with some spares.
    pub(crate) fn new(probes: &[&str], spares: usize) -> Self {
        let read = |probe: &&str| fs::read(jp_test::guest(probe)).unwrap();
        let tools: Vec<_> = probes.iter().map(|probe| (*probe, read(probe))).collect();
        Self::of(&tools, spares)
    }

    /// Makes the same with tools of these bytes.
    pub(crate) fn of(tools: &[(&str, Vec<u8>)], spares: usize) -> Self {
        let config: String = tools.iter().map(|(name, _)| tool(name)).collect();
        Self::configured(&config, tools, spares)
    }

    /// Makes one with a configuration and the files of tools.
    pub(crate) fn configured(config: &str, files: &[(&str, Vec<u8>)], spares: usize) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("workspace");
        fs::create_dir_all(root.join(".jp/tools")).unwrap();
        for (name, bytes) in files {
            fs::write(root.join(format!(".jp/tools/{name}.wasm")), bytes).unwrap();
        }
        fs::write(root.join(".jp/config.toml"), config).unwrap();
        fs::write(root.join("1k.txt"), "x".repeat(1024)).unwrap();
        let user = dir.path().join("user");
        let places = Places::below(&user);
        let location = Location::find(Some(&root)).unwrap();
        let opening = jp_host::Workspace::at(location).for_many_calls(spares);
        let (open, host) = open(&opening, &places);
        Self {
            places,
            host,
            opening,
            open,
            user,
            _dir: dir,
        }
    }

    /// Opens the workspace again, after something of it has changed.
    pub(crate) fn reopen(&mut self) {
        (self.open, self.host) = open(&self.opening, &self.places);
    }

    pub(crate) fn root(&self) -> &Path {
        self.host.root()
    }

    /// Makes the host anew, with something else in it.
    pub(crate) fn rebuild(&mut self, change: impl FnOnce(HostBuilder) -> HostBuilder) {
        let host = Host::clone(&self.host);
        self.host = Arc::new(change(host.into_builder()).build());
    }

    pub(crate) fn tool(&self, name: &str) -> Arc<PreparedTool> {
        let tool = ToolDefinition::new(name, self.open.loaded(), &self.host);
        Arc::new(tool.unwrap().prepare())
    }
}

impl Workspace {
    /// Returns a tool whose calls a person is asked about.
    pub(crate) fn asking(&self, name: &str) -> Arc<PreparedTool> {
        let mut tool = ToolDefinition::new(name, self.open.loaded(), &self.host).unwrap();
        tool.run = Some(jp_config::tool::RunMode::Ask);
        Arc::new(tool.prepare())
    }
}

/// Trusts a workspace as it is, and opens it.
fn open(opening: &Opening, places: &Places) -> (jp_host::Workspace, Arc<Host>) {
    let loaded = jp_config::load(&opening.sources(places)).unwrap();
    let mut store = TrustStore::open(&places.trust_file().unwrap()).unwrap();
    store.trust(&opening.location().root, &loaded).unwrap();
    let open = opening.open(places).unwrap().audited(places).unwrap();
    let host = open.host().for_caller(Caller {
        principal: "bench".to_owned(),
        ..Caller::default()
    });
    (open, Arc::new(host))
}

fn tool(name: &str) -> String {
    format!(
        "[conversation.tools.{name}]\nsource = \"local\"\nwasm = \".jp/tools/{name}.wasm\"\n\
         run = \"unattended\"\nparameters.path.type = \"string\"\nparameters.text.type = \"string\"\n\
         parameters.ms.type = \"integer\"\nparameters.count.type = \"integer\"\n"
    )
}

pub(crate) fn call(arguments: &Map<String, Value>) -> Call {
    Call {
        id: "1".to_owned(),
        arguments: arguments.clone(),
        ..Call::default()
    }
}

/// Calls a tool and returns the length of its result.
pub(crate) async fn run(tool: &PreparedTool, call: Call, host: &Host) -> usize {
    match tool.execute(call, host).await.unwrap() {
        ExecutionOutcome::Completed {
            result: Ok(content),
            ..
        } => content.len(),
        other => panic!("{other:?}"),
    }
}

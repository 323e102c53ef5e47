//! What the benches share: bare wasmtime, and a host with a workspace of its own.

#![expect(dead_code, reason = "each bench uses a part of this")]

pub(crate) mod bare;
pub(crate) mod bare_module;

use std::{fs, path::Path, sync::Arc, time::Duration};

use jp_config::{Loaded, PolicyConfig, Sources};
use jp_llm::{
    Call, Caller, ExecutionOutcome, Host, HostBuilder, LazyRuntime, ToolDefinition, TrustStore,
};
use jp_wasm::{Allocation, RuntimeOptions};
use serde_json::{Map, Value};
use tempfile::TempDir;

/// A workspace whose tools are probes, and a host to call them on.
pub(crate) struct Workspace {
    pub(crate) dir: TempDir,
    pub(crate) loaded: Loaded,
    pub(crate) host: Arc<Host>,
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
        let dir = tempfile::tempdir().unwrap();
        let root = dir
            .path()
            .join("workspace")
            .canonicalize()
            .unwrap_or_else(|_| {
                fs::create_dir_all(dir.path().join("workspace/.jp/tools")).unwrap();
                dir.path().join("workspace").canonicalize().unwrap()
            });
        let mut config = String::new();
        for (name, bytes) in tools {
            fs::write(root.join(format!(".jp/tools/{name}.wasm")), bytes).unwrap();
            config.push_str(&tool(name));
        }
        fs::write(root.join(".jp/config.toml"), config).unwrap();
        fs::write(root.join("1k.txt"), "x".repeat(1024)).unwrap();
        let sources = Sources {
            workspace_root: Some(root.clone()),
            cwd: root.clone(),
            ..Sources::default()
        };
        let loaded = jp_config::load(&sources).unwrap();
        let mut store = TrustStore::open(&dir.path().join("trust.json")).unwrap();
        store.trust(&root, &loaded).unwrap();
        // As a server that appends all the time opens its log.
        let options = jp_audit::Options {
            lease: Some(Duration::from_millis(20)),
            ..jp_audit::Options::default()
        };
        let log = jp_audit::Log::open(&dir.path().join("audit"), options).unwrap();
        let wasm = LazyRuntime::new(RuntimeOptions {
            allocation: Allocation::Pooling,
            cache_dir: Some(dir.path().join("code")),
            spares,
            ..RuntimeOptions::default()
        });
        let policy = PolicyConfig::default().to_policy().unwrap();
        let host = Host::builder(root.clone(), policy)
            .trust(store.check(&root, &loaded))
            .audit(Arc::new(log))
            .wasm(wasm)
            .caller(Caller {
                principal: "bench".to_owned(),
                ..Caller::default()
            })
            .build();
        Self {
            dir,
            loaded,
            host: Arc::new(host),
        }
    }

    pub(crate) fn root(&self) -> &Path {
        self.host.root()
    }

    /// Makes the host anew, with something else in it.
    pub(crate) fn rebuild(&mut self, change: impl FnOnce(HostBuilder) -> HostBuilder) {
        let host = Host::clone(&self.host);
        self.host = Arc::new(change(host.into_builder()).build());
    }

    pub(crate) fn tool(&self, name: &str) -> Arc<ToolDefinition> {
        Arc::new(ToolDefinition::new(name, &self.loaded, &self.host).unwrap())
    }
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
pub(crate) async fn run(tool: &ToolDefinition, call: Call, host: &Host) -> usize {
    match tool.execute(call, host).await.unwrap() {
        ExecutionOutcome::Completed {
            result: Ok(content),
            ..
        } => content.len(),
        other => panic!("{other:?}"),
    }
}

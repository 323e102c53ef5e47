//! `jp serve` on a copy of the workspace, and a proxy that brings its token along.

use std::fs;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result};
use jp_guest_build::Guest;

use super::suite::Suite;
use crate::guests;
use crate::metadata::Metadata;
use crate::sample::Sample;
use crate::started::Started;
use crate::test;

/// The package whose example is the component with all tools.
const TOOLS: &str = "jp_tool_test";

/// The component, and where the configuration of the workspace expects it.
const COMPONENT: (&str, &str) = ("conformance", ".jp/tools/conformance.wasm");

/// A server, and a proxy before it. Both end with this.
pub(super) struct Serving {
    url: String,
    _proxy: Started,
    _server: Started,
}

impl Serving {
    pub(super) fn start(root: &Path, suite: &Suite) -> Result<Self> {
        let sample = workspace(root)?;
        let token = token()?;
        let serve = sample.jp(&["serve", "--http", "127.0.0.1:0"]);
        let mut server = Started::of(&serve.env("JP_TOKEN", &token))?;
        let target = server.line()?;
        let proxy = suite.node(&root.join("conformance/proxy.mjs"));
        let mut proxy = Started::of(&proxy.arg(&target).arg(&token))?;
        let port = proxy.line()?;
        Ok(Self {
            url: format!("http://127.0.0.1:{port}/mcp"),
            _proxy: proxy,
            _server: server,
        })
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }
}

/// Builds jp and the tools, and makes the workspace.
fn workspace(root: &Path) -> Result<Sample> {
    let metadata = Metadata::read(root)?;
    test::without_probes("build --workspace --bin jp", &metadata, root).run()?;
    guests::ensure_targets(root)?;
    let built = jp_guest_build::build(root, &[Guest::examples(TOOLS)])?;
    let component = built.iter().find(|artifact| artifact.name == COMPONENT.0);
    let component = component.context("the component of the tools was not built")?;
    let sample = Sample::fresh(root, "conformance")?;
    copy(&root.join("conformance/workspace"), &sample.workspace())?;
    sample.copy(&component.path, COMPONENT.1)?;
    // The place of a tool that comes and goes.
    fs::create_dir_all(sample.workspace().join("wasm"))?;
    sample.jp(&["trust"]).run()?;
    Ok(sample)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| from.display().to_string())? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}

fn token() -> Result<String> {
    let mut bytes = [0; 32];
    fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

//! The builtin tools: what is embedded, what a model is told about each, and what the host
//! prepares for a call. A new builtin is one more row of [`builtins`].

use jp_config::tool::ToolSource;
use jp_policy::{Access, Brokered, Capabilities, GuestPath, Request};
use jp_tool::Outcome;
use jp_tool_brokered::ModuleTool;
use serde_json::Value;

use super::learn;
use crate::{
    Host, ToolDefinition, ToolDocs, ToolError,
    runtime::Invocation,
    tool::{Misconfigured, Unusable, body::Body},
};

/// A tool that is part of this program.
pub struct Builtin {
    /// Its name among the builtins.
    pub name: &'static str,
    /// The component or module.
    pub wasm: &'static [u8],
    /// Its SHA-256.
    pub sha256: &'static [u8; 32],
    /// The name of its files at build time, without their endings; several may share them.
    pub file: &'static str,
    /// Its compiled form, in a build made by `cargo xtask dist`.
    pub code: Option<&'static [u8]>,
    /// What a model is told about it, and what the host prepares.
    about: About,
}

/// The host's side of a builtin.
#[derive(Clone, Copy)]
enum About {
    /// A component that reads the knowledge base.
    Learn,
    /// A module whose work the host does, entered by the tool's name: all of them share one module.
    Brokered(&'static ModuleTool),
}

impl Builtin {
    /// Makes the definition of a tool that runs it.
    pub(super) fn definition(&'static self, name: &str, host: &Host) -> ToolDefinition {
        let docs = ToolDocs {
            summary: self.summary(),
            description: Some(self.description(host)),
            ..ToolDocs::default()
        };
        let source = ToolSource::Builtin { tool: None };
        let request = Request {
            capabilities: self.capabilities(),
            ..Request::default()
        };
        let body = Body::Builtin(self.name);
        ToolDefinition::bare(name, docs, self.schema(), source, request, body)
    }

    /// Returns one line about it, where that differs from the description.
    fn summary(&self) -> Option<String> {
        match self.about {
            About::Learn => None,
            About::Brokered(tool) => Some(tool.summary.to_owned()),
        }
    }

    /// Returns what a model is told about it.
    fn description(&self, host: &Host) -> String {
        match self.about {
            About::Learn => learn::description(host),
            About::Brokered(tool) => tool.description.to_owned(),
        }
    }

    /// Tells whether there is anything to call it for.
    pub(super) fn is_offered(&self, host: &Host) -> bool {
        match self.about {
            About::Learn => learn::is_offered(host),
            About::Brokered(_) => host.has_broker(),
        }
    }

    /// Returns the JSON Schema of its arguments.
    fn schema(&self) -> Value {
        match self.about {
            About::Learn => learn::schema(),
            About::Brokered(tool) => tool.schema(),
        }
    }

    /// Returns the function of a module that is called.
    pub(super) fn entrypoint(&self) -> Option<String> {
        match self.about {
            About::Learn => None,
            About::Brokered(tool) => Some(tool.name.to_owned()),
        }
    }

    /// Returns what it needs unless the configuration says otherwise. Belongs to these bytes: a file
    /// of the same name gets none of it.
    fn capabilities(&self) -> Capabilities {
        match self.about {
            About::Learn => match GuestPath::new(learn::SUBJECTS) {
                Ok(path) => Capabilities::default().with_files(path, Access::Read),
                Err(_) => Capabilities::default(),
            },
            About::Brokered(tool) => Capabilities {
                brokered: Brokered::new(tool.calls().filter_map(|name| name.parse().ok())),
                ..Capabilities::default()
            },
        }
    }

    /// Opens what a call needs; an outcome instead when the arguments name something that is not
    /// there.
    pub(super) fn prepare(&self, invocation: &Invocation<'_>) -> Result<Prepared, Outcome> {
        match self.about {
            About::Learn => learn::prepare(invocation),
            About::Brokered(_) => Ok(Prepared {
                arguments: None,
                wasi: jp_wasm::WasiContext::default(),
                root: "",
            }),
        }
    }
}

/// What the host has prepared for one call of a builtin.
pub(super) struct Prepared {
    /// The arguments for the guest, where the host adds something to them.
    pub(super) arguments: Option<String>,
    /// The directories the guest sees.
    pub(super) wasi: jp_wasm::WasiContext,
    /// Where it finds them.
    pub(super) root: &'static str,
}

/// Makes a builtin of the files that the build script wrote; no code means that none was embedded.
macro_rules! embedded {
    ($name:expr, $file:literal, $about:expr) => {{
        let code: &'static [u8] = include_bytes!(concat!(env!("OUT_DIR"), "/", $file, ".cwasm"));
        Builtin {
            name: $name,
            wasm: include_bytes!(concat!(env!("OUT_DIR"), "/", $file, ".wasm")),
            sha256: include_bytes!(concat!(env!("OUT_DIR"), "/", $file, ".sha256")),
            file: $file,
            code: (!code.is_empty()).then_some(code),
            about: $about,
        }
    }};
}

/// Returns all builtins.
#[must_use]
pub fn builtins() -> &'static [Builtin] {
    static ALL: std::sync::LazyLock<Vec<Builtin>> = std::sync::LazyLock::new(|| {
        let modules = jp_tool_brokered::ALL
            .iter()
            .map(|tool| embedded!(tool.name, "all_tools", About::Brokered(tool)));
        let learn = embedded!("learn", "jp_tool_learn", About::Learn);
        [learn].into_iter().chain(modules).collect()
    });
    &ALL
}

/// Finds a builtin by its name.
pub(super) fn find(name: &str) -> Option<&'static Builtin> {
    builtins().iter().find(|builtin| builtin.name == name)
}

/// Compiles a builtin to the machine code that is embedded beside it.
///
/// # Errors
///
/// When this machine cannot compile it.
pub fn precompile(builtin: &Builtin) -> Result<Vec<u8>, ToolError> {
    let code = compiler(builtin)?.precompile(builtin.wasm);
    code.map_err(|error| compilation_failed(builtin, error))
}

/// Tells whether a builtin has machine code embedded that this program accepts, so that calling it
/// compiles nothing.
///
/// # Errors
///
/// When this machine cannot run Wasm.
pub fn is_precompiled(builtin: &Builtin) -> Result<bool, ToolError> {
    let compiler = compiler(builtin)?;
    Ok(builtin
        .code
        .is_some_and(|code| compiler.accepts(builtin.wasm, code)))
}

fn compiler(builtin: &Builtin) -> Result<jp_wasm::Runtime, ToolError> {
    let compiler = jp_wasm::Runtime::new(&jp_wasm::RuntimeOptions::default());
    compiler.map_err(|error| compilation_failed(builtin, error))
}

fn compilation_failed(builtin: &Builtin, error: jp_wasm::Error) -> ToolError {
    let failed = Misconfigured::WasmCompilation(Unusable::new(None, error));
    ToolError::unusable(builtin.name, failed)
}

#[cfg(test)]
mod tests {
    #[test]
    fn hashes_made_at_build_time_are_those_of_the_embedded_bytes() {
        for builtin in super::builtins() {
            let found = jp_wasm::Sha256::of(builtin.wasm);
            assert_eq!(found.as_bytes(), builtin.sha256, "{}", builtin.name);
        }
    }

    #[test]
    fn every_brokered_tool_is_a_builtin() {
        let names: Vec<&str> = super::builtins()
            .iter()
            .map(|builtin| builtin.name)
            .collect();
        let tools = jp_tool_brokered::ALL.iter().map(|tool| tool.name);
        let expected: Vec<&str> = ["learn"].into_iter().chain(tools).collect();
        assert_eq!(names, expected);
    }
}

//! The builtin tools: what is embedded, what a model is told about each, and what the host
//! prepares for a call. A new builtin is one more row of [`builtins`].

use jp_tool::Outcome;
use serde_json::Value;

use crate::{Host, runtime::Invocation};

/// A tool that is part of this program.
pub struct Builtin {
    /// Its name among the builtins.
    pub name: &'static str,
    /// The component.
    pub wasm: &'static [u8],
    /// Its SHA-256.
    pub sha256: &'static [u8; 32],
    /// Its compiled form, in a build made by `cargo xtask dist`.
    pub code: Option<&'static [u8]>,
    /// What a model is told about it.
    pub description: fn(&Host) -> String,
    /// Whether there is anything to call it for.
    pub is_offered: fn(&Host) -> bool,
    /// The JSON Schema of its arguments.
    pub schema: fn() -> Value,
    /// The guest paths it needs to read.
    pub reads: &'static [&'static str],
    /// Opens what a call needs; an outcome instead when the arguments name something that is not
    /// there.
    pub(crate) prepare: fn(&Invocation<'_>) -> Result<Prepared, Outcome>,
}

/// What the host has prepared for one call of a builtin.
pub(crate) struct Prepared {
    /// The arguments for the guest, with what the host adds to them.
    pub(crate) arguments: String,
    /// The directories the guest sees.
    pub(crate) wasi: jp_wasm::WasiContext,
    /// Where it finds them.
    pub(crate) root: &'static str,
}

/// Returns an embedded file; empty means that it was not embedded.
macro_rules! embedded {
    ($name:literal) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/", $name))
    };
}

/// Returns all builtins.
#[must_use]
pub fn builtins() -> &'static [Builtin] {
    static ALL: std::sync::LazyLock<[Builtin; 1]> = std::sync::LazyLock::new(|| {
        let code: &'static [u8] = embedded!("jp_tool_learn.cwasm");
        [Builtin {
            name: "learn",
            wasm: embedded!("jp_tool_learn.wasm"),
            sha256: embedded!("jp_tool_learn.sha256"),
            code: (!code.is_empty()).then_some(code),
            description: crate::knowledge::learn::description,
            is_offered: crate::knowledge::learn::is_offered,
            schema: crate::knowledge::learn::schema,
            reads: &[crate::places::SUBJECTS],
            prepare: crate::knowledge::learn::prepare,
        }]
    });
    &*ALL
}

/// Compiles a builtin to the machine code that is embedded beside it.
///
/// # Errors
///
/// When this machine cannot compile it.
pub fn precompile(builtin: &Builtin) -> Result<Vec<u8>, crate::ToolError> {
    let failed = |error: jp_wasm::Error| crate::ToolError::WasmCompilation(error.to_string());
    let runtime = jp_wasm::Runtime::new(&jp_wasm::RuntimeOptions::default()).map_err(failed)?;
    runtime.precompile(builtin.wasm).map_err(failed)
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
}

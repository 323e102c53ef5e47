//! Stands in the place of `engine.rs` in a program that runs no Wasm tools: there are no builtins, and a
//! tool that is a Wasm file is refused when it is called.

use std::{path::PathBuf, sync::Arc};

use jp_policy::Form;
use relative_path::RelativePathBuf;

use super::{Entry, WasmTools};
use crate::{
    Host, ToolDefinition,
    registry::Stored,
    runtime::{ToolRuntime, UnavailableRuntime},
};

/// No Wasm tools.
pub(super) struct Engine;

impl WasmTools for Engine {
    fn are_run(&self) -> bool {
        false
    }

    fn builtins(&self) -> Vec<&'static str> {
        Vec::new()
    }

    fn is_offered(&self, _: &str, _: &Host) -> bool {
        false
    }

    fn builtin(&self, _: &str, _: &str, _: &Host) -> Option<ToolDefinition> {
        None
    }

    fn embedded(&self, builtin: &str) -> Arc<dyn ToolRuntime> {
        refused(builtin.to_owned())
    }

    fn file(&self, path: RelativePathBuf, _: Entry) -> Arc<dyn ToolRuntime> {
        refused(path.into_string())
    }

    fn signed(&self, name: &str, _: Box<Stored>, _: Entry) -> Arc<dyn ToolRuntime> {
        refused(name.to_owned())
    }

    fn form_of(&self, _: &[u8]) -> Form {
        Form::Wasm
    }
}

fn refused(what: String) -> Arc<dyn ToolRuntime> {
    Arc::new(UnavailableRuntime(what))
}

/// A runtime that runs nothing, so that hosts are built in the same way.
#[derive(Default)]
pub struct LazyRuntime;

impl LazyRuntime {
    /// For a few calls.
    #[must_use]
    pub fn on_demand(_: Option<PathBuf>) -> Self {
        Self
    }

    /// For many calls.
    #[must_use]
    pub fn pooled(_: Option<PathBuf>, _: usize) -> Self {
        Self
    }

    /// Remembers no files.
    pub(crate) fn look_again(&self) {}

    /// Has nothing to warn of.
    #[must_use]
    pub fn warning(self, _: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self
    }
}

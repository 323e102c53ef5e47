//! What the host tells a tool about the call, apart from its arguments.

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

/// Where a tool runs and what it is asked to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Context {
    /// The directory the tool works in, as the *tool* sees it (`/workspace`, `/subjects`); never a
    /// host path when the tool is a Wasm guest.
    pub root: Utf8PathBuf,

    /// What is asked of the tool.
    pub action: Action,
}

/// What is asked of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Do the work.
    #[default]
    Run,

    /// Only put the arguments into a form a person can read.
    FormatArguments,
}

impl Action {
    /// Tells whether the tool is asked to do its work.
    #[must_use]
    pub const fn is_run(self) -> bool {
        matches!(self, Self::Run)
    }

    /// Tells whether the tool is asked to format its arguments.
    #[must_use]
    pub const fn is_format_arguments(self) -> bool {
        matches!(self, Self::FormatArguments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn context_keeps_its_json_form() {
        let context = Context {
            root: "/workspace".into(),
            action: Action::FormatArguments,
        };
        let json = serde_json::to_string(&context).unwrap();
        assert_eq!(json, r#"{"root":"/workspace","action":"format_arguments"}"#);
        assert_eq!(serde_json::from_str::<Context>(&json).unwrap(), context);
        assert!(context.action.is_format_arguments() && Action::default().is_run());
    }
}

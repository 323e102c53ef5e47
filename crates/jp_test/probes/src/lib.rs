//! What the probes share. Each example of this package is one guest that tries one thing a guest
//! should not manage, or one thing it should; what it tries in detail is chosen by its arguments.
//!
//! Probes know nothing of the host beside the contract: they report what they got, and the tests of
//! the test kit say what that should have been.

pub mod files;

use jp_tool::{Context, Outcome};
use serde_json::Value;

/// What a probe was called with.
pub struct Call {
    /// Where it runs and what it is asked.
    pub context: Context,
    /// The name it was called by.
    pub name: String,
    /// The arguments as they came.
    pub arguments: String,
    /// The answers as they came.
    pub answers: String,
}

impl Call {
    /// Returns an argument; `null` when it is absent or the arguments are no JSON.
    #[must_use]
    pub fn get(&self, key: &str) -> Value {
        serde_json::from_str::<Value>(&self.arguments)
            .ok()
            .and_then(|mut all| all.get_mut(key).map(Value::take))
            .unwrap_or_default()
    }

    /// Returns an argument that is a number, or 0.
    #[must_use]
    pub fn number(&self, key: &str) -> usize {
        let number = self.get(key).as_u64().unwrap_or_default();
        usize::try_from(number).unwrap_or(usize::MAX)
    }

    /// Returns an argument that is text, or nothing.
    #[must_use]
    pub fn text(&self, key: &str) -> String {
        self.get(key).as_str().unwrap_or_default().to_owned()
    }
}

/// Runs a probe; what [`probe!`] exports.
#[doc(hidden)]
pub fn run(
    probe: fn(&Call) -> Outcome,
    context: Context,
    name: &str,
    arguments: &str,
    answers: &str,
) -> Outcome {
    probe(&Call {
        context,
        name: name.to_owned(),
        arguments: arguments.to_owned(),
        answers: answers.to_owned(),
    })
}

/// Makes a component of a `fn(&Call) -> Outcome`.
#[macro_export]
macro_rules! probe {
    ($run:path) => {
        const PROBE: fn(&$crate::Call) -> jp_tool::Outcome = $run;

        #[cfg(target_arch = "wasm32")]
        struct Probe;

        #[cfg(target_arch = "wasm32")]
        impl jp_tool::guest::ToolGuest for Probe {
            fn run(
                context: jp_tool::Context,
                name: &str,
                arguments: &str,
                answers: &str,
            ) -> jp_tool::Outcome {
                $crate::run(PROBE, context, name, arguments, answers)
            }
        }

        #[cfg(target_arch = "wasm32")]
        jp_tool::export_tool!(Probe);

        #[cfg(not(target_arch = "wasm32"))]
        const _: fn(&$crate::Call) -> jp_tool::Outcome = PROBE;
    };
}

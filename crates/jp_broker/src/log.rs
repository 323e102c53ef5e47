//! `log.*`: lines a tool wants written down.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    CallError, Services,
    arguments::kinds::{Text, or_usual},
    capability::{Capability, CapabilityCall, Known, Spec},
};

/// The most bytes of an event: a log line is not a place to keep data.
const MAX_EVENT: usize = 4096;

/// Returns the capabilities of this family.
pub(crate) fn all() -> Vec<Arc<dyn Known>> {
    vec![Arc::new(Emit)]
}

struct Emit;

// Guests made for the seed add fields of their own. They are accepted, and not kept.
#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct EmitArguments {
    /// How important it is.
    #[serde(default, deserialize_with = "or_usual")]
    level: Level,
    /// What happened.
    event: Option<Text<MAX_EVENT>>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[cfg_attr(test, derive(Serialize, schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
enum Level {
    Trace,
    Debug,
    #[default]
    Info,
    Warn,
    Error,
}

impl Level {
    const fn word(self) -> &'static str {
        match self {
            Self::Trace => "trace",
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Emitted {
    /// Always true.
    logged: bool,
}

impl Capability for Emit {
    type Arguments = EmitArguments;
    type Reply = Emitted;

    fn spec(&self) -> Spec {
        Spec::new(
            "log.emit",
            "Writes a line to the audit log: the `DETAIL` of `jp audit show`, as `level:event`",
        )
    }

    async fn call(
        &self,
        services: &Services,
        call: &CapabilityCall<'_>,
        EmitArguments { level, event }: EmitArguments,
    ) -> Result<Emitted, CallError> {
        let event = event.as_deref().unwrap_or("wasm_capability_log_emit");
        // A line break or an escape could pass for a line that another tool wrote.
        let event = jp_text::mask(event, MAX_EVENT);
        if let Some(log) = &services.log {
            log.emit(&call.caller.user, &call.caller.tool, level.word(), &event);
        }
        Ok(Emitted { logged: true })
    }
}

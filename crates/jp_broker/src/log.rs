//! `log.*`: lines a tool wants written down.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use crate::{Answer, CallError, Capability, CapabilityCall, Services, Spec};

/// Longer events are refused: a log line is no place to keep data.
const MAX_EVENT: usize = 4096;

/// Returns the capabilities of this family.
pub(crate) fn all() -> Vec<Arc<dyn Capability>> {
    vec![Arc::new(Emit)]
}

struct Emit;

#[derive(serde::Deserialize)]
struct EmitArguments {
    level: Option<String>,
    event: Option<String>,
    /// Seed-conformant guests add fields of their own; they are not kept.
    #[serde(flatten)]
    _more: Map<String, Value>,
}

#[async_trait]
impl Capability for Emit {
    fn spec(&self) -> &Spec {
        &Spec {
            name: "log.emit",
            summary: "Writes a line to the audit log: the `DETAIL` of `jp audit show`, as `level:event`",
            arguments: "level, event",
            result: "{logged}",
            owner: None,
            scope: None,
        }
    }

    async fn call(
        &self,
        services: &Services,
        call: &CapabilityCall<'_>,
    ) -> Result<Answer, CallError> {
        let arguments: EmitArguments = call.arguments()?;
        let level = arguments.level.as_deref().unwrap_or("info");
        if !["trace", "debug", "info", "warn", "error"].contains(&level) {
            return Err(CallError::invalid(
                "level",
                "is none of trace, debug, info, warn, error",
            ));
        }
        let event = arguments
            .event
            .as_deref()
            .unwrap_or("wasm_capability_log_emit");
        if event.len() > MAX_EVENT {
            let problem = format!("takes more than {MAX_EVENT} bytes");
            return Err(CallError::invalid("event", &problem));
        }
        // A line break or an escape could pass for a line somebody else wrote.
        let event = jp_text::mask(event, MAX_EVENT);
        if let Some(log) = &services.log {
            log.emit(&call.caller.user, &call.caller.tool, level, &event);
        }
        Ok(json!({ "logged": true }).into())
    }
}

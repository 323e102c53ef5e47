//! Adapter: what a guest tells while it runs, as events of its call.

use std::sync::Arc;

use jp_tool::ToolStatus;
use jp_wasm::{GuestEvents, LogLevel};

use crate::{Events, runtime::Invocation};

struct Told {
    events: Arc<dyn Events>,
    call: String,
    tool: String,
}

/// Returns who hears what a guest tells; nobody when nobody listens.
pub(super) fn of(invocation: &Invocation<'_>) -> Option<Arc<dyn GuestEvents>> {
    let events = invocation.host.caller().events.as_ref()?;
    Some(Arc::new(Told {
        events: Arc::clone(events),
        call: invocation.call.id.clone(),
        tool: invocation.tool.name.clone(),
    }))
}

impl Told {
    fn report(&self, status: ToolStatus) {
        self.events.report(&self.call, &self.tool, status);
    }
}

impl GuestEvents for Told {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a fraction between 0 and 1, and people read a percentage"
    )]
    fn progress(&self, message: &str, fraction: Option<f64>) {
        self.report(ToolStatus {
            message: Some(message.to_owned()),
            percent_complete: fraction.map(|done| (done * 100.0) as f32),
            ..ToolStatus::phase("execute")
        });
    }

    fn log(&self, level: LogLevel, text: &str) {
        let level = match level {
            LogLevel::Debug => "debug",
            LogLevel::Info => "info",
            LogLevel::Warn => "warning",
            LogLevel::Error => "error",
        };
        self.report(ToolStatus {
            message: Some(format!("{level}: {text}")),
            ..ToolStatus::phase("execute")
        });
    }
}

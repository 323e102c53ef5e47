//! Adapter: what a guest tells while it runs, as events of its call.

use jp_tool::ToolStatus;
use jp_wasm::{GuestEvents, LogLevel};

use super::host_side::HostSide;

impl HostSide {
    fn report(&self, status: ToolStatus) {
        if let Some(events) = &self.events {
            events.report(self.record.call_id(), &self.caller.tool, status);
        }
    }
}

impl GuestEvents for HostSide {
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

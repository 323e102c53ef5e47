//! The numbers in the text form of Prometheus.

use std::fmt::{Display, Write};

use std::sync::atomic::Ordering;

use super::{Metrics, Present, RANGES, lock, process::Process};

/// What the text says it is.
pub(crate) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A page of numbers.
#[derive(Default)]
struct Page(String);

impl Page {
    /// Starts a family of numbers.
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    /// Adds a number.
    fn number(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        self.0.push_str(name);
        for (at, (label, text)) in labels.iter().enumerate() {
            let start = if at == 0 { '{' } else { ',' };
            let _ = write!(self.0, "{start}{label}=\"{}\"", escaped(text));
        }
        let end = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(self.0, "{end} {value}");
    }

    /// Adds a family of one number.
    fn gauge(&mut self, name: &str, help: &str, value: impl Display) {
        self.family(name, "gauge", help);
        self.number(name, &[], value);
    }

    fn counter(&mut self, name: &str, help: &str, value: impl Display) {
        self.family(name, "counter", help);
        self.number(name, &[], value);
    }
}

/// Escapes what would end a label.
fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\\\");
    text.replace('"', "\\\"").replace('\n', "\\n")
}

impl Metrics {
    /// Writes all numbers.
    pub(crate) fn text(&self, present: Present) -> String {
        let mut page = Page::default();
        page.family("jp_build_info", "gauge", "The version of jp.");
        let version = [("version", env!("CARGO_PKG_VERSION"))];
        page.number("jp_build_info", &version, 1);
        self.calls(&mut page);
        self.answers(&mut page);
        let open = self.connections.load(Ordering::Relaxed);
        page.gauge("jp_connections", "Open connections.", open);
        let sessions = present.sessions;
        page.gauge("jp_sessions", "Open sessions of older revisions.", sessions);
        page.gauge(
            "jp_tasks_running",
            "Tasks that this server works on.",
            present.tasks,
        );
        page.gauge(
            "jp_listeners",
            "Clients and subscriptions that hear of changes.",
            present.listeners,
        );
        page.gauge(
            "jp_followed_resources",
            "Resources that are followed.",
            present.followed,
        );
        page.gauge("jp_tools", "Tools that clients are offered.", present.tools);
        let spills = self.spills.load(Ordering::Relaxed);
        page.counter(
            "jp_spilled_results_total",
            "Results that were kept because they are large.",
            spills,
        );
        let bytes = self.spilled_bytes.load(Ordering::Relaxed);
        page.counter("jp_spilled_bytes_total", "The bytes of those.", bytes);
        self.process(&mut page);
        page.0
    }

    fn calls(&self, page: &mut Page) {
        let calls = lock(&self.calls);
        let name = "jp_calls_total";
        page.family(name, "counter", "Calls of tools, by how they ended.");
        for (tool, tally) in calls.iter() {
            for (outcome, count) in &tally.outcomes {
                page.number(name, &[("tool", tool), ("outcome", outcome)], count);
            }
        }
        let name = "jp_call_duration_seconds";
        page.family(name, "histogram", "How long calls of tools took.");
        for (tool, tally) in calls.iter() {
            let mut count = 0;
            for (end, more) in RANGES.iter().zip(&tally.ranges) {
                count += more;
                let labels = [("tool", tool.as_str()), ("le", &end.to_string())];
                page.number(&format!("{name}_bucket"), &labels, count);
            }
            let all: u64 = tally.ranges.iter().sum();
            let labels = [("tool", tool.as_str()), ("le", "+Inf")];
            page.number(&format!("{name}_bucket"), &labels, all);
            let tool = [("tool", tool.as_str())];
            page.number(&format!("{name}_sum"), &tool, tally.seconds);
            page.number(&format!("{name}_count"), &tool, all);
        }
    }

    fn answers(&self, page: &mut Page) {
        let name = "jp_http_responses_total";
        page.family(
            name,
            "counter",
            "Responses over HTTP; those from 400 on were refused.",
        );
        for ((path, status), count) in lock(&self.answers).iter() {
            let status = status.to_string();
            page.number(name, &[("path", path), ("status", &status)], count);
        }
    }

    /// The numbers that Prometheus knows of every process.
    fn process(&self, page: &mut Page) {
        let name = "process_start_time_seconds";
        let started = Milliseconds(self.started);
        page.gauge(name, "When the server started, since 1970.", started);
        let Some(process) = Process::of_this() else {
            return;
        };
        page.gauge(
            "process_resident_memory_bytes",
            "Resident memory.",
            process.resident,
        );
        page.gauge(
            "process_virtual_memory_bytes",
            "Virtual memory.",
            process.virtual_size,
        );
        page.gauge("process_threads", "Threads.", process.threads);
        page.gauge("process_open_fds", "Open files.", process.open_files);
    }
}

/// Milliseconds, written as seconds.
struct Milliseconds(u64);

impl Display for Milliseconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1000, self.0 % 1000)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use jp_audit::OutcomeKind;

    use super::*;

    #[test]
    fn calls_are_counted_by_tool_and_outcome_in_ranges() {
        let metrics = Metrics::default();
        metrics.called("read", OutcomeKind::Success, Duration::from_millis(3));
        metrics.called("read", OutcomeKind::Success, Duration::from_secs(400));
        metrics.called("read", OutcomeKind::Denied, Duration::ZERO);
        let text = metrics.text(Present::default());
        for line in [
            "jp_calls_total{tool=\"read\",outcome=\"success\"} 2",
            "jp_calls_total{tool=\"read\",outcome=\"denied\"} 1",
            "jp_call_duration_seconds_bucket{tool=\"read\",le=\"0.001\"} 1",
            "jp_call_duration_seconds_bucket{tool=\"read\",le=\"0.005\"} 2",
            "jp_call_duration_seconds_bucket{tool=\"read\",le=\"300\"} 2",
            "jp_call_duration_seconds_bucket{tool=\"read\",le=\"+Inf\"} 3",
            "jp_call_duration_seconds_count{tool=\"read\"} 3",
            "jp_call_duration_seconds_sum{tool=\"read\"} 400.003",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }

    #[test]
    fn names_are_bounded_in_number_and_cannot_fake_a_line() {
        let metrics = Metrics::default();
        for n in 0..2_000 {
            let tool = format!("t\"}} 1\n{n}\\");
            metrics.called(&tool, OutcomeKind::Error, Duration::ZERO);
            metrics.answered(&format!("/{n}"), 404);
        }
        let text = metrics.text(Present::default());
        let calls = text
            .lines()
            .filter(|line| line.starts_with("jp_calls_total{"));
        assert_eq!(calls.count(), 501);
        assert!(text.contains("jp_calls_total{tool=\"other tools\",outcome=\"error\"} 1500"));
        assert!(text.contains("tool=\"t\\\"} 1\\n7\\\\\""));
        let other = "jp_http_responses_total{path=\"other\",status=\"404\"} 2000";
        assert!(text.contains(other));
        let is_line = |line: &str| line.starts_with("# ") || line.starts_with(['j', 'p']);
        assert!(text.lines().all(is_line), "{text}");
    }

    #[test]
    fn the_process_is_measured_where_the_system_tells() {
        let text = Metrics::default().text(Present::default());
        let resident = text
            .lines()
            .find_map(|line| line.strip_prefix("process_resident_memory_bytes "));
        let resident: u64 = resident.unwrap().parse().unwrap();
        assert!(resident > 1_000_000, "{resident}");
    }
}

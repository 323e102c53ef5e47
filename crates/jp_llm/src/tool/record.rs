//! The audit record of a call. Every call leaves one, whatever became of it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jp_audit::{Decision, Log, OutcomeKind, Record, Source, Waiting};
use jp_broker::{CallError, Caller, Code};
use jp_config::tool::ToolSource;
use jp_tool::Outcome;

use super::{Call, Executed, ExecutionOutcome, HostError, Pass, ToolDefinition, ToolError};
use crate::Host;

/// Writes the record of a call that has ended, after one that waited for it; returns its number.
pub(super) fn write(
    pass: &Pass<'_>,
    before: Option<&Waiting>,
    executed: &Executed,
) -> Result<Option<u64>, ToolError> {
    let Pass {
        tool,
        call,
        host,
        arguments_json,
        decision,
        decided_by,
        ..
    } = pass;
    let Some(log) = host.audit() else {
        return Ok(None);
    };
    let (outcome, detail) = kind(executed, *decision);
    let details = &executed.details;
    let (trace, transient) = match &details.outcome {
        Some(Outcome::Error {
            trace, transient, ..
        }) => (trace.as_slice(), Some(*transient)),
        _ => (&[][..], None),
    };
    let record = Record {
        time: now(),
        principal: &host.caller().principal,
        call_id: &call.id,
        traceparent: call.trace.traceparent(),
        tool: &tool.name,
        source: source(tool),
        capability: None,
        sha256: details.sha256.as_deref(),
        arguments_hash: log.hash_arguments(arguments_json.as_bytes()),
        grant: &details.grant,
        decision: *decision,
        decided_by: decided_by.as_deref(),
        outcome,
        detail: detail.as_deref(),
        duration_us: u64::try_from(details.duration.as_micros()).unwrap_or(u64::MAX),
        fuel: details.fuel,
        stdout_bytes: details.stdout.len() as u64,
        stderr_bytes: details.stderr.len() as u64,
        trace,
        transient,
    };
    let number = log.append_after(before, &record);
    number
        .map(Some)
        .map_err(|error| unwritten(&tool.name, error))
}

/// Writes the record of a call of a tool that could not be made, because there is none of that name
/// for example.
pub(super) fn write_unmade(
    name: &str,
    call: &Call,
    host: &Host,
    error: &ToolError,
) -> Result<(), ToolError> {
    let Some(log) = host.audit() else {
        return Ok(());
    };
    let arguments = serde_json::to_string(&call.arguments).unwrap_or_default();
    let record = Record {
        time: now(),
        principal: &host.caller().principal,
        call_id: &call.id,
        traceparent: call.trace.traceparent(),
        tool: name,
        source: Source::Local,
        capability: None,
        sha256: None,
        arguments_hash: log.hash_arguments(arguments.as_bytes()),
        grant: "",
        decision: Decision::Undecided,
        decided_by: None,
        outcome: match call.cancel.is_cancelled() {
            // Stopped on the way to its tool, it has failed of nothing else.
            true => OutcomeKind::Cancelled,
            false => error.verdict().outcome,
        },
        detail: Some(&error.to_string()),
        duration_us: 0,
        fuel: None,
        stdout_bytes: 0,
        stderr_bytes: 0,
        trace: &[],
        transient: None,
    };
    let number = log.append(&record);
    number.map(|_| ()).map_err(|error| unwritten(name, error))
}

/// What the records of a call's capability calls have in common.
pub(crate) struct CapabilityRecord {
    call_id: String,
    traceparent: Option<String>,
    source: Source,
}

impl CapabilityRecord {
    pub(crate) fn of(pass: &Pass<'_>) -> Self {
        Self {
            call_id: pass.call.id.clone(),
            traceparent: pass.call.trace.traceparent().map(str::to_owned),
            source: source(pass.tool),
        }
    }

    /// Returns the id of the call.
    pub(crate) fn call_id(&self) -> &str {
        &self.call_id
    }

    /// Makes the record of one capability call, with a note if it was answered. What is wrong with
    /// arguments repeats them, so only the kind of failure is written down.
    pub(crate) fn with<'a>(
        &'a self,
        caller: &'a Caller,
        log: &Log,
        (capability, arguments): (&'a str, &str),
        took: Duration,
        answer: Result<Option<&'a str>, &CallError>,
    ) -> Record<'a> {
        let failed = answer.err();
        let (decision, outcome) = match failed.map(|error| error.code) {
            None => (Decision::Allowed, OutcomeKind::Success),
            Some(Code::Forbidden) => (Decision::Denied, OutcomeKind::Denied),
            Some(Code::InvalidArgs | Code::Unsupported) => {
                (Decision::Allowed, OutcomeKind::Invalid)
            }
            Some(Code::Internal) => (Decision::Allowed, OutcomeKind::HostFailure),
            Some(Code::OutputLimit | Code::Timeout) => (Decision::Allowed, OutcomeKind::Limit),
            Some(_) => (Decision::Allowed, OutcomeKind::Error),
        };
        Record {
            time: now(),
            principal: &caller.user,
            call_id: &self.call_id,
            traceparent: self.traceparent.as_deref(),
            tool: &caller.tool,
            source: self.source,
            capability: Some(capability),
            sha256: None,
            arguments_hash: log.hash_arguments(arguments.as_bytes()),
            grant: "",
            decision,
            decided_by: None,
            outcome,
            detail: answer.unwrap_or_else(|error| Some(error.code.as_str())),
            duration_us: u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
            fuel: None,
            stdout_bytes: 0,
            stderr_bytes: 0,
            trace: &[],
            transient: failed.map(|error| error.retryable),
        }
    }

    /// Writes it.
    pub(crate) fn write(log: &Log, record: &Record<'_>) -> Result<(), ToolError> {
        log.append(record)
            .map(|_| ())
            .map_err(|error| unwritten(record.tool, error))
    }
}

const fn source(tool: &ToolDefinition) -> Source {
    match tool.source {
        ToolSource::Builtin { .. } => Source::Builtin,
        ToolSource::Local { .. } => Source::Local,
        ToolSource::Registry { .. } => Source::Registry,
        ToolSource::Mcp { .. } => Source::Mcp,
    }
}

/// Returns the time of a record.
pub(crate) fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(now.unwrap_or_default().as_millis()).unwrap_or(u64::MAX)
}

fn unwritten(tool: &str, error: jp_audit::AuditError) -> ToolError {
    ToolError::new(tool, HostError::Unwritten(error))
}

impl Executed {
    /// Returns how the call ended, as its audit record says it.
    #[must_use]
    pub fn kind(&self) -> OutcomeKind {
        kind(self, self.details.decision.unwrap_or(Decision::Undecided)).0
    }
}

/// Says how a call ended. What is wrong with arguments or answers repeats them, so only the model is
/// told that; the record holds their hash and nothing else of them.
fn kind(executed: &Executed, decision: Decision) -> (OutcomeKind, Option<String>) {
    match &executed.result {
        Ok(ExecutionOutcome::Completed {
            result: Ok(said), ..
        }) if decision == Decision::Refused => (OutcomeKind::Denied, Some(said.clone())),
        Ok(ExecutionOutcome::Completed { result: Ok(_), .. }) => (OutcomeKind::Success, None),
        Ok(ExecutionOutcome::NeedsInput { question, .. }) => {
            (OutcomeKind::NeedsInput, Some(question.id.clone()))
        }
        Ok(ExecutionOutcome::Cancelled { .. }) => (OutcomeKind::Cancelled, None),
        Ok(ExecutionOutcome::Completed {
            result: Err(said), ..
        }) => match &executed.details.outcome {
            Some(Outcome::Error { .. }) => (OutcomeKind::Error, Some(said.clone())),
            None => (
                OutcomeKind::Invalid,
                Some("the arguments do not fit the schema".to_owned()),
            ),
            Some(_) => (
                OutcomeKind::Invalid,
                Some("an answer does not fit its question".to_owned()),
            ),
        },
        Err(error) => (error.verdict().outcome, Some(error.to_string())),
    }
}

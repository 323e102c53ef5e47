//! What a record says about a call, and how that is written. Does not know the chain.

use crate::{ArgumentsHash, json};

/// The longest principal, call id or tool name that is written whole.
const MAX_NAME: usize = 256;
/// The longest grant that is written whole.
const MAX_GRANT: usize = 4096;
/// The longest detail that is written whole.
const MAX_DETAIL: usize = 1024;
/// How many lines of a trace are written.
const MAX_TRACE: usize = 32;

/// Says where a tool comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// It is part of jp.
    Builtin,
    /// It is configured on this machine.
    Local,
    /// It belongs to an MCP server.
    Mcp,
    /// It is signed: of a registry, or of the workspace's own tooling.
    Registry,
}

impl Source {
    /// Gives the word written in the log.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Builtin => "builtin",
            Self::Local => "local",
            Self::Registry => "registry",
            Self::Mcp => "mcp",
        }
    }
}

/// Says what was decided about a call before it ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// The policy granted it.
    Allowed,
    /// The policy refused it.
    Denied,
    /// A person was asked and has not answered.
    Asked,
    /// A person was asked and agreed.
    Approved,
    /// A person was asked and refused.
    Refused,
    /// The call ended before anything was decided, because it was malformed for example.
    Undecided,
}

impl Decision {
    /// Gives the word written in the log.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Denied => "denied",
            Self::Asked => "asked",
            Self::Approved => "approved",
            Self::Refused => "refused",
            Self::Undecided => "undecided",
        }
    }
}

/// Says how a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutcomeKind {
    /// The tool succeeded.
    Success,
    /// The tool returned an error.
    Error,
    /// The tool asked a question.
    NeedsInput,
    /// The call was not permitted.
    Denied,
    /// The call was malformed.
    Invalid,
    /// A limit was reached.
    Limit,
    /// The guest trapped.
    Trap,
    /// The host failed.
    HostFailure,
    /// The caller gave up.
    Cancelled,
}

impl OutcomeKind {
    /// Gives the word written in the log.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Error => "error",
            Self::NeedsInput => "needs_input",
            Self::Denied => "denied",
            Self::Invalid => "invalid",
            Self::Limit => "limit",
            Self::Trap => "trap",
            Self::HostFailure => "host_failure",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Says what happened to one call. Texts may come from anyone: they are escaped and bounded when
/// written, and a cut says how many bytes are left out.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// When the call ended, in milliseconds since 1970.
    pub time: u64,
    /// Who made the call.
    pub principal: &'a str,
    /// The caller's id of the call.
    pub call_id: &'a str,
    /// The trace that the call belongs to, as W3C writes it, if its caller said so.
    pub traceparent: Option<&'a str>,
    /// The tool's id.
    pub tool: &'a str,
    /// Where the tool comes from.
    pub source: Source,
    /// What the host was asked to do on the tool's behalf; `None` for the call of the tool itself.
    pub capability: Option<&'a str>,
    /// The sha256 of the artifact that ran, in hexadecimal digits.
    pub sha256: Option<&'a str>,
    /// The keyed hash of the arguments, from [`crate::Log::hash_arguments`].
    pub arguments_hash: ArgumentsHash,
    /// The grant in its compact form.
    pub grant: &'a str,
    /// What was decided before the call ran.
    pub decision: Decision,
    /// Who decided it, and how, where a person did.
    pub decided_by: Option<&'a str>,
    /// How it ended.
    pub outcome: OutcomeKind,
    /// The error's message or the limit's name.
    pub detail: Option<&'a str>,
    /// How long the call took, in microseconds.
    pub duration_us: u64,
    /// How much fuel it burnt.
    pub fuel: Option<u64>,
    /// How many bytes it wrote to standard output.
    pub stdout_bytes: u64,
    /// How many bytes it wrote to standard error.
    pub stderr_bytes: u64,
    /// The lines of a tool's own error trace.
    pub trace: &'a [String],
    /// Whether the tool called its error transient.
    pub transient: Option<bool>,
}

/// A record that waits to be appended with the next one.
#[derive(Debug)]
pub struct Waiting(pub(crate) Vec<u8>);

impl Record<'_> {
    /// Keeps the record for [`crate::Log::append_after`].
    #[must_use]
    pub fn wait(&self) -> Waiting {
        let mut body = Vec::with_capacity(512);
        self.write_body(&mut body);
        Waiting(body)
    }

    /// Writes the fields of the record, without braces.
    pub(crate) fn write_body(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"\"time\":");
        json::number(out, self.time);
        text(out, "principal", self.principal, MAX_NAME);
        text(out, "call_id", self.call_id, MAX_NAME);
        if let Some(traceparent) = self.traceparent {
            text(out, "traceparent", traceparent, MAX_NAME);
        }
        text(out, "tool", self.tool, MAX_NAME);
        text(out, "source", self.source.as_str(), MAX_NAME);
        if let Some(capability) = self.capability {
            text(out, "capability", capability, MAX_NAME);
        }
        if let Some(sha256) = self.sha256 {
            text(out, "sha256", sha256, MAX_NAME);
        }
        json::name(out, "arguments_hash");
        out.push(b'"');
        json::hex(out, &self.arguments_hash.0);
        out.push(b'"');
        text(out, "grant", self.grant, MAX_GRANT);
        text(out, "decision", self.decision.as_str(), MAX_NAME);
        if let Some(by) = self.decided_by {
            text(out, "decided_by", by, MAX_NAME);
        }
        text(out, "outcome", self.outcome.as_str(), MAX_NAME);
        if let Some(detail) = self.detail {
            text(out, "detail", detail, MAX_DETAIL);
        }
        count(out, "duration_us", self.duration_us);
        if let Some(fuel) = self.fuel {
            count(out, "fuel", fuel);
        }
        count(out, "stdout_bytes", self.stdout_bytes);
        count(out, "stderr_bytes", self.stderr_bytes);
        if !self.trace.is_empty() {
            self.write_trace(out);
        }
        if let Some(transient) = self.transient {
            json::name(out, "transient");
            out.extend_from_slice(if transient { b"true" } else { b"false" });
        }
    }

    fn write_trace(&self, out: &mut Vec<u8>) {
        json::name(out, "trace");
        out.push(b'[');
        for (index, line) in self.trace.iter().take(MAX_TRACE).enumerate() {
            if index > 0 {
                out.push(b',');
            }
            json::string(out, line, MAX_NAME);
        }
        if let Some(left_out) = self
            .trace
            .len()
            .checked_sub(MAX_TRACE)
            .filter(|count| *count > 0)
        {
            out.extend_from_slice(",\"…[cut, ".as_bytes());
            json::number(out, u64::try_from(left_out).unwrap_or(u64::MAX));
            out.extend_from_slice(b" lines]\"");
        }
        out.push(b']');
    }
}

fn text(out: &mut Vec<u8>, name: &str, value: &str, limit: usize) {
    json::name(out, name);
    json::string(out, value, limit);
}

fn count(out: &mut Vec<u8>, name: &str, value: u64) {
    json::name(out, name);
    json::number(out, value);
}

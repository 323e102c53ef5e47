//! `propose_grant`: a model passes on what a denial named, with a reason. It files that for the user, who
//! decides with `jp approve`; it grants nothing. It is there for clients that were denied something.

use std::{
    collections::HashSet,
    sync::{Mutex, PoisonError},
    time::Instant,
};

use jp_audit::{Decision, OutcomeKind, Record, Source};
use jp_host::approvals::RequestId;
use rmcp::model::{CallToolRequestParams, CallToolResult, ContentBlock, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use crate::{catalogue::Catalogue, content, keep::now};

/// The name that clients call it by.
pub(crate) const NAME: &str = "propose_grant";

/// The longest reason, in characters.
const LONGEST: usize = 500;

/// As many principals are remembered that were denied something.
const MOST: usize = 10_000;

/// Who was denied something that the user could grant.
#[derive(Default)]
pub(crate) struct Proposals(Mutex<HashSet<String>>);

impl Proposals {
    /// Notes a denial; tells whether it was the first of the principal.
    pub(crate) fn note(&self, principal: &str) -> bool {
        let mut denied = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        denied.len() < MOST && denied.insert(principal.to_owned())
    }

    /// Tells whether a principal was denied something.
    pub(crate) fn is_offered(&self, principal: &str) -> bool {
        let denied = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        denied.contains(principal)
    }
}

/// Returns the tool as clients see it.
pub(crate) fn tool() -> Tool {
    let schema = json!({"type": "object", "required": ["id", "reason"], "additionalProperties": false,
    "properties": {
        "id": {"type": "string", "description": "the id that the denial named"},
        "reason": {"type": "string", "maxLength": LONGEST,
            "description": "what you need it for, in a sentence or two that the user reads"},
    }});
    let schema = match schema {
        Value::Object(schema) => schema,
        _ => Map::new(),
    };
    let text = "Asks the user to grant what a denial named. It grants nothing: the user decides, maybe later, and \
                then the same call can be made again.";
    Tool::new(NAME, text, schema).with_annotations(
        ToolAnnotations::new()
            .destructive(false)
            .idempotent(true)
            .open_world(false),
    )
}

/// Tells whether a call is one of this tool. A tool of the workspace that has the name keeps it.
pub(crate) fn is_meant(params: &CallToolRequestParams, catalogue: &Catalogue) -> bool {
    params.name == NAME && catalogue.id(NAME).is_none()
}

/// Files a proposal.
pub(crate) async fn call(
    params: CallToolRequestParams,
    catalogue: &Catalogue,
    principal: &str,
) -> CallToolResult {
    let started = Instant::now();
    let arguments = params.arguments.unwrap_or_default();
    let filed = file(&arguments, catalogue, principal).await;
    let outcome = match &filed {
        Ok(_) => OutcomeKind::Success,
        Err(_) => OutcomeKind::Invalid,
    };
    if let Some(log) = catalogue.workspace().host().audit() {
        let text = serde_json::to_string(&arguments).unwrap_or_default();
        let record = Record {
            time: now(),
            principal,
            call_id: "",
            tool: NAME,
            source: Source::Builtin,
            capability: None,
            sha256: None,
            arguments_hash: log.hash_arguments(text.as_bytes()),
            grant: "",
            decision: Decision::Allowed,
            decided_by: None,
            outcome,
            detail: None,
            duration_us: u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX),
            fuel: None,
            stdout_bytes: 0,
            stderr_bytes: 0,
            trace: &[],
            transient: None,
            traceparent: None,
        };
        if let Err(error) = log.append(&record) {
            return content::refusal(&format!("cannot record the call: {error}"));
        }
    }
    match filed {
        Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
        Err(why) => content::refusal(&why.to_string()),
    }
}

/// Why a proposal is not filed, in words for the model.
#[derive(Debug, thiserror::Error)]
enum Unfiled {
    #[error("expected `id`, which the denial named, and `reason`, why you need it")]
    Incomplete,
    #[error("unknown argument {0}: expected `id` and `reason`")]
    Argument(String),
    #[error("unknown id: it was never yours, or the user has decided about it already")]
    Unknown,
    #[error(transparent)]
    Store(#[from] jp_llm::Unreadable),
}

async fn file(
    arguments: &Map<String, Value>,
    catalogue: &Catalogue,
    principal: &str,
) -> Result<String, Unfiled> {
    let text = |name: &str| arguments.get(name).and_then(Value::as_str);
    let (Some(id), Some(reason)) = (text("id"), text("reason")) else {
        return Err(Unfiled::Incomplete);
    };
    if let Some(other) = arguments
        .keys()
        .find(|key| *key != "id" && *key != "reason")
    {
        return Err(Unfiled::Argument(jp_text::inline(other).to_string()));
    }
    let id: RequestId = id.parse().map_err(|_| Unfiled::Unknown)?;
    let reason = jp_text::shorten(reason, LONGEST);
    let Some(here) = catalogue.workspace().approvals() else {
        return Err(Unfiled::Unknown);
    };
    match here.add_reason(principal, &id, &reason, now()).await {
        Ok(true) => Ok(format!(
            "Filed for the user, who can decide with `jp approve {id}`. Nothing is granted yet: go on without it, \
             or make the same call again when they say that they have decided."
        )),
        Ok(false) => Err(Unfiled::Unknown),
        Err(error) => Err(Unfiled::Store(error)),
    }
}

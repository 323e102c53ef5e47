//! What a call answered, in the protocol's words.

use jp_llm::{
    Executed, ExecutionOutcome, ToolError,
    tool::{Cause, McpAnswer, Refused},
};
use jp_tool::{Part, TextPart};
use rmcp::{
    ErrorData,
    model::{CallToolResult, ContentBlock, ErrorCode, MetaObject},
};
use serde_json::json;

/// Clients cut the text of errors at about 11,000 characters, from the middle.
const LONGEST_ERROR: usize = 8_000;

/// What a person said no to.
pub(crate) const DECLINED: &str =
    "The person behind the client declined to answer what the tool asked.";

/// Returns the answer to a call that has ended.
pub(crate) fn answer(executed: Executed) -> Result<CallToolResult, ErrorData> {
    let executed = &executed;
    let mut result = match &executed.result {
        Ok(outcome) => outcome_of(executed, outcome),
        Err(error) => failed(error)?,
    };
    result.meta = Some(about(executed));
    Ok(result)
}

fn outcome_of(executed: &Executed, outcome: &ExecutionOutcome) -> CallToolResult {
    match outcome {
        ExecutionOutcome::Completed { result: Ok(_), .. } => {
            let blocks = executed.parts().iter().map(block).collect();
            let mut result = CallToolResult::success(blocks);
            result.structured_content = executed.structured().map(|value| value.into_owned());
            result
        }
        ExecutionOutcome::Completed {
            result: Err(text), ..
        } => refusal(text),
        ExecutionOutcome::NeedsInput { question, .. } => refusal(&format!(
            "The tool has a question that nobody could answer: {} (`{}`). A fixed answer can be configured \
             for the tool.",
            question.text, question.id
        )),
        ExecutionOutcome::Cancelled { .. } => refusal("The call was cancelled."),
    }
}

/// Makes a result that says why there is none.
pub(crate) fn refusal(text: &str) -> CallToolResult {
    let text = jp_text::shorten_and_count(text, LONGEST_ERROR);
    CallToolResult::error(vec![ContentBlock::text(text)])
}

/// Answers with what a model can act on, or with an error of the protocol where no model could.
pub(crate) fn failed(error: &ToolError) -> Result<CallToolResult, ErrorData> {
    let mut text = error.to_string();
    if let Some(hint) = error.hint() {
        text.push_str("\nHint: ");
        text.push_str(hint);
    }
    if let Cause::Refused(refused) = error.cause() {
        text.push_str(&instead(refused));
    }
    match error.verdict().mcp {
        McpAnswer::Result => Ok(refusal(&text)),
        McpAnswer::Protocol(code) => {
            let text = jp_text::shorten_and_count(&text, LONGEST_ERROR).into_owned();
            Err(ErrorData::new(ErrorCode(code), text, None))
        }
    }
}

/// Says what a model can do about a refusal: pass it on, wait, or do without.
fn instead(refused: &Refused) -> String {
    match refused {
        Refused::Denied {
            proposal: Some(id), ..
        } => format!(
            "\nThe user can grant just that to just this tool, as request {id}: they run `jp approve {id}`. To ask \
             them for it, call the tool `propose_grant` with this id and a reason. Until they have decided, use \
             another tool or go on without it; the same call fails again."
        ),
        Refused::Waiting { .. } => {
            "\nUntil they have decided, go on with something else; do not repeat the call \
                                   in the meantime, and do not look for a way around it."
                .to_owned()
        }
        _ => String::new(),
    }
}

/// Returns a part of an answer. The JSON form of ours is that of the protocol, and every text and every
/// picture moves over without being copied again.
fn block(part: &Part) -> ContentBlock {
    // What nearly every tool answers.
    if let Part::Text(TextPart {
        text,
        annotations: None,
    }) = part
    {
        return ContentBlock::text(text.as_str());
    }
    let block = serde_json::to_value(part).and_then(serde_json::from_value);
    block.unwrap_or_else(|error| {
        ContentBlock::text(format!("[a part that cannot be sent: {error}]"))
    })
}

/// Returns what is known about a call beside its result.
fn about(executed: &Executed) -> MetaObject {
    let details = &executed.details;
    let mut about =
        json!({ "durationMs": u64::try_from(details.duration.as_millis()).unwrap_or(u64::MAX) });
    if let Some(fuel) = details.fuel {
        about["fuel"] = json!(fuel);
    }
    if let Some(record) = details.record {
        about["record"] = json!(record);
    }
    let mut meta = MetaObject::new();
    meta.0.insert("jp/call".to_owned(), about);
    meta
}

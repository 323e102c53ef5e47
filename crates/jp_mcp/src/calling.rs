//! Calls of tools, and what a tool asks for before or while it runs.

use std::{
    sync::{Mutex, PoisonError},
    time::Instant,
};

use jp_tool::Form;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, ElicitResult, ElicitationAction,
    InputRequest, InputRequiredResult, InputResponses, RequestMetaObject, ServerResult,
};
use serde_json::Value;

use crate::{
    Call, Called, McpError, Respond, TraceContext,
    asking::{self, Asked},
    connection::Connection,
    content,
    handler::Wanted,
    request::{Heard, Waiting},
};

/// What an answer is called that is not the result of a call.
const UNEXPECTED: &str = "it sent an unexpected response to a call";

/// What a tool is called that wants a message of a model or directories.
const UNOFFERED: &str =
    "the tool asks for more than answers of a person, which jp does not offer to servers";

/// What a tool is called whose questions nobody can answer.
const UNASKABLE: &str = "the tool asks for input in a form that jp cannot ask for";

/// How many times a tool may ask for input before it must answer.
const MAX_ROUNDS: usize = 16;

/// What a call brings along when it is made again with what the server wanted to know.
#[derive(Default)]
struct Brought {
    responses: Option<InputResponses>,
    state: Option<String>,
}

/// Returns the `_meta` that tells a server which trace a call belongs to.
fn meta(trace: &TraceContext) -> Option<RequestMetaObject> {
    let mut meta = RequestMetaObject::new();
    for (key, value) in trace.entries() {
        meta.0.0.insert(key.to_owned(), value.into());
    }
    (!meta.0.0.is_empty()).then_some(meta)
}

fn wants(form: Form) -> Called {
    Called {
        wants: vec![form],
        ..Called::default()
    }
}

impl Connection {
    /// Calls a tool, and again with answers for as long as it asks.
    pub(crate) async fn call(
        &self,
        call: &Call<'_>,
        mut wait: Waiting<'_>,
    ) -> Result<Called, McpError> {
        let mut brought = Brought::default();
        for _ in 0..MAX_ROUNDS {
            let mut params = CallToolRequestParams::new(call.tool.to_owned())
                .with_arguments(call.arguments.clone());
            params.meta = call.trace.and_then(meta);
            params.input_responses = brought.responses;
            params.request_state = brought.state;
            let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
            let unanswered = Mutex::default();
            let heard = Heard {
                progress: call.progress,
                respond: Some(call.respond),
                unanswered: &unanswered,
            };
            let result = self.ask(request, &mut wait, heard).await?;
            let unanswered = unanswered.into_inner();
            if let Some(form) = unanswered.unwrap_or_else(PoisonError::into_inner) {
                // What the tool made of it is no answer to the call.
                return Ok(wants(form));
            }
            match result {
                ServerResult::CallToolResult(result) => {
                    return Called::read(&self.server, result, call.max_result);
                }
                ServerResult::CustomResult(sent) => {
                    return match content::of_known_types(sent.0) {
                        Some(result) => Called::read(&self.server, result, call.max_result),
                        None => Err(self.broke(UNEXPECTED)),
                    };
                }
                ServerResult::InputRequiredResult(wanted) => {
                    match self.answer_all(wanted, call.respond)? {
                        Ok(answered) => brought = answered,
                        Err(form) => return Ok(wants(form)),
                    }
                }
                _ => return Err(self.broke(UNEXPECTED)),
            }
        }
        Err(self.broke("the tool asked for input 16 times"))
    }

    /// Answers what a tool must know before it goes on; the form without an answer is the error.
    fn answer_all(
        &self,
        wanted: InputRequiredResult,
        respond: &dyn Respond,
    ) -> Result<Result<Brought, Form>, McpError> {
        let mut responses = InputResponses::new();
        for (key, input) in wanted.input_requests.unwrap_or_default() {
            let InputRequest::Elicitation(asked) = &input else {
                return Err(self.broke(UNOFFERED));
            };
            let Some(asked) = asking::form(&self.server, &key, &asked.params) else {
                return Err(self.broke(UNASKABLE));
            };
            let known = respond.known(&asked.form);
            let Some(content) = known.and_then(|answers| asked.accept(answers)) else {
                return Ok(Err(asked.form));
            };
            let result = ElicitResult::new(ElicitationAction::Accept).with_content(content);
            let result = serde_json::to_value(result).map_err(|_| self.broke(UNASKABLE))?;
            responses.insert(key, result);
        }
        Ok(Ok(Brought {
            responses: (!responses.is_empty()).then_some(responses),
            state: wanted.request_state,
        }))
    }

    /// Puts a form to the caller. The time that takes is not the call's.
    async fn put(
        &self,
        asked: &Asked,
        respond: &dyn Respond,
        wait: &mut Waiting<'_>,
    ) -> Result<Option<Value>, McpError> {
        let since = Instant::now();
        let answers = tokio::select! {
            biased;
            () = wait.cancel.cancelled() => return Err(McpError::Cancelled),
            answers = respond.respond(&asked.form) => answers,
        };
        wait.deadline += since.elapsed();
        Ok(answers.and_then(|answers| asked.accept(answers)))
    }

    /// Answers what a server asks for while a call is under way; returns the form that nobody answered.
    pub(crate) async fn reply(
        &self,
        wanted: Wanted,
        respond: &dyn Respond,
        wait: &mut Waiting<'_>,
    ) -> Result<Option<Form>, McpError> {
        let mut unanswered = None;
        let result = match asking::form(&self.server, "asked", &wanted.params) {
            None => ElicitResult::new(ElicitationAction::Decline),
            Some(asked) => match self.put(&asked, respond, wait).await? {
                Some(content) => ElicitResult::new(ElicitationAction::Accept).with_content(content),
                None => {
                    unanswered = Some(asked.form);
                    ElicitResult::new(ElicitationAction::Cancel)
                }
            },
        };
        // The server may have taken its question back.
        let _ = wanted.reply.send(result);
        Ok(unanswered)
    }
}

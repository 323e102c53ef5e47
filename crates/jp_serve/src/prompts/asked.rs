//! What a prompt asks the person behind a client: required arguments that were left out, where the
//! configuration has a question for them.

use std::sync::{Arc, Mutex, PoisonError};

use jp_config::ServedPromptConfig;
use jp_llm::{Asker, InputRequest};
use jp_tool::{AnswerType, Input, Question};
use rmcp::{
    ErrorData, RoleServer,
    model::{GetPromptRequestParams, InputRequiredResult, JsonObject},
    service::RequestContext,
};
use serde_json::Value;

use crate::{
    asking::{AskLater, AskNow, Noted},
    call::requests,
    handler::is_modern,
};

/// Puts answers in the place of arguments that were left out. Returns what the request ends with when
/// they are still to be had; an argument that nobody can be asked for stays missing.
pub(super) async fn complete(
    config: &ServedPromptConfig,
    request: &mut GetPromptRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<Option<InputRequiredResult>, ErrorData> {
    let given = request.arguments.get_or_insert_default();
    let questions = questions(config, given);
    if questions.is_empty() {
        return Ok(None);
    }
    let inputs: Vec<&Input> = questions.iter().collect();
    let wanted = InputRequest {
        call: "",
        tool: "",
        inputs: &inputs,
        any: false,
    };
    let client = context.client_capabilities();
    let answers = if is_modern(context) {
        let answered = serde_json::to_value(request.input_responses.take()).unwrap_or_default();
        let answered = answered.as_object().cloned().unwrap_or_default();
        let noted: Arc<Mutex<Noted>> = Arc::default();
        let asker = AskLater::new(client.as_ref(), answered, &noted);
        let answers = asker.provide(&wanted).await;
        let noted = std::mem::take(&mut *noted.lock().unwrap_or_else(PoisonError::into_inner));
        if noted.is_declined {
            return Err(declined(&request.name));
        }
        if !noted.wanted.is_empty() {
            let asked = requests(noted.wanted)?;
            return Ok(Some(InputRequiredResult::new(Some(asked), None)));
        }
        answers
    } else {
        let asker = AskNow::new(&context.peer, client.as_ref());
        asker.provide(&wanted).await
    };
    let answered = questions.iter().zip(answers);
    given.extend(answered.filter_map(|(question, answer)| {
        let answer = answer.filter(Value::is_string)?;
        Some((question.id().to_owned(), answer))
    }));
    Ok(None)
}

fn questions(config: &ServedPromptConfig, given: &JsonObject) -> Vec<Input> {
    let left_out = config.arguments.iter().filter(|argument| {
        let is_given = given.contains_key(&argument.name);
        argument.required && !is_given
    });
    let question = |argument: &jp_config::PromptArgumentConfig| {
        Some(Input::Question(Question {
            id: argument.name.clone(),
            text: argument.ask.clone()?,
            answer_type: AnswerType::Text,
            default: None,
        }))
    };
    left_out.filter_map(question).collect()
}

fn declined(name: &str) -> ErrorData {
    let name = jp_text::start(name, 80);
    let text = format!("the person declined to say what the prompt `{name}` needs");
    ErrorData::invalid_params(text, None)
}

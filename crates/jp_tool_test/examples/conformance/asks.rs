//! Tools that must know something before they can answer.

mod forms;

use jp_tool::{
    Answer, AnswerType, Form, Input, Question, Role, Sample, SampleMessage,
    guest::described::progress,
};
use serde_json::Value;

pub(crate) fn run(name: &str, arguments: &Value, answers: &Value) -> Option<Answer> {
    Some(match name {
        "test_sampling" => {
            let prompt = arguments["prompt"].as_str().unwrap_or_default();
            once(answers, vec![sample("prompt", prompt, 100)], |answers| {
                format!("LLM response: {}", text(&answers["prompt"]["text"]))
            })
        }
        "test_elicitation" => {
            let message = arguments["message"].as_str().unwrap_or_default();
            once(answers, vec![forms::user(message)], |answers| {
                format!("User response: accept, content: {}", answers["user"])
            })
        }
        "test_elicitation_sep1034_defaults" => completed(answers, forms::defaults()),
        "test_elicitation_sep1330_enums" => completed(answers, forms::enums()),
        "test_streaming_elicitation" => {
            progress("asking", Some(0.5));
            once(answers, vec![name_form()], greeting)
        }
        "test_missing_capability" => once(
            answers,
            vec![sample("sample", "Say something.", 10)],
            |_| "The model said something.".to_owned(),
        ),
        "test_tool_with_task" => once(answers, vec![name_form()], greeting),
        "confirm_delete" => once(answers, vec![confirm()], |_| "Deleted.".to_owned()),
        "multi_input" => {
            let color = form("color", "Which color?", "color", AnswerType::Text);
            once(answers, vec![name_form(), color], Value::to_string)
        }
        other => return modern(other, answers),
    })
}

/// What the scenarios of multi-round requests call.
fn modern(name: &str, answers: &Value) -> Option<Answer> {
    Some(match name.strip_prefix("test_input_required_result_")? {
        "elicitation" => once(answers, vec![name_form()], greeting),
        "sampling" => {
            let asked = sample("capital_question", "What is the capital of France?", 100);
            once(answers, vec![asked], |answers| {
                text(&answers["capital_question"]["text"])
            })
        }
        "list_roots" => once(answers, vec![roots()], |answers| {
            format!("Roots: {}", answers["client_roots"])
        }),
        "request_state" | "tampered_state" => once(answers, vec![confirm()], |_| {
            "state-ok: the state came back whole.".to_owned()
        }),
        "multiple_inputs" => {
            let greeting = sample("greeting", "Generate a greeting", 50);
            once(answers, vec![name_form(), greeting, roots()], |answers| {
                answers.to_string()
            })
        }
        "multi_round" => multi_round(answers),
        "capabilities" => capabilities(answers),
        _ => return None,
    })
}

fn multi_round(answers: &Value) -> Answer {
    if answers["step1"].is_null() {
        let question = "Step 1: What is your name?";
        return Answer::needs(vec![form("step1", question, "name", AnswerType::Text)]);
    }
    if answers["step2"].is_null() {
        let question = "Step 2: What is your favorite color?";
        return Answer::needs(vec![form("step2", question, "color", AnswerType::Text)]);
    }
    let name = text(&answers["step1"]["name"]);
    format!("{name} likes {}.", text(&answers["step2"]["color"])).into()
}

/// One of both is enough: whichever the client has declared.
fn capabilities(answers: &Value) -> Answer {
    if answers.as_object().is_none_or(serde_json::Map::is_empty) {
        return Answer::needs_any(vec![name_form(), sample("greeting", "Greet the user.", 50)]);
    }
    answers.to_string().into()
}

/// Answers when everything is known, and asks for it otherwise.
pub(crate) fn once(
    answers: &Value,
    inputs: Vec<Input>,
    answer: impl FnOnce(&Value) -> String,
) -> Answer {
    if inputs.iter().any(|input| answers[input.id()].is_null()) {
        return Answer::needs(inputs);
    }
    answer(answers).into()
}

fn completed(answers: &Value, form: Input) -> Answer {
    let id = form.id().to_owned();
    once(answers, vec![form], |answers| {
        let content = &answers[&id];
        format!("Elicitation completed: action=accept, content={content}")
    })
}

pub(crate) fn greeting(answers: &Value) -> String {
    format!("Hello, {}!", text(&answers["user_name"]["name"]))
}

pub(crate) fn name_form() -> Input {
    form("user_name", "What is your name?", "name", AnswerType::Text)
}

pub(crate) fn form(id: &str, text: &str, field: &str, answer_type: AnswerType) -> Input {
    Input::Form(Form {
        id: id.to_owned(),
        text: text.to_owned(),
        questions: vec![Question {
            id: field.to_owned(),
            text: text.to_owned(),
            answer_type,
            default: None,
        }],
    })
}

fn confirm() -> Input {
    form("confirm", "Please confirm", "ok", AnswerType::Boolean)
}

fn roots() -> Input {
    Input::Roots {
        id: "client_roots".to_owned(),
    }
}

fn sample(id: &str, text: &str, max_tokens: u32) -> Input {
    Input::Sample(Sample {
        id: id.to_owned(),
        messages: vec![SampleMessage {
            role: Role::User,
            text: text.to_owned(),
        }],
        system_prompt: None,
        max_tokens,
    })
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

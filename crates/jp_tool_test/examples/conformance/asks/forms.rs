//! Forms with fields of every kind.

use jp_tool::{AnswerType, Choice, Form, Input, Question};
use serde_json::{Value, json};

/// Two texts.
pub(super) fn user(message: &str) -> Input {
    form(
        "user",
        message,
        vec![
            field("username", "User's response", AnswerType::Text, None),
            field("email", "User's email address", AnswerType::Text, None),
        ],
    )
}

/// Every simple type, each with a default.
pub(super) fn defaults() -> Input {
    let status = ["active", "inactive", "pending"]
        .map(str::to_owned)
        .to_vec();
    let status = AnswerType::Select { options: status };
    form(
        "defaults",
        "Please review what is filled in.",
        vec![
            field("name", "Name", AnswerType::Text, Some(json!("John Doe"))),
            field("age", "Age", AnswerType::Integer, Some(json!(30))),
            field("score", "Score", AnswerType::Number, Some(json!(95.5))),
            field("status", "Status", status, Some(json!("active"))),
            field(
                "verified",
                "Verified",
                AnswerType::Boolean,
                Some(json!(true)),
            ),
        ],
    )
}

/// Every way to choose.
pub(super) fn enums() -> Input {
    let plain = ["option1", "option2", "option3"].map(str::to_owned);
    let titled = |noun: &str| {
        vec![
            choice("value1", &format!("First {noun}")),
            choice("value2", &format!("Second {noun}")),
            choice("value3", &format!("Third {noun}")),
        ]
    };
    let labelled = vec![
        choice("opt1", "Option One"),
        choice("opt2", "Option Two"),
        choice("opt3", "Option Three"),
    ];
    let one_of = |options| AnswerType::Choice { options };
    let some_of = |options| AnswerType::Choices { options };
    let plain_choices = plain.clone().map(Choice::from).to_vec();
    let select = AnswerType::Select {
        options: plain.to_vec(),
    };
    let labelled = AnswerType::Labelled { options: labelled };
    form(
        "enums",
        "Please choose.",
        vec![
            field("untitledSingle", "One of three", select, None),
            field(
                "titledSingle",
                "One of three",
                one_of(titled("Option")),
                None,
            ),
            field("legacyEnum", "One of three", labelled, None),
            field(
                "untitledMulti",
                "Some of three",
                some_of(plain_choices),
                None,
            ),
            field(
                "titledMulti",
                "Some of three",
                some_of(titled("Choice")),
                None,
            ),
        ],
    )
}

fn form(id: &str, text: &str, questions: Vec<Question>) -> Input {
    Input::Form(Form {
        id: id.to_owned(),
        text: text.to_owned(),
        questions,
    })
}

fn field(id: &str, text: &str, answer_type: AnswerType, default: Option<Value>) -> Question {
    Question {
        id: id.to_owned(),
        text: text.to_owned(),
        answer_type,
        default,
    }
}

fn choice(value: &str, title: &str) -> Choice {
    Choice {
        value: value.to_owned(),
        title: Some(title.to_owned()),
    }
}

//! From the JSON a model sends, and the `_topic` the host adds to it, to a [`LearnInput`] and back
//! to an [`Outcome`]. It trusts `_topic`: the host overwrites whatever a model sends under that key.

use jp_tool::{Action, Context, Outcome};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    execute::{LearnInput, execute},
    slug::printable,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    topic: String,
    #[serde(default)]
    subjects: Value,
    #[serde(default, rename = "_topic")]
    resolved: Option<ResolvedTopic>,
}

/// What the host knows about the topic.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ResolvedTopic {
    id: Option<String>,
    title: Option<String>,
    description: Option<String>,
    disabled: Vec<String>,
    learned: Vec<String>,
}

/// Runs the tool on the directory `context.root`, or formats its arguments.
#[must_use]
pub fn run(context: &Context, arguments: &str) -> Outcome {
    let arguments: Arguments = match serde_json::from_str(arguments) {
        Ok(arguments) => arguments,
        Err(error) => return invalid(&error.to_string()),
    };
    let Ok(subjects) = subjects(&arguments.subjects) else {
        return invalid("`subjects` must be a string, a list of strings or null");
    };
    match context.action {
        Action::FormatArguments => format_call(&arguments).into(),
        Action::Run => {
            let topic = arguments.resolved.unwrap_or_default();
            execute(&LearnInput {
                subjects_dir: context.root.as_std_path().to_owned(),
                topic: topic.id.unwrap_or(arguments.topic),
                title: topic.title,
                description: topic.description,
                disabled: topic.disabled,
                learned: topic.learned,
                subjects,
            })
        }
    }
}

fn invalid(reason: &str) -> Outcome {
    Outcome::failed(format!("Invalid arguments: {reason}"))
}

fn subjects(value: &Value) -> Result<Option<Vec<String>>, ()> {
    match value {
        Value::Null => Ok(None),
        Value::String(one) => Ok(Some(vec![one.clone()])),
        Value::Array(many) => {
            let many = many
                .iter()
                .map(|entry| entry.as_str().map(str::to_owned).ok_or(()));
            many.collect::<Result<_, ()>>().map(Some)
        }
        _ => Err(()),
    }
}

fn format_call(arguments: &Arguments) -> String {
    let mut call = format!("learn(topic: {}", json(&arguments.topic));
    match &arguments.subjects {
        Value::String(one) => call.push_str(&format!(", subjects: {}", json(one))),
        Value::Array(many) => {
            let many: Vec<String> = many.iter().filter_map(Value::as_str).map(json).collect();
            call.push_str(&format!(", subjects: [{}]", many.join(", ")));
        }
        _ => {}
    }
    call.push(')');
    call
}

fn json(text: &str) -> String {
    printable(&Value::from(text).to_string()).into_owned()
}

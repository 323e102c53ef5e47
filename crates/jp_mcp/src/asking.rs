//! What a server asks a person for during a call, as a form that all tools ask with. Its words are a
//! stranger's, so they are cleaned, cut, and said to be the server's.

use async_trait::async_trait;
use jp_tool::{AnswerType, Choice, Form, Input, Question};
use rmcp::model::ElicitRequestParams;
use serde_json::{Map, Value};

use crate::{Digest, hidden};

/// Questions of one form.
const MAX_QUESTIONS: usize = 20;

/// Options of one question.
const MAX_OPTIONS: usize = 100;

/// Characters of what is asked.
const MAX_TEXT: usize = 500;

/// Characters of a name and of an option.
const MAX_NAME: usize = 100;

/// Answers what a server asks for during a call.
#[async_trait]
pub trait Respond: Send + Sync {
    /// Returns the answers that are known already. A server that can wait for the others without a call
    /// under way does.
    fn known(&self, _: &Form) -> Option<Map<String, Value>> {
        None
    }

    /// Returns the answers by the ids of the questions, for a server that waits for them; nothing when
    /// nobody gives any. Meanwhile the call's own time stands still.
    async fn respond(&self, form: &Form) -> Option<Map<String, Value>>;
}

/// Nobody can be asked.
pub struct Unasked;

#[async_trait]
impl Respond for Unasked {
    async fn respond(&self, _: &Form) -> Option<Map<String, Value>> {
        None
    }
}

/// A form, and which of its answers the server can do without.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Asked {
    pub(crate) form: Form,
    optional: Vec<String>,
}

/// Makes a form of what a server asks for; nothing when no person can answer it as it is.
pub(crate) fn form(server: &str, key: &str, asked: &ElicitRequestParams) -> Option<Asked> {
    let ElicitRequestParams::FormElicitationParams {
        message,
        requested_schema,
        ..
    } = asked
    else {
        return None;
    };
    let order = requested_schema.property_order.clone();
    let schema = serde_json::to_value(requested_schema).ok()?;
    let properties = schema.get("properties")?.as_object()?;
    let order = order.unwrap_or_else(|| properties.keys().cloned().collect());
    if order.is_empty() || order.len() > MAX_QUESTIONS {
        return None;
    }
    let required = requested_schema.required.clone().unwrap_or_default();
    let mut optional = Vec::new();
    let mut questions = Vec::with_capacity(order.len());
    for name in &order {
        let mut question = question(name, properties.get(name)?)?;
        if question.default.is_none() && !required.contains(name) {
            // A text that nobody writes is left out of the answer.
            if question.answer_type == AnswerType::Text {
                question.default = Some(Value::from(""));
            }
            optional.push(name.clone());
        }
        questions.push(question);
    }
    // Another question under the same key must not be taken for this one.
    let digest = Digest::of(format!("{message}\n{schema}").as_bytes()).to_string();
    let digest = digest.get(..16).unwrap_or_default();
    Some(Asked {
        form: Form {
            id: format!("{}-{digest}", shown(key, MAX_NAME)),
            text: format!("MCP server `{server}` asks: {}", shown(message, MAX_TEXT)),
            questions,
        },
        optional,
    })
}

impl Asked {
    /// Checks answers and returns them as the server wants them, with defaults for those left out.
    pub(crate) fn accept(&self, answers: Map<String, Value>) -> Option<Value> {
        let input = Input::Form(self.form.clone());
        let mut answers = input.check(Value::Object(answers)).ok()?;
        if let Some(answers) = answers.as_object_mut() {
            answers.retain(|name, answer| *answer != "" || !self.optional.contains(name));
        }
        Some(answers)
    }
}

fn question(name: &str, property: &Value) -> Option<Question> {
    let is_plain = name.len() <= MAX_NAME && !hidden::has_hidden(name);
    let word = |key: &str| property.get(key).and_then(Value::as_str);
    let text = word("description").or_else(|| word("title"));
    let answer_type = answer_type(property)?;
    let default = property.get("default");
    let default = default.filter(|default| answer_type.check(default).is_ok());
    is_plain.then(|| Question {
        id: name.to_owned(),
        text: shown(text.unwrap_or(name), MAX_TEXT),
        default: default.cloned(),
        answer_type,
    })
}

fn answer_type(property: &Value) -> Option<AnswerType> {
    let titled = |of: &Value, key: &str| choices(of.get(key)?);
    let values = |of: &Value| texts(of.get("enum")?);
    Some(match property.get("type").and_then(Value::as_str)? {
        "boolean" => AnswerType::Boolean,
        "integer" => AnswerType::Integer,
        "number" => AnswerType::Number,
        "array" => {
            let items = property.get("items")?;
            let plain = || Some(values(items)?.into_iter().map(Choice::from).collect());
            let options = titled(items, "anyOf").or_else(plain)?;
            AnswerType::Choices { options }
        }
        "string" => match (titled(property, "oneOf"), values(property)) {
            (Some(options), _) => AnswerType::Choice { options },
            (None, Some(options)) => match property.get("enumNames").and_then(texts) {
                Some(names) if names.len() == options.len() => {
                    let pairs = options.into_iter().zip(names);
                    let options = pairs.map(|(value, title)| Choice {
                        title: Some(shown(&title, MAX_NAME)),
                        value,
                    });
                    AnswerType::Labelled {
                        options: options.collect(),
                    }
                }
                _ => AnswerType::Select { options },
            },
            (None, None) if property.get("enum").is_none() && property.get("oneOf").is_none() => {
                AnswerType::Text
            }
            (None, None) => return None,
        },
        _ => return None,
    })
}

/// Reads the values that can be chosen. One that a person cannot see makes them unusable.
fn texts(list: &Value) -> Option<Vec<String>> {
    let list = list.as_array()?;
    let text = |value: &Value| {
        let text = value.as_str()?;
        let is_plain = text.len() <= MAX_TEXT && !hidden::has_hidden(text);
        is_plain.then(|| text.to_owned())
    };
    let is_short = !list.is_empty() && list.len() <= MAX_OPTIONS;
    is_short.then(|| list.iter().map(text).collect()).flatten()
}

fn choices(list: &Value) -> Option<Vec<Choice>> {
    let all = list.as_array()?;
    let values: Vec<Value> = all
        .iter()
        .map(|one| one.get("const").cloned())
        .collect::<Option<_>>()?;
    let values = texts(&Value::Array(values))?;
    let title = |one: &Value| Some(shown(one.get("title")?.as_str()?, MAX_NAME));
    let pairs = values.into_iter().zip(all);
    let choice = |(value, one): (String, &Value)| Choice {
        value,
        title: title(one),
    };
    Some(pairs.map(choice).collect())
}

/// Puts a stranger's text on one short line.
fn shown(text: &str, most: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    hidden::shown(&words.join(" "), most)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(properties: &Value, required: &Value) -> Option<Asked> {
        let params = json!({"message": "Who\u{202e} are\nyou?",
            "requestedSchema": {"type": "object", "properties": properties, "required": required}});
        form("forge", "k", &serde_json::from_value(params).unwrap())
    }

    #[test]
    fn properties_become_questions_with_their_defaults_in_order() {
        let asked = asked(
            &json!({
                "name": {"type": "string", "description": "Your name", "default": "Ann"},
                "age": {"type": "integer", "default": 30},
                "score": {"type": "number", "default": 95.5},
                "status": {"type": "string", "enum": ["on", "off"], "default": "on"},
                "sure": {"type": "boolean", "default": true},
                "note": {"type": "string"},
            }),
            &json!([]),
        )
        .unwrap();
        assert_eq!(asked.form.text, "MCP server `forge` asks: Who are you?");
        let names: Vec<_> = asked.form.questions.iter().map(|one| &*one.id).collect();
        assert_eq!(names.len(), 6);
        assert_eq!(
            asked
                .form
                .questions
                .iter()
                .filter(|one| one.text == "Your name")
                .count(),
            1
        );
        let given = json!({"age": 31}).as_object().unwrap().clone();
        assert_eq!(
            asked.accept(given),
            Some(json!({"name": "Ann", "age": 31, "score": 95.5, "status": "on", "sure": true}))
        );
        let wrong = json!({"status": "maybe"}).as_object().unwrap().clone();
        assert_eq!(asked.accept(wrong), None);
    }

    #[test]
    fn options_are_offered_by_value_and_title() {
        let asked = asked(
            &json!({
                "one": {"type": "string", "oneOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]},
                "old": {"type": "string", "enum": ["a"], "enumNames": ["A"]},
                "many": {"type": "array", "items": {"type": "string", "enum": ["x", "y"]}},
            }),
            &json!(["one", "old", "many"]),
        )
        .unwrap();
        let kind = |id: &str| {
            let mut all = asked.form.questions.iter();
            all.find(|one| one.id == id).unwrap().answer_type.clone()
        };
        assert!(matches!(kind("one"), AnswerType::Choice { options } if options[1].shown() == "B"));
        assert!(
            matches!(kind("old"), AnswerType::Labelled { options } if options[0].shown() == "A")
        );
        assert!(matches!(kind("many"), AnswerType::Choices { options } if options.len() == 2));
    }

    #[test]
    fn what_nobody_could_answer_is_not_asked() {
        let many: Map<String, Value> = (0..21)
            .map(|n| (format!("p{n}"), json!({"type": "boolean"})))
            .collect();
        for properties in [
            json!({}),
            Value::Object(many),
            json!({"a\u{200b}": {"type": "boolean"}}),
            json!({"a": {"type": "string", "enum": ["x\u{200b}"]}}),
        ] {
            assert_eq!(asked(&properties, &json!([])), None, "{properties}");
        }
    }

    #[test]
    fn another_question_under_the_same_key_has_another_id() {
        let of = |kind: &str| asked(&json!({"a": {"type": kind}}), &json!([])).unwrap();
        assert_ne!(of("boolean").form.id, of("integer").form.id);
        assert_eq!(of("boolean").form.id, of("boolean").form.id);
    }
}

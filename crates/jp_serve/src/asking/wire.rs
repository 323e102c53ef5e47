//! What a tool wants as requests to a client, and what clients answer.

use jp_tool::{AnswerType, Input, Question, Role, Sample};
use serde_json::{Map, Value, json};

/// One request to a client, under the key that its answer comes back with.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Wanted {
    pub(crate) key: String,
    /// The method and the parameters.
    pub(crate) request: Value,
}

/// What a client answered.
pub(crate) struct Answered(Value);

impl Wanted {
    /// Makes the requests for all that a tool wants: one form for all questions, and one request for
    /// each of the others.
    pub(crate) fn all(inputs: &[&Input]) -> Vec<Self> {
        let questions = inputs.iter().filter_map(|input| match input {
            Input::Question(question) => Some(question),
            _ => None,
        });
        let questions: Vec<&Question> = questions.collect();
        let form = questions.first().map(|first| Self {
            key: first.id.clone(),
            request: form(&questions),
        });
        let others = inputs.iter().filter_map(|input| {
            let request = match input {
                Input::Question(_) => return None,
                Input::Sample(sample) => sampling(sample),
                Input::Roots { .. } => json!({ "method": "roots/list" }),
            };
            Some(Self {
                key: input.id().to_owned(),
                request,
            })
        });
        form.into_iter().chain(others).collect()
    }
}

fn form(questions: &[&Question]) -> Value {
    let message = match questions {
        [one] => one.text.clone(),
        more => {
            let texts: Vec<&str> = more.iter().map(|one| one.text.as_str()).collect();
            texts.join("\n")
        }
    };
    let properties: Map<String, Value> = questions
        .iter()
        .map(|one| (one.id.clone(), property(one)))
        .collect();
    let required: Vec<&str> = questions.iter().map(|one| one.id.as_str()).collect();
    json!({
        "method": "elicitation/create",
        "params": {
            "mode": "form",
            "message": message,
            "requestedSchema": {
                "type": "object", "properties": properties, "required": required,
            },
        },
    })
}

fn property(question: &Question) -> Value {
    let mut property = match &question.answer_type {
        AnswerType::Boolean => json!({ "type": "boolean" }),
        AnswerType::Select { options } => json!({ "type": "string", "enum": options }),
        AnswerType::Text => json!({ "type": "string" }),
    };
    property["description"] = json!(question.text);
    if let Some(default) = &question.default
        && question.answer_type.check(default).is_ok()
    {
        property["default"] = default.clone();
    }
    property
}

fn sampling(sample: &Sample) -> Value {
    let messages = sample.messages.iter().map(|message| {
        let role = match message.role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        json!({ "role": role, "content": { "type": "text", "text": message.text } })
    });
    let messages: Vec<Value> = messages.collect();
    let mut params = json!({ "messages": messages, "maxTokens": sample.max_tokens });
    if let Some(system) = &sample.system_prompt {
        params["systemPrompt"] = json!(system);
    }
    json!({ "method": "sampling/createMessage", "params": params })
}

impl Answered {
    pub(crate) const fn new(answer: Value) -> Self {
        Self(answer)
    }

    /// Tells whether a person said no.
    pub(crate) fn is_declined(&self) -> bool {
        matches!(self.0["action"].as_str(), Some("decline" | "cancel"))
    }

    /// Returns what this says about an input, if anything.
    pub(crate) fn of(&self, input: &Input) -> Option<Value> {
        match input {
            Input::Question(question) => self.to_question(&question.id),
            Input::Sample(_) => self.message(),
            Input::Roots { .. } => self
                .0
                .get("roots")
                .filter(|roots| roots.is_array())
                .cloned(),
        }
    }

    fn to_question(&self, id: &str) -> Option<Value> {
        if self.0["action"] != "accept" {
            return None;
        }
        self.0["content"].get(id).cloned()
    }

    fn message(&self) -> Option<Value> {
        let content = self.0.get("content")?;
        let blocks = match content {
            Value::Array(blocks) => blocks.as_slice(),
            one => std::slice::from_ref(one),
        };
        let texts = blocks.iter().filter_map(|block| block["text"].as_str());
        let texts: Vec<&str> = texts.collect();
        if texts.is_empty() {
            return None;
        }
        let mut message = json!({ "text": texts.join("\n") });
        if let Some(model) = self.0["model"].as_str() {
            message["model"] = json!(model);
        }
        Some(message)
    }

    /// Returns all that this says, by the ids that answers are known by. The key is that of the request.
    pub(crate) fn into_answers(self, key: &str) -> Map<String, Value> {
        if let Some(message) = self.message() {
            return Map::from_iter([(key.to_owned(), message)]);
        }
        if let Some(roots) = self.0.get("roots").filter(|roots| roots.is_array()) {
            return Map::from_iter([(key.to_owned(), roots.clone())]);
        }
        match (self.0["action"].as_str(), self.0.get("content")) {
            (Some("accept"), Some(Value::Object(content))) => content.clone(),
            _ => Map::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use jp_tool::SampleMessage;

    use super::*;

    fn question(id: &str, answer_type: AnswerType, default: Option<Value>) -> Input {
        Input::Question(Question {
            id: id.to_owned(),
            text: format!("{id}?"),
            answer_type,
            default,
        })
    }

    #[test]
    fn questions_share_a_form_and_the_others_have_requests_of_their_own() {
        let options = vec!["a".to_owned(), "b".to_owned()];
        let inputs = [
            question("sure", AnswerType::Boolean, Some(json!(true))),
            Input::Roots { id: "r".to_owned() },
            question("which", AnswerType::Select { options }, Some(json!("c"))),
            Input::Sample(Sample {
                id: "s".to_owned(),
                messages: vec![SampleMessage {
                    role: Role::User,
                    text: "hi".to_owned(),
                }],
                system_prompt: Some("be brief".to_owned()),
                max_tokens: 5,
            }),
        ];
        let inputs: Vec<&Input> = inputs.iter().collect();
        let wanted = Wanted::all(&inputs);
        let keys: Vec<&str> = wanted.iter().map(|one| one.key.as_str()).collect();
        assert_eq!(keys, ["sure", "r", "s"]);
        let params = &wanted[0].request["params"];
        assert_eq!(params["message"], "sure?\nwhich?");
        let properties = &params["requestedSchema"]["properties"];
        assert_eq!(
            properties["sure"],
            json!({"type": "boolean", "description": "sure?", "default": true})
        );
        // A default that is no answer is left out.
        assert_eq!(
            properties["which"],
            json!({"type": "string", "enum": ["a", "b"], "description": "which?"})
        );
        assert_eq!(
            wanted[2].request["params"],
            json!({"messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}],
                "maxTokens": 5, "systemPrompt": "be brief"})
        );
    }

    #[test]
    fn answers_of_clients_are_read_by_their_kind() {
        let read = |answer: Value| Value::Object(Answered::new(answer).into_answers("k"));
        for (answer, expected) in [
            (
                json!({"action": "accept", "content": {"a": 1, "b": "x"}}),
                json!({"a": 1, "b": "x"}),
            ),
            (json!({"action": "decline"}), json!({})),
            (json!({"action": "accept"}), json!({})),
            (
                json!({"roots": [{"uri": "file:///a"}]}),
                json!({"k": [{"uri": "file:///a"}]}),
            ),
            (
                json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "4"}}),
                json!({"k": {"text": "4", "model": "m"}}),
            ),
            (
                json!({"model": "m", "content": [{"type": "text", "text": "4"}, {"type": "image"}]}),
                json!({"k": {"text": "4", "model": "m"}}),
            ),
            (json!({"roots": 5}), json!({})),
            (json!("nonsense"), json!({})),
        ] {
            assert_eq!(read(answer.clone()), expected, "{answer}");
        }
        assert!(Answered::new(json!({"action": "cancel"})).is_declined());
        assert!(!Answered::new(json!({"action": "accept"})).is_declined());
    }
}

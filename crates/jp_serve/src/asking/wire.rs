//! What a tool wants as requests to a client, and what clients answer.

mod property;

use jp_tool::{Input, Question, Role, Sample};
use serde_json::{Map, Value, json};

/// Names the tool that a request comes from, for clients and the people behind them.
const TOOL: &str = "jp/tool";

/// One request to a client, under the key that its answer comes back with.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Wanted {
    pub(crate) key: String,
    /// The method and the parameters.
    pub(crate) request: Value,
    /// Whether it is the form of all questions that are in no form of their own.
    questions: bool,
}

/// What a client answered.
pub(super) struct Answered(Value);

impl Wanted {
    /// Makes the request whether a call may run.
    pub(crate) const fn about_approval(key: String, request: Value) -> Self {
        Self {
            key,
            request,
            questions: false,
        }
    }

    /// Makes the requests for all that a tool wants: one form for all questions, and one request for
    /// each of the others. Each says which tool it is that asks, whatever the tool's own words claim.
    pub(super) fn all(tool: &str, inputs: &[&Input]) -> Vec<Self> {
        let questions = inputs.iter().filter_map(|input| match input {
            Input::Question(question) => Some(question),
            _ => None,
        });
        let questions: Vec<&Question> = questions.collect();
        let form = questions.first().map(|first| Self {
            key: first.id.clone(),
            request: elicitation(tool, &message(&questions), &questions),
            questions: true,
        });
        let others = inputs.iter().filter_map(|input| {
            let request = match input {
                Input::Question(_) => return None,
                Input::Form(form) => {
                    elicitation(tool, &form.text, &form.questions.iter().collect::<Vec<_>>())
                }
                Input::Sample(sample) => sampling(tool, sample),
                Input::Roots { .. } => json!({ "method": "roots/list" }),
            };
            Some(Self {
                key: input.id().to_owned(),
                request,
                questions: false,
            })
        });
        form.into_iter().chain(others).collect()
    }

    /// Tells whether the answer to this is the answer to an input, or a part of it.
    pub(super) fn is_for(&self, input: &Input) -> bool {
        match input {
            Input::Question(_) => self.questions,
            other => !self.questions && self.key == other.id(),
        }
    }
}

fn message(questions: &[&Question]) -> String {
    let texts: Vec<&str> = questions.iter().map(|one| one.text.as_str()).collect();
    texts.join("\n")
}

fn elicitation(tool: &str, message: &str, questions: &[&Question]) -> Value {
    // What no tool asks is the user's own question, which the configuration holds.
    let message = match tool {
        "" => message.to_owned(),
        tool => format!("The tool `{}` asks:\n{message}", shown(tool)),
    };
    let properties: Map<String, Value> = questions
        .iter()
        .map(|one| (one.id.clone(), property::of(one)))
        .collect();
    let required = questions.iter().filter(|one| property::is_required(one));
    let required: Vec<&str> = required.map(|one| one.id.as_str()).collect();
    json!({
        "method": "elicitation/create",
        "params": {
            "mode": "form",
            "message": message,
            "requestedSchema": {
                "type": "object", "properties": properties, "required": required,
            },
            "_meta": {TOOL: tool},
        },
    })
}

/// Returns the name of a tool for whoever is asked something on its behalf.
fn shown(tool: &str) -> String {
    jp_text::escape_line(&jp_text::shorten(tool, 200)).into_owned()
}

fn sampling(tool: &str, sample: &Sample) -> Value {
    let messages = sample.messages.iter().map(|message| {
        let role = match message.role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        json!({ "role": role, "content": { "type": "text", "text": message.text } })
    });
    let messages: Vec<Value> = messages.collect();
    let meta = json!({ TOOL: shown(tool) });
    let mut params = json!({ "messages": messages, "maxTokens": sample.max_tokens, "_meta": meta });
    if let Some(system) = &sample.system_prompt {
        params["systemPrompt"] = json!(system);
    }
    json!({ "method": "sampling/createMessage", "params": params })
}

impl Answered {
    pub(super) const fn new(answer: Value) -> Self {
        Self(answer)
    }

    /// Tells whether a person said no.
    pub(super) fn is_declined(&self) -> bool {
        matches!(self.0["action"].as_str(), Some("decline" | "cancel"))
    }

    /// Returns what this says about an input, if anything.
    pub(super) fn of(&self, input: &Input) -> Option<Value> {
        match input {
            Input::Question(question) => self.content()?.get(&question.id).cloned(),
            Input::Form(_) => self.content().cloned(),
            Input::Sample(_) => self.message(),
            Input::Roots { .. } => self
                .0
                .get("roots")
                .filter(|roots| roots.is_array())
                .cloned(),
        }
    }

    fn content(&self) -> Option<&Value> {
        match self.0["action"] == "accept" {
            true => self.0.get("content"),
            false => None,
        }
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
}

#[cfg(test)]
mod tests {
    use jp_tool::{AnswerType, Form, SampleMessage};

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
        let wanted = Wanted::all("t", &inputs);
        let keys: Vec<&str> = wanted.iter().map(|one| one.key.as_str()).collect();
        assert_eq!(keys, ["sure", "r", "s"]);
        let params = &wanted[0].request["params"];
        assert_eq!(params["message"], "The tool `t` asks:\nsure?\nwhich?");
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
                "maxTokens": 5, "systemPrompt": "be brief", "_meta": {"jp/tool": "t"}})
        );
    }

    #[test]
    fn a_form_has_its_own_request_and_a_default_is_no_duty() {
        let asked = |id: &str, default| {
            let Input::Question(question) = question(id, AnswerType::Text, default) else {
                unreachable!()
            };
            question
        };
        let form = Input::Form(Form {
            id: "who".to_owned(),
            text: "Who?".to_owned(),
            questions: vec![asked("name", None), asked("mail", Some(json!("a@b")))],
        });
        let alone = question("name", AnswerType::Text, None);
        let wanted = Wanted::all("t", &[&form, &alone]);
        let keys: Vec<&str> = wanted.iter().map(|one| one.key.as_str()).collect();
        assert_eq!(keys, ["name", "who"]);
        let params = &wanted[1].request["params"];
        assert_eq!(params["message"], "The tool `t` asks:\nWho?");
        assert_eq!(params["requestedSchema"]["required"], json!(["name"]));
        assert!(wanted[0].is_for(&alone) && wanted[1].is_for(&form));
        assert!(!wanted[0].is_for(&form) && !wanted[1].is_for(&alone));
    }

    #[test]
    fn answers_of_clients_are_read_by_their_kind() {
        let question = question("a", AnswerType::Text, None);
        let form = Input::Form(Form::default());
        let sample = Input::Sample(Sample::default());
        let roots = Input::Roots { id: "r".to_owned() };
        let accepted = json!({"action": "accept", "content": {"a": 1, "b": "x"}});
        let model = json!({"role": "assistant", "model": "m",
            "content": [{"type": "text", "text": "4"}, {"type": "image"}]});
        for (input, answer, expected) in [
            (&question, accepted.clone(), Some(json!(1))),
            (&form, accepted, Some(json!({"a": 1, "b": "x"}))),
            (
                &question,
                json!({"action": "decline", "content": {"a": 1}}),
                None,
            ),
            (&form, json!({"action": "accept"}), None),
            (
                &roots,
                json!({"roots": [{"uri": "file:///a"}]}),
                Some(json!([{"uri": "file:///a"}])),
            ),
            (&roots, json!({"roots": 5}), None),
            (
                &sample,
                model.clone(),
                Some(json!({"text": "4", "model": "m"})),
            ),
            (
                &sample,
                json!({"model": "m", "content": {"type": "text", "text": "4"}}),
                Some(json!({"text": "4", "model": "m"})),
            ),
            (&question, model, None),
            (&question, json!("nonsense"), None),
            (&sample, json!(12345), None),
        ] {
            assert_eq!(
                Answered::new(answer.clone()).of(input),
                expected,
                "{answer}"
            );
        }
        assert!(Answered::new(json!({"action": "cancel"})).is_declined());
        assert!(!Answered::new(json!({"action": "accept"})).is_declined());
    }
}

//! Answers in every kind of part, with data, with a no, and wants every kind of input.

#[cfg(target_arch = "wasm32")]
mod parts {
    use jp_tool::{
        Annotations, Answer, AnswerType, Beside, Choice, Content, Context, DescribedTool,
        Description, Form, Input, Media, Outcome, Part, Question, Resource, ResourceContents,
        ResourceLink, Role, Sample, SampleMessage, guest::DescribedGuest,
    };
    use serde_json::{Value, json};

    struct Probe;

    impl DescribedGuest for Probe {
        fn describe() -> Description {
            Description {
                tools: vec![DescribedTool {
                    name: "parts".to_owned(),
                    title: Some("All parts".to_owned()),
                    summary: "Answers in parts.".to_owned(),
                    description: None,
                    parameters: json!({
                        "type": "object",
                        "properties": { "do": { "type": "string", "x-mcp-header": "Do" } },
                    }),
                    output_schema: Some(json!({
                        "type": "object",
                        "properties": { "sum": { "type": "integer" } },
                        "required": ["sum"],
                    })),
                }],
            }
        }

        fn run(_: Context, _: &str, arguments: &str, answers: &str) -> Answer {
            let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
            let answers: Value = serde_json::from_str(answers).unwrap_or_default();
            let content = Content {
                parts: all(),
                structured: Some(json!({"sum": 3})),
            };
            match arguments["do"].as_str().unwrap_or_default() {
                "all" => content.into(),
                "no" => Answer {
                    outcome: Outcome::failed("not today"),
                    beside: Beside {
                        content,
                        ..Beside::default()
                    },
                },
                "bytes" => {
                    let count = arguments["count"].as_u64().unwrap_or_default();
                    let bytes = vec![7; usize::try_from(count).unwrap_or_default()];
                    Content {
                        parts: vec![Part::image(bytes, "image/png")],
                        structured: Some(json!({"sum": count})),
                    }
                    .into()
                }
                "unfit" => Content::from(json!({"sum": "three"})).into(),
                "ask" if answers["name"].is_null() => Answer::needs(inputs()),
                "form" if answers["form"].is_null() => Answer::needs(vec![form()]),
                "any" if answers == json!({}) => {
                    Answer::needs_any([vec![form()], inputs()].concat())
                }
                "ask" | "form" | "any" => {
                    Content::from(json!({"sum": 3, "answers": answers})).into()
                }
                _ => "nothing".into(),
            }
        }
    }

    /// One question of every type.
    fn form() -> Input {
        let titled = Choice {
            value: "a".to_owned(),
            title: Some("A".to_owned()),
        };
        let options = vec![titled, "b".to_owned().into()];
        let kinds = [
            AnswerType::Boolean,
            AnswerType::Text,
            AnswerType::Integer,
            AnswerType::Number,
            AnswerType::Select {
                options: vec!["a".to_owned()],
            },
            AnswerType::Choice {
                options: options.clone(),
            },
            AnswerType::Labelled {
                options: options.clone(),
            },
            AnswerType::Choices { options },
        ];
        let question = |(at, answer_type)| Question {
            id: format!("q{at}"),
            text: format!("Question {at}?"),
            // The first must be answered, and all others need not.
            default: defaults().get(at).filter(|_| at > 0).cloned(),
            answer_type,
        };
        Input::Form(Form {
            id: "form".to_owned(),
            text: "Please fill in.".to_owned(),
            questions: kinds.into_iter().enumerate().map(question).collect(),
        })
    }

    fn defaults() -> Vec<Value> {
        vec![
            json!(true),
            json!("x"),
            json!(3),
            json!(1.5),
            json!("a"),
            json!("b"),
            json!("b"),
            json!(["a", "b"]),
        ]
    }

    fn inputs() -> Vec<Input> {
        vec![
            Input::Question(Question {
                id: "name".to_owned(),
                text: "Who are you?".to_owned(),
                answer_type: AnswerType::Text,
                default: None,
            }),
            Input::Sample(Sample {
                id: "sample".to_owned(),
                messages: vec![SampleMessage {
                    role: Role::User,
                    text: "2 + 2?".to_owned(),
                }],
                system_prompt: Some("Be brief.".to_owned()),
                max_tokens: 10,
            }),
            Input::Roots {
                id: "roots".to_owned(),
            },
        ]
    }

    fn all() -> Vec<Part> {
        let resource = |uri: &str, contents| {
            Part::resource(Resource {
                uri: uri.to_owned(),
                mime_type: Some("text/plain".to_owned()),
                contents,
            })
        };
        vec![
            Part::from("one"),
            Part::Image(Media {
                data: vec![0, 0, 0].into(),
                mime_type: "image/png".to_owned(),
                annotations: Some(Annotations {
                    audience: vec![Role::User],
                    priority: Some(0.5),
                    last_modified: Some("2026-01-12".to_owned()),
                }),
            }),
            // More than goes to the host in one piece.
            Part::audio(vec![1; 100_000], "audio/wav"),
            resource("a:b", ResourceContents::Text("two".to_owned())),
            resource("a:c", ResourceContents::Blob(vec![2].into())),
            Part::ResourceLink(ResourceLink {
                uri: "file:///x".to_owned(),
                name: "x".to_owned(),
                title: Some("X".to_owned()),
                description: Some("about x".to_owned()),
                mime_type: Some("text/x".to_owned()),
                size: Some(3),
                annotations: None,
            }),
        ]
    }

    jp_tool::export_described_tool!(Probe);
}

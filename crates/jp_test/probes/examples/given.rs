//! Takes bytes that it was given, by the names that stand in their place, and says what they are.

#[cfg(target_arch = "wasm32")]
mod given {
    use jp_tool::{
        Answer, Context, DescribedTool, Description,
        guest::{
            DescribedGuest,
            described::{ReceivedBlob, call_capability, received},
        },
    };
    use serde_json::{Value, json};

    struct Probe;

    impl DescribedGuest for Probe {
        fn describe() -> Description {
            let bytes = json!({ "type": "string", "contentEncoding": "base64" });
            Description {
                tools: vec![DescribedTool {
                    name: "given".to_owned(),
                    title: None,
                    summary: "Says what bytes it was given.".to_owned(),
                    description: None,
                    output_schema: None,
                    parameters: json!({
                        "type": "object",
                        "properties": {
                            "bytes": bytes,
                            "more": { "type": "array", "items": bytes },
                            "file": {},
                            "name": { "type": "string" },
                            "do": { "type": "string" },
                        },
                    }),
                }],
            }
        }

        fn run(_: Context, _: &str, arguments: &str, _: &str) -> Answer {
            let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            match arguments["do"].as_str() {
                Some("fetch") => return fetched(&text(&arguments["name"])),
                Some("nothing") => return "nothing".into(),
                Some("append") => {
                    if let Some(blob) = received(&text(&arguments["bytes"])) {
                        blob.append(&[1]);
                    }
                }
                _ => {}
            }
            let more = arguments["more"].as_array().into_iter().flatten();
            let single = [
                &arguments["bytes"],
                &arguments["file"]["path"],
                &arguments["name"],
            ];
            let names = single.into_iter().chain(more).filter_map(Value::as_str);
            let said: Vec<Value> = names.map(|name| said(name, received(name))).collect();
            Value::from(said).to_string().into()
        }
    }

    /// Says how many bytes there are, what they add up to and what the last ones are.
    fn said(name: &str, blob: Option<ReceivedBlob>) -> Value {
        let Some(blob) = blob else {
            return json!({ "none": name });
        };
        let bytes = blob.to_vec();
        let sum: u64 = bytes.iter().map(|byte| u64::from(*byte)).sum();
        json!({
            "size": blob.size(),
            "read": bytes.len(),
            "sum": sum,
            "last": blob.read(blob.size().saturating_sub(2), 9),
            "past": blob.read(blob.size(), 9).len(),
            "piece": blob.read(0, u32::MAX).len(),
            "again": received(name).is_some(),
        })
    }

    /// Has the host fetch something, and says what bytes came back.
    fn fetched(url: &str) -> Answer {
        let arguments = json!({ "method": "GET", "url": url }).to_string();
        let answer = match call_capability("http.request", &arguments) {
            Ok(answer) => answer,
            Err(error) => return error.message.into(),
        };
        let answer: Value = serde_json::from_str(&answer).unwrap_or_default();
        let name = answer["text"].as_str().unwrap_or_default();
        let said = said(name, received(name));
        json!({ "encoding": answer["encoding"], "said": said })
            .to_string()
            .into()
    }

    jp_tool::export_described_tool!(Probe);
}

//! Describes itself, tells how far it is, and calls the capabilities it is told to.

#[cfg(target_arch = "wasm32")]
mod described {
    use jp_tool::{
        Context, DescribedTool, Description, Outcome,
        guest::{
            DescribedGuest,
            described::{Level, call_capability, log, progress},
        },
    };
    use serde_json::{Value, json};

    struct Probe;

    impl DescribedGuest for Probe {
        fn describe() -> Description {
            Description {
                tools: vec![DescribedTool {
                    name: "described".to_owned(),
                    summary: "Calls capabilities.".to_owned(),
                    description: None,
                    parameters: json!({
                        "type": "object",
                        "properties": { "calls": { "type": "array" } },
                    }),
                }],
            }
        }

        fn run(_: Context, name: &str, arguments: &str, _: &str) -> Outcome {
            let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
            log(Level::Info, name);
            if let Some(text) = arguments["flood"].as_str() {
                loop {
                    log(Level::Debug, text);
                }
            }
            let calls = arguments["calls"].as_array().cloned().unwrap_or_default();
            let mut results = Vec::new();
            for (done, call) in calls.iter().enumerate() {
                let wanted = call.as_str().unwrap_or_default();
                #[expect(clippy::cast_precision_loss, reason = "a handful of calls")]
                progress(wanted, Some(done as f64 / calls.len() as f64));
                results.push(match call_capability(wanted, r#"{"a": 1}"#) {
                    Ok(result) => json!({ "ok": result }),
                    Err(error) => json!({ "err": error }),
                });
            }
            progress("done", None);
            Value::from(results).to_string().into()
        }
    }

    jp_tool::export_described_tool!(Probe);
}

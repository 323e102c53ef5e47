//! Describes itself, tells how far it is, and calls the capabilities it is told to.

#[cfg(target_arch = "wasm32")]
mod described {
    use jp_tool::{
        Answer, Context, DescribedTool, Description,
        guest::{
            DescribedGuest,
            described::{
                Level, PendingCall, call_capability, log, progress, start_capability, wait_for_any,
            },
        },
    };
    use serde_json::{Value, json};

    struct Probe;

    impl DescribedGuest for Probe {
        fn describe() -> Description {
            Description {
                tools: vec![DescribedTool {
                    name: "described".to_owned(),
                    title: None,
                    summary: "Calls capabilities.".to_owned(),
                    description: None,
                    output_schema: None,
                    parameters: json!({
                        "type": "object",
                        "properties": { "calls": { "type": "array" } },
                    }),
                }],
            }
        }

        fn run(_: Context, name: &str, arguments: &str, _: &str) -> Answer {
            let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
            log(Level::Info, name);
            if let Some(text) = arguments["flood"].as_str() {
                loop {
                    log(Level::Debug, text);
                }
            }
            if let Some(names) = arguments["together"].as_array() {
                return together(names);
            }
            let calls = arguments["calls"].as_array().cloned().unwrap_or_default();
            let mut results = Vec::new();
            for (done, call) in calls.iter().enumerate() {
                let wanted = call.as_str().unwrap_or_default();
                #[expect(clippy::cast_precision_loss, reason = "a handful of calls")]
                progress(wanted, Some(done as f64 / calls.len() as f64));
                results.push(match call_capability(wanted, r#"{"a": 1}"#) {
                    Ok(result) => json!({ "ok": result }),
                    Err(error) => json!({ "err": error.code, "message": error.message }),
                });
            }
            progress("done", None);
            Value::from(results).to_string().into()
        }
    }

    /// Starts all calls before it waits for any, then for the first, then for the rest.
    fn together(names: &[Value]) -> Answer {
        let mut calls: Vec<_> = names
            .iter()
            .map(|name| start_capability(name.as_str().unwrap_or_default(), "{}"))
            .collect();
        let first = wait_for_any(&calls).first().copied().unwrap_or_default();
        let said = |call: PendingCall| call.wait().unwrap_or_else(|error| error.code);
        let first = said(calls.remove(first));
        let rest: Vec<_> = calls.into_iter().map(said).collect();
        json!([first, rest]).to_string().into()
    }

    jp_tool::export_described_tool!(Probe);
}

//! What the tools answer, natively: the same code that runs in the modules.

mod answers;
mod hostile;
mod schemas;

use serde_json::Value;

use crate::find;

/// Asks a tool and returns its answer as one line: the call and its arguments, or the error.
fn check(tool: &str, input: &[u8]) -> String {
    let tool = find(tool).unwrap();
    let answer: Value = serde_json::from_slice(&tool.answer(input)).unwrap();
    match answer["status"].as_str() {
        Some("capability_call") => {
            assert_eq!(answer["abi_version"], 1);
            assert_eq!(answer.as_object().unwrap().len(), 3, "{answer}");
            let call = &answer["capability_call"];
            assert_eq!(call.as_object().unwrap().len(), 2, "{answer}");
            format!("{} {}", call["name"].as_str().unwrap(), call["args"])
        }
        Some("error") => {
            assert_eq!(answer["code"], "invalid_args");
            assert_eq!(answer.as_object().unwrap().len(), 3, "{answer}");
            answer["error"].as_str().unwrap().to_owned()
        }
        _ => panic!("{answer}"),
    }
}

/// Asks a tool with each input and compares its answers.
fn table(tool: &str, cases: &[(&str, &str)]) {
    for (input, expected) in cases {
        assert_eq!(&check(tool, input.as_bytes()), expected, "{tool} {input}");
    }
}

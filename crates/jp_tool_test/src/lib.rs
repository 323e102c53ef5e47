//! A small tool that proves the machinery: it reads one file of the workspace and, if told to, asks
//! a question first.
//!
//! It is not part of the `jp` binary; tests and examples load it from disk. It checks no paths: that
//! it cannot read outside the workspace is the sandbox's doing, and tests rely on that.

use jp_tool::{Action, AnswerType, Context, Outcome, Question};
use serde::Deserialize;
use serde_json::Value;

/// The id of the question that `"ask": true` leads to.
pub(crate) const QUESTION: &str = "confirm";

#[derive(Deserialize)]
struct TestArgs {
    path: String,
    #[serde(default)]
    ask: bool,
}

/// Reads the file `path` below `ctx.root`, or formats the arguments.
///
/// With `"ask": true` it first asks `QUESTION` and reads only when the answer is `true`.
#[must_use]
pub fn run(ctx: &Context, arguments: &str, answers: &str) -> Outcome {
    let args: TestArgs = match serde_json::from_str(arguments) {
        Ok(args) => args,
        Err(e) => return Outcome::failed(format!("Invalid arguments: {e}")),
    };
    if ctx.action == Action::FormatArguments {
        return format_args(&args).into();
    }
    if args.ask {
        match answer(answers) {
            Ok(Some(true)) => {}
            Ok(Some(false)) => return "The file was not read.".into(),
            Ok(None) => return question(&args).into(),
            Err(message) => return Outcome::failed(format!("Invalid answers: {message}")),
        }
    }
    // Joined as text: a path that starts with `/` must not replace the root.
    match std::fs::read_to_string(format!("{}/{}", ctx.root, args.path)) {
        Ok(content) => content.into(),
        Err(e) => Outcome::failed(format!("Failed to read file: {e}")),
    }
}

fn format_args(args: &TestArgs) -> String {
    let ask = if args.ask { ", ask: true" } else { "" };
    format!("test(path: {}{ask})", Value::from(args.path.as_str()))
}

fn question(args: &TestArgs) -> Question {
    Question {
        id: QUESTION.to_owned(),
        text: format!("Read {}?", Value::from(args.path.as_str())),
        answer_type: AnswerType::Boolean,
        default: Some(Value::Bool(false)),
    }
}

fn answer(answers: &str) -> Result<Option<bool>, String> {
    if answers.trim().is_empty() {
        return Ok(None);
    }
    let answers: Value = serde_json::from_str(answers).map_err(|e| e.to_string())?;
    match answers.get(QUESTION) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(answer)) => Ok(Some(*answer)),
        Some(other) => Err(format!("`{QUESTION}` must be true or false, not {other}")),
    }
}

#[cfg(target_arch = "wasm32")]
mod guest {
    //! The export of the component.

    struct TestTool;

    impl jp_tool::guest::ToolGuest for TestTool {
        fn run(
            ctx: jp_tool::Context,
            _name: &str,
            arguments: &str,
            answers: &str,
        ) -> jp_tool::Outcome {
            crate::run(&ctx, arguments, answers)
        }
    }

    jp_tool::export_tool!(TestTool);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(action: Action, arguments: &str, answers: &str) -> String {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("hello.txt"), "hello\n").unwrap();
        let root = dir.path().to_str().unwrap().into();
        serde_json::to_string(&run(&Context { root, action }, arguments, answers)).unwrap()
    }

    #[test]
    fn tool_reads_formats_and_asks() {
        let failed = |message: &str| {
            format!(r#"{{"type":"error","message":"{message}","trace":[],"transient":false}}"#)
        };
        let content = |text: &str| format!(r#"{{"type":"success","content":"{text}"}}"#);
        let asked = concat!(
            r#"{"type":"needs_input","question":{"id":"confirm","text":"Read \"hello.txt\"?","#,
            r#""answer_type":"Boolean","default":false}}"#
        );
        let ask = r#"{"path":"hello.txt","ask":true}"#;
        for (arguments, answers, expected) in [
            (r#"{"path":"hello.txt"}"#, "{}", content(r"hello\n")),
            (r#"{"path":"/hello.txt"}"#, "", content(r"hello\n")),
            (
                r#"{"path":"nope"}"#,
                "{}",
                failed("Failed to read file: No such file or directory (os error 2)"),
            ),
            (
                "{}",
                "{}",
                failed("Invalid arguments: missing field `path` at line 1 column 2"),
            ),
            (ask, "{}", asked.to_owned()),
            (ask, r#"{"other":true}"#, asked.to_owned()),
            (ask, r#"{"confirm":true}"#, content(r"hello\n")),
            (
                ask,
                r#"{"confirm":false}"#,
                content("The file was not read."),
            ),
            (
                ask,
                r#"{"confirm":1}"#,
                failed("Invalid answers: `confirm` must be true or false, not 1"),
            ),
        ] {
            assert_eq!(
                check(Action::Run, arguments, answers),
                expected,
                "{arguments} {answers}"
            );
        }
        assert_eq!(
            check(Action::FormatArguments, ask, ""),
            content(r#"test(path: \"hello.txt\", ask: true)"#)
        );
    }
}

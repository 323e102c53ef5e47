//! The contract of the tool as an embedder sees it: its snippet, its callback, its phases.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use jp_bash::{
    Bash, BashTool, Builtin, BuiltinContext, ExecError, ExecutionLimits, OutputCallback,
};
use jp_tool::{Tool, ToolRequest};

fn now<T>(call: impl Future<Output = T>) -> T {
    match pin!(call).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the tool waits for nothing outside"),
    }
}

/// The snippet of the contract, letter for letter.
#[rustfmt::skip]
#[test]
fn the_streaming_snippet_of_the_contract_compiles_and_holds()
-> Result<(), Box<dyn std::error::Error>> {
    let mut bash = Bash::new();
    let ran: Result<(), ExecError> = now(async {
        let chunks = Arc::new(Mutex::new(Vec::new()));
        let chunks_cb = chunks.clone();
        let result = bash.exec_streaming(
            "for i in 1 2 3; do echo $i; done",
            Box::new(move |stdout, _stderr| {
                chunks_cb.lock().unwrap().push(stdout.to_string());
            }),
        ).await?;
        // result.stdout == "1\n2\n3\n"  (complete)
        // chunks == ["1\n", "2\n", "3\n"]  (incremental)
        assert_eq!(result.stdout, "1\n2\n3\n");
        assert_eq!(*chunks.lock().unwrap(), ["1\n", "2\n", "3\n"]);
        Ok(())
    });
    Ok(ran?)
}

#[test]
fn the_callback_of_the_contract_has_its_type() {
    // Spelt out as the contract prints it.
    #[expect(clippy::type_complexity, reason = "the type is what is tested")]
    fn takes(_: Box<dyn FnMut(&str, &str) + Send + Sync>) {}
    let callback: OutputCallback = Box::new(|_, _| {});
    takes(callback);
}

#[test]
fn a_streamed_script_that_is_cut_short_is_an_error_with_what_it_printed() {
    let limits = ExecutionLimits::new().max_commands(2);
    let mut bash = Bash::builder().limits(limits.into()).build();
    let script = "echo 1; echo 2; echo 3";
    let error = now(bash.exec_streaming(script, Box::new(|_, _| {}))).unwrap_err();
    assert_eq!(error.response.stdout, "1\n2\n");
    assert_eq!(error.response.error.as_deref(), Some("resource_limit"));
    assert_eq!(
        error.to_string(),
        "the script was cut short: resource_limit"
    );
    let failed = now(Bash::new().exec_streaming("exit 3", Box::new(|_, _| {})));
    assert_eq!(failed.unwrap().exit_code, 3);
}

#[test]
fn streamed_text_is_whole_to_its_last_byte() {
    let said = Arc::new(Mutex::new(String::new()));
    let theirs = Arc::clone(&said);
    let script = r"for b in '\303' '\251' '\303'; do printf $b; done";
    let callback = Box::new(move |out: &str, _: &str| theirs.lock().unwrap().push_str(out));
    let result = now(Bash::new().exec_streaming(script, callback)).unwrap();
    assert_eq!(result.stdout, "é\u{fffd}");
    assert_eq!(*said.lock().unwrap(), result.stdout);
}

/// Writes down in one list what the script does and what is reported.
struct Note(Arc<Mutex<Vec<String>>>);

impl Builtin for Note {
    fn run(&self, context: &mut BuiltinContext<'_>) -> i32 {
        let word = context.args().get(1).cloned().unwrap_or_default();
        let word = String::from_utf8_lossy(&word).into_owned();
        self.0.lock().unwrap().push(format!("script {word}"));
        0
    }
}

fn order_of(commands: &str) -> Vec<String> {
    let order = Arc::new(Mutex::new(Vec::new()));
    let mut tool = BashTool::builder()
        .builtin("note", Box::new(Note(Arc::clone(&order))))
        .build();
    let theirs = Arc::clone(&order);
    let request = ToolRequest {
        commands: commands.to_owned(),
    };
    now(tool.execute_with_status(
        request,
        Box::new(move |status| {
            let text = status.output.unwrap_or_default();
            let line = format!("{} {text}", status.phase);
            theirs.lock().unwrap().push(line.trim().to_owned());
        }),
    ));
    order.lock().unwrap().clone()
}

#[test]
fn phases_are_reported_when_they_happen() {
    assert_eq!(
        order_of("note 1; echo a; note 2; echo b"),
        [
            "validate", "parse", "execute", "script 1", "output a", "script 2", "output b",
            "complete"
        ]
    );
}

#[test]
fn a_script_that_cannot_be_read_never_executes() {
    let order = order_of("if");
    let phases: Vec<_> = order.iter().map(|line| line.split(' ').next()).collect();
    assert_eq!(
        phases,
        ["validate", "parse", "output", "complete"].map(Some),
        "{order:?}"
    );
    assert_eq!(order_of(""), ["validate", "complete"]);
}

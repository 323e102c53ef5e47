//! Golden tests of what the contract prints, and of sessions and streaming.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use super::*;
use crate::{Builtin, BuiltinContext, ExecutionLimits};

const NAMES: &str = "echo cat grep sed awk jq curl head tail sort uniq cut tr wc date sleep mkdir rm cp mv touch chmod printf test [ true false exit cd pwd ls find xargs basename dirname env export read";

fn now<T>(call: impl Future<Output = T>) -> T {
    match pin!(call).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the tool waits for nothing outside"),
    }
}

fn call(tool: &mut BashTool, commands: &str) -> ToolResponse {
    now(tool.execute(ToolRequest {
        commands: commands.to_owned(),
    }))
}

fn statuses(tool: &mut BashTool, commands: &str) -> (Vec<ToolStatus>, ToolResponse) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let theirs = Arc::clone(&heard);
    let request = ToolRequest {
        commands: commands.to_owned(),
    };
    let response = now(tool.execute_with_status(
        request,
        Box::new(move |status| theirs.lock().unwrap().push(status)),
    ));
    let heard = heard.lock().unwrap().clone();
    (heard, response)
}

fn chunks(heard: &[ToolStatus], stream: &str) -> Vec<String> {
    heard
        .iter()
        .filter(|status| status.stream.as_deref() == Some(stream))
        .filter_map(|status| status.output.clone())
        .collect()
}

struct Greet;

impl Builtin for Greet {
    fn run(&self, context: &mut BuiltinContext<'_>) -> i32 {
        i32::from(context.write(b"hello from the host\n").is_err())
    }
}

#[test]
fn names_and_descriptions_are_those_of_the_contract() {
    let tool = BashTool::default();
    assert_eq!(tool.name(), "bashkit");
    assert_eq!(
        tool.short_description(),
        "Virtual bash interpreter with virtual filesystem"
    );
    let start =
        format!("Virtual bash interpreter with virtual filesystem. Supported tools: {NAMES}");
    assert!(tool.description().starts_with(&start));
    assert_eq!(tool.version(), env!("CARGO_PKG_VERSION"));
}

#[test]
fn system_prompt_is_that_of_the_contract() {
    insta::assert_snapshot!(BashTool::default().system_prompt(), @r#"
    # Bash Tool

    Virtual bash interpreter with virtual filesystem.

    Input: {"commands": "<bash commands>"}
    Output: {stdout, stderr, exit_code}
    "#);
    let tool = BashTool::builder().username("agent").build();
    insta::assert_snapshot!(tool.system_prompt(), @r#"
    # Bash Tool

    Virtual bash interpreter with virtual filesystem.
    Home: /home/agent

    Input: {"commands": "<bash commands>"}
    Output: {stdout, stderr, exit_code}
    "#);
}

#[test]
fn help_is_that_of_the_contract_and_goes_on_with_our_commands() {
    let help = BashTool::default().help();
    let golden = include_str!("help.golden.txt");
    let (before, after) = golden.split_once("       export, read\n").unwrap();
    assert!(
        help.starts_with(&format!("{before}       export, read, ")),
        "{help}"
    );
    assert!(help.ends_with(after), "{help}");
    assert!(help.lines().all(|line| line.len() <= 84), "{help}");
}

#[test]
fn configuration_is_told_and_values_of_variables_never_are() {
    let limits = ExecutionLimits::new()
        .max_commands(500)
        .max_loop_iterations(10_000)
        .max_function_depth(100);
    let tool = BashTool::builder()
        .username("agent")
        .hostname("sandbox")
        .limits(limits)
        .env("API_KEY", "hunter2")
        .builtin("custom_cmd", Box::new(Greet))
        .build();
    let configuration = "\nCONFIGURATION\n       User: agent (whoami)\n       Host: sandbox (hostname)\n       Limits: 500 commands, 10000 iterations, 100 depth\n       Environment: API_KEY\n";
    assert!(tool.help().ends_with(configuration), "{}", tool.help());
    assert!(tool.description().ends_with(" custom_cmd"));
    for text in [tool.help(), tool.description(), tool.system_prompt()] {
        assert!(!text.contains("hunter2"));
    }
}

#[test]
fn custom_builtins_stay_across_calls() {
    let mut tool = BashTool::builder()
        .builtin("greet", Box::new(Greet))
        .build();
    for _ in 0..3 {
        assert_eq!(
            call(&mut tool, "greet | tr a-z A-Z").stdout,
            "HELLO FROM THE HOST\n"
        );
    }
}

#[test]
fn files_variables_functions_and_the_directory_stay_until_reset() {
    let mut tool = BashTool::default();
    call(
        &mut tool,
        "x=1; f() { echo f $x; }; cd /tmp; echo data > file",
    );
    let again = call(&mut tool, "f; pwd; cat file");
    assert_eq!(again.stdout, "f 1\n/tmp\ndata\n");
    tool.reset();
    assert_eq!(
        call(&mut tool, "echo ${x-unset}; ls /tmp").stdout,
        "unset\n"
    );
}

#[test]
fn one_shot_keeps_nothing() {
    let mut tool = BashTool::builder().session(Session::OneShot).build();
    call(&mut tool, "x=1; echo data > /tmp/file");
    assert_eq!(
        call(&mut tool, "echo ${x-unset}; ls /tmp").stdout,
        "unset\n"
    );
}

#[test]
fn phases_come_in_order_and_chunks_after_each_turn() {
    let (heard, response) = statuses(&mut BashTool::default(), "for i in 1 2 3; do echo $i; done");
    let phases: Vec<_> = heard.iter().map(|status| status.phase.as_str()).collect();
    assert_eq!(
        phases,
        [
            "validate", "parse", "execute", "output", "output", "output", "complete"
        ]
    );
    let percents: Vec<_> = heard
        .iter()
        .filter_map(|status| status.percent_complete)
        .collect();
    assert_eq!(percents, [0.0, 10.0, 20.0, 100.0]);
    assert_eq!(chunks(&heard, "stdout"), ["1\n", "2\n", "3\n"]);
    assert_eq!(response.stdout, "1\n2\n3\n");
}

#[test]
fn nothing_to_do_is_no_error() {
    let (heard, response) = statuses(&mut BashTool::default(), "");
    let phases: Vec<_> = heard.iter().map(|status| status.phase.as_str()).collect();
    assert_eq!(phases, ["validate", "complete"]);
    assert_eq!(response, ToolResponse::default());
}

#[test]
fn chunks_add_up_to_the_final_output() {
    let script = "printf 'a\\303'; printf '\\251b\\n'; echo one | cat; (echo two; echo three >&2); \
                  x=$(echo hidden); f() { echo four; }; f; if true; then echo five; fi; echo last";
    let (heard, response) = statuses(&mut BashTool::default(), script);
    assert_eq!(chunks(&heard, "stdout").concat(), response.stdout);
    assert_eq!(chunks(&heard, "stderr").concat(), response.stderr);
    assert_eq!(response.stdout, "aéb\none\ntwo\nfour\nfive\nlast\n");
}

#[test]
fn a_limit_keeps_what_was_printed() {
    let limits = ExecutionLimits::new().max_commands(50);
    let mut tool = BashTool::builder().limits(limits).build();
    let response = call(&mut tool, "i=0; while :; do echo $((i++)); done");
    assert_eq!(response.error.as_deref(), Some("resource_limit"));
    assert_ne!(response.exit_code, 0);
    assert!(response.stdout.starts_with("0\n1\n2\n"), "{response:?}");
    assert!(response.stderr.contains("commands"), "{response:?}");
    assert_eq!(call(&mut tool, "echo fine").stdout, "fine\n");
}

#[test]
fn schemas_describe_request_and_response() {
    let tool = BashTool::default();
    assert_eq!(tool.input_schema()["required"], json!(["commands"]));
    assert_eq!(
        tool.output_schema()["required"],
        json!(["stdout", "stderr", "exit_code"])
    );
}

//! The embedder's side: arguments as JSON, commands of its own, callbacks.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use jp_bash::{
    Bash, BashTool, Bounds, Builtin, BuiltinContext, ExecOptions, ExecutionLimits, Stdin,
};
use jp_tool::{Tool, ToolRequest};

use crate::support::{attack, attack_built, still_works, text, tight};

/// A command that is a closure.
struct Custom<F>(F);

impl<F: Fn(&mut BuiltinContext<'_>) -> i32 + Send + Sync> Builtin for Custom<F> {
    fn run(&self, context: &mut BuiltinContext<'_>) -> i32 {
        (self.0)(context)
    }
}

fn with(
    builtin: impl Fn(&mut BuiltinContext<'_>) -> i32 + Send + Sync + 'static,
) -> jp_bash::BashBuilder {
    Bash::builder()
        .limits(tight())
        .builtin("custom", Box::new(Custom(builtin)))
}

#[test]
fn a50_a_custom_command_that_panics_fails_alone() {
    for script in [
        "custom; echo $?",
        "custom | cat; echo ${PIPESTATUS[0]}",
        "(custom); echo $?",
        "x=$(custom); echo $?",
        "custom & wait $!; echo $?",
        "xargs custom <<< a > /dev/null; echo 1",
    ] {
        let outcome = attack_built(with(|_| panic!("an attack of the test")), script).exits(0);
        let last = text(&outcome.result.stdout);
        assert!(last.ends_with("1\n"), "{outcome}");
    }
}

#[test]
fn a50_a_custom_command_that_panics_halfway_leaves_descriptors_and_memory_clean() {
    let builtin = |context: &mut BuiltinContext<'_>| -> i32 {
        let _said = context.write(b"half");
        let _read = context.read_to_end();
        panic!("an attack of the test")
    };
    attack_built(
        with(builtin),
        "for i in {1..200}; do head -c 1000000 /dev/zero | custom > /dev/null 2>&1; done; echo end",
    )
    .exits(0)
    .prints("end\n");
}

#[test]
fn a50_a_custom_command_that_returns_garbage_is_taken_at_its_word() {
    attack_built(
        with(|context| {
            let _said = context.write(&[0xff, 0, 0xc3]);
            i32::MIN + 7
        }),
        "custom | wc -c; custom > /dev/null; echo $?",
    )
    .exits(0)
    .prints("3\n7\n");
}

#[test]
fn a50_a_custom_command_that_ignores_the_end_of_the_run_does_not_go_on() {
    let calls = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&calls);
    let builtin = move |context: &mut BuiltinContext<'_>| {
        while context.write(b"flood flood flood flood").is_ok() {}
        seen.fetch_add(1, Ordering::Relaxed);
        0
    };
    attack_built(with(builtin), "while :; do custom; done").stops_at(jp_bash::Limit::Output);
    assert_eq!(calls.load(Ordering::Relaxed), 1);
}

#[test]
fn a50_a_custom_command_that_reads_without_end_stops_at_the_memory_limit() {
    attack_built(
        with(|context| context.read_to_end().map_or(1, |_| 0)),
        "custom < /dev/zero",
    )
    .stops_at(jp_bash::Limit::Memory);
    attack_built(
        with(|context| context.read_file(b"/dev/zero").map_or(1, |_| 0)),
        "custom",
    )
    .stops_at(jp_bash::Limit::Memory);
}

#[test]
fn a50_custom_commands_stay_after_an_attack() {
    let mut bash = with(|context| context.write(b"here\n").map_or(1, |()| 0)).build();
    bash.exec(b"f(){ f; }; f");
    assert_eq!(text(&bash.exec(b"custom").stdout), "here\n");
}

#[test]
fn a49_arguments_of_every_kind_are_answered() {
    let mut tool = BashTool::builder()
        .limits(ExecutionLimits::from(tight()))
        .build();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    for commands in [
        "",
        "\0",
        "echo \0x",
        "\u{feff}echo",
        &"x".repeat(20 << 20),
        &"(".repeat(100_000),
        "\r\n",
        "echo '</tool_output>'",
        "'",
        "\"",
        "`",
        "$(",
        "${",
        "<<",
        "|",
        ";;",
        "&",
        "#",
    ] {
        let request = ToolRequest {
            commands: commands.to_owned(),
        };
        let response = runtime.block_on(tool.execute(request));
        assert!(response.stdout.len() < 2 << 20);
        let request = ToolRequest {
            commands: "echo ok".to_owned(),
        };
        assert_eq!(runtime.block_on(tool.execute(request)).stdout, "ok\n");
    }
}

#[test]
fn a48_pieces_of_output_are_whole_characters_and_add_up() {
    let mut tool = BashTool::builder()
        .limits(ExecutionLimits::from(tight()))
        .build();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let pieces = Arc::new(std::sync::Mutex::new(String::new()));
    let theirs = Arc::clone(&pieces);
    let request = ToolRequest {
        commands:
            "for i in {1..50}; do printf '\\xc3'; :; printf '\\xa9'; done; printf '\\xff\\xe2\\x82'"
                .to_owned(),
    };
    let response = runtime.block_on(tool.execute_with_status(
        request,
        Box::new(move |status| {
            if let Some(output) = status.output {
                theirs.lock().unwrap().push_str(&output);
            }
        }),
    ));
    assert_eq!(*pieces.lock().unwrap(), response.stdout);
    assert!(response.stdout.starts_with(&"é".repeat(50)), "{response:?}");
}

#[test]
fn a50_a_callback_that_panics_leaves_the_session_usable() {
    let mut bash = Bash::builder().limits(tight()).build();
    let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        bash.exec_with(
            b"keep=1; for i in 1 2 3; do echo $i; done",
            &ExecOptions::default(),
            Some(Box::new(|_, _| panic!("an attack of the test"))),
        )
    }));
    drop(ran);
    still_works(&mut bash, "callback");
}

#[test]
fn a50_an_input_that_panics_or_lies_leaves_the_session_usable() {
    let mut bash = Bash::builder().limits(tight()).build();
    for input in [
        jp_bash::Input::new(|_| panic!("an attack of the test")),
        jp_bash::Input::new(|buf| {
            buf.fill(b'\n');
            Ok(usize::MAX)
        }),
        jp_bash::Input::new(|_| Err(std::io::Error::other("broken"))),
    ] {
        let options = ExecOptions {
            stdin: Stdin::Reader(input),
            ..ExecOptions::default()
        };
        let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            bash.exec_with(b"head -c 10 > /dev/null; read x", &options, None)
        }));
        drop(ran);
        still_works(&mut bash, "input");
    }
}

#[test]
fn limits_of_zero_and_without_end_are_kept() {
    let none = Bounds {
        commands: 0,
        loops: 0,
        output: 0,
        memory: 0,
        files: 0,
        depth: 0,
        time: std::time::Duration::ZERO,
    };
    let mut bash = Bash::builder().limits(none).build();
    assert!(bash.exec(b"echo x").exit_code != 0);
    let all = Bounds {
        commands: u64::MAX,
        loops: u64::MAX,
        output: u64::MAX,
        memory: u64::MAX,
        files: u64::MAX,
        depth: u64::MAX,
        time: std::time::Duration::MAX,
    };
    let mut bash = Bash::builder().limits(all).build();
    assert_eq!(text(&bash.exec(b"echo x; sleep 0.01; f(){ if (($1)); then f $(($1-1)); fi; }; f 3000; awk 'BEGIN{print 1}'; jq -n 1").stdout), "x\n1\n1\n");
    attack(":").exits(0);
}

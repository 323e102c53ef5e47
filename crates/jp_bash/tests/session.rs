//! A session as an embedder uses it: what persists, what limits do, what a caller sees while it runs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use jp_bash::{
    Bash, Bounds, Builtin, BuiltinContext, Category, ExecOptions, ExecResult, Limit, Output,
    OutputStream, Writer,
};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn with(change: impl FnOnce(&mut Bounds)) -> Bash {
    let mut bounds = Bounds::default();
    change(&mut bounds);
    Bash::builder().limits(bounds).build()
}

fn out(result: &ExecResult) -> String {
    text(&result.stdout)
}

#[test]
fn files_variables_functions_and_cwd_persist() {
    let mut bash = Bash::new();
    bash.exec(b"x=1; f() { echo f$1; }; cd /tmp; echo data > file; shopt -s extglob; alias q=echo");
    let result = bash.exec(b"echo $x; f 2; pwd; cat file; shopt -q extglob && echo on; alias q");
    assert_eq!(out(&result), "1\nf2\n/tmp\ndata\non\nalias q='echo'\n");
    bash.reset();
    assert_eq!(out(&bash.exec(b"echo [$x]; pwd")), "[]\n/home/user\n");
}

#[test]
fn descriptors_jobs_and_traps_end_with_the_call() {
    let mut bash = Bash::new();
    bash.exec(b"exec 5> /tmp/f; trap 'echo bye' EXIT; sleep 100 &");
    let result = bash.exec(b"trap; jobs; { echo x >&5; } 2>/dev/null; echo $?");
    assert_eq!(out(&result), "1\n");
}

#[test]
fn every_limit_keeps_what_was_printed_and_names_itself() {
    let cases: &[(&str, Limit, &str)] = &[
        (
            "commands",
            Limit::Commands,
            "echo start; while :; do :; done",
        ),
        (
            "loops",
            Limit::Loops,
            "echo start; for ((;;)); do x=1; done",
        ),
        (
            "output",
            Limit::Output,
            "echo start; while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done",
        ),
        (
            "memory",
            Limit::Memory,
            "echo start; x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done",
        ),
        ("depth", Limit::Depth, "echo start; f() { f; }; f"),
        (
            "files",
            Limit::Files,
            "echo start; i=10; while :; do eval \"exec $i>/dev/null\"; ((i++)); done",
        ),
    ];
    for (name, limit, script) in cases {
        let mut bash = with(|bounds| match limit {
            Limit::Commands => bounds.commands = 1_000,
            Limit::Loops => bounds.loops = 1_000,
            Limit::Output => bounds.output = 10_000,
            Limit::Memory => bounds.memory = 10 << 20,
            Limit::Depth => bounds.depth = 200,
            _ => bounds.files = 100,
        });
        let result = bash.exec(script.as_bytes());
        assert!(
            out(&result).starts_with("start\n"),
            "{name}: {}",
            out(&result)
        );
        assert_eq!(
            result.error,
            Some(Category::ResourceLimit(*limit)),
            "{name}"
        );
        assert_ne!(result.exit_code, 0, "{name}");
        let line = format!("jp: limit reached: {name} (");
        assert!(
            text(&result.stderr).contains(&line),
            "{name}: {}",
            text(&result.stderr)
        );
        let next = bash.exec(b"echo fine; (echo sub) | cat; echo $(echo in)");
        assert_eq!(out(&next), "fine\nsub\nin\n", "{name}");
        assert_eq!(next.error, None, "{name}");
    }
}

#[test]
fn time_is_a_limit_too_even_while_asleep() {
    let mut bash = with(|bounds| bounds.time = Duration::from_millis(60));
    let result = bash.exec(b"echo a; sleep 100; echo b");
    assert_eq!(
        (out(&result).as_str(), result.error),
        ("a\n", Some(Category::ResourceLimit(Limit::Time)))
    );
    let result = bash.exec(b"echo a; while :; do :; done & wait");
    assert_eq!(result.error, Some(Category::ResourceLimit(Limit::Time)));
    assert_eq!(out(&bash.exec(b"echo still")), "still\n");
}

#[test]
fn a_fork_bomb_ends_by_a_limit() {
    let result = Bash::new().exec(b"echo start; :(){ :|:& };:; wait; echo end");
    assert!(out(&result).starts_with("start\n"));
    assert!(result.error.is_some() || result.exit_code == 0);
    let result = Bash::new().exec(b"f() { f & f & wait; }; f");
    assert!(
        matches!(result.error, Some(Category::ResourceLimit(_))),
        "{result:?}"
    );
}

#[test]
fn functions_may_nest_as_deep_as_the_budget_says_on_a_small_thread() {
    let thread = std::thread::Builder::new()
        .stack_size(2 << 20)
        .spawn(|| {
            let mut bash = Bash::new();
            let result =
                bash.exec(b"f() { if (( $1 )); then f $(($1-1)); else echo bottom; fi; }; f 900");
            assert_eq!(out(&result), "bottom\n");
            let result = bash.exec(
                b"g() { if [ $1 -gt 0 ]; then echo $(g $(($1-1))); else echo deep; fi; }; g 150",
            );
            assert_eq!(out(&result), "deep\n");
            let result = bash
                .exec(b"h() { if (( $1 )); then h $(($1-1)) | cat; else echo piped; fi; }; h 100");
            assert_eq!(out(&result), "piped\n");
        })
        .unwrap();
    thread.join().unwrap();
}

#[test]
fn pipes_end_early_when_nobody_reads() {
    let mut bash = Bash::new();
    assert_eq!(
        out(&bash.exec(b"yes | head -1; echo ${PIPESTATUS[@]}")),
        "y\n141 0\n"
    );
    assert_eq!(out(&bash.exec(b"seq 1 1000000000000 | head -1")), "1\n");
}

#[test]
fn a_deadlock_is_reported() {
    let mut bash = Bash::new();
    let result = bash.exec(b"echo a; mkfifo p; cat p; echo never");
    assert_eq!(
        (out(&result).as_str(), result.error),
        ("a\n", Some(Category::Deadlock))
    );
    assert!(text(&result.stderr).contains("deadlock"));
    assert_eq!(out(&bash.exec(b"echo b")), "b\n");
}

#[test]
fn cancel_stops_a_run_from_another_thread() {
    let mut bash = with(|bounds| {
        (bounds.commands, bounds.loops) = (u64::MAX, u64::MAX);
        bounds.time = Duration::from_secs(3600);
    });
    let cancel: Arc<AtomicBool> = bash.cancel_handle();
    let (seen, output) = mpsc::channel();
    let helper = std::thread::spawn(move || {
        output.recv().unwrap();
        cancel.store(true, Ordering::Relaxed);
    });
    let result = bash.exec_with(
        b"echo a; while :; do :; done",
        &ExecOptions::default(),
        Some(Box::new(move |_out, _err| {
            seen.send(()).unwrap_or_default()
        })),
    );
    helper.join().unwrap();
    assert_eq!(
        (out(&result).as_str(), result.error),
        ("a\n", Some(Category::Cancelled))
    );
}

#[test]
fn streamed_pieces_add_up_and_come_after_each_turn() {
    let pieces = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&pieces);
    let mut bash = Bash::new();
    let result = bash.exec_with(
        b"for i in 1 2 3; do echo $i; done; echo x | cat; (echo y; echo z)",
        &ExecOptions::default(),
        Some(Box::new(move |out, _err| {
            sink.lock().unwrap().push(text(out));
        })),
    );
    let pieces = pieces.lock().unwrap();
    assert_eq!(pieces.concat(), out(&result));
    assert_eq!(
        pieces.get(..3),
        Some(&["1\n".to_owned(), "2\n".to_owned(), "3\n".to_owned()][..])
    );
}

struct Upper;

impl Builtin for Upper {
    fn run(&self, context: &mut BuiltinContext<'_>) -> i32 {
        let Ok(input) = context.read_to_end() else {
            return 1;
        };
        let name = context.env("NAME").unwrap_or_default();
        let _ = context.write(&[&name, &input.to_ascii_uppercase()[..]].concat());
        i32::try_from(context.args().len()).unwrap_or(0)
    }
}

struct Panics;

impl Builtin for Panics {
    #[expect(clippy::panic, reason = "that is what the test is about")]
    fn run(&self, _context: &mut BuiltinContext<'_>) -> i32 {
        panic!("a bug of the embedder")
    }
}

#[test]
fn custom_builtins_stream_and_may_panic() {
    let mut bash = Bash::builder()
        .env("NAME", "n:")
        .builtin("upper", Box::new(Upper))
        .builtin("panics", Box::new(Panics))
        .build();
    let result = bash.exec(b"echo hi | upper a b; echo $?; panics; echo $?; type -t upper");
    assert_eq!(out(&result), "n:HI\n3\n1\nbuiltin\n");
    assert_eq!(out(&bash.exec(b"echo x | upper")), "n:X\n");
}

#[test]
fn hostile_scripts_end_orderly() {
    let mut bash = with(|bounds| {
        bounds.commands = 20_000;
        bounds.time = Duration::from_secs(5);
    });
    for script in [
        "eval 'eval \"eval :\"'; f() { eval f; }; f",
        "echo '. ./s' > s; . ./s",
        "echo 'bash $0' > t; bash t",
        "trap 'kill -USR1 $$' USR1; kill -USR1 $$",
        "trap 'false' ERR; set -E; f() { false; f; }; f",
        "trap 'eval :' DEBUG; for i in {1..100}; do :; done",
        "a() { b; }; b() { a; }; a",
        "x() { $(x); }; x",
        "x() { (x); }; x",
        "x() { cat <(x); }; x",
        "coproc cat; coproc cat; wait",
        "while :; do sleep 1000 & done",
        "kill -9 $$",
        "exec nosuch",
        "command_not_found_handle() { nosuch; }; nosuch",
        "f() { trap f EXIT; exit; }; f",
        "exec 0<&- 1>&- 2>&-; echo x",
        "set -u; echo $nope",
        "cat <<EOF\n$(cat <<EOG\n$(echo deep)\nEOG\n)\nEOF",
    ] {
        let _result = bash.exec(script.as_bytes());
        let next = bash.exec(b"set +u; exec 2>&1; echo alive");
        assert_eq!(out(&next), "alive\n", "after {script}");
    }
}

/// Runs a script with standard output and error as the host's streams, which take so many bytes of output.
#[expect(clippy::unwrap_used, reason = "a lock that is poisoned fails the test")]
fn streamed(script: &[u8], room: usize, end: std::io::ErrorKind) -> (ExecResult, String, String) {
    let seen = Arc::new(Mutex::new((Vec::new(), Vec::new())));
    let theirs = Arc::clone(&seen);
    let writer = Writer::new(move |stream, bytes| {
        let mut seen = theirs.lock().unwrap();
        match stream {
            OutputStream::Out if seen.0.len() + bytes.len() > room => return Err(end.into()),
            OutputStream::Out => seen.0.extend_from_slice(bytes),
            OutputStream::Err => seen.1.extend_from_slice(bytes),
        }
        Ok(())
    });
    let options = ExecOptions {
        output: Output::Writer(writer),
        ..ExecOptions::default()
    };
    let result = Bash::new().exec_with(script, &options, None);
    let seen = seen.lock().unwrap();
    let (out, err) = (text(&seen.0), text(&seen.1));
    (result, out, err)
}

#[test]
fn output_of_the_host_breaks_as_pipes_do() {
    use std::io::ErrorKind;
    let (result, out, err) = streamed(b"echo one; yes; echo $? >&2", 64, ErrorKind::BrokenPipe);
    assert_eq!((result.exit_code, err.as_str()), (0, "141\n"));
    assert!(
        out.starts_with("one\n") && result.stdout.is_empty(),
        "{out}"
    );
    let (result, _, err) = streamed(b"while :; do echo x; done", 64, ErrorKind::BrokenPipe);
    assert_eq!(
        (result.exit_code, err.as_str(), result.error),
        (141, "", None)
    );
    let (result, _, err) = streamed(b"echo x", 0, ErrorKind::StorageFull);
    assert_eq!(
        (result.exit_code, err.as_str()),
        (
            1,
            "bash: line 1: echo: write error: No space left on device\n"
        )
    );
}

#[test]
fn a_limit_is_named_on_the_stream_of_the_host() {
    let options = ExecOptions {
        output: Output::Writer(Writer::new(|_, _| Ok(()))),
        ..ExecOptions::default()
    };
    let mut bash =
        Bash::builder().limits(jp_bash::ExecutionLimits::new().max_output_bytes(9).into());
    bash = bash.plain_errors();
    let result = bash.build().exec_with(b"seq 99", &options, None);
    assert_eq!(result.error, Some(Category::ResourceLimit(Limit::Output)));
}

#[test]
fn a_missing_command_is_explained_once_and_only_so_often() {
    let script = b"for i in 1 2; do git; done; for i in {1..50}; do none$i; done";
    let stderr = text(&Bash::new().exec(script).stderr);
    assert_eq!(stderr.matches("command not found").count(), 52);
    assert_eq!(stderr.matches("jp: this is a virtual shell").count(), 8);
    assert_eq!(stderr.matches("without `git`").count(), 1);
    let mut plain = Bash::builder().plain_errors().build();
    assert_eq!(
        plain.exec(b"git").stderr,
        b"bash: line 1: git: command not found\n"
    );
    // No name moves a cursor or ends the line.
    let odd = Bash::new().exec(b"$'a\\nb'; $'\\e[2J'; $'\\xff'");
    assert_eq!(text(&odd.stderr).matches("jp:").count(), 0);
}

#[test]
fn a_setup_that_cannot_be_used_is_found_before_it_is() {
    let missing = Bash::builder().existing_cwd("/nope").build();
    assert_eq!(
        missing.check().unwrap_err().to_string(),
        "cannot start in /nope: No such file or directory"
    );
    let mut made = Bash::builder().cwd("/nope").build();
    assert_eq!(made.check(), Ok(()));
    assert_eq!(made.exec(b"pwd").stdout, b"/nope\n");
}

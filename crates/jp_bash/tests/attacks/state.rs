//! What a call leaves to the next one when it was cut short: nothing but what a session keeps.

use std::sync::{atomic::Ordering, mpsc};
use std::time::Duration;

use jp_bash::{Bash, Bounds, Category, ExecOptions, Limit};

use crate::support::{attack, attack_in, attack_within, roomy, still_works, text, tight};

fn brief(millis: u64) -> Bounds {
    Bounds {
        time: Duration::from_millis(millis),
        loops: u64::MAX,
        commands: u64::MAX,
        ..tight()
    }
}

#[test]
fn a37_waiting_ends_at_the_time_limit() {
    for script in [
        "echo before; sleep 1e9",
        "echo before; read -t 1000000000 x < <(sleep 1e9)",
        "echo before; timeout 1e30 sleep 1e9",
        "echo before; sleep 1e9 | cat",
        "echo before; sleep 1e9 & wait",
        "echo before; x=$(sleep 1e9)",
        "echo before; sleep infinity",
        "echo before; coproc sleep 1e9; wait",
        "echo before; mkfifo p; sleep 1e9 > p & cat p",
        "echo before; while :; do :; done",
        "echo before; while :; do sleep 0; done",
        "echo before; until false; do :; done",
        "echo before; for ((;;)); do :; done",
        "echo before; yes > /dev/null",
        "echo before; tail -f /dev/null",
        "echo before; seq 1e12 > /dev/null",
        "echo before; trap '' TERM INT HUP; while :; do :; done",
        "echo before; trap 'while :; do :; done' EXIT; exit",
        "echo before; cat /dev/zero > /dev/null",
    ] {
        attack_within(brief(200), script)
            .stops_at(Limit::Time)
            .prints("before\n");
    }
}

#[test]
fn a37_timeout_stops_what_is_busy() {
    attack_within(
        Bounds { loops: u64::MAX, commands: u64::MAX, ..tight() },
        "timeout 0.1 sh -c 'while :; do :; done'; echo $?; timeout 0.1 sleep 100; echo $?; timeout 0.1 yes > /dev/null; echo $?; timeout -s KILL 0.1 bash -c 'trap \"\" TERM; while :; do :; done'; echo $?",
    )
    .exits(0)
    .prints("124\n124\n124\n137\n");
}

#[test]
fn a37_a_thousand_sleepers_stop_at_the_files_limit_or_end_with_the_call() {
    attack("for i in {1..1000}; do sleep 100 & done").stops_at(Limit::Files);
    // The limit of time is far below what they would sleep: waiting for them would end in it.
    attack("for i in {1..50}; do sleep 100 & done; echo end")
        .exits(0)
        .prints("end\n");
}

#[test]
fn a38_signals_reach_only_the_runs_own_processes() {
    attack("kill -9 $$; echo not reached").exits(137).prints("");
    attack("kill -9 -1; echo after").never_prints("Permission");
    attack("kill -9 1; kill -9 0; kill -9 99999; kill -STOP 1; echo after");
    attack("wait 1; echo $?; wait 99999; echo $?").says("not a child of this shell");
    attack_within(brief(300), "kill -STOP $$; echo after");
    attack_within(
        brief(300),
        "(kill -STOP $BASHPID; echo a) & wait; echo after",
    );
    attack_within(brief(300), "kill -STOP $$ & wait; echo after");
    attack_within(brief(300), "(sleep 0.01; kill -9 $$) & while :; do :; done").exits(137);
    attack("(kill -TERM $$); echo after").exits(143);
    attack("trap 'echo got' TERM; kill -TERM $$; echo after")
        .exits(0)
        .prints("got\nafter\n");
}

#[test]
fn a38_a_deadlock_is_reported_and_not_waited_for() {
    for script in [
        "mkfifo p; cat p",
        "mkfifo p; echo x > p",
        "exec 3<> <(:); read -u 3 x; mkfifo q; read x < q",
        "mkfifo a b; (cat a > b) & cat b > a",
    ] {
        let mut bash = Bash::builder().limits(brief(3_600_000)).build();
        let result = bash.exec(script.as_bytes());
        assert!(result.exit_code != 0, "{script} {result:?}");
        still_works(&mut bash, script);
    }
}

#[test]
fn a47_after_a_timeout_only_what_a_session_keeps_is_kept() {
    let mut bash = Bash::builder().limits(brief(200)).build();
    let script = "keep=1; cd /tmp; trap 'echo trapped' EXIT ERR DEBUG TERM; exec 3>f; set -- a b c; \
        f() { local inner=1; if (while :; do :; done); then :; fi; }; exec > /dev/null; sleep 99 & f";
    attack_in(&mut bash, script).stops_at(Limit::Time);
    let after = bash.exec(b"echo $keep $PWD [$inner] $# $-; echo x >&3; trap; jobs; wait; echo ${#FUNCNAME[@]} $BASH_SUBSHELL");
    assert_eq!(
        text(&after.stdout)
            .lines()
            .next()
            .unwrap()
            .trim_end_matches(char::is_alphabetic),
        "1 /tmp [] 0 "
    );
    assert!(
        text(&after.stderr).contains("3: Bad file descriptor"),
        "{after:?}"
    );
    assert!(text(&after.stdout).ends_with("0 0\n"), "{after:?}");
}

#[test]
fn a47_set_e_works_after_a_call_that_ended_inside_a_condition() {
    let mut bash = Bash::builder().limits(brief(200)).build();
    attack_in(&mut bash, "if ! while :; do :; done; then :; fi && :").stops_at(Limit::Time);
    let after = bash.exec(b"(set -e; false; echo not reached); echo $?");
    assert_eq!(text(&after.stdout), "1\n");
}

#[test]
fn a47_variables_of_subshells_and_functions_are_gone_after_a_stop() {
    for (script, limit) in [
        ("x=out; (x=in; y=in; while :; do :; done)", Limit::Time),
        (
            "x=out; f() { local x=in y=in; while :; do :; done; }; f",
            Limit::Time,
        ),
        ("x=out; z=$(x=in; y=in; while :; do :; done)", Limit::Time),
        ("x=out; x=in y=in eval 'while :; do :; done'", Limit::Time),
        ("x=out; f() { local x=in y=in; f; }; f", Limit::Depth),
        (
            "x=out; (x=in; y=in; cd /; z=$(cat /dev/zero))",
            Limit::Memory,
        ),
        (
            "x=out; f() { local x=in y=in; (local x=deep; yes); }; f",
            Limit::Output,
        ),
    ] {
        let mut bash = Bash::builder().limits(brief(200)).build();
        attack_in(&mut bash, script).stops_at(limit);
        let after = bash.exec(b"echo $x [$y] $OLDPWD");
        assert_eq!(text(&after.stdout), "out []\n", "{script}");
    }
}

#[test]
fn a47_a_cancel_ends_the_call_and_no_other() {
    for script in [
        "while :; do :; done",
        "sleep 9999",
        "x=$(sleep 9999)",
        "yes > /dev/null",
        "sleep 9999 | cat",
        "cat /dev/zero > /dev/null",
        "awk 'BEGIN{while(1);}'",
    ] {
        let mut bash = Bash::builder().limits(brief(3_600_000)).build();
        let cancel = bash.cancel_handle();
        let (seen, output) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            output.recv().unwrap();
            cancel.store(true, Ordering::Relaxed);
        });
        let result = bash.exec_with(
            format!("echo before; {script}").as_bytes(),
            &ExecOptions::default(),
            Some(Box::new(move |_out, _err| {
                seen.send(()).unwrap_or_default()
            })),
        );
        thread.join().unwrap();
        assert_eq!(
            (result.error, result.exit_code),
            (Some(Category::Cancelled), 130),
            "{script}"
        );
        assert_eq!(text(&result.stdout), "before\n", "{script}");
        assert!(text(&result.stderr).contains("cancelled"), "{script}");
        still_works(&mut bash, script);
    }
}

#[test]
fn a47_a_cancel_before_a_call_ends_that_call_and_no_other() {
    let mut bash = Bash::builder().limits(tight()).build();
    bash.cancel_handle().store(true, Ordering::Relaxed);
    assert_eq!(
        bash.exec(b"echo not reached").error,
        Some(Category::Cancelled)
    );
    still_works(&mut bash, "cancel");
}

#[test]
fn a47_counts_of_memory_stay_true_however_often_a_value_changes() {
    for body in [
        "y=$x; y+=a",
        "y=$x$x",
        "a[0]=$x",
        "a[1]+=$x; a[1]=",
        "declare -A h; h[k]=$x",
        "y=$x; unset y",
        "f() { local y=$x; y+=a; }; f",
        "(y=$x; y+=b)",
        "a=($x $x); a+=(c)",
        "y=$x & y=$x; wait",
        "read y <<< $x",
        "y=$x | y=$x",
        "printf -v y %s $x",
        "y=${x/a/bb}",
        "set -- $x $x",
        "mapfile y <<< $x",
    ] {
        let script = format!(
            "x=$(head -c 200000 /dev/zero | tr '\\0' a); for i in {{1..150}}; do {body}; done; echo end"
        );
        attack_within(roomy(), &script).exits(0).prints("end\n");
    }
}

#[test]
fn a47_memory_that_a_call_used_is_free_for_the_next() {
    let mut bash = Bash::builder().limits(roomy()).build();
    for _ in 0..5 {
        let result = bash.exec(
            b"f() { local x=$(head -c 8000000 /dev/zero | tr '\\0' a); echo ${#x}; }; f; f; f; f",
        );
        assert_eq!(
            text(&result.stdout),
            "8000000\n8000000\n8000000\n8000000\n",
            "{}",
            text(&result.stderr)
        );
    }
}

#[test]
fn a47_a_session_full_of_variables_can_still_be_emptied() {
    for fill in [
        "x=aaaaaaaa; while :; do x+=$x; done",
        "i=0; while :; do a[i++]=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done",
        "cat /dev/zero > f",
        "x=aaaaaaaa; while :; do y+=$x; done",
        "i=0; while :; do : > f$((i++)); done",
        "i=0; while :; do declare v$((i++))=x; done",
    ] {
        let bounds = Bounds {
            loops: u64::MAX,
            commands: u64::MAX,
            memory: 2 << 20,
            time: Duration::from_secs(20),
            ..tight()
        };
        let mut bash = Bash::builder().limits(bounds).build();
        let result = bash.exec(fill.as_bytes());
        assert_eq!(
            result.error,
            Some(Category::ResourceLimit(Limit::Memory)),
            "{fill}"
        );
        for _ in 0..20 {
            bash.exec(fill.as_bytes());
        }
        assert_eq!(text(&bash.exec(b"echo ok").stdout), "ok\n", "{fill}");
        let result = bash.exec(b"unset x y a; rm -f f; find . -type f -delete; z=$(head -c 100000 /dev/zero | tr '\\0' a); echo ${#z}");
        if !fill.contains("declare") {
            assert_eq!(
                text(&result.stdout),
                "100000\n",
                "{fill} {}",
                text(&result.stderr)
            );
        }
    }
}

#[test]
fn a47_memory_of_commands_that_end_by_a_signal_is_given_back() {
    // Each command holds a long line when its reader goes away.
    for command in [
        "cat f",
        "sort f",
        "sed p f",
        "awk 1 f",
        "grep a f",
        "tail f",
        "uniq f",
        "cut -c1- f",
        "jq -R . f",
        "tac f",
        "tr a b < f",
        "head -n 1 f",
        "tee < f",
        "wc -L f",
    ] {
        let script = format!(
            "head -c 2000000 /dev/zero | tr '\\0' a > f; for i in {{1..12}}; do {command} | true; done; x=$(head -c 12000000 /dev/zero | tr '\\0' a); echo ${{#x}}"
        );
        let outcome = attack_within(roomy(), &script);
        assert!(
            text(&outcome.result.stdout).ends_with("12000000\n"),
            "{outcome}"
        );
    }
}

#[test]
fn a47_depth_and_files_are_given_back_when_commands_end() {
    let script = "for i in {1..300}; do (exit 1); x=$(f 2>&1); { echo a; } | { read y; }; cat <(echo a) > /dev/null; eval 'false'; . /dev/null; bash -c 'exit 3'; ( kill -9 $BASHPID ); yes | head -1 > /dev/null; : & done; wait; f() { if (($1)); then f $(($1-1)); fi; }; f 120; echo end";
    attack(script).exits(0).prints("end\n");
}

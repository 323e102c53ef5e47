//! Section F of the security list: processes that multiply, hide or outlive their tool.

use std::{
    io::{BufRead, BufReader, Read},
    process::{Child, ChildStdout, Command, Stdio},
};

use crate::bench::{ELSEWHERE, in_time, nothing, prepare, sh, until_all_are_gone};

/// A daemon as the book says: forked twice, in a session of its own, deaf to signals.
const DAEMON: &str =
    "setsid sh -c 'trap \"\" HUP TERM INT; (sleep 1000 & sleep 1000) & sleep 1000' &";

/// Starts a script that says `up` and holds its output; returns it once it is up.
fn start(script: &str) -> (Child, BufReader<ChildStdout>, jp_confine::Report) {
    let mut confined = prepare(&nothing(), script);
    let mut child = confined
        .command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "up\n", "{:?}", confined.report.failure());
    (child, out, confined.report)
}

/// The pipe ends when the last process that holds it is gone.
fn all_are_gone(mut out: impl Read + Send + 'static) {
    in_time(move || out.read_to_end(&mut Vec::new()).unwrap());
}

#[test]
fn f64_setsid_daemon_dies_with_the_tool() {
    let mut confined = prepare(&nothing(), &format!("{DAEMON} sleep 0.1; exit 3"));
    let child = confined.command.stdout(Stdio::piped()).spawn().unwrap();
    assert_eq!(until_all_are_gone(child).code, 3);
}

#[test]
fn f64_setsid_daemon_dies_when_the_launcher_is_killed() {
    let (mut child, out, _report) = start(&format!("{DAEMON} sleep 0.1; echo up; sleep 1000"));
    child.kill().unwrap();
    child.wait().unwrap();
    all_are_gone(out);
}

#[test]
fn f64_a_launcher_killed_at_any_moment_leaves_nothing_behind() {
    for delay in 0..40 {
        let mut confined = prepare(&nothing(), "setsid sleep 1000 & sleep 1000");
        let mut child = confined.command.stdout(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_micros(500 * delay));
        child.kill().unwrap();
        child.wait().unwrap();
        all_are_gone(child.stdout.take().unwrap());
    }
}

/// What `everything_dies_when_the_host_dies` runs as a host that dies.
#[test]
fn starts_a_tool_and_dies() {
    if std::env::var_os("JP_DYING_HOST").is_none() {
        return;
    }
    let mut confined = prepare(&nothing(), &format!("{DAEMON} echo up; sleep 1000"));
    // The thread that starts it may end: only the process counts.
    let child = std::thread::spawn(move || (confined.command.spawn().unwrap(), confined.report));
    let (child, _report) = child.join().unwrap();
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    nix::sys::signal::kill(nix::unistd::getpid(), nix::sys::signal::Signal::SIGKILL).unwrap();
    drop(child);
}

#[test]
fn everything_dies_when_the_host_dies() {
    let mut host = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "processes::starts_a_tool_and_dies",
            "--nocapture",
        ])
        .env("JP_DYING_HOST", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(host.stdout.take().unwrap());
    let mut line = String::new();
    while line != "up\n" {
        line.clear();
        assert_ne!(
            out.read_line(&mut line).unwrap(),
            0,
            "the host could not start it"
        );
    }
    // Its input ends, and it dies.
    drop(host.stdin.take());
    host.wait().unwrap();
    all_are_gone(out);
}

#[test]
fn f63_the_number_of_processes_is_bounded() {
    let mut confinement = nothing();
    confinement.limits.processes = 20;
    let done = sh(
        &confinement,
        "i=0; while [ $i -lt 1000 ]; do sleep 1000 & i=$((i+1)); echo $i; done",
    );
    let reached: u64 = done.out.lines().last().unwrap().parse().unwrap();
    let allowance = if nix::unistd::geteuid().is_root() {
        300
    } else {
        0
    };
    assert!(
        done.code != 0 && reached >= 10 && reached <= 20 + allowance,
        "{reached} {}",
        done.err
    );
}

#[test]
fn f63_a_fork_bomb_is_bounded_and_gone_with_the_launcher() {
    let mut confined = prepare(
        &nothing(),
        "echo up; b() { b | b & b; }; b 2>/dev/null; sleep 1000",
    );
    let mut child = confined
        .command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut [0; 3]).unwrap();
    // Whatever the bomb has come to by now, the host is not hindered; later it is not either.
    for _ in 0..50 {
        assert!(
            Command::new("true").status().unwrap().success(),
            "the host cannot start processes"
        );
    }
    child.kill().unwrap();
    child.wait().unwrap();
    all_are_gone(out);
}

#[test]
fn f63_orphans_are_collected() {
    let mut confinement = nothing();
    confinement.limits.processes = 12;
    // Far more than could exist at once, so each must be collected when it ends.
    let done = sh(
        &confinement,
        "i=0; while [ $i -lt 700 ]; do (true & ) ; i=$((i+1)); done; sleep 0.2; \
        grep -l '^State:.Z' /proc/[0-9]*/status; echo $i",
    );
    assert_eq!(done.out, "700\n", "{done:?}");
}

#[test]
fn the_program_has_no_capabilities_and_cannot_get_any() {
    let done = sh(
        &nothing(),
        "grep -E '^(Cap|NoNewPrivs)' /proc/self/status; unshare -U true || echo refused; \
        unshare -m true || echo refused",
    );
    for line in done.out.lines().filter(|line| line.starts_with("Cap")) {
        assert!(line.ends_with("\t0000000000000000"), "{line}");
    }
    assert!(
        done.out.contains("NoNewPrivs:\t1") && done.out.ends_with("refused\nrefused\n"),
        "{done:?}"
    );
}

#[test]
fn the_init_cannot_be_killed_or_looked_into() {
    let done = sh(
        &nothing(),
        "kill -9 1; cat /proc/1/maps /proc/1/environ; ls /proc/1/root /proc/1/cwd; readlink /proc/1/fd/0; echo alive",
    );
    assert_eq!(done.out, "alive\n", "{done:?}");
}

#[test]
fn names_of_the_host_and_its_terminal_are_hidden() {
    let done = sh(
        &nothing(),
        "uname -n; ps -o sid= -p $$ 2>/dev/null; : < /dev/tty || echo none",
    );
    assert!(
        done.out.starts_with("confined\n") && !done.out.contains(ELSEWHERE),
        "{done:?}"
    );
    assert!(
        !std::path::Path::new("/dev/tty").exists()
            || done.code != 0
            || done.out.ends_with("none\n"),
        "{done:?}"
    );
}

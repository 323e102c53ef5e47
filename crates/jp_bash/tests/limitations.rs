//! What is known to differ from bash and GNU, one test for each entry of `docs/features/bash-limitations.md`.
//! A test that fails because jp got better takes its entry with it.

use jp_bash::{Bash, ExecResult};

fn run(script: &str) -> ExecResult {
    Bash::new().exec(script.as_bytes())
}

fn out(script: &str) -> String {
    String::from_utf8_lossy(&run(script).stdout).into_owned()
}

fn err(script: &str) -> String {
    String::from_utf8_lossy(&run(script).stderr).into_owned()
}

#[test]
fn background_jobs_end_with_their_call() {
    let mut bash = Bash::new();
    bash.exec(b"(sleep 5; echo late > /tmp/late) & echo started");
    assert_eq!(bash.exec(b"jobs; ls /tmp").stdout, b"");
}

#[test]
fn descriptors_and_traps_end_with_their_call() {
    let mut bash = Bash::new();
    bash.exec(b"exec 3>/tmp/f; trap 'echo bye' EXIT");
    let next = bash.exec(b"echo x >&3; trap");
    assert_eq!(next.stdout, b"");
    assert!(String::from_utf8_lossy(&next.stderr).contains("Bad file descriptor"));
}

#[test]
fn there_is_no_network_without_a_transport() {
    let result = run("curl http://example.com/");
    assert_eq!(result.exit_code, 7);
    assert!(err("curl http://example.com/").contains("not granted"));
    assert_ne!(run("exec 3<>/dev/tcp/127.0.0.1/80").exit_code, 0);
}

#[test]
fn the_clock_cannot_be_set() {
    assert_ne!(run("date -s 2020-01-01").exit_code, 0);
}

#[test]
fn the_machine_is_virtual() {
    assert_eq!(
        out("whoami; hostname; nproc; id -u"),
        "user\nlocalhost\n1\n1000\n"
    );
}

#[test]
fn processor_times_are_zero() {
    assert!(err("TIMEFORMAT='%U %S'; time :").contains("0.000 0.000"));
}

#[test]
fn xargs_runs_one_command_at_a_time() {
    assert_eq!(
        out("printf '%s\\n' 3 2 1 | xargs -P 3 -n 1 echo"),
        "3\n2\n1\n"
    );
}

#[test]
fn find_and_unsorted_listings_go_by_name() {
    let made = "mkdir d; cd d; touch c a b;";
    assert_eq!(out(&format!("{made} find . -type f")), "./a\n./b\n./c\n");
    assert_eq!(out(&format!("{made} ls -U")), "a\nb\nc\n");
}

#[test]
fn keys_of_awk_arrays_come_in_their_own_order() {
    let script = r#"awk 'BEGIN { a["x"]; a[10]; a[9]; a["b"]; for (k in a) printf "%s ", k }'"#;
    assert_eq!(out(script), "9 10 x b ");
}

#[test]
fn grep_p_is_not_pcre() {
    assert_eq!(out("echo 'é' | grep -cP '^\\w$'"), "1\n");
}

#[test]
fn ulimit_cannot_set_anything() {
    assert_ne!(out("ulimit -n 5; ulimit -n"), "5\n");
    assert!(
        err("ulimit -n 5").contains("open files: cannot modify limit: Operation not permitted")
    );
    assert_eq!(run("ulimit -n 5").exit_code, 1);
    assert_eq!(run("ulimit -c 0").exit_code, 0);
}

#[test]
fn options_of_builtins_without_an_effect_are_refused() {
    for script in ["set -k", "set -o keyword", "suspend -f", "bind -l"] {
        assert_ne!(run(script).exit_code, 0, "{script}");
        assert!(err(script).contains("not supported"), "{script}");
    }
}

#[test]
fn commands_that_only_change_how_another_runs_change_nothing() {
    assert_eq!(out("nice -n 19 nice"), "0\n");
    assert_eq!(out("nohup setsid stdbuf -o0 echo hi"), "hi\n");
}

#[test]
fn jq_knows_more_than_its_version() {
    assert_eq!(
        out("jq -nc '\" a \" | trim, @base32'"),
        "\"a\"\n\"EBQSA===\"\n"
    );
    assert_eq!(out("jq -nc '[{\"a\":1} | leaf_paths]'"), "[[\"a\"]]\n");
}

#[test]
fn what_ends_the_whole_call_runs_no_traps() {
    let bounds = jp_bash::Bounds {
        loops: 10_000,
        ..jp_bash::Bounds::default()
    };
    let mut bash = Bash::builder().limits(bounds).build();
    let result = bash.exec(b"trap 'echo bye' EXIT; while :; do :; done");
    assert_eq!(result.stdout, b"");
}

#[test]
fn no_script_gives_a_file_of_the_machine_a_set_id_bit() {
    use std::os::unix::fs::PermissionsExt;
    let held = tempfile::tempdir().unwrap();
    let mode = |name: &str| {
        let found = std::fs::metadata(held.path().join(name)).unwrap();
        found.permissions().mode() & 0o7777
    };
    std::fs::write(held.path().join("had"), "").unwrap();
    let had = std::fs::Permissions::from_mode(0o4755);
    std::fs::set_permissions(held.path().join("had"), had).unwrap();
    let dir = jp_bash::HostDir::open(held.path()).unwrap();
    let mut bash = Bash::builder()
        .mount("/m", dir, jp_bash::HostMode::ReadWrite)
        .build();
    let script = "cd /m; touch x; chmod 4755 x; chmod g+s x; install -m 6755 x y; mkdir -m 7777 d; mkdir e; chmod +t e; \
                  cp -p had copy; chmod 4700 had";
    let said = bash.exec(script.as_bytes());
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(said.contains("Operation not permitted"), "{said}");
    for name in ["x", "y", "copy"] {
        let path = held.path().join(name);
        assert!(!path.exists() || mode(name) & 0o6000 == 0, "{name}: {said}");
    }
    assert!(!held.path().join("d").exists() || mode("d") & 0o6000 == 0);
    assert_eq!(mode("e") & 0o1000, 0o1000);
    // What has the bit already may keep it.
    assert_eq!(mode("had"), 0o4700);
}

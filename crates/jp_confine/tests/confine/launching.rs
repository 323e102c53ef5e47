//! What reaches the program: arguments, environment, streams and descriptors, and nothing else.

use std::{
    ffi::OsString,
    io::{Read, Write},
    os::{fd::AsRawFd, unix::ffi::OsStringExt},
    process::Stdio,
};

use jp_confine::{ConfineError, Confinement, Ended, Launcher};

use crate::bench::{
    directory, in_time, launcher, nothing, prepare, sh, try_run, until_all_are_gone, words,
};

#[test]
fn f61_each_argument_arrives_whole() {
    let mut args = words(&["-c", "for a; do printf '[%s]' \"$a\"; done", "sh"]);
    let odd = [
        "a b",
        "",
        "it's",
        "\"q\"",
        "line\nbreak",
        "$(id)",
        "; rm -rf /",
        "--",
        "*",
    ];
    args.extend(words(&odd));
    args.push(OsString::from_vec(b"\xe9".to_vec()));
    let done = try_run(&nothing(), "sh".as_ref(), &args).unwrap();
    let expected: String = odd.iter().map(|arg| format!("[{arg}]")).collect();
    assert_eq!(done.out, format!("{expected}[\u{fffd}]"));
}

#[test]
fn f62_the_environment_is_exactly_what_was_given() {
    let env = vec![("A".into(), "1 2".into()), ("SECRET".into(), "s\n3".into())];
    let confinement = Confinement { env, ..nothing() };
    let done = try_run(&confinement, "/usr/bin/env".as_ref(), &words(&["-0"])).unwrap();
    let mut variables: Vec<_> = done.out.split_terminator('\0').collect();
    variables.sort_unstable();
    assert_eq!(variables, ["A=1 2", "SECRET=s\n3"]);
    assert!(!format!("{confinement:?}").contains("s\\n3"));
}

#[test]
fn secrets_are_in_no_command_line_and_the_order_is_gone_once_it_runs() {
    let env = vec![("SECRET".into(), "hunter2-visible".into())];
    let mut confined = prepare(&Confinement { env, ..nothing() }, "echo up; read x");
    let order: Vec<_> = confined.command.get_args().map(ToOwned::to_owned).collect();
    assert!(std::path::Path::new(&order[1]).exists());
    let mut child = confined
        .command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut up = [0; 3];
    child.stdout.as_mut().unwrap().read_exact(&mut up).unwrap();
    assert!(!std::path::Path::new(&order[1]).exists());
    for file in ["cmdline", "environ"] {
        let text = std::fs::read(format!("/proc/{}/{file}", child.id())).unwrap_or_default();
        assert!(
            !String::from_utf8_lossy(&text).contains("hunter2"),
            "{file}"
        );
    }
    until_all_are_gone(child);
    assert!(confined.report.failure().is_none());
}

#[test]
fn an_order_that_nobody_took_is_removed() {
    let confined = prepare(&nothing(), "true");
    let order = confined.command.get_args().nth(1).unwrap().to_owned();
    drop(confined);
    assert!(!std::path::Path::new(&order).exists());
}

#[test]
fn descriptors_of_the_host_do_not_reach_the_program() {
    let (_held, place) = directory();
    let leak = std::fs::File::create(place.join("leak")).unwrap();
    nix::fcntl::fcntl(
        &leak,
        nix::fcntl::FcntlArg::F_SETFD(nix::fcntl::FdFlag::empty()),
    )
    .unwrap();
    let done = sh(&nothing(), "ls /proc/$$/fd");
    // dash keeps none of its own; bash as `sh` has 255.
    assert_eq!(done.out.replace("255\n", ""), "0\n1\n2\n", "{done:?}");
    assert!(leak.as_raw_fd() > 2);
}

#[test]
fn streams_pass_through_and_end_when_the_program_closes_them() {
    let mut confined = prepare(&nothing(), "cat; echo err >&2; exec >&- 2>&-; sleep 1000");
    let command = confined.command.stdin(Stdio::piped());
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"bytes\0\xff")
        .unwrap();
    let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let (out, err) = in_time(move || {
        let (mut all_out, mut all_err) = (Vec::new(), String::new());
        out.read_to_end(&mut all_out).unwrap();
        err.read_to_string(&mut all_err).unwrap();
        (all_out, all_err)
    });
    assert_eq!(
        (out.as_slice(), err.as_str()),
        (&b"bytes\0\xff"[..], "err\n")
    );
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn the_status_is_the_programs_own_and_a_signal_is_128_and_its_number() {
    for (script, code) in [
        ("exit 0", 0),
        ("exit 7", 7),
        ("exit 125", 125),
        ("kill -9 $$", 137),
        ("kill -15 $$", 143),
    ] {
        assert_eq!(sh(&nothing(), script).code, code, "{script}");
    }
}

#[test]
fn a_status_above_128_is_told_from_a_signal() {
    for (script, expected) in [
        ("exit 0", Ended::Exited(0)),
        ("exit 125", Ended::Exited(125)),
        ("exit 137", Ended::Exited(137)),
        ("kill -9 $$", Ended::Killed(9)),
        ("kill -SEGV $$", Ended::Killed(11)),
    ] {
        let mut confined = prepare(&nothing(), script);
        confined.command.stdin(Stdio::null()).output().unwrap();
        assert_eq!(confined.report.ended(), Some(expected), "{script}");
        assert!(confined.report.failure().is_none());
        assert!(!confined.report.ran_out_of_memory());
    }
    let mut confined = prepare(&nothing(), "sleep 600");
    let mut child = confined.command.stdin(Stdio::null()).spawn().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(confined.report.ended(), None);
}

#[test]
fn a_program_or_directory_that_is_not_inside_is_named() {
    let (_held, place) = directory();
    let error = try_run(&nothing(), "no-such-program".as_ref(), &[]).unwrap_err();
    assert!(
        matches!(&error, ConfineError::Start { program, .. } if program == "no-such-program"),
        "{error}"
    );
    let confinement = Confinement {
        cwd: place.clone(),
        ..nothing()
    };
    let error = try_run(&confinement, "true".as_ref(), &[]).unwrap_err();
    assert!(
        error.to_string().contains(place.to_str().unwrap()),
        "{error}"
    );
}

#[test]
fn the_launcher_itself_cannot_be_run_inside() {
    // Through that link a program could reach the host's binary, past the read-only mounts.
    let error = try_run(
        &nothing(),
        "/proc/self/exe".as_ref(),
        &words(&["__confine", "x"]),
    )
    .unwrap_err();
    assert!(matches!(error, ConfineError::Start { .. }), "{error}");
}

#[test]
fn what_cannot_be_passed_is_refused_before_anything_runs() {
    let nul = Confinement {
        env: vec![("A".into(), "x\0y".into())],
        ..nothing()
    };
    let equals = Confinement {
        env: vec![("A=B".into(), "".into())],
        ..nothing()
    };
    let relative = Confinement {
        cwd: "tmp".into(),
        ..nothing()
    };
    for confinement in [nul, equals, relative] {
        let refused = launcher().command(&confinement, "true".as_ref(), &[]);
        assert!(matches!(refused, Err(ConfineError::Unpassable { .. })));
    }
    for (program, arg) in [("", "a"), ("true", "a\0b"), ("tr\0ue", "a")] {
        let refused = launcher().command(&nothing(), program.as_ref(), &words(&[arg]));
        assert!(matches!(refused, Err(ConfineError::Unpassable { .. })));
    }
    let many = Confinement {
        read: vec!["/usr".into(); 513],
        ..nothing()
    };
    assert!(launcher().command(&many, "true".as_ref(), &[]).is_err());
}

#[test]
fn a_program_that_is_not_a_launcher_is_found_out() {
    for program in ["/bin/true", "/bin/false", "/no/such/launcher"] {
        let launcher = Launcher::new(program.into());
        let refused = launcher.command(&nothing(), "true".as_ref(), &[]);
        assert!(
            matches!(refused, Err(ConfineError::Unsupported { .. })),
            "{program}"
        );
    }
}

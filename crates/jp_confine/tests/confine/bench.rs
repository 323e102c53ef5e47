//! What all tests share: a confinement to start from, running in it, and running tests elsewhere.

use std::{
    ffi::{OsStr, OsString},
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::mpsc,
    time::Duration,
};

use jp_confine::{ConfineError, Confined, Confinement, Launcher, Network, ProcessLimits};
use tempfile::TempDir;

/// Tells a test that it runs inside another one, and where that put the programs.
pub(crate) const ELSEWHERE: &str = "JP_CONFINE_TEST_ELSEWHERE";

/// Longer than anything here takes, shorter than a patient person.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) fn launcher() -> Launcher {
    let elsewhere = std::env::var_os(ELSEWHERE).map(|place| Path::new(&place).join("launcher"));
    Launcher::new(elsewhere.unwrap_or_else(|| env!("CARGO_BIN_EXE_jp_confine").into()))
}

pub(crate) fn nothing() -> Confinement {
    Confinement {
        read: Vec::new(),
        write: Vec::new(),
        network: Network::None,
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        cwd: "/".into(),
        limits: ProcessLimits {
            memory_bytes: 2 << 30,
            processes: 64,
            open_files: 128,
            file_bytes: 64 << 20,
            cpu_seconds: 60,
        },
    }
}

/// What a confined program did.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

pub(crate) fn words(args: &[&str]) -> Vec<OsString> {
    args.iter().map(OsString::from).collect()
}

pub(crate) fn prepare(confinement: &Confinement, script: &str) -> Confined {
    launcher()
        .command(confinement, "sh".as_ref(), &words(&["-c", script]))
        .unwrap()
}

pub(crate) fn try_run(
    confinement: &Confinement,
    program: &OsStr,
    args: &[OsString],
) -> Result<Done, ConfineError> {
    let mut confined = launcher().command(confinement, program, args)?;
    let output = confined.command.stdin(Stdio::null()).output().unwrap();
    confined.report.failure().map_or(Ok(done(&output)), Err)
}

/// Runs a shell script in the confinement.
pub(crate) fn sh(confinement: &Confinement, script: &str) -> Done {
    let confinement = confinement.clone();
    let script = words(&["-c", script]);
    in_time(move || try_run(&confinement, "sh".as_ref(), &script).unwrap())
}

/// Runs one of the probes, which are tests of this very program, in the confinement.
pub(crate) fn probe(mut confinement: Confinement, name: &str, argument: &str) -> Done {
    let program = std::env::current_exe().unwrap();
    confinement.read.push(program.clone());
    confinement.env.push(("JP_PROBE".into(), argument.into()));
    let args = words(&[
        "--exact",
        &format!("probe::{name}"),
        "--nocapture",
        "--test-threads=1",
    ]);
    in_time(move || try_run(&confinement, program.as_ref(), &args).unwrap())
}

pub(crate) fn done(output: &Output) -> Done {
    Done {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Fails instead of hanging.
pub(crate) fn in_time<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || send.send(work()));
    receive
        .recv_timeout(PATIENCE)
        .expect("it takes too long, or it panicked")
}

/// Reads all that is left of a child's output: that ends when no process holds the pipe.
pub(crate) fn until_all_are_gone(mut child: Child) -> Done {
    in_time(move || {
        drop(child.stdin.take());
        done(&child.wait_with_output().unwrap())
    })
}

/// A directory outside of `/tmp`'s special role, by a path without links, open to every user.
pub(crate) fn directory() -> (TempDir, PathBuf) {
    let held = TempDir::new_in(std::env::temp_dir().canonicalize().unwrap()).unwrap();
    fs::set_permissions(held.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let path = held.path().to_owned();
    (held, path)
}

/// Runs tests of this program again behind `wrapper`, say as another user; true if they passed.
///
/// Returns `None` where that cannot be done: in a run that is itself one of these, or without the
/// wrapping program.
pub(crate) fn elsewhere(wrapper: &[&str], tests: &[&str]) -> Option<Done> {
    let (program, args) = wrapper.split_first()?;
    let exists = Command::new(program).arg("--help").output().is_ok();
    if std::env::var_os(ELSEWHERE).is_some() || !exists {
        return None;
    }
    let (_held, place) = directory();
    let tester = place.join("tester");
    fs::copy(std::env::current_exe().unwrap(), &tester).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_jp_confine"), place.join("launcher")).unwrap();
    let mut command = Command::new(program);
    command
        .args(args)
        .arg(tester)
        .args(tests)
        .env(ELSEWHERE, &place)
        .current_dir("/");
    Some(done(&command.output().unwrap()))
}

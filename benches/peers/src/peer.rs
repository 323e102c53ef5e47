//! The three shells, each behind the same two calls: run a script once, on given files.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::cases::Input;
use crate::clock;

/// What a run took and printed.
pub(crate) struct Run {
    /// On a processor, all processes together.
    pub(crate) time: Duration,
    /// On the clock.
    pub(crate) wall: Duration,
    pub(crate) out: Vec<u8>,
}

/// The files a script reads: path below the working directory, and content.
pub(crate) fn files(input: Input, n: u64) -> Vec<(String, String)> {
    match input {
        Input::None => Vec::new(),
        Input::Lines => {
            let lines = (0..n).map(|i| format!("{i} the quick brown fox {} jumps over\n", i % 97));
            vec![("data".to_owned(), lines.collect())]
        }
        Input::Json => {
            let lines = (0..n).map(|i| format!("{{\"a\":{{\"b\":{i},\"c\":\"text {i}\"}},\"k\":[1,true,null,\"x\"]}}\n"));
            vec![("data".to_owned(), lines.collect())]
        }
        Input::Files => (0..n).map(|i| (format!("d/{i}"), format!("{i}\n"))).collect(),
    }
}

/// The limits of our own shell while it is measured.
pub(crate) fn bounds() -> jp_bash::Bounds {
    jp_bash::Bounds {
        commands: u64::MAX,
        loops: u64::MAX,
        output: 1 << 30,
        memory: 4 << 30,
        files: 4096,
        depth: 10_000,
        time: Duration::from_secs(600),
    }
}

/// Our shell.
pub(crate) fn jp(files: &[(String, String)], script: &str) -> Option<Run> {
    let mut builder = jp_bash::Bash::builder().limits(bounds()).cwd("/tmp/w");
    for (path, content) in files {
        builder = builder.file(format!("/tmp/w/{path}"), content.as_bytes());
    }
    let mut bash = builder.build();
    bash.exec(b":");
    let (started, used) = (Instant::now(), clock::own());
    let result = bash.exec(script.as_bytes());
    let (wall, time) = (started.elapsed(), clock::own() - used);
    (result.exit_code == 0 && result.error.is_none()).then_some(Run { time, wall, out: result.stdout })
}

/// A bashkit without limits, as far as it can be had.
pub(crate) fn kit_builder() -> bashkit::BashBuilder {
    let limits = bashkit::ExecutionLimits::new()
        .max_commands(usize::MAX)
        .max_loop_iterations(usize::MAX)
        .max_total_loop_iterations(usize::MAX)
        .max_work_units(u64::MAX)
        .max_aggregate_input_bytes(u64::MAX)
        .max_live_intermediate_bytes(u64::MAX)
        .timeout(Duration::from_secs(600));
    bashkit::Bash::builder()
        .limits(limits)
        .session_limits(bashkit::SessionLimits::unlimited())
        .memory_limits(bashkit::MemoryLimits::unlimited())
}

/// bashkit.
pub(crate) async fn kit(files: &[(String, String)], script: &str) -> Option<Run> {
    let mut builder = kit_builder();
    for (path, content) in files {
        builder = builder.mount_text(format!("/tmp/w/{path}"), content.clone());
    }
    let mut bash = builder.build();
    bash.exec("mkdir -p /tmp/w; cd /tmp/w").await.ok()?;
    let (started, used) = (Instant::now(), clock::own());
    let result = bash.exec(script).await.ok()?;
    let (wall, time) = (started.elapsed(), clock::own() - used);
    let out = result.stdout.into_bytes();
    (result.exit_code == 0).then_some(Run { time, wall, out })
}

/// A directory of the machine with a case's files.
pub(crate) struct Dir(PathBuf);

impl Dir {
    pub(crate) fn new(files: &[(String, String)]) -> Option<Self> {
        let dir = std::env::temp_dir().join(format!("peers-{}", std::process::id()));
        std::fs::create_dir_all(&dir).ok()?;
        for (path, content) in files {
            let path = dir.join(path);
            std::fs::create_dir_all(path.parent()?).ok()?;
            std::fs::write(path, content).ok()?;
        }
        Some(Self(dir))
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Real bash with the machine's tools; starting it is part of both sizes and so not of the slope.
pub(crate) fn bash(dir: &Dir, script: &str) -> Option<Run> {
    let (started, used) = (Instant::now(), clock::children());
    let output = Command::new("bash")
        .arg("-c")
        .arg(script)
        .current_dir(&dir.0)
        .env("LC_ALL", "C.UTF-8")
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let (wall, time) = (started.elapsed(), clock::children() - used);
    output.status.success().then_some(Run { time, wall, out: output.stdout })
}

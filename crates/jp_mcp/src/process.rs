//! Starts a program that is a server: checked, confined, and gone with all it started when dropped.
//! Knows nothing of the protocol.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use jp_confine::{Confinement, Ended, Network, ProcessLimits, Report};
use jp_policy::Net;
use tokio::{
    io::BufReader,
    process::{Child, ChildStdin, ChildStdout, Command},
    task::JoinHandle,
};

use crate::{
    McpError, Means, Program, Said, checksum, hidden,
    lines::{self, Line},
    tail::Tail,
};

/// Where programs are looked up; the same inside the walls.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Processes and threads a server and its children may have at once.
const MAX_PROCESSES: u64 = 512;

/// Descriptors each of them may have open.
const MAX_OPEN_FILES: u64 = 1024;

/// How long a program that closed its output is given to end, and its last lines to be read.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// Bytes of a line of standard error that are looked at.
const MAX_STDERR_LINE: usize = 64 * 1024;

/// A running program.
pub(crate) struct Process {
    child: Child,
    report: Option<Report>,
    stderr: Option<JoinHandle<()>>,
    memory_bytes: u64,
}

/// A program that was just started, with its streams.
pub(crate) struct Started {
    pub(crate) process: Process,
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
}

/// Starts a program; what it writes to standard error is kept in `tail`.
pub(crate) async fn start(
    server: &str,
    program: &Program,
    means: &Means,
    tail: &Tail,
) -> Result<Started, McpError> {
    let prepared = {
        let (server, program, means) = (server.to_owned(), program.clone(), means.clone());
        // Hashing reads a file, and the first use of a launcher tries what the system can do.
        tokio::task::spawn_blocking(move || prepare(&server, &program, &means))
    };
    let failed = |reason: String| McpError::Start {
        server: server.to_owned(),
        reason,
        said: Said::default(),
    };
    let prepared = prepared.await.map_err(|error| failed(error.to_string()))?;
    let (mut command, report) = prepared?;
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
    let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let mut process = Process {
        child,
        report,
        stderr: None,
        memory_bytes: program.memory_bytes,
    };
    let (Some(stdin), Some(stdout), Some(stderr)) = streams else {
        return Err(failed("it has no standard streams".to_owned()));
    };
    let tail = tail.clone();
    // Ends with the stream, which ends with the process.
    process.stderr = Some(tokio::spawn(async move {
        let mut stderr = BufReader::new(stderr);
        loop {
            match lines::next(&mut stderr, MAX_STDERR_LINE).await {
                Line::Whole(line) | Line::TooLong(line) => tail.push("stderr", &line),
                Line::End => return,
            }
        }
    }));
    Ok(Started {
        process,
        stdin,
        stdout,
    })
}

impl Process {
    /// Says how the program ended, if it did; waits a moment for it.
    pub(crate) async fn ending(&mut self) -> Option<String> {
        let status = tokio::time::timeout(LAST_WORDS, self.child.wait()).await;
        let status = status.ok()?.ok()?;
        // What it wrote last is still in the pipe.
        if let Some(stderr) = self.stderr.take() {
            let _ = tokio::time::timeout(LAST_WORDS, stderr).await;
        }
        if let Some(refused) = self.report.as_ref().and_then(Report::failure) {
            return Some(refused.to_string());
        }
        if self.report.as_ref().is_some_and(Report::ran_out_of_memory) {
            return Some(format!(
                "ran out of memory (limit: {} bytes for all its processes)",
                self.memory_bytes
            ));
        }
        let ended = self.report.as_ref().and_then(Report::ended);
        let ended = ended.or_else(|| Ended::of(status));
        Some(ended.map_or_else(|| status.to_string(), |ended| ended.to_string()))
    }
}

impl Drop for Process {
    /// A confined program takes everything it started with it. Of a bare one the group is killed.
    fn drop(&mut self) {
        let id = self.child.id().and_then(|id| i32::try_from(id).ok());
        if let (None, Some(group)) = (&self.report, id.and_then(rustix::process::Pid::from_raw)) {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        // Already gone is as good as killed.
        let _ = self.child.start_kill();
    }
}

/// Makes a process that can be started: confined, or bare where the user's policy says so.
fn prepare(
    server: &str,
    program: &Program,
    means: &Means,
) -> Result<(Command, Option<Report>), McpError> {
    let refused = |reason: String| McpError::Refused {
        server: server.to_owned(),
        reason,
    };
    if matches!(program.net, Net::Hosts(_)) {
        let reason = "a program can have all of the network or none of it, not single hosts; set \
                      `grant.net` of the server to true or false";
        return Err(refused(reason.to_owned()));
    }
    let file = find(&program.command).ok_or_else(|| McpError::Start {
        server: server.to_owned(),
        reason: format!("no such program: `{}`", program.command),
        said: Said::default(),
    })?;
    check(server, program, &file)?;
    let mut confinement = confinement(program, &file);
    for (name, template) in &program.secret_env {
        let value = filled(server, template, means).map_err(|why| refused(why.to_string()))?;
        confinement.env.push((name.clone(), value.into()));
    }
    let args: Vec<OsString> = program.arguments.iter().map(OsString::from).collect();
    let confined = match &means.launcher {
        None => Err("this program has no way to confine a server".to_owned()),
        Some(launcher) => match launcher.command(&confinement, file.as_os_str(), &args) {
            Ok(confined) => Ok(confined),
            Err(error @ jp_confine::ConfineError::Unsupported { .. }) => Err(error.to_string()),
            Err(error) => return Err(refused(error.to_string())),
        },
    };
    match confined {
        Ok(confined) => Ok((confined.command.into(), Some(confined.report))),
        Err(_) if means.unconfined => {
            let mut command = Command::new(&file);
            command
                .args(&args)
                .env_clear()
                .envs(confinement.env)
                .current_dir(confinement.cwd)
                .process_group(0);
            Ok((command, None))
        }
        Err(reason) => Err(refused(format!(
            "{reason}; `unconfined = true` in your own policy runs servers with the full authority \
             of your user"
        ))),
    }
}

/// Why the value of a variable cannot be made.
#[derive(Debug, thiserror::Error)]
enum Unfilled {
    #[error("a `{{{{secret:` in its environment is not closed")]
    Open,
    #[error(
        "the secret `{name}` is not set for it; `jp secret set {name} --for mcp:{server}` sets it"
    )]
    NoSecret { name: String, server: String },
}

/// Fills secrets into the value of a variable.
fn filled(server: &str, template: &str, means: &Means) -> Result<String, Unfilled> {
    let mut value = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{secret:") {
        let (name, after) = after.split_once("}}").ok_or(Unfilled::Open)?;
        let name = name.trim();
        let found = means.secrets.as_ref().and_then(|find| find(name, server));
        let found = found.ok_or_else(|| Unfilled::NoSecret {
            name: hidden::shown(name, 64),
            server: server.to_owned(),
        })?;
        value.push_str(before);
        value.push_str(&found);
        rest = after;
    }
    value.push_str(rest);
    Ok(value)
}

/// Finds the file of a program, as a shell would.
fn find(command: &str) -> Option<PathBuf> {
    if command.contains('/') {
        let path = PathBuf::from(command);
        return (path.is_absolute() && path.is_file()).then_some(path);
    }
    PATH.split(':')
        .map(|directory| Path::new(directory).join(command))
        .find(|path| path.is_file())
}

/// Compares the bytes of the program with what was configured. Anyone who can write to that file
/// between this and the start could still swap it, and could as well have done so before.
fn check(server: &str, program: &Program, file: &Path) -> Result<(), McpError> {
    let Some(checksum) = &program.checksum else {
        return Ok(());
    };
    let shown = file.display().to_string();
    let found = checksum::hash(file, checksum.algorithm).map_err(|error| McpError::Start {
        server: server.to_owned(),
        reason: format!("cannot read {shown}: {error}"),
        said: Said::default(),
    })?;
    if checksum::fits(&found, checksum) {
        return Ok(());
    }
    Err(McpError::Checksum {
        server: server.to_owned(),
        program: shown,
        expected: checksum.value.clone(),
        found,
    })
}

/// What the server's grant means for a process of this system.
fn confinement(program: &Program, file: &Path) -> Confinement {
    let base = [
        ("PATH", PATH),
        ("HOME", "/tmp"),
        ("TMPDIR", "/tmp"),
        ("LANG", "C.UTF-8"),
    ];
    let base = base.map(|(name, value)| (name.into(), value.into()));
    let mut read = program.read.clone();
    let granted = |path: &PathBuf| file.starts_with(path);
    // Those that every confined process sees.
    let of_system = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/nix/store"];
    let visible = of_system
        .iter()
        .any(|directory| file.starts_with(directory))
        || read.iter().chain(&program.write).any(granted);
    // A program that may be started may be read: its own file and nothing beside it.
    if !visible && file.canonicalize().is_ok_and(|real| real == file) {
        read.push(file.to_owned());
    }
    Confinement {
        read,
        write: program.write.clone(),
        network: match program.net {
            Net::Any => Network::Host,
            Net::None | Net::Hosts(_) => Network::None,
        },
        env: base.into_iter().chain(program.env.clone()).collect(),
        cwd: program.cwd.clone(),
        limits: ProcessLimits {
            memory_bytes: program.memory_bytes,
            processes: MAX_PROCESSES,
            open_files: MAX_OPEN_FILES,
            file_bytes: u64::MAX,
            // A server lives long and serves many calls: what bounds it is the time of each call.
            cpu_seconds: u64::MAX,
        },
    }
}

//! Adapter: commands of the host, confined by the operating system to the grant of the call.

use std::{
    ffi::OsString,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use async_trait::async_trait;
use jp_config::tool::CommandConfig;
use jp_confine::{ConfineError, Confinement, Ended, MemoryScope, Network, ProcessLimits, Report};
use jp_policy::{Limit, Limits, Net, Request};
use tokio::process::{Child, Command};

use super::{Invocation, Memory, Run, Stopped, ToolRuntime, printed, stopped_at};
use crate::{
    Host, ToolError, places,
    tool::{Cause, HostError, Misconfigured},
};

mod answer;
mod hidden;
mod streams;
mod template;
mod walls;

use answer::{Notes, read_outcome};
use streams::Streams;
pub use template::TemplateError;
use template::fill_in;
use walls::{single_hosts, unconfinable, unstarted};

/// Processes a command and its children may have at once.
const MAX_PROCESSES: u64 = 256;

/// Descriptors each of them may have open.
const MAX_OPEN_FILES: u64 = 256;

/// How long what was written before the end is waited for.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// Runs a command.
pub struct CommandRuntime {
    command: CommandConfig,
    name: String,
}

/// The words of a command line, after templating.
pub(crate) struct Words {
    pub(crate) program: OsString,
    pub(crate) args: Vec<OsString>,
}

/// How a process ended.
enum Ending {
    Exited(ExitStatus),
    Limit(Limit),
    Cancelled,
    Failed(std::io::Error),
}

impl CommandRuntime {
    /// Makes the runtime of a command; `name` is the name of the tool that the command gets.
    #[must_use]
    pub const fn new(command: CommandConfig, name: String) -> Self {
        Self { command, name }
    }

    /// Makes a process that can be started: confined, or bare where the user's policy says so.
    async fn process(
        &self,
        invocation: &Invocation<'_>,
        words: &Words,
    ) -> Result<(Command, Option<Report>), ToolError> {
        if matches!(invocation.grant().capabilities().net, Net::Hosts(_)) {
            // With less than it asked for it would fail half-way, and never is more than that given.
            return Err(single_hosts(invocation));
        }
        let confinement = confinement(invocation);
        let confined = match invocation.host.launcher() {
            None => Err((
                "this program has no way to confine a command".to_owned(),
                None,
            )),
            Some(launcher) => {
                let (launcher, confinement) = (launcher.clone(), confinement.clone());
                let (program, args) = (words.program.clone(), words.args.clone());
                // The first use tries what the system can do, which takes milliseconds.
                let made = tokio::task::spawn_blocking(move || {
                    launcher.command(&confinement, &program, &args)
                });
                match made.await {
                    Ok(Ok(confined)) => Ok(confined),
                    Ok(Err(ConfineError::Unsupported { problem, hint })) => {
                        Err((problem, Some(hint)))
                    }
                    Ok(Err(error)) => {
                        return Err(unstarted(invocation, error, |error| {
                            HostError::Confine(error).into()
                        }));
                    }
                    Err(error) => return Err(invocation.error(HostError::Task(error))),
                }
            }
        };
        match confined {
            Ok(confined) => Ok((confined.command.into(), Some(confined.report))),
            Err(_) if invocation.host.unconfined() => {
                let mut command = Command::new(&words.program);
                command
                    .args(&words.args)
                    .env_clear()
                    .envs(confinement.env)
                    .current_dir(confinement.cwd);
                command.process_group(0);
                Ok((command, None))
            }
            Err((reason, remedy)) => Err(unconfinable(invocation, reason, remedy)),
        }
    }
}

#[async_trait]
impl ToolRuntime for CommandRuntime {
    fn memory(&self, request: &Request, limits: &Limits, host: &Host) -> Memory {
        host.memory_of_processes(host.memory_of_a_command(request, limits))
    }

    async fn run(&self, invocation: &Invocation<'_>) -> Run {
        let words = match fill_in(&self.command, &self.name, invocation) {
            Ok(words) => words,
            Err(error) => {
                return Run::failed(invocation.error(Misconfigured::Template(error)));
            }
        };
        let (mut command, report) = match self.process(invocation, &words).await {
            Ok(process) => process,
            Err(error) => return Run::failed(error),
        };
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let program = || words.program.to_string_lossy().into_owned();
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => return Run::failed(invocation.error(Cause::spawn(program(), error))),
        };
        let mut streams = Streams::of(&mut child, invocation.left);
        let ending = wait(&mut child, invocation, &mut streams).await;
        end(&mut child, report.is_none()).await;
        // What was written before the end is still in the pipes. Everybody who could write more is
        // gone, except perhaps children of a bare command.
        let _ = tokio::time::timeout(LAST_WORDS, streams.read()).await;
        let (stdout, stderr) = (streams.out.kept, streams.err.kept);
        let report = report.as_ref();
        let ended = match &ending {
            Ending::Exited(status) => report.and_then(Report::ended).or(Ended::of(*status)),
            _ => None,
        };
        let result = match (ending, report.and_then(Report::failure)) {
            (Ending::Cancelled, _) => Err(Stopped::Cancelled),
            _ if report.is_some_and(Report::ran_out_of_memory) => {
                let allowed = format!("{} bytes for all its processes", memory_bytes(invocation));
                let limit = (Limit::Memory, allowed);
                Err(stopped_at(invocation.tool, limit, printed(&stdout, &stderr)).into())
            }
            (Ending::Limit(limit), _) => Err(invocation
                .limit_reached(limit, printed(&stdout, &stderr))
                .into()),
            (_, Some(error)) => {
                let spawn = |error| Cause::spawn(program(), error);
                Err(unstarted(invocation, error, spawn).into())
            }
            (Ending::Failed(error), None) => {
                Err(invocation.error(Cause::spawn(program(), error)).into())
            }
            (Ending::Exited(_), None) => {
                let name = &invocation.tool.name;
                let memory = report.and_then(|_| each_process_may_use(invocation));
                let hidden = hidden::note(&stderr, name, invocation.host);
                let notes = Notes {
                    memory: memory.as_deref(),
                    hidden: hidden.as_deref(),
                };
                Ok(read_outcome(name, ended, (&stdout, &stderr), notes))
            }
        };
        Run {
            stdout,
            stderr,
            ended,
            ..Run::said(result)
        }
    }
}

/// What the grant means for a process of this system.
fn confinement(invocation: &Invocation<'_>) -> Confinement {
    let capabilities = invocation.grant().capabilities();
    let (read, write) = places::host_paths(invocation.host, &capabilities.files);
    let sees_root = read
        .iter()
        .chain(&write)
        .any(|path| *path == invocation.host.root());
    let env = [
        ("PATH", "/usr/local/bin:/usr/bin:/bin"),
        ("HOME", "/tmp"),
        ("TMPDIR", "/tmp"),
        ("LANG", "C.UTF-8"),
    ];
    Confinement {
        cwd: if sees_root {
            invocation.host.root().to_owned()
        } else {
            "/tmp".into()
        },
        read,
        write,
        network: if capabilities.net == Net::Any {
            Network::Host
        } else {
            Network::None
        },
        env: env
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect(),
        limits: ProcessLimits {
            memory_bytes: memory_bytes(invocation),
            processes: MAX_PROCESSES,
            open_files: MAX_OPEN_FILES,
            file_bytes: u64::MAX,
            cpu_seconds: invocation.left.time.as_secs().saturating_add(1),
        },
    }
}

fn memory_bytes(invocation: &Invocation<'_>) -> u64 {
    invocation
        .host
        .memory_of_a_command(&invocation.tool.request, invocation.left)
}

/// Says how much memory each process may use, where it is counted so.
fn each_process_may_use(invocation: &Invocation<'_>) -> Option<String> {
    let scope = invocation.host.launcher()?.memory_scope().ok()?;
    let mebibytes = memory_bytes(invocation) >> 20;
    let words = format!("each of its processes may use {mebibytes} MiB of memory");
    (scope == MemoryScope::EachProcess).then_some(words)
}

/// Reads both streams up to their limit until the process ends, its time is over or nobody wants
/// the result any more.
async fn wait(child: &mut Child, invocation: &Invocation<'_>, streams: &mut Streams) -> Ending {
    let over = tokio::time::sleep(invocation.left.time);
    tokio::pin!(over);
    tokio::select! {
        biased;
        () = invocation.call.cancel.cancelled() => Ending::Cancelled,
        () = &mut over => Ending::Limit(Limit::Time),
        read = streams.read() => match read {
            Err(limit) => Ending::Limit(limit),
            // Both streams are closed. A process that lives on without them has what is left of its
            // time.
            Ok(_) => tokio::select! {
                biased;
                () = invocation.call.cancel.cancelled() => Ending::Cancelled,
                () = &mut over => Ending::Limit(Limit::Time),
                status = child.wait() => match status {
                    Ok(status) => Ending::Exited(status),
                    Err(error) => Ending::Failed(error),
                },
            },
        },
    }
}

/// Ends the process and everything it started.
async fn end(child: &mut Child, bare: bool) {
    if let (true, Some(pid)) = (bare, child.id().and_then(|pid| i32::try_from(pid).ok()))
        && let Some(group) = rustix::process::Pid::from_raw(pid)
    {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    // Already gone is as good as killed.
    let _ = child.kill().await;
}

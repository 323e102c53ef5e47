//! Scripts in the virtual bash: what they see, what bounds them, what stops them, and how the audit log has
//! those that no tool runs. The builtin tool `bash` and `jp bash` both go through here, so neither has mounts,
//! limits or a network of its own.

mod limits;
mod record;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use jp_bash::{
    Bash, BashBuilder, Bounds, Errno, ExecOptions, ExecResult, HostDir, HostMode, OnOutput,
    RecoverError, Recovered, SetupError,
};
use jp_broker::http::HttpError;
use jp_policy::Net;
use tokio::task::JoinError;
use tokio_util::sync::CancellationToken;

pub use limits::bounds;
pub use record::{ScriptRecord, ScriptWords};

/// What became of an apply that was killed in a directory, before a script sees that directory.
pub type Recovery = Result<Recovered, RecoverError>;

/// Sets what a session of scripts sees and may use. What is not set is missing.
pub struct ScriptBuilder(BashBuilder);

impl ScriptBuilder {
    /// Starts with virtual files only, within bounds.
    #[must_use]
    pub fn new(bounds: Bounds) -> Self {
        Self(Bash::builder().limits(bounds))
    }

    /// Shows a directory of this machine. An apply that was killed in it is undone or finished first;
    /// `recovered` hears of that.
    #[must_use]
    pub fn mount(
        self,
        path: &str,
        dir: HostDir,
        mode: HostMode,
        recovered: impl FnOnce(Recovery),
    ) -> Self {
        if let Some(recovery) = recover(&dir) {
            recovered(recovery);
        }
        Self(self.0.mount(path, dir, mode))
    }

    /// Shows a directory that nothing is ever changed in, not even by what an apply left behind there.
    #[must_use]
    pub fn show(self, path: &str, dir: HostDir) -> Self {
        Self(self.0.mount(path, dir, HostMode::ReadOnly))
    }

    /// Lets the session reach these hosts and no others.
    ///
    /// # Errors
    ///
    /// When no secure connections can be made at all.
    pub fn network(self, net: &Net) -> Result<Self, HttpError> {
        Ok(match crate::net::transport(net)? {
            Some(transport) => Self(self.0.network(transport)),
            None => self,
        })
    }

    /// Exports a variable.
    #[must_use]
    pub fn variable(self, name: &str, value: &str) -> Self {
        Self(self.0.env(name, value))
    }

    /// Puts a file among those of the session.
    #[must_use]
    pub fn file(self, path: &[u8], content: Vec<u8>) -> Self {
        Self(self.0.file(path, content))
    }

    /// Starts in a directory, which is made if it is missing.
    #[must_use]
    pub fn start_in(self, path: &str) -> Self {
        Self(self.0.cwd(path))
    }

    /// Starts in a directory that must be there: see [`ScriptSession::check`].
    #[must_use]
    pub fn start_in_existing(self, path: &str) -> Self {
        Self(self.0.existing_cwd(path))
    }

    /// Makes the session.
    #[must_use]
    pub fn build(self) -> ScriptSession {
        ScriptSession(self.0.build())
    }
}

/// Undoes or finishes an apply that was killed in a directory; nothing when there was none.
#[must_use]
pub fn recover(dir: &HostDir) -> Option<Recovery> {
    match dir.recover().transpose()? {
        // Nothing was applied to a directory that cannot be read.
        Err(RecoverError::Failed {
            errno: Errno::Access,
            ..
        }) => None,
        recovery => Some(recovery),
    }
}

/// A script and how it is called.
#[derive(Default)]
pub struct Script {
    /// What is run, unless the options say that it comes from elsewhere.
    pub text: Vec<u8>,
    /// Its name, arguments and streams.
    pub options: ExecOptions,
    /// Hears what it prints meanwhile.
    pub on_output: Option<OnOutput>,
}

/// A session: its files and variables stay from one script to the next.
pub struct ScriptSession(Bash);

impl ScriptSession {
    /// Checks that everything can be put where it was said to be.
    ///
    /// # Errors
    ///
    /// When a path cannot be used.
    pub fn check(&self) -> Result<(), SetupError> {
        self.0.check()
    }

    /// Sets the bounds of the scripts that follow.
    pub fn set_bounds(&mut self, bounds: Bounds) {
        self.0.set_limits(bounds);
    }

    /// Returns what stops the script that runs, within milliseconds.
    #[must_use]
    pub fn stop(&self) -> ScriptStop {
        ScriptStop(self.0.cancel_handle())
    }

    /// Returns the shell, for what it keeps: overlays.
    pub const fn shell(&mut self) -> &mut Bash {
        &mut self.0
    }

    /// Runs a script on this thread.
    pub fn run(&mut self, script: Script) -> ExecResult {
        let Script {
            text,
            options,
            on_output,
        } = script;
        self.0.exec_with(&text, &options, on_output)
    }

    /// Runs a script on a thread of its own, since scripts compute; a cancel stops it.
    ///
    /// # Errors
    ///
    /// When that thread panicked.
    pub async fn run_until(
        mut self,
        script: Script,
        cancel: &CancellationToken,
    ) -> Result<(Self, ExecResult), JoinError> {
        let stop = self.stop();
        let mut work = tokio::task::spawn_blocking(move || {
            let result = self.run(script);
            (self, result)
        });
        tokio::select! {
            biased;
            ended = &mut work => ended,
            () = cancel.cancelled() => {
                stop.now();
                work.await
            }
        }
    }
}

/// Stops a script.
#[derive(Debug, Clone)]
pub struct ScriptStop(Arc<AtomicBool>);

impl ScriptStop {
    /// Stops the script that runs, or the next one if none does.
    pub fn now(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

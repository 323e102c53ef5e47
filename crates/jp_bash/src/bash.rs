//! The shell as an embedder uses it: a session that keeps its files and variables between calls.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use jp_bash_shell::{
    self as shell, Applied, ApplyError, ApplyOptions, Builtin, Change, ExecOptions, ExecResult,
    HostDir, HostMode, OnOutput, Park, Random, Session, Setup, SetupError, Side, Transport,
    WallClock,
};
use jp_bash_system::{Bounds, Monotonic};

/// Makes a session.
#[derive(Clone)]
pub struct BashBuilder {
    setup: Setup,
}

impl Default for BashBuilder {
    fn default() -> Self {
        Self {
            setup: Setup::new(jp_bash_commands::programs()),
        }
    }
}

impl BashBuilder {
    /// Sets the user's name; the home is `/home/NAME`.
    #[must_use]
    pub fn username(mut self, name: impl Into<Vec<u8>>) -> Self {
        self.setup.user = name.into();
        self
    }

    /// Sets the machine's name.
    #[must_use]
    pub fn hostname(mut self, name: impl Into<Vec<u8>>) -> Self {
        self.setup.host_name = name.into();
        self
    }

    /// Sets the limits of each call.
    #[must_use]
    pub fn limits(mut self, bounds: Bounds) -> Self {
        self.setup.bounds = bounds;
        self
    }

    /// Exports a variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) -> Self {
        self.setup.env.push((name.into(), value.into()));
        self
    }

    /// Starts without the usual variables (`HOME`, `USER`, `LANG`): only those of [`BashBuilder::env`].
    #[must_use]
    pub fn empty_environment(mut self) -> Self {
        self.setup.bare = true;
        self
    }

    /// Adds a command.
    #[must_use]
    pub fn builtin(mut self, name: impl Into<Vec<u8>>, builtin: Box<dyn Builtin>) -> Self {
        Arc::make_mut(&mut self.setup.builtins).insert(name.into(), Arc::from(builtin));
        self
    }

    /// Puts a file into the session.
    #[must_use]
    pub fn file(mut self, path: impl Into<Vec<u8>>, content: impl Into<Vec<u8>>) -> Self {
        self.setup.files.push((path.into(), content.into()));
        self
    }

    /// Shows a directory of the host at a path of the session.
    #[must_use]
    pub fn mount(mut self, path: impl Into<Vec<u8>>, dir: HostDir, mode: HostMode) -> Self {
        self.setup.mounts.push((path.into(), dir, mode));
        self
    }

    /// Sets the directory the session starts in; it is made if it is missing.
    #[must_use]
    pub fn cwd(mut self, path: impl Into<Vec<u8>>) -> Self {
        self.setup.cwd = Some(path.into());
        self
    }

    /// The same, but a directory that is missing is an error: see [`Bash::check`].
    #[must_use]
    pub fn existing_cwd(mut self, path: impl Into<Vec<u8>>) -> Self {
        self.setup.cwd_exists = true;
        self.cwd(path)
    }

    /// Prints errors as bash does, without a line about what to do instead where a command is missing.
    #[must_use]
    pub fn plain_errors(mut self) -> Self {
        self.setup.plain_errors = true;
        self
    }

    /// Grants the network, through this transport.
    #[must_use]
    pub fn network(mut self, transport: Arc<dyn Transport>) -> Self {
        self.setup.host.transport = Some(transport);
        self
    }

    /// Replaces the clocks: time that never goes back, time of day, and how to wait.
    #[must_use]
    pub fn clock(mut self, monotonic: Monotonic, wall: WallClock, park: Park) -> Self {
        self.setup.host.monotonic = monotonic;
        self.setup.host.wall = wall;
        self.setup.host.park = park;
        self
    }

    /// Replaces the source of random bytes.
    #[must_use]
    pub fn random(mut self, random: Random) -> Self {
        self.setup.host.random = random;
        self
    }

    /// Makes the session.
    #[must_use]
    pub fn build(self) -> Bash {
        Bash {
            session: None,
            setup: self.setup,
            cancel: Arc::default(),
        }
    }
}

/// A session. At rest it can be sent to another thread.
pub struct Bash {
    /// Made by the first call.
    session: Option<Session>,
    setup: Setup,
    cancel: Arc<AtomicBool>,
}

impl Bash {
    /// Starts with the defaults.
    pub fn builder() -> BashBuilder {
        BashBuilder::default()
    }

    /// Makes a session with the defaults.
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// Runs a script to its end.
    pub fn exec(&mut self, script: &[u8]) -> ExecResult {
        self.exec_with(script, &ExecOptions::default(), None)
    }

    /// Runs a script with arguments, standard input or a callback.
    pub fn exec_with(
        &mut self,
        script: &[u8],
        options: &ExecOptions,
        on_output: Option<OnOutput>,
    ) -> ExecResult {
        let session = self.session.take();
        let (session, result) = shell::run(
            &self.setup,
            session,
            &self.cancel,
            script,
            options,
            on_output,
        );
        self.session = session;
        result
    }

    /// Checks that a session can be made as it was set up: its mounts, its files, its first directory.
    ///
    /// # Errors
    /// A path of the setup cannot be used.
    pub fn check(&self) -> Result<(), SetupError> {
        shell::check(&self.setup)
    }

    /// Returns a flag that stops the running call when it is set, or the next one if none runs.
    /// The end of a call clears it.
    pub fn cancel_handle(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.cancel)
    }

    /// Forgets everything: the next call starts anew.
    pub fn reset(&mut self) {
        self.session = None;
    }

    /// Sets the limits of the calls that follow.
    pub fn set_limits(&mut self, bounds: Bounds) {
        self.setup.bounds = bounds;
    }

    /// Returns the limits of each call.
    pub fn limits(&self) -> Bounds {
        self.setup.bounds
    }

    /// Lists what calls have changed in the overlay that is mounted at a path, sorted by path.
    ///
    /// # Errors
    /// There is no overlay, or it cannot be read.
    pub fn diff(&mut self, path: &[u8]) -> Result<Vec<Change>, ApplyError> {
        let Some(session) = &mut self.session else {
            return Ok(Vec::new());
        };
        session.diff(&self.setup, path)
    }

    /// Returns what is at a path of that overlay on the host and in the session, with at most `most` bytes of content
    /// each.
    ///
    /// # Errors
    /// There is no overlay, or it cannot be read.
    pub fn sides(
        &mut self,
        mount: &[u8],
        path: &[u8],
        most: usize,
    ) -> Result<[Option<Side>; 2], ApplyError> {
        let Some(session) = &mut self.session else {
            return Ok([None, None]);
        };
        session.sides(&self.setup, mount, path, most)
    }

    /// Checks whether [`Bash::apply`] would write the changes, without writing anything.
    ///
    /// # Errors
    /// It would not.
    pub fn check_apply(&mut self, path: &[u8], dir: &HostDir) -> Result<(), ApplyError> {
        let Some(session) = &mut self.session else {
            return Ok(());
        };
        session.check_apply(&self.setup, path, dir)
    }

    /// Writes those changes to the host, through a directory that may be written: all of them or none.
    ///
    /// # Errors
    /// Something cannot be written, the host has changed meanwhile, or a system call failed. The host is as it was,
    /// unless the error says that this is left to [`HostDir::recover`].
    pub fn apply(
        &mut self,
        path: &[u8],
        dir: &HostDir,
        options: ApplyOptions,
    ) -> Result<Applied, ApplyError> {
        let Some(session) = &mut self.session else {
            return Ok(Applied::default());
        };
        session.apply(&self.setup, path, dir, options)
    }
}

impl Default for Bash {
    fn default() -> Self {
        Self::new()
    }
}

const _: () = {
    const fn send<T: Send>() {}
    send::<Bash>();
};

#[cfg(test)]
mod tests {
    use jp_bash_shell::known_missing;

    #[test]
    fn no_command_of_ours_is_called_missing() {
        for name in known_missing() {
            assert!(
                jp_bash_commands::programs().find(name.as_bytes()).is_none(),
                "{name}"
            );
        }
    }
}

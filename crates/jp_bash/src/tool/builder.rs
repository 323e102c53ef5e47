//! Sets a [`BashTool`] up.

use std::sync::{Arc, Mutex};

use super::{BashTool, Session, text};
use crate::{BashBuilder, Bounds, Builtin, Transport};

/// Sets a [`BashTool`] up.
#[derive(Clone, Default)]
pub struct BashToolBuilder {
    bash: BashBuilder,
    username: Option<String>,
    hostname: Option<String>,
    limits: Option<Bounds>,
    env: Vec<String>,
    builtins: Vec<String>,
    session: Session,
}

impl BashToolBuilder {
    /// Sets the user's name; the home is `/home/NAME`.
    #[must_use]
    pub fn username(mut self, name: impl Into<String>) -> Self {
        let name = name.into();
        self.bash = self.bash.username(name.clone());
        self.username = Some(name);
        self
    }

    /// Sets the machine's name.
    #[must_use]
    pub fn hostname(mut self, name: impl Into<String>) -> Self {
        let name = name.into();
        self.bash = self.bash.hostname(name.clone());
        self.hostname = Some(name);
        self
    }

    /// Sets the limits of each call.
    #[must_use]
    pub fn limits(mut self, limits: impl Into<Bounds>) -> Self {
        let bounds = limits.into();
        self.bash = self.bash.limits(bounds);
        self.limits = Some(bounds);
        self
    }

    /// Exports a variable. Its name is told to the model, its value never is.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let name = name.into();
        self.bash = self.bash.env(name.clone(), value.into());
        if !self.env.contains(&name) {
            self.env.push(name);
        }
        self
    }

    /// Adds a command.
    #[must_use]
    pub fn builtin(mut self, name: impl Into<String>, builtin: Box<dyn Builtin>) -> Self {
        let name = name.into();
        self.bash = self.bash.builtin(name.clone(), builtin);
        if !self.builtins.contains(&name) {
            self.builtins.push(name);
        }
        self
    }

    /// Puts a file into the session.
    #[must_use]
    pub fn file(mut self, path: impl Into<Vec<u8>>, content: impl Into<Vec<u8>>) -> Self {
        self.bash = self.bash.file(path, content);
        self
    }

    /// Sets the directory the session starts in.
    #[must_use]
    pub fn cwd(mut self, path: impl Into<Vec<u8>>) -> Self {
        self.bash = self.bash.cwd(path);
        self
    }

    /// Grants the network, through this transport.
    #[must_use]
    pub fn network(mut self, transport: Arc<dyn Transport>) -> Self {
        self.bash = self.bash.network(transport);
        self
    }

    /// Says what stays from one call to the next.
    #[must_use]
    pub const fn session(mut self, session: Session) -> Self {
        self.session = session;
        self
    }

    /// Makes the tool.
    #[must_use]
    pub fn build(self) -> BashTool {
        let mut commands: Vec<String> = text::NAMED.iter().map(ToString::to_string).collect();
        let ours = crate::command_names().map(str::to_owned);
        for name in ours.chain(self.builtins) {
            if !commands.contains(&name) {
                commands.push(name);
            }
        }
        BashTool {
            bash: Mutex::new(self.bash.build()),
            commands,
            username: self.username,
            hostname: self.hostname,
            limits: self.limits,
            env: self.env,
            session: self.session,
        }
    }
}

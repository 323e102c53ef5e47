//! What stands behind a capability, by how a tool runs. What nothing could ever satisfy is refused by
//! name before anybody is asked to allow it; the table here is the only one.
//!
//! Does not know what this host, user or workspace allows: [`crate::compose`] does.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;

use crate::{
    Access, BrokeredName, Capabilities, Capability, FileRule, GuestPath, Request, USER_PATHS,
};

/// How a tool runs, as far as that decides what it can be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A Wasm file of which nothing else is known yet: one of the three that follow.
    Wasm,
    /// A component of `jp:tool@0.1.0`: it opens files, and cannot call the host by name.
    Component {
        /// Whether it imports `wasi:http/outgoing-handler`, and so makes requests itself.
        requests: bool,
    },
    /// A component of `jp:tool@0.2.0`, or a module or program with WASI: it opens files, and calls.
    Caller {
        /// Whether it imports `wasi:http/outgoing-handler`, and so makes requests itself.
        requests: bool,
    },
    /// A core module without imports: it asks, and opens nothing.
    Module,
    /// A command of the host, confined to its grant.
    Command,
}

/// What one column of the table is about.
const FORMS: [Form; 6] = [
    Form::Component { requests: false },
    Form::Component { requests: true },
    Form::Module,
    Form::Caller { requests: false },
    Form::Caller { requests: true },
    Form::Command,
];

/// A kind of capability: one row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `/workspace` and what is below it.
    Workspace,
    /// `/tmp`, which is there without asking.
    Scratch,
    /// The directories that hosts keep for tools: `/app-data`, `/user/<dir>`, `/models`, `/subjects`.
    Kept,
    /// Files and directories of the host beside the workspace, to read.
    Host,
    /// Any other path.
    Elsewhere,
    /// Files that a person chooses for one call.
    Selected,
    /// The network, all of it.
    AnyHost,
    /// The network, some hosts of it.
    Hosts,
    /// Running a command.
    Subprocess,
    /// Asking the host to do something.
    Calls,
    /// A variable of the environment.
    Env,
    /// Clocks, random numbers, standard input and output.
    Ambient,
}

/// What stands behind a kind of capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Behind {
    /// The host gives it.
    Given,
    /// The host does it for tools that may call something that reaches the network.
    ByCall,
    /// Nothing.
    Nothing,
}

/// The table: one row per kind of capability, one column per form.
const fn row(kind: Kind) -> [Behind; 6] {
    use Behind::{ByCall, Given, Nothing};
    match kind {
        //                 Component, with HTTP, Module, Caller, with HTTP, Command
        Kind::Workspace | Kind::Host => [Given, Given, Nothing, Given, Given, Given],
        Kind::Scratch | Kind::Ambient => [Given; 6],
        Kind::Kept | Kind::Selected | Kind::Env => [Given, Given, Nothing, Given, Given, Nothing],
        Kind::Elsewhere => [Nothing; 6],
        Kind::AnyHost => [Nothing, Given, ByCall, ByCall, Given, Given],
        Kind::Hosts => [Nothing, Given, ByCall, ByCall, Given, Nothing],
        Kind::Subprocess => [Nothing, Nothing, Nothing, Nothing, Nothing, Given],
        Kind::Calls => [Nothing, Nothing, Given, Given, Given, Nothing],
    }
}

impl Form {
    /// Says what it is, for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wasm => "a Wasm tool",
            Self::Component { requests: false } => "a component of `jp:tool@0.1.0`",
            Self::Component { requests: true } => {
                "a component of `jp:tool@0.1.0` that makes HTTP requests"
            }
            Self::Caller { requests: false } => {
                "a component of `jp:tool@0.2.0` or a module with WASI"
            }
            Self::Caller { requests: true } => {
                "a component of `jp:tool@0.2.0` that makes HTTP requests"
            }
            Self::Module => "a module without imports",
            Self::Command => "a command",
        }
    }

    /// Names what nothing gives to a tool of this form, in the words of a grant.
    #[must_use]
    pub fn never(self) -> Vec<&'static str> {
        let kinds = [
            (Kind::Workspace, "files"),
            (Kind::Selected, "chosen files"),
            (Kind::AnyHost, "a network of its own"),
            (Kind::Subprocess, "commands"),
            (Kind::Calls, "calls to jp"),
            (Kind::Env, "variables"),
        ];
        let kinds = kinds.into_iter();
        let kinds = kinds.filter(|(kind, _)| self.behind(*kind) != Behind::Given);
        kinds.map(|(_, name)| name).collect()
    }

    fn behind(self, kind: Kind) -> Behind {
        let column = FORMS.iter().position(|form| *form == self);
        column
            .and_then(|column| row(kind).get(column).copied())
            .unwrap_or(Behind::Nothing)
    }
}

impl Kind {
    fn of(capability: &Capability) -> Self {
        match capability {
            Capability::Files(rule) => Self::of_path(rule),
            Capability::Selected(_) => Self::Selected,
            Capability::Net(host) if host == "*" => Self::AnyHost,
            Capability::Net(_) => Self::Hosts,
            Capability::Subprocess => Self::Subprocess,
            Capability::Brokered(_) => Self::Calls,
            Capability::Env(_) => Self::Env,
            Capability::Ambient(_) => Self::Ambient,
        }
    }

    fn of_path(rule: &FileRule) -> Self {
        let within =
            |place: &str| GuestPath::new(place).is_ok_and(|place| rule.path.is_within(&place));
        let kept = ["/app-data", "/models", "/subjects"];
        let user = |name: &str| within(&format!("/user/{name}"));
        match () {
            () if within("/workspace") => Self::Workspace,
            () if within("/tmp") => Self::Scratch,
            () if kept.into_iter().any(within) || USER_PATHS.into_iter().any(user) => Self::Kept,
            () if rule.host_path().is_some() && rule.access == Access::Read => Self::Host,
            () => Self::Elsewhere,
        }
    }
}

/// Something that a tool asks for, and that nothing could ever give it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unbacked {
    /// What it asks for.
    pub capability: Capability,
    /// How the tool runs.
    pub form: Form,
    /// Whether the host does nothing of that name for any tool.
    is_unknown_call: bool,
}

/// Returns the first thing of a set that nothing could give to a tool of that form. `is_known` tells
/// whether a name stands for anything that the host does on tools' behalf.
#[must_use]
pub fn unbacked(
    form: Form,
    wanted: &Capabilities,
    is_known: &dyn Fn(&BrokeredName) -> bool,
) -> Option<Unbacked> {
    if form == Form::Wasm {
        let mut first = None;
        // What is missing from the form that has most is what is named.
        for form in FORMS
            .into_iter()
            .rev()
            .filter(|form| *form != Form::Command)
        {
            let found = unbacked(form, wanted, is_known)?;
            first.get_or_insert(Unbacked {
                form: Form::Wasm,
                ..found
            });
        }
        return first;
    }
    let reaches = wanted
        .brokered
        .names()
        .any(|name| is_known(name) && name.reaches_out());
    let each = wanted.each().into_iter();
    each.map(|capability| {
        let unknown = matches!(&capability, Capability::Brokered(name) if !is_known(name));
        (capability, unknown)
    })
    .find(
        |(capability, unknown)| match form.behind(Kind::of(capability)) {
            Behind::Given => *unknown,
            Behind::ByCall => !reaches,
            Behind::Nothing => true,
        },
    )
    .map(|(capability, is_unknown_call)| Unbacked {
        capability,
        form,
        is_unknown_call,
    })
}

impl Request {
    /// Returns the first thing that the tool asks for, always or under a condition, and that nothing
    /// could give it.
    #[must_use]
    pub fn unbacked(
        &self,
        form: Form,
        is_known: &dyn Fn(&BrokeredName) -> bool,
    ) -> Option<Unbacked> {
        unbacked(form, &self.capabilities, is_known).or_else(|| {
            let mut conditions = self.conditional.iter().map(|more| &more.when);
            conditions.find_map(|when| {
                // What is needed under one condition is there together.
                let same = self.conditional.iter().filter(|more| more.when == *when);
                let all = same.fold(self.capabilities.clone(), |all, more| {
                    all.union(&more.needs)
                });
                unbacked(form, &all, is_known)
            })
        })
    }
}

impl Unbacked {
    /// Says what would work instead.
    #[must_use]
    pub fn instead(&self) -> String {
        let with_files = "build it as a component or for WASI preview 1, which can open files";
        match (&self.capability, self.form) {
            (Capability::Brokered(_), _) if self.is_unknown_call => {
                "ask for one of the calls that docs/features/capabilities-table.md lists".into()
            }
            (Capability::Net(_), Form::Command) => {
                "ask for `net = true`, all of the network, or for none of it".into()
            }
            (Capability::Net(_), Form::Component { .. }) => {
                "import `wasi:http/outgoing-handler`, or build it for `jp:tool@0.2.0` and ask for the \
                 call `http.request` beside `net`: jp makes the request on its behalf"
                    .into()
            }
            (Capability::Net(_), Form::Module) => {
                "ask for the call `http.request` beside `net`: jp makes the request on its behalf"
                    .into()
            }
            (Capability::Net(_), _) => {
                "ask for the call `http.request` beside `net`: jp makes the request on its behalf; or \
                 make it a component that imports `wasi:http/outgoing-handler`"
                    .into()
            }
            (Capability::Subprocess, _) => {
                "a command is a tool of the workspace: `command = \"…\"` under \
                 `[conversation.tools.NAME]`"
                    .into()
            }
            (Capability::Brokered(_), Form::Command) => {
                "a command asks jp for nothing: make it a Wasm tool".into()
            }
            (Capability::Brokered(_), _) => "build it for `jp:tool@0.2.0`, or as a module".into(),
            (Capability::Files(rule), _) if Kind::of_path(rule) == Kind::Elsewhere => format!(
                "ask for a path in `/workspace`, for `/app-data`, or for one of {}",
                USER_PATHS.map(|name| format!("`/user/{name}`")).join(", ")
            ),
            (Capability::Files(_) | Capability::Selected(_) | Capability::Env(_), Form::Command) => {
                "ask for paths in `/workspace`: a command sees those, and a fixed environment".into()
            }
            (Capability::Files(_) | Capability::Selected(_), _) => with_files.to_string(),
            (Capability::Env(_) | Capability::Ambient(_), _) => {
                "build it as a component or for WASI preview 1, which have an environment".into()
            }
        }
    }
}

impl fmt::Display for Unbacked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_unknown_call {
            return write!(
                f,
                "it asks for {}, which jp does not offer",
                self.capability
            );
        }
        let (capability, form) = (&self.capability, self.form.name());
        write!(f, "it asks for {capability}, which {form} cannot be given")
    }
}

#[cfg(test)]
#[path = "behind_tests.rs"]
mod tests;

//! The words a tool is described in: actions, arguments and their kinds.

/// A tool that is a core module and works through one capability call.
#[derive(Debug)]
pub struct ModuleTool {
    /// Its name, as configuration and models write it.
    pub name: &'static str,
    /// What it is for, in a few words.
    pub summary: &'static str,
    /// What a model should know to use it.
    pub description: &'static str,
    /// What it can do. A tool of one action needs no `action` argument and names no words for it.
    pub actions: &'static [Action],
}

/// One thing a tool can do.
#[derive(Debug)]
pub struct Action {
    /// What callers write as `action`: its name, then other words for the same.
    pub words: &'static [&'static str],
    /// The capability it calls.
    pub call: &'static str,
    /// What it takes besides `action` and `user_id`.
    pub arguments: &'static [Argument],
    /// Optional arguments of which at least one must be there.
    pub one_of: &'static [&'static str],
}

/// One argument of an action, or one field of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Argument {
    /// Its name.
    pub name: &'static str,
    /// Other names for it; the first that is there counts, and `name` before all of them.
    pub aliases: &'static [&'static str],
    /// What its value must be.
    pub kind: Kind,
    /// Whether it must be there.
    pub need: Need,
    /// What it means, for a model.
    pub meaning: &'static str,
}

/// Whether an argument must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// It must, and a list must not be empty.
    Required,
    /// It may be left out, or be `null`.
    Optional,
}

/// What a value must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A string.
    Text,
    /// One of these strings.
    Word(&'static [&'static str]),
    /// A whole number.
    Integer,
    /// A whole number from the first to the last.
    Between(i64, i64),
    /// A number above 0.
    Positive,
    /// A list of whole numbers.
    Integers,
    /// A string, or a whole number that is passed on as one: an id or a title.
    Reference,
    /// A list of references.
    References,
    /// A list of strings and of objects with these fields; other fields are the host's to judge.
    Entries(&'static [Argument]),
    /// An object.
    Object,
    /// Anything but `null`.
    Json,
}

/// The argument that every action takes. The host knows whose call it is and does not look at it;
/// callers that send it must not fail for it.
pub(crate) const USER_ID: Argument = optional(
    "user_id",
    Kind::Text,
    "Ignored: the host knows whose call it is",
);

/// Makes an argument that must be there.
pub(crate) const fn required(name: &'static str, kind: Kind, meaning: &'static str) -> Argument {
    Argument {
        name,
        aliases: &[],
        kind,
        need: Need::Required,
        meaning,
    }
}

/// Makes an argument that may be left out.
pub(crate) const fn optional(name: &'static str, kind: Kind, meaning: &'static str) -> Argument {
    Argument {
        need: Need::Optional,
        ..required(name, kind, meaning)
    }
}

impl Argument {
    /// Adds other names for it.
    pub(crate) const fn or(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }
}

/// Makes the action of a tool that has no other.
pub(crate) const fn calls(
    call: &'static str,
    one_of: &'static [&'static str],
    arguments: &'static [Argument],
) -> Action {
    Action {
        words: &[],
        call,
        arguments,
        one_of,
    }
}

impl Action {
    /// Names what callers write for it.
    pub(crate) const fn named(self, words: &'static [&'static str]) -> Self {
        Self { words, ..self }
    }
}

impl ModuleTool {
    /// Returns the capabilities it calls: what it is granted when nobody says otherwise.
    pub fn calls(&self) -> impl Iterator<Item = &'static str> {
        self.actions.iter().map(|action| action.call)
    }

    /// Returns the name of its Wasm file without `.wasm`.
    #[must_use]
    pub fn artifact(&self) -> String {
        format!("{}_tool", self.name)
    }

    /// Returns whether callers say which of several actions they want.
    pub(crate) fn has_actions(&self) -> bool {
        self.actions.iter().any(|action| !action.words.is_empty())
    }

    /// Finds an action by any of its words.
    pub(crate) fn action(&self, word: &str) -> Option<&'static Action> {
        self.actions
            .iter()
            .find(|action| action.words.contains(&word))
    }
}

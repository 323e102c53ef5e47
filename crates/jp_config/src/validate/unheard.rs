//! Keys of a tool's entry that its kind of tool takes no notice of. They are refused: a setting that
//! does nothing is worse than none.

use jp_policy::{Capability, Form, unbacked};

use crate::conversation::tool::{FileGrant, GrantConfig, ToolConfig, ToolSource};

/// A key below the tool's entry, and why it cannot stand there.
pub(super) type Wrong = (Vec<String>, String);

/// The builtin that runs scripts.
const BASH: &str = "bash";
/// The builtin that reads topics; it asks the host for nothing.
const LEARN: &str = "learn";
/// The one option of [`BASH`], and its one value.
const SESSION: (&str, &str) = ("session", "kept");

/// The message for a key that only a guest can use.
pub(crate) const GUEST_ONLY: &str = "only a Wasm tool can be given this";

/// Kinds of tools, as far as they differ in what their entries mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A Wasm file of the workspace, named or found by the tool's name.
    Wasm,
    Command,
    Mcp,
    Registry,
    Bash,
    Learn,
    Builtin,
}

impl Kind {
    fn of(name: &str, tool: &ToolConfig) -> Self {
        match &tool.source {
            ToolSource::Local { .. } if tool.command().is_some() => Self::Command,
            ToolSource::Local { .. } => Self::Wasm,
            ToolSource::Mcp { .. } => Self::Mcp,
            ToolSource::Registry { .. } => Self::Registry,
            ToolSource::Builtin { tool } => match tool.as_deref().unwrap_or(name) {
                BASH => Self::Bash,
                LEARN => Self::Learn,
                _ => Self::Builtin,
            },
        }
    }

    const fn is_builtin(self) -> bool {
        matches!(self, Self::Bash | Self::Learn | Self::Builtin)
    }
}

/// Finds the first key of an entry that would have no effect.
pub(super) fn find(name: &str, tool: &ToolConfig) -> Option<Wrong> {
    let kind = Kind::of(name, tool);
    let set = keys(tool).into_iter().filter(|(_, is_set)| *is_set);
    let mut set = set.filter_map(|(key, _)| Some((key, why_not(kind, key)?)));
    if let Some((key, why)) = set.next() {
        let path = key.split('.').map(str::to_owned).collect();
        return Some((path, format!("would have no effect: {why}")));
    }
    option(kind, tool)
        .or_else(|| parameter(tool))
        .or_else(|| grant(kind, tool))
}

/// All keys that some kind of tool takes no notice of, and whether they are set.
fn keys(tool: &ToolConfig) -> [(&'static str, bool); 17] {
    let (grant, limits) = (&tool.grant, &tool.limits);
    let answers = tool
        .questions
        .values()
        .any(|question| question.answer.is_some());
    [
        ("entrypoint", tool.entrypoint.is_some()),
        ("abi", tool.abi.is_some()),
        ("summary", tool.summary.is_some()),
        ("description", tool.description.is_some()),
        ("examples", tool.examples.is_some()),
        ("parameters", !tool.parameters.is_empty()),
        ("options", !tool.options.is_empty()),
        ("questions", answers),
        ("limits.memory", limits.memory.is_some()),
        ("limits.fuel", limits.fuel.is_some()),
        ("grant.workspace", grant.workspace.is_some()),
        ("grant.files", !grant.files.is_empty()),
        ("grant.paths", !grant.paths.is_empty()),
        ("grant.net", grant.net.is_some()),
        ("grant.calls", grant.calls.is_some()),
        ("grant.selected", grant.selected.is_some()),
        ("grant.env", !grant.env.is_empty()),
    ]
}

/// Says why a key means nothing for a kind of tool; nothing if it means something.
fn why_not(kind: Kind, key: &str) -> Option<&'static str> {
    use Kind::{Bash, Builtin, Command, Mcp, Registry, Wasm};
    let (section, rest) = key.split_once('.').unwrap_or((key, ""));
    let heard = match (section, rest) {
        ("entrypoint" | "abi", _) => matches!(kind, Wasm),
        ("summary" | "description" | "examples", _) => kind != Registry,
        ("parameters", _) => matches!(kind, Wasm | Command | Mcp),
        ("options", _) => matches!(kind, Command | Bash),
        ("questions", _) => matches!(kind, Wasm | Command | Registry),
        ("limits", "memory") => kind != Mcp,
        ("limits", "fuel") => !matches!(kind, Mcp | Command),
        ("grant", "workspace" | "files" | "paths") => matches!(kind, Wasm | Command | Bash),
        ("grant", "net") => matches!(kind, Wasm | Command | Bash | Builtin),
        ("grant", "calls") => matches!(kind, Wasm | Builtin),
        _ => matches!(kind, Wasm),
    };
    if heard {
        return None;
    }
    Some(match (section, kind) {
        ("summary" | "description" | "examples" | "parameters" | "grant", Registry) => {
            "the signed manifest of a tool of a registry says this"
        }
        ("entrypoint" | "abi", _) => "only a Wasm module of the workspace has this",
        ("options", _) => "only a command is handed options, and `bash` its `session`",
        ("questions", _) => "only Wasm tools and commands ask questions",
        ("limits", Mcp) => {
            "what a server spends is not the tool's to limit, but for time and output"
        }
        ("limits", _) => "only Wasm tools and `bash` spend fuel",
        ("grant", Mcp) => "what a server may do stands under `[providers.mcp.<server>]`",
        ("parameters", _) => "a builtin brings its own",
        _ if rest == "selected" || rest == "env" => GUEST_ONLY,
        _ if kind.is_builtin() => "a builtin is given what the host prepares for it",
        _ => "a command asks the host for nothing",
    })
}

/// Finds an option of `bash` that there is not.
fn option(kind: Kind, tool: &ToolConfig) -> Option<Wrong> {
    let (key, value) = SESSION;
    let wrong = |(name, set): &(&String, &serde_json::Value)| *name != key || **set != value;
    let (name, _) = tool
        .options
        .iter()
        .find(wrong)
        .filter(|_| kind == Kind::Bash)?;
    let message = format!("would have no effect: `bash` has the one option `{key} = \"{value}\"`");
    Some((vec!["options".to_owned(), name.clone()], message))
}

/// Finds a key of a parameter that its type has no use for.
fn parameter(tool: &ToolConfig) -> Option<Wrong> {
    tool.parameters.iter().find_map(|(name, parameter)| {
        let (path, why) = parameter.unheard()?;
        let start = vec!["parameters".to_owned(), name.clone()];
        Some((
            [start, path].concat(),
            format!("would have no effect: {why}"),
        ))
    })
}

/// Refuses what nothing could give to a tool of this kind, and files that lie nowhere.
fn grant(kind: Kind, tool: &ToolConfig) -> Option<Wrong> {
    let below = |key: &str| vec!["grant".to_owned(), key.to_owned()];
    if let Some(grant) = outside(&tool.grant) {
        let message = format!(
            "`{}` is not in `/workspace`, and nothing else can be granted",
            grant.rule()
        );
        return Some((below("files"), message));
    }
    let form = match kind {
        Kind::Wasm => Form::Wasm,
        Kind::Command => Form::Command,
        _ => return None,
    };
    let found = unbacked(form, &tool.grant.stated(), &|_| true)?;
    let key = match &found.capability {
        Capability::Files(_) => "files",
        Capability::Selected(_) => "selected",
        Capability::Brokered(_) => "calls",
        Capability::Env(_) => "env",
        Capability::Net(_) | Capability::Subprocess | Capability::Ambient(_) => "net",
    };
    Some((below(key), format!("{found}: {}", found.instead())))
}

/// Returns a path of a grant that lies outside of the workspace.
pub(crate) fn outside(grant: &GrantConfig) -> Option<&FileGrant> {
    grant.files.iter().find(|grant| {
        let path = grant.rule().path.as_str();
        path != "/workspace" && !path.starts_with("/workspace/")
    })
}

/// Returns the first key of a grant that only a Wasm tool can make use of.
pub(crate) fn guest_only(grant: &GrantConfig) -> Option<&'static str> {
    if grant.selected.is_some() {
        return Some("selected");
    }
    (!grant.env.is_empty()).then_some("env")
}

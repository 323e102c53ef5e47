//! The text of a requirement, taken apart.

use alloc::{
    format,
    string::{String, ToString},
};

use super::{Condition, RequirementError};
use crate::{
    Access, Ambient, Brokered, BrokeredName, Capabilities, Files, Net,
    declared::{APP_DATA, MCP, USER_PATHS, rule, start_of, user_path},
    nearest::nearest,
};

/// Longer texts are refused.
pub(super) const MAX_TEXT: usize = 512;

/// The names of capabilities that are not brokered, without what may follow them.
const KNOWN: [&str; 10] = [
    "fs.user-selected",
    "fs.app-data",
    "fs.user-paths.documents",
    "net",
    "clocks",
    "random",
    "env",
    "stdio",
    "tool.exec.subprocess",
    "tools.mcp",
];

/// The first words that brokered names cannot have, so that a misspelt `fs.…` is not one of them.
const RESERVED: [&str; 9] = [
    "fs", "net", "clocks", "random", "env", "stdio", "process", "tool", "tools",
];

const ACCESS: &str = "`:read`, `:read-write` or nothing";

/// Takes the capability and the argument of the condition out of a text.
pub(super) fn split(text: &str) -> Result<(&str, Option<&str>), RequirementError> {
    if text.len() > MAX_TEXT {
        return Err(RequirementError::TooLong);
    }
    let text = text.trim();
    // `fs.user-selected (when source is a file path)` is how the first manifests wrote it.
    let prose = text
        .strip_suffix(')')
        .and_then(|text| text.split_once(" (when "));
    let Some((capability, when)) = prose.or_else(|| text.split_once(" when ")) else {
        return Ok((text, None));
    };
    let argument = when
        .strip_suffix(" is a file")
        .or_else(|| when.strip_suffix(" is a file path"));
    let argument = argument.ok_or_else(|| RequirementError::Condition {
        text: start_of(when),
    })?;
    Ok((capability, Some(argument)))
}

/// Reads where an argument is.
pub(super) fn condition(argument: &str) -> Result<Condition, RequirementError> {
    let fail = || RequirementError::Condition {
        text: start_of(argument),
    };
    let plain = |c: char| c.is_alphanumeric() || "_-.$".contains(c);
    if argument.len() > 256 {
        return Err(fail());
    }
    let Some(parts) = argument.strip_prefix('/') else {
        let is_name = !argument.is_empty() && argument.chars().all(plain);
        let argument = format!("/{argument}");
        return is_name.then_some(Condition { argument }).ok_or_else(fail);
    };
    let is_part = |part: &str| {
        let rest = part.replace("~0", "").replace("~1", "");
        !part.is_empty() && rest.chars().all(plain)
    };
    let argument = argument.to_string();
    let is_pointer = parts.split('/').all(is_part);
    is_pointer
        .then_some(Condition { argument })
        .ok_or_else(fail)
}

/// Reads a capability, and returns the one way of writing it too.
pub(super) fn capability(
    text: &str,
    access: Option<Access>,
) -> Result<(Capabilities, String), RequirementError> {
    if text.len() > MAX_TEXT {
        return Err(RequirementError::TooLong);
    }
    let (name, value) = match text.split_once(':') {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    };
    let misfit = |write: &str| RequirementError::Value {
        name: start_of(name),
        value: start_of(value.unwrap_or_else(|| access.map_or("nothing", Access::name))),
        write: write.to_string(),
    };
    if let Some(about) = file_like(name) {
        let written = value.map(|value| Access::named(value).ok_or_else(|| misfit(ACCESS)));
        let access = match (written.transpose()?, access) {
            (Some(_), Some(_)) => return Err(misfit("the access once")),
            (one, other) => one.or(other).unwrap_or(Access::Read),
        };
        return Ok((about(name, access), format!("{name}:{access}")));
    }
    if access.is_some() {
        return Err(misfit("no access: only `fs.` capabilities have one"));
    }
    let mut needs = nothing();
    match (name, value) {
        ("net", None | Some("*")) => needs.net = Net::Any,
        ("net", Some(host)) => {
            let host = host.parse();
            needs.net = Net::hosts([host.map_err(|_| misfit("`net:api.example.com`"))?]);
        }
        ("env", Some(variable)) => {
            let variable = variable.parse();
            needs
                .env
                .insert(variable.map_err(|_| misfit("`env:LANG`"))?);
        }
        ("env", None) => return Err(misfit("`env:LANG`")),
        ("process", _) => return Err(RequirementError::Process),
        (_, None) => plain(name, &mut needs)?,
        (_, Some(_)) if KNOWN.contains(&name) => return Err(misfit("it alone")),
        (_, Some(_)) => return Err(unknown(name)),
    }
    // Two ways of writing "every host" are shown as one.
    let text = if text == "net:*" { "net" } else { text };
    Ok((needs, text.to_string()))
}

/// Reads a capability that has nothing after its name.
fn plain(name: &str, needs: &mut Capabilities) -> Result<(), RequirementError> {
    match name {
        "clocks" => needs.ambient.clocks = true,
        "random" => needs.ambient.random = true,
        "stdio" => needs.ambient.stdio = true,
        "tool.exec.subprocess" => needs.subprocess = true,
        "tools.mcp" => needs.brokered = Brokered::new(MCP.parse()),
        _ => {
            let first = name.split('.').next().unwrap_or_default();
            let brokered: Result<BrokeredName, _> = name.parse();
            let brokered = brokered.ok().filter(|_| !RESERVED.contains(&first));
            needs.brokered = Brokered::new([brokered.ok_or_else(|| unknown(name))?]);
        }
    }
    Ok(())
}

/// Returns how a capability that has an access is made.
fn file_like(name: &str) -> Option<fn(&str, Access) -> Capabilities> {
    match name {
        "fs.user-selected" => Some(|_, access| Capabilities {
            selected: Some(access),
            ..nothing()
        }),
        "fs.app-data" => Some(|_, access| below(APP_DATA, access)),
        _ => {
            user_path(name.strip_prefix("fs.user-paths.")?)?;
            Some(|name, access| {
                let name = name.strip_prefix("fs.user-paths.").unwrap_or_default();
                below(&user_path(name).unwrap_or_default(), access)
            })
        }
    }
}

fn below(path: &str, access: Access) -> Capabilities {
    Capabilities {
        files: Files::new(rule(path, access)),
        ..nothing()
    }
}

/// Nothing at all: a requirement for files says nothing about clocks.
fn nothing() -> Capabilities {
    Capabilities {
        ambient: Ambient::NONE,
        ..Capabilities::default()
    }
}

fn unknown(name: &str) -> RequirementError {
    let directories = USER_PATHS.map(|directory| format!("fs.user-paths.{directory}"));
    let known = KNOWN
        .into_iter()
        .chain(directories.iter().map(String::as_str));
    let hint = match nearest(name, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!(
            "known are {}, and the names of what the host does, such as `clock.now_unix`",
            KNOWN.join(", ")
        ),
    };
    let name = start_of(name);
    RequirementError::Unknown { name, hint }
}

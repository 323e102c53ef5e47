//! The files that tools of the workspace are in: Wasm files are read, compiled and compared with what the
//! user trusted, and the programs of commands are looked for. Nothing is run.

use std::path::Path;

use jp_config::{
    Layer,
    tool::{CommandConfig, ToolConfig},
};
use jp_llm::{ToolDefinition, Trust};

use super::finding::{Family, Finding, Severity, aside, word};
use crate::{commands, session::Session};

/// Where the programs of commands are looked up, as in a call.
const PATH: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];

/// Looks at the files of a tool that its configuration can make.
pub(super) fn check(session: &Session, tool: &ToolDefinition) -> Option<Finding> {
    if !tool.is_enabled() {
        return None;
    }
    let configured = session
        .loaded()
        .config
        .conversation
        .tools
        .tools
        .get(&tool.name);
    if let Some(path) = &tool.wasm {
        return wasm(session, tool, configured, path);
    }
    let command = configured.and_then(ToolConfig::command)?;
    program(session, tool, command)
}

/// Looks at a Wasm file as a call would: whether it is there, is a tool, and is the one that was trusted.
fn wasm(
    session: &Session,
    tool: &ToolDefinition,
    configured: Option<&ToolConfig>,
    path: &str,
) -> Option<Finding> {
    let root = &session.location().root;
    let finding = |severity, problem: String, fix: String| Finding {
        family: Family::Tools,
        severity,
        subject: tool.name.clone(),
        problem,
        fix,
    };
    let name = &tool.name;
    let replace = match configured {
        Some(_) => format!(
            "{}; then build or copy the tool to {path} again",
            disable(name)
        ),
        // Nothing names it but its own file.
        None => aside(&[&root.join(path)]),
    };
    let real = match jp_config::resolve_wasm(root, path.as_ref()) {
        Ok(real) if real.is_file() => real,
        Ok(_) => {
            let problem = format!("`{path}` is not a file");
            return Some(finding(Severity::Error, problem, absent(name, path)));
        }
        Err(error) => {
            let problem = format!("its Wasm file cannot be used: {error}");
            return Some(finding(Severity::Error, problem, absent(name, path)));
        }
    };
    if let Some(problem) = commands::wasm::problem_of(&real, session) {
        let problem = format!("`{path}` is not a tool: {problem}");
        return Some(finding(Severity::Error, problem, replace));
    }
    let problem = unlike_trusted(session, tool, path, &real)?;
    let fix = format!("jp tool check {} && jp trust", word(path));
    Some(finding(Severity::Warning, problem, fix))
}

/// Says that a file is not the one the user trusted, if the workspace is trusted at all.
fn unlike_trusted(
    session: &Session,
    tool: &ToolDefinition,
    path: &str,
    real: &Path,
) -> Option<String> {
    let Trust::Trusted { pins } = session.host().trust() else {
        return None;
    };
    // What nobody configured gets nothing that trust gives, and the user's own entry needs none.
    let named = &session.loaded().config.conversation.tools.tools;
    if tool.defined_by != Layer::Workspace || !named.contains_key(&tool.name) {
        return None;
    }
    match (pins.get(path), jp_llm::sha256_file(real)) {
        (None, _) => Some(format!(
            "`{path}` did not exist when you trusted this workspace"
        )),
        (Some(pin), Ok(found)) if *pin == found => None,
        (Some(_), Ok(_)) => Some(format!(
            "`{path}` has changed since you trusted this workspace"
        )),
        (Some(_), Err(error)) => Some(format!("`{path}` cannot be read: {error}")),
    }
}

/// Looks for the program of a command. A script is the shell's, and what arguments decide is not known
/// before a call.
fn program(session: &Session, tool: &ToolDefinition, command: &CommandConfig) -> Option<Finding> {
    let wanted = command.program.as_str();
    if command.shell || wanted.contains("{{") || wanted.contains("{%") {
        return None;
    }
    let is_there = match wanted.contains('/') {
        true => session.location().root.join(wanted).is_file(),
        false => PATH.iter().any(|dir| Path::new(dir).join(wanted).is_file()),
    };
    (!is_there).then(|| Finding {
        family: Family::Tools,
        severity: Severity::Error,
        subject: tool.name.clone(),
        problem: match wanted.contains('/') {
            true => format!("its command `{wanted}` does not exist"),
            false => format!("its program `{wanted}` is not in {}", PATH.join(", ")),
        },
        fix: format!(
            "{}; then install `{wanted}`, or correct `command`",
            disable(&tool.name)
        ),
    })
}

/// Names the line for a file that is not there.
fn absent(name: &str, path: &str) -> String {
    format!("build or copy the tool to {path}, or correct `wasm` in [conversation.tools.{name}]")
}

/// Writes the command that takes a tool out of use, which can be typed at once.
fn disable(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    let key = match name.chars().all(plain) {
        true => name.to_owned(),
        false => format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\"")),
    };
    let assignment = format!("conversation.tools.{key}.enable=false");
    format!("`jp config set {}`", word(&assignment))
}

//! Parts that could not be looked at: why, and the command that lets the doctor look again.

use std::path::Path;

use jp_config::{ConfigError, Origin};
use jp_llm::TrustError;

use super::finding::{Family, Finding, Severity, quoted};
use crate::{error::CliError, places};

/// Makes the finding for a part that could not be checked.
pub(super) fn failed(what: &str, error: &CliError) -> Finding {
    Finding {
        family: Family::Workspace,
        severity: Severity::Error,
        subject: what.to_owned(),
        problem: error.to_string(),
        fix: error.hint().unwrap_or_else(|| fix(error)),
    }
}

/// Returns the command for an error that has no hint of its own.
fn fix(error: &CliError) -> String {
    match error {
        CliError::Config(error) => of_config(error),
        CliError::Policy { .. } => match places::own().config_dir() {
            Some(dir) => edit(&dir.join("config.toml"), None),
            None => "jp config set --user KEY=VALUE".to_owned(),
        },
        // Nothing is trusted afterwards, until somebody has looked again.
        CliError::Trust(TrustError::Damaged { path, .. }) => format!("rm {}", quoted(path)),
        CliError::Trust(TrustError::Io { path, .. }) => {
            format!("chmod u+rw {}", quoted(path))
        }
        CliError::NoHome { variable, .. } => format!("export {variable}=DIR"),
        CliError::Usage { .. }
        | CliError::Tool(_)
        | CliError::Audit(_)
        | CliError::Server(_)
        | CliError::Broker { .. }
        | CliError::Registry { .. }
        | CliError::Apply { .. }
        | CliError::System { .. } => "fix what the message names, then: jp doctor".to_owned(),
    }
}

fn of_config(error: &ConfigError) -> String {
    let place = error.place.as_ref();
    match place.map(|place| &place.origin) {
        Some(Origin::File(path)) => edit(path, place.and_then(|place| place.line)),
        Some(Origin::Environment(name)) => format!("unset {name}"),
        Some(Origin::Setting(text)) => format!("jp config set {text}"),
        Some(Origin::Assignment(text)) => format!("jp doctor, without `--cfg {text}`"),
        None => "jp config set KEY=VALUE, or jp config set --user KEY=VALUE".to_owned(),
    }
}

/// Opens an editor where something is wrong.
fn edit(path: &Path, line: Option<usize>) -> String {
    let line = line.map_or_else(String::new, |line| format!("+{line} "));
    format!("${{EDITOR:-vi}} {line}{}", quoted(path))
}

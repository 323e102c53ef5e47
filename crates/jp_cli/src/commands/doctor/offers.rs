//! What registries say about the tools of `jp.lock`: revoked, deprecated, outdated. Asks each one about
//! its own tools, so that one that is silent hides nothing of the others.

use std::collections::BTreeMap;

use jp_config::{Loaded, RegistryPlace};
use jp_registry::{InstallError, Installer, Lock, LockedTool, Mode, Outdated, Warning};
use tokio_util::sync::CancellationToken;

use super::{
    Asking,
    finding::{Family, Finding, Severity},
    locked::{finding, revoked_because},
    system,
};
use crate::{
    error::CliError,
    registry::{self, Accept},
    session::Session,
    ui::Ui,
};

/// Asks the registries of the locked tools, or looks at what they last said.
pub(super) fn check(
    session: &Session,
    lock: &Lock,
    asking: Asking,
    cancel: &CancellationToken,
    ui: &Ui,
) -> Result<Vec<Finding>, CliError> {
    if lock.tools().len() == 0 {
        return Ok(Vec::new());
    }
    let installer = |mode| registry::installer(session, mode, Accept::Ask, cancel, ui);
    // Nothing may change here: a key that hands over is not followed, and nobody is asked.
    let online = match asking {
        Asking::Registries => Some(installer(Mode::Locked)?),
        Asking::Nobody => None,
    };
    let offline = installer(Mode::Offline)?;
    let loaded = session.loaded();
    let mut of: BTreeMap<&str, Vec<&LockedTool>> = BTreeMap::new();
    for tool in lock.tools() {
        of.entry(&tool.registry).or_default().push(tool);
    }
    let mut findings = Vec::new();
    for (registry, tools) in of {
        if let Some(online) = &online {
            match ask(online, &tools, loaded) {
                Ok(found) => {
                    findings.extend(found);
                    continue;
                }
                Err(error) => findings.push(silent(registry, &error, loaded)),
            }
        }
        match ask(&offline, &tools, loaded) {
            Ok(found) => findings.extend(found),
            // Said once is enough.
            Err(_) if online.is_some() => {}
            Err(error) => findings.push(silent(registry, &error, loaded)),
        }
    }
    Ok(findings)
}

fn ask(
    installer: &Installer<'_>,
    tools: &[&LockedTool],
    loaded: &Loaded,
) -> Result<Vec<Finding>, InstallError> {
    let (outdated, warnings) = installer.outdated(Some(tools))?;
    let mut findings: Vec<Finding> = outdated.iter().filter_map(found).collect();
    for warning in warnings {
        let subject = match &warning {
            Warning::Unreachable { registry, .. }
            | Warning::Stale { registry, .. }
            | Warning::Statement { registry, .. } => {
                format!("registry {registry}")
            }
            _ => "registries".to_owned(),
        };
        let fix = match &warning {
            Warning::Unreachable { registry, .. } => elsewhere(registry, loaded),
            // Nothing has changed here because of it.
            _ => "tell the operator of the registry; then: jp doctor".to_owned(),
        };
        findings.push(Finding {
            family: Family::Tools,
            severity: Severity::Warning,
            subject,
            problem: warning.to_string(),
            fix: warning.hint().unwrap_or(fix),
        });
    }
    Ok(findings)
}

/// Makes the finding for a tool that needs attention. One that does not fit is reported with the
/// lock file.
fn found(one: &Outdated) -> Option<Finding> {
    let name = &one.tool.name;
    let update = || format!("jp tool update {name}");
    let remove = || format!("jp tool remove {name}");
    let newer = one.newer.as_ref();
    let (severity, problem, fix) = match (&one.revoked, &one.deprecated, newer) {
        (Some(reason), _, newer) => {
            let fix = if newer.is_some() { update() } else { remove() };
            (Severity::Error, revoked_because(reason), fix)
        }
        (None, Some(reason), newer) => {
            let fix = if newer.is_some() { update() } else { remove() };
            (
                Severity::Warning,
                format!("it is deprecated: {reason}"),
                fix,
            )
        }
        (None, None, Some(newer)) if one.fits => (
            Severity::Warning,
            format!("it is outdated: there is {newer}"),
            update(),
        ),
        (None, None, _) => return None,
    };
    Some(finding(&one.tool, severity, problem, fix))
}

/// Makes the finding of a registry that could not be asked, or whose answer is refused.
fn silent(registry: &str, error: &InstallError, loaded: &Loaded) -> Finding {
    if let InstallError::Future { .. } = error {
        return system::wrong_clock(error.to_string());
    }
    let unreachable = matches!(error, InstallError::Fetch(error) if error.is_unreachable());
    let hinted = || {
        let hint = error.hint();
        hint.unwrap_or_else(|| elsewhere(registry, loaded))
    };
    let (severity, fix) = match error {
        InstallError::UnknownRegistry { name } => (
            Severity::Error,
            format!(
                "jp config set --user 'registries.{name}:={{\"url\": \"URL\", \"key\": \"PUBLIC-KEY\"}}'"
            ),
        ),
        _ if unreachable => (Severity::Warning, hinted()),
        // Its answer is refused, which does not happen by accident.
        _ => (Severity::Error, hinted()),
    };
    Finding {
        family: Family::Tools,
        severity,
        subject: format!("registry {registry}"),
        problem: error.to_string(),
        fix,
    }
}

/// Names the command for a registry that is not where the configuration says.
fn elsewhere(registry: &str, loaded: &Loaded) -> String {
    let place = loaded.config.registries.get(registry);
    let key = match place.map(|registry| &registry.place) {
        Some(RegistryPlace::Dir(_)) => "dir=DIR",
        Some(RegistryPlace::Oci(_)) => "oci=PLACE",
        Some(RegistryPlace::Url(_)) | None => "url=URL",
    };
    format!("jp doctor, later; if it has moved: jp config set --user registries.{registry}.{key}")
}

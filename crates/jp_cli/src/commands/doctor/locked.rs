//! The tools of `jp.lock`: whether they may be used, could run, and are intact.

use std::collections::BTreeSet;

use jp_config::ToolingConfig;
use jp_llm::{
    ToolDefinition, ToolError,
    tool::{Cause, Refused},
};
use jp_policy::could_be_satisfied;
use jp_registry::{Known, Lock, LockedTool, Receipts, Store, VerifyError, Warning};

use super::{
    definitions,
    finding::{Family, Finding, Severity},
};
use crate::{error::CliError, registry, session::Session, text};

/// What this machine knows about the tools of a workspace.
pub(super) struct Locked<'a> {
    pub(super) session: &'a Session,
    pub(super) lock: Lock,
    receipts: Receipts,
    known: Known,
    store: Store,
}

impl<'a> Locked<'a> {
    /// Reads what is known, without asking anybody.
    pub(super) fn open(session: &'a Session) -> Result<Self, CliError> {
        let places = registry::places(session)?;
        Ok(Self {
            session,
            lock: Lock::open(&places.lock).map_err(CliError::install)?,
            receipts: Receipts::open(&places.receipts()).map_err(CliError::install)?,
            known: places.known().map_err(CliError::install)?,
            store: registry::store()?,
        })
    }

    /// Looks at each tool; what was revoked is for [`Self::revoked`].
    pub(super) fn check(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for tool in self.lock.tools() {
            match self.unfit(tool).or_else(|| self.standing(tool)) {
                Some(finding) => findings.push(finding),
                None => self.could_run(tool, &mut findings),
            }
            self.bytes(tool, &mut findings);
        }
        findings.extend(self.unlocked());
        findings.extend(self.unnamed());
        findings.extend(self.registries());
        findings
    }

    /// Returns what is known to be revoked, except what was reported already: a registry that was asked
    /// knows whether there is another version.
    pub(super) fn revoked(&self, told: &[Finding]) -> Vec<Finding> {
        let mut findings = Vec::new();
        for tool in self.lock.tools() {
            let (roots, revoked) = (&self.known.roots, &self.known.revoked);
            let valid = self.receipts.valid(tool, roots, revoked);
            let Err(VerifyError::Revoked { reason, .. }) = valid else {
                continue;
            };
            let fix = format!("jp tool update {0} || jp tool remove {0}", tool.name);
            let found = finding(tool, Severity::Error, revoked_because(&reason), fix);
            // The reason is a stranger's, and may have been escaped in another way.
            let because = revoked_because("");
            let same =
                |one: &Finding| one.subject == found.subject && one.problem.starts_with(&because);
            if !told.iter().any(same) {
                findings.push(found);
            }
        }
        findings
    }

    /// Says that a tool is locked in another way than the workspace asks for it.
    fn unfit(&self, tool: &LockedTool) -> Option<Finding> {
        let spec = registry::wanted_as(tool.name.as_str(), self.session.loaded())?;
        if spec.fits(tool) {
            return None;
        }
        let of = spec.registry.as_ref();
        let of = of.map_or_else(String::new, |of| format!(" of registry `{of}`"));
        let problem = format!(
            "`[tooling]` asks for `{spec}`{of}, and `jp.lock` has `{}` {} of registry `{}`",
            tool.id, tool.version, tool.registry
        );
        let fix = "jp tool lock".to_owned();
        Some(finding(tool, Severity::Error, problem, fix))
    }

    /// Says why a tool may not be used as it is locked.
    fn standing(&self, tool: &LockedTool) -> Option<Finding> {
        let (roots, revoked) = (&self.known.roots, &self.known.revoked);
        let problem = self.receipts.valid(tool, roots, revoked).err()?;
        let name = &tool.name;
        let (problem, fix) = match problem {
            VerifyError::NeverVerified { .. } => (
                "it was not verified on this machine: its signature was never checked here"
                    .to_owned(),
                "jp tool install --locked".to_owned(),
            ),
            VerifyError::LockDiffers { field, .. } => (
                format!("the {field} in `jp.lock` differs from the one that was verified"),
                format!(
                    "jp tool remove {name} && jp tool install {name}={}@{}",
                    tool.id, tool.version
                ),
            ),
            VerifyError::NotTrusted { key, .. } => (
                format!(
                    "the key {key} that signed it is no longer trusted for `{}`",
                    tool.id
                ),
                format!(
                    "{}   (or: jp tool remove {name})",
                    self.trust_command(&key.to_string(), tool.id.as_str())
                ),
            ),
            // Whether another version is there, only the registry knows.
            _ => return None,
        };
        Some(finding(tool, Severity::Error, problem, fix))
    }

    /// Returns the command that trusts a key for a tool; with the key itself, if it is known here.
    pub(super) fn trust_command(&self, id: &str, tool: &str) -> String {
        let mut known = self.known.roots.publishers();
        let known = known.find(|(known, _)| known.to_string() == id);
        match known {
            Some((_, publisher)) => format!("jp trust key {} --for {tool}", publisher.key),
            None => format!("jp trust key PUBLIC-KEY --for {tool}"),
        }
    }

    fn could_run(&self, tool: &LockedTool, findings: &mut Vec<Finding>) {
        let (loaded, host) = (self.session.loaded(), self.session.host());
        let revoked = self
            .receipts
            .valid(tool, &self.known.roots, &self.known.revoked);
        if revoked.is_err() {
            return;
        }
        let made = ToolDefinition::new(tool.name.as_str(), loaded, host);
        let made = made.and_then(|made| made.preview(host).map(|_| made));
        let made = match made {
            Ok(made) => made,
            Err(error) => {
                let fix = if self.is_as_named(tool) {
                    definitions::fix(tool.name.as_str(), &error, self)
                } else {
                    "jp tool lock".to_owned()
                };
                let severity = severity_of(&error);
                findings.push(finding(tool, severity, error.to_string(), fix));
                return;
            }
        };
        let partly = could_be_satisfied(host.policy(), &self.session.app_policy(), &made.request);
        for unsatisfied in partly.unwrap_or_default() {
            let warning = Warning::Partly {
                unsatisfied: Box::new(unsatisfied),
            };
            let fix = warning
                .hint()
                .unwrap_or_else(|| format!("jp tool show {}", tool.name));
            findings.push(finding(tool, Severity::Note, warning.to_string(), fix));
        }
    }

    /// Returns whether a locked tool is the one that `[tooling]` names, if it names one.
    fn is_as_named(&self, tool: &LockedTool) -> bool {
        let named = self.session.loaded().config.tooling.get(tool.name.as_str());
        let Some(ToolingConfig::Registry(named)) = named else {
            return true;
        };
        let id = named.id.as_deref().unwrap_or(tool.name.as_str());
        let registry = named.registry.as_ref();
        id == tool.id.as_str()
            && named.version.matches(&tool.version)
            && registry.is_none_or(|registry| *registry == tool.registry)
    }

    /// Hashes what the store has of a tool.
    fn bytes(&self, tool: &LockedTool, findings: &mut Vec<Finding>) {
        let models = tool.models.iter();
        let models = models.map(|model| {
            (
                format!("its model `{}`", model.id),
                &model.sha256,
                Severity::Warning,
            )
        });
        // A missing artifact is fetched at the first call; a missing model is not.
        let all = models.chain([("its artifact".to_owned(), &tool.sha256, Severity::Note)]);
        for (what, sha256, missing) in all {
            let was_there = self.store.contains(sha256);
            let (severity, problem) = match self.store.find(sha256) {
                Ok(Some(_)) => continue,
                Ok(None) if was_there => {
                    let problem =
                        format!("{what} was damaged in the store, and has been removed from it");
                    (Severity::Error, problem)
                }
                Ok(None) => (missing, format!("{what} is not on this machine")),
                Err(error) => (Severity::Error, format!("{what} cannot be read: {error}")),
            };
            let fix = "jp tool install --locked".to_owned();
            findings.push(finding(tool, severity, problem, fix));
        }
    }

    /// Finds what the workspace names and the lock file does not have, or not as it is named.
    fn unlocked(&self) -> Vec<Finding> {
        let tooling = self.session.loaded().config.tooling.iter();
        let builtins = registry::builtins();
        let missing = tooling.filter(|(name, tool)| {
            matches!(tool, ToolingConfig::Registry(_))
                && self.lock.get(name).is_none()
                // Locking would not help: the name cannot be had.
                && !builtins.contains(*name)
        });
        missing
            .map(|(name, _)| Finding {
                family: Family::Tools,
                severity: Severity::Error,
                subject: name.clone(),
                problem: "`[tooling]` names it, but `jp.lock` does not have it".to_owned(),
                fix: "jp tool lock".to_owned(),
            })
            .collect()
    }

    /// Finds what the lock file has and a workspace that names its tools does not name.
    fn unnamed(&self) -> Vec<Finding> {
        let config = &self.session.loaded().config;
        if config.tooling.is_empty() {
            return Vec::new();
        }
        let named: BTreeSet<&str> = config
            .tooling
            .keys()
            .chain(config.conversation.tools.tools.keys())
            .map(String::as_str)
            .collect();
        let rest = self
            .lock
            .tools()
            .filter(|tool| !named.contains(tool.name.as_str()));
        rest.map(|tool| {
            let problem = "`jp.lock` has it, but `[tooling]` does not name it".to_owned();
            let fix = format!("jp tool remove {}", tool.name);
            finding(tool, Severity::Note, problem, fix)
        })
        .collect()
    }

    /// Finds registries whose index nobody could verify.
    fn registries(&self) -> Vec<Finding> {
        let registries = self.session.loaded().config.registries.iter();
        let unknown = registries.filter(|(name, registry)| {
            registry.key.is_none() && self.known.roots.registry(name).is_none()
        });
        unknown
            .map(|(name, _)| Finding {
                family: Family::Tools,
                severity: Severity::Warning,
                subject: format!("registry {name}"),
                problem: "its key is unknown, so nothing it says is accepted".to_owned(),
                fix: format!("jp trust key PUBLIC-KEY --registry {name}"),
            })
            .collect()
    }
}

/// Says that a tool was taken back.
pub(super) fn revoked_because(reason: &str) -> String {
    format!("it was revoked: {reason}")
}

/// A workspace that nobody trusts yet is refused things on purpose.
pub(super) const fn severity_of(error: &ToolError) -> Severity {
    match error.cause() {
        Cause::Refused(Refused::Denied {
            untrusted: true, ..
        }) => Severity::Note,
        _ => Severity::Error,
    }
}

/// Makes a finding about a locked tool.
pub(super) fn finding(
    tool: &LockedTool,
    severity: Severity,
    problem: String,
    fix: String,
) -> Finding {
    Finding {
        family: Family::Tools,
        severity,
        subject: format!("{} {}", tool.name, tool.version),
        problem: text::one_line(&problem),
        fix,
    }
}

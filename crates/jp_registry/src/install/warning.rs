//! What a person should know about a tool that is installed all the same.

use std::fmt;

use jp_policy::{Net, Unsatisfied};
use semver::Version;

use crate::{ToolId, manifest::ToolManifest};

/// Something to know about a tool.
#[derive(Debug, Clone, PartialEq)]
pub enum Warning {
    /// It should not be used any more.
    Deprecated {
        /// The tool.
        id: ToolId,
        /// The version.
        version: Version,
        /// Why, as a stranger says it.
        reason: String,
        /// What to use instead.
        replaced_by: Option<String>,
    },
    /// Its name reads like another one.
    LookAlike {
        /// The name.
        name: ToolId,
        /// The other one.
        like: String,
    },
    /// Some of its calls will be refused.
    Partly {
        /// Which ones, and why.
        unsatisfied: Box<Unsatisfied>,
    },
    /// It can reach every host.
    AnyHost {
        /// The tool.
        id: ToolId,
    },
    /// The version is lower than the one before.
    Downgrade {
        /// The tool.
        id: ToolId,
        /// What was there.
        from: Version,
        /// What is there now.
        to: Version,
    },
    /// A registry could not be reached; what was known of it is used.
    Unreachable {
        /// Which one.
        registry: String,
        /// Why.
        reason: String,
    },
    /// A list of a registry is older than it should be: newer ones may be held back.
    Stale {
        /// Which one.
        registry: String,
        /// Which list.
        list: String,
        /// How many days ago it was made.
        days: u64,
    },
    /// A registry passed on an invalid statement about a key.
    Statement {
        /// Which one.
        registry: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl Warning {
    /// Says what to do about it, where there is something.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Deprecated { replaced_by, .. } => {
                let other = replaced_by.as_ref()?;
                Some(format!("use `{}` instead", jp_text::escape_line(other)))
            }
            Self::Partly { unsatisfied } => unsatisfied.denied.fix(),
            Self::Stale { registry, .. } => Some(format!(
                "ask the operator of `{registry}` through another channel whether there is anything \
                 new; `jp registry renew` signs it again"
            )),
            _ => None,
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deprecated {
                id,
                version,
                reason,
                ..
            } => {
                let reason = jp_text::escape_line(reason);
                write!(f, "`{id}` {version} is deprecated: {reason}")
            }
            Self::LookAlike { name, like } => {
                let like = jp_text::escape_line(like);
                write!(
                    f,
                    "`{name}` reads like `{like}`: make sure it is the one you mean"
                )
            }
            Self::Partly { unsatisfied } => {
                let (what, denied) = (&unsatisfied.requirement.text, &unsatisfied.denied);
                write!(
                    f,
                    "calls that need {} will be refused: {denied}",
                    jp_text::escape_line(what)
                )
            }
            Self::AnyHost { id } => write!(f, "`{id}` can reach every host (net: true)"),
            Self::Downgrade { id, from, to } => {
                write!(f, "`{id}` goes back from {from} to {to}")
            }
            Self::Unreachable { registry, reason } => {
                let reason = jp_text::escape_line(reason);
                write!(
                    f,
                    "`{registry}` could not be reached, so what was known before is used: {reason}"
                )
            }
            Self::Stale {
                registry,
                list,
                days,
            } => write!(
                f,
                "the {list} of `{registry}` is {days} days old: newer ones may be held back"
            ),
            Self::Statement { registry, reason } => {
                let reason = jp_text::escape_line(reason);
                write!(
                    f,
                    "`{registry}` passed on an invalid statement about a key: {reason}"
                )
            }
        }
    }
}

/// Returns the warnings about what a tool asks for.
pub(super) fn of_request(tool: &ToolManifest) -> Vec<Warning> {
    let request = tool.request();
    let when = request.conditional.iter().map(|more| &more.needs);
    let all: Vec<_> = when.chain([&request.capabilities]).collect();
    let any = all.iter().any(|set| set.net == Net::Any);
    let warning = any.then(|| Warning::AnyHost {
        id: tool.id.clone(),
    });
    warning.into_iter().collect()
}

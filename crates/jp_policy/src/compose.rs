//! Composition: host policy ∩ app ∩ tool request = grant. The only place a [`Grant`] is made.

use alloc::{borrow::Cow, string::String, vec::Vec};

use crate::{
    Access, Capabilities, Capability, Ceilings, FileRule, Files, GuestPath, LimitError, Limits,
    LimitsRequest, Requirement,
};

/// What a host or an app allows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Policy {
    /// What may be done.
    pub capabilities: Capabilities,
    /// How much of it, at most.
    pub ceilings: Ceilings,
}

impl Policy {
    /// Returns what both allow.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Self {
        Self {
            capabilities: self.capabilities.intersect(&other.capabilities),
            ceilings: self.ceilings.intersect(&other.ceilings),
        }
    }
}

/// What a tool says it needs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Request {
    /// What it must be able to do.
    pub capabilities: Capabilities,
    /// What it must be able to do as well when an argument is a chosen file.
    pub conditional: Vec<Requirement>,
    /// How much of it.
    pub limits: LimitsRequest,
    /// The fuel it gets when it asks for none; `None` leaves its work to the time limit.
    pub default_fuel: Option<u64>,
}

/// A file that a person or an app has chosen as an argument of one call.
///
/// The first of a call lies below `/in/0` for the guest, the second below `/in/1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// Which argument, as a JSON pointer: `/source`.
    pub argument: String,
    /// What the tool may do with it.
    pub access: Access,
}

/// A conditional requirement that could not be met if its condition held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsatisfied {
    /// What would be needed.
    pub requirement: Requirement,
    /// Why it could not be had.
    pub denied: Denied,
}

/// What one call really gets. Only [`compose`] and [`compose_call`] make one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    capabilities: Capabilities,
    limits: Limits,
}

impl Grant {
    /// Adds a chosen file, which the grant allows: it has the access to chosen files.
    fn add(&mut self, number: usize, file: &Chosen) -> Result<(), Denied> {
        let files = &mut self.capabilities.files;
        let path = Chosen::place(number);
        // The widest rule counts: a rule of the tool's own, above the file or in it, could make
        // writable what was chosen for reading.
        let meets = |rule: &FileRule| path.is_within(&rule.path) || rule.path.is_within(&path);
        if files.rules().iter().any(meets) {
            return Err(Denied::Covered { path });
        }
        let access = file.access;
        let rules = files.rules().iter().cloned();
        *files = Files::new(rules.chain([FileRule { path, access }]));
        Ok(())
    }

    /// Returns what the call may do.
    #[must_use]
    pub const fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// Returns how much the call may use.
    #[must_use]
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }
}

/// Why no grant was made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// The user's own policy does not allow what the tool needs.
    #[error("it needs {capability}, which your policy does not allow")]
    ByHost {
        /// What is missing.
        capability: Capability,
    },
    /// The workspace or app does not allow what the tool needs.
    #[error("it needs {capability}, which this workspace may not use")]
    ByApp {
        /// What is missing.
        capability: Capability,
    },
    /// A file was chosen for a tool that does not ask for such files.
    #[error(
        "a file was chosen for `{}`, and the tool does not ask for {capability}",
        jp_text::inline(argument)
    )]
    ByTool {
        /// The argument, as a JSON pointer.
        argument: String,
        /// What the tool would have to ask for.
        capability: Capability,
    },
    /// The tool's own files are where a chosen file would be.
    #[error("its files cover {path}, which is kept for chosen files")]
    Covered {
        /// Where the chosen file would be.
        path: GuestPath,
    },
    /// The tool asks for limits that cannot be had.
    #[error("its limits are refused: {source}")]
    Limits {
        /// Which limit and why.
        source: LimitError,
    },
}

impl Denied {
    /// Returns the line that would allow it, when a line would help: for [`Denied::ByHost`] it
    /// belongs in the user's policy, for [`Denied::ByApp`] in what the workspace or app asks for.
    #[must_use]
    pub fn setting(&self) -> Option<String> {
        match self {
            Self::ByHost { capability } | Self::ByApp { capability } => Some(capability.setting()),
            Self::ByTool { .. } | Self::Covered { .. } | Self::Limits { .. } => None,
        }
    }

    /// Says which line to add where, when a line would help.
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        let (line, place) = match self {
            Self::ByHost { capability } => {
                (capability.setting(), "`[policy]` in your own configuration")
            }
            Self::ByApp { capability } => (
                capability.declaration(),
                "`[capabilities]` of the workspace",
            ),
            Self::ByTool { .. } | Self::Covered { .. } | Self::Limits { .. } => return None,
        };
        Some(alloc::format!("add `{line}` under {place}"))
    }
}

impl Chosen {
    /// Returns where the chosen file of that number lies for the guest.
    #[must_use]
    pub fn place(number: usize) -> GuestPath {
        GuestPath::chosen(number)
    }
}

/// Composes the grant of a call: what the host, the app and the tool's request have in common.
/// Requirements under a condition are left out; see [`compose_call`].
///
/// # Errors
///
/// When the tool needs something the host or the app does not allow, or limits above a ceiling. A
/// tool never runs with less than it asked for: it would fail half-way, for a reason it cannot name.
pub fn compose(host: &Policy, app: &Policy, tool: &Request) -> Result<Grant, Denied> {
    compose_call(host, app, tool, &[])
}

/// Composes the grant of a call with chosen files: [`compose`], and what the tool needs when these
/// arguments are files, and the files themselves below `/in`.
///
/// # Errors
///
/// When [`compose`] would refuse, when something needed for a file is not allowed, and when the
/// tool does not ask for chosen files (`fs.user-selected`) with the access of one.
pub fn compose_call(
    host: &Policy,
    app: &Policy,
    tool: &Request,
    chosen: &[Chosen],
) -> Result<Grant, Denied> {
    let holds = |requirement: &&Requirement| {
        let when = requirement.when.as_ref();
        when.is_none_or(|when| chosen.iter().any(|file| when.holds_for(&file.argument)))
    };
    let active = tool.conditional.iter().filter(holds);
    let wanted = active.fold(Cow::Borrowed(&tool.capabilities), |sum, more| {
        Cow::Owned(sum.union(&more.needs))
    });
    if let Some(file) = chosen
        .iter()
        .find(|file| wanted.selected < Some(file.access))
    {
        return Err(Denied::ByTool {
            argument: jp_text::shorten(&file.argument, 80).into_owned(),
            capability: Capability::Selected(file.access),
        });
    }
    let mut grant = grant(host, app, tool, &wanted)?;
    for (number, file) in chosen.iter().enumerate() {
        grant.add(number, file)?;
    }
    Ok(grant)
}

/// Returns whether a tool could ever run, and which of its conditional requirements could not be met.
///
/// # Errors
///
/// When something that it always needs is missing.
pub fn could_be_satisfied(
    host: &Policy,
    app: &Policy,
    tool: &Request,
) -> Result<Vec<Unsatisfied>, Denied> {
    compose(host, app, tool)?;
    let conditional = tool.conditional.iter().filter(|more| more.when.is_some());
    let unsatisfied = conditional.filter_map(|requirement| {
        let denied = lacking(host, app, &requirement.needs).err()?;
        let requirement = requirement.clone();
        Some(Unsatisfied {
            requirement,
            denied,
        })
    });
    Ok(unsatisfied.collect())
}

/// Refuses what the host or the app does not allow.
fn lacking(host: &Policy, app: &Policy, wanted: &Capabilities) -> Result<(), Denied> {
    if let Some(capability) = host.capabilities.missing(wanted) {
        return Err(Denied::ByHost { capability });
    }
    if let Some(capability) = app.capabilities.missing(wanted) {
        return Err(Denied::ByApp { capability });
    }
    Ok(())
}

fn grant(
    host: &Policy,
    app: &Policy,
    tool: &Request,
    wanted: &Capabilities,
) -> Result<Grant, Denied> {
    lacking(host, app, wanted)?;
    let limits = host
        .ceilings
        .intersect(&app.ceilings)
        .check(&tool.limits, tool.default_fuel)
        .map_err(|source| Denied::Limits { source })?;
    // The request first: it lies within both others, so the sets stay as small as it is.
    let capabilities = wanted
        .intersect(&host.capabilities)
        .intersect(&app.capabilities);
    Ok(Grant {
        capabilities,
        limits,
    })
}

#[cfg(test)]
#[path = "compose_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "compose_call_tests.rs"]
mod call_tests;

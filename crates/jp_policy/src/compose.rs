//! Composition: host policy ∩ app ∩ tool request = grant. The only place a [`Grant`] is made.

use alloc::string::String;

use crate::{Capabilities, Capability, Ceilings, LimitError, Limits, LimitsRequest};

/// What a host or an app allows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Policy {
    /// What may be done.
    pub capabilities: Capabilities,
    /// How much of it, at most.
    pub ceilings: Ceilings,
}

/// What a tool says it needs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Request {
    /// What it must be able to do.
    pub capabilities: Capabilities,
    /// How much of it.
    pub limits: LimitsRequest,
    /// The fuel it gets when it asks for none; `None` leaves its work to the time limit.
    pub default_fuel: Option<u64>,
}

/// What one call really gets. Only [`compose`] makes one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    capabilities: Capabilities,
    limits: Limits,
}

impl Grant {
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
            Self::Limits { .. } => None,
        }
    }
}

/// Composes the grant of a call: what the host, the app and the tool's request have in common.
///
/// # Errors
///
/// When the tool needs something the host or the app does not allow, or limits above a ceiling. A
/// tool never runs with less than it asked for: it would fail half-way, for a reason it cannot name.
pub fn compose(host: &Policy, app: &Policy, tool: &Request) -> Result<Grant, Denied> {
    let wanted = &tool.capabilities;
    if let Some(capability) = host.capabilities.missing(wanted) {
        return Err(Denied::ByHost { capability });
    }
    if let Some(capability) = app.capabilities.missing(wanted) {
        return Err(Denied::ByApp { capability });
    }
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

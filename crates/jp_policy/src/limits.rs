//! How much a call may use: defaults, ceilings, and the check of what a tool asks for.

use alloc::string::String;
use core::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

const MB: u64 = 1_000_000;

/// Memory is counted in Wasm pages of 64 KiB, so its limits are whole numbers of them.
const MIB: u64 = 1024 * 1024;

/// Descriptors a guest may hold open at once; not configurable.
const OPEN_FILES: u32 = 32;

/// What one call may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory, summed over all memories of the guest.
    pub memory_bytes: u64,
    /// Time on the clock, without the time a person takes to answer.
    pub time: Duration,
    /// Units of work; `None` leaves work to the time limit.
    pub fuel: Option<u64>,
    /// Bytes of result and, separately, of each captured stream.
    pub output_bytes: u64,
    /// Files open at once.
    pub open_files: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_bytes: 256 * MIB,
            time: Duration::from_secs(30),
            fuel: None,
            output_bytes: 10 * MB,
            open_files: OPEN_FILES,
        }
    }
}

impl Limits {
    /// The fuel of tools that come from a registry or an app manifest and do not say more.
    pub const REGISTRY_FUEL: u64 = 1_000_000_000;

    /// Returns whether no limit here is above that of `other`.
    #[cfg(test)]
    pub(crate) fn is_within(&self, other: &Self) -> bool {
        let fuel = match (self.fuel, other.fuel) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(mine), Some(theirs)) => mine <= theirs,
        };
        fuel && self.memory_bytes <= other.memory_bytes
            && self.time <= other.time
            && self.output_bytes <= other.output_bytes
            && self.open_files <= other.open_files
    }
}

/// The name of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Limit {
    /// Bytes of memory.
    Memory,
    /// Time on the clock.
    Time,
    /// Units of work.
    Fuel,
    /// Bytes of result or captured output.
    Output,
    /// Files open at once.
    OpenFiles,
}

impl Limit {
    /// Returns the key under which a configuration sets this limit.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Time => "time",
            Self::Fuel => "fuel",
            Self::Output => "output",
            Self::OpenFiles => "open_files",
        }
    }

    /// Returns what follows a number of this limit in a message.
    const fn unit(self) -> &'static str {
        match self {
            Self::Memory | Self::Output => " bytes",
            Self::Time => " ms",
            Self::Fuel | Self::OpenFiles => "",
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Memory => "memory",
            Self::Time => "time",
            Self::Fuel => "fuel",
            Self::Output => "output",
            Self::OpenFiles => "open files",
        })
    }
}

/// What a tool, an app or a host says about limits; a limit that is left out has its default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitsRequest {
    /// Bytes of memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// Milliseconds on the clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<u64>,
    /// Units of work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fuel: Option<u64>,
    /// Bytes of result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
}

/// Why limits were refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LimitError {
    /// Nothing runs with a limit of zero, and zero does not mean "none".
    #[error("the {limit} limit is zero; leave it out for the default, or set it to 1 or more")]
    Zero {
        /// Which limit.
        limit: Limit,
    },
    /// More was asked for than is allowed.
    #[error("the {limit} limit of {asked} is above the ceiling of {ceiling}")]
    AboveCeiling {
        /// Which limit.
        limit: Limit,
        /// What was asked for.
        asked: String,
        /// What is allowed at most.
        ceiling: String,
    },
}

/// The most that may be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ceilings {
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// Time on the clock.
    pub time: Duration,
    /// Units of work.
    pub fuel: u64,
    /// Bytes of result.
    pub output_bytes: u64,
}

impl Default for Ceilings {
    fn default() -> Self {
        Self {
            memory_bytes: 1024 * MIB,
            time: Duration::from_secs(300),
            fuel: 1_000_000_000_000,
            output_bytes: 100 * MB,
        }
    }
}

impl Ceilings {
    /// Lowers the ceilings to what a policy says; nothing can raise them.
    ///
    /// # Errors
    ///
    /// When the policy asks for zero, or for more than these ceilings.
    pub fn lowered_by(&self, policy: &LimitsRequest) -> Result<Self, LimitError> {
        let lower = |limit, asked: Option<u64>, ceiling: u64| check(limit, asked, ceiling, ceiling);
        let time_ms = u64::try_from(self.time.as_millis()).unwrap_or(u64::MAX);
        Ok(Self {
            memory_bytes: lower(Limit::Memory, policy.memory, self.memory_bytes)?,
            time: Duration::from_millis(lower(Limit::Time, policy.time_ms, time_ms)?),
            fuel: lower(Limit::Fuel, policy.fuel, self.fuel)?,
            output_bytes: lower(Limit::Output, policy.output, self.output_bytes)?,
        })
    }

    /// Returns what both allow.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Self {
        Self {
            memory_bytes: self.memory_bytes.min(other.memory_bytes),
            time: self.time.min(other.time),
            fuel: self.fuel.min(other.fuel),
            output_bytes: self.output_bytes.min(other.output_bytes),
        }
    }

    /// Turns what a tool asks for into limits.
    ///
    /// `default_fuel` is what a tool gets that asks for none; `None` leaves its work to the time
    /// limit, unless the ceiling on fuel was lowered.
    ///
    /// # Errors
    ///
    /// When the tool asks for zero, or for more than these ceilings.
    pub fn check(
        &self,
        asked: &LimitsRequest,
        default_fuel: Option<u64>,
    ) -> Result<Limits, LimitError> {
        let defaults = Limits::default();
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let lowered = (self.fuel < Self::default().fuel).then_some(self.fuel);
        let fuel = match (asked.fuel, default_fuel.or(lowered)) {
            (None, None) => None,
            (fuel, default) => Some(check(
                Limit::Fuel,
                fuel,
                default.unwrap_or(self.fuel),
                self.fuel,
            )?),
        };
        Ok(Limits {
            memory_bytes: check(
                Limit::Memory,
                asked.memory,
                defaults.memory_bytes,
                self.memory_bytes,
            )?,
            time: Duration::from_millis(check(
                Limit::Time,
                asked.time_ms,
                ms(defaults.time),
                ms(self.time),
            )?),
            fuel,
            output_bytes: check(
                Limit::Output,
                asked.output,
                defaults.output_bytes,
                self.output_bytes,
            )?,
            open_files: OPEN_FILES,
        })
    }
}

fn check(limit: Limit, asked: Option<u64>, default: u64, ceiling: u64) -> Result<u64, LimitError> {
    match asked {
        Some(0) => Err(LimitError::Zero { limit }),
        Some(asked) if asked > ceiling => Err(LimitError::AboveCeiling {
            limit,
            asked: alloc::format!("{asked}{}", limit.unit()),
            ceiling: alloc::format!("{ceiling}{}", limit.unit()),
        }),
        Some(asked) => Ok(asked),
        None if default.min(ceiling) == 0 => Err(LimitError::Zero { limit }),
        None => Ok(default.min(ceiling)),
    }
}

#[cfg(test)]
#[path = "limits_tests.rs"]
mod tests;

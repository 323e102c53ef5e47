//! What a call may do and how much of it: capabilities, limits, and the one function that turns
//! three opinions about them into a [`Grant`].
//!
//! Pure: no files, clock, network or environment. `no_std` lets the compiler hold that wall.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod ambient;
mod brokered;
mod capabilities;
mod compose;
mod files;
mod limits;
mod net;
#[cfg(test)]
mod testing;

pub use ambient::{Ambient, EnvName, EnvNameError};
pub use brokered::{Brokered, BrokeredName, BrokeredNameError};
pub use capabilities::{Capabilities, Capability};
pub use compose::{Denied, Grant, Policy, Request, compose};
pub use files::{Access, FileRule, Files, GuestPath, GuestPathError};
pub use limits::{Ceilings, Limit, LimitError, Limits, LimitsRequest};
pub use net::{HostPattern, HostPatternError, Net};

//! What a call may do and how much of it: capabilities, limits, and the one function that turns
//! three opinions about them into a [`Grant`].
//!
//! Pure: no files, clock, network or environment. `no_std` lets the compiler hold that wall.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod ambient;
mod behind;
mod brokered;
mod capabilities;
mod compose;
mod declared;
mod files;
mod limits;
mod nearest;
mod net;
mod requirement;
#[cfg(test)]
mod testing;
mod words;

pub use ambient::{Ambient, EnvName, EnvNameError};
pub use behind::{Form, Unbacked, unbacked};
pub use brokered::{Brokered, BrokeredName, BrokeredNameError};
pub use capabilities::{Capabilities, Capability};
pub use compose::{
    Chosen, Denied, Grant, Policy, Request, Unsatisfied, compose, compose_call, could_be_satisfied,
};
pub use declared::{
    Declared, DeclaredAccess, DeclaredEnv, DeclaredError, DeclaredFiles, DeclaredFs, DeclaredHosts,
    DeclaredNet, DeclaredStdio, USER_PATHS,
};
pub use files::{Access, FileRule, Files, GuestPath, GuestPathError};
pub use limits::{Ceilings, Limit, LimitError, Limits, LimitsRequest};
pub use nearest::nearest;
pub use net::{HostPattern, HostPatternError, Net};
pub use requirement::{Condition, Requirement, RequirementError};
pub use words::NOTHING;

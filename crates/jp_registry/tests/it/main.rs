//! Installing tools: from registries that are honest, hostile or gone, on machines that stop.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests fail like tests"
)]

mod brought;
mod crash;
mod custom;
mod end_to_end;
mod hostile;
mod hostile_names;
mod lost;
mod ranges;
mod ranges_back;
mod registries;
mod security;
mod support;
mod unbacked;

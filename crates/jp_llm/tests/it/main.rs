//! The pipeline as its fronts use it: configuration from files, real guests, real walls around
//! commands, a real log. Each test makes a workspace, calls tools in it and looks at what is left.
#![cfg(all(target_os = "linux", feature = "wasm-tools"))]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests fail like tests"
)]

mod approvals;
mod arguments;
mod audit;
mod bash;
mod brought;
mod capabilities;
mod chosen;
mod cloned;
mod commands;
mod conditions;
mod defining;
mod endpoints;
mod fetched;
mod heeded;
mod kit;
mod learn_alike;
mod models;
mod native;
mod parts;
mod places;
mod processes;
mod questions;
mod requests;
mod results;
mod seed;
mod shop;
mod signed;
mod sourced;
mod stopping;
mod templates;
mod trust;
mod unconfined;
mod web;

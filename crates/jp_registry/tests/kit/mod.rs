//! What the tests of fetching share: a publisher with a registry, servers that behave as told, and a
//! plain transport to reach them.

mod client;
mod fetch;
mod shop;
mod web;

pub(crate) use client::Plain;
pub(crate) use shop::{Shop, manifest, no_progress};
pub(crate) use web::{Asked, Web, answer};

//! The commands that work on lines and text, and `date`: their part of the command table.

use super::Spec;

/// The commands.
pub(crate) const COMMANDS: &[&Spec] = &[
    &super::cut::SPEC,
    &super::date::SPEC,
    &super::head::SPEC,
    &super::sort::SPEC,
    &super::tail::SPEC,
    &super::tr::SPEC,
    &super::uniq::SPEC,
    &super::wc::SPEC,
];

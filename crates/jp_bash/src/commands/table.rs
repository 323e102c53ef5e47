//! All commands, by name. A group lists its own; this joins them.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::commands::Spec;

/// The groups, one line each.
const GROUPS: &[&[&Spec]] = &[super::text::COMMANDS, FILES, MORE_TEXT, PROCESSES];

/// Commands on files.
const FILES: &[&Spec] = &[
    &super::basename::SPEC,
    &super::cat::SPEC,
    &super::chmod::SPEC,
    &super::cp::SPEC,
    &super::dirname::SPEC,
    &super::find::SPEC,
    &super::ln::SPEC,
    &super::ls::SPEC,
    &super::mkdir::SPEC,
    &super::mkfifo::SPEC,
    &super::mktemp::SPEC,
    &super::mv::SPEC,
    &super::readlink::SPEC,
    &super::realpath::SPEC,
    &super::rm::SPEC,
    &super::rmdir::SPEC,
    &super::stat::SPEC,
    &super::tee::SPEC,
    &super::touch::SPEC,
    &super::truncate::SPEC,
];

/// More commands on text.
const MORE_TEXT: &[&Spec] = &[
    &super::base64::SPEC,
    &super::cmp::SPEC,
    &super::comm::SPEC,
    &super::diff::SPEC,
    &super::expand::SPEC,
    &super::expr::SPEC,
    &super::fold::SPEC,
    &super::nl::SPEC,
    &super::column::SPEC,
    &super::shuf::SPEC,
    &super::truncate::SPEC,
    &super::cksum::SPEC,
    &super::od::SPEC,
    &super::paste::SPEC,
    &super::rev::SPEC,
    &super::tac::SPEC,
    &super::which::SPEC,
    &super::xxd::SPEC,
    &super::unexpand::SPEC,
    &super::tsort::SPEC,
    &super::sum::SPEC,
    &super::split::SPEC,
    &super::numfmt::SPEC,
    &super::join::SPEC,
    &super::factor::SPEC,
    &super::du::SPEC,
    &super::dd::SPEC,
];

/// Commands on processes and the machine.
const PROCESSES: &[&Spec] = &[
    &super::env::SPEC,
    &super::hostname::SPEC,
    &super::id::SPEC,
    &super::nproc::SPEC,
    &super::printenv::SPEC,
    &super::seq::SPEC,
    &super::sleep::SPEC,
    &super::timeout::SPEC,
    &super::uname::SPEC,
    &super::whoami::SPEC,
    &super::xargs::SPEC,
    &super::yes::SPEC,
];

/// Commands with a language inside; each module may offer several names.
fn languages() -> impl Iterator<Item = &'static Spec> {
    static AWK: [Spec; 4] = super::awk::SPECS;
    static MORE: [Spec; 2] = [super::curl::SPEC, super::jq::SPEC];
    AWK.iter()
        .chain(super::grep::SPECS)
        .chain(super::sed::SPECS)
        .chain(&MORE)
        .chain(&super::digest::SPECS)
        .chain(&super::link::SPECS)
        .chain(&super::machine_facts::SPECS)
        .chain(&super::prefix::SPECS)
}

/// Builtins of the shell that are files in `/usr/bin` too, as on a real machine, and the shells.
const ALSO: &[&str] = &[
    "[", "bash", "echo", "false", "kill", "printf", "pwd", "sh", "test", "true",
];

static BY_NAME: LazyLock<FxHashMap<&'static [u8], &'static Spec>> = LazyLock::new(|| {
    GROUPS
        .iter()
        .flat_map(|group| group.iter().copied())
        .chain(languages())
        .map(|spec| (spec.name.as_bytes(), spec))
        .collect()
});

static NAMES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let mut names: Vec<&'static str> = BY_NAME
        .values()
        .map(|spec| spec.name)
        .chain(ALSO.iter().copied())
        .collect();
    names.sort_unstable();
    names.dedup();
    names
});

/// Finds a command.
pub(crate) fn find(name: &[u8]) -> Option<&'static Spec> {
    BY_NAME.get(name).copied()
}

/// Returns the names that `/usr/bin` lists, sorted.
pub(crate) fn names() -> &'static [&'static str] {
    &NAMES
}

/// Returns all commands in the order of their names.
pub(crate) fn all() -> Vec<&'static Spec> {
    names()
        .iter()
        .filter_map(|name| find(name.as_bytes()))
        .collect()
}

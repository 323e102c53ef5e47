//! All commands, by name: the one list that running, `help` and the documentation are made from.

use std::sync::LazyLock;

use jp_bash_system::{Program, Programs};

use crate::Spec;

/// Modules that hold one command.
const SINGLE: &[&Spec] = &[
    &super::base64::SPEC,
    &super::basename::SPEC,
    &super::cat::SPEC,
    &super::chmod::SPEC,
    &super::cksum::SPEC,
    &super::cmp::SPEC,
    &super::column::SPEC,
    &super::comm::SPEC,
    &super::cp::SPEC,
    &super::curl::SPEC,
    &super::cut::SPEC,
    &super::date::SPEC,
    &super::dd::SPEC,
    &super::diff::SPEC,
    &super::dirname::SPEC,
    &super::du::SPEC,
    &super::env::SPEC,
    &super::expand::SPEC,
    &super::expr::SPEC,
    &super::factor::SPEC,
    &super::find::SPEC,
    &super::fold::SPEC,
    &super::head::SPEC,
    &super::hostname::SPEC,
    &super::id::SPEC,
    &super::join::SPEC,
    &super::jq::SPEC,
    &super::ln::SPEC,
    &super::ls::SPEC,
    &super::mkdir::SPEC,
    &super::mkfifo::SPEC,
    &super::mktemp::SPEC,
    &super::mv::SPEC,
    &super::nl::SPEC,
    &super::nproc::SPEC,
    &super::numfmt::SPEC,
    &super::od::SPEC,
    &super::paste::SPEC,
    &super::printenv::SPEC,
    &super::readlink::SPEC,
    &super::realpath::SPEC,
    &super::rev::SPEC,
    &super::rm::SPEC,
    &super::rmdir::SPEC,
    &super::seq::SPEC,
    &super::shuf::SPEC,
    &super::sleep::SPEC,
    &super::sort::SPEC,
    &super::split::SPEC,
    &super::stat::SPEC,
    &super::sum::SPEC,
    &super::tac::SPEC,
    &super::tail::SPEC,
    &super::tee::SPEC,
    &super::timeout::SPEC,
    &super::touch::SPEC,
    &super::tr::SPEC,
    &super::truncate::SPEC,
    &super::tsort::SPEC,
    &super::uname::SPEC,
    &super::unexpand::SPEC,
    &super::uniq::SPEC,
    &super::wc::SPEC,
    &super::which::SPEC,
    &super::whoami::SPEC,
    &super::xargs::SPEC,
    &super::xxd::SPEC,
    &super::yes::SPEC,
];

/// Modules that hold one program under several names.
const SEVERAL: &[&[Spec]] = &[
    super::awk::SPECS,
    super::digest::SPECS,
    super::grep::SPECS,
    super::link::SPECS,
    super::machine_facts::SPECS,
    super::prefix::SPECS,
    super::sed::SPECS,
];

/// Builtins of the shell that are files in `/usr/bin` too, as on a real machine, and the shells.
const ALSO: &[&str] = &[
    "[", "bash", "echo", "false", "kill", "printf", "pwd", "sh", "test", "true",
];

static PROGRAMS: LazyLock<Programs> = LazyLock::new(|| {
    let program = |spec: &Spec| Program {
        name: spec.name,
        about: spec.about,
        run: spec.run,
    };
    Programs::new(specs().map(program), ALSO)
});

fn specs() -> impl Iterator<Item = &'static Spec> {
    let several = SEVERAL.iter().copied().flatten();
    SINGLE.iter().copied().chain(several)
}

/// Returns the programs that a shell is handed.
pub fn programs() -> &'static Programs {
    &PROGRAMS
}

/// Returns all commands in the order of their names.
pub(crate) fn all() -> Vec<&'static Spec> {
    let mut all: Vec<&'static Spec> = specs().collect();
    all.sort_unstable_by_key(|spec| spec.name);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_taken_twice() {
        let all = all();
        for pair in all.windows(2) {
            assert_ne!(pair[0].name, pair[1].name);
        }
        assert_eq!(programs().all().count(), all.len());
    }
}

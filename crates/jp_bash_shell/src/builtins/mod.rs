//! Commands that must run inside the shell: they change its variables, descriptors, jobs or options.

mod alias;
mod args;
mod bash;
mod caller;
mod cd;
mod command;
mod complete;
mod control;
mod declare;
mod dirs;
mod enable;
mod exec;
mod hash;
pub(crate) mod help;
mod help_topics;
pub(crate) mod history;
mod jobs;
mod kill;
mod mapfile;
mod printf;
mod process;
mod read;
mod set;
mod shopt;
pub(crate) mod small;
mod source;
mod test;
mod trap;
mod type_of;
mod ulimit;
mod unset;
mod wait;

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::Shell;
use crate::flow::Flow;

/// Runs a builtin; `args[0]` is its name.
pub(crate) type Run = fn(&mut Shell<'_>, &[Vec<u8>]) -> Result<i32, Flow>;

/// A builtin as the table lists it.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    /// One of POSIX's special builtins.
    pub(crate) special: bool,
    pub(crate) run: Run,
}

const fn plain(name: &'static str, run: Run) -> Entry {
    Entry {
        name,
        special: false,
        run,
    }
}

const fn special(name: &'static str, run: Run) -> Entry {
    Entry {
        name,
        special: true,
        run,
    }
}

/// All builtins, in the order in which `compgen -b` lists them.
pub(crate) static TABLE: &[Entry] = &[
    special(".", source::run),
    special(":", control::colon),
    plain("[", test::run),
    plain("alias", alias::run),
    plain("bg", jobs::bg),
    plain("bind", complete::bind),
    special("break", control::break_loop),
    plain("builtin", command::builtin),
    plain("caller", caller::run),
    plain("cd", cd::run),
    plain("command", command::run),
    plain("compgen", complete::compgen),
    plain("complete", complete::complete),
    plain("compopt", complete::compopt),
    special("continue", control::continue_loop),
    plain("declare", declare::run),
    plain("dirs", dirs::dirs),
    plain("disown", jobs::disown),
    plain("echo", small::echo),
    plain("enable", enable::run),
    special("eval", control::eval),
    special("exec", exec::run),
    special("exit", control::exit),
    special("export", declare::export),
    plain("false", control::false_),
    plain("fc", history::fc),
    plain("fg", jobs::fg),
    plain("getopts", small::getopts),
    plain("hash", hash::run),
    plain("help", help::run),
    plain("history", history::run),
    plain("jobs", jobs::run),
    plain("kill", kill::run),
    plain("let", small::let_),
    plain("local", declare::run),
    plain("logout", control::logout),
    plain("mapfile", mapfile::run),
    plain("popd", dirs::popd),
    plain("printf", printf::run),
    plain("pushd", dirs::pushd),
    plain("pwd", cd::pwd),
    plain("read", read::run),
    plain("readarray", mapfile::run),
    special("readonly", declare::export),
    special("return", control::return_),
    special("set", set::run),
    special("shift", small::shift),
    plain("shopt", shopt::run),
    special("source", source::run),
    plain("suspend", process::suspend),
    plain("test", test::run),
    special("times", process::times),
    special("trap", trap::run),
    plain("true", control::colon),
    plain("type", type_of::run),
    plain("typeset", declare::run),
    plain("ulimit", ulimit::run),
    plain("umask", process::umask),
    plain("unalias", alias::unalias),
    special("unset", unset::run),
    plain("wait", wait::run),
];

static BY_NAME: LazyLock<FxHashMap<&'static [u8], &'static Entry>> = LazyLock::new(|| {
    TABLE
        .iter()
        .map(|entry| (entry.name.as_bytes(), entry))
        .collect()
});

/// Writes a time as `printf '%(format)T'` does.
pub(crate) fn time_text(format: &[u8], seconds: i64, zone: Option<&[u8]>) -> Vec<u8> {
    printf::number::strftime(format, seconds, zone)
}

/// Finds a builtin.
pub(crate) fn find(name: &[u8]) -> Option<&'static Entry> {
    BY_NAME.get(name).copied()
}

/// Tells whether the name is a special builtin's.
pub(crate) fn is_special(name: &[u8]) -> bool {
    find(name).is_some_and(|entry| entry.special)
}

/// Returns the names of all builtins, in the order in which `compgen -b` lists them.
pub fn builtin_names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|entry| entry.name)
}

/// Returns the names of all builtins, sorted.
pub(crate) fn names() -> Vec<&'static str> {
    let mut names: Vec<&'static str> = builtin_names().collect();
    names.sort_unstable();
    names
}

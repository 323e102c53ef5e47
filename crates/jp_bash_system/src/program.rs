//! The programs that a script can call. A shell is handed them; which there are is nothing it knows.

use rustc_hash::FxHashMap;

use crate::stop::Stop;
use crate::system::System;

/// Runs a program. `args[0]` is the name it was called by; the result is its exit status.
///
/// Errors of system calls are reported by the program itself, in GNU's words, and become its status;
/// only a [`Stop`] is passed up.
pub type Run = fn(&mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop>;

/// A program as a shell finds it.
#[derive(Debug, Clone, Copy)]
pub struct Program {
    /// The name it is called by.
    pub name: &'static str,
    /// One line for `help`.
    pub about: &'static str,
    /// What runs it.
    pub run: Run,
}

/// All programs of a machine.
#[derive(Debug, Default)]
pub struct Programs {
    by_name: FxHashMap<&'static [u8], Program>,
    names: Vec<&'static str>,
}

impl Programs {
    /// Takes the programs, and the names that `/usr/bin` lists beside theirs: builtins of the shell.
    pub fn new(programs: impl IntoIterator<Item = Program>, beside: &[&'static str]) -> Self {
        let by_name: FxHashMap<&'static [u8], Program> = programs
            .into_iter()
            .map(|program| (program.name.as_bytes(), program))
            .collect();
        let ours = by_name.values().map(|program| program.name);
        let mut names: Vec<&'static str> = ours.chain(beside.iter().copied()).collect();
        names.sort_unstable();
        names.dedup();
        Self { by_name, names }
    }

    /// Finds a program.
    #[inline]
    pub fn find(&self, name: &[u8]) -> Option<&Program> {
        self.by_name.get(name)
    }

    /// Returns the names that `/usr/bin` lists, sorted.
    pub fn names(&self) -> &[&'static str] {
        &self.names
    }

    /// Returns all programs in the order of their names.
    pub fn all(&self) -> impl Iterator<Item = &Program> {
        let found = |name: &&'static str| self.find(name.as_bytes());
        self.names.iter().filter_map(found)
    }
}

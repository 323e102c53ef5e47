//! `command` and `builtin`.

use super::args::{Getopt, operand};
use crate::Shell;
use crate::flow::Flow;
use crate::vars::scope::ScopeKind;
use crate::vars::{Bytes, known};

const USAGE: &str = "command [-pVv] command [arg ...]";
const STANDARD: &[u8] = b"/usr/bin:/bin";

pub(super) fn run(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    let (mut standard, mut how) = (false, None);
    let mut options = Getopt::new(args, "pvV");
    loop {
        match options.next() {
            Ok(None) => break,
            Ok(Some(given)) if given.letter == b'p' => standard = true,
            Ok(Some(given)) => how = Some(given.letter),
            Err(bad) => return shell.bad_option(b"command", &bad, USAGE),
        }
    }
    let words = options.rest().to_vec();
    if words.is_empty() {
        return Ok(0);
    }
    if standard {
        shell.vars.push_scope(ScopeKind::Temporary);
        let depth = shell.vars.depth();
        let kernel = std::rc::Rc::clone(&shell.kernel);
        shell.vars.hide(&kernel.budget, known::PATH, depth)?;
        shell
            .vars
            .set(&kernel.budget, known::PATH, Bytes::from(STANDARD))?;
        let result = go(shell, words, how);
        shell.vars.pop_scope(&kernel.budget);
        return result;
    }
    go(shell, words, how)
}

fn go(shell: &mut Shell<'_>, words: Vec<Vec<u8>>, how: Option<u8>) -> Result<i32, Flow> {
    if let Some(how) = how {
        return super::type_of::describe(shell, &words, how == b'V');
    }
    let name = operand(&words, 0);
    if let Some(entry) = shell.find_builtin(name) {
        return shell.run_builtin(entry, &words);
    }
    let found = shell.find_program(name)?;
    shell.run_program(words, found)
}

pub(super) fn builtin(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    let mut options = Getopt::new(args, "");
    if let Err(bad) = options.next() {
        return shell.bad_option(b"builtin", &bad, "builtin [shell-builtin [arg ...]]");
    }
    let words = options.rest();
    let Some(name) = words.first() else {
        return Ok(0);
    };
    match shell.find_builtin(name) {
        Some(entry) => shell.run_builtin(entry, words),
        None => {
            shell.complain_as(b"builtin", &[name, &b": not a shell builtin"[..]].concat())?;
            Ok(1)
        }
    }
}

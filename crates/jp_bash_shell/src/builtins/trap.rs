//! `trap`.

use std::sync::Arc;

use super::args::{Getopt, number, single_quoted};
use crate::Shell;
use crate::flow::Flow;
use crate::signals;
use crate::traps::Action;

const USAGE: &str = "trap [-lp] [[arg] signal_spec ...]";

pub(super) fn run(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    let (mut list, mut print) = (false, false);
    let mut options = Getopt::new(args, "lp");
    loop {
        match options.next() {
            Ok(None) => break,
            Ok(Some(given)) if given.letter == b'l' => list = true,
            Ok(Some(_)) => print = true,
            Err(bad) => return shell.bad_option(b"trap", &bad, USAGE),
        }
    }
    let rest = options.rest();
    if list {
        let text = super::kill::table();
        return shell.print(b"trap", &text);
    }
    if print || rest.is_empty() {
        return show(shell, rest);
    }
    let (action, signals) = match rest {
        [only] if signals::parse(only).is_none() => {
            return shell.usage(b"trap", USAGE);
        }
        [_only] => (None, rest),
        [first, others @ ..] => {
            if first == b"-" {
                (None, others)
            } else if number(first).is_some_and(|n| n >= 0) && signals::parse(first).is_some() {
                // `trap 2 15` resets both.
                (None, rest)
            } else if first.is_empty() {
                (Some(Action::Ignore), others)
            } else {
                (Some(Action::Run(Arc::from(first.as_slice()))), others)
            }
        }
        [] => return Ok(0),
    };
    let mut status = 0;
    for text in signals {
        let Some(signal) = signals::parse(text) else {
            let message = [text, &b": invalid signal specification"[..]].concat();
            shell.complain_as(b"trap", &message)?;
            status = 1;
            continue;
        };
        // A signal that was ignored when the shell started stays so; KILL and STOP cannot be trapped.
        let locked = shell.locked >> (signal & 127) & 1 != 0;
        if locked || matches!(signal, signals::KILL | signals::STOP) {
            continue;
        }
        Arc::make_mut(&mut shell.traps).set(signal, action.clone());
    }
    let (ignored, caught) = (shell.traps.ignored(), shell.traps.caught());
    shell.kernel.set_handled(shell.pid, ignored, caught);
    Ok(status)
}

fn show(shell: &mut Shell<'_>, names: &[Vec<u8>]) -> Result<i32, Flow> {
    let mut out = Vec::new();
    let mut status = 0;
    let mut wanted = Vec::new();
    for name in names {
        match signals::parse(name) {
            Some(signal) => wanted.push(signal),
            None => {
                let message = [name, &b": invalid signal specification"[..]].concat();
                shell.complain_as(b"trap", &message)?;
                status = 1;
            }
        }
    }
    let posix = shell.options.has(crate::options::Opt::Posix);
    let line = |out: &mut Vec<u8>, signal: u8, action: &Action| {
        let text = match action {
            Action::Ignore => &b""[..],
            Action::Run(text) => text,
        };
        let name = signals::name(signal).unwrap_or_default();
        let prefix = if (1..signals::DEBUG).contains(&signal) && !posix {
            "SIG"
        } else {
            ""
        };
        out.extend_from_slice(b"trap -- ");
        out.extend_from_slice(&single_quoted(text));
        out.extend_from_slice(format!(" {prefix}{name}\n").as_bytes());
    };
    if names.is_empty() {
        for (signal, action) in shell.traps.list() {
            line(&mut out, signal, action);
        }
    } else {
        for signal in wanted {
            if let Some((_, action)) = shell.traps.list().find(|(known, _)| *known == signal) {
                line(&mut out, signal, action);
            }
        }
    }
    let printed = shell.print(b"trap", &out)?;
    Ok(i32::max(status, printed))
}

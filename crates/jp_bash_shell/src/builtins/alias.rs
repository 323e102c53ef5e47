//! `alias` and `unalias`.

use std::sync::Arc;

use super::args::{Getopt, single_quoted};
use crate::Shell;
use crate::flow::Flow;

pub(super) fn run(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    let mut print = false;
    let mut options = Getopt::new(args, "p");
    loop {
        match options.next() {
            Ok(None) => break,
            Ok(Some(_)) => print = true,
            Err(bad) => return shell.bad_option(b"alias", &bad, "alias [-p] [name[=value] ... ]"),
        }
    }
    let rest = options.rest();
    let mut out = Vec::new();
    if print || rest.is_empty() {
        for (name, text) in shell.aliases.iter() {
            push(&mut out, name, text);
        }
    }
    let mut status = 0;
    for word in rest {
        match memchr::memchr(b'=', word) {
            Some(at) if at > 0 => {
                let (name, value) = word.split_at(at);
                let bad = name.iter().any(|byte| {
                    matches!(
                        byte,
                        b'/' | b'$'
                            | b'`'
                            | b'"'
                            | b'\''
                            | b'\\'
                            | b' '
                            | b'\t'
                            | b'\n'
                            | b'|'
                            | b'&'
                            | b';'
                            | b'('
                            | b')'
                            | b'<'
                            | b'>'
                    )
                });
                if bad {
                    let text = [b"`", name, b"': invalid alias name"].concat();
                    shell.complain_as(b"alias", &text)?;
                    status = 1;
                    continue;
                }
                let value: Arc<[u8]> = Arc::from(value.get(1..).unwrap_or_default());
                shell.keep(value.len() as u64 + name.len() as u64 + 96)?;
                Arc::make_mut(&mut shell.aliases).insert(name.into(), value);
            }
            _ => match shell.aliases.get(word.as_slice()) {
                Some(text) => push(&mut out, word, text),
                None => {
                    shell.complain_as(b"alias", &[word, &b": not found"[..]].concat())?;
                    status = 1;
                }
            },
        }
    }
    let printed = shell.print(b"alias", &out)?;
    Ok(i32::max(status, printed))
}

fn push(out: &mut Vec<u8>, name: &[u8], text: &[u8]) {
    out.extend_from_slice(b"alias ");
    if name.starts_with(b"-") {
        out.extend_from_slice(b"-- ");
    }
    out.extend_from_slice(name);
    out.push(b'=');
    out.extend_from_slice(&single_quoted(text));
    out.push(b'\n');
}

pub(super) fn unalias(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    const USAGE: &str = "unalias [-a] name [name ...]";
    let mut all = false;
    let mut options = Getopt::new(args, "a");
    loop {
        match options.next() {
            Ok(None) => break,
            Ok(Some(_)) => all = true,
            Err(bad) => return shell.bad_option(b"unalias", &bad, USAGE),
        }
    }
    if all {
        shell.aliases = Arc::default();
        return Ok(0);
    }
    if options.rest().is_empty() {
        return shell.usage(b"unalias", USAGE);
    }
    let mut status = 0;
    for name in options.rest() {
        if Arc::make_mut(&mut shell.aliases)
            .remove(name.as_slice())
            .is_none()
        {
            shell.complain_as(b"unalias", &[name, &b": not found"[..]].concat())?;
            status = 1;
        }
    }
    Ok(status)
}

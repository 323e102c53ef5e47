//! `enable`: turns builtins on and off.

use std::sync::Arc;

use super::args::Getopt;
use super::{find, names};
use crate::Shell;
use crate::flow::Flow;

const USAGE: &str = "enable [-a] [-dnps] [-f filename] [name ...]";

pub(super) fn run(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    let (mut all, mut off, mut special, mut unload) = (false, false, false, false);
    let mut options = Getopt::new(args, "adnpsf:");
    loop {
        match options.next() {
            Ok(None) => break,
            Ok(Some(given)) => match given.letter {
                b'a' => all = true,
                b'n' => off = true,
                b's' => special = true,
                b'f' => {
                    let file = given.value.unwrap_or_default();
                    let text = [
                        &b"cannot open shared object "[..],
                        file,
                        b": ",
                        file,
                        b": cannot open shared object file: No such file or directory",
                    ];
                    shell.complain_as(b"enable", &text.concat())?;
                    return Ok(1);
                }
                b'd' => unload = true,
                _ => {}
            },
            Err(bad) => return shell.bad_option(b"enable", &bad, USAGE),
        }
    }
    let rest = options.rest();
    if rest.is_empty() {
        let mut out = String::new();
        for name in names() {
            let disabled = shell
                .disabled
                .iter()
                .any(|known| **known == *name.as_bytes());
            if special && !find(name.as_bytes()).is_some_and(|entry| entry.special) {
                continue;
            }
            if all || disabled == off {
                out.push_str(if disabled { "enable -n " } else { "enable " });
                out.push_str(name);
                out.push('\n');
            }
        }
        return shell.print(b"enable", out.as_bytes());
    }
    let mut status = 0;
    for name in rest {
        if find(name).is_none() {
            shell.complain_as(b"enable", &[name, &b": not a shell builtin"[..]].concat())?;
            status = 1;
            continue;
        }
        if unload {
            shell.complain_as(
                b"enable",
                &[name, &b": not dynamically loaded"[..]].concat(),
            )?;
            status = 1;
            continue;
        }
        let disabled = Arc::make_mut(&mut shell.disabled);
        disabled.retain(|known| **known != **name);
        if off {
            disabled.push(name.as_slice().into());
        }
    }
    Ok(status)
}

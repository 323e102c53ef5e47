//! `shopt`.

use super::args::Getopt;
use crate::Shell;
use crate::flow::Flow;
use crate::options::{Opt, SET, SHOPT, by_set_name, by_shopt_name};

const USAGE: &str = "shopt [-pqsu] [-o] [optname ...]";

pub(super) fn run(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    let (mut set, mut unset, mut print, mut quiet, mut of_set) =
        (false, false, false, false, false);
    let mut options = Getopt::new(args, "psuoq");
    loop {
        match options.next() {
            Ok(None) => break,
            Ok(Some(given)) => match given.letter {
                b's' => set = true,
                b'u' => unset = true,
                b'p' => print = true,
                b'q' => quiet = true,
                _ => of_set = true,
            },
            Err(bad) => return shell.bad_option(b"shopt", &bad, USAGE),
        }
    }
    if set && unset {
        shell.complain_as(
            b"shopt",
            b"cannot set and unset shell options simultaneously",
        )?;
        return Ok(1);
    }
    let names = options.rest();
    let known: Vec<(&'static str, Opt)> = if of_set {
        SET.iter().map(|(name, opt, _)| (*name, *opt)).collect()
    } else {
        SHOPT.to_vec()
    };
    let mut status = 0;
    let mut wanted = Vec::new();
    for name in names {
        let opt = if of_set {
            by_set_name(name)
        } else {
            by_shopt_name(name)
        };
        match opt {
            Some(opt) => wanted.push((String::from_utf8_lossy(name).into_owned(), opt)),
            None => {
                let text: &[u8] = if of_set {
                    b": invalid option name"
                } else {
                    b": invalid shell option name"
                };
                shell.complain_as(b"shopt", &[name, text].concat())?;
                status = 1;
            }
        }
    }
    if (set || unset) && !names.is_empty() {
        for (_, opt) in wanted {
            shell.set_option(opt, set);
        }
        return Ok(status);
    }
    if names.is_empty() {
        wanted = known
            .iter()
            .map(|(name, opt)| ((*name).to_owned(), *opt))
            .filter(|(_, opt)| {
                let on = shell.options.has(*opt);
                (!set || on) && (!unset || !on)
            })
            .collect();
    }
    let mut out = String::new();
    for (name, opt) in wanted {
        let on = shell.options.has(opt);
        if !names.is_empty() && !on {
            status = 1;
        }
        if quiet {
            continue;
        }
        if print && of_set {
            out.push_str(&format!("set {}o {name}\n", if on { '-' } else { '+' }));
        } else if print {
            out.push_str(&format!("shopt {} {name}\n", if on { "-s" } else { "-u" }));
        } else {
            out.push_str(&format!("{name:<15}\t{}\n", if on { "on" } else { "off" }));
        }
    }
    let printed = shell.print(b"shopt", out.as_bytes())?;
    Ok(i32::max(status, printed))
}

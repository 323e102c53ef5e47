//! `which`: where a program is on the PATH.

use jp_bash_system::{FileKind, Follow, Stop, System, failed};

use super::Spec;
use super::file::Cmd;
use super::options::{Opt, Takes, opt};

/// The command.
pub(crate) const SPEC: Spec = Spec {
    name: "which",
    about: "Prints the path of each program named.",
    run,
    options: OPTIONS,
};

const OPTIONS: &[Opt] = &[
    opt('a', Some(b'a'), None, Takes::Nothing),
    opt('s', Some(b's'), None, Takes::Nothing),
];

/// Runs `which`: Debian's, whose status says whether all were found.
pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let mut all = false;
    let mut silent = false;
    let mut names = args.iter().skip(1).peekable();
    while let Some(flags) = names.next_if(|arg| arg.len() > 1 && arg.starts_with(b"-")) {
        if flags == b"--" {
            break;
        }
        for flag in flags.iter().skip(1) {
            match flag {
                b'a' => all = true,
                b's' => silent = true,
                other => {
                    let text = [
                        &b"Illegal option -"[..],
                        &[*other],
                        b"\nUsage: which [-as] args\n",
                    ]
                    .concat();
                    failed(cmd.sys.write(2, &text))?.ok();
                    return Ok(2);
                }
            }
        }
    }
    if names.peek().is_none() {
        return Ok(1);
    }
    let path = cmd.sys.env(b"PATH").unwrap_or_default();
    for name in names {
        let mut found = false;
        let places: Vec<Vec<u8>> = if name.contains(&b'/') {
            vec![name.clone()]
        } else {
            path.split(|byte| *byte == b':')
                .map(|dir| {
                    let dir = if dir.is_empty() { &b"."[..] } else { dir };
                    [dir, b"/", name].concat()
                })
                .collect()
        };
        for place in places {
            let regular = failed(cmd.sys.stat(&place, Follow::Yes))?
                .is_ok_and(|stat| stat.kind == FileKind::Regular);
            if !regular || failed(cmd.sys.access(&place, 1))?.is_err() {
                continue;
            }
            found = true;
            if !silent {
                cmd.put(&place)?;
                cmd.put(b"\n")?;
            }
            if !all {
                break;
            }
        }
        if !found {
            cmd.status = 1;
        }
    }
    cmd.finish()
}

//! `readlink`: prints where a symlink points, or a path without symlinks.

use jp_bash_system::{Stop, System, failed};

use super::Spec;
use super::file::canon::{Exists, Links, canonicalize};
use super::file::{Cmd, HELP, VERSION};
use super::options::{Opt, Takes, opt};

pub(crate) const SPEC: Spec = Spec {
    name: "readlink",
    about: "print where symlinks point",
    run,
    options: OPTIONS,
};

const OPTIONS: &[Opt] = &[
    opt('f', Some(b'f'), Some("canonicalize"), Takes::Nothing),
    opt(
        'e',
        Some(b'e'),
        Some("canonicalize-existing"),
        Takes::Nothing,
    ),
    opt(
        'm',
        Some(b'm'),
        Some("canonicalize-missing"),
        Takes::Nothing,
    ),
    opt('n', Some(b'n'), Some("no-newline"), Takes::Nothing),
    opt('q', Some(b'q'), Some("quiet"), Takes::Nothing),
    opt('q', Some(b's'), Some("silent"), Takes::Nothing),
    opt('v', Some(b'v'), Some("verbose"), Takes::Nothing),
    opt('z', Some(b'z'), Some("zero"), Takes::Nothing),
    HELP,
    VERSION,
];

pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let parsed = match cmd.options(args, OPTIONS, "[OPTION]... FILE...")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let mut canonical = None;
    let (mut newline, mut verbose) = (true, false);
    let mut end = b'\n';
    for (id, _) in &parsed.options {
        match id {
            'f' => canonical = Some(Exists::AllButLast),
            'e' => canonical = Some(Exists::All),
            'm' => canonical = Some(Exists::Nothing),
            'n' => newline = false,
            'q' => verbose = false,
            'v' => verbose = true,
            _ => end = 0,
        }
    }
    if parsed.operands.is_empty() {
        return cmd.usage(&[b"missing operand"]);
    }
    if !newline && parsed.operands.len() > 1 {
        cmd.note(&[b"ignoring --no-newline with multiple arguments"])?;
        newline = true;
    }
    for path in &parsed.operands {
        let found = match canonical {
            Some(exists) => canonicalize(cmd.sys, path, exists, Links::Follow)?,
            None => failed(cmd.sys.readlink(path))?,
        };
        match found {
            Ok(target) => {
                cmd.put(&target)?;
                if newline {
                    cmd.put(&[end])?;
                }
            }
            Err(errno) => {
                cmd.status = 1;
                if verbose {
                    let name = cmd.qf(path);
                    cmd.fail(&[&name], errno)?;
                }
            }
        }
    }
    cmd.finish()
}

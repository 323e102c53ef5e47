//! `rmdir`: removes empty directories.

use jp_bash_system::{Errno, Stop, System, failed};

use super::Spec;
use super::file::name::without_slashes;
use super::file::{Cmd, HELP, VERSION};
use super::options::{Opt, Takes, opt};

pub(crate) const SPEC: Spec = Spec {
    name: "rmdir",
    about: "remove empty directories",
    run,
    options: OPTIONS,
};

const OPTIONS: &[Opt] = &[
    opt('i', None, Some("ignore-fail-on-non-empty"), Takes::Nothing),
    opt('p', Some(b'p'), Some("parents"), Takes::Nothing),
    opt('v', Some(b'v'), Some("verbose"), Takes::Nothing),
    HELP,
    VERSION,
];

pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let parsed = match cmd.options(args, OPTIONS, "[OPTION]... DIRECTORY...")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let has = |id| parsed.options.iter().any(|(found, _)| *found == id);
    let (ignore, parents, verbose) = (has('i'), has('p'), has('v'));
    if parsed.operands.is_empty() {
        return cmd.usage(&[b"missing operand"]);
    }
    for path in &parsed.operands {
        let mut path = path.as_slice();
        let mut first = true;
        loop {
            if verbose {
                let name = cmd.q(path);
                let line = [&cmd.name[..], b": removing directory, ", &name, b"\n"].concat();
                cmd.put(&line)?;
            }
            match failed(cmd.sys.rmdir(path))? {
                Ok(()) => {}
                Err(Errno::NotEmpty | Errno::Exist) if ignore => break,
                Err(errno) => {
                    let name = cmd.q(path);
                    let text: &[u8] = if first {
                        b"failed to remove "
                    } else {
                        b"failed to remove directory "
                    };
                    cmd.fail(&[text, &name], errno)?;
                    break;
                }
            }
            first = false;
            let cut = without_slashes(path);
            let Some(at) = memchr::memrchr(b'/', cut).filter(|_| parents) else {
                break;
            };
            path = without_slashes(cut.get(..at).unwrap_or_default());
            if path.is_empty() {
                break;
            }
        }
    }
    cmd.finish()
}

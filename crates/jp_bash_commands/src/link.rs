//! `link` and `unlink`: the bare system calls.

use jp_bash_system::{Follow, Stop, System, failed};

use super::Spec;
use super::file::{Cmd, HELP, VERSION};
use super::options::Opt;

const OPTIONS: &[Opt] = &[HELP, VERSION];

/// The commands.
pub(crate) const SPECS: &[Spec] = &[
    Spec {
        name: "link",
        about: "give a file another name",
        run: |sys, args| run(sys, args, 2),
        options: OPTIONS,
    },
    Spec {
        name: "unlink",
        about: "remove one name of a file",
        run: |sys, args| run(sys, args, 1),
        options: OPTIONS,
    },
];

fn run(sys: &mut dyn System, args: &[Vec<u8>], wanted: usize) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let usage = if wanted == 2 { "FILE1 FILE2" } else { "FILE" };
    let parsed = match cmd.options(args, OPTIONS, usage)? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let names = parsed.operands.as_slice();
    if let Some(extra) = names.get(wanted) {
        let shown = cmd.quote(extra);
        return cmd.usage(&[b"extra operand ", &shown]);
    }
    match names {
        [file] if wanted == 1 => {
            if let Err(errno) = failed(cmd.sys.unlink(file))? {
                let name = cmd.q(file);
                cmd.fail(&[b"cannot unlink ", &name], errno)?;
            }
        }
        [from, to] => {
            if let Err(errno) = failed(cmd.sys.link(from, to, Follow::No))? {
                let (from, to) = (cmd.q(from), cmd.q(to));
                cmd.fail(&[b"cannot create link ", &to, b" to ", &from], errno)?;
            }
        }
        [only] => {
            let shown = cmd.quote(only);
            return cmd.usage(&[b"missing operand after ", &shown]);
        }
        _ => return cmd.usage(&[b"missing operand"]),
    }
    cmd.finish()
}

//! `dirname`: a path without its last part.

use jp_bash_system::{Stop, System};

use super::Spec;
use super::file::name::dir_name;
use super::file::{Cmd, HELP, VERSION};
use super::options::{Opt, Takes, opt};

pub(crate) const SPEC: Spec = Spec {
    name: "dirname",
    about: "print a path without its last part",
    run,
    options: OPTIONS,
};

const OPTIONS: &[Opt] = &[
    opt('z', Some(b'z'), Some("zero"), Takes::Nothing),
    HELP,
    VERSION,
];

pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let parsed = match cmd.options(args, OPTIONS, "[OPTION] NAME...")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    if parsed.operands.is_empty() {
        return cmd.usage(&[b"missing operand"]);
    }
    let end = if parsed.options.is_empty() { b'\n' } else { 0 };
    for name in &parsed.operands {
        cmd.put(dir_name(name))?;
        cmd.put(&[end])?;
    }
    cmd.finish()
}

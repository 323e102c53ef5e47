//! `basename`: the last part of a path.

use jp_bash_system::{Stop, System};

use super::Spec;
use super::file::name::base_name;
use super::file::{Cmd, HELP, VERSION};
use super::options::{Opt, Takes, opt};

pub(crate) const SPEC: Spec = Spec {
    name: "basename",
    about: "print the last part of a path",
    run,
    options: OPTIONS,
};

const OPTIONS: &[Opt] = &[
    opt('a', Some(b'a'), Some("multiple"), Takes::Nothing),
    opt('s', Some(b's'), Some("suffix"), Takes::Required),
    opt('z', Some(b'z'), Some("zero"), Takes::Nothing),
    HELP,
    VERSION,
];

pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let parsed = match cmd.options(args, OPTIONS, "NAME [SUFFIX] | OPTION... NAME...")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let mut suffix = Vec::new();
    let mut many = false;
    let mut end = b'\n';
    for (id, value) in parsed.options {
        match id {
            'a' => many = true,
            's' => {
                suffix = value.unwrap_or_default();
                many = true;
            }
            _ => end = 0,
        }
    }
    let mut names = parsed.operands.as_slice();
    if names.is_empty() {
        return cmd.usage(&[b"missing operand"]);
    }
    if !many {
        if let Some(extra) = names.get(2) {
            let extra = cmd.quote(extra);
            return cmd.usage(&[b"extra operand ", &extra]);
        }
        suffix = names.get(1).cloned().unwrap_or_default();
        names = names.get(..1).unwrap_or_default();
    }
    for name in names {
        let base = base_name(name);
        let short = match base.strip_suffix(suffix.as_slice()) {
            Some(short) if !short.is_empty() => short,
            _ => base,
        };
        cmd.put(short)?;
        cmd.put(&[end])?;
    }
    cmd.finish()
}

//! `mkfifo`: makes named pipes.

use jp_bash_system::{Stop, System, failed};

use super::Spec;
use super::file::mode::parse_mode;
use super::file::{Cmd, HELP, VERSION};
use super::options::{Opt, Takes, opt, refused};

pub(crate) const SPEC: Spec = Spec {
    name: "mkfifo",
    about: "make named pipes",
    run,
    options: OPTIONS,
};

const OPTIONS: &[Opt] = &[
    opt('m', Some(b'm'), Some("mode"), Takes::Required),
    refused(Some(b'Z'), None, Takes::Nothing, "no SELinux here"),
    refused(None, Some("context"), Takes::Optional, "no SELinux here"),
    HELP,
    VERSION,
];

pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let parsed = match cmd.options(args, OPTIONS, "[OPTION]... NAME...")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    if parsed.operands.is_empty() {
        return cmd.usage(&[b"missing operand"]);
    }
    let mut mode = None;
    for (_, value) in &parsed.options {
        let read = parse_mode(value.as_deref().unwrap_or_default());
        let Some(read) = read else {
            cmd.error(&[b"invalid mode"])?;
            return cmd.finish();
        };
        mode = Some(read.apply(0o666, false, cmd.sys.umask()));
        if mode.is_some_and(|mode| mode & !0o777 != 0) {
            cmd.error(&[b"mode must specify only file permission bits"])?;
            return cmd.finish();
        }
    }
    for path in &parsed.operands {
        let made = failed(cmd.sys.mkfifo(path, 0o666))?;
        let done = match (made, mode) {
            (Ok(()), Some(mode)) => failed(cmd.sys.chmod(path, mode))?,
            (made, _) => made,
        };
        if let Err(errno) = done {
            let name = cmd.q(path);
            cmd.fail(&[b"cannot create fifo ", &name], errno)?;
        }
    }
    cmd.finish()
}

//! `mkdir`: makes directories.

use jp_bash_system::{Errno, FileKind, Follow, Stop, System, failed};

use super::Spec;
use super::file::mode::{Mode, parse_mode};
use super::file::{Cmd, HELP, VERSION};
use super::options::{Opt, Takes, opt, refused};

pub(crate) const SPEC: Spec = Spec {
    name: "mkdir",
    about: "make directories",
    run,
    options: OPTIONS,
};

const OPTIONS: &[Opt] = &[
    opt('m', Some(b'm'), Some("mode"), Takes::Required),
    opt('p', Some(b'p'), Some("parents"), Takes::Nothing),
    opt('v', Some(b'v'), Some("verbose"), Takes::Nothing),
    refused(Some(b'Z'), None, Takes::Nothing, "no SELinux here"),
    refused(None, Some("context"), Takes::Optional, "no SELinux here"),
    HELP,
    VERSION,
];

struct Settings {
    mode: Option<Mode>,
    parents: bool,
    verbose: bool,
}

pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let parsed = match cmd.options(args, OPTIONS, "[OPTION]... DIRECTORY...")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let mut settings = Settings {
        mode: None,
        parents: false,
        verbose: false,
    };
    let mut text = None;
    for (id, value) in parsed.options {
        match id {
            'm' => text = value,
            'p' => settings.parents = true,
            _ => settings.verbose = true,
        }
    }
    if parsed.operands.is_empty() {
        return cmd.usage(&[b"missing operand"]);
    }
    if let Some(text) = text {
        settings.mode = parse_mode(&text);
        if settings.mode.is_none() {
            let text = cmd.quote(&text);
            cmd.error(&[b"invalid mode ", &text])?;
            return cmd.finish();
        }
    }
    for path in &parsed.operands {
        if settings.parents {
            parents(&mut cmd, path, &settings)?;
        } else {
            make(&mut cmd, path, &settings)?;
        }
    }
    cmd.finish()
}

fn make(cmd: &mut Cmd<'_>, path: &[u8], settings: &Settings) -> Result<(), Stop> {
    match failed(cmd.sys.mkdir(path, 0o777))? {
        Ok(()) => made(cmd, path, settings, true),
        Err(errno) => {
            let name = cmd.quote(path);
            cmd.fail(&[b"cannot create directory ", &name], errno)
        }
    }
}

fn made(cmd: &mut Cmd<'_>, path: &[u8], settings: &Settings, last: bool) -> Result<(), Stop> {
    if let (Some(mode), true) = (&settings.mode, last) {
        let bits = mode.apply(0o777, true, cmd.sys.umask());
        if let Err(errno) = failed(cmd.sys.chmod(path, bits))? {
            let name = cmd.quote(path);
            cmd.fail(&[b"cannot set permissions of ", &name], errno)?;
        }
    }
    if settings.verbose {
        let name = cmd.q(path);
        let line = [&cmd.name[..], b": created directory ", &name, b"\n"].concat();
        cmd.put(&line)?;
    }
    Ok(())
}

/// Makes a directory with whatever is missing above it.
fn parents(cmd: &mut Cmd<'_>, path: &[u8], settings: &Settings) -> Result<(), Stop> {
    let end = path.iter().rposition(|b| *b != b'/').map_or(0, |at| at + 1);
    let mut at = 0;
    while at < path.len() {
        let start = at + path.iter().skip(at).take_while(|b| **b == b'/').count();
        let len = path.iter().skip(start).take_while(|b| **b != b'/').count();
        at = start + len;
        if len == 0 {
            break;
        }
        let last = at >= end;
        let part = path.get(..at).unwrap_or_default();
        cmd.sys.work(1)?;
        match failed(cmd.sys.mkdir(part, 0o777))? {
            Ok(()) => made(cmd, part, settings, last)?,
            Err(errno) => {
                let stat = failed(cmd.sys.stat(part, Follow::Yes))?;
                if stat.is_ok_and(|stat| stat.kind == FileKind::Directory) {
                    continue;
                }
                // What is in the way of the rest is "not a directory".
                let errno = match (errno, last) {
                    (Errno::Exist, false) => Errno::NotDir,
                    _ => errno,
                };
                let name = cmd.quote(part);
                return cmd.fail(&[b"cannot create directory ", &name], errno);
            }
        }
    }
    if path.is_empty() {
        let name = cmd.quote(path);
        return cmd.fail(&[b"cannot create directory ", &name], Errno::NoEnt);
    }
    Ok(())
}

//! `chmod`: changes permission bits.

use jp_bash_system::{Errno, FileKind, Follow, Stop, System, failed};

use super::Spec;
use super::file::mode::{Mode, mode_text, parse_mode};
use super::file::name::join;
use super::file::{Cmd, HELP, VERSION};
use super::options::{Opt, Takes, opt};

pub(crate) const SPEC: Spec = Spec {
    name: "chmod",
    about: "change permission bits",
    run,
    options: OPTIONS,
};

const OPTIONS: &[Opt] = &[
    opt('c', Some(b'c'), Some("changes"), Takes::Nothing),
    opt('f', Some(b'f'), Some("silent"), Takes::Nothing),
    opt('f', None, Some("quiet"), Takes::Nothing),
    opt('v', Some(b'v'), Some("verbose"), Takes::Nothing),
    opt('n', None, Some("no-preserve-root"), Takes::Nothing),
    opt('p', None, Some("preserve-root"), Takes::Nothing),
    opt('F', None, Some("reference"), Takes::Required),
    opt('R', Some(b'R'), Some("recursive"), Takes::Nothing),
    HELP,
    VERSION,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Report {
    Nothing,
    Changes,
    All,
}

struct Settings {
    mode: Mode,
    report: Report,
    quiet: bool,
    recursive: bool,
    preserve_root: bool,
    /// `chmod -w` meant as a mode: a refused bit is an error.
    odd: bool,
}

pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let (args, dashed) = take_modes(args);
    let parsed = match cmd.options(&args, OPTIONS, "[OPTION]... MODE[,MODE]... FILE...")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let has = |id| parsed.options.iter().any(|(found, _)| *found == id);
    let report = parsed.options.iter().rev().find_map(|(id, _)| match id {
        'c' => Some(Report::Changes),
        'v' => Some(Report::All),
        _ => None,
    });
    let reference = parsed
        .options
        .iter()
        .rev()
        .find_map(|(id, value)| value.clone().filter(|_| *id == 'F'));
    let mut operands = parsed.operands.as_slice();
    let text = match (&reference, &dashed) {
        (Some(path), _) => match failed(cmd.sys.stat(path, Follow::Yes))? {
            Ok(stat) => format!("{:05o}", stat.mode).into_bytes(),
            Err(errno) => {
                let name = cmd.q(path);
                cmd.fail(&[b"failed to get attributes of ", &name], errno)?;
                return cmd.finish();
            }
        },
        (None, Some(dashed)) => dashed.clone(),
        (None, None) => match operands.split_first() {
            Some((mode, rest)) => {
                operands = rest;
                mode.clone()
            }
            None => return cmd.usage(&[b"missing operand"]),
        },
    };
    if operands.is_empty() {
        if reference.is_some() || dashed.is_some() {
            return cmd.usage(&[b"missing operand"]);
        }
        let text = cmd.quote(&text);
        return cmd.usage(&[b"missing operand after ", &text]);
    }
    let Some(mode) = parse_mode(&text) else {
        let text = cmd.quote(&text);
        return cmd.usage(&[b"invalid mode: ", &text]);
    };
    let settings = Settings {
        mode,
        report: report.unwrap_or(Report::Nothing),
        quiet: has('f'),
        recursive: has('R'),
        preserve_root: parsed
            .options
            .iter()
            .rev()
            .find(|(id, _)| matches!(id, 'n' | 'p'))
            .is_some_and(|(id, _)| *id == 'p'),
        odd: dashed.is_some(),
    };
    for path in operands {
        tree(&mut cmd, path, &settings)?;
    }
    cmd.finish()
}

/// Takes words like `-x` and `-rw`, which are modes and no options, out of the arguments.
fn take_modes(args: &[Vec<u8>]) -> (Vec<Vec<u8>>, Option<Vec<u8>>) {
    let mut modes: Option<Vec<u8>> = None;
    let mut rest = Vec::with_capacity(args.len());
    let mut ended = false;
    for arg in args {
        let is_mode = !ended
            && matches!(
                arg.as_slice(),
                [
                    b'-',
                    b'r' | b'w' | b'x' | b'X' | b's' | b't' | b'u' | b'g' | b'o' | b'a' | b'0'
                        ..=b'7' | b',' | b'+' | b'=',
                    ..
                ]
            );
        ended |= arg == b"--";
        if is_mode {
            match &mut modes {
                Some(modes) => {
                    modes.push(b',');
                    modes.extend_from_slice(arg);
                }
                None => modes = Some(arg.clone()),
            }
        } else {
            rest.push(arg.clone());
        }
    }
    (rest, modes)
}

/// Changes a file and, with `-R`, what is in it; an explicit stack, so that depth costs no stack.
fn tree(cmd: &mut Cmd<'_>, path: &[u8], settings: &Settings) -> Result<(), Stop> {
    if settings.recursive && settings.preserve_root && path == b"/" {
        cmd.error(&[b"it is dangerous to operate recursively on '/'"])?;
        return cmd.error(&[b"use --no-preserve-root to override this failsafe"]);
    }
    let mut todo = vec![(path.to_vec(), true)];
    while let Some((path, top)) = todo.pop() {
        cmd.sys.work(1)?;
        if !change(cmd, &path, top, settings)? || !settings.recursive {
            continue;
        }
        match failed(cmd.sys.read_dir(&path))? {
            Ok(entries) => todo.extend(
                entries
                    .iter()
                    .rev()
                    .map(|entry| (join(&path, &entry.name), false)),
            ),
            Err(errno) => {
                if !settings.quiet {
                    let name = cmd.q(&path);
                    cmd.fail(&[b"cannot read directory ", &name], errno)?;
                }
                cmd.status = 1;
            }
        }
    }
    Ok(())
}

/// Changes one file; tells whether it is a directory to go into.
fn change(cmd: &mut Cmd<'_>, path: &[u8], top: bool, settings: &Settings) -> Result<bool, Stop> {
    let link = failed(cmd.sys.stat(path, Follow::No))?;
    let is_link = link.is_ok_and(|stat| stat.kind == FileKind::Symlink);
    if is_link && !top {
        if settings.report == Report::All {
            let name = cmd.q(path);
            let line = [
                b"neither symbolic link ",
                &name[..],
                b" nor referent has been changed\n",
            ];
            cmd.put(&line.concat())?;
        }
        return Ok(false);
    }
    let stat = match failed(cmd.sys.stat(path, Follow::Yes))? {
        Ok(stat) => stat,
        Err(errno) => {
            cmd.status = 1;
            if !settings.quiet {
                let name = cmd.q(path);
                match (is_link, errno) {
                    (true, Errno::NoEnt) => {
                        cmd.error(&[b"cannot operate on dangling symlink ", &name])?;
                    }
                    _ => cmd.fail(&[b"cannot access ", &name], errno)?,
                }
            }
            return Ok(false);
        }
    };
    let is_dir = stat.kind == FileKind::Directory;
    let umask = cmd.sys.umask();
    let new = settings.mode.apply(stat.mode, is_dir, umask);
    if let Err(errno) = failed(cmd.sys.chmod(path, new))? {
        cmd.status = 1;
        if !settings.quiet {
            let name = cmd.q(path);
            cmd.fail(&[b"changing permissions of ", &name], errno)?;
        }
        return Ok(is_dir);
    }
    report(cmd, path, stat.mode, new, settings.report)?;
    let naive = settings.mode.apply(stat.mode, is_dir, 0);
    if settings.odd && naive != new {
        let (shown, want) = (
            mode_text(FileKind::Regular, new),
            mode_text(FileKind::Regular, naive),
        );
        cmd.error(&[
            path,
            b": new permissions are ",
            shown.get(1..).unwrap_or_default(),
            b", not ",
            want.get(1..).unwrap_or_default(),
        ])?;
    }
    Ok(is_dir)
}

fn report(cmd: &mut Cmd<'_>, path: &[u8], old: u32, new: u32, how: Report) -> Result<(), Stop> {
    if how == Report::Nothing || (how == Report::Changes && old == new) {
        return Ok(());
    }
    let name = cmd.q(path);
    let show = |mode: u32| {
        let text = mode_text(FileKind::Regular, mode);
        let text = String::from_utf8_lossy(text.get(1..).unwrap_or_default()).into_owned();
        format!("{mode:04o} ({text})")
    };
    let line = if old == new {
        [
            b"mode of ",
            &name[..],
            b" retained as ",
            show(new).as_bytes(),
            b"\n",
        ]
        .concat()
    } else {
        [
            b"mode of ",
            &name[..],
            b" changed from ",
            show(old).as_bytes(),
            b" to ",
            show(new).as_bytes(),
            b"\n",
        ]
        .concat()
    };
    cmd.put(&line)
}

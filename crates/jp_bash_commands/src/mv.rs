//! `mv`: renames files, or copies and removes them between mounts.

use jp_bash_system::{Errno, FileKind, Follow, Stat, Stop, System, failed};

use super::Spec;
use super::file::backup::{Backup, Control};
use super::file::copy::{Clobber, Copy, Deref, Progress, copy};
use super::file::target::{split, strip};
use super::file::{Cmd, HELP, VERSION};
use super::options::{Opt, Takes, opt, refused};
use super::rm;

pub(crate) const SPEC: Spec = Spec {
    name: "mv",
    about: "move or rename files",
    run,
    options: OPTIONS,
};

const OPTIONS: &[Opt] = &[
    opt('B', None, Some("backup"), Takes::Optional),
    opt('b', Some(b'b'), None, Takes::Nothing),
    opt('f', Some(b'f'), Some("force"), Takes::Nothing),
    opt('i', Some(b'i'), Some("interactive"), Takes::Nothing),
    opt('n', Some(b'n'), Some("no-clobber"), Takes::Nothing),
    opt('7', None, Some("strip-trailing-slashes"), Takes::Nothing),
    opt('S', Some(b'S'), Some("suffix"), Takes::Required),
    opt('t', Some(b't'), Some("target-directory"), Takes::Required),
    opt('T', Some(b'T'), Some("no-target-directory"), Takes::Nothing),
    opt('u', Some(b'u'), Some("update"), Takes::Nothing),
    opt('v', Some(b'v'), Some("verbose"), Takes::Nothing),
    refused(
        Some(b'Z'),
        Some("context"),
        Takes::Nothing,
        "no SELinux here",
    ),
    HELP,
    VERSION,
];

struct Settings {
    clobber: Clobber,
    update: bool,
    verbose: bool,
    backup: Backup,
}

pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let parsed = match cmd.options(args, OPTIONS, "[OPTION]... SOURCE... DEST")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let has = |id| parsed.options.iter().any(|(found, _)| *found == id);
    let value = |id| {
        let mut all = parsed.options.iter().rev();
        all.find_map(|(found, value)| value.clone().filter(|_| *found == id))
    };
    let clobber = parsed.options.iter().rev().find_map(|(id, _)| match id {
        'f' => Some(Clobber::Yes),
        'i' => Some(Clobber::Ask),
        'n' => Some(Clobber::No),
        _ => None,
    });
    let wants_backup = has('B') || has('b') || has('S');
    if wants_backup && clobber == Some(Clobber::No) {
        return cmd.usage(&[b"options --backup and --no-clobber are mutually exclusive"]);
    }
    let control = value('B');
    let suffix = value('S');
    let operands = split(&mut cmd, &parsed.operands, value('t').as_deref(), has('T'))?;
    let (mut sources, target) = match operands {
        Ok(split) => split,
        Err(status) => return Ok(status),
    };
    let Some(backup) = Backup::of(
        &mut cmd,
        wants_backup,
        control.as_deref(),
        suffix.as_deref(),
    )?
    else {
        return Ok(1);
    };
    let settings = Settings {
        clobber: clobber.unwrap_or(Clobber::Yes),
        update: has('u'),
        verbose: has('v'),
        backup,
    };
    if has('7') {
        strip(&mut sources);
    }
    let mut progress = Progress::default();
    let mut moved: Vec<(u64, u64)> = Vec::new();
    for from in &sources {
        let to = target.path(from);
        rename(&mut cmd, from, &to, &settings, &mut progress, &mut moved)?;
    }
    cmd.finish()
}

fn rename(
    cmd: &mut Cmd<'_>,
    from: &[u8],
    to: &[u8],
    settings: &Settings,
    progress: &mut Progress,
    moved: &mut Vec<(u64, u64)>,
) -> Result<(), Stop> {
    let stat = match failed(cmd.sys.stat(from, Follow::No))? {
        Ok(stat) => stat,
        Err(errno) => {
            let name = cmd.q(from);
            return cmd.fail(&[b"cannot stat ", &name], errno);
        }
    };
    let mut note = Vec::new();
    if let Ok(old) = failed(cmd.sys.stat(to, Follow::No))? {
        if !may_replace(cmd, from, &stat, to, &old, settings, moved)? {
            return Ok(());
        }
        if settings.backup.control != Control::Off
            && let Some(backup) = settings.backup.make(cmd, to)?
        {
            note = [b" (backup: ", &cmd.q(&backup)[..], b")"].concat();
        }
    }
    match failed(cmd.sys.rename(from, to))? {
        Ok(()) => {
            moved.push((stat.dev, stat.ino));
            if settings.verbose {
                let (a, b) = (cmd.q(from), cmd.q(to));
                let line = [b"renamed ", &a[..], b" -> ", &b, &note, b"\n"].concat();
                cmd.put(&line)?;
            }
            Ok(())
        }
        Err(Errno::XDev) => across(cmd, from, to, &stat, settings, progress),
        Err(Errno::Inval) if stat.kind == FileKind::Directory => {
            let (a, b) = (cmd.q(from), cmd.q(to));
            cmd.error(&[b"cannot move ", &a, b" to a subdirectory of itself, ", &b])
        }
        Err(errno) => {
            let (a, b) = (cmd.q(from), cmd.q(to));
            cmd.fail(&[b"cannot move ", &a, b" to ", &b], errno)
        }
    }
}

/// Decides about a destination that exists.
fn may_replace(
    cmd: &mut Cmd<'_>,
    from: &[u8],
    stat: &Stat,
    to: &[u8],
    old: &Stat,
    settings: &Settings,
    moved: &[(u64, u64)],
) -> Result<bool, Stop> {
    let is_dir = stat.kind == FileKind::Directory;
    let same = (stat.dev, stat.ino) == (old.dev, old.ino);
    if same {
        let (a, b) = (cmd.q(from), cmd.q(to));
        cmd.error(&[&a, b" and ", &b, b" are the same file"])?;
        return Ok(false);
    }
    if settings.clobber == Clobber::No {
        return Ok(false);
    }
    if settings.update && !is_dir && old.mtime >= stat.mtime {
        return Ok(false);
    }
    let old_is_dir = old.kind == FileKind::Directory;
    if is_dir && !old_is_dir {
        let (a, b) = (cmd.q(to), cmd.q(from));
        cmd.error(&[
            b"cannot overwrite non-directory ",
            &a,
            b" with directory ",
            &b,
        ])?;
        return Ok(false);
    }
    if !is_dir && old_is_dir {
        let name = cmd.q(to);
        cmd.error(&[
            b"cannot overwrite directory ",
            &name,
            b" with non-directory",
        ])?;
        return Ok(false);
    }
    if settings.clobber == Clobber::Ask {
        let name = cmd.q(to);
        if !cmd.ask(&[b"overwrite ", &name, b"?"])? {
            return Ok(false);
        }
    }
    if moved.contains(&(old.dev, old.ino)) {
        let (a, b) = (cmd.q(to), cmd.q(from));
        cmd.error(&[b"will not overwrite just-created ", &a, b" with ", &b])?;
        return Ok(false);
    }
    Ok(true)
}

/// Moves between mounts: copies everything, then removes the source.
fn across(
    cmd: &mut Cmd<'_>,
    from: &[u8],
    to: &[u8],
    stat: &Stat,
    settings: &Settings,
    progress: &mut Progress,
) -> Result<(), Stop> {
    if stat.kind != FileKind::Directory {
        failed(cmd.sys.unlink(to))?.ok();
    } else if let Ok(old) = failed(cmd.sys.stat(to, Follow::No))?
        && old.kind == FileKind::Directory
        && let Err(errno) = failed(cmd.sys.rmdir(to))?
    {
        let name = cmd.q(to);
        return cmd.fail(
            &[
                b"inter-device move failed: ",
                &cmd.q(from),
                b" to ",
                &name,
                b"; unable to remove target",
            ],
            errno,
        );
    }
    let how = Copy {
        recursive: true,
        deref: Deref::Never,
        keep_mode: true,
        keep_times: true,
        keep_links: true,
        default_mode: false,
        force: true,
        clobber: Clobber::Yes,
        update: false,
        hard_link: false,
        symbolic: false,
        remove_destination: false,
        verbose: settings.verbose,
        backup: Backup {
            control: Control::Off,
            suffix: Vec::new(),
        },
        attributes_only: false,
        one_file_system: false,
        copy_contents: false,
        verb: b"copied ",
    };
    if copy(cmd, from, to, &how, progress)? {
        rm::remove_all(cmd, from, settings.verbose)?;
    }
    Ok(())
}

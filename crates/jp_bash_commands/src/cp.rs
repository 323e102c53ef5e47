//! `cp`: copies files and directories.

use jp_bash_system::{FileKind, Follow, Stat, Stop, System, failed};

use super::Spec;
use super::file::backup::Backup;
use super::file::copy::{Clobber, Copy, Deref, Progress, copy};
use super::file::name::{dir_name, join, without_slashes};
use super::file::target::{Target, split, strip};
use super::file::{Cmd, HELP, VERSION, argmatch};
use super::options::{Opt, Parsed, Takes, opt, refused};

pub(crate) const SPEC: Spec = Spec {
    name: "cp",
    about: "copy files and directories",
    run,
    options: OPTIONS,
};

const OPTIONS: &[Opt] = &[
    opt('a', Some(b'a'), Some("archive"), Takes::Nothing),
    opt('A', None, Some("attributes-only"), Takes::Nothing),
    opt('B', None, Some("backup"), Takes::Optional),
    opt('b', Some(b'b'), None, Takes::Nothing),
    opt('C', None, Some("copy-contents"), Takes::Nothing),
    opt('d', Some(b'd'), None, Takes::Nothing),
    opt('f', Some(b'f'), Some("force"), Takes::Nothing),
    opt('i', Some(b'i'), Some("interactive"), Takes::Nothing),
    opt('H', Some(b'H'), None, Takes::Nothing),
    opt('l', Some(b'l'), Some("link"), Takes::Nothing),
    opt('L', Some(b'L'), Some("dereference"), Takes::Nothing),
    opt('n', Some(b'n'), Some("no-clobber"), Takes::Nothing),
    opt('P', Some(b'P'), Some("no-dereference"), Takes::Nothing),
    opt('p', Some(b'p'), None, Takes::Nothing),
    opt('1', None, Some("preserve"), Takes::Optional),
    opt('2', None, Some("no-preserve"), Takes::Required),
    opt('3', None, Some("parents"), Takes::Nothing),
    opt('r', Some(b'R'), Some("recursive"), Takes::Nothing),
    opt('r', Some(b'r'), None, Takes::Nothing),
    opt('4', None, Some("reflink"), Takes::Optional),
    opt('5', None, Some("remove-destination"), Takes::Nothing),
    opt('6', None, Some("sparse"), Takes::Required),
    opt('7', None, Some("strip-trailing-slashes"), Takes::Nothing),
    opt('s', Some(b's'), Some("symbolic-link"), Takes::Nothing),
    opt('S', Some(b'S'), Some("suffix"), Takes::Required),
    opt('t', Some(b't'), Some("target-directory"), Takes::Required),
    opt('T', Some(b'T'), Some("no-target-directory"), Takes::Nothing),
    opt('u', Some(b'u'), Some("update"), Takes::Nothing),
    opt('v', Some(b'v'), Some("verbose"), Takes::Nothing),
    opt('x', Some(b'x'), Some("one-file-system"), Takes::Nothing),
    refused(Some(b'Z'), None, Takes::Nothing, "no SELinux here"),
    refused(None, Some("context"), Takes::Optional, "no SELinux here"),
    HELP,
    VERSION,
];

#[derive(Default)]
struct Extra {
    parents: bool,
    strip: bool,
    directory: Option<Vec<u8>>,
    no_directory: bool,
}

pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let parsed = match cmd.options(args, OPTIONS, "[OPTION]... SOURCE... DEST")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let (how, extra) = match settings(&mut cmd, &parsed)? {
        Ok(settings) => settings,
        Err(status) => return Ok(status),
    };
    if how.hard_link && how.symbolic {
        return cmd.usage(&[b"cannot make both hard and symbolic links"]);
    }
    let operands = split(
        &mut cmd,
        &parsed.operands,
        extra.directory.as_deref(),
        extra.no_directory,
    )?;
    let (mut sources, target) = match operands {
        Ok(split) => split,
        Err(status) => return Ok(status),
    };
    if extra.strip {
        strip(&mut sources);
    }
    if extra.parents && matches!(target, Target::File(_)) {
        return cmd.usage(&[b"with --parents, the destination must be a directory"]);
    }
    let mut progress = Progress::default();
    for from in &sources {
        let to = match (&target, extra.parents) {
            (Target::Directory(dir), true) => {
                let inner = without_slashes(from);
                match make_parents(&mut cmd, dir, inner, &how)? {
                    Some(to) => to,
                    None => continue,
                }
            }
            _ => target.path(from),
        };
        copy(&mut cmd, from, &to, &how, &mut progress)?;
    }
    cmd.finish()
}

fn settings(cmd: &mut Cmd<'_>, parsed: &Parsed) -> Result<Result<(Copy, Extra), i32>, Stop> {
    let mut deref = None;
    let mut backup = false;
    let (mut control, mut suffix) = (None, None);
    let mut extra = Extra::default();
    let mut how = Copy {
        recursive: false,
        deref: Deref::Always,
        keep_mode: false,
        keep_times: false,
        keep_links: false,
        default_mode: false,
        force: false,
        clobber: Clobber::Yes,
        update: false,
        hard_link: false,
        symbolic: false,
        remove_destination: false,
        verbose: false,
        backup: Backup {
            control: super::file::backup::Control::Off,
            suffix: Vec::new(),
        },
        attributes_only: false,
        one_file_system: false,
        copy_contents: false,
        verb: b"",
    };
    for (id, value) in &parsed.options {
        match id {
            'a' => {
                deref = Some(Deref::Never);
                how.recursive = true;
                (how.keep_mode, how.keep_times, how.keep_links) = (true, true, true);
            }
            'A' => how.attributes_only = true,
            'B' => {
                backup = true;
                control.clone_from(value);
            }
            'b' => backup = true,
            'C' => how.copy_contents = true,
            'd' => {
                deref = Some(Deref::Never);
                how.keep_links = true;
            }
            'f' => how.force = true,
            'i' => how.clobber = Clobber::Ask,
            'n' => how.clobber = Clobber::No,
            'H' => deref = Some(Deref::Operands),
            'L' => deref = Some(Deref::Always),
            'P' => deref = Some(Deref::Never),
            'l' => how.hard_link = true,
            's' => how.symbolic = true,
            'p' => (how.keep_mode, how.keep_times) = (true, true),
            '1' | '2' => {
                let value = value.as_deref().unwrap_or(b"mode,ownership,timestamps");
                if !preserve(cmd, &mut how, value, *id == '1')? {
                    return Ok(Err(1));
                }
            }
            '3' => extra.parents = true,
            'r' => how.recursive = true,
            '4' | '6' => {
                let name = if *id == '4' { "--reflink" } else { "--sparse" };
                let list: &[(&str, u8)] = if *id == '4' {
                    &[("auto", 0), ("always", 1), ("never", 2)]
                } else {
                    &[("never", 0), ("auto", 1), ("always", 2)]
                };
                let found = match value {
                    Some(value) => argmatch(cmd, name, value, list)?,
                    None => Some(1),
                };
                let Some(found) = found else {
                    return Ok(Err(1));
                };
                if *id == '4' && found == 1 {
                    let text = b"option '--reflink=always' is not supported: files are copied";
                    return Ok(Err(cmd.usage(&[text])?));
                }
            }
            '5' => how.remove_destination = true,
            '7' => extra.strip = true,
            'S' => {
                backup = true;
                suffix.clone_from(value);
            }
            't' => extra.directory.clone_from(value),
            'T' => extra.no_directory = true,
            'u' => how.update = true,
            'v' => how.verbose = true,
            _ => how.one_file_system = true,
        }
    }
    how.deref = deref.unwrap_or(if how.recursive || how.hard_link {
        Deref::Never
    } else {
        Deref::Always
    });
    if backup && how.clobber == Clobber::No {
        return Ok(Err(cmd.usage(&[
            b"options --backup and --no-clobber are mutually exclusive",
        ])?));
    }
    match Backup::of(cmd, backup, control.as_deref(), suffix.as_deref())? {
        Some(found) => how.backup = found,
        None => return Ok(Err(1)),
    }
    Ok(Ok((how, extra)))
}

/// Reads a list of attributes to keep or not; `false` after a message.
fn preserve(cmd: &mut Cmd<'_>, how: &mut Copy, value: &[u8], keep: bool) -> Result<bool, Stop> {
    let list = [
        ("mode", 'm'),
        ("timestamps", 't'),
        ("ownership", 'o'),
        ("links", 'l'),
        ("context", 'c'),
        ("xattr", 'x'),
        ("all", 'a'),
    ];
    let option = if keep { "--preserve" } else { "--no-preserve" };
    for word in value.split(|b| *b == b',') {
        let Some(found) = argmatch(cmd, option, word, &list)? else {
            return Ok(false);
        };
        if matches!(found, 'm' | 'a') {
            how.keep_mode = keep;
            how.default_mode = !keep;
        }
        if matches!(found, 't' | 'a') {
            how.keep_times = keep;
        }
        if matches!(found, 'l' | 'a') {
            how.keep_links = keep;
        }
    }
    Ok(true)
}

/// Makes the directories of a source beneath the target; `None` after a message.
fn make_parents(
    cmd: &mut Cmd<'_>,
    dir: &[u8],
    from: &[u8],
    how: &Copy,
) -> Result<Option<Vec<u8>>, Stop> {
    let inner: &[u8] = {
        let skip = from.iter().take_while(|b| **b == b'/').count();
        from.get(skip..).unwrap_or_default()
    };
    let to = join(dir, inner);
    let above = dir_name(inner);
    if above == b"." {
        return Ok(Some(to));
    }
    let lead = from.len() - inner.len();
    let ends = (1..=above.len()).filter(|at| above.get(*at).is_none_or(|b| *b == b'/'));
    let mut made: Vec<(Vec<u8>, Stat)> = Vec::new();
    for end in ends {
        let source = from.get(..lead + end).unwrap_or_default();
        let target = join(dir, above.get(..end).unwrap_or_default());
        let stat = match failed(cmd.sys.stat(source, Follow::Yes))? {
            Ok(stat) => stat,
            Err(errno) => {
                let name = cmd.q(source);
                cmd.fail(&[b"failed to get attributes of ", &name], errno)?;
                return Ok(None);
            }
        };
        match failed(cmd.sys.stat(&target, Follow::Yes))? {
            Ok(old) if old.kind == FileKind::Directory => continue,
            Ok(_) => {
                let name = cmd.q(&target);
                cmd.error(&[&name, b" exists but is not a directory"])?;
                return Ok(None);
            }
            Err(_) => {}
        }
        if let Err(errno) = failed(cmd.sys.mkdir(&target, stat.mode & 0o777 | 0o700))? {
            let name = cmd.q(&target);
            cmd.fail(&[b"cannot make directory ", &name], errno)?;
            return Ok(None);
        }
        if how.verbose {
            let line = [source, b" -> ", &target, b"\n"].concat();
            cmd.put(&line)?;
        }
        made.push((target, stat));
    }
    for (target, stat) in made.into_iter().rev() {
        let umask = cmd.sys.umask();
        let mode = if how.keep_mode {
            stat.mode
        } else {
            stat.mode & !umask
        };
        failed(cmd.sys.chmod(&target, mode))?.ok();
    }
    Ok(Some(to))
}

//! `ln`: makes links.

use jp_bash_system::{Errno, FileKind, Follow, Stop, System, failed};

use super::Spec;
use super::file::backup::{Backup, Control};
use super::file::canon::{Exists, Links, canonicalize, relative};
use super::file::name::{base_name, dir_name, join};
use super::file::target::is_directory;
use super::file::{Cmd, HELP, VERSION};
use super::options::{Opt, Parsed, Takes, opt};

pub(crate) const SPEC: Spec = Spec {
    name: "ln",
    about: "make links between files",
    run,
    options: OPTIONS,
};

const OPTIONS: &[Opt] = &[
    opt('B', None, Some("backup"), Takes::Optional),
    opt('b', Some(b'b'), None, Takes::Nothing),
    opt('d', Some(b'd'), Some("directory"), Takes::Nothing),
    opt('d', Some(b'F'), None, Takes::Nothing),
    opt('f', Some(b'f'), Some("force"), Takes::Nothing),
    opt('i', Some(b'i'), Some("interactive"), Takes::Nothing),
    opt('L', Some(b'L'), Some("logical"), Takes::Nothing),
    opt('n', Some(b'n'), Some("no-dereference"), Takes::Nothing),
    opt('P', Some(b'P'), Some("physical"), Takes::Nothing),
    opt('r', Some(b'r'), Some("relative"), Takes::Nothing),
    opt('s', Some(b's'), Some("symbolic"), Takes::Nothing),
    opt('S', Some(b'S'), Some("suffix"), Takes::Required),
    opt('t', Some(b't'), Some("target-directory"), Takes::Required),
    opt('T', Some(b'T'), Some("no-target-directory"), Takes::Nothing),
    opt('v', Some(b'v'), Some("verbose"), Takes::Nothing),
    HELP,
    VERSION,
];

struct Settings {
    symbolic: bool,
    relative: bool,
    force: bool,
    ask: bool,
    follow: Follow,
    verbose: bool,
    /// `-d`: the system is asked for hard links to directories, and refuses.
    directories: bool,
    backup: Backup,
}

pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let parsed = match cmd.options(
        args,
        OPTIONS,
        "[OPTION]... TARGET... [LINK_NAME | DIRECTORY]",
    )? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let has = |id| parsed.options.iter().any(|(found, _)| *found == id);
    let value = |id| {
        let mut all = parsed.options.iter().rev();
        all.find_map(|(found, value)| value.clone().filter(|_| *found == id))
    };
    let last_of = |a, b| {
        let mut all = parsed.options.iter().rev();
        all.find(|(id, _)| *id == a || *id == b)
            .is_some_and(|(id, _)| *id == a)
    };
    let wants = has('B') || has('b') || has('S');
    let Some(backup) = Backup::of(
        &mut cmd,
        wants,
        value('B').as_deref(),
        value('S').as_deref(),
    )?
    else {
        return Ok(1);
    };
    let settings = Settings {
        symbolic: has('s'),
        relative: has('r'),
        force: last_of('f', 'i'),
        ask: last_of('i', 'f'),
        follow: if last_of('L', 'P') {
            Follow::Yes
        } else {
            Follow::No
        },
        verbose: has('v'),
        directories: has('d'),
        backup,
    };
    if settings.relative && !settings.symbolic {
        cmd.error(&[b"cannot do --relative without --symbolic"])?;
        return cmd.finish();
    }
    let pairs = match pairs(&mut cmd, &parsed, value('t').as_deref(), has('T'), has('n'))? {
        Ok(pairs) => pairs,
        Err(status) => return Ok(status),
    };
    for (target, link) in pairs {
        make(&mut cmd, &target, &link, &settings)?;
    }
    cmd.finish()
}

type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

/// Returns what is linked to what; `Err` is a status after a message.
fn pairs(
    cmd: &mut Cmd<'_>,
    parsed: &Parsed,
    directory: Option<&[u8]>,
    no_directory: bool,
    no_deref: bool,
) -> Result<Result<Pairs, i32>, Stop> {
    let operands = parsed.operands.as_slice();
    let Some(first) = operands.first() else {
        return Ok(Err(cmd.usage(&[b"missing file operand"])?));
    };
    let into = |dir: &[u8], targets: &[Vec<u8>]| -> Pairs {
        let link = |target: &Vec<u8>| (target.clone(), join(dir, base_name(target)));
        targets.iter().map(link).collect()
    };
    if let Some(dir) = directory {
        if let Err(errno) = is_directory(cmd.sys, dir)? {
            let name = cmd.q(dir);
            match errno {
                Errno::NotDir => cmd.error(&[b"target ", &name, b" is not a directory"])?,
                _ => cmd.fail(&[b"failed to access ", &name], errno)?,
            }
            return Ok(Err(1));
        }
        return Ok(Ok(into(dir, operands)));
    }
    if no_directory {
        return match operands {
            [target, link] => Ok(Ok(vec![(target.clone(), link.clone())])),
            [_] => {
                let name = cmd.q(first);
                Ok(Err(cmd.usage(&[
                    b"missing destination file operand after ",
                    &name,
                ])?))
            }
            [_, _, extra, ..] => {
                let name = cmd.q(extra);
                Ok(Err(cmd.usage(&[b"extra operand ", &name])?))
            }
            [] => Ok(Err(1)),
        };
    }
    let Some((last, targets)) = operands.split_last().filter(|(_, rest)| !rest.is_empty()) else {
        return Ok(Ok(into(b".", operands)));
    };
    let is_link =
        failed(cmd.sys.stat(last, Follow::No))?.is_ok_and(|stat| stat.kind == FileKind::Symlink);
    let dir = if no_deref && is_link {
        Err(Errno::NotDir)
    } else {
        is_directory(cmd.sys, last)?
    };
    match (dir, targets) {
        (Ok(()), targets) => Ok(Ok(into(last, targets))),
        (Err(_), [target]) => Ok(Ok(vec![(target.clone(), last.clone())])),
        (Err(errno), _) => {
            let name = cmd.q(last);
            cmd.fail(&[b"target ", &name], errno)?;
            Ok(Err(1))
        }
    }
}

fn make(cmd: &mut Cmd<'_>, target: &[u8], link: &[u8], settings: &Settings) -> Result<(), Stop> {
    let mut target = target.to_vec();
    if !settings.symbolic {
        match failed(cmd.sys.stat(&target, settings.follow))? {
            Err(errno) => {
                let name = cmd.q(&target);
                return cmd.fail(&[b"failed to access ", &name], errno);
            }
            Ok(stat) if stat.kind == FileKind::Directory && settings.directories => {
                let (link, target) = (cmd.q(link), cmd.q(&target));
                let text = [&b"failed to create hard link "[..], &link, b" => ", &target];
                return cmd.fail(&text, Errno::Perm);
            }
            Ok(stat) if stat.kind == FileKind::Directory => {
                let name = cmd.qf(&target);
                return cmd.error(&[&name, b": hard link not allowed for directory"]);
            }
            Ok(_) => {}
        }
    }
    if settings.relative {
        let from = canonicalize(cmd.sys, dir_name(link), Exists::Nothing, Links::Follow)?;
        let to = canonicalize(cmd.sys, &target, Exists::Nothing, Links::Follow)?;
        if let (Ok(from), Ok(to)) = (from, to) {
            target = relative(&from, &to);
        }
    }
    let mut note = Vec::new();
    if let Ok(old) = failed(cmd.sys.stat(link, Follow::No))? {
        match room(cmd, &target, link, old.kind, settings)? {
            Some(made) => note = made,
            None => return Ok(()),
        }
    }
    let done = if settings.symbolic {
        failed(cmd.sys.symlink(&target, link))?
    } else {
        failed(cmd.sys.link(&target, link, settings.follow))?
    };
    if let Err(errno) = done {
        let name = cmd.q(link);
        let kind: &[u8] = if settings.symbolic {
            b"symbolic"
        } else {
            b"hard"
        };
        let arrow: &[u8] = if settings.symbolic { b" -> " } else { b" => " };
        let to = [arrow, &cmd.q(&target)].concat();
        // GNU names the target only where that helps to see what is wrong.
        let shows = match settings.symbolic {
            true => errno == Errno::NameTooLong || target.is_empty(),
            false => !matches!(errno, Errno::Exist | Errno::NoSpc | Errno::RoFs),
        };
        let to: &[u8] = if shows { &to } else { b"" };
        return cmd.fail(&[b"failed to create ", kind, b" link ", &name, to], errno);
    }
    if settings.verbose {
        let (a, b) = (cmd.q(link), cmd.q(&target));
        let arrow: &[u8] = if settings.symbolic { b" -> " } else { b" => " };
        let line = [&a[..], arrow, &b, &note, b"\n"].concat();
        cmd.put(&line)?;
    }
    Ok(())
}

/// Makes room for a link; `None` when it cannot be made.
fn room(
    cmd: &mut Cmd<'_>,
    target: &[u8],
    link: &[u8],
    kind: FileKind,
    settings: &Settings,
) -> Result<Option<Vec<u8>>, Stop> {
    let name = cmd.q(link);
    let replaces = settings.force || settings.ask || settings.backup.control != Control::Off;
    if kind == FileKind::Directory && replaces {
        let name = cmd.qf(link);
        cmd.error(&[&name, b": cannot overwrite directory"])?;
        return Ok(None);
    }
    if settings.force || settings.ask {
        let source = failed(cmd.sys.stat(target, Follow::Yes))?;
        let there = failed(cmd.sys.stat(link, Follow::Yes))?;
        if let (Ok(source), Ok(there)) = (source, there)
            && (source.dev, source.ino) == (there.dev, there.ino)
            && (!settings.symbolic || kind != FileKind::Symlink && target == link)
            && kind != FileKind::Symlink
            && same_name(target, link)
        {
            let a = cmd.q(target);
            cmd.error(&[&a, b" and ", &name, b" are the same file"])?;
            return Ok(None);
        }
    }
    if settings.ask && !cmd.ask(&[b"replace ", &name, b"?"])? {
        return Ok(None);
    }
    if let Some(backup) = settings.backup.make(cmd, link)? {
        return Ok(Some([b" ~ ", &cmd.q(&backup)[..]].concat()));
    }
    if settings.force || settings.ask {
        failed(cmd.sys.unlink(link))?.ok();
    }
    Ok(Some(Vec::new()))
}

fn same_name(a: &[u8], b: &[u8]) -> bool {
    base_name(a) == base_name(b) && dir_name(a) == dir_name(b)
}

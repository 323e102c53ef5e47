//! `rm`: removes files and trees, with a list of steps instead of recursion.

use jp_bash_system::{Errno, FileKind, Follow, Stat, Stop, System, failed};

use super::Spec;
use super::file::name::{base_name, join, without_slashes};
use super::file::{Cmd, HELP, VERSION, argmatch};
use super::options::{Opt, Parsed, Takes, opt};

pub(crate) const SPEC: Spec = Spec {
    name: "rm",
    about: "remove files and directories",
    run,
    options: OPTIONS,
};

const OPTIONS: &[Opt] = &[
    opt('f', Some(b'f'), Some("force"), Takes::Nothing),
    opt('i', Some(b'i'), None, Takes::Nothing),
    opt('I', Some(b'I'), None, Takes::Nothing),
    opt('w', None, Some("interactive"), Takes::Optional),
    opt('o', None, Some("one-file-system"), Takes::Nothing),
    opt('n', None, Some("no-preserve-root"), Takes::Nothing),
    opt('p', None, Some("preserve-root"), Takes::Optional),
    opt('r', Some(b'r'), Some("recursive"), Takes::Nothing),
    opt('r', Some(b'R'), None, Takes::Nothing),
    opt('d', Some(b'd'), Some("dir"), Takes::Nothing),
    opt('v', Some(b'v'), Some("verbose"), Takes::Nothing),
    HELP,
    VERSION,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ask {
    Never,
    Protected,
    Once,
    Always,
}

struct Settings {
    force: bool,
    ask: Ask,
    recursive: bool,
    dirs: bool,
    verbose: bool,
    preserve_root: bool,
    one_file_system: bool,
}

pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let parsed = match cmd.options(args, OPTIONS, "[OPTION]... [FILE]...")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let settings = match settings(&mut cmd, &parsed)? {
        Ok(settings) => settings,
        Err(status) => return Ok(status),
    };
    let files = &parsed.operands;
    if files.is_empty() {
        if settings.force {
            return Ok(0);
        }
        return cmd.usage(&[b"missing operand"]);
    }
    if settings.ask == Ask::Once && (settings.recursive || files.len() > 3) {
        let count = files.len().to_string();
        let plural: &[u8] = if files.len() == 1 {
            b"argument"
        } else {
            b"arguments"
        };
        let how: &[u8] = if settings.recursive {
            b" recursively?"
        } else {
            b"?"
        };
        if !cmd.ask(&[b"remove ", count.as_bytes(), b" ", plural, how])? {
            return cmd.finish();
        }
    }
    for path in files {
        operand(&mut cmd, path, &settings)?;
    }
    cmd.finish()
}

fn settings(cmd: &mut Cmd<'_>, parsed: &Parsed) -> Result<Result<Settings, i32>, Stop> {
    let mut settings = Settings {
        force: false,
        ask: Ask::Protected,
        recursive: false,
        dirs: false,
        verbose: false,
        preserve_root: true,
        one_file_system: false,
    };
    for (id, value) in &parsed.options {
        match id {
            'f' => (settings.force, settings.ask) = (true, Ask::Never),
            'i' => (settings.force, settings.ask) = (false, Ask::Always),
            'I' => (settings.force, settings.ask) = (false, Ask::Once),
            'w' => {
                let list = [
                    ("never", Ask::Never),
                    ("no", Ask::Never),
                    ("none", Ask::Never),
                    ("once", Ask::Once),
                    ("always", Ask::Always),
                    ("yes", Ask::Always),
                ];
                let value = value.as_deref().unwrap_or(b"always");
                match argmatch(cmd, "--interactive", value, &list)? {
                    Some(ask) => settings.ask = ask,
                    None => return Ok(Err(1)),
                }
            }
            'o' => settings.one_file_system = true,
            'n' => settings.preserve_root = false,
            'p' => match value.as_deref() {
                None | Some(b"all") => settings.preserve_root = true,
                Some(other) => {
                    let other = cmd.q(other);
                    cmd.error(&[b"unrecognized --preserve-root argument: ", &other])?;
                    return Ok(Err(1));
                }
            },
            'r' => settings.recursive = true,
            'd' => settings.dirs = true,
            _ => settings.verbose = true,
        }
    }
    Ok(Ok(settings))
}

fn operand(cmd: &mut Cmd<'_>, path: &[u8], settings: &Settings) -> Result<(), Stop> {
    if settings.recursive && matches!(base_name(path), b"." | b"..") {
        let name = cmd.q(path);
        return cmd.error(&[
            b"refusing to remove '.' or '..' directory: skipping ",
            &name,
        ]);
    }
    if settings.recursive && settings.preserve_root {
        let root = failed(cmd.sys.stat(b"/", Follow::No))?;
        let this = failed(cmd.sys.stat(path, Follow::No))?;
        if let (Ok(root), Ok(this)) = (root, this)
            && (root.dev, root.ino) == (this.dev, this.ino)
        {
            if path == b"/" {
                cmd.error(&[b"it is dangerous to operate recursively on '/'"])?;
            } else {
                let name = cmd.q(path);
                cmd.error(&[
                    b"it is dangerous to operate recursively on ",
                    &name,
                    b" (same as '/')",
                ])?;
            }
            return cmd.error(&[b"use --no-preserve-root to override this failsafe"]);
        }
    }
    remove(cmd, path, settings)
}

enum Step {
    Remove(Vec<u8>),
    /// The content of a directory is gone, unless something failed since there were this many failures.
    Leave(Vec<u8>, u64),
}

/// How long a path may get before a deep directory is moved up, to stay within the longest path.
/// Every level costs time for each path through it, so this is done early unless paths are shown.
const LONG: usize = 1_000;
const LONG_SHOWN: usize = 3_500;

/// Removes a file or a tree.
fn remove(cmd: &mut Cmd<'_>, top: &[u8], settings: &Settings) -> Result<(), Stop> {
    let mut steps = vec![Step::Remove(top.to_vec())];
    let mut failures = 0;
    let mut moved = 0_u32;
    let device = failed(cmd.sys.stat(top, Follow::No))?.map(|stat| stat.dev);
    while let Some(step) = steps.pop() {
        cmd.sys.work(1)?;
        match step {
            Step::Leave(path, before) => {
                if failures > before {
                    // What is left in it was already reported.
                    continue;
                }
                if settings.ask == Ask::Always {
                    let name = cmd.q(&path);
                    if !cmd.ask(&[b"remove directory ", &name, b"?"])? {
                        continue;
                    }
                }
                failures += u64::from(!gone(cmd, &path, true, settings)?);
            }
            Step::Remove(path) => {
                let stat = match failed(cmd.sys.stat(&path, Follow::No))? {
                    Ok(stat) => stat,
                    Err(Errno::NoEnt | Errno::NotDir) if settings.force => continue,
                    Err(errno) => {
                        let name = cmd.q(&path);
                        cmd.fail(&[b"cannot remove ", &name], errno)?;
                        failures += 1;
                        continue;
                    }
                };
                if stat.kind != FileKind::Directory {
                    if agreed(cmd, &path, &stat, settings)? {
                        failures += u64::from(!gone(cmd, &path, false, settings)?);
                    } else {
                        failures += 1;
                    }
                    continue;
                }
                if settings.one_file_system && device.is_ok_and(|device| device != stat.dev) {
                    let name = cmd.q(&path);
                    cmd.error(&[b"skipping ", &name, b", since it's on a different device"])?;
                    failures += 1;
                    continue;
                }
                let path = shorten(cmd, top, path, &mut moved, settings)?;
                enter(cmd, path, settings, &mut steps, &mut failures)?;
            }
        }
    }
    Ok(())
}

/// Moves a directory whose path gets too long to the top of its own tree, where its path is short again.
fn shorten(
    cmd: &mut Cmd<'_>,
    top: &[u8],
    path: Vec<u8>,
    moved: &mut u32,
    settings: &Settings,
) -> Result<Vec<u8>, Stop> {
    let shown = settings.verbose || settings.ask == Ask::Always;
    let long = if shown { LONG_SHOWN } else { LONG };
    if path.len() < long {
        return Ok(path);
    }
    *moved += 1;
    let place = join(top, format!(".rm-{moved}").as_bytes());
    match failed(cmd.sys.rename(&path, &place))? {
        Ok(()) => Ok(place),
        Err(_) => Ok(path),
    }
}

fn enter(
    cmd: &mut Cmd<'_>,
    path: Vec<u8>,
    settings: &Settings,
    steps: &mut Vec<Step>,
    failures: &mut u64,
) -> Result<(), Stop> {
    if !settings.recursive && !settings.dirs {
        let name = cmd.q(&path);
        cmd.fail(&[b"cannot remove ", &name], Errno::IsDir)?;
        *failures += 1;
        return Ok(());
    }
    if !settings.recursive {
        let empty = failed(cmd.sys.read_dir(&path))?.is_ok_and(|entries| entries.is_empty());
        if !empty {
            let name = cmd.q(&path);
            cmd.fail(&[b"cannot remove ", &name], Errno::NotEmpty)?;
            *failures += 1;
            return Ok(());
        }
    }
    let entries = match failed(cmd.sys.read_dir(&path))? {
        Ok(entries) => entries,
        Err(errno) => {
            // An empty directory that cannot be read can still be removed.
            if failed(cmd.sys.rmdir(&path))?.is_err() {
                let name = cmd.q(&path);
                cmd.fail(&[b"cannot remove ", &name], errno)?;
                *failures += 1;
            } else if settings.verbose {
                let line = [b"removed directory ", &cmd.q(&path)[..], b"\n"].concat();
                cmd.put(&line)?;
            }
            return Ok(());
        }
    };
    if settings.ask == Ask::Always && !entries.is_empty() {
        let name = cmd.q(&path);
        if !cmd.ask(&[b"descend into directory ", &name, b"?"])? {
            *failures += 1;
            return Ok(());
        }
    }
    steps.push(Step::Leave(path.clone(), *failures));
    steps.extend(
        entries
            .iter()
            .rev()
            .map(|entry| Step::Remove(join(&path, &entry.name))),
    );
    Ok(())
}

/// Asks about a file if the options want that.
fn agreed(cmd: &mut Cmd<'_>, path: &[u8], stat: &Stat, settings: &Settings) -> Result<bool, Stop> {
    let protected = stat.kind != FileKind::Symlink && failed(cmd.sys.access(path, 2))?.is_err();
    let asks = match settings.ask {
        Ask::Never => false,
        Ask::Always => true,
        Ask::Protected | Ask::Once => protected && cmd.sys.is_tty(0),
    };
    if !asks {
        return Ok(true);
    }
    let name = cmd.q(path);
    let protected: &[u8] = if protected { b"write-protected " } else { b"" };
    let kind: &[u8] = match stat.kind {
        FileKind::Regular if stat.size == 0 => b"regular empty file ",
        FileKind::Regular => b"regular file ",
        FileKind::Directory => b"directory ",
        FileKind::Symlink => b"symbolic link ",
        FileKind::Fifo => b"fifo ",
        FileKind::CharDevice => b"character special file ",
    };
    cmd.ask(&[b"remove ", protected, kind, &name, b"?"])
}

/// Removes one thing; tells whether it is gone.
fn gone(cmd: &mut Cmd<'_>, path: &[u8], is_dir: bool, settings: &Settings) -> Result<bool, Stop> {
    let done = if is_dir {
        failed(cmd.sys.rmdir(without_slashes(path)))?
    } else {
        failed(cmd.sys.unlink(path))?
    };
    match done {
        Ok(()) => {
            if settings.verbose {
                let what: &[u8] = if is_dir {
                    b"removed directory "
                } else {
                    b"removed "
                };
                let line = [what, &cmd.q(path), b"\n"].concat();
                cmd.put(&line)?;
            }
            Ok(true)
        }
        Err(Errno::NoEnt) if settings.force => Ok(true),
        Err(errno) => {
            let name = cmd.q(path);
            cmd.fail(&[b"cannot remove ", &name], errno)?;
            Ok(false)
        }
    }
}

/// Removes what `mv` has copied.
pub(super) fn remove_all(cmd: &mut Cmd<'_>, path: &[u8], verbose: bool) -> Result<(), Stop> {
    let settings = Settings {
        force: true,
        ask: Ask::Never,
        recursive: true,
        dirs: false,
        verbose,
        preserve_root: true,
        one_file_system: true,
    };
    remove(cmd, path, &settings)
}

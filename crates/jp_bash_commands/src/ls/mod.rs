//! `ls`: lists directories.

mod color;
mod list;
mod options;
mod print;

use jp_bash_system::{Errno, FileKind, Follow, Stop, System, failed};
use rustc_hash::FxHashSet;

use super::Spec;
use super::file::name::join;
use super::file::{Cmd, time};
use super::quote::{self, Style};
use list::{Entry, read};
use options::{Deref, OPTIONS, Settings};
use print::Printer;

pub(crate) const SPEC: Spec = Spec {
    name: "ls",
    about: "list directories",
    run,
    options: OPTIONS,
};

/// A directory that is still to be listed.
struct Pending {
    path: Vec<u8>,
    /// It was named on the command line.
    operand: bool,
    /// Directories we are in, for loops through symlinks.
    leave: bool,
}

pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    cmd.failure = 2;
    let parsed = match cmd.options(args, OPTIONS, "[OPTION]... [FILE]...")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let Some(settings) = options::settings(&mut cmd, &parsed)? else {
        return cmd.finish();
    };
    let mut printer = Printer {
        settings: &settings,
        zone: time::zone(cmd.sys),
        now: cmd.sys.now(),
        colored: false,
    };
    let dot = [b".".to_vec()];
    let operands = match parsed.operands.as_slice() {
        [] => &dot[..],
        operands => operands,
    };
    let (mut files, mut dirs) = (Vec::new(), Vec::new());
    for path in operands {
        match operand(&mut cmd, path, &settings)? {
            Some(entry) if entry.is_dir_to_list && !settings.directory => dirs.push(entry),
            Some(entry) => files.push(entry),
            None => {}
        }
    }
    list::sort(&mut files, &settings, cmd.sys.utf8());
    list::sort(&mut dirs, &settings, cmd.sys.utf8());
    if !files.is_empty() {
        printer.entries(&mut cmd, &files)?;
    }
    let headers = operands.len() > 1 || settings.recursive;
    walk(&mut cmd, &mut printer, dirs, !files.is_empty(), headers)?;
    cmd.finish()
}

/// Looks at an operand; `None` after a message.
fn operand(cmd: &mut Cmd<'_>, path: &[u8], settings: &Settings) -> Result<Option<Entry>, Stop> {
    let link = failed(cmd.sys.stat(path, Follow::No))?;
    let mut stat = link;
    let is_link = link.is_ok_and(|stat| stat.kind == FileKind::Symlink);
    if is_link {
        let through = failed(cmd.sys.stat(path, Follow::Yes))?;
        stat = match settings.deref {
            Deref::Always | Deref::Operands => through,
            // A symlink that leads nowhere is shown as what it is; one that cannot be followed is an error.
            Deref::OperandDirs => match through {
                Ok(there) if there.kind == FileKind::Directory => through,
                Ok(_) | Err(Errno::NoEnt) => link,
                Err(_) => through,
            },
            Deref::Never => link,
        };
    }
    match stat {
        Ok(stat) => Ok(Some(Entry::new(cmd, path, path, stat, settings)?)),
        Err(errno) => {
            let name = cmd.q(path);
            cmd.fail(&[b"cannot access ", &name], errno)?;
            cmd.status = 2;
            Ok(None)
        }
    }
}

/// Lists directories one after another, with those inside them if `-R` wants that.
fn walk(
    cmd: &mut Cmd<'_>,
    printer: &mut Printer<'_>,
    dirs: Vec<Entry>,
    mut printed: bool,
    headers: bool,
) -> Result<(), Stop> {
    let settings = printer.settings;
    let mut todo: Vec<Pending> = dirs
        .into_iter()
        .rev()
        .map(|entry| Pending {
            path: entry.name,
            operand: true,
            leave: false,
        })
        .collect();
    let mut inside: FxHashSet<(u64, u64)> = FxHashSet::default();
    while let Some(dir) = todo.pop() {
        cmd.sys.work(1)?;
        let id = failed(cmd.sys.stat(&dir.path, Follow::Yes))?.map(|stat| (stat.dev, stat.ino));
        if dir.leave {
            if let Ok(id) = id {
                inside.remove(&id);
            }
            continue;
        }
        if let (Ok(id), true) = (id, settings.recursive)
            && !inside.insert(id)
        {
            let mut name = Vec::new();
            quote::append(&mut name, &dir.path, Style::ShellEscape, cmd.sys.utf8());
            cmd.error(&[&name, b": not listing already-listed directory"])?;
            continue;
        }
        let entries = match read(cmd, &dir.path, settings)? {
            Ok(entries) => entries,
            Err(errno) => {
                let before = cmd.status;
                let name = cmd.q(&dir.path);
                cmd.fail(&[b"cannot open directory ", &name], errno)?;
                cmd.status = if dir.operand { 2 } else { i32::max(before, 1) };
                if let Ok(id) = id {
                    inside.remove(&id);
                }
                continue;
            }
        };
        if headers {
            if printed {
                cmd.put(b"\n")?;
            }
            let mut line = Vec::new();
            quote::append(&mut line, &dir.path, settings.style, cmd.sys.utf8());
            line.extend_from_slice(b":\n");
            cmd.put(&line)?;
        }
        printed = true;
        printer.total(cmd, &entries)?;
        printer.entries(cmd, &entries)?;
        if settings.recursive {
            todo.push(Pending {
                path: dir.path.clone(),
                operand: false,
                leave: true,
            });
            let inner = entries.iter().rev().filter(|entry| {
                entry.is_dir_to_list && !matches!(entry.name.as_slice(), b"." | b"..")
            });
            todo.extend(inner.map(|entry| Pending {
                path: join(&dir.path, &entry.name),
                operand: false,
                leave: false,
            }));
        }
    }
    Ok(())
}

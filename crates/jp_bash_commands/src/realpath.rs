//! `realpath`: prints absolute paths without symlinks.

use jp_bash_system::{Errno, FileKind, Follow, Stop, System, failed};

use super::Spec;
use super::file::canon::{Exists, Links, canonicalize, logical, relative};
use super::file::{Cmd, HELP, VERSION};
use super::options::{Opt, Takes, opt};

pub(crate) const SPEC: Spec = Spec {
    name: "realpath",
    about: "print absolute paths without symlinks",
    run,
    options: OPTIONS,
};

const OPTIONS: &[Opt] = &[
    opt(
        'e',
        Some(b'e'),
        Some("canonicalize-existing"),
        Takes::Nothing,
    ),
    opt(
        'm',
        Some(b'm'),
        Some("canonicalize-missing"),
        Takes::Nothing,
    ),
    opt('L', Some(b'L'), Some("logical"), Takes::Nothing),
    opt('P', Some(b'P'), Some("physical"), Takes::Nothing),
    opt('q', Some(b'q'), Some("quiet"), Takes::Nothing),
    opt('t', None, Some("relative-to"), Takes::Required),
    opt('b', None, Some("relative-base"), Takes::Required),
    opt('s', Some(b's'), Some("strip"), Takes::Nothing),
    opt('s', None, Some("no-symlinks"), Takes::Nothing),
    opt('z', Some(b'z'), Some("zero"), Takes::Nothing),
    HELP,
    VERSION,
];

struct Settings {
    exists: Exists,
    logical: bool,
    links: Links,
}

impl Settings {
    fn resolve(&self, sys: &mut dyn System, path: &[u8]) -> Result<Result<Vec<u8>, Errno>, Stop> {
        if path.is_empty() {
            return Ok(Err(Errno::NoEnt));
        }
        if !self.logical && self.links == Links::Follow {
            return canonicalize(sys, path, self.exists, Links::Follow);
        }
        let text = logical(&sys.cwd(), path);
        match self.links {
            // `-L`: `..` goes first by text, then symlinks are followed.
            Links::Follow => canonicalize(sys, &text, self.exists, Links::Follow),
            Links::Keep => canonicalize(sys, &text, self.exists, Links::Keep),
        }
    }
}

pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let parsed = match cmd.options(args, OPTIONS, "[OPTION]... FILE...")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let mut settings = Settings {
        exists: Exists::AllButLast,
        logical: false,
        links: Links::Follow,
    };
    let (mut to, mut base) = (None, None);
    let mut quiet = false;
    let mut end = b'\n';
    for (id, value) in parsed.options {
        match id {
            'e' => settings.exists = Exists::All,
            'm' => settings.exists = Exists::Nothing,
            'L' => (settings.logical, settings.links) = (true, Links::Follow),
            's' => (settings.logical, settings.links) = (true, Links::Keep),
            'P' => (settings.logical, settings.links) = (false, Links::Follow),
            'q' => quiet = true,
            't' => to = value,
            'b' => base = value,
            _ => end = 0,
        }
    }
    if parsed.operands.is_empty() {
        return cmd.usage(&[b"missing operand"]);
    }
    let mut dirs = [to, base];
    for dir in dirs.iter_mut() {
        if let Some(path) = dir {
            match directory(&mut cmd, path, &settings)? {
                Some(found) => *dir = Some(found),
                None => return cmd.finish(),
            }
        }
    }
    let [mut to, base] = dirs;
    if let (Some(inner), Some(base)) = (&to, &base)
        && !is_below(inner, base)
    {
        to = None;
    } else if to.is_none() {
        to.clone_from(&base);
    }
    for path in &parsed.operands {
        match settings.resolve(cmd.sys, path)? {
            Ok(found) => {
                let inside = base.as_ref().is_none_or(|base| is_below(&found, base));
                let shown = match &to {
                    Some(to) if inside => relative(to, &found),
                    _ => found,
                };
                cmd.put(&shown)?;
                cmd.put(&[end])?;
            }
            Err(errno) => {
                cmd.status = 1;
                if !quiet {
                    let name = cmd.qf(path);
                    cmd.fail(&[&name], errno)?;
                }
            }
        }
    }
    cmd.finish()
}

/// Resolves a directory of `--relative-*`; `None` after a message.
fn directory(cmd: &mut Cmd<'_>, path: &[u8], settings: &Settings) -> Result<Option<Vec<u8>>, Stop> {
    let found = settings.resolve(cmd.sys, path)?;
    let errno = match found {
        Ok(found) if settings.exists == Exists::Nothing => return Ok(Some(found)),
        Ok(found) => match failed(cmd.sys.stat(&found, Follow::Yes))? {
            Ok(stat) if stat.kind != FileKind::Directory => Errno::NotDir,
            Err(errno) if settings.exists == Exists::All => errno,
            _ => return Ok(Some(found)),
        },
        Err(errno) => errno,
    };
    let name = cmd.qf(path);
    cmd.fail(&[&name], errno)?;
    Ok(None)
}

/// Tells whether a path is a directory or lies beneath it.
fn is_below(path: &[u8], dir: &[u8]) -> bool {
    dir == b"/"
        || path
            .strip_prefix(dir)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

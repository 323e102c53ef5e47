//! The entries of `ls`: reading, filtering and sorting them.

use std::cmp::Ordering;

use jp_bash_system::{Errno, FileKind, Follow, Stat, Stop, Timestamp, failed};

use super::options::{Deref, Format, Hidden, Indicator, Settings, Sort, Time};
use crate::file::Cmd;
use crate::file::glob::Glob;
use crate::file::name::join;
use crate::quote::pieces;
use crate::version_order;

/// One line or cell.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) name: Vec<u8>,
    pub(super) kind: FileKind,
    pub(super) ino: u64,
    /// What `stat` says, where it was asked for and could be told.
    pub(super) stat: Option<Stat>,
    /// Where a symlink points, and what is there.
    pub(super) target: Option<(Vec<u8>, Option<Stat>)>,
    pub(super) is_dir_to_list: bool,
}

impl Entry {
    pub(super) fn new(
        cmd: &mut Cmd<'_>,
        name: &[u8],
        path: &[u8],
        stat: Stat,
        settings: &Settings,
    ) -> Result<Self, Stop> {
        let mut target = None;
        let wants_target = settings.format == Format::Long;
        if stat.kind == FileKind::Symlink && wants_target {
            match failed(cmd.sys.readlink(path))? {
                Ok(text) => {
                    let there = failed(cmd.sys.stat(path, Follow::Yes))?.ok();
                    target = Some((text, there));
                }
                Err(errno) => {
                    let name = cmd.q(path);
                    cmd.fail(&[b"cannot read symbolic link ", &name], errno)?;
                }
            }
        }
        Ok(Self {
            name: name.to_vec(),
            kind: stat.kind,
            ino: stat.ino,
            stat: Some(stat),
            target,
            is_dir_to_list: stat.kind == FileKind::Directory,
        })
    }

    /// Returns the time that is shown and sorted by.
    pub(super) fn time(&self, time: Time) -> Timestamp {
        self.stat.map_or(Timestamp::default(), |stat| match time {
            Time::Modify => stat.mtime,
            Time::Access => stat.atime,
            Time::Change => stat.ctime,
            Time::Birth => stat.btime,
        })
    }

    fn is_dir(&self) -> bool {
        self.kind == FileKind::Directory
            || self
                .target
                .as_ref()
                .and_then(|(_, stat)| *stat)
                .is_some_and(|stat| stat.kind == FileKind::Directory)
    }
}

/// Reads a directory.
pub(super) fn read(
    cmd: &mut Cmd<'_>,
    dir: &[u8],
    settings: &Settings,
) -> Result<Result<Vec<Entry>, Errno>, Stop> {
    let found = match failed(cmd.sys.read_dir(dir))? {
        Ok(found) => found,
        Err(errno) => return Ok(Err(errno)),
    };
    let utf8 = cmd.sys.utf8();
    let mut entries = Vec::with_capacity(found.len());
    let stats = needs_stat(settings);
    if settings.hidden == Hidden::All {
        for name in [&b"."[..], b".."] {
            if !ignored(name, settings, utf8)
                && let Some(entry) = look(cmd, dir, name, settings)?
            {
                entries.push(entry);
            }
        }
    }
    for item in found {
        if ignored(&item.name, settings, utf8) {
            continue;
        }
        cmd.sys.work(1)?;
        if stats || (settings.deref == Deref::Always && item.kind == FileKind::Symlink) {
            entries.extend(look(cmd, dir, &item.name, settings)?);
        } else {
            entries.push(Entry {
                name: item.name,
                kind: item.kind,
                ino: item.ino,
                stat: None,
                target: None,
                is_dir_to_list: item.kind == FileKind::Directory,
            });
        }
    }
    sort(&mut entries, settings, utf8);
    Ok(Ok(entries))
}

fn needs_stat(settings: &Settings) -> bool {
    settings.format == Format::Long
        || settings.blocks
        || settings.colors.is_some()
        || settings.indicator == Indicator::Classify
        || settings.dirs_first
        || matches!(settings.sort, Sort::Size | Sort::Time)
}

fn look(
    cmd: &mut Cmd<'_>,
    dir: &[u8],
    name: &[u8],
    settings: &Settings,
) -> Result<Option<Entry>, Stop> {
    let path = join(dir, name);
    let follow = if settings.deref == Deref::Always {
        Follow::Yes
    } else {
        Follow::No
    };
    match failed(cmd.sys.stat(&path, follow))? {
        Ok(stat) => Ok(Some(Entry::new(cmd, name, &path, stat, settings)?)),
        Err(errno) => {
            let before = cmd.status;
            let shown = cmd.q(if dir == b"." { name } else { &path });
            cmd.fail(&[b"cannot access ", &shown], errno)?;
            cmd.status = i32::max(before, 1);
            // The name is still listed, with question marks.
            Ok(Some(Entry {
                name: name.to_vec(),
                kind: failed(cmd.sys.stat(&path, Follow::No))?
                    .map_or(FileKind::Regular, |stat| stat.kind),
                ino: 0,
                stat: None,
                target: None,
                is_dir_to_list: false,
            }))
        }
    }
}

fn ignored(name: &[u8], settings: &Settings, utf8: bool) -> bool {
    let glob = Glob {
        utf8,
        fold_case: false,
        period: true,
    };
    let any = |patterns: &[Vec<u8>]| patterns.iter().any(|pattern| glob.matches(pattern, name));
    if settings.hidden == Hidden::No && (name.first() == Some(&b'.') || any(&settings.hide)) {
        return true;
    }
    any(&settings.ignore)
}

/// Sorts as the options want it.
pub(super) fn sort(entries: &mut [Entry], settings: &Settings, utf8: bool) {
    let by_name = |a: &Entry, b: &Entry| a.name.cmp(&b.name);
    let size = |entry: &Entry| entry.stat.map_or(0, |stat| stat.size);
    let order = |a: &Entry, b: &Entry| -> Ordering {
        match settings.sort {
            Sort::None => Ordering::Equal,
            Sort::Name => by_name(a, b),
            Sort::Size => size(b).cmp(&size(a)).then_with(|| by_name(a, b)),
            Sort::Time => b
                .time(settings.time)
                .cmp(&a.time(settings.time))
                .then_with(|| by_name(a, b)),
            Sort::Version => version_order::compare(&a.name, &b.name).then_with(|| by_name(a, b)),
            Sort::Extension => extension(&a.name)
                .cmp(extension(&b.name))
                .then_with(|| by_name(a, b)),
            Sort::Width => width(&a.name, utf8)
                .cmp(&width(&b.name, utf8))
                .then_with(|| by_name(a, b)),
        }
    };
    entries.sort_by(|a, b| {
        let dirs = if settings.dirs_first && settings.sort != Sort::None {
            b.is_dir().cmp(&a.is_dir())
        } else {
            Ordering::Equal
        };
        let order = order(a, b);
        dirs.then(if settings.reverse {
            order.reverse()
        } else {
            order
        })
    });
}

fn extension(name: &[u8]) -> &[u8] {
    match memchr::memrchr(b'.', name) {
        Some(at) => name.get(at..).unwrap_or_default(),
        None => b"",
    }
}

/// Returns how many columns of a terminal a text takes.
pub(super) fn width(text: &[u8], utf8: bool) -> usize {
    pieces(text, utf8)
        .map(|(piece, _)| {
            if piece.first().is_some_and(u8::is_ascii_control) {
                return 0;
            }
            let c = std::str::from_utf8(piece)
                .ok()
                .and_then(|text| text.chars().next());
            match c.map_or(0, u32::from) {
                0x300..=0x36f => 0,
                0x1100..=0x115f
                | 0x2e80..=0xa4cf
                | 0xac00..=0xd7a3
                | 0xf900..=0xfaff
                | 0xfe30..=0xfe6f
                | 0xff00..=0xff60
                | 0xffe0..=0xffe6
                | 0x1f300..=0x1faff
                | 0x20000..=0x3fffd => 2,
                _ => 1,
            }
        })
        .sum()
}

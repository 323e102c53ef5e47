//! Copying files and trees, for `cp` and for `mv` between mounts.
//!
//! Trees are copied with a list of steps instead of recursion, so depth costs memory that is counted, not stack.

mod leaf;

use jp_bash_system::{FileKind, Follow, Stat, Stop, failed};
use rustc_hash::FxHashMap;

use super::Cmd;
use super::backup::Backup;
use super::name::join;

/// Which symlinks of the source are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deref {
    Never,
    Operands,
    Always,
}

/// What to do about a file in the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clobber {
    Yes,
    Ask,
    No,
}

/// How to copy.
#[derive(Debug, Clone)]
pub(crate) struct Copy {
    pub(crate) recursive: bool,
    pub(crate) deref: Deref,
    pub(crate) keep_mode: bool,
    pub(crate) keep_times: bool,
    pub(crate) keep_links: bool,
    /// `--no-preserve=mode`: as if newly made.
    pub(crate) default_mode: bool,
    pub(crate) force: bool,
    pub(crate) clobber: Clobber,
    pub(crate) update: bool,
    pub(crate) hard_link: bool,
    pub(crate) symbolic: bool,
    pub(crate) remove_destination: bool,
    pub(crate) verbose: bool,
    pub(crate) backup: Backup,
    pub(crate) attributes_only: bool,
    pub(crate) one_file_system: bool,
    pub(crate) copy_contents: bool,
    /// What `-v` says before the names: `mv` says `copied `.
    pub(crate) verb: &'static [u8],
}

/// One step of a copy.
enum Step {
    Copy {
        from: Vec<u8>,
        to: Vec<u8>,
        top: bool,
    },
    /// The content of a directory is done: it gets its mode and times.
    Leave { to: Vec<u8>, stat: Stat, made: bool },
}

/// What is known while operands are copied.
#[derive(Default)]
pub(crate) struct Progress {
    /// Where inodes with several names went, for `--preserve=links`.
    linked: FxHashMap<(u64, u64), Vec<u8>>,
    /// Directories that this command made: copying them would never end.
    made: Vec<(u64, u64)>,
    /// Directories we are in, by their source.
    inside: Vec<(u64, u64)>,
    /// Files this command wrote: two sources must not become one file.
    written: FxHashMap<(u64, u64), ()>,
}

/// Copies one operand; tells whether all went well.
pub(crate) fn copy(
    cmd: &mut Cmd<'_>,
    from: &[u8],
    to: &[u8],
    how: &Copy,
    progress: &mut Progress,
) -> Result<bool, Stop> {
    let mut steps = vec![Step::Copy {
        from: from.to_vec(),
        to: to.to_vec(),
        top: true,
    }];
    let mut well = true;
    let mut job = Job {
        how,
        progress,
        top_from: from,
        top_to: to,
        device: None,
    };
    job.progress.made.clear();
    while let Some(step) = steps.pop() {
        cmd.sys.work(1)?;
        match step {
            Step::Copy { from, to, top } => {
                well &= job.copy_one(cmd, &from, &to, top, &mut steps)?;
            }
            Step::Leave { to, stat, made } => {
                job.progress.inside.pop();
                let umask = cmd.sys.umask();
                if how.keep_mode {
                    well &= job.set_mode(cmd, &to, stat.mode)?;
                } else if made {
                    let mode = if how.default_mode { 0o777 } else { stat.mode };
                    well &= job.set_mode(cmd, &to, mode & !umask & 0o7777)?;
                }
                if how.keep_times {
                    well &= job.set_times(cmd, &to, &stat)?;
                }
            }
        }
    }
    if !well {
        cmd.status = cmd.failure;
    }
    Ok(well)
}

struct Job<'a> {
    how: &'a Copy,
    progress: &'a mut Progress,
    top_from: &'a [u8],
    top_to: &'a [u8],
    /// The device of the operand, for `-x`.
    device: Option<u64>,
}

impl Job<'_> {
    fn copy_one(
        &mut self,
        cmd: &mut Cmd<'_>,
        from: &[u8],
        to: &[u8],
        top: bool,
        steps: &mut Vec<Step>,
    ) -> Result<bool, Stop> {
        let how = self.how;
        let follow = match how.deref {
            Deref::Always => Follow::Yes,
            Deref::Operands if top => Follow::Yes,
            _ => Follow::No,
        };
        let stat = match failed(cmd.sys.stat(from, follow))? {
            Ok(stat) => stat,
            Err(errno) => {
                let name = cmd.q(from);
                cmd.fail(&[b"cannot stat ", &name], errno)?;
                return Ok(false);
            }
        };
        let is_dir = stat.kind == FileKind::Directory;
        if is_dir && !how.recursive {
            let name = cmd.q(from);
            cmd.error(&[b"-r not specified; omitting directory ", &name])?;
            return Ok(false);
        }
        if top {
            self.device = Some(stat.dev);
        } else if how.one_file_system
            && self.device.is_some_and(|device| device != stat.dev)
            && !is_dir
        {
            return Ok(true);
        }
        let old = failed(cmd.sys.stat(to, Follow::No))?.ok();
        let mut note = Vec::new();
        let mut old_left = old;
        if let Some(old) = old {
            match self.in_the_way(cmd, from, &stat, to, &old)? {
                Way::Free => {}
                Way::Skip => return Ok(true),
                Way::Refused => return Ok(false),
            }
            let backup = if is_dir {
                None
            } else {
                how.backup.make(cmd, to)?
            };
            if let Some(backup) = backup {
                note = [b" (backup: ", &cmd.q(&backup)[..], b")"].concat();
                old_left = None;
            } else if how.remove_destination && !is_dir {
                if let Err(errno) = failed(cmd.sys.unlink(to))? {
                    let name = cmd.q(to);
                    cmd.fail(&[b"cannot remove ", &name], errno)?;
                    return Ok(false);
                }
                old_left = None;
            }
        }
        if how.verbose && !(is_dir && old.is_some()) {
            let (a, b) = (cmd.q(from), cmd.q(to));
            let line = [how.verb, &a, b" -> ", &b, &note, b"\n"].concat();
            cmd.put(&line)?;
        }
        if is_dir {
            return self.directory(cmd, from, to, &stat, old.is_none(), steps);
        }
        let done = self.leaf(cmd, from, to, &stat, old_left)?;
        if done && let Ok(new) = failed(cmd.sys.stat(to, Follow::No))? {
            self.progress.written.insert((new.dev, new.ino), ());
        }
        Ok(done)
    }

    /// Decides about a destination that exists.
    fn in_the_way(
        &mut self,
        cmd: &mut Cmd<'_>,
        from: &[u8],
        stat: &Stat,
        to: &[u8],
        old: &Stat,
    ) -> Result<Way, Stop> {
        let how = self.how;
        let is_dir = stat.kind == FileKind::Directory;
        let target = failed(cmd.sys.stat(to, Follow::Yes))?.ok();
        let seen = if stat.kind == FileKind::Symlink {
            Some(*old)
        } else {
            target
        };
        let same = seen.is_some_and(|seen| (seen.dev, seen.ino) == (stat.dev, stat.ino));
        if same && !is_dir && !self.may_replace_itself(old, stat) {
            if how.hard_link {
                return Ok(Way::Skip);
            }
            let (a, b) = (cmd.q(from), cmd.q(to));
            cmd.error(&[&a, b" and ", &b, b" are the same file"])?;
            return Ok(Way::Refused);
        }
        if how.clobber == Clobber::No && !is_dir {
            return Ok(Way::Skip);
        }
        let target = target.unwrap_or(*old);
        if how.update && !is_dir && target.mtime >= stat.mtime {
            return Ok(Way::Skip);
        }
        if is_dir && target.kind != FileKind::Directory {
            let (a, b) = (cmd.q(to), cmd.q(from));
            cmd.error(&[
                b"cannot overwrite non-directory ",
                &a,
                b" with directory ",
                &b,
            ])?;
            return Ok(Way::Refused);
        }
        if !is_dir && target.kind == FileKind::Directory && old.kind == FileKind::Directory {
            let name = cmd.q(to);
            cmd.error(&[
                b"cannot overwrite directory ",
                &name,
                b" with non-directory",
            ])?;
            return Ok(Way::Refused);
        }
        if how.clobber == Clobber::Ask && !is_dir {
            let name = cmd.q(to);
            if !cmd.ask(&[b"overwrite ", &name, b"?"])? {
                return Ok(Way::Skip);
            }
        }
        if !is_dir && self.progress.written.contains_key(&(old.dev, old.ino)) && how.verb.is_empty()
        {
            let (a, b) = (cmd.q(to), cmd.q(from));
            cmd.error(&[b"will not overwrite just-created ", &a, b" with ", &b])?;
            return Ok(Way::Refused);
        }
        Ok(Way::Free)
    }

    /// Tells whether a file may be replaced by itself, because the old name goes away first.
    fn may_replace_itself(&self, old: &Stat, stat: &Stat) -> bool {
        let makes_room =
            self.how.remove_destination || self.how.backup.control != super::backup::Control::Off;
        let different_name = (old.dev, old.ino) != (stat.dev, stat.ino) || stat.nlink > 1;
        makes_room && different_name
    }

    fn directory(
        &mut self,
        cmd: &mut Cmd<'_>,
        from: &[u8],
        to: &[u8],
        stat: &Stat,
        new: bool,
        steps: &mut Vec<Step>,
    ) -> Result<bool, Stop> {
        let id = (stat.dev, stat.ino);
        if self.progress.made.contains(&id) {
            let (a, b) = (cmd.q(self.top_from), cmd.q(self.top_to));
            cmd.error(&[b"cannot copy a directory, ", &a, b", into itself, ", &b])?;
            return Ok(false);
        }
        if self.progress.inside.contains(&id) {
            let name = cmd.q(from);
            cmd.error(&[b"cannot copy cyclic symbolic link ", &name])?;
            return Ok(false);
        }
        if new {
            if let Err(errno) = failed(cmd.sys.mkdir(to, stat.mode & 0o777 | 0o700))? {
                let name = cmd.q(to);
                cmd.fail(&[b"cannot create directory ", &name], errno)?;
                return Ok(false);
            }
            if self.progress.inside.is_empty()
                && let Ok(made) = failed(cmd.sys.stat(to, Follow::No))?
            {
                self.progress.made.push((made.dev, made.ino));
            }
        }
        self.progress.inside.push(id);
        steps.push(Step::Leave {
            to: to.to_vec(),
            stat: *stat,
            made: new,
        });
        if self.how.one_file_system && self.device.is_some_and(|device| device != stat.dev) {
            return Ok(true);
        }
        match failed(cmd.sys.read_dir(from))? {
            Ok(entries) => {
                steps.extend(entries.iter().rev().map(|entry| Step::Copy {
                    from: join(from, &entry.name),
                    to: join(to, &entry.name),
                    top: false,
                }));
                Ok(true)
            }
            Err(errno) => {
                let name = cmd.q(from);
                cmd.fail(&[b"cannot access ", &name], errno)?;
                Ok(false)
            }
        }
    }
}

/// What becomes of a destination that exists.
enum Way {
    Free,
    Skip,
    Refused,
}

//! Evaluating the expression of `find` for one file.

use jp_bash_regex::MatchError;
use jp_bash_system::io::Output;
use jp_bash_system::{Errno, FileKind, Follow, Stat, Stop, Timestamp, failed};

use super::exec::Batch;
use super::expr::{Count, Expr, Perm, Subject};
use super::parse::Plan;
use super::{Item, Links, printf};
use crate::file::glob::Glob;
use crate::file::size::blocks;
use crate::file::{Cmd, time};

/// The state of a run.
pub(super) struct Evaluator<'a, 's> {
    pub(super) cmd: &'a mut Cmd<'s>,
    plan: &'a Plan,
    links: Links,
    pub(super) prune: bool,
    pub(super) quit: bool,
    pub(super) zone: jiff::tz::TimeZone,
    /// Output of `-fprint` and the like; the first stands for standard output.
    sinks: Vec<Output>,
    pub(super) batches: Vec<Batch>,
    utf8: bool,
}

impl<'a, 's> Evaluator<'a, 's> {
    pub(super) fn new(cmd: &'a mut Cmd<'s>, plan: &'a Plan, links: Links) -> Self {
        let zone = time::zone(cmd.sys);
        let utf8 = cmd.sys.utf8();
        Self {
            cmd,
            plan,
            links,
            prune: false,
            quit: false,
            zone,
            sinks: plan.sinks.iter().map(|fd| Output::new(*fd)).collect(),
            batches: (0..plan.batches).map(|_| Batch::default()).collect(),
            utf8,
        }
    }

    /// Runs what was collected for `-exec … +` and writes out the rest.
    pub(super) fn finish(mut self) -> Result<(), Stop> {
        for at in 0..self.batches.len() {
            self.run_batch(at)?;
        }
        for sink in std::mem::take(&mut self.sinks).into_iter().skip(1) {
            if let Err(errno) = sink.finish(self.cmd.sys)? {
                self.cmd.fail(&[b"write error"], errno)?;
            }
        }
        Ok(())
    }

    /// Writes to a sink.
    pub(super) fn put(&mut self, sink: usize, bytes: &[u8]) -> Result<(), Stop> {
        match self.sinks.get_mut(sink) {
            Some(out) if sink > 0 => out.put(self.cmd.sys, bytes),
            _ => self.cmd.put(bytes),
        }
    }

    /// Evaluates the whole expression.
    pub(super) fn eval(&mut self, item: &Item) -> Result<bool, Stop> {
        let plan = self.plan;
        self.value(&plan.expr, item)
    }

    fn value(&mut self, expr: &Expr, item: &Item) -> Result<bool, Stop> {
        match expr {
            Expr::And(parts) => {
                for part in parts {
                    if !self.value(part, item)? || self.quit {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Expr::Or(parts) => {
                for part in parts {
                    if self.value(part, item)? || self.quit {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Expr::List(parts) => {
                let mut last = true;
                for part in parts {
                    last = self.value(part, item)?;
                    if self.quit {
                        break;
                    }
                }
                Ok(last)
            }
            Expr::Not(inner) => Ok(!self.value(inner, item)?),
            Expr::Constant(value) => Ok(*value),
            Expr::Print { .. }
            | Expr::Printf { .. }
            | Expr::Ls(_)
            | Expr::Delete
            | Expr::Prune
            | Expr::Quit
            | Expr::Exec(_) => self.act(expr, item),
            _ => self.test(expr, item),
        }
    }

    fn test(&mut self, expr: &Expr, item: &Item) -> Result<bool, Stop> {
        let stat = &item.stat;
        Ok(match expr {
            Expr::Match {
                subject,
                pattern,
                fold_case,
            } => return self.matches(*subject, pattern, *fold_case, item),
            Expr::Regex(regex) => {
                let found = regex.find_at(self.cmd.sys, &item.path, 0);
                found.map_err(MatchError::into_stop)? == Some((0, item.path.len()))
            }
            Expr::Kind { kinds, other } => {
                let kind = if *other {
                    self.other_kind(item)?
                } else {
                    stat.kind
                };
                kinds.contains(&kind)
            }
            Expr::Size { count, unit } => count.holds(i128::from(stat.size.div_ceil(*unit))),
            Expr::Perm { mode, how } => {
                let bits = mode.apply(0, false, 0);
                match how {
                    Perm::Exactly => stat.mode == bits,
                    Perm::All => stat.mode & bits == bits,
                    Perm::Any => bits == 0 || stat.mode & bits != 0,
                }
            }
            Expr::Age { which, count, unit } => {
                let at = which.of(stat);
                in_age(
                    nanos(at),
                    *count,
                    i128::from(*unit) * 1_000_000_000,
                    *unit == 60,
                )
            }
            Expr::Newer { which, than } => which.of(stat) > *than,
            Expr::Used(count) => {
                let days = (nanos(stat.atime) - nanos(stat.ctime)) / 86_400_000_000_000;
                count.holds(days)
            }
            Expr::Empty => match stat.kind {
                FileKind::Regular => stat.size == 0,
                FileKind::Directory => match failed(self.cmd.sys.read_dir(&item.path))? {
                    Ok(entries) => entries.is_empty(),
                    Err(errno) => {
                        let name = self.cmd.quote(&item.path);
                        self.cmd.fail(&[&name], errno)?;
                        false
                    }
                },
                _ => false,
            },
            Expr::Links(count) => count.holds(i128::from(stat.nlink)),
            Expr::Inode(count) => count.holds(i128::from(stat.ino)),
            Expr::User(count) => count.holds(i128::from(stat.uid)),
            Expr::Group(count) => count.holds(i128::from(stat.gid)),
            Expr::SameFile(dev, ino) => (stat.dev, stat.ino) == (*dev, *ino),
            Expr::Access(mode) => failed(self.cmd.sys.access(&item.path, *mode))?.is_ok(),
            Expr::FsType(name) => name == printf::FS_TYPE,
            _ => false,
        })
    }

    fn matches(
        &mut self,
        subject: Subject,
        pattern: &[u8],
        fold_case: bool,
        item: &Item,
    ) -> Result<bool, Stop> {
        let glob = Glob {
            utf8: self.utf8,
            fold_case,
            period: false,
        };
        Ok(match subject {
            Subject::Name => glob.matches(pattern, item.name()),
            Subject::Path => glob.matches(pattern, &item.path),
            Subject::Link => {
                item.stat.kind == FileKind::Symlink
                    && failed(self.cmd.sys.readlink(&item.path))?
                        .is_ok_and(|target| glob.matches(pattern, &target))
            }
        })
    }

    /// Returns the kind that `-xtype` tests: what `-type` would not look at.
    fn other_kind(&mut self, item: &Item) -> Result<FileKind, Stop> {
        let followed =
            self.links == Links::Always || self.links == Links::Operands && item.depth == 0;
        if followed {
            return Ok(failed(self.cmd.sys.stat(&item.path, Follow::No))?
                .map_or(item.stat.kind, |stat| stat.kind));
        }
        if item.stat.kind != FileKind::Symlink {
            return Ok(item.stat.kind);
        }
        Ok(failed(self.cmd.sys.stat(&item.path, Follow::Yes))?
            .map_or(FileKind::Symlink, |stat| stat.kind))
    }

    fn act(&mut self, expr: &Expr, item: &Item) -> Result<bool, Stop> {
        match expr {
            Expr::Print { sink, end } => {
                self.put(*sink, &item.path)?;
                self.put(*sink, &[*end])?;
            }
            Expr::Printf { sink, format } => {
                let text = printf::render(self, item, format)?;
                self.put(*sink, &text)?;
            }
            Expr::Ls(sink) => {
                let line = self.ls_line(item)?;
                self.put(*sink, &line)?;
            }
            Expr::Delete => return self.delete(item),
            Expr::Prune => self.prune = true,
            Expr::Quit => self.quit = true,
            Expr::Exec(exec) => return self.exec(exec, item),
            _ => {}
        }
        Ok(true)
    }

    fn delete(&mut self, item: &Item) -> Result<bool, Stop> {
        if item.path == b"." {
            return Ok(true);
        }
        // Under `-L` a symlink to a directory is still removed as a symlink.
        let link = failed(self.cmd.sys.stat(&item.path, Follow::No))?;
        let is_dir = link.is_ok_and(|stat| stat.kind == FileKind::Directory);
        let done = if is_dir {
            failed(self.cmd.sys.rmdir(&item.path))?
        } else {
            failed(self.cmd.sys.unlink(&item.path))?
        };
        match done {
            Ok(()) => Ok(true),
            Err(Errno::Inval) if item.name() == b"." => Ok(true),
            Err(errno) => {
                let name = self.cmd.quote(&item.path);
                self.cmd.fail(&[b"cannot delete ", &name], errno)?;
                Ok(false)
            }
        }
    }

    fn ls_line(&mut self, item: &Item) -> Result<Vec<u8>, Stop> {
        let stat = &item.stat;
        let now = self.cmd.sys.now();
        let recent = stat.mtime <= now && stat.mtime.secs > now.secs - 31_556_952 / 2;
        let format = if recent { "%b %e %H:%M" } else { "%b %e  %Y" };
        let user = crate::file::name::user_name(self.cmd.sys, stat.uid);
        let group = crate::file::name::group_name(self.cmd.sys, stat.gid);
        let mode = crate::file::mode::mode_text(stat.kind, stat.mode);
        let size = match stat.kind {
            FileKind::CharDevice => format!("{:>3}, {:>3}", 1, stat.ino),
            _ => format!("{:>8}", stat.size),
        };
        let mut line = format!(
            "{:>9} {:>6} {} {:>3} {:<8} {:<8} {size} {} ",
            stat.ino,
            blocks(stat).div_ceil(2),
            String::from_utf8_lossy(&mode),
            stat.nlink,
            String::from_utf8_lossy(&user),
            String::from_utf8_lossy(&group),
            time::format(stat.mtime, &self.zone, format),
        )
        .into_bytes();
        escape_name(&mut line, &item.path);
        if stat.kind == FileKind::Symlink
            && let Ok(target) = failed(self.cmd.sys.readlink(&item.path))?
        {
            line.extend_from_slice(b" -> ");
            escape_name(&mut line, &target);
        }
        line.push(b'\n');
        Ok(line)
    }
}

/// Writes a name as `find -ls` does: what is not printable in escapes.
fn escape_name(out: &mut Vec<u8>, name: &[u8]) {
    for &b in name {
        match b {
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b' ' => out.extend_from_slice(b"\\ "),
            b'"' => out.extend_from_slice(b"\\\""),
            0x21..=0x7e => out.push(b),
            _ => out.extend_from_slice(format!("\\{b:03o}").as_bytes()),
        }
    }
}

pub(super) fn nanos(time: Timestamp) -> i128 {
    i128::from(time.secs) * 1_000_000_000 + i128::from(time.nanos)
}

/// Tells whether a time lies where `-mtime` and `-mmin` want it: days are cut off, minutes rounded up.
fn in_age(time: i128, bound: Count, unit: i128, minutes: bool) -> bool {
    match (bound, minutes) {
        (Count::Less(bound), _) => time > bound,
        (Count::More(bound), true) => time < bound,
        (Count::More(bound), false) => time <= bound - unit,
        (Count::Exactly(bound), true) => bound <= time && time < bound + unit,
        (Count::Exactly(bound), false) => bound - unit < time && time <= bound,
    }
}

/// Returns the letter of a kind in `%y`.
pub(super) fn kind_letter(stat: &Stat) -> u8 {
    match stat.kind {
        FileKind::Regular => b'f',
        FileKind::Directory => b'd',
        FileKind::Symlink => b'l',
        FileKind::Fifo => b'p',
        FileKind::CharDevice => b'c',
    }
}

//! Copying what is no directory.

use jp_bash_system::io::CHUNK;
use jp_bash_system::{Errno, FileKind, Follow, OpenHow, SetTime, Stat, Stop, failed};

use super::{Deref, Job};
use crate::file::Cmd;
use crate::file::name::dir_name;

impl Job<'_> {
    /// Copies what is no directory.
    pub(super) fn leaf(
        &mut self,
        cmd: &mut Cmd<'_>,
        from: &[u8],
        to: &[u8],
        stat: &Stat,
        old: Option<Stat>,
    ) -> Result<bool, Stop> {
        let how = self.how;
        if how.keep_links && stat.nlink > 1 {
            let id = (stat.dev, stat.ino);
            if let Some(first) = self.progress.linked.get(&id).cloned() {
                if old.is_some() {
                    failed(cmd.sys.unlink(to))?.ok();
                }
                return self.hard_link(cmd, &first, to);
            }
            cmd.sys.reserve(to.len() as u64 + 64)?;
            self.progress.linked.insert(id, to.to_vec());
        }
        if how.hard_link && stat.kind != FileKind::Symlink {
            if old.is_some() && !self.make_room(cmd, to)? {
                return Ok(false);
            }
            return self.hard_link(cmd, from, to);
        }
        if how.symbolic {
            return self.symbolic_link(cmd, from, to, old);
        }
        let contents = !how.recursive || how.copy_contents;
        let done = match stat.kind {
            FileKind::Symlink => return self.symlink(cmd, from, to, stat, old),
            FileKind::Fifo if !contents => self.special(cmd, to, stat, old)?,
            _ => self.file(cmd, from, to, stat, old)?,
        };
        let mut well = done;
        if done && how.keep_times {
            well &= self.set_times(cmd, to, stat)?;
        }
        if done && how.keep_mode {
            well &= self.set_mode(cmd, to, stat.mode)?;
        }
        Ok(well)
    }

    pub(super) fn make_room(&self, cmd: &mut Cmd<'_>, to: &[u8]) -> Result<bool, Stop> {
        if !self.how.force {
            return no_link(
                cmd,
                b"cannot create hard link ",
                self.top_from,
                to,
                Errno::Exist,
            );
        }
        Ok(failed(cmd.sys.unlink(to))?.is_ok())
    }

    pub(super) fn hard_link(
        &self,
        cmd: &mut Cmd<'_>,
        from: &[u8],
        to: &[u8],
    ) -> Result<bool, Stop> {
        let follow = match self.how.deref {
            Deref::Always | Deref::Operands => Follow::Yes,
            Deref::Never => Follow::No,
        };
        let Err(errno) = failed(cmd.sys.link(from, to, follow))? else {
            return Ok(true);
        };
        no_link(cmd, b"cannot create hard link ", from, to, errno)
    }

    pub(super) fn symbolic_link(
        &self,
        cmd: &mut Cmd<'_>,
        from: &[u8],
        to: &[u8],
        old: Option<Stat>,
    ) -> Result<bool, Stop> {
        if !from.starts_with(b"/") && dir_name(to) != b"." {
            let name = cmd.qf(to);
            cmd.error(&[
                &name,
                b": can make relative symbolic links only in current directory",
            ])?;
            return Ok(false);
        }
        if old.is_some() && self.how.force {
            failed(cmd.sys.unlink(to))?.ok();
        }
        let Err(errno) = failed(cmd.sys.symlink(from, to))? else {
            return Ok(true);
        };
        no_link(cmd, b"cannot create symbolic link ", from, to, errno)
    }

    pub(super) fn symlink(
        &self,
        cmd: &mut Cmd<'_>,
        from: &[u8],
        to: &[u8],
        stat: &Stat,
        old: Option<Stat>,
    ) -> Result<bool, Stop> {
        let target = match failed(cmd.sys.readlink(from))? {
            Ok(target) => target,
            Err(errno) => {
                let name = cmd.q(from);
                cmd.fail(&[b"cannot read symbolic link ", &name], errno)?;
                return Ok(false);
            }
        };
        if old.is_some() {
            failed(cmd.sys.unlink(to))?.ok();
        }
        if let Err(errno) = failed(cmd.sys.symlink(&target, to))? {
            let name = cmd.q(to);
            cmd.fail(&[b"cannot create symbolic link ", &name], errno)?;
            return Ok(false);
        }
        if self.how.keep_times {
            let (access, modify) = (SetTime::At(stat.atime), SetTime::At(stat.mtime));
            failed(cmd.sys.set_times(to, access, modify, Follow::No))?.ok();
        }
        Ok(true)
    }

    pub(super) fn special(
        &self,
        cmd: &mut Cmd<'_>,
        to: &[u8],
        stat: &Stat,
        old: Option<Stat>,
    ) -> Result<bool, Stop> {
        if old.is_some() {
            failed(cmd.sys.unlink(to))?.ok();
        }
        let Err(errno) = failed(cmd.sys.mkfifo(to, stat.mode))? else {
            return Ok(true);
        };
        let name = cmd.q(to);
        cmd.fail(&[b"cannot create fifo ", &name], errno)?;
        Ok(false)
    }

    pub(super) fn file(
        &self,
        cmd: &mut Cmd<'_>,
        from: &[u8],
        to: &[u8],
        stat: &Stat,
        old: Option<Stat>,
    ) -> Result<bool, Stop> {
        let input = match failed(cmd.sys.open(from, OpenHow::READ))? {
            Ok(fd) => fd,
            Err(errno) => {
                let name = cmd.q(from);
                cmd.fail(&[b"cannot open ", &name, b" for reading"], errno)?;
                return Ok(false);
            }
        };
        let output = match self.open_to(cmd, to, stat, old)? {
            Some(fd) => fd,
            None => {
                cmd.sys.close(input);
                return Ok(false);
            }
        };
        let mut well = true;
        let mut buf = vec![0; CHUNK * 2];
        // Only `--attributes-only` copies nothing.
        let copies = !self.how.attributes_only;
        loop {
            if !copies {
                break;
            }
            cmd.sys.work(64)?;
            let got = match failed(cmd.sys.read(input, &mut buf))? {
                Ok(0) => break,
                Ok(got) => got,
                Err(errno) => {
                    let name = cmd.q(from);
                    cmd.fail(&[b"error reading ", &name], errno)?;
                    well = false;
                    break;
                }
            };
            if let Err(errno) = failed(cmd.sys.write(output, buf.get(..got).unwrap_or_default()))? {
                let name = cmd.q(to);
                cmd.fail(&[b"error writing ", &name], errno)?;
                well = false;
                break;
            }
        }
        cmd.sys.close(input);
        cmd.sys.close(output);
        Ok(well)
    }

    pub(super) fn open_to(
        &self,
        cmd: &mut Cmd<'_>,
        to: &[u8],
        stat: &Stat,
        old: Option<Stat>,
    ) -> Result<Option<u32>, Stop> {
        let mode = if self.how.default_mode {
            0o666
        } else {
            stat.mode & 0o777
        };
        let make = OpenHow {
            exclusive: true,
            mode,
            ..OpenHow::WRITE
        };
        let mut how = make;
        if old.is_some() {
            let dangling = failed(cmd.sys.stat(to, Follow::Yes))? == Err(Errno::NoEnt);
            if dangling && !self.how.force {
                let name = cmd.q(to);
                cmd.error(&[b"not writing through dangling symlink ", &name])?;
                return Ok(None);
            }
            how = OpenHow {
                create: false,
                truncate: !self.how.attributes_only,
                exclusive: false,
                ..make
            };
        }
        let mut opened = failed(cmd.sys.open(to, how))?;
        if opened.is_err() && old.is_some() && self.how.force && failed(cmd.sys.unlink(to))?.is_ok()
        {
            opened = failed(cmd.sys.open(to, make))?;
        }
        match opened {
            Ok(fd) => Ok(Some(fd)),
            Err(errno) => {
                // `cp file new/` is about a directory that is missing.
                let errno = match (errno, to.last()) {
                    (Errno::IsDir | Errno::NoEnt, Some(b'/')) => Errno::NotDir,
                    _ => errno,
                };
                let name = cmd.q(to);
                cmd.fail(&[b"cannot create regular file ", &name], errno)?;
                Ok(None)
            }
        }
    }

    pub(super) fn set_mode(&self, cmd: &mut Cmd<'_>, to: &[u8], mode: u32) -> Result<bool, Stop> {
        let Err(errno) = failed(cmd.sys.chmod(to, mode))? else {
            return Ok(true);
        };
        let name = cmd.q(to);
        cmd.fail(&[b"preserving permissions for ", &name], errno)?;
        Ok(false)
    }

    pub(super) fn set_times(
        &self,
        cmd: &mut Cmd<'_>,
        to: &[u8],
        stat: &Stat,
    ) -> Result<bool, Stop> {
        let (access, modify) = (SetTime::At(stat.atime), SetTime::At(stat.mtime));
        let Err(errno) = failed(cmd.sys.set_times(to, access, modify, Follow::Yes))? else {
            return Ok(true);
        };
        let name = cmd.q(to);
        cmd.fail(&[b"preserving times for ", &name], errno)?;
        Ok(false)
    }
}

/// Reports a link that could not be made.
fn no_link(
    cmd: &mut Cmd<'_>,
    what: &[u8],
    from: &[u8],
    to: &[u8],
    errno: Errno,
) -> Result<bool, Stop> {
    let (to, from) = (cmd.q(to), cmd.q(from));
    cmd.fail(&[what, &to, b" to ", &from], errno)?;
    Ok(false)
}

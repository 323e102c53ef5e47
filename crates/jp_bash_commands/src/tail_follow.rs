//! `tail -f` and `tail -F`: looks at files again and again, until the run's time is over.

use jp_bash_system::io::{CHUNK, Output, fail};
use jp_bash_system::{Errno, Fd, FileKind, Follow, OpenHow, Stat, Stop, System, Whence, failed};

use super::head::header;
use super::quote::{quote_name, quote_name_if_odd};
use super::tail::Settings;

/// What is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    Descriptor,
    Name,
}

/// A file that is followed.
pub(super) struct Followed {
    path: Vec<u8>,
    shown: Vec<u8>,
    fd: Option<Fd>,
    seen: Option<Stat>,
    at: u64,
    errno: Option<Errno>,
    given_up: bool,
    /// A pipe on standard input, which gives nothing more.
    ended: bool,
}

impl Followed {
    /// Makes an entry for a file that was not opened yet.
    pub(super) fn new(path: &[u8], shown: &[u8]) -> Self {
        Self {
            path: path.to_vec(),
            shown: shown.to_vec(),
            fd: None,
            seen: None,
            at: 0,
            errno: None,
            given_up: false,
            ended: false,
        }
    }

    /// Notes that the file could not be opened.
    pub(super) fn missing(&mut self, errno: Errno, retry: bool) {
        self.errno = Some(errno);
        self.given_up = !retry;
    }

    /// Notes the descriptor, which stands at the end of what was printed.
    pub(super) fn opened(&mut self, sys: &mut dyn System, fd: Fd) {
        self.seen = sys.fstat(fd).ok();
        self.at = sys.seek(fd, Whence::Current(0)).unwrap_or(0);
        self.ended = self.path == b"-" && self.seen.is_none_or(|stat| stat.kind == FileKind::Fifo);
        self.fd = Some(fd);
    }

    /// Says that a directory cannot grow.
    pub(super) fn cannot_follow(
        &mut self,
        sys: &mut dyn System,
        args: &[Vec<u8>],
    ) -> Result<(), Stop> {
        self.given_up = true;
        let name = quote_name_if_odd(sys.utf8(), &self.shown);
        let text = b": cannot follow end of this type of file; giving up on this name";
        fail(sys, args, 1, &[&name, text]).map(|_| ())
    }
}

/// What stays the same from one look to the next.
pub(super) struct Following<'a> {
    pub(super) args: &'a [Vec<u8>],
    pub(super) settings: &'a Settings,
    pub(super) out: &'a mut Output,
    pub(super) headers: bool,
    /// The file whose text was printed last.
    pub(super) last: usize,
}

impl Following<'_> {
    /// Follows until nothing is left, the watched process is gone, or a [`Stop`] ends it.
    pub(super) fn run(
        mut self,
        sys: &mut dyn System,
        files: &mut [Followed],
        status: i32,
    ) -> Result<i32, Stop> {
        // `something | tail -f` ends with its input.
        if files.iter().all(|file| file.ended) {
            return Ok(status);
        }
        let mut gone = false;
        loop {
            sys.turns(1)?;
            let mut any = false;
            for (at, file) in files.iter_mut().enumerate() {
                any |= self.look(sys, file, at)?;
            }
            self.out.flush(sys)?;
            if self.out.failed() {
                return Ok(1);
            }
            let waits = self.settings.retry && self.settings.follow == Some(By::Name);
            if !waits && files.iter().all(|file| file.given_up || file.ended) {
                return fail(sys, self.args, 1, &[b"no files remaining"]);
            }
            if !any {
                if gone {
                    return Ok(status);
                }
                let _ = failed(sys.sleep(self.settings.pause))?;
            }
            if let Some(pid) = self.settings.pid {
                gone = failed(sys.kill(pid, 0))?.is_err();
            }
        }
    }

    /// Prints what one file has gained; tells whether it was anything.
    fn look(&mut self, sys: &mut dyn System, file: &mut Followed, at: usize) -> Result<bool, Stop> {
        if file.given_up || file.ended {
            return Ok(false);
        }
        if file.path != b"-" && (self.settings.follow == Some(By::Name) || file.fd.is_none()) {
            self.reopen(sys, file)?;
        }
        let Some(fd) = file.fd else {
            return Ok(false);
        };
        if let Ok(stat) = failed(sys.fstat(fd))? {
            if stat.kind == FileKind::Regular && stat.size < file.at {
                let name = quote_name_if_odd(sys.utf8(), &file.shown);
                fail(sys, self.args, 1, &[&name, b": file truncated"])?;
                let _ = failed(sys.seek(fd, Whence::Start(0)))?;
                file.at = 0;
            }
            file.seen = Some(stat);
        }
        self.drain(sys, file, fd, at)
    }

    fn drain(
        &mut self,
        sys: &mut dyn System,
        file: &mut Followed,
        fd: Fd,
        at: usize,
    ) -> Result<bool, Stop> {
        let mut buf = vec![0; CHUNK];
        let mut any = false;
        loop {
            let got = failed(sys.read(fd, &mut buf))?.unwrap_or(0);
            if got == 0 {
                return Ok(any);
            }
            if self.headers && self.last != at {
                header(sys, self.out, &file.shown, false)?;
            }
            self.last = at;
            any = true;
            file.at += got as u64;
            self.out.put(sys, buf.get(..got).unwrap_or_default())?;
            sys.work(32)?;
        }
    }

    /// Opens the name again if another file has it now.
    fn reopen(&mut self, sys: &mut dyn System, file: &mut Followed) -> Result<(), Stop> {
        let found = failed(sys.stat(&file.path, Follow::Yes))?;
        let stat = match found {
            Ok(stat) => stat,
            Err(errno) => return self.lost(sys, file, errno),
        };
        let same = |seen: Stat| seen.dev == stat.dev && seen.ino == stat.ino;
        if file.fd.is_some() && file.seen.is_some_and(same) {
            return Ok(());
        }
        let fd = match failed(sys.open(&file.path, OpenHow::READ))? {
            Ok(fd) => fd,
            Err(errno) => return self.lost(sys, file, errno),
        };
        let name = quote_name(sys.utf8(), &file.shown);
        let text: &[u8] = match (file.fd, file.errno) {
            (Some(_), _) => b" has been replaced;  following new file",
            (None, Some(Errno::NoEnt)) => b" has appeared;  following new file",
            (None, _) => b" has become accessible",
        };
        fail(sys, self.args, 1, &[&name, text])?;
        if let Some(old) = file.fd {
            sys.close(old);
        }
        file.fd = Some(fd);
        file.seen = Some(stat);
        file.at = 0;
        file.errno = None;
        Ok(())
    }

    fn lost(
        &mut self,
        sys: &mut dyn System,
        file: &mut Followed,
        errno: Errno,
    ) -> Result<(), Stop> {
        let text = errno.text().as_bytes();
        if let Some(fd) = file.fd.take() {
            sys.close(fd);
            let name = quote_name(sys.utf8(), &file.shown);
            let parts: &[&[u8]] = &[&name, b" has become inaccessible: ", text];
            fail(sys, self.args, 1, parts)?;
        } else if file.errno != Some(errno) {
            let name = quote_name_if_odd(sys.utf8(), &file.shown);
            fail(sys, self.args, 1, &[&name, b": ", text])?;
        }
        file.errno = Some(errno);
        file.given_up = !self.settings.retry;
        Ok(())
    }
}

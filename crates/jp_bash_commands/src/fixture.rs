//! A process without a shell, for unit tests of commands: files in a map, streams in buffers.
//!
//! Tests of whole scripts use the real shell; this is for the inside of one command.

use std::collections::BTreeMap;
use std::time::Duration;

use jp_bash_system::{
    DirEntry, Ended, Environ, Errno, Fd, FileKind, Follow, HttpError, HttpRequest, HttpResponse,
    Limit, OpenHow, Pid, SetTime, Spawn, Stat, Stop, SysResult, System, Timestamp, Whence,
};

/// The process. Directories exist by having files in them.
#[derive(Default)]
pub(crate) struct Fixture {
    pub(crate) files: BTreeMap<Vec<u8>, Vec<u8>>,
    pub(crate) env: BTreeMap<Vec<u8>, Vec<u8>>,
    pub(crate) stdin: Vec<u8>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    /// After that many bytes of output, the reader goes away.
    pub(crate) pipe_closes_after: Option<usize>,
    pub(crate) turns_left: Option<u64>,
    pub(crate) memory_left: Option<u64>,
    /// What the transport answers, one for each request; without one it denies.
    pub(crate) answers: std::collections::VecDeque<Result<HttpResponse, HttpError>>,
    /// What the transport was asked for.
    pub(crate) requests: Vec<HttpRequest>,
    stdin_at: usize,
    open: BTreeMap<Fd, (Vec<u8>, usize, bool)>,
}

/// What a command did.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) status: Result<i32, Stop>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Fixture {
    /// Adds a file.
    pub(crate) fn file(mut self, path: &str, content: &[u8]) -> Self {
        self.files
            .insert(path.as_bytes().to_vec(), content.to_vec());
        self
    }

    /// Sets what standard input holds.
    pub(crate) fn stdin(mut self, content: &[u8]) -> Self {
        self.stdin = content.to_vec();
        self
    }

    /// Runs a command with these words.
    pub(crate) fn run(&mut self, run: super::Run, words: &[&str]) -> Ran {
        let args: Vec<Vec<u8>> = words.iter().map(|word| word.as_bytes().to_vec()).collect();
        let status = run(self, &args);
        Ran {
            status,
            stdout: String::from_utf8_lossy(&std::mem::take(&mut self.stdout)).into_owned(),
            stderr: String::from_utf8_lossy(&std::mem::take(&mut self.stderr)).into_owned(),
        }
    }

    fn path(path: &[u8]) -> Vec<u8> {
        path.strip_prefix(b"./").unwrap_or(path).to_vec()
    }

    fn is_dir(&self, path: &[u8]) -> bool {
        let mut prefix = Self::path(path);
        if prefix == b"." || prefix == b"/" {
            return true;
        }
        prefix.push(b'/');
        self.files.keys().any(|key| key.starts_with(&prefix))
    }

    fn stat_of(&self, path: &[u8]) -> SysResult<Stat> {
        let (kind, size) = match self.files.get(&Self::path(path)) {
            Some(content) => (FileKind::Regular, content.len() as u64),
            None if self.is_dir(path) => (FileKind::Directory, 4096),
            None => return Err(Errno::NoEnt.into()),
        };
        let time = Timestamp {
            secs: 1_700_000_000,
            nanos: 0,
        };
        Ok(Stat {
            dev: 1,
            ino: 1,
            kind,
            mode: 0o644,
            nlink: 1,
            uid: 1000,
            gid: 1000,
            size,
            atime: time,
            mtime: time,
            ctime: time,
            btime: time,
        })
    }
}

impl System for Fixture {
    fn env(&self, name: &[u8]) -> Option<Vec<u8>> {
        self.env.get(name).cloned()
    }
    fn environ(&mut self) -> Result<Environ, Stop> {
        let all = self.env.iter();
        Ok(all.map(|(k, v)| (k.clone(), v.clone())).collect())
    }
    fn cwd(&self) -> Vec<u8> {
        b"/home/user".to_vec()
    }
    fn utf8(&self) -> bool {
        self.env.get(&b"LC_ALL"[..]).is_none_or(|v| v != b"C")
    }
    fn umask(&self) -> u32 {
        0o022
    }
    fn uid(&self) -> u32 {
        1000
    }
    fn gid(&self) -> u32 {
        1000
    }
    fn user(&self) -> Vec<u8> {
        b"user".to_vec()
    }
    fn host_name(&self) -> Vec<u8> {
        b"host".to_vec()
    }
    fn pid(&self) -> Pid {
        2
    }
    fn is_tty(&self, _fd: Fd) -> bool {
        false
    }
    fn read(&mut self, fd: Fd, buf: &mut [u8]) -> SysResult<usize> {
        let (content, at) = match self.open.get_mut(&fd) {
            Some((path, at, _)) => (self.files.get(path).ok_or(Errno::NoEnt)?, at),
            None if fd == 0 => (&self.stdin, &mut self.stdin_at),
            None => return Err(Errno::BadF.into()),
        };
        let rest = content.get(*at..).unwrap_or_default();
        let n = usize::min(rest.len(), buf.len());
        buf[..n].copy_from_slice(&rest[..n]);
        *at += n;
        Ok(n)
    }
    fn write(&mut self, fd: Fd, data: &[u8]) -> SysResult<()> {
        match fd {
            1 => {
                self.stdout.extend_from_slice(data);
                if self
                    .pipe_closes_after
                    .is_some_and(|n| self.stdout.len() > n)
                {
                    return Err(Stop::Signal(13).into());
                }
            }
            2 => self.stderr.extend_from_slice(data),
            _ => {
                let (path, _, _) = self.open.get(&fd).ok_or(Errno::BadF)?;
                self.files
                    .entry(path.clone())
                    .or_default()
                    .extend_from_slice(data);
            }
        }
        Ok(())
    }
    fn open(&mut self, path: &[u8], how: OpenHow) -> SysResult<Fd> {
        let path = match path {
            b"/dev/stdin" => return Ok(0),
            b"/dev/stdout" => return Ok(1),
            b"/dev/stderr" => return Ok(2),
            _ => Self::path(path),
        };
        if self.is_dir(&path) && how.write {
            return Err(Errno::IsDir.into());
        }
        if how.create {
            let file = self.files.entry(path.clone()).or_default();
            if how.truncate {
                file.clear();
            }
        } else if !self.files.contains_key(&path) {
            return Err(if self.is_dir(&path) {
                Errno::IsDir
            } else {
                Errno::NoEnt
            }
            .into());
        }
        let fd = (10..).find(|fd| !self.open.contains_key(fd)).unwrap_or(10);
        self.open.insert(fd, (path, 0, how.write));
        Ok(fd)
    }
    fn close(&mut self, fd: Fd) {
        self.open.remove(&fd);
    }
    fn pipe(&mut self) -> SysResult<(Fd, Fd)> {
        Err(Errno::NoSys.into())
    }
    fn seek(&mut self, fd: Fd, to: Whence) -> SysResult<u64> {
        let size = self
            .open
            .get(&fd)
            .and_then(|(path, _, _)| self.files.get(path))
            .map_or(0, Vec::len);
        let (_, at, _) = self.open.get_mut(&fd).ok_or(Errno::SPipe)?;
        let next = match to {
            Whence::Start(n) => i64::try_from(n).unwrap_or(i64::MAX),
            Whence::Current(n) => i64::try_from(*at).unwrap_or(0) + n,
            Whence::End(n) => i64::try_from(size).unwrap_or(0) + n,
        };
        *at = usize::try_from(next).map_err(|_| Errno::Inval)?;
        Ok(*at as u64)
    }
    fn fstat(&mut self, fd: Fd) -> SysResult<Stat> {
        let path = self
            .open
            .get(&fd)
            .map(|(path, _, _)| path.clone())
            .ok_or(Errno::BadF)?;
        self.stat_of(&path)
    }
    fn ftruncate(&mut self, fd: Fd, size: u64) -> SysResult<()> {
        let (path, _, _) = self.open.get(&fd).ok_or(Errno::BadF)?;
        let size = usize::try_from(size).map_err(|_| Errno::FBig)?;
        self.files.entry(path.clone()).or_default().resize(size, 0);
        Ok(())
    }
    fn stat(&mut self, path: &[u8], _follow: Follow) -> SysResult<Stat> {
        self.stat_of(path)
    }
    fn read_dir(&mut self, path: &[u8]) -> SysResult<Vec<DirEntry>> {
        if !self.is_dir(path) {
            return Err(Errno::NotDir.into());
        }
        let mut prefix = Self::path(path);
        prefix.push(b'/');
        let prefix = if path == b"." { Vec::new() } else { prefix };
        let mut found = BTreeMap::new();
        for key in self
            .files
            .keys()
            .filter_map(|key| key.strip_prefix(prefix.as_slice()))
        {
            let mut parts = key.splitn(2, |b| *b == b'/');
            let name = parts.next().unwrap_or_default().to_vec();
            let kind = if parts.next().is_some() {
                FileKind::Directory
            } else {
                FileKind::Regular
            };
            found.insert(name, kind);
        }
        Ok(found
            .into_iter()
            .map(|(name, kind)| DirEntry { name, kind, ino: 1 })
            .collect())
    }
    fn mkdir(&mut self, _path: &[u8], _mode: u32) -> SysResult<()> {
        Err(Errno::NoSys.into())
    }
    fn unlink(&mut self, path: &[u8]) -> SysResult<()> {
        self.files
            .remove(&Self::path(path))
            .map(|_| ())
            .ok_or_else(|| Errno::NoEnt.into())
    }
    fn rmdir(&mut self, _path: &[u8]) -> SysResult<()> {
        Err(Errno::NoSys.into())
    }
    fn rename(&mut self, from: &[u8], to: &[u8]) -> SysResult<()> {
        let content = self.files.remove(&Self::path(from)).ok_or(Errno::NoEnt)?;
        self.files.insert(Self::path(to), content);
        Ok(())
    }
    fn link(&mut self, _target: &[u8], _new: &[u8], _follow: Follow) -> SysResult<()> {
        Err(Errno::NoSys.into())
    }
    fn symlink(&mut self, _target: &[u8], _new: &[u8]) -> SysResult<()> {
        Err(Errno::NoSys.into())
    }
    fn readlink(&mut self, _path: &[u8]) -> SysResult<Vec<u8>> {
        Err(Errno::Inval.into())
    }
    fn mkfifo(&mut self, _path: &[u8], _mode: u32) -> SysResult<()> {
        Err(Errno::NoSys.into())
    }
    fn chmod(&mut self, _path: &[u8], _mode: u32) -> SysResult<()> {
        Ok(())
    }
    fn set_times(
        &mut self,
        _path: &[u8],
        _access: SetTime,
        _modify: SetTime,
        _follow: Follow,
    ) -> SysResult<()> {
        Ok(())
    }
    fn access(&mut self, path: &[u8], _mode: u32) -> SysResult<()> {
        self.stat_of(path).map(|_| ())
    }
    fn now(&self) -> Timestamp {
        Timestamp {
            secs: 1_700_000_000,
            nanos: 123_456_789,
        }
    }
    fn since_start(&self) -> Duration {
        Duration::ZERO
    }
    fn sleep(&mut self, _time: Duration) -> SysResult<()> {
        Ok(())
    }
    fn random(&mut self, buf: &mut [u8]) {
        buf.fill(7);
    }
    fn turns(&mut self, n: u64) -> Result<(), Stop> {
        spend(&mut self.turns_left, n, Limit::Loops)
    }
    fn work(&mut self, _units: u32) -> Result<(), Stop> {
        Ok(())
    }
    fn reserve(&mut self, bytes: u64) -> Result<(), Stop> {
        spend(&mut self.memory_left, bytes, Limit::Memory)
    }
    fn release(&mut self, bytes: u64) {
        self.memory_left = self.memory_left.map(|left| left.saturating_add(bytes));
    }
    fn max_depth(&self) -> u64 {
        1_000
    }
    fn spawn(&mut self, _spawn: Spawn) -> SysResult<Pid> {
        Err(Errno::NoSys.into())
    }
    fn wait(&mut self, _child: Pid) -> SysResult<Ended> {
        Err(Errno::Child.into())
    }
    fn wait_for(&mut self, _child: Pid, _time: Duration) -> SysResult<Option<Ended>> {
        Err(Errno::Child.into())
    }
    fn kill(&mut self, _process: Pid, _signal: u8) -> SysResult<()> {
        Err(Errno::Srch.into())
    }
    fn http(&mut self, request: HttpRequest) -> Result<Result<HttpResponse, HttpError>, Stop> {
        let denied = HttpError::Denied(format!("no network grant for {}", request.url));
        self.requests.push(request);
        Ok(self.answers.pop_front().unwrap_or(Err(denied)))
    }
}

fn spend(left: &mut Option<u64>, n: u64, limit: Limit) -> Result<(), Stop> {
    if let Some(left) = left {
        *left = left.checked_sub(n).ok_or(Stop::Limit(limit))?;
    }
    Ok(())
}

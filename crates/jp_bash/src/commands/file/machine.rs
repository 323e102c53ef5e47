//! A process on a real virtual file system but without a shell, for unit tests of file commands.

use std::time::Duration;

use jp_bash_system::{
    DirEntry, Ended, Environ, Errno, Fd, FileKind, Follow, HttpError, HttpRequest, HttpResponse,
    OpenHow, Pid, SetTime, Spawn, Stat, Stop, SysResult, System, Timestamp, Whence,
};

use crate::commands::{Run, Spec};
use crate::vfs::{Caller, Device, Handle, Mount, NoQuota, Node, Opened, User, Vfs};

const SPECS: &[&Spec] = &[
    &crate::commands::basename::SPEC,
    &crate::commands::cat::SPEC,
    &crate::commands::chmod::SPEC,
    &crate::commands::cp::SPEC,
    &crate::commands::dirname::SPEC,
    &crate::commands::find::SPEC,
    &crate::commands::ln::SPEC,
    &crate::commands::ls::SPEC,
    &crate::commands::mkdir::SPEC,
    &crate::commands::mktemp::SPEC,
    &crate::commands::mv::SPEC,
    &crate::commands::readlink::SPEC,
    &crate::commands::realpath::SPEC,
    &crate::commands::rm::SPEC,
    &crate::commands::rmdir::SPEC,
    &crate::commands::stat::SPEC,
    &crate::commands::tee::SPEC,
    &crate::commands::touch::SPEC,
];

enum Open {
    File(Handle, u64, bool),
    Device(Device),
}

/// The process.
pub(crate) struct Machine {
    pub(crate) vfs: Vfs,
    pub(crate) cwd: Node,
    pub(crate) stdin: Vec<u8>,
    stdin_at: usize,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) env: Vec<(Vec<u8>, Vec<u8>)>,
    open: Vec<Option<Open>>,
    ended: Vec<i32>,
    seed: u8,
}

const NOW: Timestamp = Timestamp {
    secs: 1_700_000_000,
    nanos: 123_456_789,
};

impl Machine {
    /// Makes a machine that stands in `/tmp/w`.
    pub(crate) fn new() -> Self {
        let vfs = Vfs::new(User::named(b"user"), b"host", &["cat", "ls"], NOW).unwrap();
        let mut machine = Self {
            cwd: vfs.root(),
            vfs,
            stdin: Vec::new(),
            stdin_at: 0,
            stdout: Vec::new(),
            stderr: Vec::new(),
            env: Vec::new(),
            open: Vec::new(),
            ended: Vec::new(),
            seed: 1,
        };
        machine.mkdir(b"/tmp/w", 0o777).unwrap();
        machine.cd(b"/tmp/w");
        machine
    }

    /// Changes the working directory.
    pub(crate) fn cd(&mut self, path: &[u8]) {
        self.cwd = self
            .vfs_call(|vfs, caller| vfs.change_dir(caller, path))
            .unwrap();
    }

    fn vfs_call<T>(&mut self, call: impl FnOnce(&mut Vfs, &Caller<'_>) -> T) -> T {
        let caller = Caller {
            cwd: self.cwd,
            now: NOW,
            quota: &NoQuota,
        };
        call(&mut self.vfs, &caller)
    }

    /// Mounts something.
    pub(crate) fn mount(&mut self, path: &str, what: Mount) {
        self.vfs_call(|vfs, caller| vfs.mount(caller, path.as_bytes(), what))
            .unwrap();
    }

    /// Writes a file.
    pub(crate) fn put(&mut self, path: &str, text: &str) {
        self.vfs_call(|vfs, caller| vfs.put(caller, path.as_bytes(), text.as_bytes()))
            .unwrap();
    }

    fn find(name: &[u8]) -> Option<Run> {
        SPECS
            .iter()
            .find(|spec| spec.name.as_bytes() == name)
            .map(|spec| spec.run)
    }

    /// Runs words and returns status and output.
    pub(crate) fn run_words(&mut self, words: &[Vec<u8>]) -> (Result<i32, Stop>, String, String) {
        let name = words.first().cloned().unwrap_or_default();
        let status = match Self::find(&name) {
            Some(run) => run(self, words),
            None => Ok(127),
        };
        let show =
            |bytes: &mut Vec<u8>| String::from_utf8_lossy(&std::mem::take(bytes)).into_owned();
        (status, show(&mut self.stdout), show(&mut self.stderr))
    }

    /// Runs a line of words divided by blanks; returns output, errors and status as one text.
    pub(crate) fn run(&mut self, line: &str) -> String {
        let words: Vec<Vec<u8>> = line
            .split_whitespace()
            .map(|word| word.as_bytes().to_vec())
            .collect();
        let (status, out, err) = self.run_words(&words);
        match status {
            Ok(0) => format!("{out}{err}"),
            Ok(status) => format!("{out}{err}[{status}]\n"),
            Err(stop) => format!("{out}{err}[{stop}]\n"),
        }
    }

    fn slot(&mut self, fd: Fd) -> Option<&mut Open> {
        let at = usize::try_from(fd).ok()?.checked_sub(3)?;
        self.open.get_mut(at)?.as_mut()
    }
}

impl System for Machine {
    fn env(&self, name: &[u8]) -> Option<Vec<u8>> {
        self.env
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.clone())
    }
    fn environ(&mut self) -> Result<Environ, Stop> {
        Ok(self.env.clone())
    }
    fn cwd(&self) -> Vec<u8> {
        self.vfs.path_of(self.cwd).unwrap_or_default()
    }
    fn utf8(&self) -> bool {
        true
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
        if fd == 0 {
            let rest = self.stdin.get(self.stdin_at..).unwrap_or_default();
            let n = usize::min(rest.len(), buf.len());
            buf[..n].copy_from_slice(&rest[..n]);
            self.stdin_at += n;
            return Ok(n);
        }
        let (handle, at) = match self.slot(fd) {
            Some(Open::File(handle, at, _)) => (*handle, *at),
            Some(Open::Device(Device::Zero)) => {
                buf.fill(0);
                return Ok(buf.len());
            }
            Some(Open::Device(_)) => return Ok(0),
            None => return Err(Errno::BadF.into()),
        };
        let got = self.vfs.read_at(handle, at, buf, NOW)?;
        if let Some(Open::File(_, at, _)) = self.slot(fd) {
            *at += got as u64;
        }
        Ok(got)
    }
    fn write(&mut self, fd: Fd, data: &[u8]) -> SysResult<()> {
        match fd {
            1 => self.stdout.extend_from_slice(data),
            2 => self.stderr.extend_from_slice(data),
            _ => {
                let (handle, at, append) = match self.slot(fd) {
                    Some(Open::File(handle, at, append)) => (*handle, *at, *append),
                    Some(Open::Device(Device::Full)) => return Err(Errno::NoSpc.into()),
                    Some(Open::Device(_)) => return Ok(()),
                    None => return Err(Errno::BadF.into()),
                };
                self.vfs_call(|vfs, caller| match append {
                    true => vfs.append(caller, handle, data).map(|_| ()),
                    false => vfs.write_at(caller, handle, at, data),
                })?;
                if let Some(Open::File(_, at, _)) = self.slot(fd) {
                    *at += data.len() as u64;
                }
            }
        }
        Ok(())
    }
    fn open(&mut self, path: &[u8], how: OpenHow) -> SysResult<Fd> {
        let how = OpenHow {
            mode: how.mode & !0o022,
            ..how
        };
        let open = match self.vfs_call(|vfs, caller| vfs.open(caller, path, how))? {
            Opened::File(handle) | Opened::Fifo { handle, .. } => Open::File(handle, 0, how.append),
            Opened::Device(device) => Open::Device(device),
        };
        self.open.push(Some(open));
        Ok(u32::try_from(self.open.len() + 2).unwrap())
    }
    fn close(&mut self, fd: Fd) {
        let handle = match self.slot(fd) {
            Some(Open::File(handle, ..)) => Some(*handle),
            _ => None,
        };
        if let Some(handle) = handle {
            self.vfs.close(handle, &NoQuota);
        }
        let at = usize::try_from(fd).unwrap();
        if let Some(slot) = at.checked_sub(3).and_then(|at| self.open.get_mut(at)) {
            *slot = None;
        }
    }
    fn pipe(&mut self) -> SysResult<(Fd, Fd)> {
        Err(Errno::NoSys.into())
    }
    fn seek(&mut self, _fd: Fd, _to: Whence) -> SysResult<u64> {
        Err(Errno::SPipe.into())
    }
    fn fstat(&mut self, fd: Fd) -> SysResult<Stat> {
        match self.slot(fd) {
            Some(Open::File(handle, ..)) => {
                let handle = *handle;
                self.vfs.fstat(handle)
            }
            _ => Err(Errno::BadF.into()),
        }
    }
    fn ftruncate(&mut self, _fd: Fd, _size: u64) -> SysResult<()> {
        Err(Errno::NoSys.into())
    }
    fn stat(&mut self, path: &[u8], follow: Follow) -> SysResult<Stat> {
        self.vfs_call(|vfs, caller| vfs.stat(caller, path, follow))
    }
    fn read_dir(&mut self, path: &[u8]) -> SysResult<Vec<DirEntry>> {
        self.vfs_call(|vfs, caller| vfs.read_dir(caller, path))
    }
    fn mkdir(&mut self, path: &[u8], mode: u32) -> SysResult<()> {
        self.vfs_call(|vfs, caller| vfs.mkdir(caller, path, mode & !0o022))
    }
    fn unlink(&mut self, path: &[u8]) -> SysResult<()> {
        self.vfs_call(|vfs, caller| vfs.unlink(caller, path))
    }
    fn rmdir(&mut self, path: &[u8]) -> SysResult<()> {
        self.vfs_call(|vfs, caller| vfs.rmdir(caller, path))
    }
    fn rename(&mut self, from: &[u8], to: &[u8]) -> SysResult<()> {
        self.vfs_call(|vfs, caller| vfs.rename(caller, from, to))
    }
    fn link(&mut self, target: &[u8], new: &[u8], follow: Follow) -> SysResult<()> {
        self.vfs_call(|vfs, caller| vfs.link(caller, target, new, follow))
    }
    fn symlink(&mut self, target: &[u8], new: &[u8]) -> SysResult<()> {
        self.vfs_call(|vfs, caller| vfs.symlink(caller, target, new))
    }
    fn readlink(&mut self, path: &[u8]) -> SysResult<Vec<u8>> {
        self.vfs_call(|vfs, caller| vfs.readlink(caller, path))
    }
    fn mkfifo(&mut self, path: &[u8], mode: u32) -> SysResult<()> {
        self.vfs_call(|vfs, caller| vfs.mkfifo(caller, path, mode & !0o022))
    }
    fn chmod(&mut self, path: &[u8], mode: u32) -> SysResult<()> {
        self.vfs_call(|vfs, caller| vfs.chmod(caller, path, mode))
    }
    fn set_times(
        &mut self,
        path: &[u8],
        access: SetTime,
        modify: SetTime,
        follow: Follow,
    ) -> SysResult<()> {
        self.vfs_call(|vfs, caller| vfs.set_times(caller, path, access, modify, follow))
    }
    fn access(&mut self, path: &[u8], mode: u32) -> SysResult<()> {
        self.vfs_call(|vfs, caller| vfs.access(caller, path, mode))
    }
    fn now(&self) -> Timestamp {
        NOW
    }
    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }
    fn sleep(&mut self, _time: Duration) -> SysResult<()> {
        Ok(())
    }
    fn random(&mut self, buf: &mut [u8]) {
        for b in buf {
            self.seed = self.seed.wrapping_mul(37).wrapping_add(11);
            *b = self.seed;
        }
    }
    fn turns(&mut self, _n: u64) -> Result<(), Stop> {
        Ok(())
    }
    fn work(&mut self, _units: u32) -> Result<(), Stop> {
        Ok(())
    }
    fn reserve(&mut self, _bytes: u64) -> Result<(), Stop> {
        Ok(())
    }
    fn release(&mut self, _bytes: u64) {}
    fn max_depth(&self) -> u64 {
        1_000
    }
    fn spawn(&mut self, spawn: Spawn) -> SysResult<Pid> {
        // Runs at once; `echo` is there so that tests can see what they start.
        let name = spawn.argv.first().cloned().unwrap_or_default();
        let before = self.cwd;
        if let Some(dir) = &spawn.cwd {
            self.cd(dir);
        }
        let status = match (name.as_slice(), Self::find(&name)) {
            (b"echo", _) => {
                let line = spawn.argv.get(1..).unwrap_or_default().join(&b' ');
                self.stdout.extend_from_slice(&line);
                self.stdout.push(b'\n');
                Ok(0)
            }
            (b"false", _) => Ok(1),
            (_, Some(run)) => run(self, &spawn.argv),
            _ => {
                self.cwd = before;
                return Err(Errno::NoEnt.into());
            }
        };
        self.cwd = before;
        self.ended.push(status?);
        Ok(u32::try_from(self.ended.len()).unwrap())
    }
    fn wait(&mut self, child: Pid) -> SysResult<Ended> {
        let at = usize::try_from(child).unwrap() - 1;
        Ok(Ended::Exit(*self.ended.get(at).ok_or(Errno::Child)?))
    }
    fn wait_for(&mut self, child: Pid, _time: Duration) -> SysResult<Option<Ended>> {
        self.wait(child).map(Some)
    }
    fn kill(&mut self, _process: Pid, _signal: u8) -> SysResult<()> {
        Err(Errno::Srch.into())
    }
    fn http(&mut self, request: HttpRequest) -> Result<Result<HttpResponse, HttpError>, Stop> {
        Ok(Err(HttpError::Denied(request.url)))
    }
}

/// Tells whether a path is a regular file.
pub(crate) fn is_file(machine: &mut Machine, path: &str) -> bool {
    machine
        .stat(path.as_bytes(), Follow::Yes)
        .is_ok_and(|stat| stat.kind == FileKind::Regular)
}

//! The system calls of a process: descriptors, files, time, children.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use jp_bash_system::{
    DirEntry, Ended, Environ, Errno, Fd, FileKind, Follow, HttpError, HttpRequest, HttpResponse,
    OpenHow, Pid, SetTime, Spawn, Stat, Stop, SysError, SysResult, System, Timestamp, Whence,
    meter, units,
};

use crate::Shell;
use crate::kernel::State;
use crate::kernel::file::{Mode, Object, OpenFile};
use crate::kernel::pipe::{Pipe, Transfer};
use crate::signals;
use crate::traps::Action;
use crate::vfs::{Caller, Device, Opened};

/// The most bytes that are moved between two asks of the budget.
const TRANSFER: usize = 64 << 10;

impl Shell<'_> {
    /// Returns this process as the file system sees it.
    pub(crate) fn caller(&self) -> Caller<'_> {
        self.kernel.caller(self.cwd.node)
    }

    /// Opens a path; the umask is applied to what is created.
    pub(crate) fn open_path(&mut self, path: &[u8], how: OpenHow) -> SysResult<Rc<OpenFile>> {
        let how = OpenHow {
            mode: how.mode & !self.umask,
            ..how
        };
        let opened = self
            .kernel
            .vfs
            .borrow_mut()
            .open(&self.caller(), path, how)?;
        let mode = Mode {
            read: how.read,
            write: how.write,
            append: how.append,
        };
        let object = match opened {
            Opened::File(handle) => Object::File(handle),
            Opened::Fifo { handle, id } => {
                let budget = Rc::clone(&self.kernel.budget);
                self.kernel.vfs.borrow_mut().close(handle, &*budget);
                return self.open_fifo(id, mode);
            }
            Opened::Device(Device::Null) => Object::Null,
            Opened::Device(Device::Zero) => Object::Zero,
            Opened::Device(Device::Full) => Object::Full,
            Opened::Device(Device::Random) => Object::Random,
            Opened::Device(Device::Tty) => return Err(Errno::NotTty.into()),
            Opened::Device(Device::Fd(fd)) => {
                return Ok(Rc::clone(self.fds.get(fd).ok_or(Errno::NoEnt)?));
            }
        };
        Ok(self.kernel.describe(object, mode)?)
    }

    /// Opens an end of a FIFO and waits for the other one.
    fn open_fifo(&mut self, id: (u64, u64), mode: Mode) -> SysResult<Rc<OpenFile>> {
        let pipe = {
            let mut fifos = self.kernel.fifos.borrow_mut();
            match fifos.get(&id).and_then(std::rc::Weak::upgrade) {
                Some(pipe) => pipe,
                None => {
                    let pipe = Pipe::new(Rc::clone(&self.kernel.ready));
                    fifos.insert(id, Rc::downgrade(&pipe));
                    pipe
                }
            }
        };
        let (reads, writes) = pipe.opens();
        let file = self.kernel.describe(Object::Pipe(Rc::clone(&pipe)), mode)?;
        while (mode.read && !mode.write && pipe.writers() == 0 && pipe.opens().1 == writes)
            || (mode.write && !mode.read && pipe.readers() == 0 && pipe.opens().0 == reads)
        {
            pipe.waiters.add(self.task_pid);
            self.block()?;
        }
        Ok(file)
    }

    fn read_file(&mut self, file: &OpenFile, buf: &mut [u8]) -> SysResult<usize> {
        if !file.read {
            return Err(Errno::BadF.into());
        }
        match &file.object {
            Object::File(handle) => {
                let now = self.kernel.host.now();
                let n =
                    self.kernel
                        .vfs
                        .borrow_mut()
                        .read_at(*handle, file.offset.get(), buf, now)?;
                file.offset.set(file.offset.get() + n as u64);
                Ok(n)
            }
            Object::Pipe(pipe) => self.read_pipe(pipe, || pipe.read(buf)),
            Object::Text(text) => {
                let from = usize::try_from(file.offset.get()).unwrap_or(usize::MAX);
                let rest = text.get(from..).unwrap_or_default();
                let n = usize::min(rest.len(), buf.len());
                if let (Some(to), Some(from)) = (buf.get_mut(..n), rest.get(..n)) {
                    to.copy_from_slice(from);
                }
                file.offset.set(file.offset.get() + n as u64);
                Ok(n)
            }
            Object::Input(input) => Ok(input.read(buf)?),
            Object::Null => Ok(0),
            Object::Zero | Object::Full => {
                buf.fill(0);
                Ok(buf.len())
            }
            Object::Random => {
                (self.kernel.host.random)(buf);
                Ok(buf.len())
            }
            Object::Capture(_) | Object::Sink(_) => Err(Errno::BadF.into()),
        }
    }

    fn read_pipe(&mut self, pipe: &Pipe, mut take: impl FnMut() -> Transfer) -> SysResult<usize> {
        loop {
            match take() {
                Transfer::Done(n) => return Ok(n),
                Transfer::Closed => return Ok(0),
                Transfer::Wait => {
                    pipe.waiters.add(self.task_pid);
                    self.block()?;
                }
            }
        }
    }

    /// Reads up to this byte and not behind it: from a pipe what is there, from anything else one byte.
    pub(super) fn read_until(&mut self, fd: Fd, buf: &mut [u8], last: u8) -> SysResult<usize> {
        let file = self.file(fd)?;
        match &file.object {
            Object::Pipe(pipe) if file.read => {
                self.work(1)?;
                self.read_pipe(pipe, || pipe.read_until(buf, last))
            }
            _ => self.read(fd, buf.get_mut(..1).unwrap_or_default()),
        }
    }

    /// Fills a buffer that is larger than one transfer. What can wait gives only what it has.
    fn read_long(&mut self, file: &OpenFile, buf: &mut [u8]) -> SysResult<usize> {
        let waits = matches!(file.object, Object::Pipe(_) | Object::Input(_));
        let mut got = 0;
        for piece in buf.chunks_mut(TRANSFER) {
            self.work_bytes(piece.len())?;
            let n = self.read_file(file, piece)?;
            got += n;
            if waits || n < piece.len() {
                break;
            }
        }
        Ok(got)
    }

    fn write_file(&mut self, file: &OpenFile, data: &[u8]) -> SysResult<()> {
        if !file.write {
            return Err(Errno::BadF.into());
        }
        match &file.object {
            Object::File(handle) => {
                let mut vfs = self.kernel.vfs.borrow_mut();
                let caller = self.caller();
                if file.append {
                    file.offset.set(vfs.append(&caller, *handle, data)?);
                } else {
                    vfs.write_at(&caller, *handle, file.offset.get(), data)?;
                    file.offset.set(file.offset.get() + data.len() as u64);
                }
                Ok(())
            }
            Object::Pipe(pipe) => self.write_pipe(pipe, data),
            Object::Capture(capture) => {
                self.kernel.budget.reserve(data.len() as u64)?;
                capture.bytes.borrow_mut().extend_from_slice(data);
                Ok(())
            }
            Object::Sink(stream) => {
                let kernel = &self.kernel;
                match kernel.sinks.write(*stream, data, &kernel.budget) {
                    Err(SysError::Errno(Errno::Pipe)) => self.broken_pipe(),
                    result => result,
                }
            }
            Object::Null | Object::Zero | Object::Random => Ok(()),
            Object::Full => Err(Errno::NoSpc.into()),
            Object::Text(_) | Object::Input(_) => Err(Errno::BadF.into()),
        }
    }

    fn write_pipe(&mut self, pipe: &Rc<Pipe>, mut data: &[u8]) -> SysResult<()> {
        loop {
            match pipe.write(data) {
                Transfer::Done(n) => {
                    data = data.get(n..).unwrap_or_default();
                    if data.is_empty() {
                        return Ok(());
                    }
                }
                Transfer::Closed => return self.broken_pipe(),
                Transfer::Wait => {
                    pipe.waiters.add(self.task_pid);
                    self.block()?;
                }
            }
        }
    }

    /// Does what a write without a reader does: SIGPIPE, or an error where that is ignored or trapped.
    fn broken_pipe(&mut self) -> SysResult<()> {
        match self.traps.get(signals::PIPE) {
            Some(Action::Ignore) => Err(Errno::Pipe.into()),
            Some(Action::Run(_)) => {
                self.kernel.signal(self.pid, signals::PIPE);
                Err(Errno::Pipe.into())
            }
            None => Err(Stop::Signal(signals::PIPE).into()),
        }
    }

    /// Returns an open description.
    pub(crate) fn file(&self, fd: Fd) -> Result<Rc<OpenFile>, Errno> {
        self.fds.get(fd).cloned().ok_or(Errno::BadF)
    }

    fn device_stat(&self, kind: FileKind) -> Stat {
        let time = Timestamp::default();
        Stat {
            dev: 0,
            ino: 0,
            kind,
            mode: 0o600,
            nlink: 1,
            uid: self.kernel.identity.uid,
            gid: self.kernel.identity.gid,
            size: 0,
            atime: time,
            mtime: time,
            ctime: time,
            btime: time,
        }
    }

    /// Waits for a child, at most until a moment.
    fn wait_child(&mut self, child: Pid, until: Option<Duration>) -> SysResult<Option<Ended>> {
        if self.kernel.parent(child) != Some(self.pid) {
            return Err(Errno::Child.into());
        }
        loop {
            match self.kernel.state(child) {
                None => return Err(Errno::Child.into()),
                Some(State::Ended(how)) => {
                    self.kernel.reap(child);
                    return Ok(Some(how));
                }
                Some(_) => {}
            }
            if let Some(until) = until {
                if self.kernel.monotonic() >= until {
                    return Ok(None);
                }
                self.kernel.add_timer(until, self.task_pid);
            }
            self.kernel.wait_on(child, self.task_pid);
            match self.block() {
                Err(Stop::Signal(signal)) if self.hands_on && signal != signals::KILL => {
                    self.kernel.delivered(self.pid, signal);
                    self.signal_child(child, signal);
                }
                result => result?,
            }
        }
    }

    /// Sends a signal to a child, or to the whole group that it leads.
    pub(crate) fn signal_child(&self, child: Pid, signal: u8) -> bool {
        match self.kernel.group(child) == child {
            true => self.kernel.signal_group(child, signal),
            false => self.kernel.signal(child, signal),
        }
    }
}

impl Shell<'_> {
    /// Copies the exported variables; the copy counts until the command ends.
    pub(crate) fn exported_variables(&mut self) -> Result<Environ, Stop> {
        let names = self.kernel.names.borrow();
        let exported = self.vars.environ(&names);
        let bytes = exported
            .iter()
            .map(|(name, value)| name.len() + value.len());
        let bytes = bytes.sum::<usize>() as u64;
        self.kernel.budget.reserve(bytes)?;
        let copy = |(name, value): (Arc<[u8]>, &[u8])| (name.to_vec(), value.to_vec());
        let environ = exported.into_iter().map(copy).collect();
        self.reserved += bytes;
        Ok(environ)
    }
}

impl System for Shell<'_> {
    fn env(&self, name: &[u8]) -> Option<Vec<u8>> {
        let name = self.kernel.names.borrow().find(name)?;
        let var = self.vars.get(name)?;
        if !var.attrs.has(crate::vars::Attrs::EXPORT) {
            return None;
        }
        var.text().map(|text| text.as_slice().to_vec())
    }
    fn environ(&mut self) -> Result<Environ, Stop> {
        let mut environ = self.exported()?;
        environ.sort();
        Ok(environ)
    }
    fn cwd(&self) -> Vec<u8> {
        self.cwd.physical.to_vec()
    }
    fn utf8(&self) -> bool {
        self.vars.utf8()
    }
    fn umask(&self) -> u32 {
        self.umask
    }
    fn uid(&self) -> u32 {
        self.kernel.identity.uid
    }
    fn gid(&self) -> u32 {
        self.kernel.identity.gid
    }
    fn user(&self) -> Vec<u8> {
        self.kernel.identity.user.to_vec()
    }
    fn host_name(&self) -> Vec<u8> {
        self.kernel.identity.host.to_vec()
    }
    fn pid(&self) -> Pid {
        self.pid
    }
    fn is_tty(&self, fd: Fd) -> bool {
        let file = self.fds.get(fd);
        file.is_some_and(|file| matches!(&file.object, Object::Input(input) if input.is_terminal()))
    }
    fn read(&mut self, fd: Fd, buf: &mut [u8]) -> SysResult<usize> {
        let file = self.file(fd)?;
        if buf.len() <= TRANSFER {
            self.work(1)?;
            return self.read_file(&file, buf);
        }
        self.read_long(&file, buf)
    }
    fn write(&mut self, fd: Fd, data: &[u8]) -> SysResult<()> {
        let file = self.file(fd)?;
        if data.len() <= TRANSFER {
            meter::wrote(data.len());
            self.work(units(data.len() >> 2))?;
            return self.write_file(&file, data);
        }
        for piece in data.chunks(TRANSFER) {
            meter::wrote(piece.len());
            // Nobody else gets a turn in the middle of one write.
            self.kernel.budget.work(units(piece.len() >> 2))?;
            self.write_file(&file, piece)?;
        }
        self.tick(units(data.len() >> 2))?;
        Ok(())
    }
    fn open(&mut self, path: &[u8], how: OpenHow) -> SysResult<Fd> {
        let file = self.open_path(path, how)?;
        Ok(self.fds.add(3, file)?)
    }
    fn close(&mut self, fd: Fd) {
        let _closed = self.fds.set(fd, None);
    }
    fn pipe(&mut self) -> SysResult<(Fd, Fd)> {
        let (read, write) = self.kernel.pipe()?;
        Ok((self.fds.add(3, read)?, self.fds.add(3, write)?))
    }
    fn seek(&mut self, fd: Fd, to: Whence) -> SysResult<u64> {
        let file = self.file(fd)?;
        let size = match &file.object {
            Object::File(handle) => {
                let size = self.kernel.vfs.borrow().size(*handle)?;
                i64::try_from(size).unwrap_or(i64::MAX)
            }
            Object::Text(text) => i64::try_from(text.len()).unwrap_or(i64::MAX),
            Object::Null | Object::Zero | Object::Full | Object::Random => 0,
            _ => return Err(Errno::SPipe.into()),
        };
        let at = i64::try_from(file.offset.get()).unwrap_or(i64::MAX);
        let next = match to {
            Whence::Start(offset) => i64::try_from(offset).ok(),
            Whence::Current(by) => at.checked_add(by),
            Whence::End(by) => size.checked_add(by),
        };
        let next = next
            .and_then(|next| u64::try_from(next).ok())
            .ok_or(Errno::Inval)?;
        file.offset.set(next);
        Ok(next)
    }
    fn fstat(&mut self, fd: Fd) -> SysResult<Stat> {
        let file = self.file(fd)?;
        Ok(match &file.object {
            Object::File(handle) => self.kernel.vfs.borrow().fstat(*handle)?,
            Object::Pipe(_) | Object::Capture(_) | Object::Sink(_) | Object::Input(_) => {
                self.device_stat(FileKind::Fifo)
            }
            Object::Text(text) => Stat {
                size: text.len() as u64,
                ..self.device_stat(FileKind::Regular)
            },
            _ => self.device_stat(FileKind::CharDevice),
        })
    }
    fn ftruncate(&mut self, fd: Fd, size: u64) -> SysResult<()> {
        let file = self.file(fd)?;
        match &file.object {
            Object::File(handle) if file.write => {
                let caller = self.caller();
                self.kernel
                    .vfs
                    .borrow_mut()
                    .truncate(&caller, *handle, size)
            }
            _ => Err(Errno::Inval.into()),
        }
    }

    fn stat(&mut self, path: &[u8], follow: Follow) -> SysResult<Stat> {
        self.work(1)?;
        if follow == Follow::Yes {
            let device = {
                let mut vfs = self.kernel.vfs.borrow_mut();
                // What cannot be found here cannot be found below either.
                vfs.device(&self.caller(), path)?
            };
            if let Some(Device::Fd(fd)) = device {
                return self.fstat(fd).map_err(|_| Errno::NoEnt.into());
            }
        }
        self.kernel
            .vfs
            .borrow_mut()
            .stat(&self.caller(), path, follow)
    }
    fn read_dir(&mut self, path: &[u8]) -> SysResult<Vec<DirEntry>> {
        self.work(1)?;
        let list = self
            .kernel
            .vfs
            .borrow_mut()
            .read_dir(&self.caller(), path)?;
        self.work(u32::try_from(list.len() / 16).unwrap_or(u32::MAX))?;
        Ok(list)
    }
    fn mkdir(&mut self, path: &[u8], mode: u32) -> SysResult<()> {
        self.work(1)?;
        let mode = mode & !self.umask;
        self.kernel
            .vfs
            .borrow_mut()
            .mkdir(&self.caller(), path, mode)
    }
    fn unlink(&mut self, path: &[u8]) -> SysResult<()> {
        self.work(1)?;
        self.kernel.vfs.borrow_mut().unlink(&self.caller(), path)
    }
    fn rmdir(&mut self, path: &[u8]) -> SysResult<()> {
        self.work(1)?;
        self.kernel.vfs.borrow_mut().rmdir(&self.caller(), path)
    }
    fn rename(&mut self, from: &[u8], to: &[u8]) -> SysResult<()> {
        self.work(1)?;
        self.kernel
            .vfs
            .borrow_mut()
            .rename(&self.caller(), from, to)
    }
    fn link(&mut self, target: &[u8], new: &[u8], follow: Follow) -> SysResult<()> {
        self.work(1)?;
        self.kernel
            .vfs
            .borrow_mut()
            .link(&self.caller(), target, new, follow)
    }
    fn symlink(&mut self, target: &[u8], new: &[u8]) -> SysResult<()> {
        self.work(1)?;
        self.kernel
            .vfs
            .borrow_mut()
            .symlink(&self.caller(), target, new)
    }
    fn readlink(&mut self, path: &[u8]) -> SysResult<Vec<u8>> {
        self.work(1)?;
        self.kernel.vfs.borrow_mut().readlink(&self.caller(), path)
    }
    fn mkfifo(&mut self, path: &[u8], mode: u32) -> SysResult<()> {
        let mode = mode & !self.umask;
        self.kernel
            .vfs
            .borrow_mut()
            .mkfifo(&self.caller(), path, mode)
    }
    fn chmod(&mut self, path: &[u8], mode: u32) -> SysResult<()> {
        self.kernel
            .vfs
            .borrow_mut()
            .chmod(&self.caller(), path, mode)
    }
    fn set_times(
        &mut self,
        path: &[u8],
        access: SetTime,
        modify: SetTime,
        follow: Follow,
    ) -> SysResult<()> {
        self.kernel
            .vfs
            .borrow_mut()
            .set_times(&self.caller(), path, access, modify, follow)
    }
    fn access(&mut self, path: &[u8], mode: u32) -> SysResult<()> {
        self.kernel
            .vfs
            .borrow_mut()
            .access(&self.caller(), path, mode)
    }

    fn now(&self) -> Timestamp {
        self.kernel.host.now()
    }
    fn since_start(&self) -> Duration {
        self.kernel.monotonic().saturating_sub(self.kernel.started)
    }
    fn sleep(&mut self, time: Duration) -> SysResult<()> {
        let until = self.kernel.monotonic().saturating_add(time);
        Ok(self.wait_until(until)?)
    }
    fn random(&mut self, buf: &mut [u8]) {
        (self.kernel.host.random)(buf);
    }

    fn turns(&mut self, n: u64) -> Result<(), Stop> {
        self.kernel.budget.turns(n)?;
        self.tick(u32::try_from(n).unwrap_or(u32::MAX))
    }
    fn work(&mut self, units: u32) -> Result<(), Stop> {
        self.kernel.budget.work(units)?;
        self.tick(units)
    }
    fn reserve(&mut self, bytes: u64) -> Result<(), Stop> {
        self.kernel.budget.reserve(bytes)?;
        self.reserved += bytes;
        Ok(())
    }
    fn release(&mut self, bytes: u64) {
        let bytes = bytes.min(self.reserved);
        self.reserved -= bytes;
        self.kernel.budget.release(bytes);
    }
    fn max_depth(&self) -> u64 {
        self.kernel.budget.bounds().depth
    }

    fn spawn(&mut self, spawn: Spawn) -> SysResult<Pid> {
        self.spawn_program(spawn)
    }
    fn wait(&mut self, child: Pid) -> SysResult<Ended> {
        let ended = self.wait_child(child, None)?;
        Ok(ended.ok_or(Errno::Child)?)
    }
    fn wait_for(&mut self, child: Pid, time: Duration) -> SysResult<Option<Ended>> {
        let until = self.kernel.monotonic().saturating_add(time);
        self.wait_child(child, Some(until))
    }
    fn kill(&mut self, process: Pid, signal: u8) -> SysResult<()> {
        match self.signal_child(process, signal) {
            true => Ok(()),
            false => Err(Errno::Srch.into()),
        }
    }

    fn http(&mut self, request: HttpRequest) -> Result<Result<HttpResponse, HttpError>, Stop> {
        self.kernel.budget.look()?;
        let Some(transport) = self.kernel.host.transport.clone() else {
            let host = request.url.clone();
            return Ok(Err(HttpError::Denied(format!(
                "the network is not granted: {host}"
            ))));
        };
        let answer = transport.request(&request);
        if let Ok(response) = &answer {
            self.kernel.budget.reserve(response.body.len() as u64)?;
            self.kernel.budget.release(response.body.len() as u64);
        }
        self.kernel.budget.look()?;
        Ok(answer)
    }
}
